//! A rulesheet as the checks see it: heads, and bodies as trees of conditions.
//!
//! In goes a [`Description`], out comes a [`Sheet`] that borrows from it. What has no form at all becomes
//! [`Condition::Broken`]; [`super::shape`] reports it, and the other checks pass over it.

use crate::description::{Description, Keyword};
use crate::sexpr::{Sexpr, SexprKind};

/// A relation by name, keywords in lower case, and number of arguments.
pub(super) type RelationKey<'a> = (&'a str, usize);

/// The statements of a description.
pub(super) struct Sheet<'a> {
    pub(super) description: &'a Description,
    pub(super) clauses: Vec<Clause<'a>>,
}

/// A fact or a rule.
pub(super) struct Clause<'a> {
    /// Which statement.
    pub(super) statement: usize,
    pub(super) is_rule: bool,
    /// None where the head is missing or is no sentence.
    pub(super) head: Option<Sentence<'a>>,
    pub(super) body: Vec<Condition<'a>>,
}

/// A relation applied to terms.
#[derive(Clone, Copy)]
pub(super) struct Sentence<'a> {
    pub(super) sexpr: &'a Sexpr,
    /// Keywords in lower case.
    pub(super) name: &'a str,
    pub(super) keyword: Option<Keyword>,
    pub(super) args: &'a [Sexpr],
}

impl<'a> Sentence<'a> {
    pub(super) fn key(&self) -> RelationKey<'a> {
        (self.name, self.args.len())
    }
}

/// A condition of a body.
pub(super) enum Condition<'a> {
    Sentence(Sentence<'a>),
    /// `not` with exactly one condition.
    Not(&'a Sexpr, Box<Condition<'a>>),
    /// `distinct` with exactly two terms.
    Distinct(&'a Sexpr, &'a [Sexpr]),
    Or(&'a Sexpr, Vec<Condition<'a>>),
    And(&'a Sexpr, Vec<Condition<'a>>),
    /// What has no meaning.
    Broken(&'a Sexpr),
}

impl<'a> Sheet<'a> {
    pub(super) fn new(description: &'a Description) -> Sheet<'a> {
        let clause = |(statement, source): (usize, &'a crate::description::Statement)| Clause {
            statement,
            is_rule: source.is_rule(),
            head: source.head().and_then(sentence),
            body: source.body().iter().map(condition).collect(),
        };
        let clauses = description.statements().iter().enumerate().map(clause).collect();
        Sheet { description, clauses }
    }

    /// Every head that is a sentence.
    pub(super) fn heads(&self) -> impl Iterator<Item = (&Clause<'a>, &Sentence<'a>)> {
        self.clauses.iter().filter_map(|clause| Some((clause, clause.head.as_ref()?)))
    }
}

impl<'a> Clause<'a> {
    /// Calls `visit` for every sentence of the body; the flag tells whether it stands under `not`.
    pub(super) fn for_each_sentence(&self, visit: &mut impl FnMut(&Sentence<'a>, bool)) {
        self.body.iter().for_each(|condition| condition.for_each_sentence(false, visit));
    }
}

impl<'a> Condition<'a> {
    fn for_each_sentence(&self, negated: bool, visit: &mut impl FnMut(&Sentence<'a>, bool)) {
        match self {
            Condition::Sentence(sentence) => visit(sentence, negated),
            Condition::Not(_, inner) => inner.for_each_sentence(!negated, visit),
            Condition::Or(_, parts) | Condition::And(_, parts) => {
                parts.iter().for_each(|part| part.for_each_sentence(negated, visit));
            }
            Condition::Distinct(..) | Condition::Broken(_) => {}
        }
    }
}

/// Whether a keyword joins conditions rather than naming a relation.
pub(super) fn is_connective(keyword: Keyword) -> bool {
    matches!(keyword, Keyword::Distinct | Keyword::Not | Keyword::Or | Keyword::And | Keyword::If)
}

/// The sentence that an expression spells; none if it begins with no name, or with a connective.
fn sentence(sexpr: &Sexpr) -> Option<Sentence<'_>> {
    let name = sexpr.head()?;
    let keyword = Keyword::of(name);
    if name.starts_with('?') || keyword.is_some_and(is_connective) {
        return None;
    }
    let args = sexpr.list().and_then(|items| items.get(1..)).unwrap_or(&[]);
    Some(Sentence { sexpr, name: keyword.map_or(name, |keyword| keyword.text()), keyword, args })
}

fn condition(sexpr: &Sexpr) -> Condition<'_> {
    let connective = sexpr.head().and_then(Keyword::of).filter(|&keyword| is_connective(keyword));
    let Some(connective) = connective else {
        return sentence(sexpr).map_or(Condition::Broken(sexpr), Condition::Sentence);
    };
    let Some(args) = sexpr.list().and_then(|items| items.get(1..)) else {
        return Condition::Broken(sexpr);
    };
    match (connective, args) {
        (Keyword::Not, [inner]) => Condition::Not(sexpr, Box::new(condition(inner))),
        (Keyword::Distinct, [_, _]) => Condition::Distinct(sexpr, args),
        (Keyword::Or, _) => Condition::Or(sexpr, args.iter().map(condition).collect()),
        (Keyword::And, _) => Condition::And(sexpr, args.iter().map(condition).collect()),
        _ => Condition::Broken(sexpr),
    }
}

/// Calls `visit` for every occurrence of a variable.
pub(super) fn for_each_var<'a>(sexpr: &'a Sexpr, visit: &mut impl FnMut(&'a str)) {
    match &sexpr.kind {
        SexprKind::Atom(name) if name.starts_with('?') => visit(name),
        SexprKind::Atom(_) => {}
        SexprKind::List(items) => items.iter().for_each(|item| for_each_var(item, visit)),
    }
}

/// Whether no variable occurs.
pub(super) fn is_ground(sexpr: &Sexpr) -> bool {
    match &sexpr.kind {
        SexprKind::Atom(name) => !name.starts_with('?'),
        SexprKind::List(items) => items.iter().all(is_ground),
    }
}
