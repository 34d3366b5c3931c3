//! Makes the gates of a net again.
//!
//! Gates that nothing depends on fall away, fluents that never change and moves that are never legal become
//! constants, and gates are made of simplified inputs.

use super::factor::factor;
use super::rows::Rows;
use super::{Base, Cycle, GateId, Gates, Goal, Input, Kind, Net, Signal};
use crate::ground::{Budget, GroundError};

/// How gates are made again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// From their inputs.
    Plain,
    /// From the inputs of their inputs where nothing else needs these, factored.
    Factored,
}

/// The net with its gates made again.
///
/// # Errors
/// If the budget is used up.
pub(super) fn rebuilt(net: &Net, manner: Manner, budget: &Budget) -> Result<Net, GroundError> {
    let mut rebuild = Rebuild::new(net);
    rebuild.bases();
    rebuild.inputs();
    rebuild.cycles();
    let uses = if manner == Manner::Factored { uses(net, &rebuild.needed) } else { Vec::new() };
    for gate in net.gates.ids() {
        if rebuild.needed[gate.idx()] && net.gates.kind(gate) != Kind::And {
            rebuild.set(gate, rebuild.signals[gate.idx()], &uses);
        }
        if rebuild.needed[gate.idx()] && net.gates.kind(gate) == Kind::And {
            if gate.0 % 0x1000 == 0 {
                budget.check(rebuild.gates.bytes())?;
            }
            let signal = match manner {
                Manner::Plain => rebuild.plain(gate),
                Manner::Factored => rebuild.factored(gate, &uses),
            };
            rebuild.set(gate, signal, &uses);
        }
    }
    Ok(rebuild.into_net())
}

/// The net with its gates changed as lists and made again.
///
/// # Errors
/// Those of `change`, and if the budget is used up.
pub(super) fn changed(
    net: &Net,
    budget: &Budget,
    change: impl FnOnce(&mut Rows) -> Result<(), GroundError>,
) -> Result<Net, GroundError> {
    let mut rebuild = Rebuild::new(net);
    rebuild.bases();
    rebuild.inputs();
    rebuild.cycles();
    let mut rows = Rows::of(net, &rebuild.needed);
    change(&mut rows)?;
    budget.check(rebuild.gates.bytes())?;
    rebuild.signals.resize(rows.len(), Signal::FALSE);
    let mut is_made = vec![false; rows.len()];
    let mut open = Vec::new();
    for gate in net.gates.ids() {
        open.push(gate);
        // A new gate may stand for inputs of older ones.
        while let Some(&gate) = open.last() {
            let row = rows.row(gate);
            let n_open = open.len();
            if !is_made[gate.idx()] {
                open.extend(row.iter().map(|signal| signal.gate()).filter(|gate| !is_made[gate.idx()]));
            }
            if open.len() == n_open {
                open.pop();
                if !is_made[gate.idx()] && !row.is_empty() {
                    let mut inputs = row.iter().map(|&old| rebuild.signal(old)).collect();
                    rebuild.signals[gate.idx()] = rebuild.gates.and(&mut inputs);
                }
                is_made[gate.idx()] = true;
            }
        }
    }
    Ok(rebuild.into_net())
}

/// How many gates and roots use each gate.
fn uses(net: &Net, needed: &[bool]) -> Vec<u32> {
    let mut uses = vec![0; net.gates.len()];
    net.for_each_use(needed, |signal| uses[signal.gate().idx()] += 1);
    uses
}

struct Rebuild<'a> {
    old: &'a Net,
    /// Whether anything depends on a gate, by old gate.
    needed: Vec<bool>,
    gates: Gates,
    /// By old gate.
    signals: Vec<Signal>,
    /// By new gate, when gates are factored: how many old gates and roots use what it stands for.
    n_uses: Vec<u32>,
    /// Old bases that stay, with their new gates.
    bases: Vec<(usize, GateId)>,
    constants: Vec<crate::terms::TermId>,
    inputs: Vec<(usize, GateId)>,
    cycles: Vec<(usize, GateId)>,
}

