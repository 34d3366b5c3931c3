//! Backup of `update-all`: a playout is added to every edge and node above its end, each once (Saffidine, Cazenave
//! and Méhat 2012, section 3.2). The paper shows why that is not a good idea, and so does a test.

use std::hash::Hash;

use rustc_hash::FxHashSet;

use super::{Path, add};
use crate::graph::Graph;
use crate::node::NodeId;
use crate::orders::Orders;
use crate::parents::Way;

impl Path {
    /// Adds the values along the path and to all other ways to its end. No lock: a way that is made meanwhile is seen
    /// or not, and every addition is one by itself.
    pub(super) fn back_up_to_all<S: Eq + Hash, O: Orders>(&self, graph: &Graph<S, O>) {
        let mut done: FxHashSet<u32> = FxHashSet::default();
        for step_idx in 0..self.steps.len() {
            for passed in self.passed(step_idx) {
                let edge = graph.edge(passed.edge);
                add(&edge.sum, self.values_at(step_idx)[passed.role as usize]);
                passed.finish::<O>(edge, self.weight);
                done.insert(passed.edge);
            }
        }
        for (level, &id) in self.nodes.iter().enumerate() {
            add_to_node(graph, id, self.values_at(level));
            graph.node(id).count.finish::<O>(self.weight);
        }
        let Some(parents) = &graph.parents else { return };
        let on_path: FxHashSet<NodeId> = self.nodes.iter().copied().collect();
        // Level by level, so that a discount has its steps: the nearest way counts.
        let last = self.nodes.len() - 1;
        let mut level = vec![self.nodes[last]];
        let mut reached: FxHashSet<NodeId> = level.iter().copied().collect();
        let mut n_above = 0;
        while !level.is_empty() {
            n_above += 1;
            let values = self.values_at(last.saturating_sub(n_above));
            let mut above = Vec::new();
            for (origin, way) in level.iter().flat_map(|&child| parents.of(graph, child)) {
                Path::add_to_way(graph, origin, way, (values, self.weight), &mut done);
                if reached.insert(origin) {
                    above.push(origin);
                    if !on_path.contains(&origin) {
                        add_to_node(graph, origin, values);
                        graph.node(origin).count.add::<O>(self.weight);
                    }
                }
            }
            level = above;
        }
    }

    fn add_to_way<S: Eq + Hash, O: Orders>(
        graph: &Graph<S, O>,
        origin: NodeId,
        way: Way,
        (values, weight): (&[u64], u64),
        done: &mut FxHashSet<u32>,
    ) {
        let mut add_to_edge = |edge: u32, role_idx: usize| {
            if done.insert(edge) {
                add(&graph.edge(edge).sum, values[role_idx]);
                graph.edge(edge).count.add::<O>(weight);
            }
        };
        match way {
            Way::Edge(edge) => add_to_edge(edge, graph.node(origin).opening().mover.unwrap_or(0) as usize),
            Way::Joint(joint) => graph
                .edges_of_joint(joint)
                .enumerate()
                .for_each(|(role_idx, edge)| add_to_edge(edge, role_idx)),
        }
    }
}

fn add_to_node<S: Eq + Hash, O: Orders>(graph: &Graph<S, O>, id: NodeId, values: &[u64]) {
    for (role_idx, &value) in values.iter().enumerate() {
        add(graph.sum(id, role_idx), value);
    }
}
