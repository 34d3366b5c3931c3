//! The exact corrections: what equations 9 to 13 change by when one more playout is counted.
//!
//! A node tells all edges into it what the sum over its own edges of mu_d n, n_d and n changed by. An edge of
//! depth d + 1 takes that over, and its own mu n changes by the new product less the old one, since its n may have
//! changed too: that is what the printed equation 15 leaves out. Numbers of several depths are corrected level by
//! level, those of infinite depth node by node from below.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use super::{ExactWords, Kept, Ledger, PathEdge, edges_into, load, path_edges, store, upwards, visits_of};
use crate::adapted::share;
use crate::backup::Path;
use crate::config::{Depth, Depths};
use crate::graph::Graph;
use crate::node::NodeId;
use crate::orders::Orders;
use crate::scheme::Scheme;
use crate::sync::Ordering;

/// What the sums over a node's edges change by.
#[derive(Debug, Clone, Default)]
pub(super) struct NodeChange {
    /// Of mu n, by role.
    totals: Vec<f64>,
    /// Of n_d.
    visits: f64,
}

/// What an edge's numbers change by.
#[derive(Debug, Clone)]
struct EdgeChange {
    origin: NodeId,
    totals: Vec<f64>,
    visits: f64,
}

pub(super) fn read<S: Eq + Hash, O: Orders>(
    graph: &Graph<S, O>,
    depths: Depths,
    edge: u32,
    role_idx: usize,
) -> Kept {
    let words = ExactWords::of(graph, depths);
    let n = visits_of(graph, edge);
    let (total, weight) = match words.mean.place(depths.mean) {
        Some(place) => (load(graph, edge, words.total(place, role_idx)), load(graph, edge, words.weight())),
        None => (base_total(graph, edge, role_idx), n),
    };
    let visits = |depth| words.visits.place(depth).map_or(n, |place| load(graph, edge, words.visits(place)));
    Kept {
        mean: (weight > 0.0).then(|| total / weight),
        visits: visits(depths.child),
        origin: visits(depths.parent),
    }
}

fn base_total<S: Eq + Hash, O: Orders>(graph: &Graph<S, O>, edge: u32, role_idx: usize) -> f64 {
    graph.word(edge, graph.layout.sums.first + role_idx).load(Ordering::Relaxed) as f64
}

/// mu n of an edge: at depth 0, or with these words.
fn product<S: Eq + Hash, O: Orders>(
    graph: &Graph<S, O>,
    words: ExactWords,
    edge: u32,
    place: Option<usize>,
    role_idx: usize,
) -> f64 {
    match place {
        None => base_total(graph, edge, role_idx),
        Some(place) => {
            let total = load(graph, edge, words.total(place, role_idx));
            share_of(total, load(graph, edge, words.weight()), visits_of(graph, edge))
        }
    }
}

/// As [`share`], where an edge without playouts has no share.
fn share_of(total: f64, weight: f64, n: f64) -> f64 {
    if n == 0.0 { 0.0 } else { share(total, weight, n) }
}

/// Gives a new edge what the equations say of it before its first playout: n' = 0, and the sums over the edges of the
/// node that it leads to.
pub(super) fn begin_edge<S: Eq + Hash, O: Orders>(
    graph: &Graph<S, O>,
    scheme: &Scheme,
    depths: Depths,
    edge: u32,
    kid: Option<NodeId>,
) {
    let words = ExactWords::of(graph, depths);
    let below = kid.map_or(0..0, |kid| graph.edges_of_role(kid, 0));
    let sum = |of: &dyn Fn(u32) -> f64| below.clone().map(of).sum::<f64>();
    for place in 0..words.mean.len() {
        // A finite depth is made of the one before it, the infinite one of itself.
        let source = if place < words.mean.n_finite { place.checked_sub(1) } else { Some(place) };
        for role_idx in 0..graph.n_roles {
            let total = sum(&|f| product(graph, words, f, source, role_idx));
            store(graph, edge, words.total(place, role_idx), scheme.valuation.discount * total);
        }
    }
    store(graph, edge, words.weight(), sum(&|f| visits_of(graph, f)));
    for place in 0..words.visits.len() {
        let source = if place < words.visits.n_finite { place.checked_sub(1) } else { Some(place) };
        let visits = sum(&|f| {
            let n = visits_of(graph, f);
            source.map_or(n, |at| if n == 0.0 { 0.0 } else { load(graph, f, words.visits(at)) })
        });
        store(graph, edge, words.visits(place), visits);
    }
}

