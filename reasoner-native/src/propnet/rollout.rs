//! Rollouts in lanes, from states to the ends of games.
//!
//! In each step the states of all lanes that play are in one phase of the clock, so that the circuit of that phase
//! will do. Lanes that are over wait, with their last state, for a step of the phase in which they ended and for each
//! other, until their goals are evaluated; then they are given to the next rollouts, which begin with the phase of
//! their state.

use reasoner::{Interrupt, Lot, MAX_ROLLOUT_STEPS};

use super::circuit::{Circuit, Cone};
use super::kernel::{Begins, Exceptions};
use super::lanes::Lanes;
use super::ledger::{Ledger, Seats};
use super::sliced::Sliced;
use super::stage::Stage;

/// Steps between two looks at the interrupt.
pub(super) const STEPS_AT_ONCE: u32 = 32;

/// What steps are evaluated with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Circuits<'a> {
    /// By phase.
    pub(super) phases: &'a [Circuit],
    /// Whether the phases are those of the course; otherwise there is one circuit, good for every state.
    pub(super) is_course: bool,
}

/// Rollouts being played.
pub(super) struct RollOut<'a, L, B> {
    pub(super) circuits: Circuits<'a>,
    pub(super) sliced: &'a mut Sliced<L>,
    pub(super) ledger: B,
    pub(super) interrupt: &'a Interrupt,
}

/// Which lanes are where.
struct Masks<L> {
    /// Those with a rollout.
    busy: L,
    /// Those whose rollout has ended.
    over: L,
    /// By phase: those of them that ended in it.
    over_in: Vec<L>,
    /// Those whose rollout begins with the next step.
    begins: L,
}

