//! Small random games, for property tests: whatever reasoner reads them must give the same answers.
//!
//! Every game is stratified, safe, finite and within the restriction on recursion, and ends after a fixed
//! number of steps: `(step N)` counts, and the last number is terminal. Every role can always wait, and has
//! exactly one goal. What varies is the rest: relations with recursion over a random graph, negation between
//! strata, `distinct`, `or`, nested terms, conditions out of order, simultaneous moves, partial `base` and
//! `input`.

use std::fmt::Write;

use reasoner::Dice;

/// What an argument ranges over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    /// `c0`, `c1`, ...; enumerated by `(item ?x)`.
    Item,
    /// `(pair c0 c1)`, ...; enumerated by `(twin ?x)`.
    Twin,
}

/// A relation or fluent with its arguments' sorts.
#[derive(Debug, Clone)]
struct Signature {
    name: String,
    sorts: Vec<Sort>,
}

/// A rule under construction.
#[derive(Debug, Default)]
struct Draft {
    /// Sorts of the variables `?v0`, `?v1`, ...
    variables: Vec<Sort>,
    /// Positive conditions that bind variables, and the variables they bind.
    binders: Vec<String>,
    bound: Vec<usize>,
    /// Conditions that only test.
    tests: Vec<String>,
}

struct Maker {
    dice: Dice,
    text: String,
    n_items: usize,
    n_roles: usize,
    n_steps: usize,
    fluents: Vec<Signature>,
    actions: Vec<Signature>,
    /// Relations of each stratum below the one being made; they do not depend on `does`.
    relations: Vec<Signature>,
}

/// A rulesheet that depends on its arguments alone. `size` from 1 up is about the number of relations,
/// fluents and constants; property tests that shrink it get smaller games.
pub fn random_rules(seed: u64, size: u32) -> String {
    let mut dice = Dice::new(seed);
    let size = size.max(1) as usize;
    let n_items = 2 + dice.below(size.min(4) + 1);
    let n_roles = 1 + dice.below(3);
    let n_steps = 1 + dice.below(size + 2);
    let mut maker = Maker {
        dice,
        text: String::new(),
        n_items,
        n_roles,
        n_steps,
        fluents: Vec::new(),
        actions: Vec::new(),
        relations: Vec::new(),
    };
    maker.frame();
    maker.start(size);
    maker.strata(size);
    maker.moves();
    maker.successors();
    maker.end();
    maker.text
}

impl Maker {
    fn line(&mut self, statement: &str) {
        self.text.push_str(statement);
        self.text.push('\n');
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.dice.below(100) < percent
    }

    fn item(&mut self) -> String {
        format!("c{}", self.dice.below(self.n_items))
    }

    fn constant(&mut self, sort: Sort) -> String {
        match sort {
            Sort::Item => self.item(),
            Sort::Twin => format!("(pair {} {})", self.item(), self.item()),
        }
    }

    fn sorts(&mut self, n_most: usize) -> Vec<Sort> {
        let n = self.dice.below(n_most + 1);
        (0..n).map(|_| if self.chance(75) { Sort::Item } else { Sort::Twin }).collect()
    }

    /// Roles, constants, numbers, and a random graph, often with cycles.
    fn frame(&mut self) {
        for role_idx in 0..self.n_roles {
            self.line(&format!("(role r{role_idx})"));
        }
        for item in 0..self.n_items {
            self.line(&format!("(item c{item})"));
        }
        for step in 0..self.n_steps {
            self.line(&format!("(succ {step} {})", step + 1));
        }
        self.line("(<= (twin (pair ?x ?y)) (item ?x) (item ?y))");
        let mut edges: Vec<String> =
            (0..=self.n_items).map(|_| format!("(edge {} {})", self.item(), self.item())).collect();
        edges.sort_unstable();
        edges.dedup();
        edges.iter().for_each(|edge| self.line(edge));
        self.relations.push(Signature { name: "edge".into(), sorts: vec![Sort::Item, Sort::Item] });
    }

