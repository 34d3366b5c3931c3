//! How a search moves from position to position, and what of its graph it keeps.
//!
//! In go states that a match comes to, out comes the root; how room is made is told in [`room`](super::room).

use reasoner::Reasoner;

use super::{Holdings, Searcher};
use crate::graph::{Blocks, Graph, GraphKind, Sizes};
use crate::history::History;
use crate::node::{NodeId, Status};
use crate::options::Options;
use crate::orders::Sound;
use crate::sync::Arc;

/// Graphs above this are given back to the system by a thread of their own: that takes a second for a few
/// million states, and the next move does not wait for it.
const SLOW_TO_DROP: u64 = 16 << 20;

impl<R: Reasoner> Searcher<R> {
    /// Moves to another position.
    ///
    /// What was found below it is kept if the graph knows the position (under `uct` and `mc-memory`: within
    /// two moves of the old root), unless it is more than half full and holds nothing below it; otherwise the graph
    /// starts afresh. The best line of a single-role game is kept as far as it passes through the position. What else
    /// the graph holds stays until [`Searcher::tidy`] or until its room is needed.
    pub fn set_root(&mut self, state: &R::State) {
        self.best_line.follow(state);
        if let Some(root) = self.root.filter(|_| !self.is_tainted) {
            if self.graph.state(root) == state {
                return;
            }
            if self.options.config.has_memory()
                && let Some(known) = self.find(root, state)
                && self.is_worth_keeping(known)
            {
                self.root = Some(known);
                self.roots.push(known);
                self.has_left = true;
                return;
            }
        }
        self.start_afresh(state);
    }

    /// Whether anything is known below a node, or there is room enough for what is above it.
    fn is_worth_keeping(&self, id: NodeId) -> bool {
        let is_half_full = self.graph.meter.used() > self.graph.meter.cap() / 2;
        !is_half_full || self.graph.node(id).status::<Sound>() == Status::Open
    }

    pub(super) fn start_afresh(&mut self, state: &R::State) {
        let fresh = Arc::new(new_graph(&*self.reasoner, &self.options, self.history.as_deref(), Some(state)));
        let old = std::mem::replace(&mut self.graph, fresh);
        if old.meter.used() > SLOW_TO_DROP {
            // If no thread can be had, the closure and the graph with it are dropped here.
            let _ = std::thread::Builder::new().name("drop-graph".to_owned()).spawn(move || drop(old));
        }
        // The cap has room for a root: see MIN_BYTES.
        let counters = crate::counters::WorkerCounters::default();
        self.root = self.graph.node_of(&mut Blocks::default(), state.clone(), &counters).ok();
        self.roots = self.root.into_iter().collect();
        self.before = Holdings { n_nodes: u64::from(self.root.is_some()), n_edges: 0 };
        self.taken = Holdings::default();
        self.has_left = false;
        // The counters tell of another graph.
        self.workers.iter().for_each(|worker| worker.counters.reset());
        self.is_tainted = false;
    }

    /// The node of a state at or below the root.
    fn find(&self, root: NodeId, state: &R::State) -> Option<NodeId> {
        if self.graph.has_transpositions {
            return self.graph.find(state);
        }
        let mut level = vec![root];
        // Two moves: one that was made, and one more in case a message of the manager was lost.
        for _ in 0..2 {
            let children = self.graph.children_of(&level);
            let visits = |id: &NodeId| self.graph.node(*id).count.read::<Sound>().visits;
            // A tree may hold the state several times.
            let same = children.iter().copied().filter(|&id| self.graph.state(id) == state);
            if let Some(known) = same.max_by_key(visits) {
                return Some(known);
            }
            level = children;
        }
        None
    }
}

/// A state of which nothing is known owns so much, at least: a generous one of a published game.
const GUESSED_HEAP_BYTES: usize = 256;

/// States are guessed to own at most this part of the cap each, so that there is room for a chunk of nodes.
const MOST_OF_CAP: usize = 256;

/// An empty graph within what the history leaves of the cap, for the states that follow one.
pub(super) fn new_graph<R: Reasoner>(
    reasoner: &R,
    options: &Options,
    history: Option<&History>,
    first: Option<&R::State>,
) -> Graph<R::State> {
    let cap = options.max_bytes - crate::arena::usize_of(history.map_or(0, History::bytes));
    // States become larger in many games.
    let guess = || GUESSED_HEAP_BYTES.max(first.map_or(0, |state| 2 * reasoner.heap_bytes(state)));
    let told = options.state_heap_bytes.or_else(|| reasoner.heap_bytes_of_all());
    let state_heap_bytes = told.unwrap_or_else(guess).min(cap / MOST_OF_CAP);
    let state_bytes = size_of::<R::State>() + state_heap_bytes;
    let sizes = Sizes::for_cap(cap, state_bytes, state_heap_bytes, options.threads);
    let n_roles = reasoner.n_roles();
    Graph::new(n_roles, GraphKind::new(options, n_roles), sizes)
}
