//! What rollouts evaluate, step by step: for each phase of the clock a circuit of its own.

use super::circuit::{Circuit, Cone};
use super::state::BitState;
use crate::ground::{Budget, GroundError};
use crate::net::{Clock, Net};

/// The circuits of rollouts, phase by phase.
#[derive(Debug)]
pub(super) struct Course {
    /// By phase.
    pub(super) phases: Vec<Circuit>,
    clock: Clock,
}

impl Course {
    /// The best for a net.
    ///
    /// # Errors
    /// If the budget is used up.
    pub(super) fn of(net: &Net, budget: &Budget) -> Result<Course, GroundError> {
        let mut best = Course::with_clock(net, Clock::stopped(), budget)?;
        for clock in net.clocks() {
            let course = Course::with_clock(net, clock, budget)?;
            if course.work() < best.work() {
                best = course;
            }
        }
        Ok(best)
    }

    fn with_clock(net: &Net, clock: Clock, budget: &Budget) -> Result<Course, GroundError> {
        let n_relevant = net.n_relevant();
        let phase = |values: &Vec<bool>| {
            let known: Vec<(usize, bool)> = clock.bases.iter().copied().zip(values.iter().copied()).collect();
            Circuit::of(&net.stepping(&known, n_relevant, budget)?, n_relevant)
        };
        let phases = clock.phases.iter().map(phase).collect::<Result<_, _>>()?;
        Ok(Course { phases, clock })
    }

    /// The work of a step, on average.
    fn work(&self) -> f64 {
        self.phases.iter().map(Circuit::work_of_step).sum::<f64>() / self.phases.len() as f64
    }

    /// The wires of the largest circuit.
    pub(super) fn n_wires(&self) -> usize {
        self.phases.iter().map(|circuit| circuit.n_wires).max().unwrap_or(0)
    }

    /// The phase of a state; none if no such state is reachable.
    pub(super) fn phase_of(&self, state: &BitState) -> Option<usize> {
        let is_of = |values: &Vec<bool>| {
            self.clock.bases.iter().zip(values).all(|(&base, &value)| state.has(base) == value)
        };
        self.clock.phases.iter().position(is_of)
    }
}

impl Circuit {
    /// The work of a step, in evaluated inputs of gates, roughly.
    pub(super) fn work_of_step(&self) -> f64 {
        /// What counting and choosing costs for each move.
        const PER_MOVE: usize = 8;
        let n_moves: usize = self.legal.iter().map(Vec::len).filter(|&n| n > 1).sum();
        let work: usize = [Cone::Legal, Cone::Shared, Cone::Next].map(|cone| self.work(cone)).iter().sum();
        (work + PER_MOVE * n_moves) as f64
    }

    /// The work of evaluating goals and handing lanes on, in the same unit.
    pub(super) fn work_of_harvest(&self) -> f64 {
        /// What counting or noting a goal costs.
        const PER_GOAL: usize = 12;
        /// What everything else does.
        const ONCE: usize = 200;
        (self.work(Cone::Goal) + PER_GOAL * self.goals.len() + ONCE) as f64
    }
}
