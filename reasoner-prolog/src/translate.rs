//! GDL as a Prolog program.
//!
//! In go rules, out comes the text of a Prolog module. Every relation is a predicate with the prefix `r_`, so
//! that none is taken for a built-in one; every fluent name is a predicate of its own with the prefix `t_`,
//! which holds the facts of the current state, one set for each thread. Relations that depend on the moves have
//! them as one more argument, `moves(M1, M2, ...)` in the order of the roles. Constants are quoted atoms, numbers
//! too.
//!
//! The author's order of literals is kept, but `not` and `distinct` are moved to the first place where their
//! variables are bound; what can only give the same answers again is asked for one solution.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use gdl::{Atom, Dependence, Literal, RelationId, Rule, RuleTerm, Rules, Symbol, Term};

use crate::body::Planner;

/// The questions that a program answers.
pub(crate) const QUESTIONS: [RelationId; 5] =
    [RelationId::INIT, RelationId::TERMINAL, RelationId::LEGAL, RelationId::NEXT, RelationId::GOAL];

/// The functor of the moves of all roles.
pub(crate) const MOVES: &str = "moves";
/// With more roles, a role's move is found by its number: spelled out, the text would grow with the square of theirs.
const MOST_SPELLED_ROLES: usize = 16;
/// The predicate that finds a role's move in them.
const DOES: &str = "does";
/// The variable of the moves in every clause.
const MOVES_VARIABLE: &str = "Moves";
/// The predicate of fluents whose name has no predicate of its own.
pub(crate) const OTHER_FLUENT: &str = "other_fluent";
/// The predicate of all fluents.
const ANY_FLUENT: &str = "any_fluent";

/// How many arguments a predicate may have; the largest published rulesheet has 100. SWI-Prolog itself takes 1024, but
/// where no clause matches, up to 9.3 at least, it moves the top of its stack by 64 bytes for each argument
/// (`S_STATIC` in its `pl-vmi.c`), and crashes where that passes the 8 kB that it made sure of.
const MAX_ARGS: usize = 120;

/// Relations that are evaluated otherwise than by plain resolution.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choices {
    /// Answered from tables.
    pub tabled: BTreeSet<RelationId>,
    /// Given as facts in place of their rules.
    pub listed: BTreeMap<RelationId, Listing>,
}

/// All answers of a relation: the arguments of each.
pub type Listing = Vec<Vec<Term>>;

/// A fluent's name and number of arguments.
pub(crate) type FluentName = (Symbol, usize);

/// The names of the fluents that the rules spell out: those that have a predicate of their own.
pub(crate) fn fluent_names(rules: &Rules) -> BTreeSet<FluentName> {
    let mut names = BTreeSet::new();
    let mut add = |atom: &Atom| {
        let holds_fluents =
            [RelationId::INIT, RelationId::TRUE, RelationId::NEXT, RelationId::BASE].contains(&atom.relation);
        match (holds_fluents, &*atom.args) {
            (true, [RuleTerm::Name(name)]) => _ = names.insert((*name, 0)),
            (true, [RuleTerm::Compound(name, args)]) => _ = names.insert((*name, args.len())),
            _ => {}
        }
    };
    rules.facts().iter().for_each(&mut add);
    for rule in rules.rules() {
        add(&rule.head);
        for literal in &rule.body {
            if let Literal::Holds(atom) | Literal::Not(atom) = literal {
                add(atom);
            }
        }
    }
    names
}

/// The name of a symbol in data. A name of nothing but dots gets one more, since `'.'` has a meaning of its
/// own in SWI-Prolog.
pub(crate) fn data_name(name: &str) -> String {
    match name.bytes().all(|byte| byte == b'.') {
        true => format!("{name}."),
        false => name.to_owned(),
    }
}

/// The name of the predicate of a fluent name.
pub(crate) fn fluent_predicate(name: &str) -> String {
    format!("t_{name}")
}

/// The name of the predicate of a relation.
pub(crate) fn relation_predicate(rules: &Rules, relation: RelationId) -> String {
    match relation {
        RelationId::DOES => DOES.to_owned(),
        RelationId::TRUE => ANY_FLUENT.to_owned(),
        _ => format!("r_{}", rules.symbols().name(rules.relation(relation).name)),
    }
}

