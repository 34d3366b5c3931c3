//! When a searcher makes room in its graph, and how long that may take.
//!
//! In go what the graph holds and how much time there is; how room is made is told in [`reclaim`](crate::reclaim).

use std::time::{Duration, Instant};

use reasoner::{Interrupt, Reasoner};

use super::{Searcher, Watch};
use crate::reclaim::Extent;
use crate::report::Report;
use crate::sync::Arc;

/// Nanoseconds for each node that reclaiming may take, before it was measured.
const RECLAIM_NS_PER_NODE: u64 = 400;

/// Nanoseconds for each node that larger tables may take.
const GROWTH_NS_PER_NODE: u64 = 100;

/// The part of the time left that reclaiming may take while an answer is owed.
const RECLAIM_PART: u32 = 4;

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
        self.time_for_nodes(Duration::from_nanos(GROWTH_NS_PER_NODE))
    }

    /// How long reclaiming may take now.
    pub(super) fn time_to_reclaim(&self) -> Duration {
        let usual = Duration::from_nanos(RECLAIM_NS_PER_NODE);
        let per_node = match self.reclaims.live_nodes {
            0 => usual,
            live => usual.max(Duration::from_secs_f64(self.reclaims.last_seconds / live as f64)),
        };
        self.time_for_nodes(per_node)
    }

    fn time_for_nodes(&self, per_node: Duration) -> Duration {
        per_node.saturating_mul(crate::arena::u32_of(self.graph.nodes.end()))
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
    /// only looks. Where that may be too long ([`Searcher::set_max_pause`]), the graph begins anew.
    pub fn tidy(&mut self, stop: &Interrupt) {
        if !self.is_tainted {
            self.grow_tables();
        }
        let is_half_full = self.graph.meter.used() > self.graph.meter.cap() / 2;
        if !self.has_left || !is_half_full || self.is_tainted {
            return;
        }
        match self.root.filter(|_| self.time_to_reclaim() > self.max_pause) {
            Some(root) => {
                let state = self.graph.state(root).clone();
                self.start_afresh(&state);
            }
            None => self.reclaim(Extent::Unreachable, stop),
        }
    }

    fn reclaim(&mut self, extent: Extent, stop: &Interrupt) {
        let Report { nodes, edges, .. } = self.report();
        // Workers let go of the graph before they say that they are done.
        let (Some(root), Some(graph)) = (&mut self.root, Arc::get_mut(&mut self.graph)) else { return };
        let n_threads = self.workers.len();
        let scratch = &mut self.scratch;
        let Some(done) = graph.reclaim(root, &mut self.roots, extent, n_threads, stop, scratch) else {
            return;
        };
        self.has_left = false;
        let n_gone = nodes.saturating_sub(done.n_nodes);
        self.taken.n_nodes += n_gone;
        self.taken.n_edges += edges.saturating_sub(done.n_edges);
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
