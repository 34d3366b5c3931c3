//! Backup of `credited`: each edge of the path credits its node with what its child is worth now.

use std::hash::Hash;

use super::{Ending, Path, add};
use crate::credit::{Credit, append, renew};
use crate::graph::Graph;
use crate::node::NodeId;
use crate::orders::Orders;
use crate::scheme::Scheme;

impl Path {
    /// From the end to the root: the last node gets the values, every other one the change of its edge's credit; all
    /// get the visit.
    ///
    /// # Orderings
    /// At each edge the count is taken with [`Orders::CREDIT`] *after* the child got its values, and the child is read
    /// after that. So the largest count of an edge has seen all that earlier ones did to the child.
    pub(super) fn back_up_credit<S: Eq + Hash, O: Orders>(
        &self,
        graph: &Graph<S, O>,
        scheme: &Scheme,
        ending: &Ending<'_>,
    ) {
        for level in (0..self.nodes.len()).rev() {
            let id = self.nodes[level];
            if level < self.steps.len() {
                self.credit(graph, scheme, level, id);
            } else if ending.is_at_node {
                for (role_idx, &value) in self.values_at(level).iter().enumerate() {
                    add(graph.sum(id, role_idx), value);
                }
            }
            graph.node(id).count.finish::<O>(self.weight);
        }
    }

    /// Renews the credit of a step's edge, or of its joint move.
    fn credit<S: Eq + Hash, O: Orders>(
        &self,
        graph: &Graph<S, O>,
        scheme: &Scheme,
        level: usize,
        id: NodeId,
    ) {
        let step = self.steps[level];
        let values = self.values_at(level);
        let passed = self.passed(level);
        let first_edge = passed[0].edge;
        let n = match (step.is_simultaneous, step.joint) {
            (false, _) => Some(graph.edge(first_edge).count.finish_in_order::<O>(self.weight)),
            (true, Some(joint)) => {
                Some(graph.joint_visits(joint).fetch_add(self.weight, O::CREDIT) + self.weight)
            }
            // A joint move without a record is credited with its playouts one by one.
            (true, None) => None,
        };
        for (role_idx, &value) in values.iter().enumerate() {
            let word = match (step.is_simultaneous, step.joint) {
                (false, _) => Some(graph.word(first_edge, graph.layout.credits.first + role_idx)),
                (true, Some(joint)) => Some(graph.joint_credit(joint, role_idx)),
                (true, None) => None,
            };
            let change = match (word, n, self.child_of(level)) {
                (Some(word), Some(n), Some(child)) => {
                    renew::<O>(word, Credit { n, q: worth::<S, O>(graph, scheme, child, role_idx) })
                }
                (Some(word), _, None) => append(word, value, self.weight),
                _ => value,
            };
            add(graph.sum(id, role_idx), change);
            if step.is_simultaneous {
                add(&graph.edge(passed[role_idx].edge).sum, change);
            }
        }
        if step.is_simultaneous {
            passed.iter().for_each(|passed| passed.finish::<O>(graph.edge(passed.edge), self.weight));
        }
    }
}

/// The mean of a node one step earlier, in units.
fn worth<S: Eq + Hash, O: Orders>(graph: &Graph<S, O>, scheme: &Scheme, id: NodeId, role_idx: usize) -> u64 {
    scheme.valuation.before(graph.results(id, role_idx).mean_units(&scheme.valuation), 1)
}
