//! Nodes that many descents of a batch come by, kept by a thread until the batch is played out.
//!
//! In goes what selection has read of a node's moves when the first of these descents came by; out comes, without a look at the graph, how
//! each later one goes on there, and when all are backed up one addition for each place in the graph. Why: the nodes
//! near the root and their children are read and written by every playout of every thread, and nothing of a batch is finished before
//! all its descents are made, so that one thread chooses the same (EXPERIMENTS.md, "Nodes that several descents of a batch come
//! by"). Other threads do not see what is in flight on these nodes: once a search is longer than some batches, that is little beside the
//! visits of each.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use crate::backup::add;
use crate::edge::Child;
use crate::graph::Graph;
use crate::node::NodeId;
use crate::orders::Orders;
use crate::scheme::Scheme;
use crate::select::{Viewpoint, first_of_best};
use crate::sync::Ordering;

/// A node is kept if so many descents of the batch are likely to come by: the first one pays for reading as it would anyway.
const WORTH: u64 = 2;

/// What a descent chose in a node that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeptStep {
    pub(crate) spot: Spot,
    /// The role that chose.
    pub(crate) role: u32,
    /// The edge, by id.
    pub(crate) edge: u32,
    /// Where it leads.
    pub(crate) child: NodeId,
}

/// A move of a node that is kept, by their indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spot {
    node_idx: u32,
    move_idx: u32,
}

/// What is known of a role's moves in a node, a column for each number.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    /// Sums of values over finished playouts, in units.
    pub(crate) sums: Vec<f64>,
    /// Finished playouts.
    pub(crate) visits: Vec<f64>,
    /// With those in flight.
    pub(crate) totals: Vec<f64>,
    /// The sum of the totals.
    pub(crate) n_parent: u64,
}

/// A node that is kept.
#[derive(Debug, Default)]
struct KeptNode {
    id: u32,
    role: u32,
    first_edge: u32,
    /// Playouts, with those in flight.
    n_parent: u64,
    /// C times the square root of their logarithm: computed when they change, so that nobody waits for it.
    numerator: f64,
    /// By move: what is thought of it, in goal points.
    means: Vec<f64>,
    /// One by the square root of its playouts, those in flight among them.
    widths: Vec<f64>,
    moves: Vec<KeptMove>,
    /// By role, the sum of what was gathered.
    sums: Vec<u64>,
}

/// A move of a node that is kept.
#[derive(Debug, Clone, Copy)]
struct KeptMove {
    child: NodeId,
    /// Playouts, with those in flight.
    total: f64,
    /// Visits that were gathered, and the sum of the role's values over them.
    visits: u64,
    sum: u64,
}

/// The nodes that a thread keeps.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    is_on: bool,
    /// C, in goal points.
    exploration: f64,
    /// Visits of a playout.
    weight: u64,
    /// Descents of the batch.
    n_descents: u64,
    by_id: FxHashMap<u32, u32>,
    /// Behind those of this batch are some of earlier ones, for their memory.
    nodes: Vec<KeptNode>,
    bounds: Vec<f64>,
    /// Playouts of the first node that was kept: the root, or nothing is.
    n_first: u64,
    /// Whether all nodes that the descent at hand has left are kept.
    is_followed: bool,
}

