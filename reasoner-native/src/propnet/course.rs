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
    /// The best that is found within the budget for a net, of which `whole` is the circuit; if none is, that one.
    ///
    /// # Errors
    /// [`GroundError::Interrupted`].
    pub(super) fn of(net: &Net, whole: &Circuit, budget: &Budget) -> Result<Course, GroundError> {
        let mut best = Course { phases: vec![whole.clone()], clock: Clock::stopped() };
        for clock in std::iter::once(Clock::stopped()).chain(net.clocks()) {
            match Course::with_clock(net, clock, budget) {
                Ok(course) if course.work() < best.work() => best = course,
                Err(GroundError::Interrupted) => return Err(GroundError::Interrupted),
                Ok(_) => {}
                // A course is worth having, but not needed.
                Err(_) => break,
            }
        }
        Ok(best)
    }

    fn with_clock(net: &Net, clock: Clock, budget: &Budget) -> Result<Course, GroundError> {
        budget.check(0)?;
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

    /// By base: whether goals depend on it, in some phase.
    pub(super) fn bases_of_goals(&self) -> Vec<bool> {
        let is_of_goals = |base| self.phases.iter().any(|circuit| circuit.is_of_goals[base]);
        (0..self.phases[0].n_relevant).map(is_of_goals).collect()
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

    /// The work of evaluating goals and handing lanes on, in the same unit; with states to bring or without.
    pub(super) fn work_of_harvest(&self, brings_states: bool) -> f64 {
        /// What counting or noting a goal costs.
        const PER_GOAL: usize = 12;
        /// What everything else does.
        const ONCE: usize = 200;
        /// What turning states into lanes costs for each base.
        const PER_BASE: usize = 20;
        let of_states = if brings_states { PER_BASE * self.n_bases } else { 0 };
        (self.work(Cone::Goal) + PER_GOAL * self.goals.len() + ONCE + of_states) as f64
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Instant;

    use gdl::{Description, ReadOptions, Rules};
    use reasoner::Interrupt;

    use super::super::network::{self, Origin};
    use super::*;
    use crate::Interpreter;

    #[test]
    fn a_long_count_of_steps_hides_no_clock() {
        let text = "(role you) (role me) (init (turn you)) (init (step 0))
             (<= (legal ?r wait) (role ?r)) (<= (legal ?r go) (true (turn ?r)))
             (<= (next (turn me)) (true (turn you))) (<= (next (turn you)) (true (turn me)))
             (<= (next (gone ?r)) (does ?r go)) (<= terminal (true (step 200)))
             (<= (next (step ?m)) (true (step ?n)) (after ?n ?m))
             (<= (goal ?r 100) (true (gone ?r))) (<= (goal ?r 0) (role ?r) (not (true (gone ?r))))";
        let numbers: String = (0..200).map(|n| format!("(after {n} {})", n + 1)).collect();
        let description = Description::read(&(text.to_owned() + &numbers), ReadOptions::default()).unwrap();
        let rules = Arc::new(Rules::from_description(&description).unwrap());
        let interpreter = Arc::new(Interpreter::new(rules).unwrap());
        let budget = Budget::default();
        let net = network::best(&Origin::of(&interpreter, &budget.interrupt).unwrap(), &budget).unwrap().net;
        let whole = Circuit::of(&net, net.n_relevant()).unwrap();
        assert_eq!(Course::of(&net, &whole, &budget).unwrap().phases.len(), 2);
    }

    #[test]
    fn without_time_for_phases_the_whole_circuit_is_the_course() {
        let text = "(role you) (role me) (init (turn you)) (<= (legal ?r wait) (role ?r)) (<= (legal ?r go) (true (turn ?r)))
             (<= (next (turn me)) (true (turn you))) (<= (next (turn you)) (true (turn me)))
             (<= (next (gone ?r)) (does ?r go)) (<= terminal (true (gone me))) (goal you 100) (goal me 0)";
        let description = Description::read(text, ReadOptions::default()).unwrap();
        let rules = Arc::new(Rules::from_description(&description).unwrap());
        let interpreter = Arc::new(Interpreter::new(rules).unwrap());
        let budget = Budget::default();
        let net = network::best(&Origin::of(&interpreter, &budget.interrupt).unwrap(), &budget).unwrap().net;
        let whole = Circuit::of(&net, net.n_relevant()).unwrap();
        let n_phases = |budget: &Budget| Course::of(&net, &whole, budget).map(|course| course.phases.len());
        assert_eq!(n_phases(&budget).unwrap(), 2);
        assert_eq!(n_phases(&Budget { deadline: Some(Instant::now()), ..Budget::default() }).unwrap(), 1);
        let interrupt = Interrupt::new();
        interrupt.raise();
        let interrupted = Budget { interrupt, ..Budget::default() };
        assert!(matches!(n_phases(&interrupted), Err(GroundError::Interrupted)));
    }
}