/// Whether a relation has the moves as its last argument. `next` always has.
pub(crate) fn takes_moves(rules: &Rules, relation: RelationId) -> bool {
    relation == RelationId::NEXT || rules.relation(relation).dependence == Dependence::Moves
}

/// The number of arguments of the predicate of a relation.
pub(crate) fn arity(rules: &Rules, relation: RelationId) -> usize {
    rules.relation(relation).arity as usize + usize::from(takes_moves(rules, relation))
}

/// The relations that the questions lead to.
pub(crate) fn relations_asked(rules: &Rules) -> BTreeSet<RelationId> {
    rules.reached_from(&QUESTIONS)
}

/// Whether SWI-Prolog can be asked about these rules.
///
/// # Errors
/// In words, what it cannot take.
pub fn check(rules: &Rules) -> Result<(), String> {
    let fluents = fluent_names(rules).into_iter().map(|(name, arity)| (rules.symbols().name(name), arity));
    let relations = relations_asked(rules)
        .into_iter()
        .map(|relation| (rules.symbols().name(rules.relation(relation).name), arity(rules, relation)));
    match fluents.chain(relations).find(|&(_, arity)| arity > MAX_ARGS) {
        None => Ok(()),
        Some((name, _)) => {
            Err(format!("{name} has more than the {MAX_ARGS} arguments that SWI-Prolog is given"))
        }
    }
}

/// The text of a module that answers all questions.
pub fn program(rules: &Rules, module: &str, choices: &Choices) -> String {
    let mut writer = Writer { rules, planner: Planner::new(rules), text: String::new() };
    writer.declarations(module, choices);
    for relation in relations_asked(rules) {
        if !matches!(relation, RelationId::TRUE | RelationId::DOES) {
            match choices.listed.get(&relation) {
                Some(answers) => writer.listing(relation, answers),
                None => writer.relation(relation),
            }
        }
    }
    writer.text
}

/// A term as Prolog text.
pub fn data_text(term: &Term) -> String {
    let mut text = String::new();
    write_data(&mut text, term);
    text
}

fn write_data(text: &mut String, term: &Term) {
    write_quoted(text, &data_name(term.name()));
    write_data_args(text, term.args());
}

fn write_data_args(text: &mut String, args: &[Term]) {
    for (arg_idx, arg) in args.iter().enumerate() {
        text.push(if arg_idx == 0 { '(' } else { ',' });
        write_data(text, arg);
    }
    if !args.is_empty() {
        text.push(')');
    }
}

fn write_quoted(text: &mut String, name: &str) {
    text.push('\'');
    for c in name.chars() {
        match c {
            '\'' | '\\' => text.extend(['\\', c]),
            c if c.is_control() => _ = write!(text, "\\x{:x}\\", u32::from(c)),
            c => text.push(c),
        }
    }
    text.push('\'');
}

struct Writer<'a> {
    rules: &'a Rules,
    planner: Planner<'a>,
    text: String,
}

impl<'a> Writer<'a> {
    fn declarations(&mut self, module: &str, choices: &Choices) {
        self.text += ":- module(";
        self.quoted(module);
        self.text +=
            ", []).\n:- style_check(-singleton), style_check(-discontiguous), style_check(-no_effect).\n";
        let names = fluent_names(self.rules);
        for &(name, arity) in &names {
            let predicate = fluent_predicate(self.rules.symbols().name(name));
            self.directive("thread_local", &predicate, arity);
        }
        self.directive("thread_local", OTHER_FLUENT, 1);
        for (name, arity) in names {
            let name = self.rules.symbols().name(name);
            let variables: Vec<String> = (0..arity).map(|idx| format!("V{idx}")).collect();
            let variables = if arity == 0 { String::new() } else { format!("({})", variables.join(",")) };
            self.text += ANY_FLUENT;
            self.text.push('(');
            self.quoted(&data_name(name));
            self.text += &variables;
            self.text += ") :- ";
            self.quoted(&fluent_predicate(name));
            self.text += &variables;
            self.text += ".\n";
        }
        _ = writeln!(self.text, "{ANY_FLUENT}(F) :- {OTHER_FLUENT}(F).");
        for &relation in &choices.tabled {
            let predicate = relation_predicate(self.rules, relation);
            self.directive("table", &predicate, arity(self.rules, relation));
        }
        self.does();
    }