impl Kept {
    /// A batch of so many descents begins.
    pub(crate) fn begin_batch(&mut self, scheme: &Scheme, n_descents: u64) {
        debug_assert!(self.by_id.is_empty(), "what was gathered is added");
        self.is_on = scheme.keeps_nodes && n_descents > 1;
        self.exploration = scheme.exploration;
        self.weight = scheme.weight();
        self.n_descents = n_descents;
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

    /// How a descent goes on that comes to this node behind so many others; none if it is not kept.
    pub(crate) fn pass(&mut self, id: NodeId) -> Option<KeptStep> {
        let &node_idx = self.by_id.get(&id.0)?;
        let node = &mut self.nodes[node_idx as usize];
        let numerator = node.numerator;
        self.bounds.clear();
        self.bounds.extend(node.means.iter().zip(&node.widths).map(|(mean, width)| mean + numerator * width));
        let move_idx = first_of_best(&self.bounds);
        node.enter(move_idx, self.weight, self.exploration);
        let move_idx = crate::arena::u32_of(move_idx);
        Some(KeptStep {
            spot: Spot { node_idx, move_idx },
            role: node.role,
            edge: node.first_edge + move_idx,
            child: node.moves[move_idx as usize].child,
        })
    }

    /// Keeps the node that the descent is leaving by the move `chosen`, which all before have been kept, if that is worth it.
    /// `mean` tells what is thought of a move.
    pub(crate) fn note<S: Eq + Hash, O: Orders>(
        &mut self,
        graph: &Graph<S, O>,
        view: &Viewpoint,
        columns: &Columns,
        mean: impl Fn(usize) -> f64,
        chosen: usize,
    ) {
        let is_first = self.by_id.is_empty();
        // By other moves the descent may come to a node that another one has kept.
        let is_wanted = !view.is_simultaneous
            && (is_first || columns.n_parent.saturating_mul(self.n_descents) >= WORTH * self.n_first)
            && !self.by_id.contains_key(&view.id.0);
        if !is_wanted {
            return;
        }
        let node_idx = self.by_id.len();
        if node_idx == self.nodes.len() {
            self.nodes.push(KeptNode::default());
        }
        let node = &mut self.nodes[node_idx];
        if !node.take_moves(graph, view, columns) {
            return;
        }
        node.means.clear();
        node.means.extend((0..columns.totals.len()).map(mean));
        node.enter(chosen, self.weight, self.exploration);
        self.by_id.insert(view.id.0, crate::arena::u32_of(node_idx));
        if is_first {
            self.n_first = columns.n_parent;
        }
        self.is_followed = true;
    }

    /// A playout that went this way is finished, with these values, one per role.
    pub(crate) fn add(&mut self, spot: Spot, values: &[u64]) {
        let node = &mut self.nodes[spot.node_idx as usize];
        let a_move = &mut node.moves[spot.move_idx as usize];
        a_move.visits += self.weight;
        a_move.sum += values[node.role as usize];
        node.sums.iter_mut().zip(values).for_each(|(sum, &value)| *sum += value);
    }

    /// Adds what was gathered, and keeps nothing any more; to how many edges and nodes.
    ///
    /// # Orderings
    /// Sums first, counts after them with [`Orders::COUNT`]; see [`Count`](crate::count::Count).
    pub(crate) fn flush<S: Eq + Hash, O: Orders>(&mut self, graph: &Graph<S, O>) -> u64 {
        let mut n_places = 0;
        for node in &self.nodes[..self.by_id.len()] {
            let mut visits = 0;
            for (edge, a_move) in (node.first_edge..).zip(&node.moves).filter(|(_, it)| it.visits > 0) {
                let edge = graph.edge(edge);
                add(&edge.sum, a_move.sum);
                edge.count.add::<O>(a_move.visits);
                visits += a_move.visits;
                n_places += 1;
            }
            if visits > 0 {
                let id = NodeId(node.id);
                node.sums.iter().enumerate().for_each(|(role_idx, &sum)| add(graph.sum(id, role_idx), sum));
                graph.node(id).count.add::<O>(visits);
                n_places += 1;
            }
        }
        self.by_id.clear();
        n_places
    }
}

impl KeptNode {
    /// Begins with these moves; false if one of them does not lead to a node, or the reasoner has failed here, which each descent
    /// has to look at for itself.
    fn take_moves<S: Eq + Hash, O: Orders>(
        &mut self,
        graph: &Graph<S, O>,
        view: &Viewpoint,
        columns: &Columns,
    ) -> bool {
        if graph.node(view.id).failures.load(Ordering::Relaxed) > 0 {
            return false;
        }
        (self.id, self.role, self.first_edge) =
            (view.id.0, crate::arena::u32_of(view.role_idx), view.edges.start);
        self.n_parent = columns.n_parent;
        self.sums.clear();
        self.sums.resize(graph.n_roles, 0);
        self.widths.clear();
        self.widths.extend(columns.totals.iter().map(|&total| width(total)));
        self.moves.clear();
        for (edge, &total) in graph.edges_in(view.edges.clone()).iter().zip(&columns.totals) {
            let Child::Node(child) = edge.child::<O>() else { return false };
            self.moves.push(KeptMove { child, total, visits: 0, sum: 0 });
        }
        true
    }

