//! The corrections as the paper prints them (Saffidine, Cazenave and Méhat 2012, section 3.4).
//!
//! One is added to the visits of every edge passed or at most d above the last; the mean of such an edge changes by
//! equation 15, the changes of the means below weighted with their counts. That the counts themselves have changed is
//! left out, and a depth d is kept as one number that is made of those of the same depth below; so the numbers drift
//! from equations 9 to 13, by how much a report says.

use std::hash::Hash;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Kept, PathEdge, edges_into, load, path_edges, store, upwards, visits_of};
use crate::adapted::kid_of;
use crate::backup::Path;
use crate::config::{Depth, Depths};
use crate::graph::Graph;
use crate::node::NodeId;
use crate::orders::Orders;
use crate::sync::Ordering;

fn mean_word<S: Eq + Hash, O: Orders>(graph: &Graph<S, O>, role_idx: usize) -> usize {
    graph.layout.adapted.first + role_idx
}

/// Of n_d2 and n_d3.
fn visit_words<S: Eq + Hash, O: Orders>(graph: &Graph<S, O>) -> [usize; 2] {
    let first = graph.layout.adapted.first + graph.n_roles;
    [first, first + 1]
}

pub(super) fn read<S: Eq + Hash, O: Orders>(graph: &Graph<S, O>, edge: u32, role_idx: usize) -> Kept {
    let [origin, visits] = visit_words(graph);
    Kept {
        mean: Some(load(graph, edge, mean_word(graph, role_idx))),
        visits: load(graph, edge, visits),
        origin: load(graph, edge, origin),
    }
}

/// Gives a new edge what equations 10 and 12 make of the numbers below, before its first playout; the paper does not
/// say.
pub(super) fn begin_edge<S: Eq + Hash, O: Orders>(
    graph: &Graph<S, O>,
    depths: Depths,
    edge: u32,
    kid: Option<NodeId>,
) {
    let below = kid.map_or(0..0, |kid| graph.edges_of_role(kid, 0));
    let n: f64 = below.clone().map(|f| visits_of(graph, f)).sum();
    for role_idx in 0..graph.n_roles {
        let word = mean_word(graph, role_idx);
        let total: f64 = below.clone().map(|f| load(graph, f, word) * visits_of(graph, f)).sum();
        let is_adapted = n > 0.0 && depths.mean != Depth::Finite(0);
        store(graph, edge, word, if is_adapted { total / n } else { 0.0 });
    }
    for (word, depth) in visit_words(graph).into_iter().zip([depths.parent, depths.child]) {
        let visits: f64 = below.clone().map(|f| load(graph, f, word)).sum();
        store(graph, edge, word, if depth == Depth::Finite(0) { 0.0 } else { visits });
    }
}

pub(super) fn finish<S: Eq + Hash, O: Orders>(graph: &Graph<S, O>, depths: Depths, path: &Path) {
    let passed: Vec<PathEdge> = path_edges(path).collect();
    let Some(&last) = passed.last() else { return };
    for (word, depth) in visit_words(graph).into_iter().zip([depths.parent, depths.child]) {
        for edge in edges_near(graph, &passed, last, depth) {
            store(graph, edge, word, load(graph, edge, word) + path.weight as f64);
        }
    }
    correct_means(graph, depths.mean, path, &passed, last);
}

/// The edges passed, and those at most `depth` above the last.
fn edges_near<S: Eq + Hash, O: Orders>(
    graph: &Graph<S, O>,
    passed: &[PathEdge],
    last: PathEdge,
    depth: Depth,
) -> FxHashSet<u32> {
    let mut edges: FxHashSet<u32> = passed.iter().map(|it| it.edge).collect();
    if depth != Depth::Finite(0) {
        for id in upwards(graph, &[last.origin], depth.below()) {
            edges.extend(edges_into(graph, id).into_iter().map(|(edge, _)| edge));
        }
    }
    edges
}

fn correct_means<S: Eq + Hash, O: Orders>(
    graph: &Graph<S, O>,
    depth: Depth,
    path: &Path,
    passed: &[PathEdge],
    last: PathEdge,
) {
    let within = edges_near(graph, passed, last, depth);
    let mut changes: FxHashMap<NodeId, Variation> = FxHashMap::default();
    let weight = path.weight as f64;
    // The last edge, and each that leads to a simultaneous position, has the mean of what it was given.
    for it in passed.iter().filter(|it| it.ends_behind) {
        let n = visits_of(graph, it.edge);
        let variation = changes.entry(it.origin).or_default();
        for (role_idx, &value) in path.values_at(it.level).iter().enumerate() {
            let word = mean_word(graph, role_idx);
            let mean = load(graph, it.edge, word);
            let more = value as f64 - mean * weight;
            store(graph, it.edge, word, mean + more / n);
            if n == weight {
                variation.first.push(value as f64);
            } else {
                variation.add(role_idx, more);
            }
        }
    }
    let origins: Vec<NodeId> = passed.iter().map(|it| it.origin).collect();
    for id in upwards(graph, &origins, depth) {
        let Some(variation) = changes.remove(&id) else { continue };
        let n_below: f64 = graph.edges_of_role(id, 0).map(|f| visits_of(graph, f)).sum();
        for (edge, origin) in edges_into(graph, id) {
            if !within.contains(&edge) || kid_of(graph, graph.edge(edge)).is_none() {
                continue;
            }
            let own = graph.word(edge, graph.layout.own.first).load(Ordering::Relaxed) as f64;
            let n = visits_of(graph, edge);
            let above = changes.entry(origin).or_default();
            for role_idx in 0..graph.n_roles {
                let word = mean_word(graph, role_idx);
                let mean = load(graph, edge, word);
                let change = variation.seen_from(mean * weight, role_idx) / (own + n_below);
                store(graph, edge, word, mean + change);
                above.add(role_idx, change * n);
            }
        }
    }
}

/// What the means of a node's edges vary by.
#[derive(Debug, Default)]
struct Variation {
    /// By role, the sum of an edge's variation times its n.
    sums: Vec<f64>,
    /// By role, the first value of a new edge.
    first: Vec<f64>,
}

impl Variation {
    fn add(&mut self, role_idx: usize, more: f64) {
        let n_roles = self.sums.len().max(role_idx + 1);
        self.sums.resize(n_roles, 0.0);
        self.sums[role_idx] += more;
    }

    /// The sum for an edge that leads to the node, and whose mean comes to this over the playout's visits. A new edge
    /// has no mean that could vary, and the paper does not say what counts for it; here it varies from that of the edge
    /// above. (From 0, means pass all values; from its own first value, those above never hear of it.)
    fn seen_from(&self, mean: f64, role_idx: usize) -> f64 {
        self.sums.get(role_idx).unwrap_or(&0.0) + self.first.get(role_idx).map_or(0.0, |value| value - mean)
    }
}
