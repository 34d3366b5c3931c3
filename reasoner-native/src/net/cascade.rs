//! From outputs to inputs: what is used by the same gates becomes one, and these gates are factored in turn.
//!
//! Where rules count, each number is a gate made of those of the number before, and in the end most numbers mean the
//! same: a side has won. Numbers that all the same gates use need not be told apart, thus neither need those they
//! are made of, and so on down to the first; what is left has the size of what the goals tell apart.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::factor::Common;
use super::rows::Rows;
use super::{GateId, Signal};
use crate::ground::{Budget, GroundError};

struct Cascade<'a> {
    rows: &'a mut Rows,
    /// By gate: the inputs and roots that it is.
    n_uses: Vec<u32>,
    /// By gate: the inputs of gates that are not final that it is.
    n_pending: Vec<u32>,
    /// Gates whose users are all final.
    ready: Vec<GateId>,
}

impl Rows {
    /// Merges and factors, from gates that only roots use on.
    ///
    /// # Errors
    /// If the budget is used up.
    pub(super) fn cascade(&mut self, budget: &Budget) -> Result<(), GroundError> {
        let mut n_pending = vec![0; self.len()];
        self.rows.iter().flatten().for_each(|signal| n_pending[signal.gate().idx()] += 1);
        let n_uses = n_pending.iter().zip(&self.n_roots).map(|(pending, roots)| pending + roots).collect();
        let is_first = |gate: &GateId| n_pending[gate.idx()] == 0 && !self.row(*gate).is_empty();
        let ready = self.ids().filter(is_first).collect();
        let mut cascade = Cascade { rows: self, n_uses, n_pending, ready };
        let mut n_done = 0u32;
        while let Some(gate) = cascade.ready.pop() {
            n_done = n_done.wrapping_add(1);
            if n_done.is_multiple_of(0x400) {
                budget.check(0)?;
            }
            cascade.flatten(gate);
            cascade.factor(gate);
            cascade.finish(gate);
        }
        Ok(())
    }
}

