//! Nodes that descents come by, kept by a thread for a term of some batches.
//!
//! In goes what selection has read of a node's moves when the first of these descents came by; out comes, without a look at the graph, how
//! each later one goes on there, and at the end of the term one addition for each place in the graph. Why: the nodes near the root and
//! their children are read and written by every playout of every thread. What this thread finishes is added to what is kept, so that
//! it chooses as it would by the graph, but for playouts that reach a node or a child of it by other ways (EXPERIMENTS.md, "Nodes
//! that descents come by are kept"). Other threads do not see what is done on these nodes before the term ends, so a term is short
//! beside what a search has made.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use crate::arena::u32_of;
use crate::backup::add;
use crate::edge::Child;
use crate::graph::Graph;
use crate::node::NodeId;
use crate::orders::Orders;
use crate::results::Results;
use crate::scheme::Scheme;
use crate::select::{Columns, Viewpoint, numerator, results_of};
use crate::sync::Ordering;

/// The most descents of a term, but for the rest of its last batch. From 64 to 2048 the length hardly matters to one thread, and long
/// terms keep two threads apart (EXPERIMENTS.md).
const LONGEST_TERM: u64 = 512;

/// All threads together begin no more than one in so many of the descents that the root has seen, or a batch each, before they tell of
/// them: a guess.
const PART_UNTOLD: u64 = 64;

/// No node is kept beside so many moves: a row each of some 80 bytes, so some 5 MiB for each thread. One node has as many in games of
/// thousands of moves, and 512 descents come by as many in others.
const ENOUGH_MOVES: usize = 1 << 16;

/// After so many descents a term ends with their batch.
fn term(scheme: &Scheme, n_root_visits: u64) -> u64 {
    (n_root_visits / (scheme.weight() * PART_UNTOLD * scheme.n_threads)).min(LONGEST_TERM)
}

/// The most descents that a thread has begun and the graph does not tell of yet, where it tells of so many visits of the root.
pub(crate) fn most_untold(scheme: &Scheme, n_root_visits: u64) -> u64 {
    scheme.batch + if scheme.keeps_nodes { term(scheme, n_root_visits) } else { 0 }
}

/// How a descent goes on from a node that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeptStep {
    /// The role that chose.
    pub(crate) role: u32,
    /// The edge, by id.
    pub(crate) edge: u32,
    /// Where it leads.
    pub(crate) child: NodeId,
}

/// A move of a node that is kept, by its row among those of all such nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spot(u32);

impl Spot {
    fn idx(self) -> usize {
        self.0 as usize
    }
}

/// A node that is kept.
#[derive(Debug)]
struct KeptNode {
    id: NodeId,
    role: u32,
    first_edge: u32,
    /// Its rows begin here, one for each move.
    first_row: u32,
    n_moves: u32,
    /// Playouts, with those that are sent on their way.
    n_parent: u64,
    /// C times the square root of their logarithm: computed when they change, so that nobody waits for it.
    numerator: f64,
}

/// A move of a node that is kept.
#[derive(Debug, Clone, Copy)]
struct KeptMove {
    /// The node, by index.
    node_idx: u32,
    child: NodeId,
    /// Where the child is among the nodes that are kept, once that was seen.
    kept: Option<u32>,
    /// Visits that were gathered, and the sum of the role's values over them.
    visits: u64,
    sum: u64,
    /// What the move is compared by: results of its child, where children tell.
    known: Results,
}

/// The nodes that a thread keeps.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    is_on: bool,
    /// C, in goal points.
    exploration: f64,
    /// Visits of a playout.
    weight: u64,
    /// Whether moves are compared by what came to their children, and what a unit of it is worth in goal points.
    children_tell: bool,
    points: f64,
    n_roles: usize,
    /// Descents of the term, and those of it that were begun.
    n_in_term: u64,
    n_begun: u64,
    by_id: FxHashMap<NodeId, u32>,
    nodes: Vec<KeptNode>,
    /// By node and role, the sum of the values that were gathered.
    sums: Vec<u64>,
    /// What is known of the moves of all nodes, one node's rows behind another's. Playouts that are sent on their way count, and
    /// what they come to once they are finished.
    columns: Columns,
    /// By row.
    moves: Vec<KeptMove>,
    /// Whether all nodes that the descent at hand has left are kept.
    is_followed: bool,
    /// The move by which the descent at hand leaves a node that is kept since it came by.
    noted: Option<Spot>,
}

