//! A rulesheet as parsed: its statements in order, each with its place in the text.
//!
//! In goes text or the expressions of a protocol message, out comes a [`Description`]. Names are as
//! received, or folded to one spelling each where the sheet is read without case. Whether the statements
//! make a game is for [`crate::check`] and [`crate::Rules`].

use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::sexpr::{ReadError, Sexpr, SexprKind, Span, read_all};

/// The words of the language, recognised in any case where a relation or connective stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "each is the word itself")]
pub enum Keyword {
    Role,
    Init,
    True,
    Next,
    Legal,
    Does,
    Goal,
    Terminal,
    Base,
    Input,
    Distinct,
    Not,
    Or,
    And,
    /// `<=`
    If,
}

impl Keyword {
    const ALL: [(Keyword, &'static str); 15] = [
        (Keyword::Role, "role"),
        (Keyword::Init, "init"),
        (Keyword::True, "true"),
        (Keyword::Next, "next"),
        (Keyword::Legal, "legal"),
        (Keyword::Does, "does"),
        (Keyword::Goal, "goal"),
        (Keyword::Terminal, "terminal"),
        (Keyword::Base, "base"),
        (Keyword::Input, "input"),
        (Keyword::Distinct, "distinct"),
        (Keyword::Not, "not"),
        (Keyword::Or, "or"),
        (Keyword::And, "and"),
        (Keyword::If, "<="),
    ];

    /// The keyword that `name` spells in any case.
    pub fn of(name: &str) -> Option<Keyword> {
        Keyword::ALL.iter().find(|(_, text)| name.eq_ignore_ascii_case(text)).map(|&(keyword, _)| keyword)
    }

    /// The lower-case spelling.
    pub fn text(self) -> &'static str {
        Keyword::ALL.iter().find(|&&(keyword, _)| keyword == self).map_or("", |&(_, text)| text)
    }
}

/// How the case of names is read. Keywords are recognised in any case throughout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CaseReading {
    /// As [`CaseReading::Exact`], unless most names that occur more than once are spelled in several ways
    /// that differ only by case: then as [`CaseReading::Ignored`].
    #[default]
    Auto,
    /// Names that differ by case are different names, as the specification has it.
    Exact,
    /// Names that differ only by case are one name, spelled as it first occurs.
    Ignored,
}

/// How a rulesheet is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReadOptions {
    /// The case of names.
    pub case: CaseReading,
}

/// One statement: a fact, or a rule `(<= head literal ...)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    sexpr: Sexpr,
}

impl Statement {
    /// The expression as read.
    pub fn sexpr(&self) -> &Sexpr {
        &self.sexpr
    }

    /// Where it stands.
    pub fn span(&self) -> Span {
        self.sexpr.span
    }

    /// Whether it is written with `<=`.
    pub fn is_rule(&self) -> bool {
        self.sexpr.list().is_some() && self.sexpr.head().and_then(Keyword::of) == Some(Keyword::If)
    }

    /// The fact, or the head of the rule; none in `(<=)`.
    pub fn head(&self) -> Option<&Sexpr> {
        match self.is_rule() {
            true => self.sexpr.list().and_then(|items| items.get(1)),
            false => Some(&self.sexpr),
        }
    }

    /// The literals of the rule; empty for a fact.
    pub fn body(&self) -> &[Sexpr] {
        match self.is_rule() {
            true => self.sexpr.list().and_then(|items| items.get(2..)).unwrap_or(&[]),
            false => &[],
        }
    }
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sexpr.fmt(f)
    }
}

/// The statements of a rulesheet, in order, and the text that their spans belong to.
///
/// Displays as one statement per line; reading that gives equal statements back (but for their spans).
#[derive(Debug, Clone)]
pub struct Description {
    text: Arc<str>,
    statements: Vec<Statement>,
    case_ignored: bool,
}

impl Description {
    /// Reads a rulesheet.
    ///
    /// # Errors
    /// If the text is not a sequence of expressions.
    pub fn read(text: &str, options: ReadOptions) -> Result<Description, ReadError> {
        let statements = read_all(text)?;
        Ok(Description::from_sexprs(text, statements, options))
    }

