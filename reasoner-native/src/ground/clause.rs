//! Clauses in the form that grounding works on.
//!
//! In go [`Rules`], out come [`Clause`]s of the predicates that the questions lead to. Equations are solved
//! by substitution; a negated atom with variables that nothing else binds ("no instance holds") is projected
//! to an auxiliary predicate, so that every clause is safe.

use std::collections::BTreeSet;

use gdl::{Atom, Literal, RelationId, Rule, RuleTerm, Rules, Symbol};

use super::GroundError;
use crate::terms::{TermId, Terms};

/// A term of a clause; what has no variable is one interned term.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Pattern {
    /// A variable, by number within the clause.
    Var(u32),
    /// A term without variables.
    Ground(TermId),
    /// A function with a variable somewhere below.
    Compound(Symbol, Box<[Pattern]>),
}

impl Pattern {
    /// Calls `visit` for every occurrence of a variable.
    pub(super) fn for_each_var(&self, visit: &mut impl FnMut(u32)) {
        match self {
            Pattern::Var(var) => visit(*var),
            Pattern::Ground(_) => {}
            Pattern::Compound(_, args) => args.iter().for_each(|arg| arg.for_each_var(visit)),
        }
    }
}

/// A predicate: a relation's name, or a fresh one, with a number of arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Functor {
    pub(super) name: Symbol,
    pub(super) arity: u32,
}

/// A predicate with its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct AtomPattern {
    pub(super) functor: Functor,
    pub(super) args: Box<[Pattern]>,
}

impl AtomPattern {
    pub(super) fn new(name: Symbol, args: Vec<Pattern>) -> AtomPattern {
        let arity = u32::try_from(args.len()).expect("arguments are bounded by the text");
        AtomPattern { functor: Functor { name, arity }, args: args.into() }
    }

    /// Calls `visit` for every occurrence of a variable.
    pub(super) fn for_each_var(&self, visit: &mut impl FnMut(u32)) {
        self.args.iter().for_each(|arg| arg.for_each_var(visit));
    }

    /// Its variables.
    pub(super) fn vars(&self) -> BTreeSet<u32> {
        let mut vars = BTreeSet::new();
        self.for_each_var(&mut |var| _ = vars.insert(var));
        vars
    }
}

/// One condition of a clause.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Condition {
    Holds(AtomPattern),
    /// All variables are bound by atoms that hold.
    Not(AtomPattern),
    /// All variables are bound by atoms that hold.
    Distinct(Pattern, Pattern),
}

impl Condition {
    /// Calls `visit` for every occurrence of a variable.
    pub(super) fn for_each_var(&self, visit: &mut impl FnMut(u32)) {
        match self {
            Condition::Holds(atom) | Condition::Not(atom) => atom.for_each_var(visit),
            Condition::Distinct(a, b) => {
                a.for_each_var(visit);
                b.for_each_var(visit);
            }
        }
    }

    /// Its variables.
    pub(super) fn vars(&self) -> BTreeSet<u32> {
        let mut vars = BTreeSet::new();
        self.for_each_var(&mut |var| _ = vars.insert(var));
        vars
    }

    /// The atom that it speaks of.
    pub(super) fn atom(&self) -> Option<&AtomPattern> {
        match self {
            Condition::Holds(atom) | Condition::Not(atom) => Some(atom),
            Condition::Distinct(..) => None,
        }
    }
}

/// The head holds where all conditions do; a fact has none.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Clause {
    pub(super) head: AtomPattern,
    pub(super) body: Vec<Condition>,
    pub(super) n_vars: u32,
}

impl Clause {
    /// The variables of the atoms that must hold: those that evaluation binds.
    pub(super) fn bound_vars(&self) -> BTreeSet<u32> {
        let mut bound = BTreeSet::new();
        for condition in &self.body {
            if let Condition::Holds(atom) = condition {
                atom.for_each_var(&mut |var| _ = bound.insert(var));
            }
        }
        bound
    }
}

/// Names of predicates that the rules do not have.
#[derive(Debug, Clone)]
pub(super) struct FreshNames {
    next: u32,
}

impl FreshNames {
    /// The names from a number on, which must be free.
    pub(super) fn starting_at(next: u32) -> FreshNames {
        FreshNames { next }
    }

    pub(super) fn make(&mut self) -> Symbol {
        self.next += 1;
        Symbol(self.next - 1)
    }
}

/// The clauses of a game.
#[derive(Debug, Clone)]
pub(super) struct Program {
    pub(super) clauses: Vec<Clause>,
    pub(super) fresh: FreshNames,
}

/// The functor of a relation.
pub(super) fn functor_of(rules: &Rules, relation: RelationId) -> Functor {
    let relation = rules.relation(relation);
    Functor { name: relation.name, arity: relation.arity }
}

/// All clauses that legality, successors, terminal states and goals depend on.
///
/// # Errors
/// [`GroundError::Unbound`] if a variable of a clause can never be bound.
pub(super) fn program(rules: &Rules, terms: &mut Terms) -> Result<Program, GroundError> {
    let n_names = u32::try_from(rules.symbols().len()).expect("symbols are 32 bits");
    let mut program = Program { clauses: Vec::new(), fresh: FreshNames::starting_at(n_names) };
    let questions = [RelationId::TERMINAL, RelationId::LEGAL, RelationId::NEXT, RelationId::GOAL];
    let has_clauses = |relation: &RelationId| ![RelationId::TRUE, RelationId::DOES].contains(relation);
    for relation in rules.reached_from(&questions).into_iter().filter(has_clauses) {
        let mut lowering = Lowering { rules, terms, program: &mut program };
        for &fact in &rules.relation(relation).facts {
            lowering.fact(&rules.facts()[fact as usize]);
        }
        for &rule in &rules.relation(relation).rules {
            lowering.rule(&rules.rules()[rule as usize])?;
        }
    }
    Ok(program)
}

