//! What every system is to those who run it.

use reasoner::{Reasoner, ReasonerError};

use crate::work::Work;

/// Looks for better lines from the root, on one thread, in turns.
pub(crate) trait Solver<R: Reasoner> {
    /// Works until there is nothing more to do for it, or all turns are over. What it learns about the game it may keep
    /// for the next root.
    ///
    /// # Errors
    /// [`Halt`], at any question or turn.
    fn solve(&mut self, work: &mut Work<'_, R>) -> Result<Ending, Halt>;
}

/// Why a solver is done before its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It has seen all lines from the root: none is better than the best.
    Proved,
    /// It would only repeat itself, or cannot go on.
    GaveUp,
}

/// What ends a solver from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Halt {
    /// All turns are over.
    Over,
    /// The reasoner does not answer.
    Failed(ReasonerError),
}

impl From<ReasonerError> for Halt {
    fn from(error: ReasonerError) -> Halt {
        match error {
            ReasonerError::Interrupted => Halt::Over,
            error => Halt::Failed(error),
        }
    }
}

impl From<crate::turns::Over> for Halt {
    fn from(_: crate::turns::Over) -> Halt {
        Halt::Over
    }
}
