//! What is proven where several roles choose at once.
//!
//! Each role has at least its pure maximin, whatever the others do, and at most what some joint move leads to. Where two
//! roles' values always sum up to the same, what one is sure of is more than the other can have. That may leave a gap: of
//! matching pennies, worth 50 to both, nothing is proven but 0 to 100.

use std::hash::Hash;

use super::{Interval, Solver};
use crate::edge::Child;
use crate::graph::Graph;
use crate::node::{NodeId, Opening};
use crate::orders::Orders;

/// Positions with more joint moves are left alone: they are looked through whenever a value below one of them changes.
const MAX_JOINT_MOVES: usize = 1024;

/// All joint moves of a simultaneous position, as choices among the edges of the node.
#[derive(Debug)]
pub(crate) struct JointMoves {
    /// Where each role's edges begin and end.
    ranges: Vec<(u32, u32)>,
    next: Option<Vec<u32>>,
}

impl JointMoves {
    /// Of a node that is open; none if they are too many.
    pub(crate) fn of<S: Eq + Hash, O: Orders>(graph: &Graph<S, O>, opening: Opening) -> Option<JointMoves> {
        let mut n_joint_moves = 1usize;
        let mut ranges = Vec::with_capacity(graph.n_roles);
        for role_idx in 0..graph.n_roles {
            let range = graph.edge_range(opening, role_idx);
            n_joint_moves = n_joint_moves.checked_mul(range.len()).filter(|&n| n <= MAX_JOINT_MOVES)?;
            ranges.push((crate::arena::u32_of(range.start), crate::arena::u32_of(range.end)));
        }
        let next = (n_joint_moves > 0).then(|| ranges.iter().map(|&(start, _)| start).collect());
        Some(JointMoves { ranges, next })
    }
}

impl Iterator for JointMoves {
    type Item = Vec<u32>;

    fn next(&mut self) -> Option<Vec<u32>> {
        let choices = self.next.take()?;
        let mut after = choices.clone();
        for (choice, &(start, end)) in after.iter_mut().zip(&self.ranges) {
            *choice += 1;
            if *choice < end {
                self.next = Some(after);
                break;
            }
            *choice = start;
        }
        Some(choices)
    }
}

/// What is proven of each move of each role, over all that the others may do, by edge of the node.
#[derive(Debug)]
pub(crate) struct MovesOfAll {
    pub(crate) intervals: Vec<Interval>,
    /// What two roles' ranks sum up to after every joint move, if all is known and that is so.
    sum: Option<u64>,
    /// The most joint moves to an end that is known.
    distance: Option<u64>,
}

impl Solver {
    /// What is known behind each joint move, move by move; none if they are too many.
    pub(crate) fn moves_of_all<S: Eq + Hash, O: Orders>(
        &self,
        graph: &Graph<S, O>,
        id: NodeId,
        opening: Opening,
    ) -> Option<MovesOfAll> {
        let layout = self.layout;
        let mut intervals = vec![Interval { lo: layout.most, hi: 0 }; opening.n_edges as usize];
        let mut distance = None;
        let mut sums = (u64::MAX, 0);
        for choices in JointMoves::of(graph, opening)? {
            let word = word_behind(graph, id, &choices);
            for (role_idx, &choice) in choices.iter().enumerate() {
                let here = layout.interval(word, role_idx);
                let of_move = &mut intervals[choice as usize];
                *of_move = Interval { lo: of_move.lo.min(here.lo), hi: of_move.hi.max(here.hi) };
            }
            distance = distance.max(layout.distance(word));
            let sum = match layout.is_exact(word) && graph.n_roles == 2 {
                true => layout.interval(word, 0).lo + layout.interval(word, 1).lo,
                // No sum that could be.
                false => u64::MAX,
            };
            sums = (sums.0.min(sum), sums.1.max(sum));
        }
        let sum = (sums.0 == sums.1 && sums.1 != u64::MAX).then_some(sums.0);
        Some(MovesOfAll { intervals, sum: self.sum.or(sum), distance })
    }

    /// What is proven of a simultaneous node.
    pub(super) fn of_joint_moves<S: Eq + Hash, O: Orders>(
        &self,
        graph: &Graph<S, O>,
        id: NodeId,
        opening: Opening,
    ) -> u64 {
        let Some(moves) = self.moves_of_all(graph, id, opening) else { return 0 };
        let layout = self.layout;
        let mut proven = 0;
        for role_idx in 0..layout.n_bounded {
            let of_role = &moves.intervals[graph.edge_range(opening, role_idx)];
            let lo = of_role.iter().map(|it| it.lo).max().unwrap_or(0);
            let hi = of_role.iter().map(|it| it.hi).max().unwrap_or(layout.most);
            proven = layout.with(proven, role_idx, Interval { lo, hi });
        }
        proven = self.balance(proven, moves.sum);
        match moves.distance.filter(|_| layout.is_exact(proven)) {
            Some(distance) => layout.with_distance(proven, distance + 1),
            None => proven,
        }
    }

    /// Of the joint moves of a simultaneous node, those behind which not every value is known; none if they are too many.
    pub(crate) fn unproven_joint_moves<S: Eq + Hash, O: Orders>(
        &self,
        graph: &Graph<S, O>,
        id: NodeId,
        opening: Opening,
    ) -> Vec<Vec<u32>> {
        let all = JointMoves::of(graph, opening).into_iter().flatten();
        all.filter(|choices| !self.layout.is_exact(word_behind(graph, id, choices))).collect()
    }
}

/// What is proven behind a joint move; 0 if it was not made.
fn word_behind<S: Eq + Hash, O: Orders>(graph: &Graph<S, O>, id: NodeId, choices: &[u32]) -> u64 {
    match graph.find_joint(id, choices).map(|joint| graph.joint(joint).child()) {
        Some(Child::Node(child)) => graph.bounds(child),
        Some(Child::None | Child::Broken) | None => 0,
    }
}