    /// A playout of so many visits goes this way.
    fn enter(&mut self, move_idx: usize, weight: u64, exploration: f64) {
        let total = &mut self.moves[move_idx].total;
        *total += weight.cast_signed() as f64;
        self.widths[move_idx] = width(*total);
        self.n_parent += weight;
        self.numerator = exploration * (self.n_parent.max(1) as f64).ln().sqrt();
    }
}

fn width(total: f64) -> f64 {
    1.0 / total.max(1.0).sqrt()
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use reasoner::{Expansion, Move};

    use super::*;
    use crate::counters::WorkerCounters;
    use crate::graph::{Blocks, GraphKind, Sizes};
    use crate::options::Options;
    use crate::orders::Sound;

    type Small = Graph<u32, Sound>;

    /// A graph of `n` nodes, each with `n_moves` moves, which lead round: the last node's to the first again.
    fn round(options: &Options, n: u32, n_moves: usize) -> (Small, Vec<NodeId>) {
        let graph = Small::new(2, GraphKind::new(options, 2), Sizes::SMALL);
        let (mut blocks, counters) = (Blocks::default(), WorkerCounters::default());
        let moves = (0u32..).take(n_moves).map(Move).chain([Move(0)]).collect();
        let expansion = Expansion { moves, ends: vec![n_moves, n_moves + 1], ..Expansion::default() };
        let ids: Vec<_> =
            (0..n).map(|state| graph.node_of(&mut blocks, state, &counters).expect("room")).collect();
        for (i, &id) in ids.iter().enumerate() {
            assert!(graph.node(id).claim());
            graph.open(&mut blocks, id, &expansion, 0, &counters);
            let opening = graph.node(id).opening();
            for edge in (opening.first_edge..).take(n_moves) {
                graph.link(&mut blocks, id, edge, ids[(i + 1) % ids.len()], &counters);
            }
        }
        (graph, ids)
    }

    fn view(graph: &Small, id: NodeId) -> Viewpoint {
        let opening = graph.node(id).opening();
        let edges = opening.first_edge..opening.first_edge + opening.n_edges;
        Viewpoint { id, edges, role_idx: 0, is_simultaneous: false }
    }

    /// Moves of these means with eight visits each.
    fn columns(means: &[f64]) -> Columns {
        let eight = vec![8.0; means.len()];
        let sums = means.iter().map(|mean| 8.0 * mean).collect();
        Columns { sums, visits: eight.clone(), totals: eight, n_parent: 8 * means.len() as u64 }
    }

    fn begin(exploration: f64, n_descents: u64) -> (Kept, Options) {
        let options = Options {
            exploration: Some(exploration),
            batch: Some(64),
            rollouts: Some(8),
            ..Options::default()
        };
        let mut kept = Kept::default();
        kept.begin_batch(&Scheme::new(&options, 100, 2, 1), n_descents);
        (kept, options)
    }

    /// A descent comes to nodes that are not kept, and leaves them by the first move.
    fn note(kept: &mut Kept, graph: &Small, id: NodeId, columns: &Columns) {
        if kept.leave() {
            let mean = |idx: usize| columns.sums[idx] / columns.visits[idx];
            kept.note(graph, &view(graph, id), columns, mean, 0);
        }
    }

    fn chosen(kept: &mut Kept, id: NodeId) -> Option<u32> {
        kept.pass(id).map(|step| step.spot.move_idx)
    }

    #[test]
    fn what_is_sent_on_its_way_makes_a_move_less_of_a_choice() {
        let (mut kept, options) = begin(40.0, 64);
        let (graph, ids) = round(&options, 2, 3);
        kept.begin_descent(true);
        assert_eq!(kept.pass(ids[0]), None, "nothing is kept yet");
        note(&mut kept, &graph, ids[0], &columns(&[50.0, 50.0, 50.0]));
        let moves: Vec<_> = (0..5).map(|_| chosen(&mut kept, ids[0])).collect();
        assert_eq!(moves, [1, 2, 0, 1, 2].map(Some));
        kept.flush(&graph);
        assert_eq!(kept.pass(ids[0]), None, "a batch later");
    }

    #[test]
    fn bounds_are_those_of_ucb1() {
        let (means, exploration) = ([30.0, 55.0, 52.0], 10.0);
        let (mut kept, options) = begin(exploration, 64);
        let (graph, ids) = round(&options, 2, 3);
        kept.begin_descent(true);
        note(&mut kept, &graph, ids[0], &columns(&means));
        let mut totals = [16.0, 8.0, 8.0];
        for _ in 0..50 {
            let n_parent: f64 = totals.iter().sum();
            let bound = |idx: usize| means[idx] + exploration * (n_parent.ln() / totals[idx]).sqrt();
            let best = (0..3).max_by(|&a, &b| bound(a).total_cmp(&bound(b))).expect("moves");
            let step = kept.pass(ids[0]).expect("it is kept");
            let chosen = step.spot.move_idx as usize;
            assert!(
                bound(best) - bound(chosen) < crate::select::TIE,
                "{chosen} and not {best} of {totals:?}"
            );
            totals[chosen] += 8.0;
        }
    }

    #[test]
    fn what_is_gathered_is_what_was_passed() {
        let (mut kept, options) = begin(1.0, 64);
        let (graph, ids) = round(&options, 3, 2);
        kept.begin_descent(true);
        note(&mut kept, &graph, ids[0], &columns(&[1.0, 90.0]));
        note(&mut kept, &graph, ids[1], &columns(&[80.0, 2.0]));
        for values in [[100, 300], [0, 500], [700, 0]] {
            let first = kept.pass(ids[0]).expect("it is kept");
            assert_eq!((first.child, first.edge), (ids[1], view(&graph, ids[0]).edges.start + 1));
            let second = kept.pass(first.child).expect("it is kept");
            assert_eq!((second.child, second.spot.move_idx), (ids[2], 0));
            assert_eq!(kept.pass(second.child), None);
            kept.add(first.spot, &values);
            kept.add(second.spot, &values);
        }
        kept.flush(&graph);
        let told = |id: NodeId, move_idx: u32| {
            let edge = graph.edge(view(&graph, id).edges.start + move_idx);
            let results = [edge.results::<Sound>(), graph.results(id, 0), graph.results(id, 1)];
            results.map(|it| (it.tally.visits, it.tally.in_flight, it.sum))
        };
        let all = [(24, 0, 800), (24, 0, 800), (24, 0, 800)];
        assert_eq!([told(ids[0], 1), told(ids[1], 0)], [all, all]);
        assert_eq!(told(ids[0], 0)[0], (0, 0, 0), "not passed");
        assert_eq!(kept.flush(&graph), 0, "it is added once");
    }

    #[test]
    fn a_node_is_kept_once() {
        let (mut kept, options) = begin(1.0, 64);
        let (graph, ids) = round(&options, 1, 2);
        kept.begin_descent(true);
        note(&mut kept, &graph, ids[0], &columns(&[1.0, 90.0]));
        note(&mut kept, &graph, ids[0], &columns(&[90.0, 1.0]));
        assert_eq!(chosen(&mut kept, ids[0]), Some(1), "as the first descent found it");
        assert!(!kept.leave(), "a way that comes back leads on among others");
    }

    #[test]
    fn only_what_several_descents_come_by_is_kept() {
        let (mut kept, options) = begin(1.0, 64);
        let (graph, ids) = round(&options, 5, 2);
        let of = |n_parent: u64| Columns { n_parent, ..columns(&[1.0, 2.0]) };
        kept.begin_descent(true);
        note(&mut kept, &graph, ids[0], &of(3200));
        note(&mut kept, &graph, ids[1], &of(100));
        note(&mut kept, &graph, ids[2], &of(99));
        note(&mut kept, &graph, ids[3], &of(3200));
        let is_kept: Vec<_> = ids[..4].iter().map(|&id| kept.pass(id).is_some()).collect();
        assert_eq!(is_kept, [true, true, false, false], "nor what lies behind one that is not");
        kept.begin_descent(false);
        note(&mut kept, &graph, ids[4], &of(3200));
        assert_eq!(kept.pass(ids[4]), None, "nor where a descent goes on that had to ask");
    }

    /// Whether the root is kept, after a change, that the first of so many descents comes by.
    fn keeps_root(n_descents: u64, change: impl Fn(&Small, NodeId)) -> bool {
        let (mut kept, options) = begin(1.0, n_descents);
        let (graph, ids) = round(&options, 2, 2);
        change(&graph, ids[0]);
        kept.begin_descent(true);
        note(&mut kept, &graph, ids[0], &columns(&[1.0, 2.0]));
        kept.pass(ids[0]).is_some()
    }

    #[test]
    fn only_what_later_descents_need_not_look_at_is_kept() {
        assert!(keeps_root(2, |_, _| ()));
        assert!(!keeps_root(1, |_, _| ()), "there are no later ones");
        let leads_nowhere = |graph: &Small, id| graph.edge(view(graph, id).edges.start).relink(NodeId(0));
        assert!(!keeps_root(2, leads_nowhere));
        let has_failed = |graph: &Small, id| {
            graph.node(id).failures.fetch_add(1, Ordering::Relaxed);
        };
        assert!(!keeps_root(2, has_failed));
    }
}