struct Lowering<'a> {
    rules: &'a Rules,
    terms: &'a mut Terms,
    program: &'a mut Program,
}

impl Lowering<'_> {
    fn fact(&mut self, fact: &Atom) {
        let head = self.atom(fact, &Substitution::default());
        self.program.clauses.push(Clause { head, body: Vec::new(), n_vars: 0 });
    }

    fn rule(&mut self, rule: &Rule) -> Result<(), GroundError> {
        let mut substitution = Substitution::default();
        for literal in &rule.body {
            if let Literal::Equal(a, b) = literal
                && !substitution.unify(a, b)
            {
                return Ok(());
            }
        }
        let mut body = Vec::new();
        for literal in &rule.body {
            match literal {
                Literal::Holds(atom) => body.push(Condition::Holds(self.atom(atom, &substitution))),
                Literal::Not(atom) => body.push(Condition::Not(self.atom(atom, &substitution))),
                Literal::Distinct(a, b) => {
                    body.push(Condition::Distinct(
                        self.pattern(a, &substitution),
                        self.pattern(b, &substitution),
                    ));
                }
                Literal::Equal(..) => {}
            }
        }
        let n_vars = u32::try_from(rule.variables.len()).expect("variables are bounded by the text");
        let mut clause = Clause { head: self.atom(&rule.head, &substitution), body, n_vars };
        self.project_negations(&mut clause);
        let bound = clause.bound_vars();
        let distincts = clause.body.iter().filter(|condition| matches!(condition, Condition::Distinct(..)));
        let mut needed = clause.head.vars();
        distincts.for_each(|condition| needed.extend(condition.vars()));
        if let Some(&var) = needed.difference(&bound).next() {
            return Err(GroundError::Unbound {
                variable: rule.variables[var as usize].to_string(),
                position: self.rules.position(rule.span),
            });
        }
        self.program.clauses.push(clause);
        Ok(())
    }

    /// Replaces negated atoms with variables that nothing binds by ones without.
    fn project_negations(&mut self, clause: &mut Clause) {
        let bound = clause.bound_vars();
        for condition in &mut clause.body {
            let Condition::Not(atom) = condition else { continue };
            let vars = atom.vars();
            if vars.is_subset(&bound) {
                continue;
            }
            let kept = vars.intersection(&bound).map(|&var| Pattern::Var(var)).collect();
            let head = AtomPattern::new(self.program.fresh.make(), kept);
            let body = vec![Condition::Holds(atom.clone())];
            self.program.clauses.push(Clause { head: head.clone(), body, n_vars: clause.n_vars });
            *condition = Condition::Not(head);
        }
    }

    fn atom(&mut self, atom: &Atom, substitution: &Substitution) -> AtomPattern {
        let args = atom.args.iter().map(|arg| self.pattern(arg, substitution)).collect();
        AtomPattern { functor: functor_of(self.rules, atom.relation), args }
    }

    fn pattern(&mut self, term: &RuleTerm, substitution: &Substitution) -> Pattern {
        match term {
            RuleTerm::Var(var) => match substitution.value(*var).cloned() {
                Some(value) => self.pattern(&value, substitution),
                None => Pattern::Var(*var),
            },
            RuleTerm::Name(name) => Pattern::Ground(self.terms.intern(*name, &[])),
            RuleTerm::Compound(name, args) => {
                let args: Vec<Pattern> = args.iter().map(|arg| self.pattern(arg, substitution)).collect();
                compound(self.terms, *name, args)
            }
        }
    }
}

/// A function's pattern: one term if no variable is left.
pub(super) fn compound(terms: &mut Terms, name: Symbol, args: Vec<Pattern>) -> Pattern {
    let ground: Option<Vec<u32>> =
        args.iter().map(|arg| if let Pattern::Ground(term) = arg { Some(term.0) } else { None }).collect();
    match ground {
        Some(ground) => Pattern::Ground(terms.intern(name, &ground)),
        None => Pattern::Compound(name, args.into()),
    }
}

/// What equations say of variables.
#[derive(Debug, Default)]
struct Substitution(Vec<(u32, RuleTerm)>);

impl Substitution {
    fn value(&self, var: u32) -> Option<&RuleTerm> {
        self.0.iter().find(|(known, _)| *known == var).map(|(_, value)| value)
    }

    fn resolve<'a>(&'a self, mut term: &'a RuleTerm) -> &'a RuleTerm {
        while let RuleTerm::Var(var) = term
            && let Some(value) = self.value(*var)
        {
            term = value;
        }
        term
    }

    fn occurs(&self, var: u32, term: &RuleTerm) -> bool {
        match self.resolve(term) {
            RuleTerm::Var(other) => *other == var,
            RuleTerm::Name(_) => false,
            RuleTerm::Compound(_, args) => args.iter().any(|arg| self.occurs(var, arg)),
        }
    }

    /// Makes two terms equal; false if they cannot be.
    fn unify(&mut self, a: &RuleTerm, b: &RuleTerm) -> bool {
        let (a, b) = (self.resolve(a).clone(), self.resolve(b).clone());
        match (&a, &b) {
            (RuleTerm::Var(x), RuleTerm::Var(y)) if x == y => true,
            (RuleTerm::Var(var), other) | (other, RuleTerm::Var(var)) => {
                if self.occurs(*var, other) {
                    return false;
                }
                self.0.push((*var, other.clone()));
                true
            }
            (RuleTerm::Compound(f, xs), RuleTerm::Compound(g, ys)) => {
                f == g && xs.len() == ys.len() && xs.iter().zip(ys).all(|(x, y)| self.unify(x, y))
            }
            _ => a == b,
        }
    }
}
