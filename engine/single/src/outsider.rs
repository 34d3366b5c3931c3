//! Solvers that know the rules by themselves, whichever reasoner plays.
//!
//! In goes a position as terms, out come lines of terms, which count once the match's own reasoner has played them through.
//! So a solver can have another reasoner than the match ([`elsewhere`](crate::elsewhere)), or none at all
//! ([`sat`](crate::sat)).

use std::fmt;
use std::sync::Arc;

use gdl::Term;
use reasoner::{Interrupt, Reasoner, ReasonerError, Session, Value};
use sat::Netlist;

use crate::elsewhere::Elsewhere;
use crate::sat::Constraints;
use crate::solver::{Ending, Halt, Solver};
use crate::work::Work;

/// A solver that speaks in terms.
pub(crate) trait Outsider: fmt::Debug + Send + Sync {
    /// As [`Solver::solve`], from the position in which exactly these fluents are true.
    fn solve(&self, position: &[Term], desk: &mut dyn Desk) -> Result<Ending, Halt>;
}

/// Whom an outsider works for.
pub(crate) trait Desk {
    /// Ends questions.
    fn interrupt(&self) -> &Interrupt;

    /// Bytes that the outsider may take.
    fn max_bytes(&self) -> usize;

    /// The value of the best line.
    fn best(&self) -> Option<Value>;

    /// Whether a line of this value would be the best.
    fn would_take(&self, value: Value) -> bool;

    /// The lengths of some random lines from the position.
    fn lengths(&mut self) -> Result<Vec<u32>, Halt>;

    /// Offers a line that is said to come to `value`.
    fn offer(&mut self, line: &[Term], value: Value) -> Result<(), Halt>;

    /// Takes note of playouts.
    fn note(&mut self, n_playouts: usize);

    /// Lets others work if it is their turn.
    fn go_on(&mut self) -> Result<(), Halt>;

    /// What was made ready in this turn is not held against the outsider.
    fn forgive(&mut self);
}

/// The outsiders that there are for a game; cheap to clone. They make what they need when they begin.
#[derive(Debug, Clone, Default)]
pub struct Outsiders {
    /// Sees all states where the match's own reasoner is bad at that.
    pub(crate) exhaustive: Option<Arc<dyn Outsider>>,
    /// Makes a planning problem of the rules.
    pub(crate) sat: Option<Arc<dyn Outsider>>,
}

impl Outsiders {
    /// With a reasoner whose states are small and which is fast at one state at a time, and the ground rules.
    pub fn new<R: Reasoner>(
        reasoner: impl Fn(&Interrupt) -> Result<R, ReasonerError> + Send + Sync + 'static,
        netlist: impl Fn(&Interrupt) -> Result<Netlist, ReasonerError> + Send + Sync + 'static,
    ) -> Outsiders {
        Outsiders {
            exhaustive: Some(Arc::new(Elsewhere::new(reasoner))),
            sat: Some(Arc::new(Constraints::new(netlist))),
        }
    }
}

/// An outsider's side of a run.
struct AtDesk<'w, 'a, R: Reasoner> {
    work: &'w mut Work<'a, R>,
}

/// How many random lines tell how long lines are.
const LINES: usize = 8;

impl<R: Reasoner> Desk for AtDesk<'_, '_, R> {
    fn interrupt(&self) -> &Interrupt {
        self.work.interrupt
    }

    fn max_bytes(&self) -> usize {
        self.work.max_bytes
    }

    fn best(&self) -> Option<Value> {
        self.work.best.value()
    }

    fn would_take(&self, value: Value) -> bool {
        self.work.best.would_take(value)
    }

    fn lengths(&mut self) -> Result<Vec<u32>, Halt> {
        self.work.roll_out(&vec![self.work.root.clone(); LINES], |_, _| ())?;
        Ok((0..LINES).map(|idx| self.work.ends.length(idx)).collect())
    }

    fn offer(&mut self, line: &[Term], value: Value) -> Result<(), Halt> {
        if !self.would_take(value) {
            return Ok(());
        }
        let session = &mut *self.work.session;
        let moves = line.iter().map(|term| session.move_of(term)).collect::<Result<Vec<_>, _>>()?;
        let found = self.work.offer(&moves)?;
        if found == Some(value) {
            return Ok(());
        }
        let told = found.map_or_else(|| "to no end".to_owned(), |found| format!("to {found}"));
        let what = format!("a line of {} moves to {value} comes {told} when it is played", line.len());
        Err(Halt::Failed(ReasonerError::Engine(what)))
    }

    fn note(&mut self, n_playouts: usize) {
        self.work.note(n_playouts);
    }

    fn go_on(&mut self) -> Result<(), Halt> {
        self.work.go_on(0)
    }

    fn forgive(&mut self) {
        self.work.turn.forgive();
    }
}

/// Lets an outsider work.
pub(crate) fn solve<R: Reasoner>(outsider: &dyn Outsider, work: &mut Work<'_, R>) -> Result<Ending, Halt> {
    let mut fluents = Vec::new();
    work.session.fluents(work.root, &mut fluents);
    let position: Vec<Term> = fluents.into_iter().map(|fluent| work.session.fluent_term(fluent)).collect();
    outsider.solve(&position, &mut AtDesk { work })
}

/// When a solver has given up for want of memory, it is of no use to let it try again at the next move.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    gave_up_at: Option<u64>,
}

/// Runs in which it is not tried again.
const RUNS_TO_WAIT: u64 = 2;

impl Patience {
    /// Whether it is too early for another try.
    pub(crate) fn is_too_early(&self, run_idx: u64) -> bool {
        self.gave_up_at.is_some_and(|run| run_idx < run + RUNS_TO_WAIT)
    }

    /// Notes how a try ended.
    pub(crate) fn note(&mut self, run_idx: u64, ending: Ending) {
        self.gave_up_at = (ending == Ending::GaveUp).then_some(run_idx);
    }
}

/// An outsider as one of the solvers.
#[derive(Debug)]
pub(crate) struct Guest {
    outsider: Option<Arc<dyn Outsider>>,
    patience: Patience,
}

impl Guest {
    /// Without an outsider it gives up at once.
    pub(crate) fn new(outsider: Option<Arc<dyn Outsider>>) -> Guest {
        Guest { outsider, patience: Patience::default() }
    }
}

impl<R: Reasoner> Solver<R> for Guest {
    fn solve(&mut self, work: &mut Work<'_, R>) -> Result<Ending, Halt> {
        let Some(outsider) = &self.outsider else { return Ok(Ending::GaveUp) };
        if self.patience.is_too_early(work.run_idx()) {
            return Ok(Ending::GaveUp);
        }
        let ending = solve(&**outsider, work)?;
        self.patience.note(work.run_idx(), ending);
        Ok(ending)
    }
}
