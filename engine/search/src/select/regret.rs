//! Regret matching in simultaneous positions: each role plays its moves in proportion to how much it regrets not
//! having played them (Hart and Mas-Colell 2000), estimated from the playouts it made.

use std::hash::Hash;
use std::ops::Range;

use reasoner::Dice;

use crate::graph::Graph;
use crate::orders::Orders;
use crate::sync::Ordering;

/// The share of uniform choices, without which a move that did badly once is never tried again.
const EXPLORATION: f64 = 0.1;

/// Regrets are kept in this many steps of the largest value, so that 2^38 playouts of 100 moves fit 63 bits.
const STEPS: f64 = 25_600.0;

/// Chooses among a role's edges; the index and the probability that it had.
pub(crate) fn choose_by_regret<S: Eq + Hash, O: Orders>(
    graph: &Graph<S, O>,
    edges: Range<u32>,
    dice: &mut Dice,
) -> (usize, f64) {
    let n_edges = edges.len();
    let positive = |edge: u32| {
        (graph.word(edge, graph.layout.regret.first).load(Ordering::Relaxed).cast_signed()).max(0) as f64
    };
    let total: f64 = edges.clone().map(positive).sum();
    let uniform = 1.0 / n_edges as f64;
    let chance = |edge: u32| {
        let share = if total > 0.0 { positive(edge) / total } else { uniform };
        (1.0 - EXPLORATION) * share + EXPLORATION * uniform
    };
    let mut left = dice.unit();
    let mut chosen = (0, uniform);
    for (idx, edge) in edges.enumerate() {
        chosen = (idx, chance(edge));
        left -= chosen.1;
        if left < 0.0 {
            break;
        }
    }
    chosen
}

/// What a role learns from one playout.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Regrets {
    /// The edge that it chose, by id.
    pub(crate) chosen: u32,
    /// The probability that it had.
    pub(crate) chance: f64,
    /// The value it led to, as a share of the largest.
    pub(crate) value: f64,
}

impl Regrets {
    /// Adds to the regret of each of the role's edges what the edge would have been worth more than what was made.
    /// The chosen edge's value over its probability, and nothing for the others, is an unbiased estimate of that.
    #[allow(clippy::cast_possible_truncation, reason = "bounded by STEPS over the smallest probability")]
    pub(crate) fn add<S: Eq + Hash, O: Orders>(self, graph: &Graph<S, O>, edges: Range<u32>) {
        for edge in edges {
            let worth = if edge == self.chosen { self.value / self.chance } else { 0.0 };
            let regret = ((worth - self.value) * STEPS).round() as i64;
            graph.word(edge, graph.layout.regret.first).fetch_add(regret.cast_unsigned(), Ordering::Relaxed);
        }
    }
}
