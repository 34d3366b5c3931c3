//! What each move was worth wherever it was made (Finnsson and Björnsson 2008, "Choosing among unexplored
//! actions"; later called MAST).

use reasoner::{Lot, Move, Policy, Role};

use crate::sync::{AtomicU64, Ordering};
use crate::table::spread;

/// Moves that fit at most, of all roles together; those that come later stay unknown. Published games have up to some
/// ten thousand; the table takes 3 MiB.
const MAX_SLOTS: usize = 1 << 17;

/// How far a move may lie from its first slot.
const MAX_PROBES: usize = 32;

/// Steps that a table of weights divides the range of values into.
const N_WEIGHTS: usize = 1024;

#[derive(Debug, Default)]
struct Slot {
    /// Role and move plus one in 32 bits each; 0 if the slot is free.
    key: AtomicU64,
    n: AtomicU64,
    sum: AtomicU64,
}

/// The mean value of every move of every role, over all playouts in which it was made.
///
/// # Orderings
/// All `Relaxed`: the numbers guide choices, and one without the other is as good as both a moment later.
#[derive(Debug)]
pub(crate) struct History {
    slots: Box<[Slot]>,
    /// exp(Q / tau) by the value Q in steps of the range, scaled so that the largest is 1.
    weights: Box<[f64]>,
    /// The largest value.
    full: u64,
}

impl History {
    /// For values up to `full`, which are `max_goal` goal points, and the temperature `tau` in goal points.
    ///
    /// It takes at most a 32nd of `max_bytes`.
    pub(crate) fn new(full: u64, max_goal: f64, tau: f64, max_bytes: usize) -> History {
        let n_slots = (max_bytes / 32 / size_of::<Slot>()).clamp(MAX_PROBES, MAX_SLOTS);
        let weight = |step: usize| ((step as f64 / N_WEIGHTS as f64 - 1.0) * max_goal / tau).exp();
        History {
            slots: (0..n_slots).map(|_| Slot::default()).collect(),
            // Never 0, so that something can be chosen whatever tau is.
            weights: (0..=N_WEIGHTS).map(|step| weight(step).max(f64::MIN_POSITIVE)).collect(),
            full,
        }
    }

    /// Bytes that it takes.
    pub(crate) fn bytes(&self) -> u64 {
        (self.slots.len() * size_of::<Slot>()) as u64
    }

    fn slot(&self, role_idx: usize, a_move: Move, may_insert: bool) -> Option<&Slot> {
        let key = (role_idx as u64) << 32 | (u64::from(a_move.0) + 1);
        let home = crate::arena::usize_of(spread(key));
        for step in 0..MAX_PROBES {
            let slot = &self.slots[(home + step) % self.slots.len()];
            let mut held = slot.key.load(Ordering::Relaxed);
            if held == 0 {
                if !may_insert {
                    return None;
                }
                held = match slot.key.compare_exchange(0, key, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => key,
                    Err(others) => others,
                };
            }
            if held == key {
                return Some(slot);
            }
        }
        None
    }

    /// A playout in which the role made the move had this value.
    pub(crate) fn add(&self, role_idx: usize, a_move: Move, value: u64) {
        if let Some(slot) = self.slot(role_idx, a_move, true) {
            slot.sum.fetch_add(value, Ordering::Relaxed);
            slot.n.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The weight of a move in Gibbs sampling; a move never made counts as the best there can be.
    fn weight(&self, role_idx: usize, a_move: Move) -> f64 {
        let Some(slot) = self.slot(role_idx, a_move, false) else { return self.weights[N_WEIGHTS] };
        let n = slot.n.load(Ordering::Relaxed);
        if n == 0 {
            return self.weights[N_WEIGHTS];
        }
        let mean = slot.sum.load(Ordering::Relaxed) / n;
        let step = mean * N_WEIGHTS as u64 / self.full.max(1);
        self.weights[crate::arena::usize_of(step).min(N_WEIGHTS)]
    }

    /// Chooses one of the moves with probability in proportion to exp(Q / tau); `unit` is uniform in [0, 1).
    ///
    /// # Panics
    /// In debug builds, if there is no move.
    pub(crate) fn choose(
        &self,
        role_idx: usize,
        moves: impl Iterator<Item = Move> + Clone,
        unit: f64,
    ) -> usize {
        let total: f64 = moves.clone().map(|a_move| self.weight(role_idx, a_move)).sum();
        let mut left = unit * total;
        let mut last = 0;
        for (idx, a_move) in moves.enumerate() {
            last = idx;
            left -= self.weight(role_idx, a_move);
            if left < 0.0 {
                break;
            }
        }
        last
    }
}

/// Rollouts that choose by the history.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gibbs<'a>(pub(crate) &'a History);

impl Policy for Gibbs<'_> {
    fn choose(&mut self, role: Role, legal: &[Move], lot: Lot) -> usize {
        if legal.len() == 1 {
            return 0;
        }
        self.0.choose(role.idx(), legal.iter().copied(), lot.dice().unit())
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn moves_are_chosen_in_proportion_to_their_weights() {
        let history = History::new(1000, 100.0, 10.0, 1 << 20);
        // Means of 50 and 40, and a move never made, which counts as 100.
        for value in [600, 400] {
            history.add(0, Move(1), value);
        }
        history.add(0, Move(2), 400);
        history.add(1, Move(3), 0);
        let moves = [Move(1), Move(2), Move(3)];
        let mut counts = [0u32; 3];
        for i in 0..10_000 {
            counts[history.choose(0, moves.iter().copied(), f64::from(i) / 10_000.0)] += 1;
        }
        let weights = [5f64.exp(), 4f64.exp(), 10f64.exp()];
        let total: f64 = weights.iter().sum();
        for (count, weight) in counts.iter().zip(weights) {
            assert!((f64::from(*count) / 10_000.0 - weight / total).abs() < 0.001, "{counts:?}");
        }
    }

    #[test]
    fn more_moves_than_fit_do_no_harm() {
        let history = History::new(1000, 100.0, 10.0, 1 << 20);
        for id in 0..300_000 {
            history.add(0, Move(id), 10);
        }
        assert!(history.choose(0, (0..5).map(Move), 0.999) < 5);
    }
}
