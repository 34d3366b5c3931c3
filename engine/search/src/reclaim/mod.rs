//! Gives room back: what the root does not lead to any more, and if that is too little, what is hardly ever visited.
//!
//! In goes a graph that nobody else holds, between two batches of playouts or between two moves; out comes the same graph
//! with fewer nodes, under new ids. First everything that stays is marked ([`mark`]). Then it slides down in its arenas,
//! in order, over what is gone ([`compact`]); chunks that are empty at their ends are given back, and the tables are made
//! anew. What is cut leaves its playouts behind ([`fold`]). It deliberately does not run beside playouts: they never look
//! out for anything that moves.
//!
//! Why by sliding: runs of edges have any length, so free lists would need classes of lengths and leave holes; a copy would
//! need room for both. Sliding needs no room, keeps the order and so the neighbourhood of what was made together, and leaves
//! a graph that cannot be told from one that grew that way, whatever the number of threads.

mod compact;
mod fold;
mod mark;
mod threshold;

use std::hash::Hash;
use std::thread;
use std::time::{Duration, Instant};

use reasoner::Interrupt;

use crate::graph::Graph;
use crate::node::{NodeId, Status};
use crate::orders::Orders;
use crate::sync::{AtomicU32, Ordering};

use self::mark::Marking;

/// More threads than that wait for memory, not for each other.
const MAX_THREADS: usize = 8;

/// Runs `work` in this thread and, where they can be had, in others beside it, `n_threads` in all.
fn in_threads(n_threads: usize, work: impl Fn() + Sync) {
    thread::scope(|scope| {
        for _ in 1..n_threads {
            if thread::Builder::new().spawn_scoped(scope, &work).is_err() {
                break;
            }
        }
        work();
    });
}

/// What may be taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// What the root does not lead to.
    Unreachable,
    /// Half of what is used, if less of it is unreachable.
    Half,
}

/// What was done.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Reclaimed {
    /// Nodes left.
    pub(crate) n_nodes: u64,
    /// Edges left.
    pub(crate) n_edges: u64,
    /// Bytes given back.
    pub(crate) n_bytes: u64,
    /// How long it took.
    pub(crate) pause: Duration,
}

/// What becomes of each node, by its old id: 0 if it is gone, its new id otherwise.
#[derive(Debug)]
struct Fates(Vec<AtomicU32>);

impl Fates {
    fn new(n: usize) -> Fates {
        Fates((0..n).map(|_| AtomicU32::new(0)).collect())
    }

    /// Marks a node; whether it was not marked before.
    fn mark(&self, id: NodeId) -> bool {
        // Looking first: most nodes of a graph without transpositions are met once, and others often.
        self.0[id.idx()].load(Ordering::Relaxed) == 0 && self.0[id.idx()].swap(1, Ordering::Relaxed) == 0
    }

    fn of(&self, id: NodeId) -> Option<NodeId> {
        let new = self.0.get(id.idx())?.load(Ordering::Relaxed);
        (new != 0).then_some(NodeId(new))
    }

    fn is_alive(&self, id: NodeId) -> bool {
        self.of(id).is_some()
    }

    fn alive(&self) -> impl Iterator<Item = NodeId> {
        let marked = self.0.iter().enumerate().filter(|(_, fate)| fate.load(Ordering::Relaxed) != 0);
        marked.map(|(idx, _)| NodeId(crate::arena::u32_of(idx)))
    }

    /// Gives all marked nodes their new ids, in order.
    fn number(&self, place: &mut impl FnMut() -> usize) {
        for fate in self.0.iter().filter(|fate| fate.load(Ordering::Relaxed) != 0) {
            fate.store(crate::arena::u32_of(place()), Ordering::Relaxed);
        }
    }
}

impl<S: Eq + Hash + Send + Sync, O: Orders> Graph<S, O> {
    /// Takes away what may be, seen from `root`; root and `roots` get their new ids. None, and nothing has changed, if `stop`
    /// is raised while it is being found out what stays.
    pub(crate) fn reclaim(
        &mut self,
        root: &mut NodeId,
        roots: &mut Vec<NodeId>,
        extent: Extent,
        n_threads: usize,
        stop: &Interrupt,
    ) -> Option<Reclaimed> {
        let started = Instant::now();
        let n_threads = n_threads.clamp(1, MAX_THREADS);
        let before = self.meter.used();
        let (fates, is_cut) = self.choose(*root, extent, n_threads, stop)?;
        if is_cut {
            self.has_cuts = true;
            self.fold(&fates);
        }
        let n_edges = fates.alive().map(|id| self.n_edges(id)).sum();
        let mut places = self.nodes.places();
        fates.number(&mut || places.take(1));
        let n_nodes = fates.alive().count() as u64;
        self.compact(&fates, places.end(), n_threads);
        *root = fates.of(*root).unwrap_or(*root);
        *roots = roots.iter().filter_map(|&id| fates.of(id)).collect();
        self.was_reclaimed = true;
        let n_bytes = before.saturating_sub(self.meter.used());
        Some(Reclaimed { n_nodes, n_edges, n_bytes, pause: started.elapsed() })
    }

    /// Marks what stays, and tells whether edges are cut.
    fn choose(
        &self,
        root: NodeId,
        extent: Extent,
        n_threads: usize,
        stop: &Interrupt,
    ) -> Option<(Fates, bool)> {
        let marking = Marking::new(self, root);
        let reachable = marking.mark(0, n_threads, stop)?;
        if extent == Extent::Unreachable {
            return Some((reachable, false));
        }
        let Some(least_visits) = self.least_visits(&reachable) else { return Some((reachable, false)) };
        drop(reachable);
        marking.mark(least_visits, n_threads, stop).map(|kept| (kept, true))
    }

    /// Edges of an open node; otherwise none.
    fn n_edges(&self, id: NodeId) -> u64 {
        let node = self.node(id);
        if node.status::<O>() == Status::Open { u64::from(node.opening().n_edges) } else { 0 }
    }
}