    /// The rulesheet that `statements`, read from `text`, spell. A single list of lists is opened, since
    /// some sheets and every protocol message wrap all statements in one pair of parentheses.
    pub fn from_sexprs(text: &str, mut statements: Vec<Sexpr>, options: ReadOptions) -> Description {
        // Until nothing is left to open, so that what is printed reads the same again.
        while let [Sexpr { kind: SexprKind::List(inner), .. }] = statements.as_mut_slice()
            && inner.first().is_some_and(|first| first.list().is_some())
        {
            statements = std::mem::take(inner);
        }
        let case_ignored = match options.case {
            CaseReading::Exact => false,
            CaseReading::Ignored => true,
            CaseReading::Auto => case_is_noise(&statements),
        };
        if case_ignored {
            let mut spellings = FxHashMap::default();
            statements.iter_mut().for_each(|statement| fold_case(statement, &mut spellings));
        }
        let statements = statements.into_iter().map(|sexpr| Statement { sexpr }).collect();
        Description { text: text.into(), statements, case_ignored }
    }

    /// The statements in order.
    pub fn statements(&self) -> &[Statement] {
        &self.statements
    }

    /// The text that the spans belong to.
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// Whether names were read without case.
    pub fn case_ignored(&self) -> bool {
        self.case_ignored
    }
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.statements.iter().try_for_each(|statement| writeln!(f, "{statement}"))
    }
}

/// Calls `visit` for every atom.
fn for_each_atom<'a>(sexpr: &'a Sexpr, visit: &mut impl FnMut(&'a str)) {
    match &sexpr.kind {
        SexprKind::Atom(text) => visit(text),
        SexprKind::List(items) => items.iter().for_each(|item| for_each_atom(item, visit)),
    }
}

/// Whether the case of names carries no meaning: more than half of the names that occur at least twice are
/// spelled in ways that differ by case. Published sheets with slips have at most a few such names.
fn case_is_noise(statements: &[Sexpr]) -> bool {
    let mut names: FxHashMap<String, (u32, FxHashSet<&str>)> = FxHashMap::default();
    for statement in statements {
        for_each_atom(statement, &mut |atom| {
            if Keyword::of(atom).is_none() && atom.bytes().any(|byte| byte.is_ascii_alphabetic()) {
                let (n, spellings) = names.entry(atom.to_ascii_lowercase()).or_default();
                *n += 1;
                spellings.insert(atom);
            }
        });
    }
    let repeated = names.values().filter(|(n, _)| *n > 1).count();
    let uneven = names.values().filter(|(_, spellings)| spellings.len() > 1).count();
    uneven * 2 > repeated
}

/// Gives every name the spelling of its first occurrence.
fn fold_case(sexpr: &mut Sexpr, spellings: &mut FxHashMap<String, Box<str>>) {
    match &mut sexpr.kind {
        SexprKind::Atom(text) => match spellings.entry(text.to_ascii_lowercase()) {
            Entry::Occupied(first) => *text = first.get().clone(),
            Entry::Vacant(slot) => {
                slot.insert(text.clone());
            }
        },
        SexprKind::List(items) => items.iter_mut().for_each(|item| fold_case(item, spellings)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &str, case: CaseReading) -> String {
        Description::read(text, ReadOptions { case }).unwrap().to_string()
    }

    #[test]
    fn a_wrapping_list_is_opened() {
        assert_eq!(printed("((role a) (p))", CaseReading::Auto), "(role a)\n(p)\n");
        assert_eq!(printed("(p)", CaseReading::Auto), "(p)\n");
        assert_eq!(printed("(((p)))", CaseReading::Auto), "(p)\n");
    }

    #[test]
    fn case_is_kept_unless_it_is_noise() {
        let one_slip = "(a B) (a b) (c d) (c d) (e f) (e f)";
        assert!(!Description::read(one_slip, ReadOptions::default()).unwrap().case_ignored());
        assert_eq!(printed("(Foo baR) (fOO Bar)", CaseReading::Auto), "(Foo baR)\n(Foo baR)\n");
        assert_eq!(printed("(Foo baR) (fOO Bar)", CaseReading::Exact), "(Foo baR)\n(fOO Bar)\n");
    }

    #[test]
    fn keywords_have_no_case() {
        let description = Description::read("(<= Terminal (NOT p))", ReadOptions::default()).unwrap();
        let statement = &description.statements()[0];
        assert!(statement.is_rule());
        assert_eq!(statement.head().and_then(Sexpr::head).and_then(Keyword::of), Some(Keyword::Terminal));
        assert_eq!(statement.body().len(), 1);
    }
}