impl<L: Lanes, B: Ledger<L>> RollOut<'_, L, B> {
    /// Plays all rollouts; whether it did: not if the interrupt is raised.
    #[inline(always)]
    pub(super) fn run(mut self) -> bool {
        let n_phases = self.circuits.phases.len();
        let mut masks =
            Masks { busy: L::NONE, over: L::NONE, over_in: vec![L::NONE; n_phases], begins: L::NONE };
        let Some(mut phase) = self.begin_anew(&mut masks, 0) else { return true };
        // When the oldest rollout becomes too long.
        let mut too_long = MAX_ROLLOUT_STEPS;
        let (mut n_ended, mut n_waiting) = (0u64, 1);
        for step in 0u32.. {
            if step % STEPS_AT_ONCE == 0 {
                if self.interrupt.is_raised() {
                    return false;
                }
                n_waiting = self.n_waiting(step, n_ended);
            }
            let goes_on = self.legality(phase);
            let mut ends = masks.busy.and_not(goes_on).and_not(masks.over);
            if step >= too_long {
                too_long = self.cut_off(&masks, step, &mut ends);
            }
            if ends.any() {
                n_ended += u64::from(ends.count());
                self.ledger.end(ends, step, &self.sliced.seats.keys);
                masks.over = masks.over.or(ends);
                masks.over_in[phase] = masks.over_in[phase].or(ends);
            }
            self.ledger.step();
            let over = masks.over_in[phase];
            if over.any() && (over.count() >= n_waiting && self.ledger.waits() || masks.over == masks.busy) {
                self.harvest(phase, over);
                masks.busy = masks.busy.and_not(over);
                masks.over = masks.over.and_not(over);
                masks.over_in[phase] = L::NONE;
            }
            let next_phase = if phase + 1 == n_phases { 0 } else { phase + 1 };
            if masks.busy != L::ALL {
                self.begin(&mut masks, next_phase, step + 1);
            }
            if !masks.busy.any() {
                let Some(other) = self.begin_anew(&mut masks, step + 1) else { return true };
                phase = other;
                continue;
            }
            self.step(phase, step);
            self.advance(phase, &mut masks);
            phase = next_phase;
        }
        unreachable!("a batch of 2^32 steps does not fit the memory, and longer series are parted")
    }

    /// How many lanes that ended in one phase wait for each other: the more, the dearer goals are beside a step
    /// (PROPNET.md, "Goals deferred"). With `n` of `N` lanes waiting in each of `P` phases, `P n / 2 N` of the steps are
    /// lost, and a harvest of work `G`, with the states of those that begin, comes every `n / (N / length)` steps of work `S`: together least for
    /// `n = N sqrt(2 G / (S P length))`.
    fn n_waiting(&mut self, step: u32, n_ended: u64) -> u32 {
        if n_ended > 0 {
            self.sliced.mean_length = f64::from(step) * L::N as f64 / n_ended as f64;
        }
        let phases = self.circuits.phases;
        let of_steps: f64 = phases.iter().map(Circuit::work_of_step).sum();
        let of_harvests: f64 = phases.iter().map(|it| it.work_of_harvest(B::BRINGS_STATES)).sum();
        let per_step = 2.0 * of_harvests / (of_steps * phases.len() as f64 * self.sliced.mean_length);
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "lanes are few, and casts saturate"
        )]
        let n_waiting = (L::N as f64 * per_step.sqrt()) as u32;
        n_waiting.max(1)
    }

    /// Lets rollouts of the phase in which most wait begin in all lanes; returns the phase, if any waits.
    fn begin_anew(&mut self, masks: &mut Masks<L>, step: u32) -> Option<usize> {
        let phase = self.ledger.busiest()?;
        self.begin(masks, phase, step);
        masks.begins = L::NONE;
        let Sliced { wires, seats, .. } = &mut *self.sliced;
        let first = self.circuits.phases[phase].base_wire(0);
        seats.at_begin().copy_to(&mut wires.all_mut()[first..]);
        Some(phase)
    }

    /// Gives lanes that are not busy to rollouts that begin with this step.
    #[inline(always)]
    fn begin(&mut self, masks: &mut Masks<L>, phase: usize, step: u32) {
        if self.ledger.waits_for(phase) {
            let offset = step.wrapping_mul(self.n_roles()).wrapping_mul(Lot::STRIDE);
            let begins = Begins { step, offset };
            masks.begins = self.ledger.begin(masks.busy.not(), phase, begins, &mut self.sliced.seats);
            masks.busy = masks.busy.or(masks.begins);
        }
    }

    #[inline(always)]
    fn n_roles(&self) -> u32 {
        u32::try_from(self.circuits.phases[0].legal.len()).expect("roles are few")
    }

    /// Evaluates legality and counts moves; the lanes whose game goes on.
    #[inline(always)]
    fn legality(&mut self, phase: usize) -> L {
        let circuit = &self.circuits.phases[phase];
        let Sliced { wires, stages, .. } = &mut *self.sliced;
        let Stage { inputs, choosers, .. } = stages.of(&self.circuits, phase);
        wires.evaluate(circuit, inputs, Cone::Legal);
        wires.evaluate(circuit, inputs, Cone::Shared);
        // A loop, since closures are compiled without the processor's features.
        let mut goes_on = wires.tap(circuit.terminal).not();
        for chooser in choosers {
            goes_on = goes_on.and(chooser.count(wires));
        }
        goes_on
    }

    /// Adds rollouts that are too long to those that end; when the next one becomes so.
    #[cold]
    fn cut_off(&self, masks: &Masks<L>, step: u32, ends: &mut L) -> u32 {
        let mut earliest = step;
        masks.busy.and_not(masks.over).for_each(|lane| {
            let begun = self.sliced.seats.keys.begun(lane);
            if step - begun >= MAX_ROLLOUT_STEPS {
                ends.set(lane, true);
            } else {
                earliest = earliest.min(begun);
            }
        });
        earliest + MAX_ROLLOUT_STEPS
    }

    /// Evaluates the goals of rollouts that have ended in this phase.
    #[inline(always)]
    fn harvest(&mut self, phase: usize, over: L) {
        let circuit = &self.circuits.phases[phase];
        let Sliced { wires, stages, .. } = &mut *self.sliced;
        let Stage { inputs, .. } = stages.of(&self.circuits, phase);
        wires.evaluate(circuit, inputs, Cone::Goal);
        let (mut role, mut rest) = (0, over);
        for goal in &circuit.goals {
            if goal.role != role {
                (role, rest) = (goal.role, over);
            }
            let lanes = wires.tap(goal.tap).and(rest);
            rest = rest.and_not(lanes);
            self.ledger.goal(lanes, role, goal.value);
        }
    }

    /// Chooses moves and evaluates what comes of them.
    #[inline(always)]
    fn step(&mut self, phase: usize, step: u32) {
        let circuit = &self.circuits.phases[phase];
        let choice = step.wrapping_mul(self.n_roles());
        let Sliced { wires, stages, seats: Seats { keys, .. }, .. } = &mut *self.sliced;
        let Stage { inputs, choosers, .. } = stages.of(&self.circuits, phase);
        for chooser in choosers {
            let role = u32::try_from(chooser.role).expect("roles are few");
            let offset = choice.wrapping_add(role).wrapping_mul(Lot::STRIDE);
            chooser.choose(wires, keys, offset);
        }
        wires.evaluate(circuit, inputs, Cone::Next);
    }

    /// Makes the next state the state, in lanes that have not ended.
    #[inline(always)]
    fn advance(&mut self, phase: usize, masks: &mut Masks<L>) {
        let Sliced { wires, stages, seats, .. } = &mut *self.sliced;
        let Stage { changes, .. } = stages.of(&self.circuits, phase);
        let begins = std::mem::replace(&mut masks.begins, L::NONE);
        changes.apply(wires, &Exceptions { over: masks.over, begins, at_begin: seats.at_begin() });
    }
}