    /// Where each role's move is.
    fn does(&mut self) {
        for (role_idx, role) in self.rules.roles().iter().enumerate() {
            _ = write!(self.text, "{DOES}(");
            write_data(&mut self.text, role);
            _ = write!(self.text, ",M,{MOVES_VARIABLE}) :- ");
            self.move_of(role_idx, |writer| writer.text.push('M'));
            self.text += ".\n";
        }
    }

    /// `Moves = moves(_,MOVE,_)`, or by number.
    fn move_of(&mut self, role_idx: usize, write_move: impl FnOnce(&mut Self)) {
        let n_roles = self.rules.roles().len();
        if n_roles > MOST_SPELLED_ROLES {
            _ = write!(self.text, "arg({},{MOVES_VARIABLE},", role_idx + 1);
            write_move(self);
        } else {
            _ = write!(self.text, "{MOVES_VARIABLE} = {MOVES}({}", "_,".repeat(role_idx));
            write_move(self);
            self.text += &",_".repeat(n_roles - role_idx - 1);
        }
        self.text.push(')');
    }

    /// `:- NAME 'PREDICATE'/ARITY.`
    fn directive(&mut self, name: &str, predicate: &str, arity: usize) {
        _ = write!(self.text, ":- {name} ");
        self.quoted(predicate);
        _ = writeln!(self.text, "/{arity}.");
    }

    /// A relation as facts.
    fn listing(&mut self, id: RelationId, answers: &[Vec<Term>]) {
        let predicate = relation_predicate(self.rules, id);
        for answer in answers {
            self.quoted(&predicate);
            write_data_args(&mut self.text, answer);
            self.text += ".\n";
        }
    }

    /// All clauses of a relation. One without any must be declared, or asking it would be an error.
    fn relation(&mut self, id: RelationId) {
        let relation = self.rules.relation(id);
        let predicate = relation_predicate(self.rules, id);
        if relation.rules.is_empty() && relation.facts.is_empty() {
            self.directive("dynamic", &predicate, arity(self.rules, id));
        }
        for &fact in &relation.facts {
            self.call(&predicate, &self.rules.facts()[fact as usize].args, takes_moves(self.rules, id));
            self.text += ".\n";
        }
        for &rule in &relation.rules {
            self.rule(&self.rules.rules()[rule as usize]);
        }
    }

    fn rule(&mut self, rule: &'a Rule) {
        self.atom(&rule.head);
        let body = self.planner.body(rule);
        for (idx, step) in body.steps.iter().enumerate() {
            self.text += if idx == 0 { " :-\n    " } else { ",\n    " };
            if idx == body.once_from {
                self.text += "( ";
            }
            if step.is_once {
                self.text += "( ";
            }
            self.literal(step.literal);
            if step.is_once {
                self.text += " -> true )";
            }
        }
        if body.once_from < body.steps.len() {
            self.text += " -> true )";
        }
        self.text += ".\n";
    }

    fn literal(&mut self, literal: &Literal) {
        match literal {
            Literal::Holds(atom) => self.atom(atom),
            Literal::Not(atom) => {
                self.text += "\\+ ";
                self.atom(atom);
            }
            Literal::Distinct(a, b) => self.comparison(a, " \\== ", b),
            Literal::Equal(a, b) => self.comparison(a, " = ", b),
        }
    }

    fn comparison(&mut self, a: &RuleTerm, operator: &str, b: &RuleTerm) {
        self.term(a);
        self.text += operator;
        self.term(b);
    }

    /// A fluent that is spelled out goes to the predicate of its name, the move of a role that is to its place.
    fn atom(&mut self, atom: &Atom) {
        match (atom.relation, &*atom.args) {
            (RelationId::TRUE, [RuleTerm::Name(name)]) => {
                self.call(&fluent_predicate(self.rules.symbols().name(*name)), &[], false);
            }
            (RelationId::TRUE, [RuleTerm::Compound(name, args)]) => {
                self.call(&fluent_predicate(self.rules.symbols().name(*name)), args, false);
            }
            (RelationId::DOES, [RuleTerm::Name(role), a_move])
                if let Some(role_idx) = self.role_idx(*role) =>
            {
                self.move_of(role_idx, |writer| writer.term(a_move));
            }
            (relation, args) => {
                let takes_moves = takes_moves(self.rules, relation);
                self.call(&relation_predicate(self.rules, relation), args, takes_moves);
            }
        }
    }

