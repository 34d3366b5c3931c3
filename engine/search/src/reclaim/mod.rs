//! Gives room back: what the root does not lead to any more, and if that is too little, what is hardly ever visited.
//!
//! In goes a graph that nobody else holds, between two batches of playouts or between two moves; out comes the same graph
//! with fewer nodes, under new ids. First everything that stays is marked ([`mark`]), and is told where to go ([`fates`],
//! [`runs`]). Then it slides down in its arenas, in order, over what is gone ([`compact`]); chunks that are empty at their ends
//! are given back by and by, and the tables follow. What is cut leaves its playouts behind ([`fold`]). It deliberately does
//! not run beside playouts: they never look out for anything that moves.
//!
//! Why by sliding: runs of edges have any length, so free lists would need classes of lengths and leave holes; a copy would
//! need room for both. Sliding needs no room, keeps the order and so the neighbourhood of what was made together, and leaves
//! a graph that cannot be told from one that grew that way, whatever the number of threads.

mod compact;
mod fates;
mod fold;
mod mark;
mod runs;
mod threshold;

use std::hash::Hash;
use std::time::{Duration, Instant};

use reasoner::Interrupt;

use crate::arena::usize_of;
use crate::graph::Graph;
use crate::node::NodeId;
use crate::orders::Orders;

use self::fates::{Fates, Marks};
use self::mark::Marking;
use self::runs::{RunPlaces, Runs};
use self::threshold::Classes;

/// More threads than that wait for memory, not for each other.
const MAX_THREADS: usize = 8;

/// What is written down meanwhile. Its memory is kept from one time to the next, and had before the first where that can be foreseen:
/// to touch new memory takes longer than to write.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    classes: Classes,
    marks: Marks,
    fates: Fates,
    edges: Runs,
    edge_places: RunPlaces,
    side: Runs,
    side_places: RunPlaces,
    /// Nodes, edges and words of side records that the graph will have once it is full.
    wanted: Option<(usize, usize, usize)>,
    is_prepared: bool,
}

/// Bytes that are prepared at a time, so that nobody waits for it.
const PREPARED_AT_ONCE: usize = 1 << 18;

impl Scratch {
    /// Takes some of the memory that reclaiming a graph will need, if it is more than half full and its parts go on growing alike.
    /// Others may go on in the graph meanwhile.
    pub(crate) fn prepare<S, O: Orders>(&mut self, graph: &Graph<S, O>) {
        let (used, cap) = (graph.meter.used(), graph.meter.cap());
        if self.is_prepared || used <= cap / 2 {
            return;
        }
        let (n_nodes, n_edges, n_side) = *self.wanted.get_or_insert_with(|| {
            // In 64ths, of which eight are added: what a graph is made of changes a little while it grows.
            let growth = usize_of(cap * (64 + 8) / used);
            let once_full = |n: usize| n * growth / 64;
            (once_full(graph.nodes.end()), once_full(graph.edges.end()), once_full(graph.side.end()))
        });
        let mut left = PREPARED_AT_ONCE;
        self.classes.prepare(n_nodes, &mut left);
        self.marks.prepare(n_nodes, &mut left);
        self.fates.prepare(n_nodes, &mut left);
        for (runs, places, n) in [
            (&mut self.edges, &mut self.edge_places, n_edges),
            (&mut self.side, &mut self.side_places, n_side),
        ] {
            runs.prepare(n, &mut left);
            places.prepare(n, &mut left);
        }
        self.is_prepared = left > 0;
    }
}

/// Makes `items` have `n` at least, so that their memory is there, but no more than so many bytes of them at once.
fn prepare<T: Default>(items: &mut Vec<T>, n: usize, bytes_left: &mut usize) {
    let n_more = n.saturating_sub(items.len());
    items.reserve_exact(n_more);
    let n_now = n_more.min(*bytes_left / size_of::<T>());
    items.resize_with(items.len() + n_now, T::default);
    // Nothing is left as long as something is to be done.
    *bytes_left = if n_now < n_more { 0 } else { *bytes_left - n_now * size_of::<T>() };
}

/// What may be taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// What the root does not lead to.
    Unreachable,
    /// Half of what is used, if less of it is unreachable.
    Half {
        /// Whether the root has not moved, so that it leads to everything but what was orphaned before, and nothing need be
        /// looked for. What is visited often enough stays, also the few nodes whose parents all go: another way can
        /// lead there again.
        is_all_reachable: bool,
    },
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

impl<S: Eq + Hash + Send + Sync + 'static, O: Orders> Graph<S, O> {
    /// Takes away what may be, seen from `root`; root and `roots` get their new ids. None, and nothing has changed, if `stop`
    /// is raised while it is being found out what stays.
    pub(crate) fn reclaim(
        &mut self,
        root: &mut NodeId,
        roots: &mut Vec<NodeId>,
        extent: Extent,
        n_threads: usize,
        stop: &Interrupt,
        scratch: &mut Scratch,
    ) -> Option<Reclaimed> {
        let started = Instant::now();
        let n_threads = n_threads.clamp(1, MAX_THREADS);
        let before = self.meter.used();
        let is_cut = self.choose(*root, extent, n_threads, stop, scratch)?;
        let first = self.nodes.places().end();
        scratch.fates.decide(&scratch.marks, first);
        if is_cut {
            self.has_cuts = true;
            self.fold(&scratch.fates, n_threads);
        }
        let n_edges = self.compact(scratch, n_threads);
        *root = scratch.fates.of(*root).unwrap_or(*root);
        *roots = roots.iter().filter_map(|&id| scratch.fates.of(id)).collect();
        self.was_reclaimed = true;
        let n_nodes = (scratch.fates.end() - first) as u64;
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
        scratch: &mut Scratch,
    ) -> Option<bool> {
        if extent == (Extent::Half { is_all_reachable: true }) {
            let memory = (&mut scratch.classes, &mut scratch.marks);
            return self.mark_most_visited(root, n_threads, stop, memory).map(|()| true);
        }
        let marking = Marking::new(self, root);
        let mark = |least_visits| marking.mark(least_visits, n_threads, stop);
        let (reachable, worths) = mark(0)?;
        let least_visits = worths.least_visits(self.n_made()).filter(|_| extent != Extent::Unreachable);
        scratch.marks = match least_visits {
            Some(least_visits) => mark(least_visits)?.0,
            None => reachable,
        };
        Some(least_visits.is_some())
    }
}
