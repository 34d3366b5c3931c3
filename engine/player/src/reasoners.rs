//! The one list of concrete reasoners.
//!
//! In goes a kind and rules, out comes a call of a visitor that is generic over the reasoner. No other file
//! names a reasoner's type; everything else is generic over [`Reasoner`].

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use gdl::Rules;
use reasoner::{Reasoner, ReasonerError};
use reasoner_native::Interpreter;

/// The reasoners by the names that the command line knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReasonerKind {
    /// The best for the game at hand; at present the interpreter for every game.
    #[default]
    Auto,
    /// Evaluates any rules on demand, without grounding.
    Interpreter,
}

/// A name that stands for no reasoner of this build.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KindError {
    /// A reasoner that exists, but elsewhere.
    #[error("the reasoner {0:?} is not in this build; use \"interpreter\" or \"auto\"")]
    NotInThisBuild(String),
    /// No reasoner at all.
    #[error("there is no reasoner {0:?}; use \"interpreter\" or \"auto\"")]
    Unknown(String),
}

impl FromStr for ReasonerKind {
    type Err = KindError;

    fn from_str(name: &str) -> Result<ReasonerKind, KindError> {
        match name {
            "auto" => Ok(ReasonerKind::Auto),
            "interpreter" => Ok(ReasonerKind::Interpreter),
            "prolog" | "propnet" => Err(KindError::NotInThisBuild(name.to_owned())),
            _ => Err(KindError::Unknown(name.to_owned())),
        }
    }
}

impl fmt::Display for ReasonerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ReasonerKind::Auto => "auto",
            ReasonerKind::Interpreter => "interpreter",
        })
    }
}

/// Work that any reasoner can serve.
pub trait WithReasoner {
    /// What the work gives.
    type Output;

    /// Does the work.
    fn run<R: Reasoner>(self, reasoner: Arc<R>) -> Self::Output;
}

impl ReasonerKind {
    /// Sets up the reasoner and does the work with it.
    ///
    /// # Errors
    /// If the reasoner cannot take the rules.
    pub fn with<W: WithReasoner>(self, rules: Arc<Rules>, work: W) -> Result<W::Output, ReasonerError> {
        match self {
            ReasonerKind::Auto | ReasonerKind::Interpreter => {
                Ok(work.run(Arc::new(Interpreter::new(rules)?)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_give_kinds_and_back() {
        for name in ["auto", "interpreter"] {
            assert_eq!(name.parse::<ReasonerKind>().map(|kind| kind.to_string()), Ok(name.to_owned()));
        }
        assert!(matches!("prolog".parse::<ReasonerKind>(), Err(KindError::NotInThisBuild(_))));
        assert!(matches!("magic".parse::<ReasonerKind>(), Err(KindError::Unknown(_))));
    }
}