    /// Which role a name is.
    fn role_idx(&self, name: Symbol) -> Option<usize> {
        let name = self.rules.name_term(name);
        self.rules.roles().iter().position(|role| *role == name)
    }

    fn call(&mut self, predicate: &str, args: &[RuleTerm], takes_moves: bool) {
        self.quoted(predicate);
        if !takes_moves {
            return self.args(args);
        }
        self.text.push('(');
        for arg in args {
            self.term(arg);
            self.text.push(',');
        }
        _ = write!(self.text, "{MOVES_VARIABLE})");
    }

    fn args(&mut self, args: &[RuleTerm]) {
        for (arg_idx, arg) in args.iter().enumerate() {
            self.text.push(if arg_idx == 0 { '(' } else { ',' });
            self.term(arg);
        }
        if !args.is_empty() {
            self.text.push(')');
        }
    }

    fn term(&mut self, term: &RuleTerm) {
        match term {
            RuleTerm::Var(var) => _ = write!(self.text, "V{var}"),
            RuleTerm::Name(name) => self.quoted(&data_name(self.rules.symbols().name(*name))),
            RuleTerm::Compound(name, args) => {
                self.quoted(&data_name(self.rules.symbols().name(*name)));
                self.args(args);
            }
        }
    }

    fn quoted(&mut self, name: &str) {
        write_quoted(&mut self.text, name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gdl::{Description, ReadOptions};

    fn translated(text: &str) -> String {
        let description = Description::read(text, ReadOptions::default()).unwrap();
        program(&Rules::from_description(&description).unwrap(), "m", &Choices::default())
    }

    #[test]
    fn tests_wait_for_their_variables() {
        let text = translated(
            "(role you) (goal you 100) terminal (row a)
             (<= (legal you (mark ?x ?y)) (distinct ?x ?y) (not (true (cell ?x ?y b))) (row ?x) (row ?y))",
        );
        let rule = "'r_legal'('you','mark'(V0,V1)) :-\n    'r_row'(V0),\n    'r_row'(V1),\n    V0 \\== V1,\n    \
                    \\+ 't_cell'(V0,V1,'b').";
        assert!(text.contains(rule), "{text}");
    }

    #[test]
    fn names_with_a_meaning_in_prolog_are_only_names() {
        let text = translated(
            "(role it's) (init (. 1)) (init (.. a\\b)) (succ 1 2) (legal it's []) (goal it's 100)
             (<= terminal (true ?f) (succ ?f +))",
        );
        for part in [
            "'r_goal'('it\\'s','100').",
            "'r_init'('..'('1')).",
            "'r_init'('...'('a\\\\b')).",
            "'r_legal'('it\\'s','[]').",
            "'any_fluent'(V0),\n    'r_succ'(V0,'+')",
            "any_fluent('..'(V0)) :- 't_.'(V0).",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }

    #[test]
    fn relations_without_clauses_are_known() {
        let text = translated("(role you) (goal you 100) (legal you go) (<= terminal (never ?x))");
        assert!(text.contains(":- dynamic 'r_never'/1."), "{text}");
    }

    #[test]
    fn moves_are_an_argument_of_what_depends_on_them() {
        let text = translated(
            "(role a) (role b) (legal a go) (legal b go) (goal a 100) terminal
             (<= (next (at ?x)) (does b (to ?x))) (<= (next (by ?r)) (moved ?r)) (<= (next (by 0)) (not (does a go)))
             (<= (moved ?r) (does ?r (to ?x)))",
        );
        for part in [
            "does('a',M,Moves) :- Moves = moves(M,_).\ndoes('b',M,Moves) :- Moves = moves(_,M).\n",
            "'r_next'('at'(V0),Moves) :-\n    Moves = moves(_,'to'(V0)).",
            "'r_next'('by'(V0),Moves) :-\n    'r_moved'(V0,Moves).",
            "\\+ Moves = moves('go',_)",
            "'r_moved'(V0,Moves) :-\n    ",
            "'does'(V0,'to'(V1),Moves)",
            "'r_legal'('a','go').",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}
