//! Phases: what a net comes to where the clock is known.
//!
//! In most games the roles take turns by a few fluents that change by themselves, whatever is done. Such a *clock*
//! has a state for each phase of its period, and in each the rest of the net is much smaller: the moves of those
//! whose turn it is not are gone, with all that follows from them.

use super::imply::Consequences;
use super::simplify::simplify_part;
use super::{Base, Cycle, GateId, Gates, Goal, Input, Kind, Net, Signal};
use crate::ground::{Budget, GroundError};

/// The longest period that is looked for.
const MAX_PERIOD: usize = 8;
/// Steps in which fluents must keep a period to be suspected of it.
const N_STEPS: usize = 4 * MAX_PERIOD;

/// Fluents that change by themselves, and come back to what they were.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Clock {
    /// By number.
    pub(crate) bases: Vec<usize>,
    /// By phase: the values of these fluents, all different. After the last phase comes the first, that of the
    /// initial state.
    pub(crate) phases: Vec<Vec<bool>>,
}

impl Clock {
    /// That of a game in which nothing changes by itself: one phase.
    pub(crate) fn stopped() -> Clock {
        Clock { bases: Vec::new(), phases: vec![Vec::new()] }
    }
}

impl Net {
    /// The clocks of the game: at most one for each period, of two phases or more.
    pub(crate) fn clocks(&self) -> Vec<Clock> {
        let readers = Readers::of(self);
        let own = self.closed(&vec![true; self.bases.len()], &readers);
        if !own.contains(&true) {
            return Vec::new();
        }
        let history = self.history(&own);
        (2..=MAX_PERIOD).filter_map(|period| self.clock(&own, &history, &readers, period)).collect()
    }

    fn clock(&self, own: &[bool], history: &[Vec<bool>], readers: &Readers, period: usize) -> Option<Clock> {
        let keeps =
            |base: usize| (period..N_STEPS).all(|step| history[step][base] == history[step - period][base]);
        let suspects: Vec<bool> = (0..self.bases.len()).map(|base| own[base] && keeps(base)).collect();
        // Fluents that depend on each other alone, and are back where they were, do the same again.
        let closed = self.closed(&suspects, readers);
        let bases: Vec<usize> = (0..self.bases.len()).filter(|&base| closed[base]).collect();
        let values = |step: &Vec<bool>| bases.iter().map(|&base| step[base]).collect();
        let phases: Vec<Vec<bool>> = history[..period].iter().map(values).collect();
        let is_known = |phase: usize| !phases[..phase].contains(&phases[phase]);
        (0..period).all(is_known).then_some(Clock { bases, phases })
    }

    /// Those of some bases that depend, now and later, on none but themselves.
    fn closed(&self, bases: &[bool], readers: &Readers) -> Vec<bool> {
        let is_other = |gate: GateId| match self.gates.kind(gate) {
            Kind::Base(base) => !bases[base as usize],
            Kind::Input(_) | Kind::Cycle => true,
            Kind::False | Kind::And => false,
        };
        let mut others: Vec<GateId> = self.gates.ids().filter(|&gate| is_other(gate)).collect();
        let mut depends = vec![false; self.gates.len()];
        others.iter().for_each(|gate| depends[gate.idx()] = true);
        while let Some(gate) = others.pop() {
            for &reader in readers.of_gate(gate) {
                if !std::mem::replace(&mut depends[reader.idx()], true) {
                    others.push(reader);
                }
            }
        }
        self.bases.iter().map(|base| !depends[base.gate.idx()]).collect()
    }

    /// The values of bases that depend on none but themselves, from the initial state on; others are false.
    fn history(&self, own: &[bool]) -> Vec<Vec<bool>> {
        let next = (0..self.bases.len()).filter(|&base| own[base]).map(|base| self.bases[base].next.gate());
        let needed = self.reached(next.collect(), false);
        let mut values = vec![false; self.gates.len()];
        let mut state: Vec<bool> =
            self.bases.iter().zip(own).map(|(base, own)| *own && base.is_initial).collect();
        let mut history = Vec::with_capacity(N_STEPS);
        for _ in 0..N_STEPS {
            for gate in self.gates.ids().filter(|gate| needed[gate.idx()]) {
                let holds = |signal: &Signal| values[signal.gate().idx()] != signal.is_negated();
                values[gate.idx()] = match self.gates.kind(gate) {
                    Kind::Base(base) => state[base as usize],
                    Kind::And => self.gates.inputs(gate).iter().all(holds),
                    Kind::False | Kind::Input(_) | Kind::Cycle => false,
                };
            }
            let next_of = |base: usize| {
                let next = self.bases[base].next;
                own[base] && values[next.gate().idx()] != next.is_negated()
            };
            let next = (0..self.bases.len()).map(next_of).collect();
            history.push(std::mem::replace(&mut state, next));
        }
        history
    }

    /// What rollouts need in states where the given bases have the given values: legality, the end of the game, goals,
    /// and what the first `n_relevant` bases become by legal moves. All bases stay, with their numbers; moves that are
    /// not legal in such states are gone.
    ///
    /// # Errors
    /// If the budget is used up.
    pub(crate) fn stepping(
        &self,
        known: &[(usize, bool)],
        n_relevant: usize,
        budget: &Budget,
    ) -> Result<Net, GroundError> {
        let mut partial = Partial::new(self, known);
        partial.add(&self.legality(), budget)?;
        for (idx, input) in self.inputs.iter().enumerate() {
            let (made, legal) = (Signal::of(partial.inputs[idx].gate), partial.signal(input.legal));
            partial.consequences.add(made, legal);
        }
        let goals = self.goals.iter().map(|goal| goal.holds);
        let next = self.bases[..n_relevant].iter().map(|base| base.next);
        partial.add(&self.reached(goals.chain(next).map(Signal::gate).collect(), false), budget)?;
        let next = (0..self.bases.len()).map(|base| match base < n_relevant {
            true => partial.signal(self.bases[base].next),
            false => Signal::FALSE,
        });
        let next = next.collect();
        simplify_part(partial.into_net(next), budget)
    }
}