impl<'a> Rebuild<'a> {
    fn new(old: &'a Net) -> Rebuild<'a> {
        let mut roots = Vec::new();
        old.for_each_root(|signal| roots.push(signal.gate()));
        let needed = old.reached(roots, false);
        let mut gates = Gates::new(old.n_roles);
        gates.reserve(needed.iter().filter(|&&is_needed| is_needed).count());
        Rebuild {
            needed,
            gates,
            signals: vec![Signal::FALSE; old.gates.len()],
            n_uses: Vec::new(),
            bases: Vec::new(),
            constants: old.constants.clone(),
            inputs: Vec::new(),
            cycles: Vec::new(),
            old,
        }
    }

    /// Those that matter come first.
    fn bases(&mut self) {
        let relevant = self.old.relevant();
        let mut order: Vec<usize> = (0..self.old.bases.len()).collect();
        if !self.old.keeps_bases {
            order.sort_by_key(|&base_idx| !relevant[self.old.bases[base_idx].gate.idx()]);
        }
        for base_idx in order {
            let base = &self.old.bases[base_idx];
            match self.old.constant_value(base) {
                Some(value) => {
                    self.signals[base.gate.idx()] = Signal::FALSE.negated_if(value);
                    if value {
                        self.constants.push(base.fluent);
                    }
                }
                None => {
                    let gate = self.gates.base(self.bases.len());
                    self.signals[base.gate.idx()] = Signal::of(gate);
                    self.bases.push((base_idx, gate));
                }
            }
        }
    }

    fn inputs(&mut self) {
        for (input_idx, input) in self.old.inputs.iter().enumerate() {
            if input.legal != Signal::FALSE {
                let gate = self.gates.input(input.role);
                self.signals[input.gate.idx()] = Signal::of(gate);
                self.inputs.push((input_idx, gate));
            }
        }
        // A role's only move is always made.
        for (input_idx, gate) in &self.inputs {
            let input = &self.old.inputs[*input_idx];
            if self.gates.moves_of(input.role) == [*gate] {
                self.signals[input.gate.idx()] = Signal::TRUE;
            }
        }
    }

    fn cycles(&mut self) {
        let needed = |(_, cycle): &(usize, &Cycle)| self.needed[cycle.gate.idx()];
        for (cycle_idx, cycle) in self.old.cycles.iter().enumerate().filter(needed) {
            // The least fixed point of what is defined as itself is false.
            let constant = match cycle.definition {
                Signal::TRUE => Some(Signal::TRUE),
                Signal::FALSE => Some(Signal::FALSE),
                definition if definition == Signal::of(cycle.gate) => Some(Signal::FALSE),
                _ => None,
            };
            self.signals[cycle.gate.idx()] = constant.unwrap_or_else(|| {
                let gate = self.gates.cycle();
                self.cycles.push((cycle_idx, gate));
                Signal::of(gate)
            });
        }
    }

    /// Sets the signal of an old gate that `uses` tells the uses of.
    fn set(&mut self, gate: GateId, signal: Signal, uses: &[u32]) {
        self.signals[gate.idx()] = signal;
        if let Some(uses) = uses.get(gate.idx()) {
            let new = signal.gate().idx();
            if self.n_uses.len() <= new {
                self.n_uses.resize(self.gates.len(), 0);
            }
            self.n_uses[new] += uses;
        }
    }

    fn signal(&self, old: Signal) -> Signal {
        self.signals[old.gate().idx()].negated_if(old.is_negated())
    }

    fn plain(&mut self, gate: GateId) -> Signal {
        let mut inputs = self.old.gates.inputs(gate).iter().map(|&old| self.signal(old)).collect();
        self.gates.and(&mut inputs)
    }

    /// Takes gates that only this one uses apart, and factors what comes of it.
    fn factored(&mut self, gate: GateId, uses: &[u32]) -> Signal {
        let (mut others, mut negated_ands) = (Vec::new(), Vec::new());
        for &old in self.old.gates.inputs(gate) {
            let signal = self.signal(old);
            let is_only_use = uses[old.gate().idx()] == 1;
            match self.gates.kind(signal.gate()) {
                Kind::And if is_only_use && signal.is_negated() => {
                    negated_ands.push(self.gates.inputs(signal.gate()).to_vec());
                }
                Kind::And if is_only_use => others.extend_from_slice(self.gates.inputs(signal.gate())),
                _ => others.push(signal),
            }
        }
        factor(&mut self.gates, others, negated_ands, &self.n_uses)
    }

    fn into_net(self) -> Net {
        let bases = self.bases.iter().map(|&(base_idx, gate)| {
            let base = &self.old.bases[base_idx];
            Base { gate, next: self.signal(base.next), ..base.clone() }
        });
        let inputs = self.inputs.iter().map(|&(input_idx, gate)| {
            let input = &self.old.inputs[input_idx];
            Input { gate, legal: self.signal(input.legal), ..input.clone() }
        });
        let goals = self.old.goals.iter().map(|goal| Goal { holds: self.signal(goal.holds), ..goal.clone() });
        let cycles = self.cycles.iter().map(|&(cycle_idx, gate)| Cycle {
            gate,
            definition: self.signal(self.old.cycles[cycle_idx].definition),
        });
        Net {
            n_roles: self.old.n_roles,
            bases: bases.collect(),
            inputs: inputs.collect(),
            goals: goals.collect(),
            cycles: cycles.collect(),
            terminal: self.signal(self.old.terminal),
            constants: self.constants,
            gates: self.gates,
            keeps_bases: self.old.keeps_bases,
        }
    }
}

impl Net {
    /// The value of a fluent that is the same in all reachable states: it becomes itself, or what starts false can
    /// only stay false, or true only true.
    fn constant_value(&self, base: &Base) -> Option<bool> {
        let itself = Signal::of(base.gate);
        // An And with the fluent among its inputs: false stays false.
        let stays_false = |next: Signal, itself: Signal| {
            next == Signal::FALSE
                || self.gates.is_and(next) && self.gates.inputs(next.gate()).contains(&itself)
        };
        match base.is_initial {
            _ if self.keeps_bases => None,
            _ if base.next == itself => Some(base.is_initial),
            false if stays_false(base.next, itself) => Some(false),
            true if stays_false(!base.next, !itself) => Some(true),
            _ => None,
        }
    }
}
