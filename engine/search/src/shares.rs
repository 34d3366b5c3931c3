//! Where the time of playouts goes, measured now and then.

use std::time::Instant;

use crate::counters::WorkerCounters;

/// One in so many single playouts is timed, and one in so many batches: looking at a clock takes some 25 ns.
const EVERY: u32 = 32;

/// A part of a playout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Share {
    /// Choosing ways through the graph, and making nodes where they end.
    Descents,
    /// Asking the reasoner for moves and successors, and making edges.
    Expansions,
    /// Rollouts.
    Rollouts,
    /// Adding values to the path.
    Backups,
}

/// Counts batches.
#[derive(Debug, Default)]
pub(crate) struct TimeShares {
    n: u32,
}

/// Times one batch, or does not.
#[derive(Debug)]
pub(crate) struct Laps<'a> {
    last: Option<Instant>,
    counters: &'a WorkerCounters,
}

impl TimeShares {
    /// A batch begins.
    pub(crate) fn begin<'a>(&mut self, counters: &'a WorkerCounters) -> Laps<'a> {
        self.n = self.n.wrapping_add(1);
        Laps { last: self.n.is_multiple_of(EVERY).then(Instant::now), counters }
    }
}

impl Laps<'_> {
    /// A part of the batch is done.
    pub(crate) fn lap(&mut self, share: Share) {
        let Some(last) = self.last else { return };
        let now = Instant::now();
        let nanoseconds = u64::try_from((now - last).as_nanos()).unwrap_or(u64::MAX);
        match share {
            Share::Descents => self.counters.descent_ns.add(nanoseconds),
            Share::Expansions => self.counters.expansion_ns.add(nanoseconds),
            Share::Rollouts => self.counters.rollout_ns.add(nanoseconds),
            Share::Backups => self.counters.backup_ns.add(nanoseconds),
        }
        self.last = Some(now);
    }
}
