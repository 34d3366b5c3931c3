//! Nodes that many descents come by, kept by a thread for a term of some batches.
//!
//! In goes what selection has read of a node's moves when the first of these descents came by; out comes, without a look at the graph, how
//! each later one goes on there, and at the end of the term one addition for each place in the graph. Why: the nodes near the root and
//! their children are read and written by every playout of every thread. What this thread finishes is added to what is kept, so that
//! it chooses as it would by the graph, but for what comes to a child by other parents (EXPERIMENTS.md, "Nodes that several descents
//! come by"). Other threads do not see what is done on these nodes before the term ends, so a term is short beside what a search has
//! made.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use crate::arena::u32_of;
use crate::backup::add;
use crate::edge::Child;
use crate::graph::Graph;
use crate::node::NodeId;
use crate::orders::Orders;
use crate::scheme::Scheme;
use crate::select::{Columns, Viewpoint, numerator};
use crate::sync::Ordering;

/// Descents of a term, where it is longer than a batch: no more than these, and than this part of all that the root has seen, for all
/// threads together.
const LONGEST_TERM: u64 = 512;
const TERMS: u64 = 64;

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
    known: Known,
}

/// The finished playouts that a move is compared by, and the sum of the role's values over them: those of its child, where children
/// tell.
#[derive(Debug, Clone, Copy, Default)]
struct Known {
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
    /// Whether moves are compared by what came to their children, and what a unit of it is worth in goal points.
    by_children: bool,
    points: f64,
    n_threads: u64,
    n_roles: usize,
    /// Descents of the batch, of the term, and those of it that were begun.
    n_in_batch: u64,
    n_in_term: u64,
    n_begun: u64,
    by_id: FxHashMap<NodeId, u32>,
    nodes: Vec<KeptNode>,
    /// By node and role, the sum of the values that were gathered.
    sums: Vec<u64>,
    /// What is known of the moves of all nodes, one node's rows behind another's. Playouts that are sent on their way count, what they
    /// come to does not yet.
    columns: Columns,
    /// By row.
    moves: Vec<KeptMove>,
    /// Whether all nodes that the descent at hand has left are kept.
    is_followed: bool,
    /// What the descent at hand chose where a node was kept for it.
    noted: Option<Spot>,
}

impl Kept {
    /// A batch of so many descents begins; with it a term, unless one is under way.
    pub(crate) fn begin_batch(&mut self, scheme: &Scheme, n_descents: u64) {
        self.is_on = scheme.keeps_nodes && n_descents > 1;
        self.n_in_batch = n_descents;
        if self.nodes.is_empty() {
            self.exploration = scheme.exploration;
            self.weight = scheme.weight();
            self.by_children = scheme.children_tell;
            self.points = scheme.points_of_unit(self.by_children);
            self.n_threads = scheme.n_threads;
            self.n_in_term = n_descents;
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
        let is_first = self.nodes.is_empty();
        // By other moves the descent may come to a node that another one has kept.
        let is_wanted = !view.is_simultaneous && !self.by_id.contains_key(&view.id);
        if !is_wanted || !self.take(graph, view, columns, n_parent) {
            return;
        }
        if is_first {
            let share = n_parent / (self.weight * TERMS * self.n_threads);
            self.n_in_term = share.min(LONGEST_TERM).max(self.n_in_batch);
        }
        let node_idx = u32_of(self.nodes.len() - 1);
        self.by_id.insert(view.id, node_idx);
        let spot = Spot(self.nodes[node_idx as usize].first_row + u32_of(chosen));
        self.enter(node_idx, spot);
        self.is_followed = true;
        self.noted = Some(spot);
    }

    /// What the descent chose where it left its node, if that is kept by now.
    pub(crate) fn take_noted(&mut self) -> Option<Spot> {
        self.noted.take()
    }

    /// Takes a node in; false if one of its moves does not lead to a node, or the reasoner has failed here, which each descent has to
    /// look at for itself.
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
        for edge in graph.edges_in(view.edges.clone()) {
            let Child::Node(child) = edge.child::<O>() else {
                self.moves.truncate(first_row);
                return false;
            };
            let known =
                if self.by_children { graph.results(child, view.role_idx) } else { edge.results::<O>() };
            let known = Known { visits: known.tally.visits, sum: known.sum };
            self.moves.push(KeptMove { node_idx, child, kept: None, visits: 0, sum: 0, known });
        }
        self.columns.append(columns);
        let known = Known::default();
        let filler = KeptMove { node_idx, child: NodeId(0), kept: None, visits: 0, sum: 0, known };
        self.moves.resize(self.columns.n_rows(), filler);
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
        self.columns.enter(spot.idx(), self.weight.cast_signed());
        self.set_parent(node_idx, self.nodes[node_idx as usize].n_parent + self.weight);
    }

