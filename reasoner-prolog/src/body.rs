//! The body of a rule: in which order its literals are asked, and where one solution is enough.
//!
//! Prolog looks for every derivation, a state only for every fact: where nothing that is still needed could be
//! bound otherwise, further solutions are the same answers once more. In goes a rule, out come its literals in
//! the order they are asked in, with those, or those at the end together, that are asked for one solution only.

use gdl::{Atom, Literal, Recursion, Rule, RuleTerm, Rules};

/// A body, ready to be written.
#[derive(Debug)]
pub(crate) struct Body<'a> {
    pub(crate) steps: Vec<Step<'a>>,
    /// The steps from this one on are asked for one solution together; their number if none are.
    pub(crate) once_from: usize,
}

/// A literal in its place.
#[derive(Debug)]
pub(crate) struct Step<'a> {
    pub(crate) literal: &'a Literal,
    /// Whether it is asked for one solution only.
    pub(crate) is_once: bool,
}

/// Makes bodies.
#[derive(Debug)]
pub(crate) struct Planner<'a> {
    rules: &'a Rules,
    recursion: Recursion,
    /// By relation, whether no answer has a variable.
    is_ground: Vec<bool>,
}

impl<'a> Planner<'a> {
    pub(crate) fn new(rules: &'a Rules) -> Planner<'a> {
        Planner { rules, recursion: Recursion::of(rules), is_ground: ground_relations(rules) }
    }

    /// The body of a rule.
    pub(crate) fn body(&self, rule: &'a Rule) -> Body<'a> {
        let head = variables(&rule.head);
        let literals = ordered(rule);
        // The last literal that has a variable.
        let mut last_use = vec![0; rule.variables.len()];
        for (literal_idx, literal) in literals.iter().enumerate() {
            literal.for_each_var(&mut |var| last_use[var as usize] = literal_idx);
        }
        // A table must not be left half filled, after the first of its answers.
        let group = self.recursion.component(rule.head.relation);
        let is_recursive = |literal: &&Literal| match literal {
            Literal::Holds(atom) => self.recursion.component(atom.relation) == group,
            _ => false,
        };
        let first_to_cut = literals.iter().rposition(is_recursive).map_or(0, |idx| idx + 1);
        let mut bound = vec![false; rule.variables.len()];
        let mut once_from = literals.len();
        let mut is_worth_it = false;
        let mut steps = Vec::with_capacity(literals.len());
        for (idx, &literal) in literals.iter().enumerate() {
            if once_from == literals.len()
                && idx >= first_to_cut
                && head.iter().all(|&var| bound[var as usize])
            {
                once_from = idx;
            }
            let has_more = self.has_more(literal, &bound);
            let mut is_needed = false;
            literal.for_each_var(&mut |var| {
                is_needed |= !bound[var as usize] && (last_use[var as usize] > idx || head.contains(&var));
            });
            let is_once = has_more && !is_needed && !is_recursive(&literal);
            is_worth_it |= idx >= once_from && has_more && !is_once;
            steps.push(Step { literal, is_once });
            bind(literal, &self.is_ground, &mut bound);
        }
        Body { once_from: if is_worth_it { once_from } else { steps.len() }, steps }
    }

    /// Whether a literal can have more than one solution.
    fn has_more(&self, literal: &Literal, bound: &[bool]) -> bool {
        match literal {
            Literal::Holds(atom) => {
                !variables(atom).iter().all(|&var| bound[var as usize])
                    || !self.rules.relation(atom.relation).rules.is_empty()
            }
            _ => false,
        }
    }
}

/// By relation, whether no answer has a variable: so until a rule leaves one of its head free.
fn ground_relations(rules: &Rules) -> Vec<bool> {
    let mut is_ground = vec![true; rules.relations().len()];
    let mut users = vec![Vec::new(); rules.relations().len()];
    for (rule_idx, rule) in rules.rules().iter().enumerate() {
        for literal in &rule.body {
            if let Literal::Holds(atom) = literal {
                users[atom.relation.idx()].push(rule_idx);
            }
        }
    }
    let mut open: Vec<usize> = (0..rules.rules().len()).collect();
    while let Some(rule_idx) = open.pop() {
        let rule = &rules.rules()[rule_idx];
        let head = rule.head.relation.idx();
        let mut bound = vec![false; rule.variables.len()];
        rule.body.iter().for_each(|literal| bind(literal, &is_ground, &mut bound));
        if is_ground[head] && !variables(&rule.head).iter().all(|&var| bound[var as usize]) {
            is_ground[head] = false;
            open.extend(&users[head]);
        }
    }
    is_ground
}

fn variables(atom: &Atom) -> Vec<u32> {
    let mut variables = Vec::new();
    atom.for_each_var(&mut |var| variables.push(var));
    variables
}

/// Marks what is bound once the literal holds.
fn bind(literal: &Literal, is_ground: &[bool], bound: &mut [bool]) {
    match literal {
        Literal::Holds(atom) if is_ground[atom.relation.idx()] => {
            atom.for_each_var(&mut |var| bound[var as usize] = true);
        }
        Literal::Equal(a, b) if is_bound(a, bound) || is_bound(b, bound) => {
            literal.for_each_var(&mut |var| bound[var as usize] = true);
        }
        _ => {}
    }
}

fn is_bound(term: &RuleTerm, bound: &[bool]) -> bool {
    let mut all = true;
    term.for_each_var(&mut |var| all &= bound[var as usize]);
    all
}

/// The literals in the author's order, those that only test moved to where their variables are bound. What
/// is never bound is tested at the end.
fn ordered(rule: &Rule) -> Vec<&Literal> {
    let mut bound = vec![false; rule.variables.len()];
    let mut order = Vec::with_capacity(rule.body.len());
    let mut waiting: Vec<&Literal> = Vec::new();
    for literal in &rule.body {
        match literal {
            Literal::Holds(_) => {
                literal.for_each_var(&mut |var| bound[var as usize] = true);
                order.push(literal);
            }
            _ => waiting.push(literal),
        }
        // An equation binds variables, so that others may follow.
        while let Some(idx) = waiting.iter().position(|literal| is_ready(literal, &bound)) {
            let literal = waiting.remove(idx);
            literal.for_each_var(&mut |var| bound[var as usize] = true);
            order.push(literal);
        }
    }
    order.extend(waiting);
    order
}

/// Whether a test has what it needs: an equation one bound side, the others all variables.
fn is_ready(literal: &Literal, bound: &[bool]) -> bool {
    match literal {
        Literal::Holds(_) => true,
        Literal::Not(atom) => atom.args.iter().all(|arg| is_bound(arg, bound)),
        Literal::Distinct(a, b) => is_bound(a, bound) && is_bound(b, bound),
        Literal::Equal(a, b) => is_bound(a, bound) || is_bound(b, bound),
    }
}

#[cfg(test)]
mod tests {
    use crate::translate::{Choices, program};
    use gdl::{Description, ReadOptions, Rules};

    fn check(clauses: &str, expected: &str) {
        let text = format!("(role you) (goal you 100) (legal you go) {clauses}");
        let description = Description::read(&text, ReadOptions::default()).unwrap();
        let text = program(&Rules::from_description(&description).unwrap(), "m", &Choices::default());
        let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(expected), "{expected} in {text}");
    }

    /// A relation that is true of the same things in two ways.
    const FAR: &str = "(row 1) (<= (far ?x ?y) (row ?x) (row ?y)) (<= (far ?x ?y) (row ?y) (row ?x))";

    #[test]
    fn a_condition_without_a_free_variable_is_asked_once() {
        check(
            &format!("{FAR} (<= (next (at ?x ?y)) (true (at ?x ?y)) (far ?x ?y))"),
            "'r_next'('at'(V0,V1),Moves) :- 't_at'(V0,V1), ( 'r_far'(V0,V1) -> true ).",
        );
    }

    #[test]
    fn a_variable_that_nothing_else_needs_does_not_count() {
        check(
            &format!("{FAR} (<= (next (at ?x)) (true (at ?x)) (far ?x ?y) (row ?x))"),
            "'t_at'(V0), ( 'r_far'(V0,V1) -> true ), 'r_row'(V0).",
        );
        check(
            &format!("{FAR} (<= (next (at ?x)) (true (at ?x)) (far ?x ?y) (not (row ?y)))"),
            "'t_at'(V0), ( 'r_far'(V0,V1), \\+ 'r_row'(V1) -> true ).",
        );
    }

    #[test]
    fn what_binds_the_head_is_asked_for_all_solutions() {
        check(
            &format!("{FAR} (<= (next (at ?y)) (true (at ?x)) (far ?x ?y))"),
            "'r_next'('at'(V0),Moves) :- 't_at'(V1), 'r_far'(V1,V0).",
        );
    }

    #[test]
    fn recursion_is_asked_for_all_solutions() {
        check(
            "(e 1 2) (<= (path ?x) (e ?x ?y) (path ?y)) (<= terminal (path 1))",
            "'r_path'(V0) :- 'r_e'(V0,V1), 'r_path'(V1).",
        );
    }

    #[test]
    fn a_relation_with_variables_in_its_answers_binds_nothing() {
        check(
            &format!("{FAR} (<= (any ?x ?y) (row ?x)) (<= (next (at ?y)) (any ?x ?y) (far ?x ?y))"),
            "'r_next'('at'(V0),Moves) :- 'r_any'(V1,V0), 'r_far'(V1,V0).",
        );
    }
}
