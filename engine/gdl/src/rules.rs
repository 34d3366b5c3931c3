//! Rules as every reasoner starts from them: interned, in clause form, free of `or`.
//!
//! In goes a [`Description`], out come [`Rules`]. The reading is lenient: what a strict validator refuses
//! but has one sensible meaning is read with that meaning, since a published game must be played. What has
//! no meaning at all is a [`LowerError`]. [`crate::check`] says what is wrong in either case.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::description::Description;
use crate::lower::{self, LowerError};
use crate::sexpr::Span;
use crate::symbol::{Symbol, Symbols};
use crate::term::Term;

/// A relation, by index in [`Rules::relations`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelationId(pub u32);

impl RelationId {
    /// `role/1`
    pub const ROLE: RelationId = RelationId(0);
    /// `init/1`
    pub const INIT: RelationId = RelationId(1);
    /// `true/1`
    pub const TRUE: RelationId = RelationId(2);
    /// `next/1`
    pub const NEXT: RelationId = RelationId(3);
    /// `legal/2`
    pub const LEGAL: RelationId = RelationId(4);
    /// `does/2`
    pub const DOES: RelationId = RelationId(5);
    /// `goal/2`
    pub const GOAL: RelationId = RelationId(6);
    /// `terminal/0`
    pub const TERMINAL: RelationId = RelationId(7);
    /// `base/1`
    pub const BASE: RelationId = RelationId(8);
    /// `input/2`
    pub const INPUT: RelationId = RelationId(9);

    /// The keywords' relations with their fixed arities, in the order of their ids.
    pub(crate) const KEYWORDS: [(&'static str, u32); 10] = [
        ("role", 1),
        ("init", 1),
        ("true", 1),
        ("next", 1),
        ("legal", 2),
        ("does", 2),
        ("goal", 2),
        ("terminal", 0),
        ("base", 1),
        ("input", 2),
    ];

    /// The index in [`Rules::relations`].
    pub fn idx(self) -> usize {
        self.0 as usize
    }
}

/// What the truth of a relation's atoms depends on; later variants include the earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dependence {
    /// Nothing: the same in every state.
    Static,
    /// `true`: the same until the state changes.
    State,
    /// `does`: known only once the moves are.
    Moves,
}

/// A relation: equal names with different arities are different relations.
#[derive(Debug, Clone)]
pub struct Relation {
    /// Its name; keywords in lower case.
    pub name: Symbol,
    /// How many arguments.
    pub arity: u32,
    /// What it depends on.
    pub dependence: Dependence,
    /// The rules with it in the head, by index in [`Rules::rules`], in the order of the sheet.
    pub rules: Vec<u32>,
    /// Its ground facts, by index in [`Rules::facts`], in the order of the sheet.
    pub facts: Vec<u32>,
}

/// A term of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RuleTerm {
    /// A variable, by index in [`Rule::variables`].
    Var(u32),
    /// A constant. A name in its own parentheses is the name; see [`Rules::in_parentheses`].
    Name(Symbol),
    /// A function of at least one argument.
    Compound(Symbol, Box<[RuleTerm]>),
}

impl RuleTerm {
    /// Calls `visit` for every occurrence of a variable.
    pub fn for_each_var(&self, visit: &mut impl FnMut(u32)) {
        match self {
            RuleTerm::Var(var) => visit(*var),
            RuleTerm::Name(_) => {}
            RuleTerm::Compound(_, args) => args.iter().for_each(|arg| arg.for_each_var(visit)),
        }
    }

    /// Whether no variable occurs.
    pub fn is_ground(&self) -> bool {
        match self {
            RuleTerm::Var(_) => false,
            RuleTerm::Name(_) => true,
            RuleTerm::Compound(_, args) => args.iter().all(RuleTerm::is_ground),
        }
    }
}

/// A relation with its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Atom {
    /// The relation.
    pub relation: RelationId,
    /// As many as the relation's arity.
    pub args: Box<[RuleTerm]>,
}

impl Atom {
    /// Calls `visit` for every occurrence of a variable.
    pub fn for_each_var(&self, visit: &mut impl FnMut(u32)) {
        self.args.iter().for_each(|arg| arg.for_each_var(visit));
    }
}

/// One condition of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Literal {
    /// The atom holds.
    Holds(Atom),
    /// No instance of the atom holds.
    Not(Atom),
    /// The terms differ.
    Distinct(RuleTerm, RuleTerm),
    /// The terms are the same (`not distinct`).
    Equal(RuleTerm, RuleTerm),
}

impl Literal {
    /// Calls `visit` for every occurrence of a variable.
    pub fn for_each_var(&self, visit: &mut impl FnMut(u32)) {
        match self {
            Literal::Holds(atom) | Literal::Not(atom) => atom.for_each_var(visit),
            Literal::Distinct(a, b) | Literal::Equal(a, b) => {
                a.for_each_var(visit);
                b.for_each_var(visit);
            }
        }
    }
}

/// A clause: the head holds where all literals of the body do. Literals stand in the author's order, so a
/// `not` or `distinct` may come before what binds its variables; reasoners move it.
#[derive(Debug, Clone)]
pub struct Rule {
    /// What follows.
    pub head: Atom,
    /// From what; not empty, unless variables of the head make the clause no fact.
    pub body: Vec<Literal>,
    /// The names of the variables.
    pub variables: Vec<Box<str>>,
    /// The statement it comes from.
    pub span: Span,
}

