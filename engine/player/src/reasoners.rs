//! The one list of concrete reasoners.
//!
//! In goes a kind and rules, out comes a call of a visitor that is generic over the reasoner. No other file
//! names a reasoner's type; everything else is generic over [`Reasoner`].

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gdl::Rules;
use reasoner::{Interrupt, Reasoner, ReasonerError};
use reasoner_native::{Budget, Evaluation, Interpreter, Propnet};
pub use reasoner_native::{GateCount, NetReport};
#[cfg(feature = "prolog")]
use reasoner_prolog::{Prolog, Update};

/// The names of this build's reasoners, for help texts and messages.
#[cfg(feature = "prolog")]
pub const NAMES: &str = "auto, interpreter, propnet, propnet-scalar, prolog, prolog-full";
/// The names of this build's reasoners, for help texts and messages.
#[cfg(not(feature = "prolog"))]
pub const NAMES: &str = "auto, interpreter, propnet, propnet-scalar";

/// The reasoners by the names that the command line knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReasonerKind {
    /// The best for the game at hand; at present the interpreter for every game.
    #[default]
    Auto,
    /// Evaluates any rules on demand, without grounding.
    Interpreter,
    /// Grounds the rules into a propositional network, and evaluates many states side by side.
    Propnet,
    /// The same network, one state at a time; for comparison.
    PropnetScalar,
    /// Embedded SWI-Prolog, which gets the difference from state to state.
    #[cfg(feature = "prolog")]
    Prolog,
    /// Embedded SWI-Prolog, which gets every state whole; for comparison.
    #[cfg(feature = "prolog")]
    PrologFull,
}

/// Every kind of this build.
const KINDS: &[ReasonerKind] = &[
    ReasonerKind::Auto,
    ReasonerKind::Interpreter,
    ReasonerKind::Propnet,
    ReasonerKind::PropnetScalar,
    #[cfg(feature = "prolog")]
    ReasonerKind::Prolog,
    #[cfg(feature = "prolog")]
    ReasonerKind::PrologFull,
];

/// A name that stands for no reasoner of this build.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KindError {
    /// A reasoner that exists, but elsewhere.
    #[error("the reasoner {0:?} is not in this build; use one of: {NAMES}")]
    NotInThisBuild(String),
    /// No reasoner at all.
    #[error("there is no reasoner {0:?}; use one of: {NAMES}")]
    Unknown(String),
}

impl FromStr for ReasonerKind {
    type Err = KindError;

    fn from_str(name: &str) -> Result<ReasonerKind, KindError> {
        if let Some(&kind) = KINDS.iter().find(|kind| kind.to_string() == name) {
            return Ok(kind);
        }
        Err(match name {
            "prolog" | "prolog-full" => KindError::NotInThisBuild(name.to_owned()),
            _ => KindError::Unknown(name.to_owned()),
        })
    }
}

impl fmt::Display for ReasonerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ReasonerKind::Auto => "auto",
            ReasonerKind::Interpreter => "interpreter",
            ReasonerKind::Propnet => "propnet",
            ReasonerKind::PropnetScalar => "propnet-scalar",
            #[cfg(feature = "prolog")]
            ReasonerKind::Prolog => "prolog",
            #[cfg(feature = "prolog")]
            ReasonerKind::PrologFull => "prolog-full",
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

/// What setting a reasoner up may take.
#[derive(Debug, Clone)]
pub struct SetUp {
    /// How long grounding may take.
    pub time: Duration,
    /// Ends it at once.
    pub stop: Interrupt,
}

impl SetUp {
    /// How long grounding may take where nobody waits for a clock: nearly all published games take less.
    const PATIENCE: Duration = Duration::from_secs(60);

    /// Patient, but for `stop`.
    pub fn until(stop: &Interrupt) -> SetUp {
        SetUp { time: SetUp::PATIENCE, stop: stop.clone() }
    }

    fn budget(&self) -> Budget {
        Budget {
            deadline: Some(Instant::now() + self.time),
            interrupt: self.stop.clone(),
            ..Budget::default()
        }
    }
}

/// What rules come to as a propositional network.
///
/// # Errors
/// If they cannot be grounded.
pub fn explain(rules: Arc<Rules>, set_up: &SetUp) -> Result<NetReport, ReasonerError> {
    Ok(propnet(rules, set_up, Evaluation::Sliced)?.report())
}

fn propnet(rules: Arc<Rules>, set_up: &SetUp, evaluation: Evaluation) -> Result<Propnet, ReasonerError> {
    let interpreter = Arc::new(Interpreter::new(rules)?);
    Propnet::new(&interpreter, &set_up.budget(), evaluation)
}

impl ReasonerKind {
    /// Sets up the reasoner and does the work with it.
    ///
    /// # Errors
    /// If the reasoner cannot take the rules.
    pub fn with<W: WithReasoner>(
        self,
        rules: Arc<Rules>,
        set_up: &SetUp,
        work: W,
    ) -> Result<W::Output, ReasonerError> {
        match self {
            ReasonerKind::Auto | ReasonerKind::Interpreter => {
                Ok(work.run(Arc::new(Interpreter::new(rules)?)))
            }
            ReasonerKind::Propnet => Ok(work.run(Arc::new(propnet(rules, set_up, Evaluation::Sliced)?))),
            ReasonerKind::PropnetScalar => {
                Ok(work.run(Arc::new(propnet(rules, set_up, Evaluation::Scalar)?)))
            }
            #[cfg(feature = "prolog")]
            ReasonerKind::Prolog => Ok(work.run(Arc::new(Prolog::new(rules, Update::Difference)?))),
            #[cfg(feature = "prolog")]
            ReasonerKind::PrologFull => Ok(work.run(Arc::new(Prolog::new(rules, Update::Everything)?))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_give_kinds_and_back() {
        for name in NAMES.split(", ") {
            assert_eq!(name.parse::<ReasonerKind>().map(|kind| kind.to_string()), Ok(name.to_owned()));
        }
        assert_eq!(NAMES.split(", ").count(), KINDS.len());
        #[cfg(not(feature = "prolog"))]
        assert!(matches!("prolog".parse::<ReasonerKind>(), Err(KindError::NotInThisBuild(_))));
        assert!(matches!("magic".parse::<ReasonerKind>(), Err(KindError::Unknown(_))));
    }
}
