//! Extraction: inputs that several gates have in common become a gate of their own.
//!
//! What gates have in common is looked for three ways, each of which finds what the others miss: signals that are
//! used by the same gates (*classes*), pairs of signals by how many gates have both (Brayton, Rudell,
//! Sangiovanni-Vincentelli and Wang 1987, "MIS", common cubes of two literals), and large sets of signals that two gates
//! have in common (*overlaps*).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Signal;
use super::rows::Rows;
use crate::ground::{Budget, GroundError};

/// Neighbours of an input that it is paired with, at most; inputs are sorted, and what belongs together has
/// names that stand near each other.
const MAX_NEIGHBOURS: usize = 16;
/// At least, where there would be too many pairs.
const MIN_NEIGHBOURS: usize = 3;
/// Pairs that are counted, about: some tenths of a second.
const MAX_PAIRS: usize = 4_000_000;
/// Gates that must have a pair for a new gate of it to be worth its own inputs and itself.
const MIN_USES: u32 = 4;
/// Gates of a signal beyond which it is not looked at for what two gates have in common.
const MAX_GATES: usize = 200;

impl Rows {
    /// Extracts what is worth a gate.
    pub(super) fn extract(&mut self, budget: &Budget) -> Result<(), GroundError> {
        self.extract_classes();
        budget.check(0)?;
        self.extract_pairs(budget)?;
        self.extract_overlaps();
        self.extract_classes();
        budget.check(0)
    }

    /// Signals that are used by the same gates become one.
    fn extract_classes(&mut self) {
        let mut classes: FxHashMap<Vec<u32>, Vec<Signal>> = FxHashMap::default();
        for signal in (0..self.with.len()).map(Signal::at) {
            let users = self.users(signal);
            if users.len() >= 2 {
                classes.entry(users).or_default().push(signal);
            }
        }
        let mut classes: Vec<_> = classes.into_iter().filter(|(_, signals)| signals.len() >= 2).collect();
        classes.sort_unstable();
        for (users, signals) in classes {
            if self.gain(&signals, &users) > 0 {
                self.replace(&signals, &users);
            }
        }
    }

    /// Pairs of signals, those that most gates have first.
    fn extract_pairs(&mut self, budget: &Budget) -> Result<(), GroundError> {
        let n_neighbours = (MAX_PAIRS / (1 + self.n_inputs())).clamp(MIN_NEIGHBOURS, MAX_NEIGHBOURS);
        let mut counts: FxHashMap<(Signal, Signal), u32> = FxHashMap::default();
        for row in &self.rows {
            for (idx, &a) in row.iter().enumerate() {
                for &b in row[idx + 1..].iter().take(n_neighbours) {
                    *counts.entry((a, b)).or_default() += 1;
                }
            }
        }
        let gates = self.rows.iter().filter_map(|row| if let [a, b] = row[..] { Some((a, b)) } else { None });
        let gates: FxHashSet<(Signal, Signal)> = gates.collect();
        let is_worth = |pair: &(Signal, Signal), n: u32| n >= MIN_USES || n >= 2 && gates.contains(pair);
        counts.retain(|pair, n| is_worth(pair, *n));
        let mut order: BinaryHeap<(u32, Reverse<(Signal, Signal)>)> =
            counts.into_iter().map(|(pair, n)| (n, Reverse(pair))).collect();
        let mut n_done = 0;
        while let Some((known, Reverse((a, b)))) = order.pop() {
            let steps = self.with[a.idx()].len().min(self.with[b.idx()].len());
            if !self.spend(steps) {
                break;
            }
            n_done += 1;
            if n_done % 0x400 == 0 {
                budget.check(0)?;
            }
            let users = self.users_of_both(a, b);
            let count = u32::try_from(users.len()).expect("rows have 32 bits");
            if count < known && count >= 2 && order.peek().is_some_and(|&(next, _)| count < next) {
                order.push((count, Reverse((a, b))));
                continue;
            }
            if users.len() < 2 || self.gain(&[a, b], &users) <= 0 {
                continue;
            }
            let both = self.replace(&[a, b], &users);
            let mut counts: FxHashMap<Signal, u32> = FxHashMap::default();
            for &user in &users {
                let row = &self.rows[user as usize];
                for &other in row.iter().filter(|&&other| other != both).take(n_neighbours) {
                    *counts.entry(other).or_default() += 1;
                }
            }
            let pairs = counts.into_iter().map(|(other, n)| (n, (both.min(other), both.max(other))));
            let pairs = pairs.filter(|(n, pair)| is_worth(pair, *n));
            order.extend(pairs.map(|(n, pair)| (n, Reverse(pair))));
        }
        Ok(())
    }

