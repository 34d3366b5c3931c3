//! What rollouts evaluate, step by step: for each phase of the clock a circuit of its own, and one for the goals.

use super::circuit::{Circuit, Cone};
use super::state::BitState;
use crate::ground::{Budget, GroundError};
use crate::net::{Clock, Net};

/// The circuits of rollouts, phase by phase.
#[derive(Debug)]
pub(super) struct Course {
    /// By phase: legality, the end of the game and the next state.
    pub(super) phases: Vec<Circuit>,
    /// Goals, in every phase.
    pub(super) goals: Circuit,
    clock: Clock,
}

impl Course {
    /// The best for a net, whose own circuit has `n_wires`.
    ///
    /// # Errors
    /// If the budget is used up.
    pub(super) fn of(net: &Net, n_wires: usize, budget: &Budget) -> Result<Course, GroundError> {
        let mut best = Phases::of(net, Clock::stopped(), budget)?;
        for clock in net.clocks() {
            let phases = Phases::of(net, clock, budget)?;
            if phases.work() < best.work() {
                best = phases;
            }
        }
        let Phases { circuits, clock } = best;
        let n_wires = circuits.iter().map(|circuit| circuit.n_wires).fold(n_wires, usize::max);
        let goals = Circuit::of(&net.scoring(budget)?, net.n_relevant(), n_wires)?;
        Ok(Course { phases: circuits, goals, clock })
    }

    /// The wires of a step and of goals.
    pub(super) fn n_wires(&self) -> usize {
        let of_step = self.phases.iter().map(|circuit| circuit.n_wires).max().unwrap_or(0);
        of_step + self.goals.size(Cone::Goal).0
    }

    /// The phase of a state; none if no such state is reachable.
    pub(super) fn phase_of(&self, state: &BitState) -> Option<usize> {
        let is_of = |values: &Vec<bool>| {
            self.clock.bases.iter().zip(values).all(|(&base, &value)| state.has(base) == value)
        };
        self.clock.phases.iter().position(is_of)
    }
}

/// The circuits of the phases of a clock.
struct Phases {
    circuits: Vec<Circuit>,
    clock: Clock,
}

impl Phases {
    fn of(net: &Net, clock: Clock, budget: &Budget) -> Result<Phases, GroundError> {
        let n_relevant = net.n_relevant();
        let circuit = |values: &Vec<bool>| {
            let known: Vec<(usize, bool)> = clock.bases.iter().copied().zip(values.iter().copied()).collect();
            Circuit::of(&net.stepping(&known, n_relevant, budget)?, n_relevant, 0)
        };
        let circuits = clock.phases.iter().map(circuit).collect::<Result<_, _>>()?;
        Ok(Phases { circuits, clock })
    }

    /// The work of a step, on average.
    fn work(&self) -> f64 {
        self.circuits.iter().map(Circuit::work_of_step).sum::<f64>() / self.circuits.len() as f64
    }
}

impl Circuit {
    /// The work of a step, in evaluated inputs of gates, roughly.
    pub(super) fn work_of_step(&self) -> f64 {
        /// What counting and choosing costs for each move.
        const PER_MOVE: usize = 8;
        let n_moves: usize = self.legal.iter().map(Vec::len).filter(|&n| n > 1).sum();
        (self.work(&[Cone::Legal, Cone::Shared, Cone::Next]) + PER_MOVE * n_moves) as f64
    }

    /// Gates of some cones and their inputs.
    pub(super) fn work(&self, cones: &[Cone]) -> usize {
        cones.iter().map(|&cone| self.size(cone)).map(|(gates, inputs)| gates + inputs).sum()
    }
}
