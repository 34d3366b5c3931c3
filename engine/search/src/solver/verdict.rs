//! What proofs say of each move of a role in one node, for whoever chooses there.

use std::hash::Hash;

use super::{Interval, Solver};
use crate::edge::Child;
use crate::graph::Graph;
use crate::node::NodeId;
use crate::orders::Orders;

/// What is proven of one move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) interval: Interval,
    /// Joint moves to the end, this one included, where an end is known.
    pub(crate) distance: Option<u64>,
}

/// What is proven of each of a role's moves in an open node, in the order of its edges; none where nothing is computed.
pub(crate) fn verdicts<S: Eq + Hash, O: Orders>(
    solver: &Solver,
    graph: &Graph<S, O>,
    id: NodeId,
    role_idx: usize,
) -> Option<Vec<Verdict>> {
    let opening = graph.node(id).opening();
    if role_idx >= solver.layout.n_bounded {
        return None;
    }
    if opening.mover.is_none() {
        let moves = solver.moves_of_all(graph, id, opening)?;
        let own = &moves.intervals[graph.edge_range(opening, role_idx)];
        return Some(own.iter().map(|&interval| Verdict { interval, distance: None }).collect());
    }
    let words = graph.edges_of(opening).iter().map(|edge| match edge.child::<O>() {
        Child::Node(child) => graph.bounds(child),
        Child::None | Child::Broken => 0,
    });
    Some(
        words
            .map(|word| Verdict {
                interval: solver.layout.interval(word, role_idx),
                distance: solver.layout.distance(word).map(|distance| distance + 1),
            })
            .collect(),
    )
}
