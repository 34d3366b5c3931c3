//! Many states side by side: the memory for them, and expansions in lanes.

use reasoner::{Expansion, GoalAnswer, Move};

use super::choose::Chooser;
use super::circuit::{Circuit, Cone};
use super::course::Course;
use super::evaluate::Wires;
use super::kernel::Level;
use super::lanes::Lanes;
use super::ledger::Seats;
use super::state::BitState;

/// The memory for states in lanes.
#[derive(Debug)]
pub(super) struct Sliced<L> {
    pub(super) wires: Wires<L>,
    /// The choosers of a course, by phase.
    pub(super) by_phase: Vec<Vec<Chooser<L>>>,
    /// Those of the circuit that is good for every state.
    pub(super) whole: Vec<Chooser<L>>,
    pub(super) seats: Seats<L>,
    /// The next state; by base.
    pub(super) next: Vec<L>,
}

impl<L: Lanes> Sliced<L> {
    pub(super) fn new(whole: &Circuit, course: &Course, level: Level) -> Sliced<L> {
        let circuits = || course.phases.iter().chain([whole, &course.goals]);
        Sliced {
            wires: Wires::new(circuits().map(|circuit| circuit.n_wires).max().unwrap_or(0)),
            by_phase: course.phases.iter().map(Chooser::all_of).collect(),
            whole: Chooser::all_of(whole),
            seats: Seats::new(level, whole.n_relevant),
            next: vec![L::NONE; whole.n_relevant],
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
        let wires = &mut self.wires;
        let bases = wires.range_mut(circuit.base_wire(0), circuit.n_relevant);
        bases.fill(L::NONE);
        let mut busy = L::NONE;
        for (lane, state) in states.iter().enumerate() {
            busy.set(lane, true);
            state.for_each_below(circuit.n_relevant, |base| bases[base].set(lane, true));
        }
        wires.evaluate(circuit, Cone::Legal);
        let terminal = wires.tap(circuit.terminal).and(busy);
        if terminal.any() {
            wires.evaluate(circuit, Cone::Shared);
            wires.evaluate(circuit, Cone::Goal);
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