    /// Fluents, moves, and the initial state.
    fn start(&mut self, size: usize) {
        for fluent_idx in 0..1 + self.dice.below(size + 1) {
            let sorts = self.sorts(2);
            self.fluents.push(Signature { name: format!("f{fluent_idx}"), sorts });
        }
        for action_idx in 0..1 + self.dice.below(3) {
            let sorts = self.sorts(2);
            self.actions.push(Signature { name: format!("a{action_idx}"), sorts });
        }
        self.line("(init (step 0))");
        let mut facts = Vec::new();
        for fluent in self.fluents.clone() {
            for _ in 0..self.dice.below(3) {
                facts.push(self.ground(&fluent));
            }
        }
        facts.sort_unstable();
        facts.dedup();
        facts.iter().for_each(|fact| self.line(&format!("(init {fact})")));
        if self.chance(50) {
            self.line("(<= (base (step ?n)) (succ ?n ?m))");
            self.line("(<= (base (step ?m)) (succ ?n ?m))");
            for fluent in self.fluents.clone() {
                self.enumerate("base", "", &fluent);
            }
            self.line("(<= (input ?r wait) (role ?r))");
            for action in self.actions.clone() {
                self.enumerate("input", "?r ", &action);
            }
        }
    }

    /// All instances of a signature under `base` or `input`.
    fn enumerate(&mut self, keyword: &str, role: &str, signature: &Signature) {
        let variables: Vec<String> = (0..signature.sorts.len()).map(|idx| format!("?v{idx}")).collect();
        let mut body = if role.is_empty() { String::new() } else { " (role ?r)".into() };
        for (variable, &sort) in variables.iter().zip(&signature.sorts) {
            body.push(' ');
            body.push_str(&binder(sort, variable));
        }
        let head = format!("({keyword} {role}{})", spelled(&signature.name, &variables));
        match body.is_empty() {
            true => self.line(&head),
            false => self.line(&format!("(<= {head}{body})")),
        }
    }

    fn ground(&mut self, signature: &Signature) -> String {
        let args: Vec<String> = signature.sorts.iter().map(|&sort| self.constant(sort)).collect();
        spelled(&signature.name, &args)
    }

    /// An atom over old and new variables and constants; its new variables count as bound if `binds`.
    fn atom(&mut self, draft: &mut Draft, signature: &Signature, binds: bool) -> String {
        let mut args = Vec::new();
        for &sort in &signature.sorts {
            args.push(self.argument(draft, sort, binds));
        }
        spelled(&signature.name, &args)
    }

    fn argument(&mut self, draft: &mut Draft, sort: Sort, binds: bool) -> String {
        if self.chance(15) {
            return self.constant(sort);
        }
        // A twin is taken apart now and then.
        if sort == Sort::Twin && self.chance(40) {
            let (x, y) = (self.argument(draft, Sort::Item, binds), self.argument(draft, Sort::Item, binds));
            return format!("(pair {x} {y})");
        }
        let var = self.variable(draft, sort);
        if binds {
            draft.bound.push(var);
        }
        format!("?v{var}")
    }

    /// A known variable of the sort, or a new one.
    fn variable(&mut self, draft: &mut Draft, sort: Sort) -> usize {
        let known: Vec<usize> =
            (0..draft.variables.len()).filter(|&var| draft.variables[var] == sort).collect();
        match known.is_empty() || self.chance(35) {
            true => {
                draft.variables.push(sort);
                draft.variables.len() - 1
            }
            false => known[self.dice.below(known.len())],
        }
    }

    /// The condition that makes a rule recursive. The restriction on recursion wants each of its arguments to
    /// be ground, or an argument of a condition outside of the recursion: plain variables, each with a binder.
    fn recursive_atom(&mut self, draft: &mut Draft, signature: &Signature) -> String {
        let mut args = Vec::new();
        for &sort in &signature.sorts {
            args.push(if self.chance(15) {
                self.constant(sort)
            } else {
                let var = self.variable(draft, sort);
                draft.bound.push(var);
                draft.binders.push(binder(sort, &format!("?v{var}")));
                format!("?v{var}")
            });
        }
        spelled(&signature.name, &args)
    }

