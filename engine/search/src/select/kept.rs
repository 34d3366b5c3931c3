//! What is known of the moves of nodes that many descents of a batch come by, kept until the batch is played out.
//!
//! In go the columns of a node that has much of the root's playouts; out comes the move of the next descent of the same batch there,
//! without a look at the graph: only what this thread sends on its way has changed since, but for what other threads do. Why: the
//! children of nodes near the root are written by every playout of every thread, so reading them all again costs a cache miss
//! each, on many cores far more than the arithmetic; and nothing of it is finished before the batch is.

use rustc_hash::FxHashMap;

use super::columns::Numbers;
use super::first_of_best;
use crate::node::NodeId;

/// A node is kept if one in so many of the root's playouts came by, so that a batch of 64 leaves does so twice.
const SHARE: u64 = 32;

/// The moves of a node.
#[derive(Debug, Default)]
struct Moves {
    /// What is thought of each.
    means: Vec<f64>,
    /// Playouts of each, with those in flight.
    totals: Vec<f64>,
    /// One by their square roots.
    widths: Vec<f64>,
    n_parent: u64,
}

/// By node, its moves.
#[derive(Debug, Default)]
pub(super) struct Kept {
    places: FxHashMap<u32, usize>,
    /// Those of earlier batches stay behind them, for their memory.
    moves: Vec<Moves>,
    bounds: Vec<f64>,
    /// Playouts of the first node that was kept: the root, unless it has moves that were not tried.
    n_first: u64,
    /// Whether the descent under way has not yet left the nodes that are kept.
    is_among_them: bool,
}

impl Kept {
    /// A batch begins: nothing is kept.
    pub(super) fn begin_batch(&mut self) {
        self.places.clear();
        self.n_first = 0;
    }

    /// A descent begins.
    pub(super) fn begin_descent(&mut self) {
        self.is_among_them = true;
    }

    /// The move to try in a node that is kept, which a playout of so many visits makes; `exploration` is C.
    pub(super) fn choose(&mut self, id: NodeId, exploration: f64, weight: u64) -> Option<usize> {
        if !self.is_among_them {
            return None;
        }
        let Some(&place) = self.places.get(&id.0) else {
            self.is_among_them = false;
            return None;
        };
        let moves = &mut self.moves[place];
        let numerator = exploration * (moves.n_parent.max(1) as f64).ln().sqrt();
        self.bounds.clear();
        self.bounds
            .extend(moves.means.iter().zip(&moves.widths).map(|(mean, width)| mean + numerator * width));
        let chosen = first_of_best(&self.bounds);
        moves.enter(chosen, weight);
        Some(chosen)
    }

    /// Keeps a node, in which a playout of so many visits chose a move, if that is worth it. `mean` tells what is thought of a move.
    pub(super) fn note(
        &mut self,
        id: NodeId,
        numbers: &Numbers,
        mean: impl Fn(usize) -> f64,
        chosen: usize,
        weight: u64,
    ) {
        if self.places.is_empty() {
            self.n_first = numbers.n_parent;
        } else if numbers.n_parent.saturating_mul(SHARE) < self.n_first {
            return;
        }
        let place = self.places.len();
        if self.moves.len() == place {
            self.moves.push(Moves::default());
        }
        let moves = &mut self.moves[place];
        let totals = &numbers.totals;
        moves.means.clear();
        moves.means.extend((0..totals.len()).map(mean));
        moves.totals.clone_from(totals);
        moves.widths.clear();
        moves.widths.extend(totals.iter().map(|total| 1.0 / total.max(1.0).sqrt()));
        moves.n_parent = numbers.n_parent;
        moves.enter(chosen, weight);
        self.places.insert(id.0, place);
        self.is_among_them = true;
    }
}

impl Moves {
    fn enter(&mut self, chosen: usize, weight: u64) {
        let total = &mut self.totals[chosen];
        *total += weight.cast_signed() as f64;
        self.widths[chosen] = 1.0 / total.max(1.0).sqrt();
        self.n_parent += weight;
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    const ROOT: NodeId = NodeId(7);

    /// Moves of these means with eight visits each.
    fn numbers(means: &[f64]) -> Numbers {
        let eight = vec![8.0; means.len()];
        let sums = means.iter().map(|mean| 8.0 * mean).collect();
        Numbers { sums, visits: eight.clone(), totals: eight, n_parent: 8 * means.len() as u64 }
    }

    fn note(kept: &mut Kept, id: NodeId, numbers: &Numbers, chosen: usize) {
        kept.note(id, numbers, |idx| numbers.sums[idx] / numbers.visits[idx], chosen, 8);
    }

    #[test]
    fn what_is_sent_on_its_way_makes_a_move_less_of_a_choice() {
        let mut kept = Kept::default();
        kept.begin_batch();
        kept.begin_descent();
        assert_eq!(kept.choose(ROOT, 40.0, 8), None, "nothing is kept yet");
        note(&mut kept, ROOT, &numbers(&[50.0, 50.0, 50.0]), 0);
        let chosen: Vec<_> = (0..5).map(|_| kept.choose(ROOT, 40.0, 8)).collect();
        assert_eq!(chosen, [1, 2, 0, 1, 2].map(Some));
        kept.begin_batch();
        kept.begin_descent();
        assert_eq!(kept.choose(ROOT, 40.0, 8), None, "a batch later");
    }

    #[test]
    fn bounds_are_those_of_ucb1() {
        let (means, exploration) = ([30.0, 55.0, 52.0], 10.0);
        let mut kept = Kept::default();
        kept.begin_descent();
        note(&mut kept, ROOT, &numbers(&means), 1);
        let mut totals = [8.0, 16.0, 8.0];
        for _ in 0..50 {
            let n_parent: f64 = totals.iter().sum();
            let bound = |idx: usize| means[idx] + exploration * (n_parent.ln() / totals[idx]).sqrt();
            let best = (0..3).max_by(|&a, &b| bound(a).total_cmp(&bound(b))).expect("moves");
            let chosen = kept.choose(ROOT, exploration, 8).expect("it is kept");
            assert!(bound(best) - bound(chosen) < super::super::TIE, "{chosen} and not {best} of {totals:?}");
            totals[chosen] += 8.0;
        }
    }

    #[test]
    fn only_what_many_playouts_come_by_is_kept() {
        let mut kept = Kept::default();
        kept.begin_descent();
        note(&mut kept, ROOT, &Numbers { n_parent: 3200, ..numbers(&[1.0, 2.0]) }, 0);
        note(&mut kept, NodeId(8), &Numbers { n_parent: 99, ..numbers(&[1.0, 2.0]) }, 0);
        note(&mut kept, NodeId(9), &Numbers { n_parent: 100, ..numbers(&[1.0, 2.0]) }, 0);
        assert!(kept.choose(ROOT, 1.0, 8).is_some() && kept.choose(NodeId(9), 1.0, 8).is_some());
        assert_eq!(kept.choose(NodeId(8), 1.0, 8), None);
        assert_eq!(kept.choose(ROOT, 1.0, 8), None, "the descent has left what is kept");
    }
}