    /// What a gate has in common with the one that has most in common with it.
    fn extract_overlaps(&mut self) {
        let mut order: Vec<u32> = (0..u32::try_from(self.rows.len()).expect("rows have 32 bits")).collect();
        order.retain(|&row| self.rows[row as usize].len() >= 3);
        order.sort_by_key(|&row| Reverse(self.rows[row as usize].len()));
        for row in order {
            while self.extract_overlap(row) {}
        }
    }

    fn extract_overlap(&mut self, row: u32) -> bool {
        let mut counts: FxHashMap<u32, u32> = FxHashMap::default();
        let mut steps = 0;
        for signal in &self.rows[row as usize] {
            let with = &self.with[signal.idx()];
            if with.len() <= MAX_GATES {
                steps += with.len();
                with.iter().for_each(|&other| *counts.entry(other).or_default() += 1);
            }
        }
        counts.remove(&row);
        let best = counts.into_iter().max_by_key(|&(other, n)| (n, Reverse(other)));
        let Some((other, n)) = best.filter(|_| self.spend(steps)) else { return false };
        if n < 2 {
            return false;
        }
        let has = |signal: &Signal| self.rows[other as usize].binary_search(signal).is_ok();
        let common: Vec<Signal> = self.rows[row as usize].iter().copied().filter(has).collect();
        if common.len() < 2 {
            return false;
        }
        let users = [row, other];
        self.gain(&common, &users) > 0 && {
            self.replace(&common, &users);
            true
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Net;
    use super::super::rebuild::changed;
    use super::super::testing::net;
    use super::*;

    /// The conjunctions of fluents, as goals.
    fn conjunctions(n_bases: usize, of: &[&[usize]]) -> Net {
        net(n_bases, &[1, 1], |given| {
            let all = of.iter().map(|of| of.iter().map(|&base| given.bases[base]).collect::<Vec<_>>());
            all.collect::<Vec<_>>().iter().map(|all| given.and(all)).collect()
        })
    }

    fn demand_work(raw: &Net, work: usize) {
        let budget = Budget::default();
        let small = changed(raw, &budget, |rows| rows.extract(&budget)).unwrap();
        assert_eq!(small.work(), work);
        raw.demand_equal(&small, [1, 1]);
    }

    #[test]
    fn a_pair_that_four_gates_have_becomes_a_gate() {
        // The pair's inputs have other gates too, so that they are no class.
        let raw = conjunctions(8, &[&[0, 1, 2], &[0, 1, 3], &[0, 1, 4], &[0, 1, 5], &[0, 6, 7], &[1, 5, 6]]);
        demand_work(&raw, raw.work() - 1);
    }

    #[test]
    fn a_gate_stands_for_its_inputs_in_others() {
        let raw = conjunctions(6, &[&[0, 1], &[0, 1, 2], &[0, 3, 4], &[1, 3, 5]]);
        demand_work(&raw, raw.work() - 1);
    }

    #[test]
    fn what_the_same_gates_use_becomes_one() {
        let raw = conjunctions(6, &[&[0, 1, 2, 3, 4], &[0, 1, 2, 3, 5]]);
        demand_work(&raw, raw.work() - 1);
    }

    #[test]
    fn what_two_gates_have_in_common_becomes_one_though_others_use_parts_of_it() {
        let raw = conjunctions(
            10,
            &[
                &[0, 1, 2, 3, 4, 8],
                &[0, 1, 2, 3, 4, 9],
                &[0, 5, 6],
                &[1, 5, 7],
                &[2, 6, 7],
                &[3, 5, 8],
                &[4, 6, 9],
            ],
        );
        demand_work(&raw, raw.work() - 2);
    }
}
