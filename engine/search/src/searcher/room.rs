//! When a searcher makes room in its graph, and how long that may take.
//!
//! In go what the graph holds and how much time there is; how room is made is told in [`reclaim`](crate::reclaim).

use std::time::{Duration, Instant};

use reasoner::{Interrupt, Reasoner};

use super::{Searcher, Watch};
use crate::reclaim::Extent;
use crate::report::Report;
use crate::sync::Arc;

/// Nanoseconds for each node that larger tables may take.
const GROWTH_NS_PER_NODE: u64 = 100;

/// The part of the time left that reclaiming may take while an answer is owed.
const RECLAIM_PART: u32 = 4;

/// How long reclaiming is expected to take, by what it took.
#[derive(Debug)]
pub(super) struct Expectation {
    /// For each node that there is before it.
    per_node: Duration,
}

impl Default for Expectation {
    fn default() -> Expectation {
        Expectation { per_node: Expectation::USUAL }
    }
}

impl Expectation {
    /// Before it was measured: twice what slow machines take (EXPERIMENTS.md, "Pauses").
    const USUAL: Duration = Duration::from_nanos(400);

    /// However short a pause was that found little to do. Chosen: what quick machines take for a node that stays.
    const LEAST: Duration = Duration::from_nanos(100);

    /// What an unusual expectation loses each time that it is longer than a pause may be at all. Chosen: after five times a quarter is
    /// left, so that pauses that are really too long are tried every few moves.
    const FADING: f64 = 0.25;

    fn of(&self, n_nodes: usize) -> Duration {
        self.per_node.mul_f64(n_nodes as f64)
    }

    /// A pause took so long in a graph of so many nodes.
    fn note(&mut self, took: Duration, n_nodes: usize) {
        self.per_node = took.div_f64(n_nodes.max(1) as f64).max(Expectation::LEAST);
    }

    /// A pause is left out since it would be too long at any time: one that other work on the machine made slow must not be the
    /// last.
    fn fade(&mut self) {
        self.per_node -= self.per_node.saturating_sub(Expectation::USUAL).mul_f64(Expectation::FADING);
    }
}

impl<R: Reasoner> Searcher<R> {
    /// Bounds how long the search may be held up by reclaiming, as far as can be told beforehand. Without a bound, it may take
    /// a quarter of the time to the deadline.
    pub fn set_max_pause(&mut self, max_pause: Duration) {
        self.max_pause = max_pause;
    }

    /// Whether a pause fits into the time left.
    pub(super) fn has_time(&self, watch: &Watch<'_>, pause: Duration) -> bool {
        let left = |deadline: Instant| deadline.saturating_duration_since(Instant::now());
        pause <= self.max_pause
            && watch.budget.deadline.is_none_or(|deadline| pause <= left(deadline) / RECLAIM_PART)
    }

    /// How long larger tables may take now.
    pub(super) fn time_to_grow(&self) -> Duration {
        Duration::from_nanos(GROWTH_NS_PER_NODE * self.graph.nodes.end() as u64)
    }

    /// Whether reclaiming fits into the time left.
    pub(super) fn has_time_to_reclaim(&mut self, watch: &Watch<'_>) -> bool {
        self.may_reclaim() && self.has_time(watch, self.expectation.of(self.graph.nodes.end()))
    }

    /// Whether reclaiming is not too long at any time.
    fn may_reclaim(&mut self) -> bool {
        let is_short = self.expectation.of(self.graph.nodes.end()) <= self.max_pause;
        if !is_short {
            self.expectation.fade();
        }
        is_short
    }

    /// Makes tables larger that should be; whether they are large enough now.
    pub(super) fn grow_tables(&mut self) -> bool {
        let n_threads = self.workers.len();
        // Workers let go of the graph before they say that they are done.
        let Some(graph) = Arc::get_mut(&mut self.graph) else { return false };
        if graph.wants_larger_tables() {
            let started = Instant::now();
            graph.grow_tables(n_threads);
            let took = started.elapsed();
            self.growths = (self.growths.0 + 1, self.growths.1 + took);
            tracing::info!(seconds = took.as_secs_f64(), "tables grew");
        }
        true
    }

