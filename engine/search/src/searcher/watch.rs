//! What a run waits for: its deadline, a stop, or a choice that is settled; and when it tells of itself.

use std::time::{Duration, Instant};

use reasoner::{Interrupt, Reasoner};

use super::Searcher;
use crate::kept;
use crate::node::NodeId;
use crate::options::{Budget, Settling};
use crate::orders::Sound;
use crate::report::{self, Report};
use crate::select::Selector;
use crate::settle::{self, Course};

/// How often a run looks at the clock and the stop flag; it bounds how late a run ends.
const POLL: Duration = Duration::from_millis(2);

/// How often a run reports.
const PROGRESS: Duration = Duration::from_millis(250);

/// After a look at the root's moves there is none for so many times as long as it took: they may be hundreds, and the
/// looker has no core of its own.
const REST_AFTER_LOOK: u32 = 100;

/// What a run waits for, and whom it tells.
pub(super) struct Watch<'a> {
    pub(super) budget: &'a Budget,
    pub(super) stop: &'a Interrupt,
    pub(super) started: Instant,
    pub(super) progress: &'a mut dyn FnMut(&Report),
    next_progress: Instant,
    /// The choice that may end the run.
    settling: Option<Settling>,
    /// When the first playouts began, later by all pauses since.
    begun: Instant,
    next_look: Instant,
    is_settled: bool,
}

impl<'a> Watch<'a> {
    /// Of a run that begins at `started`. `is_by_visits` is whether visits alone decide the final move, but for proofs.
    pub(super) fn new(
        budget: &'a Budget,
        stop: &'a Interrupt,
        started: Instant,
        is_by_visits: bool,
        progress: &'a mut dyn FnMut(&Report),
    ) -> Watch<'a> {
        let may_settle = is_by_visits && budget.playouts.is_none();
        Watch {
            budget,
            stop,
            started,
            progress,
            next_progress: started + PROGRESS,
            settling: budget.settled_for.filter(|_| may_settle),
            begun: started,
            next_look: started,
            is_settled: false,
        }
    }

    /// The first playouts begin: what opening the root took tells nothing of their rate.
    pub(super) fn begin_playouts(&mut self) {
        self.begun = Instant::now();
    }

    /// A pause was so long: no playouts were made in it, so it tells nothing of their rate either.
    pub(super) fn note_pause(&mut self, pause: Duration) {
        self.begun += pause;
    }

    pub(super) fn is_over(&self, now: Instant) -> bool {
        self.is_settled
            || self.stop.is_raised()
            || self.budget.deadline.is_some_and(|deadline| deadline <= now)
    }

    /// Whether the choice is settled, which ends the run.
    pub(super) fn is_settled(&self) -> bool {
        self.is_settled
    }

    /// How long to wait for a reply before looking again.
    pub(super) fn patience(&self, now: Instant) -> Duration {
        let left = self.budget.deadline.map_or(POLL, |deadline| deadline.saturating_duration_since(now));
        // Past the deadline there is nothing to do but wait.
        if left.is_zero() { POLL } else { left.min(POLL) }
    }

    /// Whether to report, which is then not due for a while.
    pub(super) fn takes_progress(&mut self, now: Instant) -> bool {
        let is_due = self.next_progress <= now;
        if is_due {
            self.next_progress = now + PROGRESS;
        }
        is_due
    }

    /// The part of the limits that is used up, of whichever is used up most, when a thread has worked so long.
    fn part(&self, now: Instant, worked: Duration) -> f64 {
        let of_time = self.budget.deadline.map(|deadline| (now - self.begun, deadline - self.begun));
        let of_work = self.budget.work.map(|work| (worked, work.limit));
        let parts = [of_time, of_work].into_iter().flatten();
        parts.map(|(used, all)| used.as_secs_f64() / all.as_secs_f64()).fold(0.0, f64::max).min(1.0)
    }
}

impl<R: Reasoner> Searcher<R> {
    /// Looks at the root's moves, if the run may end by them and enough time has passed since the last look.
    pub(super) fn look_at_choice(&self, root: NodeId, watch: &mut Watch<'_>, now: Instant) {
        let Some(settling) = watch.settling.filter(|_| watch.next_look <= now && !watch.is_over(now)) else {
            return;
        };
        let counters = || self.workers.iter().map(|worker| &worker.counters);
        let work_ns = counters().map(|counters| counters.work_ns.get()).max();
        let playouts: u64 = counters().map(|counters| counters.playouts.get()).sum();
        let n_root_visits = self.graph.node(root).count.read::<Sound>().visits;
        let course = Course {
            part: watch.part(now, Duration::from_nanos(work_ns.unwrap_or(0))),
            visits: playouts * self.scheme.weight(),
            untold: self.workers.len() as u64
                * kept::most_untold(&self.scheme, n_root_visits)
                * self.scheme.weight(),
            is_solving: self.scheme.solver.is_some(),
        };
        let at = (root, settling.role.idx());
        let role = report::role_of(&self.graph, &self.scheme, &mut Selector::default(), at);
        watch.is_settled = settle::is_settled(&role, &course, settling.clear_from);
        let after = Instant::now();
        watch.next_look = after + (after - now) * REST_AFTER_LOOK;
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_no_part_of_the_time_for_playouts() {
        const SECOND: Duration = Duration::from_secs(1);
        let started = Instant::now();
        let budget = Budget { deadline: Some(started + 10 * SECOND), ..Budget::default() };
        let (stop, mut progress) = (Interrupt::new(), |_: &Report| ());
        let mut watch = Watch::new(&budget, &stop, started, true, &mut progress);
        assert_eq!(watch.part(started + 6 * SECOND, Duration::ZERO), 0.6);
        watch.note_pause(5 * SECOND);
        assert_eq!(watch.part(started + 6 * SECOND, Duration::ZERO), 0.2);
    }
}
