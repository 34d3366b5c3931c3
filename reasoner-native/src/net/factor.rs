//! Factoring: common inputs of gates that feed one gate are taken out.
//!
//! `(a and b) or (a and c)` is `a and (b or c)`: one gate less, and one input less for each common one.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Gates, Signal};

/// Inputs that are taken out of one gate at most; the rest gains little and costs time.
const MAX_FACTORS: usize = 400;

/// The conjunction of `others` and of the complements of conjunctions, `negated_ands`, each of which is only used
/// here.
pub(super) fn factor(
    gates: &mut Gates,
    mut others: Vec<Signal>,
    mut negated_ands: Vec<Vec<Signal>>,
) -> Signal {
    if !use_others(&mut others, &mut negated_ands) {
        return Signal::FALSE;
    }
    for and in &mut negated_ands {
        and.sort_unstable();
    }
    negated_ands.sort();
    negated_ands.dedup();
    for _ in 0..MAX_FACTORS {
        let Some(common) = most_common(&negated_ands) else { break };
        let (mut with, without): (Vec<_>, Vec<_>) =
            negated_ands.into_iter().partition(|and| and.contains(&common));
        negated_ands = without;
        with.iter_mut().for_each(|and| and.retain(|&signal| signal != common));
        let none_of_the_rests = factor(gates, Vec::new(), with);
        others.push(!gates.and(&mut vec![common, !none_of_the_rests]));
    }
    for mut and in negated_ands {
        others.push(!gates.and(&mut and));
    }
    gates.and(&mut others)
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

/// The signal that most conjunctions have in common; none if each has its own.
fn most_common(ands: &[Vec<Signal>]) -> Option<Signal> {
    let mut counts: FxHashMap<Signal, u32> = FxHashMap::default();
    for &signal in ands.iter().flatten() {
        *counts.entry(signal).or_default() += 1;
    }
    let best = counts.into_iter().filter(|&(_, n)| n >= 2).max_by_key(|&(signal, n)| (n, signal));
    best.map(|(signal, _)| signal)
}
