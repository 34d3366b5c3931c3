//! Statistics of the first levels below the root, which all threads share: a thread gathers what the playouts of a batch come to
//! there, and adds it at once.
//!
//! In a machine of many cores the cache lines of the root travel with every addition. With one thread this changes nothing but
//! the order of additions, since all descents of a batch come before its backups.

use std::hash::Hash;

use rustc_hash::FxHashMap;

use super::add;
use crate::graph::Graph;
use crate::node::NodeId;
use crate::orders::Orders;

/// What a thread has gathered of a batch.
#[derive(Debug, Default)]
pub(crate) struct Hot {
    /// How many levels are gathered, the root's first; 0: none.
    n_levels: usize,
    n_roles: usize,
    edges: FxHashMap<u32, Gathered>,
    /// By node; the sums of its roles are in `sums`, from `Gathered::sum` on.
    nodes: FxHashMap<u32, Gathered>,
    sums: Vec<u64>,
}

/// What playouts came to at an edge or a node.
#[derive(Debug, Clone, Copy, Default)]
struct Gathered {
    visits: u64,
    /// Those of them that were counted as in flight.
    landed: u64,
    /// Of an edge the sum of its role's values; of a node where its sums are.
    sum: u64,
}

impl Gathered {
    fn add(&mut self, visits: u64, is_in_flight: bool) {
        self.visits += visits;
        self.landed += if is_in_flight { visits } else { 0 };
    }
}

impl Hot {
    /// Gathers so many levels from now on.
    pub(crate) fn begin(&mut self, n_levels: usize, n_roles: usize) {
        (self.n_levels, self.n_roles) = (n_levels, n_roles);
    }

    /// Whether the statistics of a level are gathered.
    pub(super) fn has(&self, level: usize) -> bool {
        level < self.n_levels
    }

    /// A playout of so many visits came by an edge.
    pub(super) fn add_to_edge(&mut self, edge: u32, value: u64, visits: u64, is_in_flight: bool) {
        let gathered = self.edges.entry(edge).or_default();
        gathered.sum += value;
        gathered.add(visits, is_in_flight);
    }

    /// One came by a node.
    pub(super) fn add_to_node(&mut self, id: NodeId, values: &[u64], visits: u64, is_in_flight: bool) {
        let first = self.sums.len() as u64;
        let gathered =
            self.nodes.entry(id.0).or_insert_with(|| Gathered { sum: first, ..Gathered::default() });
        if gathered.sum == first {
            self.sums.extend_from_slice(values);
        } else {
            let sums = &mut self.sums[crate::arena::usize_of(gathered.sum)..][..self.n_roles];
            sums.iter_mut().zip(values).for_each(|(sum, &value)| *sum += value);
        }
        gathered.add(visits, is_in_flight);
    }

    /// Adds what was gathered; to how many edges and nodes.
    ///
    /// # Orderings
    /// Sums first, counts after them with [`Orders::COUNT`]; see [`Count`](crate::count::Count).
    pub(crate) fn flush<S: Eq + Hash, O: Orders>(&mut self, graph: &Graph<S, O>) -> u64 {
        let n_places = self.edges.len() + self.nodes.len();
        for (edge, Gathered { visits, landed, sum }) in self.edges.drain() {
            let edge = graph.edge(edge);
            add(&edge.sum, sum);
            edge.count.finish_some::<O>(visits, landed);
        }
        for (id, Gathered { visits, landed, sum: first }) in self.nodes.drain() {
            let id = NodeId(id);
            let sums = &self.sums[crate::arena::usize_of(first)..][..self.n_roles];
            sums.iter().enumerate().for_each(|(role_idx, &sum)| add(graph.sum(id, role_idx), sum));
            graph.node(id).count.finish_some::<O>(visits, landed);
        }
        self.sums.clear();
        n_places as u64
    }
}
