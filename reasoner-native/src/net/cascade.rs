//! From outputs to inputs: what is used by the same gates becomes one, and these gates are factored in turn.
//!
//! Where rules count, each number is a gate made of those of the number before, and in the end most numbers mean the
//! same: a side has won. Numbers that all the same gates use need not be told apart, thus neither need those they
//! are made of, and so on down to the first; what is left has the size of what the goals tell apart.

use rustc_hash::FxHashMap;

use super::factor::Common;
use super::rows::Rows;
use super::{GateId, Signal};
use crate::ground::{Budget, GroundError};

struct Cascade<'a> {
    rows: &'a mut Rows,
    /// By gate: inputs of gates that it is, with roots.
    n_uses: Vec<u32>,
    /// By gate: how many of these are of gates that are not final yet; a root is none.
    n_pending: Vec<u32>,
    /// Gates whose users are all final.
    ready: Vec<GateId>,
}

impl Rows {
    /// Merges and factors, from gates that only roots use on.
    pub(super) fn cascade(&mut self, budget: &Budget) -> Result<(), GroundError> {
        let mut n_pending = vec![0; self.len()];
        self.rows.iter().flatten().for_each(|signal| n_pending[signal.gate().idx()] += 1);
        let n_uses = n_pending.iter().zip(&self.n_roots).map(|(pending, roots)| pending + roots).collect();
        let is_first = |gate: &GateId| n_pending[gate.idx()] == 0 && !self.rows[gate.idx()].is_empty();
        let ready =
            (0..u32::try_from(self.len()).expect("gates are 32 bits")).map(GateId).filter(is_first).collect();
        let mut cascade = Cascade { rows: self, n_uses, n_pending, ready };
        let mut n_done = 0;
        while let Some(gate) = cascade.ready.pop() {
            n_done += 1;
            if n_done % 0x400 == 0 {
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
    fn is_only_used_once(&self, signal: Signal) -> bool {
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

    /// A new gate.
    fn add(&mut self, mut inputs: Vec<Signal>) -> GateId {
        inputs.sort_unstable();
        inputs.dedup();
        inputs.iter().for_each(|&input| self.count(input));
        self.n_uses.push(0);
        self.n_pending.push(0);
        self.rows.add(inputs)
    }

    fn insert(&mut self, gate: GateId, signal: Signal) {
        if self.rows.insert(gate, signal) {
            self.count(signal);
        }
    }

    /// Takes an input out of a gate.
    fn remove(&mut self, gate: GateId, signal: Signal) {
        self.rows.rows[gate.idx()].retain(|&input| input != signal);
        self.uncount(signal);
    }

    /// Takes a gate apart that nothing uses any longer.
    fn clear(&mut self, gate: GateId) {
        for input in std::mem::take(&mut self.rows.rows[gate.idx()]) {
            self.uncount(input);
        }
    }

    /// Takes Ands among the inputs apart that only this gate uses.
    fn flatten(&mut self, gate: GateId) {
        let is_inner =
            |cascade: &Self, signal: &Signal| !signal.is_negated() && cascade.is_only_used_once(*signal);
        let mut open: Vec<Signal> =
            self.rows.row(gate).iter().copied().filter(|signal| is_inner(self, signal)).collect();
        while let Some(signal) = open.pop() {
            for input in self.rows.row(signal.gate()).to_vec() {
                self.insert(gate, input);
                self.remove(signal.gate(), input);
                if is_inner(self, &input) {
                    open.push(input);
                }
            }
            self.remove(gate, signal);
        }
    }

    /// Takes common inputs out of the complements of Ands that only this gate uses.
    fn factor(&mut self, gate: GateId) {
        let is_inner = |signal: &&Signal| signal.is_negated() && self.is_only_used_once(**signal);
        let inner: Vec<Signal> = self.rows.row(gate).iter().filter(is_inner).copied().collect();
        let ands = inner.iter().map(|signal| self.rows.row(signal.gate()).to_vec()).collect();
        let mut common = Common::of(ands, &self.n_uses);
        while let Some((signal, places)) = common.take() {
            let mut none_of_the_rests = Vec::with_capacity(places.len());
            for place in places {
                let and = inner[place as usize];
                self.remove(gate, and);
                self.remove(and.gate(), signal);
                match *self.rows.row(and.gate()) {
                    [only] => {
                        none_of_the_rests.push(!only);
                        // What becomes of it is counted below.
                        self.clear(and.gate());
                    }
                    _ => none_of_the_rests.push(and),
                }
            }
            let none = self.add(none_of_the_rests);
            let mut both = vec![signal, !Signal::of(none)];
            both.sort_unstable();
            let both = self.add(both);
            self.insert(gate, !Signal::of(both));
        }
    }

    /// Makes what is used by the same gates, which are final, one gate, which is not.
    fn merge(&mut self, signals: &[Signal], users: &[u32]) -> GateId {
        let whole = users.iter().find(|&&user| self.rows.rows[user as usize].len() == signals.len());
        let one = match whole {
            Some(&user) => {
                signals.iter().for_each(|signal| self.n_pending[signal.gate().idx()] += 1);
                GateId(user)
            }
            None => self.add(signals.to_vec()),
        };
        for &user in users.iter().filter(|&&user| user != one.0) {
            self.rows.rows[user as usize].retain(|input| signals.binary_search(input).is_err());
            signals.iter().for_each(|signal| self.n_uses[signal.gate().idx()] -= 1);
            if self.rows.insert(GateId(user), Signal::of(one)) {
                self.n_uses[one.idx()] += 1;
            }
        }
        one
    }

    /// A gate stays as it is. What only final gates use is ready, and one gate if it is used by the same.
    fn finish(&mut self, gate: GateId) {
        let mut ready = Vec::new();
        for signal in self.rows.row(gate).to_vec() {
            let pending = &mut self.n_pending[signal.gate().idx()];
            *pending -= 1;
            if *pending == 0 {
                ready.push(signal);
            }
        }
        let mut classes: FxHashMap<Vec<u32>, Vec<Signal>> = FxHashMap::default();
        for &signal in &ready {
            let n_uses = self.n_uses[signal.gate().idx()] as usize;
            let users = if n_uses >= 2 { self.rows.users(signal) } else { Vec::new() };
            // Neither roots nor the complement.
            if users.len() == n_uses && n_uses >= 2 {
                classes.entry(users).or_default().push(signal);
            }
        }
        let mut classes: Vec<_> = classes.into_iter().filter(|(_, signals)| signals.len() >= 2).collect();
        classes.sort_unstable();
        for (users, signals) in classes {
            if self.rows.gain(&signals, &users) <= 0 {
                continue;
            }
            ready.retain(|signal| signals.binary_search(signal).is_err());
            let one = self.merge(&signals, &users);
            self.ready.push(one);
        }
        let is_and = |gate: &GateId| !self.rows.row(*gate).is_empty();
        let ready: Vec<GateId> = ready.into_iter().map(Signal::gate).filter(is_and).collect();
        self.ready.extend(ready);
    }
}
