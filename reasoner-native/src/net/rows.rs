//! Gates as lists that can be changed, for what is done to many gates at once.

use super::{GateId, Kind, Net, Signal};

/// Steps for each input of the net, at most.
const STEPS_PER_INPUT: usize = 200;
/// Steps of all; some tenths of a second.
const MAX_STEPS: usize = 20_000_000;

/// Gates as lists of inputs, with new ones behind those of a net.
pub(super) struct Rows {
    /// By gate: the inputs of an And, in ascending order; none where there is no And that is needed.
    pub(super) rows: Vec<Vec<Signal>>,
    /// By signal: the rows that have it, and some that once had it.
    pub(super) with: Vec<Vec<u32>>,
    /// By gate: how many roots it is.
    pub(super) n_roots: Vec<u32>,
    /// Steps that are left.
    steps: usize,
}

impl Rows {
    /// The needed gates of a net.
    pub(super) fn of(net: &Net, needed: &[bool]) -> Rows {
        let mut rows = vec![Vec::new(); net.gates.len()];
        let mut with = vec![Vec::new(); 2 * net.gates.len()];
        let mut n_inputs = 0;
        for gate in net.gates.ids().filter(|gate| needed[gate.idx()]) {
            if net.gates.kind(gate) == Kind::And {
                rows[gate.idx()] = net.gates.inputs(gate).to_vec();
                n_inputs += rows[gate.idx()].len();
                rows[gate.idx()].iter().for_each(|signal| with[signal.idx()].push(gate.0));
            }
        }
        let mut n_roots = vec![0; net.gates.len()];
        net.for_each_outer_use(needed, |signal| n_roots[signal.gate().idx()] += 1);
        Rows { rows, with, n_roots, steps: (n_inputs * STEPS_PER_INPUT).min(MAX_STEPS) }
    }

    /// The inputs of a gate.
    pub(super) fn row(&self, gate: GateId) -> &[Signal] {
        &self.rows[gate.idx()]
    }

    /// How many gates there are, with the new ones.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// All gates, the new ones last.
    pub(super) fn ids(&self) -> impl Iterator<Item = GateId> + use<> {
        (0..u32::try_from(self.rows.len()).expect("gates are 32 bits")).map(GateId)
    }

    /// The rows that have a signal, in ascending order.
    pub(super) fn users(&self, signal: Signal) -> Vec<u32> {
        self.users_of_both(signal, signal)
    }

    /// The rows that have two signals, in ascending order.
    pub(super) fn users_of_both(&self, a: Signal, b: Signal) -> Vec<u32> {
        let (few, other) = if self.with[a.idx()].len() <= self.with[b.idx()].len() { (a, b) } else { (b, a) };
        let has = |row: &u32| {
            let row = &self.rows[*row as usize];
            row.binary_search(&other).is_ok() && (few == other || row.binary_search(&few).is_ok())
        };
        let mut users: Vec<u32> = self.with[few.idx()].iter().copied().filter(has).collect();
        users.sort_unstable();
        users.dedup();
        users
    }

    /// Inputs of all gates together.
    pub(super) fn n_inputs(&self) -> usize {
        self.rows.iter().map(Vec::len).sum()
    }

    /// Spends steps; false if too few are left.
    pub(super) fn spend(&mut self, steps: usize) -> bool {
        let is_left = self.steps >= steps;
        self.steps = self.steps.saturating_sub(steps);
        is_left
    }

    /// A new gate of inputs in ascending order.
    pub(super) fn add(&mut self, inputs: Vec<Signal>) -> GateId {
        let gate =
            GateId(u32::try_from(self.rows.len()).expect("the budget of memory ends before 2^31 gates"));
        self.with.extend([Vec::new(), Vec::new()]);
        inputs.iter().for_each(|signal| self.with[signal.idx()].push(gate.0));
        self.rows.push(inputs);
        self.n_roots.push(0);
        gate
    }

    /// The inputs of a gate that is no gate any longer.
    pub(super) fn take(&mut self, gate: GateId) -> Vec<Signal> {
        std::mem::take(&mut self.rows[gate.idx()])
    }

    /// Takes inputs, in ascending order, out of a gate and puts others into it; those of them that it had already.
    pub(super) fn change(&mut self, gate: GateId, out: &[Signal], mut into: Vec<Signal>) -> Vec<Signal> {
        let row = &mut self.rows[gate.idx()];
        row.retain(|input| out.binary_search(input).is_err());
        if into.is_empty() {
            return Vec::new();
        }
        into.sort_unstable();
        let (mut known, n_before) = (Vec::new(), row.len());
        for input in into {
            if row[n_before..].last() == Some(&input) || row[..n_before].binary_search(&input).is_ok() {
                known.push(input);
            } else {
                row.push(input);
                self.with[input.idx()].push(gate.0);
            }
        }
        row.sort_unstable();
        known
    }

    /// The gate of `users`, which all have `inputs`, that has no others.
    pub(super) fn whole(&self, inputs: &[Signal], users: &[u32]) -> Option<GateId> {
        let is_whole = |&user: &u32| self.rows[user as usize].len() == inputs.len();
        users.iter().copied().find(is_whole).map(GateId)
    }

    /// Makes `inputs`, in ascending order, a gate that stands for them in `users`, which all have them.
    pub(super) fn replace(&mut self, inputs: &[Signal], users: &[u32]) -> Signal {
        let gate = self.whole(inputs, users).unwrap_or_else(|| self.add(inputs.to_vec()));
        for &user in users.iter().filter(|&&user| user != gate.0) {
            self.change(GateId(user), inputs, vec![Signal::of(gate)]);
        }
        Signal::of(gate)
    }

    /// How much work a gate of `inputs` saves in `users`, which all have them.
    pub(super) fn gain(&self, inputs: &[Signal], users: &[u32]) -> i64 {
        let [n_inputs, n_users] =
            [inputs.len(), users.len()].map(|n| i64::try_from(n).unwrap_or(i64::MAX / 4));
        match self.whole(inputs, users) {
            Some(_) => (n_users - 1) * (n_inputs - 1),
            None => n_users * (n_inputs - 1) - n_inputs - 1,
        }
    }
}