impl Cascade<'_> {
    /// Whether a signal is an And, or the complement of one, that one gate uses.
    fn is_inner(&self, signal: Signal) -> bool {
        self.n_uses[signal.gate().idx()] == 1 && !self.rows.row(signal.gate()).is_empty()
    }

    fn count(&mut self, signal: Signal) {
        self.n_uses[signal.gate().idx()] += 1;
        self.n_pending[signal.gate().idx()] += 1;
    }

    fn uncount(&mut self, signal: Signal) {
        self.n_uses[signal.gate().idx()] -= 1;
        self.n_pending[signal.gate().idx()] -= 1;
    }

    /// A new gate that nothing uses yet.
    fn add(&mut self, mut inputs: Vec<Signal>) -> GateId {
        inputs.sort_unstable();
        inputs.dedup();
        inputs.iter().for_each(|&input| self.count(input));
        self.n_uses.push(0);
        self.n_pending.push(0);
        self.rows.add(inputs)
    }

    /// Takes inputs, in ascending order, out of a gate that is not final, and puts others into it, which are counted
    /// already.
    fn change(&mut self, gate: GateId, out: &[Signal], into: Vec<Signal>) {
        out.iter().for_each(|&input| self.uncount(input));
        for known in self.rows.change(gate, out, into) {
            self.uncount(known);
        }
    }

    /// Takes Ands among the inputs apart that only this gate uses.
    fn flatten(&mut self, gate: GateId) {
        let is_inner = |cascade: &Self, signal: Signal| !signal.is_negated() && cascade.is_inner(signal);
        let inputs = self.rows.row(gate).iter().copied();
        let inner: Vec<Signal> = inputs.filter(|&signal| is_inner(self, signal)).collect();
        let (mut open, mut into) = (inner.clone(), Vec::new());
        while let Some(signal) = open.pop() {
            for input in self.rows.take(signal.gate()) {
                if is_inner(self, input) {
                    self.uncount(input);
                    open.push(input);
                } else {
                    into.push(input);
                }
            }
        }
        self.change(gate, &inner, into);
    }

    /// Takes common inputs out of the complements of Ands that only this gate uses.
    fn factor(&mut self, gate: GateId) {
        let is_inner = |signal: &&Signal| signal.is_negated() && self.is_inner(**signal);
        let inner: Vec<Signal> = self.rows.row(gate).iter().filter(is_inner).copied().collect();
        let ands = inner.iter().map(|signal| self.rows.row(signal.gate()).to_vec()).collect();
        let mut common = Common::of(ands, &self.n_uses);
        let (mut out, mut into) = (Vec::new(), Vec::new());
        while let Some((signal, places)) = common.take() {
            let ands: Vec<Signal> = places.into_iter().map(|place| inner[place as usize]).collect();
            let none_of_the_rests = ands.iter().map(|&and| self.without(and, signal)).collect();
            let none_of_the_rests = Signal::of(self.add(none_of_the_rests));
            let both = !Signal::of(self.add(vec![signal, !none_of_the_rests]));
            self.count(both);
            into.push(both);
            out.extend(ands);
        }
        out.sort_unstable();
        self.change(gate, &out, into);
    }

    /// The complement of an And, after one of its inputs is taken out.
    fn without(&mut self, and: Signal, input: Signal) -> Signal {
        self.rows.change(and.gate(), &[input], Vec::new());
        self.uncount(input);
        match *self.rows.row(and.gate()) {
            [only] => {
                self.rows.take(and.gate());
                self.uncount(only);
                !only
            }
            _ => and,
        }
    }

    /// A gate stays as it is. What only final gates use is ready, and becomes one gate if it is used by the same.
    fn finish(&mut self, gate: GateId) {
        let mut ready = Vec::new();
        for &signal in self.rows.row(gate) {
            let pending = &mut self.n_pending[signal.gate().idx()];
            *pending -= 1;
            if *pending == 0 {
                ready.push(signal);
            }
        }
        let mut merged = Vec::new();
        let mut changes: BTreeMap<u32, (Vec<Signal>, Vec<Signal>)> = BTreeMap::new();
        for (users, signals) in self.classes(&ready) {
            let one = self.merge(&signals, &users);
            for &user in users.iter().filter(|&&user| user != one.0) {
                signals.iter().for_each(|signal| self.n_uses[signal.gate().idx()] -= 1);
                self.n_uses[one.idx()] += 1;
                let (out, into) = changes.entry(user).or_default();
                out.extend_from_slice(&signals);
                into.push(Signal::of(one));
            }
            self.ready.push(one);
            merged.extend(signals);
        }
        for (user, (mut out, into)) in changes {
            out.sort_unstable();
            for known in self.rows.change(GateId(user), &out, into) {
                self.n_uses[known.gate().idx()] -= 1;
            }
        }
        merged.sort_unstable();
        let is_open = |signal: &Signal| {
            merged.binary_search(signal).is_err() && !self.rows.row(signal.gate()).is_empty()
        };
        self.ready.extend(ready.into_iter().filter(is_open).map(Signal::gate));
    }

    /// Signals by the gates that use them, where making them one saves work.
    fn classes(&self, signals: &[Signal]) -> Vec<(Vec<u32>, Vec<Signal>)> {
        let mut classes: FxHashMap<Vec<u32>, Vec<Signal>> = FxHashMap::default();
        for &signal in signals {
            let n_uses = self.n_uses[signal.gate().idx()] as usize;
            let users = if n_uses >= 2 { self.rows.users(signal) } else { Vec::new() };
            // Neither roots nor the complement.
            if users.len() == n_uses && n_uses >= 2 {
                classes.entry(users).or_default().push(signal);
            }
        }
        let mut classes: Vec<_> = classes.into_iter().collect();
        classes.retain(|(users, signals)| signals.len() >= 2 && self.rows.gain(signals, users) > 0);
        classes.sort_unstable();
        classes
    }

    /// A gate of signals that the same gates use, which are final; it is not.
    fn merge(&mut self, signals: &[Signal], users: &[u32]) -> GateId {
        match self.rows.whole(signals, users) {
            Some(gate) => {
                signals.iter().for_each(|signal| self.n_pending[signal.gate().idx()] += 1);
                gate
            }
            None => self.add(signals.to_vec()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::rebuild::{Manner, changed, rebuilt};
    use super::super::testing::{Given, net};
    use super::*;

    /// How many of some fluents hold, as one signal for each number.
    fn counts(given: &mut Given, fluents: &[Signal]) -> Vec<Signal> {
        let mut counts = vec![Signal::TRUE];
        for &fluent in fluents {
            let with = |n: usize| n.checked_sub(1).map_or(Signal::FALSE, |n| counts[n]);
            let without = |n: usize| counts.get(n).copied().unwrap_or(Signal::FALSE);
            let ways: Vec<_> =
                (0..=counts.len()).map(|n| [(fluent, with(n)), (!fluent, without(n))]).collect();
            counts = ways
                .iter()
                .map(|ways| {
                    let ways = ways.map(|(condition, before)| given.and(&[condition, before]));
                    given.or(&ways)
                })
                .collect();
        }
        counts
    }

    #[test]
    fn numbers_that_mean_the_same_are_not_told_apart() {
        const N: usize = 12;
        let raw = net(N, &[1, 1], |given| {
            let counts = counts(given, &given.bases.clone());
            vec![given.or(&counts[..2]), given.or(&counts[2..])]
        });
        let budget = Budget::default();
        let small = changed(&raw, &budget, |rows| rows.cascade(&budget)).unwrap();
        let small = rebuilt(&small, Manner::Plain, &budget).unwrap();
        // None, one or more: at most three numbers after each fluent, each of two conjunctions at most.
        assert!(raw.work() > 500, "{}", raw.work());
        assert!(small.work() <= N * 3 * 9, "{}", small.work());
        raw.demand_equal(&small, [1, 1]);
    }
}