    /// A playout that went this way is taken back.
    pub(crate) fn leave_again(&mut self, spot: Spot) {
        let node_idx = self.moves[spot.idx()].node_idx;
        self.columns.enter(spot.idx(), -self.weight.cast_signed());
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
        a_move.known.visits += self.weight;
        a_move.known.sum += if self.by_children { at_child } else { values }[role_idx];
        self.columns.set_mean(spot.idx(), a_move.known.visits, a_move.known.sum, self.points);
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
mod tests {
    use reasoner::{Expansion, Move};

    use super::*;
    use crate::count::Tally;
    use crate::counters::WorkerCounters;
    use crate::graph::{Blocks, GraphKind, Sizes};
    use crate::options::Options;
    use crate::orders::Sound;
    use crate::results::Results;

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
    fn columns(means: &[u64]) -> Columns {
        let tally = Tally { visits: 8, in_flight: 0 };
        let mut columns = Columns::default();
        columns.fill(means, 1.0, |mean| Results::new(tally, 8 * mean));
        columns
    }

    /// Visits, what is in flight, and sums of all edges and nodes.
    fn all_told(graph: &Small, ids: &[NodeId]) -> Vec<(u64, u64, u64)> {
        let edges = ids.iter().flat_map(|&id| graph.edges_in(view(graph, id).edges));
        let results = edges.map(crate::edge::Edge::results::<Sound>);
        let results = results.chain(ids.iter().flat_map(|&id| [0, 1].map(|role| graph.results(id, role))));
        results.map(|it| (it.tally.visits, it.tally.in_flight, it.sum)).collect()
    }

    /// The index of a move in its node.
    fn move_of(kept: &Kept, spot: Spot) -> u32 {
        spot.0 - kept.nodes[kept.moves[spot.idx()].node_idx as usize].first_row
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

    /// A descent comes to a node that is not kept, and leaves it by the first move.
    fn note(kept: &mut Kept, graph: &Small, id: NodeId, means: &[u64]) {
        note_visited(kept, graph, id, means, 8 * means.len() as u64);
    }

    fn note_visited(kept: &mut Kept, graph: &Small, id: NodeId, means: &[u64], n_parent: u64) {
        if kept.leave() {
            kept.note(graph, &view(graph, id), &columns(means), n_parent, 0);
        }
    }

    fn chosen(kept: &mut Kept, id: NodeId) -> Option<u32> {
        kept.pass(id, None).map(|spot| move_of(kept, spot))
    }

    #[test]
    fn what_is_sent_on_its_way_makes_a_move_less_of_a_choice() {
        let (mut kept, options) = begin(40.0, 64);
        let (graph, ids) = round(&options, 2, 3);
        kept.begin_descent(true);
        assert_eq!(kept.pass(ids[0], None), None, "nothing is kept yet");
        note(&mut kept, &graph, ids[0], &[50, 50, 50]);
        let moves: Vec<_> = (0..5).map(|_| chosen(&mut kept, ids[0])).collect();
        assert_eq!(moves, [1, 2, 0, 1, 2].map(Some));
        kept.flush(&graph);
        assert_eq!(kept.pass(ids[0], None), None, "a batch later");
    }

    #[test]
    fn bounds_are_those_of_ucb1() {
        let (means, exploration) = ([30, 55, 52], 10.0);
        let (mut kept, options) = begin(exploration, 64);
        let (graph, ids) = round(&options, 2, 3);
        kept.begin_descent(true);
        note(&mut kept, &graph, ids[0], &means);
        let mut totals = [16.0, 8.0, 8.0];
        for _ in 0..50 {
            let n_parent: f64 = totals.iter().sum();
            let bound = |idx: usize| means[idx] as f64 + exploration * (n_parent.ln() / totals[idx]).sqrt();
            let best = (0..3).max_by(|&a, &b| bound(a).total_cmp(&bound(b))).expect("moves");
            let spot = kept.pass(ids[0], None).expect("it is kept");
            let chosen = move_of(&kept, spot) as usize;
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
        note(&mut kept, &graph, ids[0], &[1, 90]);
        note(&mut kept, &graph, ids[1], &[80, 2]);
        let before = all_told(&graph, &ids);
        let mut passed = Vec::new();
        for values in [[100, 300], [0, 500], [700, 0]] {
            let first = kept.pass(ids[0], None).expect("it is kept");
            let edge = view(&graph, ids[0]).edges.start + 1;
            assert_eq!(kept.step(first), KeptStep { role: 0, edge, child: ids[1] });
            let second = kept.pass(ids[1], Some(first)).expect("it is kept");
            assert_eq!((kept.step(second).child, move_of(&kept, second)), (ids[2], 0));
            assert_eq!(kept.pass(ids[2], Some(second)), None);
            passed.extend([(first, values), (second, values)]);
        }
        passed.iter().for_each(|(spot, values)| kept.add(*spot, values, values));
        assert_eq!(all_told(&graph, &ids), before, "nothing is told before the end");
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
    fn a_child_is_found_by_its_move_whenever_it_is_kept() {
        let (mut kept, options) = begin(1.0, 64);
        for n_moves in [1, 3, 4, 5, 8, 9] {
            let (graph, ids) = round(&options, 2, n_moves);
            let means: Vec<u64> = (0..n_moves as u64).collect();
            kept.begin_descent(true);
            note(&mut kept, &graph, ids[0], &means);
            let spot = kept.pass(ids[0], None).expect("it is kept");
            assert_eq!(move_of(&kept, spot) as usize, n_moves - 1);
            assert_eq!(kept.pass(ids[1], Some(spot)), None, "the child is not kept yet");
            note(&mut kept, &graph, ids[1], &means);
            for _ in 0..2 {
                let below = kept.pass(ids[1], Some(spot)).expect("now it is");
                assert_eq!((move_of(&kept, below) as usize, kept.step(below).child), (n_moves - 1, ids[0]));
            }
            kept.flush(&graph);
        }
    }

    #[test]
    fn a_node_is_kept_once() {
        let (mut kept, options) = begin(1.0, 64);
        let (graph, ids) = round(&options, 1, 2);
        kept.begin_descent(true);
        note(&mut kept, &graph, ids[0], &[1, 90]);
        note(&mut kept, &graph, ids[0], &[90, 1]);
        assert_eq!(chosen(&mut kept, ids[0]), Some(1), "as the first descent found it");
        assert!(!kept.leave(), "a way that comes back leads on among others");
    }

    #[test]
    fn what_lies_behind_a_node_that_is_not_kept_is_not() {
        let (mut kept, options) = begin(1.0, 64);
        let (graph, ids) = round(&options, 5, 2);
        let visit = |kept: &mut Kept, id| note(kept, &graph, id, &[1, 2]);
        graph.node(ids[2]).failures.fetch_add(1, Ordering::Relaxed);
        kept.begin_descent(true);
        ids[..4].iter().for_each(|&id| visit(&mut kept, id));
        let is_kept: Vec<_> = ids[..4].iter().map(|&id| kept.pass(id, None).is_some()).collect();
        assert_eq!(is_kept, [true, true, false, false]);
        kept.begin_descent(false);
        visit(&mut kept, ids[4]);
        assert_eq!(kept.pass(ids[4], None), None, "nor where a descent goes on that had to ask");
    }

    #[test]
    fn what_is_finished_in_a_term_makes_a_move_more_or_less_of_a_choice() {
        let discounted = Options { discount: 0.5, ..Options::default() };
        for (change, values, at_child) in [(Options::default(), 400, 400), (discounted, 200, 400)] {
            let options = Options { batch: Some(64), rollouts: Some(8), exploration: Some(0.0), ..change };
            let scheme = Scheme::new(&options, 100, 2, 1);
            let mut kept = Kept::default();
            kept.begin_batch(&scheme, 64);
            let (graph, ids) = round(&options, 2, 2);
            let unit = scheme.valuation.full() / 100;
            for id in &ids {
                // Both moves lead there, so a move's results are told apart by its rows alone.
                graph.node(*id).count.add::<Sound>(8);
                graph.sum(*id, 0).store(8 * 60 * unit, Ordering::Relaxed);
            }
            let mut columns = Columns::default();
            columns.fill(&[61, 60], scheme.points_of_unit(true), |mean| {
                Results::new(Tally { visits: 8, in_flight: 0 }, 8 * mean * unit)
            });
            kept.begin_descent(true);
            kept.leave();
            kept.note(&graph, &view(&graph, ids[0]), &columns, 16, 0);
            let spot = kept.pass(ids[0], None).expect("it is kept");
            assert_eq!(move_of(&kept, spot), 0);
            kept.add(spot, &[values * unit, 0], &[at_child * unit, 0]);
            // 8 visits of 60 and 8 of 50.
            assert_eq!(chosen(&mut kept, ids[0]), Some(1));
            let mean = kept.columns.mean_of(spot.idx());
            assert!((mean - 55.0 * options.discount).abs() < 1e-3, "{mean}");
        }
    }

    #[test]
    fn a_playout_that_is_taken_back_leaves_no_trace() {
        let (mut kept, options) = begin(40.0, 64);
        let (graph, ids) = round(&options, 2, 3);
        kept.begin_descent(true);
        note(&mut kept, &graph, ids[0], &[50, 50, 50]);
        let first = kept.pass(ids[0], None).expect("it is kept");
        kept.leave_again(first);
        assert_eq!(kept.pass(ids[0], None), Some(first), "again");
        kept.leave_again(first);
        kept.flush(&graph);
        assert_eq!(graph.node(ids[0]).count.read::<Sound>(), Tally { visits: 0, in_flight: 0 });
    }

    #[test]
    fn a_term_is_some_batches_of_a_long_search_and_one_of_a_short_one() {
        let batches_of = |n_leaves: u64, threads| {
            let options = Options { batch: Some(64), rollouts: Some(8), threads, ..Options::default() };
            let scheme = Scheme::new(&options, 100, 2, 1);
            let mut kept = Kept::default();
            let (graph, ids) = round(&options, 2, 2);
            for n_batches in 1.. {
                kept.begin_batch(&scheme, 64);
                if n_batches == 1 {
                    kept.begin_descent(true);
                    note_visited(&mut kept, &graph, ids[0], &[1, 2], 8 * n_leaves);
                }
                let spot = kept.pass(ids[0], None).expect("it is kept");
                kept.add(spot, &[0, 0], &[0, 0]);
                if kept.end_batch(&graph) > 0 {
                    assert_eq!(kept.pass(ids[0], None), None, "the term is over");
                    return n_batches;
                }
            }
            unreachable!("terms end")
        };
        assert_eq!(batches_of(2, 1), 1);
        assert_eq!(batches_of(64 * 128, 1), 2);
        assert_eq!(batches_of(64 * 128, 2), 1, "two threads share");
        assert_eq!(batches_of(1 << 30, 1), LONGEST_TERM / 64);
        assert_eq!(batches_of(1 << 30, 16), LONGEST_TERM / 64);
    }

    /// Whether the root is kept, after a change, that the first of so many descents comes by.
    fn keeps_root(n_descents: u64, change: impl Fn(&Small, NodeId)) -> bool {
        let (mut kept, options) = begin(1.0, n_descents);
        let (graph, ids) = round(&options, 2, 2);
        change(&graph, ids[0]);
        kept.begin_descent(true);
        note(&mut kept, &graph, ids[0], &[1, 2]);
        kept.pass(ids[0], None).is_some()
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