    /// A fluent or a relation of a lower stratum; `true` stands around fluents.
    fn condition(&mut self, draft: &mut Draft, binds: bool) -> String {
        let n_fluents = self.fluents.len();
        let choice = self.dice.below(n_fluents + self.relations.len());
        if choice < n_fluents {
            let fluent = self.fluents[choice].clone();
            format!("(true {})", self.atom(draft, &fluent, binds))
        } else {
            let relation = self.relations[choice - n_fluents].clone();
            self.atom(draft, &relation, binds)
        }
    }

    /// A few random conditions, some of them negated, `distinct` or in an `or`.
    fn conditions(&mut self, draft: &mut Draft) {
        for _ in 0..self.dice.below(3) {
            let condition = self.condition(draft, true);
            draft.binders.push(condition);
        }
        if self.chance(40) {
            let condition = self.condition(draft, false);
            draft.tests.push(format!("(not {condition})"));
        }
        if self.chance(25) {
            let sort = if self.chance(75) { Sort::Item } else { Sort::Twin };
            let (a, b) = (self.argument(draft, sort, false), self.argument(draft, sort, false));
            draft.tests.push(format!("(distinct {a} {b})"));
        }
        if self.chance(20) {
            let (a, b) = (self.condition(draft, false), self.condition(draft, false));
            draft.tests.push(format!("(or {a} {b})"));
        }
    }

    /// Writes a rule. Variables that nothing binds get a binder; in one rule of four the conditions stand in
    /// any order, so that a negation may come before what binds its variables.
    fn rule(&mut self, head: &str, draft: Draft) {
        let mut body = draft.binders;
        for (var, &sort) in draft.variables.iter().enumerate() {
            if !draft.bound.contains(&var) {
                body.push(binder(sort, &format!("?v{var}")));
            }
        }
        body.extend(draft.tests);
        if self.chance(25) {
            for idx in (1..body.len()).rev() {
                body.swap(idx, self.dice.below(idx + 1));
            }
        }
        match body.is_empty() {
            true => self.line(head),
            false => self.line(&format!("(<= {head} {})", body.join(" "))),
        }
    }

    /// Relations that depend on lower ones and on the state, half of them recursive.
    fn strata(&mut self, size: usize) {
        for relation_idx in 0..1 + self.dice.below(size + 1) {
            let sorts = self.sorts(2);
            let signature = Signature { name: format!("p{relation_idx}"), sorts };
            for _ in 0..1 + self.dice.below(2) {
                let mut draft = Draft::default();
                self.conditions(&mut draft);
                let head = self.atom(&mut draft, &signature, false);
                self.rule(&head, draft);
            }
            if self.chance(50) {
                let mut draft = Draft::default();
                self.conditions(&mut draft);
                let again = self.recursive_atom(&mut draft, &signature);
                draft.binders.push(again);
                let head = self.atom(&mut draft, &signature, false);
                self.rule(&head, draft);
            }
            self.relations.push(signature);
        }
    }

    fn moves(&mut self) {
        self.line("(<= (legal ?r wait) (role ?r))");
        for action in self.actions.clone() {
            for _ in 0..1 + self.dice.below(2) {
                let mut draft = Draft::default();
                self.conditions(&mut draft);
                let action = self.atom(&mut draft, &action, false);
                let role = format!("r{}", self.dice.below(self.n_roles));
                self.rule(&format!("(legal {role} {action})"), draft);
            }
        }
    }