/// One backup's corrections.
struct Correction<'a, S, O: Orders> {
    graph: &'a Graph<S, O>,
    path: &'a Path,
    words: ExactWords,
    discount: f64,
    /// By edge: what the denominator changes by, applied at the end.
    weights: FxHashMap<u32, f64>,
    /// By edge: how many of its playouts are this one.
    passed: FxHashMap<u32, f64>,
}

impl Ledger {
    pub(super) fn finish_exactly<S: Eq + Hash, O: Orders>(
        &mut self,
        graph: &Graph<S, O>,
        scheme: &Scheme,
        depths: Depths,
        path: &Path,
    ) {
        let words = ExactWords::of(graph, depths);
        let mut correction = Correction {
            graph,
            path,
            words,
            discount: scheme.valuation.discount,
            weights: FxHashMap::default(),
            passed: FxHashMap::default(),
        };
        correction.count_passages();
        self.nodes.clear();
        let n_finite = words.mean.n_finite.max(words.visits.n_finite);
        if n_finite > 0 {
            path_edges(path).for_each(|it| add_base(&mut self.nodes, it, path));
            for place in 0..n_finite {
                self.nodes = correction.correct_level(place, &self.nodes);
            }
        }
        if words.mean.has_infinite || words.visits.has_infinite {
            self.nodes.clear();
            correction.correct_upwards(&mut self.nodes);
        }
        correction.apply_weights();
    }
}

/// A passed edge's change at depth 0.
fn add_base(nodes: &mut FxHashMap<NodeId, NodeChange>, passed: PathEdge, path: &Path) {
    let values = path.values_at(passed.level);
    let change = nodes.entry(passed.origin).or_default();
    change.totals.resize(values.len(), 0.0);
    change.totals.iter_mut().zip(values).for_each(|(total, &value)| *total += value as f64);
    change.visits += path.weight as f64;
}