/// What depends on each gate: gates that read it, and bases that become what it is.
struct Readers {
    /// By gate: where its readers begin; those of the next one follow.
    first: Vec<u32>,
    readers: Vec<GateId>,
}

impl Readers {
    fn of(net: &Net) -> Readers {
        let reads_of = |gate: GateId| net.gates.inputs(gate).iter().map(move |signal| (signal.gate(), gate));
        let becoming = net.bases.iter().map(|base| (base.next.gate(), base.gate));
        let reads = || net.gates.ids().flat_map(reads_of).chain(becoming.clone());
        // Counts, shifted by one, become where each begins.
        let mut first = vec![0; net.gates.len() + 1];
        reads().for_each(|(read, _)| first[read.idx() + 1] += 1);
        for idx in 1..first.len() {
            first[idx] += first[idx - 1];
        }
        let mut places = first.clone();
        let mut readers = vec![Signal::FALSE.gate(); first[net.gates.len()] as usize];
        for (read, reader) in reads() {
            readers[places[read.idx()] as usize] = reader;
            places[read.idx()] += 1;
        }
        Readers { first, readers }
    }

    fn of_gate(&self, gate: GateId) -> &[GateId] {
        &self.readers[self.first[gate.idx()] as usize..self.first[gate.idx() + 1] as usize]
    }
}

/// Some gates of a net, made again.
struct Partial<'a> {
    old: &'a Net,
    gates: Gates,
    /// By old gate, as far as they are made.
    signals: Vec<Option<Signal>>,
    bases: Vec<Base>,
    inputs: Vec<Input>,
    /// Values with their old numbers.
    cycles: Vec<(usize, Cycle)>,
    consequences: Consequences,
}

impl<'a> Partial<'a> {
    /// With all bases and inputs.
    fn new(old: &'a Net, known: &[(usize, bool)]) -> Partial<'a> {
        let mut gates = Gates::new(old.n_roles);
        let mut signals = vec![None; old.gates.len()];
        signals[0] = Some(Signal::FALSE);
        let mut bases = old.bases.clone();
        for (base_idx, base) in bases.iter_mut().enumerate() {
            let gate = gates.base(base_idx);
            signals[base.gate.idx()] = Some(Signal::of(gate));
            base.gate = gate;
        }
        for &(base, value) in known {
            signals[old.bases[base].gate.idx()] = Some(Signal::FALSE.negated_if(value));
        }
        let mut inputs = old.inputs.clone();
        for input in &mut inputs {
            let gate = gates.input(input.role);
            signals[input.gate.idx()] = Some(Signal::of(gate));
            input.gate = gate;
        }
        let consequences = Consequences::new();
        Partial { old, gates, signals, bases, inputs, cycles: Vec::new(), consequences }
    }

    /// Makes those gates again that are `needed` and not made yet.
    fn add(&mut self, needed: &[bool], budget: &Budget) -> Result<(), GroundError> {
        for (cycle_idx, cycle) in self.old.cycles.iter().enumerate() {
            if needed[cycle.gate.idx()] && self.signals[cycle.gate.idx()].is_none() {
                let gate = self.gates.cycle();
                self.signals[cycle.gate.idx()] = Some(Signal::of(gate));
                self.cycles.push((cycle_idx, Cycle { gate, definition: Signal::FALSE }));
            }
        }
        for gate in self.old.gates.ids().filter(|gate| needed[gate.idx()]) {
            if gate.0 % 0x1000 == 0 {
                budget.check(self.gates.bytes())?;
            }
            if self.old.gates.kind(gate) == Kind::And && self.signals[gate.idx()].is_none() {
                let inputs = self.old.gates.inputs(gate).iter().map(|&input| self.signal(input)).collect();
                self.signals[gate.idx()] = Some(self.consequences.and(&mut self.gates, inputs));
            }
        }
        Ok(())
    }

    /// The signal that an old one has become; its gates must be made.
    fn signal(&self, old: Signal) -> Signal {
        let signal = self.signals[old.gate().idx()].expect("what is needed is made");
        signal.negated_if(old.is_negated())
    }

    fn into_net(self, next: Vec<Signal>) -> Net {
        let inputs =
            self.inputs.iter().map(|input| Input { legal: self.signal(input.legal), ..input.clone() });
        let cycles = self.cycles.iter().map(|(old, cycle)| Cycle {
            gate: cycle.gate,
            definition: self.signal(self.old.cycles[*old].definition),
        });
        let goals = self.old.goals.iter().map(|goal| Goal { holds: self.signal(goal.holds), ..goal.clone() });
        Net {
            n_roles: self.old.n_roles,
            constants: Vec::new(),
            inputs: inputs.collect(),
            cycles: cycles.collect(),
            terminal: self.signal(self.old.terminal),
            goals: goals.collect(),
            bases: self.bases.into_iter().zip(next).map(|(base, next)| Base { next, ..base }).collect(),
            gates: self.gates,
            keeps_bases: true,
        }
    }
}
