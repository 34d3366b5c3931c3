//! Terms as text: what comes from a message or goes into an answer.

use std::fmt;

use crate::sexpr::{ReadError, Sexpr, SexprKind, read_one};

/// A term without variables: a move, a fact of a state, a role.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Term {
    /// A name, as spelled.
    Name(Box<str>),
    /// `(f a b)`; the arguments may be none, for names that the rules write in parentheses.
    Compound(Box<str>, Vec<Term>),
}

/// Why an expression is no term.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TermError {
    /// The text is not one expression.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A list that does not begin with a name.
    #[error("{0:?} is no term: a term begins with a name")]
    NoName(String),
    /// A variable where a ground term is wanted.
    #[error("{0:?} is a variable; a term without variables is wanted")]
    Variable(String),
}

impl Term {
    /// Reads a term from its KIF text.
    ///
    /// # Errors
    /// If the text is not exactly one ground term.
    pub fn parse(text: &str) -> Result<Term, TermError> {
        Term::from_sexpr(&read_one(text)?)
    }

    /// The term that an expression spells.
    ///
    /// # Errors
    /// If a list has no name at its head, or a variable occurs.
    pub fn from_sexpr(sexpr: &Sexpr) -> Result<Term, TermError> {
        match &sexpr.kind {
            SexprKind::Atom(name) if name.starts_with('?') => Err(TermError::Variable(name.to_string())),
            SexprKind::Atom(name) => Ok(Term::Name(name.clone())),
            SexprKind::List(items) => {
                let Some((name, args)) =
                    items.split_first().and_then(|(head, args)| Some((head.atom()?, args)))
                else {
                    return Err(TermError::NoName(sexpr.to_string()));
                };
                if name.starts_with('?') {
                    return Err(TermError::Variable(name.to_string()));
                }
                Ok(Term::Compound(name.into(), args.iter().map(Term::from_sexpr).collect::<Result<_, _>>()?))
            }
        }
    }

    /// The name at the head.
    pub fn name(&self) -> &str {
        match self {
            Term::Name(name) | Term::Compound(name, _) => name,
        }
    }

    /// The arguments; none for a name.
    pub fn args(&self) -> &[Term] {
        match self {
            Term::Name(_) => &[],
            Term::Compound(_, args) => args,
        }
    }

    /// The KIF text in lower case (ASCII), as the golden data and the JSON outputs have it.
    pub fn to_lower_case(&self) -> String {
        let mut text = self.to_string();
        text.make_ascii_lowercase();
        text
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Term::Name(name) => f.write_str(name),
            Term::Compound(name, args) => {
                write!(f, "({name}")?;
                for arg in args {
                    write!(f, " {arg}")?;
                }
                f.write_str(")")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_print_as_read() {
        for text in ["noop", "(move (pos a 1) (pos b (sq 1 2)))", "(start)"] {
            assert_eq!(Term::parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_is_no_term_is_refused() {
        for text in ["", "a b", "((a))", "()", "?x", "(a ?x)", "(a"] {
            assert!(Term::parse(text).is_err(), "{text}");
        }
    }
}
