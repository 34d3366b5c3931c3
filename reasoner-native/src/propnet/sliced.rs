//! Many states side by side: the memory for them, and expansions in lanes.

use reasoner::{Expansion, GoalAnswer, Move};

use super::circuit::{Circuit, Cone};
use super::course::Course;
use super::evaluate::Wires;
use super::lanes::Lanes;
use super::ledger::Seats;
use super::rollout::Circuits;
use super::stage::Stage;
use super::state::BitState;

/// The memory for states in lanes.
#[derive(Debug)]
pub(super) struct Sliced<L> {
    pub(super) wires: Wires<L>,
    pub(super) stages: Stages<L>,
    pub(super) seats: Seats<L>,
    /// How long rollouts have been on average.
    pub(super) mean_length: f64,
}

/// The circuits made ready.
#[derive(Debug)]
pub(super) struct Stages<L> {
    /// Those of a course, by phase.
    by_phase: Vec<Stage<L>>,
    /// That of the circuit that is good for every state.
    whole: Stage<L>,
}

impl<L: Lanes> Stages<L> {
    /// That of a phase, in a course or not.
    #[inline(always)]
    pub(super) fn of(&mut self, circuits: &Circuits<'_>, phase: usize) -> &mut Stage<L> {
        if circuits.is_course { &mut self.by_phase[phase] } else { &mut self.whole }
    }
}

impl<L: Lanes> Sliced<L> {
    pub(super) fn new(whole: &Circuit, course: &Course) -> Sliced<L> {
        /// That of an ordinary game.
        const MEAN_LENGTH: f64 = 40.0;
        let of_goals = course.bases_of_goals();
        let stage_of = |circuit| Stage::new(circuit, &of_goals);
        Sliced {
            wires: Wires::new(whole.n_wires.max(course.n_wires())),
            stages: Stages {
                by_phase: course.phases.iter().map(stage_of).collect(),
                whole: Stage::new(whole, &whole.is_of_goals),
            },
            seats: Seats::new(whole.n_relevant),
            mean_length: MEAN_LENGTH,
        }
    }

    /// Expands at most as many states as there are lanes. `numbers` are those of each role's moves.
    #[inline(always)]
    pub(super) fn expand(
        &mut self,
        circuit: &Circuit,
        numbers: &[Vec<u32>],
        states: &[BitState],
        expansions: &mut [Expansion],
    ) {
        expansions.iter_mut().for_each(Expansion::clear);
        let Self { wires, stages: Stages { whole: Stage { inputs, .. }, .. }, .. } = self;
        let bases = wires.range_mut(circuit.base_wire(0), circuit.n_relevant);
        bases.fill(L::NONE);
        let mut busy = L::NONE;
        for (lane, state) in states.iter().enumerate() {
            busy.set(lane, true);
            state.for_each_below(circuit.n_relevant, |base| bases[base].set(lane, true));
        }
        wires.evaluate(circuit, inputs, Cone::Legal);
        let terminal = wires.tap(circuit.terminal).and(busy);
        if terminal.any() {
            wires.evaluate(circuit, inputs, Cone::Shared);
            wires.evaluate(circuit, inputs, Cone::Goal);
            terminal.for_each(|lane| {
                expansions[lane].terminal = true;
                expansions[lane].goals.resize(numbers.len(), GoalAnswer::None);
            });
            for goal in &circuit.goals {
                wires.tap(goal.tap).and(terminal).for_each(|lane| {
                    let answer = &mut expansions[lane].goals[goal.role];
                    *answer = answer.with(goal.value);
                });
            }
        }
        let going_on = busy.and_not(terminal);
        for (numbers, legal) in numbers.iter().zip(&circuit.legal) {
            for (&number, &tap) in numbers.iter().zip(legal) {
                wires.tap(tap).and(going_on).for_each(|lane| expansions[lane].moves.push(Move(number)));
            }
            going_on.for_each(|lane| {
                let n_moves = expansions[lane].moves.len();
                expansions[lane].ends.push(n_moves);
            });
        }
    }
}