    fn successors(&mut self) {
        self.line("(<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))");
        for fluent in self.fluents.clone() {
            for _ in 0..1 + self.dice.below(2) {
                let mut draft = Draft::default();
                self.conditions(&mut draft);
                if self.chance(70) {
                    let action_idx = self.dice.below(self.actions.len());
                    let action = self.actions[action_idx].clone();
                    let role = format!("r{}", self.dice.below(self.n_roles));
                    let negated = self.chance(20);
                    let does = format!("(does {role} {})", self.atom(&mut draft, &action, !negated));
                    match negated {
                        true => draft.tests.push(format!("(not {does})")),
                        false => draft.binders.push(does),
                    }
                }
                let fluent = self.atom(&mut draft, &fluent, false);
                self.rule(&format!("(next {fluent})"), draft);
            }
            // What stays as it is.
            if self.chance(50) {
                let variables: Vec<String> = (0..fluent.sorts.len()).map(|idx| format!("?v{idx}")).collect();
                let fluent = spelled(&fluent.name, &variables);
                self.line(&format!("(<= (next {fluent}) (true {fluent}))"));
            }
        }
    }

    fn end(&mut self) {
        self.line(&format!("(<= terminal (true (step {})))", self.n_steps));
        if self.chance(40) {
            let mut draft = Draft::default();
            self.conditions(&mut draft);
            // Not in the initial state, or most games would be over before they begin.
            draft.tests.push("(not (true (step 0)))".into());
            self.rule("terminal", draft);
        }
        for role_idx in 0..self.n_roles {
            let loss = self.dice.below(100);
            // `goal` under `not` in a goal rule: stratified atom by atom, not relation by relation.
            if role_idx > 0 && self.chance(30) {
                self.line(&format!("(<= (goal r{role_idx} 100) (not (goal r0 100)))"));
                self.line(&format!("(<= (goal r{role_idx} {loss}) (goal r0 100))"));
                continue;
            }
            let mut draft = Draft::default();
            self.conditions(&mut draft);
            self.rule(&format!("(wins r{role_idx})"), draft);
            self.line(&format!("(<= (goal r{role_idx} 100) (wins r{role_idx}))"));
            self.line(&format!("(<= (goal r{role_idx} {loss}) (not (wins r{role_idx})))"));
        }
    }
}

/// A condition that holds for every value of a sort.
fn binder(sort: Sort, variable: &str) -> String {
    match sort {
        Sort::Item => format!("(item {variable})"),
        Sort::Twin => format!("(twin {variable})"),
    }
}

fn spelled(name: &str, args: &[String]) -> String {
    if args.is_empty() {
        return name.to_string();
    }
    let mut text = format!("({name}");
    for arg in args {
        let _ = write!(text, " {arg}");
    }
    text.push(')');
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use gdl::{Description, ReadOptions, Rules, check};

    use super::*;

    #[test]
    fn equal_seeds_give_equal_games_and_others_do_not() {
        assert_eq!(random_rules(5, 4), random_rules(5, 4));
        let games: BTreeSet<String> = (0..100).map(|seed| random_rules(seed, 4)).collect();
        assert_eq!(games.len(), 100);
    }

    #[test]
    fn every_game_is_valid() {
        for seed in 0..500 {
            let text = random_rules(seed, 1 + u32::try_from(seed % 8).unwrap());
            let description = Description::read(&text, ReadOptions::default()).unwrap();
            let rules = Rules::from_description(&description);
            assert!(rules.is_ok(), "seed {seed}: {rules:?}\n{text}");
            let messages = check::check(&description);
            assert_ne!(
                check::verdict(&messages),
                check::Verdict::Invalid,
                "seed {seed}: {messages:?}\n{text}"
            );
        }
    }

    #[test]
    fn the_constructs_that_matter_occur() {
        let all: String = (0..50).map(|seed| random_rules(seed, 5)).collect();
        for text in
            ["(not (true ", "(not (does ", "(distinct ", "(or ", "(pair ", "(base ", "(input ", "(goal r1 "]
        {
            assert!(all.contains(text), "{text} never occurs");
        }
    }
}
