//! What follows from what: inputs of gates that their other inputs imply are left out.
//!
//! Rules repeat in `next` what makes a move legal. Where only legal moves are made, a move implies all that its
//! legality implies, and that need not be looked at again.

use rustc_hash::FxHashMap;

use super::{Gates, Kind, Net, Signal};

/// Consequences kept of one signal; more cost time and are seldom needed.
const MAX_CONSEQUENCES: usize = 24;

/// The signals that follow from each signal, in ascending order.
#[derive(Debug)]
pub(super) struct Consequences {
    /// By gate: of its output, and of the complement.
    of_gate: Vec<[Vec<Signal>; 2]>,
}

impl Consequences {
    pub(super) fn new() -> Consequences {
        Consequences { of_gate: Vec::new() }
    }

    fn of(&self, signal: Signal) -> &[Signal] {
        let of_gate = self.of_gate.get(signal.gate().idx());
        of_gate.map_or(&[], |sides| &sides[usize::from(signal.is_negated())])
    }

    /// Whether `other` holds whenever `signal` does, as far as is known.
    fn has(&self, signal: Signal, other: Signal) -> bool {
        self.of(signal).binary_search(&other).is_ok()
    }

    /// What follows from a signal beyond itself.
    fn others(&self, signal: Signal) -> impl Iterator<Item = Signal> + '_ {
        self.of(signal).iter().copied().filter(move |&other| other != signal)
    }

    /// Notes that what `cause` implies, and `cause` itself, follow from `signal`.
    pub(super) fn add(&mut self, signal: Signal, cause: Signal) {
        let mut all: Vec<Signal> = self.of(signal).to_vec();
        all.push(cause);
        all.extend_from_slice(self.of(cause));
        self.set(signal, all);
    }

    fn set(&mut self, signal: Signal, mut consequences: Vec<Signal>) {
        consequences.sort_unstable();
        consequences.dedup();
        consequences.truncate(MAX_CONSEQUENCES);
        let gate = signal.gate().idx();
        if self.of_gate.len() <= gate {
            self.of_gate.resize_with(gate + 1, Default::default);
        }
        self.of_gate[gate][usize::from(signal.is_negated())] = consequences;
    }

    /// Notes what follows from a new And and from its complement.
    fn note(&mut self, gates: &Gates, and: Signal) {
        let and = Signal::of(and.gate());
        if gates.kind(and.gate()) != Kind::And || !self.of(and).is_empty() {
            return;
        }
        let inputs = gates.inputs(and.gate());
        for &input in inputs {
            self.add(and, input);
        }
        let mut from_all = self.of(!inputs[0]).to_vec();
        from_all.push(!inputs[0]);
        from_all
            .retain(|&signal| inputs[1..].iter().all(|&input| signal == !input || self.has(!input, signal)));
        self.set(!and, from_all);
    }

    /// The conjunction of `signals`, of which those that others imply are left out.
    pub(super) fn and(&mut self, gates: &mut Gates, mut signals: Vec<Signal>) -> Signal {
        signals.sort_unstable();
        signals.dedup();
        // Of conjunctions of very many signals, each is looked at once.
        let mut n_causes: FxHashMap<Signal, u32> = FxHashMap::default();
        for other in signals.iter().flat_map(|&signal| self.others(signal)) {
            *n_causes.entry(other).or_default() += 1;
        }
        if signals.iter().any(|&signal| n_causes.contains_key(&!signal)) {
            return Signal::FALSE;
        }
        // The last first: of two that imply each other, one stays.
        let mut kept = Vec::with_capacity(signals.len());
        for &signal in signals.iter().rev() {
            if n_causes.get(&signal).is_none_or(|&n| n == 0) {
                kept.push(signal);
                continue;
            }
            for other in self.others(signal) {
                n_causes.entry(other).and_modify(|n| *n -= 1);
            }
        }
        let mut signals = kept;
        let and = gates.and(&mut signals);
        self.note(gates, and);
        and
    }
}

impl Net {
    /// For each gate, whether a legality or the end of the game depends on it in the same state.
    pub(super) fn legality(&self) -> Vec<bool> {
        let legal = self.inputs.iter().map(|input| input.legal.gate());
        self.reached(legal.chain([self.terminal.gate()]).collect(), false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gates with so many fluents.
    fn fluents(n: usize) -> (Gates, Vec<Signal>) {
        let mut gates = Gates::new(1);
        let fluents = (0..n).map(|base| Signal::of(gates.base(base))).collect();
        (gates, fluents)
    }

    #[test]
    fn what_others_imply_is_left_out_and_what_contradicts_them_is_false() {
        let (mut gates, fluents) = fluents(4);
        let [a, b, c, d] = fluents[..] else { unreachable!() };
        let mut consequences = Consequences::new();
        consequences.add(a, b);
        consequences.add(b, !c);
        consequences.add(a, !c);
        let short = gates.and(&mut vec![a, d]);
        assert_eq!(consequences.and(&mut gates, vec![a, b, !c, d]), short);
        assert_eq!(consequences.and(&mut gates, vec![b, c, d]), Signal::FALSE);
        assert_eq!(consequences.and(&mut gates, vec![d, c]), gates.and(&mut vec![c, d]));
    }

    #[test]
    fn of_those_that_imply_each_other_one_stays() {
        let (mut gates, fluents) = fluents(3);
        let mut consequences = Consequences::new();
        for (from, to) in [(0, 1), (1, 2), (2, 0), (0, 1)] {
            consequences.add(fluents[from], fluents[to]);
        }
        let one = consequences.and(&mut gates, fluents.clone());
        assert!(fluents.contains(&one), "{one:?}");
    }
}