impl Kept {
    /// A batch of so many descents begins; with it a term, unless one is under way.
    pub(crate) fn begin_batch<S: Eq + Hash, O: Orders>(
        &mut self,
        graph: &Graph<S, O>,
        root: NodeId,
        scheme: &Scheme,
        n_descents: u64,
    ) {
        if self.nodes.is_empty() {
            self.is_on = scheme.keeps_nodes;
            self.exploration = scheme.exploration;
            self.weight = scheme.weight();
            self.children_tell = scheme.children_tell;
            self.points = scheme.points_of_unit(self.children_tell);
            self.n_in_term = term(scheme, graph.node(root).count.read::<O>().visits);
            self.n_begun = 0;
        }
        self.n_begun += n_descents;
    }

    /// All descents of the batch are backed up or taken back; if that ends the term, what was gathered is added to the graph: to how many
    /// places.
    pub(crate) fn end_batch<S: Eq + Hash, O: Orders>(&mut self, graph: &Graph<S, O>) -> u64 {
        if self.n_begun < self.n_in_term { 0 } else { self.flush(graph) }
    }

    /// A descent is at the root, or goes on elsewhere, where it had to ask something.
    pub(crate) fn begin_descent(&mut self, is_at_root: bool) {
        self.is_followed = self.is_on && is_at_root;
    }

    /// Whether the node that the descent is at could be kept.
    pub(crate) fn is_followed(&self) -> bool {
        self.is_followed
    }

    /// The descent leaves its node, which is not kept unless [`Kept::note`] is told of it; whether it could be.
    pub(crate) fn leave(&mut self) -> bool {
        std::mem::take(&mut self.is_followed)
    }

    /// What a descent chooses that comes to this node behind so many others, by the move `from` of one that is kept too; none if it is not
    /// kept.
    pub(crate) fn pass(&mut self, id: NodeId, from: Option<Spot>) -> Option<Spot> {
        let node_idx = match from.and_then(|spot| self.moves[spot.idx()].kept) {
            Some(node_idx) => node_idx,
            None => {
                let &node_idx = self.by_id.get(&id)?;
                if let Some(spot) = from {
                    self.moves[spot.idx()].kept = Some(node_idx);
                }
                node_idx
            }
        };
        let node = &self.nodes[node_idx as usize];
        let rows = node.first_row as usize..(node.first_row + node.n_moves) as usize;
        let chosen = u32_of(self.columns.best(rows, node.numerator));
        debug_assert!(chosen < node.n_moves);
        let spot = Spot(node.first_row + chosen);
        self.enter(node_idx, spot);
        Some(spot)
    }

    /// Where a move leads that was chosen: apart from [`Kept::pass`], whose answer fits a register.
    pub(crate) fn step(&self, spot: Spot) -> KeptStep {
        let KeptMove { node_idx, child, .. } = self.moves[spot.idx()];
        let node = &self.nodes[node_idx as usize];
        KeptStep { role: node.role, edge: node.first_edge + (spot.0 - node.first_row), child }
    }

    /// Keeps the node that the descent is leaving by the move `chosen`, which all before have been kept, if it can be.
    pub(crate) fn note<S: Eq + Hash, O: Orders>(
        &mut self,
        graph: &Graph<S, O>,
        view: &Viewpoint,
        columns: &Columns,
        n_parent: u64,
        chosen: usize,
    ) {
        // By other moves the descent may come to a node that another one has kept.
        let is_wanted =
            !view.is_simultaneous && self.moves.len() < ENOUGH_MOVES && !self.by_id.contains_key(&view.id);
        if !is_wanted || !self.take(graph, view, columns, n_parent) {
            return;
        }
        let node_idx = u32_of(self.nodes.len() - 1);
        self.by_id.insert(view.id, node_idx);
        let spot = Spot(self.nodes[node_idx as usize].first_row + u32_of(chosen));
        self.enter(node_idx, spot);
        self.is_followed = true;
        self.noted = Some(spot);
    }

    /// The move by which the descent leaves its node, if that is kept since it came by; told once.
    pub(crate) fn take_noted(&mut self) -> Option<Spot> {
        self.noted.take()
    }