/// The rules of one game.
#[derive(Debug, Clone)]
pub struct Rules {
    pub(crate) text: Arc<str>,
    pub(crate) symbols: Symbols,
    /// For each constant, whether its first occurrence stands in its own parentheses.
    pub(crate) in_parentheses: FxHashMap<Symbol, bool>,
    pub(crate) relations: Vec<Relation>,
    pub(crate) facts: Vec<Atom>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) roles: Vec<Term>,
    pub(crate) case_ignored: bool,
}

impl Rules {
    /// Interns a description.
    ///
    /// # Errors
    /// If a statement has no meaning, or if there is no role.
    pub fn from_description(description: &Description) -> Result<Rules, LowerError> {
        lower::lower(description)
    }

    /// The names.
    pub fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    /// The relations; those of the keywords stand first, see [`RelationId`].
    pub fn relations(&self) -> &[Relation] {
        &self.relations
    }

    /// One relation.
    pub fn relation(&self, id: RelationId) -> &Relation {
        &self.relations[id.idx()]
    }

    /// The relations that some depend on, by whatever chain of rules, with these themselves.
    pub fn reached_from(&self, relations: &[RelationId]) -> BTreeSet<RelationId> {
        let mut reached: BTreeSet<RelationId> = relations.iter().copied().collect();
        let mut open = relations.to_vec();
        while let Some(relation) = open.pop() {
            for &rule in &self.relation(relation).rules {
                for literal in &self.rules[rule as usize].body {
                    if let Literal::Holds(atom) | Literal::Not(atom) = literal
                        && reached.insert(atom.relation)
                    {
                        open.push(atom.relation);
                    }
                }
            }
        }
        reached
    }

    /// `name/arity` of a relation, for messages.
    pub fn relation_name(&self, id: RelationId) -> String {
        let relation = self.relation(id);
        format!("{}/{}", self.symbols.name(relation.name), relation.arity)
    }

    /// The clauses with a body or with variables.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The ground facts.
    pub fn facts(&self) -> &[Atom] {
        &self.facts
    }

    /// The roles in the order of their facts.
    pub fn roles(&self) -> &[Term] {
        &self.roles
    }

    /// Whether a constant is printed in its own parentheses, because the sheet first spells it so.
    pub fn in_parentheses(&self, symbol: Symbol) -> bool {
        self.in_parentheses.get(&symbol).copied().unwrap_or(false)
    }

    /// The text-level term of a ground term of the rules.
    ///
    /// # Panics
    /// If a variable occurs.
    pub fn term(&self, term: &RuleTerm) -> Term {
        match term {
            RuleTerm::Var(_) => panic!("the term is ground"),
            RuleTerm::Name(symbol) => self.name_term(*symbol),
            RuleTerm::Compound(symbol, args) => Term::Compound(
                self.symbols.name(*symbol).into(),
                args.iter().map(|arg| self.term(arg)).collect(),
            ),
        }
    }

    /// The text-level term of a constant.
    pub fn name_term(&self, symbol: Symbol) -> Term {
        let name = self.symbols.name(symbol).into();
        match self.in_parentheses(symbol) {
            true => Term::Compound(name, Vec::new()),
            false => Term::Name(name),
        }
    }

    /// Where a rule begins, as `line:column`.
    pub fn position(&self, span: Span) -> crate::sexpr::Position {
        span.position(&self.text)
    }

    /// Whether names that differ only by case are one.
    pub fn case_ignored(&self) -> bool {
        self.case_ignored
    }

    /// The clause as KIF text, for messages.
    pub fn rule_text(&self, rule: &Rule) -> String {
        RuleText { rules: self, rule }.to_string()
    }
}

struct RuleText<'a> {
    rules: &'a Rules,
    rule: &'a Rule,
}

impl RuleText<'_> {
    fn term(&self, f: &mut fmt::Formatter<'_>, term: &RuleTerm) -> fmt::Result {
        match term {
            RuleTerm::Var(var) => f.write_str(&self.rule.variables[*var as usize]),
            RuleTerm::Name(symbol) => write!(f, "{}", self.rules.name_term(*symbol)),
            RuleTerm::Compound(symbol, args) => self.list(f, self.rules.symbols.name(*symbol), args),
        }
    }

    fn list(&self, f: &mut fmt::Formatter<'_>, head: &str, args: &[RuleTerm]) -> fmt::Result {
        write!(f, "({head}")?;
        for arg in args {
            f.write_str(" ")?;
            self.term(f, arg)?;
        }
        f.write_str(")")
    }

    fn atom(&self, f: &mut fmt::Formatter<'_>, atom: &Atom) -> fmt::Result {
        let name = self.rules.symbols.name(self.rules.relation(atom.relation).name);
        match atom.args.is_empty() {
            true => f.write_str(name),
            false => self.list(f, name, &atom.args),
        }
    }
}

impl fmt::Display for RuleText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(<= ")?;
        self.atom(f, &self.rule.head)?;
        for literal in &self.rule.body {
            f.write_str(" ")?;
            match literal {
                Literal::Holds(atom) => self.atom(f, atom)?,
                Literal::Not(atom) => {
                    f.write_str("(not ")?;
                    self.atom(f, atom)?;
                    f.write_str(")")?;
                }
                Literal::Distinct(a, b) | Literal::Equal(a, b) => {
                    let negated = matches!(literal, Literal::Equal(..));
                    f.write_str(if negated { "(not (distinct " } else { "(distinct " })?;
                    self.term(f, a)?;
                    f.write_str(" ")?;
                    self.term(f, b)?;
                    f.write_str(if negated { "))" } else { ")" })?;
                }
            }
        }
        f.write_str(")")
    }
}
