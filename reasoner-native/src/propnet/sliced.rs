//! Many states side by side: the memory for them, and expansions in lanes.

use reasoner::{Expansion, GoalAnswer, Move};

use super::circuit::{Circuit, Cone};
use super::course::Course;
use super::evaluate::Wires;
use super::lanes::{Lanes, transpose};
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
        bring(wires.range_mut(circuit.base_wire(0), circuit.n_relevant), states);
        let busy = L::ALL.first(u32::try_from(states.len()).unwrap_or(u32::MAX));
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
    /// Appends the successors of at most as many states as there are lanes. `move_wires` are those of the moves made, as
    /// many for each state.
    #[inline(always)]
    pub(super) fn advance(
        &mut self,
        circuit: &Circuit,
        states: &[BitState],
        move_wires: &[usize],
        next: &mut Vec<BitState>,
    ) {
        let Self { wires, stages: Stages { whole: Stage { inputs, .. }, .. }, .. } = self;
        bring(wires.range_mut(circuit.base_wire(0), circuit.n_bases), states);
        // Rollouts leave whatever they played.
        for (&first, legal) in circuit.first_moves.iter().zip(&circuit.legal) {
            wires.range_mut(first, legal.len()).fill(L::NONE);
        }
        let n_each = move_wires.len() / states.len();
        for (lane, made) in move_wires.chunks_exact(n_each).enumerate() {
            made.iter().for_each(|&wire| wires.all_mut()[wire].set(lane, true));
        }
        wires.evaluate(circuit, inputs, Cone::Legal);
        circuit.cones_of_next().iter().for_each(|&cone| wires.evaluate(circuit, inputs, cone));
        let n_words = circuit.n_bases.div_ceil(64);
        let mut words = vec![[0; 64]; n_words];
        for (word_idx, states) in states.chunks(64).enumerate() {
            for (block, taps) in words.iter_mut().zip(circuit.next.chunks(64)) {
                block.fill(0);
                block.iter_mut().zip(taps).for_each(|(row, &tap)| *row = wires.tap(tap).word(word_idx));
                transpose(block);
            }
            next.extend((0..states.len()).map(|lane| BitState::of_words(words.iter().map(|it| it[lane]))));
        }
    }
}

/// Sets the fluents of states, the first state's in the first lane, and of no others.
#[inline(always)]
fn bring<L: Lanes>(bases: &mut [L], states: &[BitState]) {
    bases.fill(L::NONE);
    for (word_idx, states) in states.chunks(64).enumerate() {
        for (block_idx, bases) in bases.chunks_mut(64).enumerate() {
            let mut block = [0; 64];
            block.iter_mut().zip(states).for_each(|(row, state)| *row = state.words()[block_idx]);
            transpose(&mut block);
            bases.iter_mut().zip(&block).for_each(|(base, &lanes)| base.set_word(word_idx, lanes));
        }
    }
}