impl<S: Eq + Hash, O: Orders> Correction<'_, S, O> {
    /// n of the edges passed, and so the denominators of the edges above them, grow by the playout's visits.
    fn count_passages(&mut self) {
        let graph = self.graph;
        let weight = self.path.weight as f64;
        for passed in path_edges(self.path) {
            *self.passed.entry(passed.edge).or_default() += weight;
            for (edge, _) in edges_into(graph, passed.origin) {
                *self.weights.entry(edge).or_default() += weight;
            }
            if passed.ends_behind {
                *self.weights.entry(passed.edge).or_default() += weight;
            }
        }
    }

    fn new_change(&self, origin: NodeId) -> EdgeChange {
        EdgeChange { origin, totals: vec![0.0; self.graph.n_roles], visits: 0.0 }
    }

    /// What n' contributes to a passed edge.
    fn add_own(&self, passed: PathEdge, change: &mut EdgeChange) {
        if passed.ends_behind {
            let values = self.path.values_at(passed.level);
            change.totals.iter_mut().zip(values).for_each(|(total, &value)| *total += value as f64);
            change.visits += self.path.weight as f64;
        }
    }

    fn add_below(&self, below: &NodeChange, change: &mut EdgeChange) {
        let pairs = change.totals.iter_mut().zip(&below.totals);
        pairs.for_each(|(total, &below)| *total += self.discount * below);
        change.visits += below.visits;
    }

    /// Corrects the numbers of depth `place` + 1 by what those of depth `place` changed by, node by node.
    fn correct_level(
        &self,
        place: usize,
        below: &FxHashMap<NodeId, NodeChange>,
    ) -> FxHashMap<NodeId, NodeChange> {
        let mut edges: FxHashMap<u32, EdgeChange> = FxHashMap::default();
        for (&id, change) in below {
            for (edge, origin) in edges_into(self.graph, id) {
                self.add_below(change, edges.entry(edge).or_insert_with(|| self.new_change(origin)));
            }
        }
        for passed in path_edges(self.path) {
            self.add_own(passed, edges.entry(passed.edge).or_insert_with(|| self.new_change(passed.origin)));
        }
        let mut above = FxHashMap::default();
        for (edge, change) in edges {
            let is_mean = place < self.words.mean.n_finite;
            let is_visits = place < self.words.visits.n_finite;
            self.correct(edge, &change, is_mean.then_some(place), is_visits.then_some(place), &mut above);
        }
        above
    }

    /// Corrects the numbers of infinite depth of everything above the path.
    fn correct_upwards(&self, nodes: &mut FxHashMap<NodeId, NodeChange>) {
        let (mean, visits) = (self.words.mean, self.words.visits);
        let places =
            (mean.has_infinite.then_some(mean.n_finite), visits.has_infinite.then_some(visits.n_finite));
        // Edges that the playout ended behind have nothing below them that changes.
        for passed in path_edges(self.path).filter(|passed| passed.ends_behind) {
            let mut change = self.new_change(passed.origin);
            self.add_own(passed, &mut change);
            self.correct(passed.edge, &change, places.0, places.1, nodes);
        }
        let origins: Vec<NodeId> = path_edges(self.path).map(|passed| passed.origin).collect();
        for id in upwards(self.graph, &origins, Depth::Infinite) {
            let Some(below) = nodes.remove(&id) else { continue };
            for (edge, origin) in edges_into(self.graph, id) {
                let mut change = self.new_change(origin);
                self.add_below(&below, &mut change);
                self.correct(edge, &change, places.0, places.1, nodes);
            }
        }
    }

    /// Adds a change to an edge's numbers at these places, and what that comes to to its node's.
    fn correct(
        &self,
        edge: u32,
        change: &EdgeChange,
        mean: Option<usize>,
        visits: Option<usize>,
        nodes: &mut FxHashMap<NodeId, NodeChange>,
    ) {
        let Correction { graph, words, .. } = *self;
        let of_node = nodes.entry(change.origin).or_default();
        of_node.totals.resize(graph.n_roles, 0.0);
        let n = visits_of(graph, edge);
        let n_before = n - self.passed.get(&edge).copied().unwrap_or(0.0);
        if let Some(place) = mean {
            let weight_before = load(graph, edge, words.weight());
            let weight = weight_before + self.weights.get(&edge).copied().unwrap_or(0.0);
            for (role_idx, more) in change.totals.iter().enumerate() {
                let before = load(graph, edge, words.total(place, role_idx));
                store(graph, edge, words.total(place, role_idx), before + more);
                of_node.totals[role_idx] +=
                    share_of(before + more, weight, n) - share_of(before, weight_before, n_before);
            }
        }
        if let Some(place) = visits {
            let before = load(graph, edge, words.visits(place));
            let after = before + change.visits;
            store(graph, edge, words.visits(place), after);
            // An edge that nobody passed counts for nothing, whatever lies below it.
            let counted = |n: f64, visits: f64| if n > 0.0 { visits } else { 0.0 };
            of_node.visits += counted(n, after) - counted(n_before, before);
        }
    }

    fn apply_weights(&self) {
        for (&edge, &more) in &self.weights {
            let word = self.words.weight();
            store(self.graph, edge, word, load(self.graph, edge, word) + more);
        }
    }
}