    /// Takes a node in; false if one of its moves does not lead to a node or nothing has come of it yet, or the reasoner has failed here,
    /// which each descent has to look at for itself.
    fn take<S: Eq + Hash, O: Orders>(
        &mut self,
        graph: &Graph<S, O>,
        view: &Viewpoint,
        columns: &Columns,
        n_parent: u64,
    ) -> bool {
        if graph.node(view.id).failures.load(Ordering::Relaxed) > 0 {
            return false;
        }
        let (first_row, node_idx) = (self.moves.len(), u32_of(self.nodes.len()));
        let a_move = |child, known| KeptMove { node_idx, child, kept: None, visits: 0, sum: 0, known };
        for edge in graph.edges_in(view.edges.clone()) {
            let known = results_of(graph, edge, view.role_idx, self.children_tell);
            match edge.child::<O>() {
                // A first playout that is under way elsewhere would not be seen to end.
                Child::Node(child) if known.tally.visits > 0 => self.moves.push(a_move(child, known)),
                _ => {
                    self.moves.truncate(first_row);
                    return false;
                }
            }
        }
        self.columns.append(columns);
        self.moves.resize(self.columns.n_rows(), a_move(NodeId(0), Results::NONE));
        self.n_roles = graph.n_roles;
        self.sums.resize(self.sums.len() + graph.n_roles, 0);
        self.nodes.push(KeptNode {
            id: view.id,
            role: u32_of(view.role_idx),
            first_edge: view.edges.start,
            n_moves: u32_of(view.edges.len()),
            first_row: u32_of(first_row),
            n_parent,
            numerator: 0.0,
        });
        true
    }

    /// A playout goes this way.
    fn enter(&mut self, node_idx: u32, spot: Spot) {
        self.columns.add_in_flight(spot.idx(), self.weight.cast_signed());
        self.set_parent(node_idx, self.nodes[node_idx as usize].n_parent + self.weight);
    }

    /// A playout that went this way is taken back.
    pub(crate) fn cancel(&mut self, spot: Spot) {
        let node_idx = self.moves[spot.idx()].node_idx;
        self.columns.add_in_flight(spot.idx(), -self.weight.cast_signed());
        self.set_parent(node_idx, self.nodes[node_idx as usize].n_parent - self.weight);
    }

    fn set_parent(&mut self, node_idx: u32, n_parent: u64) {
        let node = &mut self.nodes[node_idx as usize];
        node.n_parent = n_parent;
        node.numerator = numerator(self.exploration, n_parent as f64);
    }

    /// A playout that went this way is finished, with these values at the node and at its child, one per role.
    pub(crate) fn add(&mut self, spot: Spot, values: &[u64], at_child: &[u64]) {
        let a_move = &mut self.moves[spot.idx()];
        let node_idx = a_move.node_idx as usize;
        a_move.visits += self.weight;
        let role_idx = self.nodes[node_idx].role as usize;
        a_move.sum += values[role_idx];
        a_move.known.tally.visits += self.weight;
        a_move.known.sum += if self.children_tell { at_child } else { values }[role_idx];
        self.columns.set_mean(spot.idx(), a_move.known, self.points);
        let sums = &mut self.sums[node_idx * self.n_roles..][..self.n_roles];
        sums.iter_mut().zip(values).for_each(|(sum, &value)| *sum += value);
    }

    /// Adds what was gathered, and keeps nothing any more; to how many edges and nodes.
    ///
    /// # Orderings
    /// Sums first, counts after them with [`Orders::COUNT`]; see [`Count`](crate::count::Count).
    pub(crate) fn flush<S: Eq + Hash, O: Orders>(&mut self, graph: &Graph<S, O>) -> u64 {
        let mut n_places = 0;
        for (node, sums) in self.nodes.iter().zip(self.sums.chunks(self.n_roles.max(1))) {
            let mut visits = 0;
            let moves = &self.moves[node.first_row as usize..][..node.n_moves as usize];
            for (edge, a_move) in (node.first_edge..).zip(moves).filter(|(_, it)| it.visits > 0) {
                let edge = graph.edge(edge);
                add(&edge.sum, a_move.sum);
                edge.count.add::<O>(a_move.visits);
                visits += a_move.visits;
                n_places += 1;
            }
            if visits > 0 {
                sums.iter().enumerate().for_each(|(role_idx, &sum)| add(graph.sum(node.id, role_idx), sum));
                graph.node(node.id).count.add::<O>(visits);
                n_places += 1;
            }
        }
        self.by_id.clear();
        self.nodes.clear();
        self.sums.clear();
        self.columns.clear();
        self.moves.clear();
        n_places
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
