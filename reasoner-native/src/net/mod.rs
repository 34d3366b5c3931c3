//! The propositional network: gates that say what holds in a state, what is legal, and what comes next.
//!
//! In go ground rules, out comes a [`Net`] ([`mod@build`]), which is then made smaller ([`mod@simplify`]).
//! See Schkufza, Love and Genesereth 2008, "Propositional automata and cell automata".
//!
//! What it deliberately does not do: evaluate.

mod build;
mod cascade;
mod extract;
mod factor;
mod gates;
mod imply;
mod lookup;
mod phases;
mod rebuild;
mod rows;
mod simplify;
#[cfg(test)]
mod testing;

use reasoner::Value;

use crate::terms::TermId;

pub(crate) use build::build;
pub use gates::Signal;
pub(crate) use gates::{GateId, Gates, Kind};
pub(crate) use phases::Clock;
pub(crate) use simplify::simplify;

/// A fluent that changes.
#[derive(Debug, Clone)]
pub(crate) struct Base {
    pub(crate) fluent: TermId,
    pub(crate) gate: GateId,
    /// What it becomes.
    pub(crate) next: Signal,
    pub(crate) is_initial: bool,
}

/// A move of a role.
#[derive(Debug, Clone)]
pub(crate) struct Input {
    pub(crate) role: usize,
    pub(crate) a_move: TermId,
    pub(crate) gate: GateId,
    pub(crate) legal: Signal,
}

/// A goal of a role.
#[derive(Debug, Clone)]
pub(crate) struct Goal {
    pub(crate) role: usize,
    pub(crate) value: Value,
    pub(crate) holds: Signal,
}

/// A value that depends on itself.
#[derive(Debug, Clone)]
pub(crate) struct Cycle {
    pub(crate) gate: GateId,
    /// What it is defined as; the least fixed point of all definitions is meant.
    pub(crate) definition: Signal,
}

/// A propositional network.
#[derive(Debug, Clone)]
pub(crate) struct Net {
    pub(crate) gates: Gates,
    pub(crate) n_roles: usize,
    pub(crate) bases: Vec<Base>,
    /// Fluents that hold in every state.
    pub(crate) constants: Vec<TermId>,
    /// Role by role.
    pub(crate) inputs: Vec<Input>,
    pub(crate) terminal: Signal,
    pub(crate) goals: Vec<Goal>,
    pub(crate) cycles: Vec<Cycle>,
    /// Whether it is a part of another net, and has that one's bases with their numbers: then none of them may be
    /// taken for constant.
    pub(crate) keeps_bases: bool,
}

/// How large a net is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Size {
    pub(crate) bases: usize,
    pub(crate) moves: usize,
    pub(crate) gates: usize,
    /// Inputs of all gates together: the work of one evaluation.
    pub(crate) gate_inputs: usize,
    pub(crate) cycles: usize,
}

impl Net {
    /// The size of what legality, terminal states and goals depend on, now or later.
    pub(crate) fn size(&self) -> Size {
        let relevant = self.relevant();
        let mut size = Size { moves: self.inputs.len(), ..Size::default() };
        for gate in self.gates.ids().filter(|gate| relevant[gate.idx()]) {
            match self.gates.kind(gate) {
                Kind::Base(_) => size.bases += 1,
                Kind::And => {
                    size.gates += 1;
                    size.gate_inputs += self.gates.inputs(gate).len();
                }
                Kind::Cycle => size.cycles += 1,
                Kind::False | Kind::Input(_) => {}
            }
        }
        size
    }

    /// How many bases, from the first, have among them all that legality, terminal states or goals depend on, now or
    /// later. After [`simplify`](fn@simplify) hardly any others are among them: those that the last pass made needless.
    pub(crate) fn n_relevant(&self) -> usize {
        let relevant = self.relevant();
        self.bases.iter().rposition(|base| relevant[base.gate.idx()]).map_or(0, |last| last + 1)
    }

    /// For each gate, whether legality, terminal states or goals depend on it, now or later. In a part of a net, whether
    /// anything does.
    pub(crate) fn relevant(&self) -> Vec<bool> {
        if self.keeps_bases {
            let mut roots = Vec::new();
            self.for_each_root(|signal| roots.push(signal.gate()));
            return self.reached(roots, false);
        }
        let legal = self.inputs.iter().map(|input| input.legal);
        let goals = self.goals.iter().map(|goal| goal.holds);
        let roots = legal.chain(goals).chain([self.terminal]).map(Signal::gate).collect();
        self.reached(roots, true)
    }

    /// For each gate, whether one of `roots` depends on it; also in later states, if `later`.
    pub(crate) fn reached(&self, roots: Vec<GateId>, later: bool) -> Vec<bool> {
        let mut definition_of = rustc_hash::FxHashMap::default();
        definition_of.extend(self.cycles.iter().map(|cycle| (cycle.gate, cycle.definition.gate())));
        let mut reached = vec![false; self.gates.len()];
        let mut open = roots;
        while let Some(gate) = open.pop() {
            if std::mem::replace(&mut reached[gate.idx()], true) {
                continue;
            }
            match self.gates.kind(gate) {
                Kind::And => open.extend(self.gates.inputs(gate).iter().map(|signal| signal.gate())),
                Kind::Base(base) if later => open.push(self.bases[base as usize].next.gate()),
                Kind::Cycle => open.push(definition_of[&gate]),
                Kind::False | Kind::Base(_) | Kind::Input(_) => {}
            }
        }
        reached
    }

    /// Calls `visit` for every signal that is asked for from outside the net.
    pub(crate) fn for_each_root(&self, mut visit: impl FnMut(Signal)) {
        self.bases.iter().for_each(|base| visit(base.next));
        self.inputs.iter().for_each(|input| visit(input.legal));
        self.goals.iter().for_each(|goal| visit(goal.holds));
        visit(self.terminal);
    }

    /// Calls `visit` for every use of a signal, among gates of which these are `needed`: as a root, as an input, and
    /// as what a value that depends on itself is defined as.
    pub(crate) fn for_each_use(&self, needed: &[bool], mut visit: impl FnMut(Signal)) {
        for gate in self.gates.ids().filter(|gate| needed[gate.idx()]) {
            self.gates.inputs(gate).iter().copied().for_each(&mut visit);
        }
        self.for_each_outer_use(needed, visit);
    }

    /// The same without the inputs of gates.
    pub(crate) fn for_each_outer_use(&self, needed: &[bool], mut visit: impl FnMut(Signal)) {
        let cycles = self.cycles.iter().filter(|cycle| needed[cycle.gate.idx()]);
        cycles.for_each(|cycle| visit(cycle.definition));
        self.for_each_root(visit);
    }
}

#[cfg(test)]
mod tests {
    use super::testing::net;

    #[test]
    fn what_matters_is_among_the_first_fluents_wherever_it_stands() {
        // The last pass may make a fluent needless that comes before others.
        for relevant in [vec![1], vec![0, 2], vec![]] {
            let net = net(4, &[1, 1], |given| relevant.iter().map(|&base| given.bases[base]).collect());
            assert_eq!(net.n_relevant(), relevant.last().map_or(0, |last| last + 1), "{relevant:?}");
        }
    }
}