    /// Takes half of a full graph away; whether that gave room. Raising `stop` breaks it off as long as it only looks.
    pub(super) fn make_room(&mut self, stop: &Interrupt) -> bool {
        self.reclaim(Extent::Half { is_all_reachable: !self.has_left }, stop);
        let meter = &self.graph.meter;
        !meter.is_full() && meter.used() <= meter.cap() / 4 * 3
    }

    /// Takes from a graph that is more than half full what the root does not lead to any more. It lasts some tenths of a second for
    /// each million nodes, so it is for moments when no answer is owed; raising `stop` breaks it off as long as it
    /// only looks. Where that may be too long ([`Searcher::set_max_pause`]), the graph stays as it is, or begins anew if
    /// less than a quarter of its room is left.
    pub fn tidy(&mut self, stop: &Interrupt) {
        if !self.is_tainted {
            self.grow_tables();
        }
        let (used, cap) = (self.graph.meter.used(), self.graph.meter.cap());
        if !self.has_left || used <= cap / 2 || self.is_tainted {
            return;
        }
        if self.may_reclaim() {
            self.reclaim(Extent::Unreachable, stop);
        } else if let Some(root) = self.root.filter(|_| used > cap / 4 * 3) {
            let state = self.graph.state(root).clone();
            self.start_afresh(&state);
        }
    }

    fn reclaim(&mut self, extent: Extent, stop: &Interrupt) {
        let Report { nodes, edges, .. } = self.report();
        // Workers let go of the graph before they say that they are done.
        let (Some(root), Some(graph)) = (&mut self.root, Arc::get_mut(&mut self.graph)) else { return };
        let n_before = graph.nodes.end();
        let n_threads = self.workers.len();
        let scratch = &mut self.scratch;
        let Some(done) = graph.reclaim(root, &mut self.roots, extent, n_threads, stop, scratch) else {
            return;
        };
        self.has_left = false;
        let n_gone = nodes.saturating_sub(done.n_nodes);
        self.taken.n_nodes += n_gone;
        self.taken.n_edges += edges.saturating_sub(done.n_edges);
        self.expectation.note(done.pause, n_before);
        let seconds = done.pause.as_secs_f64();
        let reclaims = &mut self.reclaims;
        reclaims.times += 1;
        reclaims.nodes += n_gone;
        reclaims.bytes += done.n_bytes;
        reclaims.live_nodes = done.n_nodes;
        reclaims.last_seconds = seconds;
        reclaims.longest_seconds = reclaims.longest_seconds.max(seconds);
        reclaims.seconds += seconds;
        tracing::info!(nodes = n_gone, live = done.n_nodes, bytes = done.n_bytes, seconds, "reclaimed");
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    const MILLION: usize = 1_000_000;

    #[test]
    fn a_pause_is_expected_to_take_what_the_last_one_took() {
        let mut expectation = Expectation::default();
        assert_eq!(expectation.of(MILLION), Duration::from_millis(400));
        for (took, expected) in [(900, 900), (200, 200), (1, 100)] {
            expectation.note(Duration::from_millis(took), MILLION);
            assert_eq!(expectation.of(2 * MILLION), Duration::from_millis(2 * expected));
        }
    }

    #[test]
    fn a_slow_pause_keeps_others_away_for_a_while_only() {
        let mut expectation = Expectation::default();
        expectation.note(Duration::from_secs(4), MILLION);
        for _ in 0..20 {
            expectation.fade();
        }
        let expected = expectation.of(MILLION);
        assert!((400..415).contains(&expected.as_millis()), "{expected:?}");
        expectation.note(Duration::from_millis(200), MILLION);
        expectation.fade();
        assert_eq!(expectation.of(MILLION), Duration::from_millis(200), "what is usual or less stays");
    }
}
