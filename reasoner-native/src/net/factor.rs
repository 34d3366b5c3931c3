//! Factoring: common inputs of gates that feed one gate are taken out.
//!
//! `(a and b) or (a and c)` is `a and (b or c)`: one gate less, and one input less for each common one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashSet;

use super::{Gates, Signal};

/// The conjunction of `others` and of the complements of conjunctions, `negated_ands`, each of which is only used
/// here. `n_uses` tells, by gate, how much else is made of it.
pub(super) fn factor(
    gates: &mut Gates,
    mut others: Vec<Signal>,
    mut negated_ands: Vec<Vec<Signal>>,
    n_uses: &[u32],
) -> Signal {
    if negated_ands.is_empty() {
        return gates.and(&mut others);
    }
    if !use_others(&mut others, &mut negated_ands) {
        return Signal::FALSE;
    }
    for and in &mut negated_ands {
        and.sort_unstable();
    }
    negated_ands.sort_unstable();
    negated_ands.dedup();
    let mut common = Common::of(negated_ands, n_uses);
    while let Some((signal, places)) = common.take() {
        let rest = |place: u32| {
            common.ands[place as usize].iter().copied().filter(|&other| other != signal).collect()
        };
        let rests = places.into_iter().map(rest).collect();
        let none_of_the_rests = factor(gates, Vec::new(), rests, n_uses);
        others.push(!gates.and(&mut vec![signal, !none_of_the_rests]));
    }
    for mut and in common.left() {
        others.push(!gates.and(&mut and));
    }
    gates.and(&mut others)
}

/// Conjunctions, and what they have in common.
pub(super) struct Common {
    ands: Vec<Vec<Signal>>,
    is_taken: Vec<bool>,
    /// The signals that several have, in ascending order.
    signals: Vec<Signal>,
    /// By such signal: how many have it that are not taken.
    counts: Vec<u32>,
    /// By such signal: where its places begin, and where the last end.
    starts: Vec<u32>,
    /// Conjunctions with each such signal.
    places: Vec<u32>,
    /// Such signals by count, which may have fallen since; of equal ones first those that are used least elsewhere,
    /// so that the rests are of signals that are used much, and other gates can have the same rests.
    order: BinaryHeap<(u32, Reverse<u32>, usize)>,
}

impl Common {
    /// Of conjunctions; `n_uses` tells by gate how much is made of it.
    pub(super) fn of(ands: Vec<Vec<Signal>>, n_uses: &[u32]) -> Common {
        let placed = ands.iter().zip(0u32..).flat_map(|(and, place)| and.iter().map(move |&it| (it, place)));
        let mut placed: Vec<(Signal, u32)> = placed.collect();
        placed.sort_unstable();
        let mut common = Common {
            is_taken: vec![false; ands.len()],
            ands,
            signals: Vec::new(),
            counts: Vec::new(),
            starts: vec![0],
            places: Vec::new(),
            order: BinaryHeap::new(),
        };
        for same in placed.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() >= 2) {
            let signal = same[0].0;
            let n = u32::try_from(same.len()).expect("conjunctions have 32 bits");
            let uses = n_uses.get(signal.gate().idx()).copied().unwrap_or(0);
            common.order.push((n, Reverse(uses), common.signals.len()));
            common.signals.push(signal);
            common.counts.push(n);
            common.places.extend(same.iter().map(|&(_, place)| place));
            common.starts.push(common.starts.last().map_or(0, |&start| start + n));
        }
        common
    }

    /// The signal that most conjunctions have in common, and these; none if each has its own.
    pub(super) fn take(&mut self) -> Option<(Signal, Vec<u32>)> {
        while let Some((known, uses, idx)) = self.order.pop() {
            let count = self.counts[idx];
            if count < 2 {
                continue;
            }
            if count < known {
                self.order.push((count, uses, idx));
                continue;
            }
            let mut places = self.places[self.starts[idx] as usize..self.starts[idx + 1] as usize].to_vec();
            places.retain(|&place| !std::mem::replace(&mut self.is_taken[place as usize], true));
            for other in places.iter().flat_map(|&place| &self.ands[place as usize]) {
                if let Ok(other) = self.signals.binary_search(other) {
                    self.counts[other] -= 1;
                }
            }
            return Some((self.signals[idx], places));
        }
        None
    }

    /// The conjunctions that are not taken.
    fn left(self) -> impl Iterator<Item = Vec<Signal>> {
        self.ands.into_iter().zip(self.is_taken).filter(|(_, is_taken)| !is_taken).map(|(and, _)| and)
    }
}

/// Simplifies the conjunctions by what holds beside them; false if the whole cannot hold.
fn use_others(others: &mut Vec<Signal>, negated_ands: &mut Vec<Vec<Signal>>) -> bool {
    let mut holds: FxHashSet<Signal> = others.iter().copied().collect();
    loop {
        let mut is_changed = false;
        let mut is_possible = true;
        negated_ands.retain_mut(|and| {
            // A conjunction that cannot hold need not be denied.
            if and.iter().any(|&signal| signal == Signal::FALSE || holds.contains(&!signal)) {
                return false;
            }
            let n_before = and.len();
            and.retain(|signal| *signal != Signal::TRUE && !holds.contains(signal));
            is_changed |= and.len() != n_before;
            match and[..] {
                [] => is_possible = false,
                [only] => {
                    is_changed |= holds.insert(!only);
                    others.push(!only);
                }
                _ => return true,
            }
            false
        });
        if !is_possible {
            return false;
        }
        if !is_changed {
            return true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::net;
    use super::*;
    use crate::ground::Budget;

    #[test]
    fn what_is_used_most_elsewhere_is_left_together() {
        // Two disjunctions of six pairs of a move and a fluent of its own; each move and each fluent stands in two.
        let raw = net(6, &[9, 1], |given| {
            let (bases, moves) = (given.bases.clone(), given.moves[0].clone());
            let goal = |own: &[Signal]| {
                let pairs = [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2), (2, 0)];
                let pairs = pairs.map(|(a_move, fluent)| given.and(&[moves[a_move], own[fluent]]));
                given.or(&pairs)
            };
            bases.chunks(3).map(goal).collect()
        });
        let small = super::super::simplify(raw.clone(), &Budget::default()).unwrap();
        // Three pairs of moves for both, and for each three conjunctions and a disjunction.
        assert_eq!(small.work(), 3 * 3 + 2 * (3 * 3 + 4));
        raw.demand_equal(&small, [9, 1]);
    }
}
