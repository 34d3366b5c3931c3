//! The path of a playout, and what becomes of it: its values are added, or it leaves no trace.

use std::hash::Hash;

use crate::count::Tally;
use crate::graph::Graph;
use crate::node::NodeId;
use crate::orders::Orders;
use crate::sync::Ordering;

/// The nodes and edges that a playout has entered, in order.
#[derive(Debug, Default)]
pub(crate) struct Path {
    pub(crate) nodes: Vec<NodeId>,
    /// Edge and choosing role: one for each sequential node left, one per role for each simultaneous one.
    pub(crate) edges: Vec<(u32, u32)>,
    /// A node of the path, moved to its end whenever the path has doubled (Brent 1980): whoever comes back
    /// to it is in a cycle.
    milestone: Option<NodeId>,
    next_milestone: usize,
}

impl Path {
    pub(crate) fn clear(&mut self) {
        self.nodes.clear();
        self.edges.clear();
        self.milestone = None;
        self.next_milestone = 1;
    }

    /// The playout comes to a node; what was there before it.
    pub(crate) fn enter_node<S: Eq + Hash, O: Orders>(&mut self, graph: &Graph<S, O>, id: NodeId) -> Tally {
        self.nodes.push(id);
        graph.node(id).count.enter()
    }

    /// Whether the last node is known to have been passed before. Rules whose states repeat break the law
    /// of GDL that games end; such a path is cut.
    pub(crate) fn has_come_back(&mut self) -> bool {
        let last = self.nodes.last().copied();
        if self.milestone == last {
            return true;
        }
        if self.nodes.len() >= self.next_milestone {
            self.milestone = last;
            self.next_milestone *= 2;
        }
        false
    }

    /// The playout leaves by an edge.
    pub(crate) fn enter_edge<S: Eq + Hash, O: Orders>(
        &mut self,
        graph: &Graph<S, O>,
        edge: u32,
        role_idx: u32,
    ) {
        self.edges.push((edge, role_idx));
        graph.edge(edge).count.enter();
    }

    /// Adds the values of the finished playout, one per role, to everything that it passed, and counts it as
    /// the last node's own unless it ended behind an edge.
    ///
    /// # Orderings
    /// Sums first, counts after them with [`Orders::COUNT`]; see [`Count`](crate::count::Count).
    pub(crate) fn back_up<S: Eq + Hash, O: Orders>(
        &self,
        graph: &Graph<S, O>,
        values: &[u64],
        ends_at_node: bool,
    ) {
        if let (true, Some(&last)) = (ends_at_node, self.nodes.last()) {
            graph.node(last).own.fetch_add(1, Ordering::Relaxed);
        }
        for &(edge, role_idx) in &self.edges {
            let edge = graph.edge(edge);
            add(&edge.sum, values[role_idx as usize]);
            edge.count.finish::<O>();
        }
        for &id in &self.nodes {
            for (role_idx, &value) in values.iter().enumerate() {
                add(graph.sum(id, role_idx), value);
            }
            graph.node(id).count.finish::<O>();
        }
    }

    /// Takes the playout back: nothing is in flight of it any more.
    pub(crate) fn cancel<S: Eq + Hash, O: Orders>(&self, graph: &Graph<S, O>) {
        for &(edge, _) in &self.edges {
            graph.edge(edge).count.leave();
        }
        for &id in &self.nodes {
            graph.node(id).count.leave();
        }
    }
}

/// Half of all goals are 0, and adding nothing still takes the cache line from its owner.
fn add(sum: &crate::sync::AtomicU64, value: u64) {
    if value != 0 {
        sum.fetch_add(value, Ordering::Relaxed);
    }
}
