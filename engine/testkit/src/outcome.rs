//! What came of a check.

use std::time::Duration;

use reasoner::{Interrupt, ReasonerError};

use crate::budget::{CpuClock, within};

/// What was compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Done {
    /// Positions of traces or matches.
    pub n_positions: u64,
    /// Traces or matches, to their ends.
    pub n_traces: u64,
    /// Levels of the game tree.
    pub n_levels: u64,
}

impl Done {
    pub(crate) fn add(&mut self, more: Done) {
        self.n_positions += more.n_positions;
        self.n_traces += more.n_traces;
        self.n_levels += more.n_levels;
    }
}

/// Whether a reasoner agrees with the reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Agreement {
    /// All that was asked for was compared, and is equal.
    Agree,
    /// What was compared is equal, but the budget ran out at this place.
    Slow(String),
    /// The first difference.
    Differs(String),
}

/// The result of one check.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// Whether the reasoner agrees.
    pub agreement: Agreement,
    /// What was compared before that was known.
    pub done: Done,
    /// Processor time used.
    pub cpu: Duration,
}

impl Outcome {
    /// Of a check that failed before anything was compared.
    pub(crate) fn of_failure(what: String) -> Outcome {
        Outcome { agreement: Agreement::Differs(what), done: Done::default(), cpu: Duration::ZERO }
    }
}

/// Why a check ended before its end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// An answer is not what was expected, in words that begin with the place.
    #[error("{0}")]
    Differs(String),
    /// The reasoner was interrupted at this place: it used up its budget.
    #[error("out of its budget at {0}")]
    Interrupted(String),
}

impl Mismatch {
    /// What a reasoner's error means at a place.
    pub(crate) fn of_error(place: &str, error: &ReasonerError) -> Mismatch {
        match error {
            ReasonerError::Interrupted => Mismatch::Interrupted(place.to_string()),
            other => Mismatch::Differs(format!("{place}: {other}")),
        }
    }
}

/// Does a check within a budget of processor time.
pub(crate) fn judge(
    budget: Duration,
    check: impl FnOnce(&Interrupt, &mut Done) -> Result<(), Mismatch>,
) -> Outcome {
    let clock = CpuClock::start();
    let interrupt = Interrupt::new();
    let mut done = Done::default();
    let answer = within(budget, &interrupt, || check(&interrupt, &mut done));
    let agreement = match answer {
        Ok(()) => Agreement::Agree,
        Err(Mismatch::Interrupted(place)) => Agreement::Slow(place),
        Err(Mismatch::Differs(what)) => Agreement::Differs(what),
    };
    Outcome { agreement, done, cpu: clock.elapsed() }
}

/// `Ok` if equal, else the difference at `place`.
pub(crate) fn demand_equal<T: PartialEq + std::fmt::Debug>(
    place: &str,
    what: &str,
    ours: &T,
    expected: &T,
    detail: impl FnOnce() -> String,
) -> Result<(), Mismatch> {
    match ours == expected {
        true => Ok(()),
        false => {
            let detail = detail();
            let detail = if detail.is_empty() { detail } else { format!("; {detail}") };
            Err(Mismatch::Differs(format!("{place}: {what} is {ours:?}, expected {expected:?}{detail}")))
        }
    }
}
