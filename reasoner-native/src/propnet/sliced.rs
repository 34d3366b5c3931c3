//! Many states side by side: rollouts and expansions in lanes.

use reasoner::{Expansion, GoalAnswer, Interrupt, Lot, MAX_ROLLOUT_STEPS, Move, Value};

use super::choose::Chooser;
use super::circuit::{Circuit, Cone};
use super::evaluate::Wires;
use super::kernel::{Keys, Level};
use super::lanes::{Lanes, MAX_WORDS};
use super::state::BitState;

/// Steps between two looks at the interrupt.
pub(super) const STEPS_AT_ONCE: u32 = 32;

/// The memory for states in lanes.
#[derive(Debug)]
pub(super) struct Sliced<L> {
    wires: Wires<L>,
    choosers: Vec<Chooser<L>>,
    keys: Keys,
    /// The next state; by base.
    next: Vec<L>,
    incoming: Incoming<L>,
    lanes: Vec<Lane>,
    /// Finished rollouts that must wait for each other until their goals are evaluated.
    n_waiting: u32,
}

/// What a lane is at.
#[derive(Debug, Clone, Copy, Default)]
struct Lane {
    rollout: usize,
    /// The step with which it began.
    begun: u32,
}

/// Rollouts to be played, and where their ends go; `goals` has one value per role for each.
pub(super) struct Batch<'a> {
    pub(super) states: &'a [BitState],
    pub(super) seeds: &'a [u64],
    pub(super) goals: &'a mut [Value],
    pub(super) lengths: &'a mut [u32],
}

impl<L: Lanes> Sliced<L> {
    pub(super) fn new(circuit: &Circuit) -> Sliced<L> {
        Sliced {
            wires: Wires::new(circuit),
            choosers: (0..circuit.legal.len()).map(|role| Chooser::new(circuit, role)).collect(),
            keys: Keys::new(L::N),
            next: vec![L::NONE; circuit.n_relevant],
            incoming: Incoming { bases: vec![L::NONE; circuit.n_relevant], everywhere: None },
            lanes: vec![Lane::default(); L::N],
            n_waiting: n_waiting::<L>(circuit),
        }
    }
}

impl<L: Lanes> Sliced<L> {
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

/// How many finished lanes wait until goals are evaluated: the more, the dearer goals are beside a step (PROPNET.md,
/// "Goals deferred"). Even where they cost nothing, giving lanes to the next rollouts does.
fn n_waiting<L: Lanes>(circuit: &Circuit) -> u32 {
    let n_moves: usize = circuit.legal.iter().map(Vec::len).sum();
    let work = |&cone: &Cone| {
        let (gates, inputs) = circuit.size(cone);
        gates + inputs
    };
    let of = |cones: &[Cone]| cones.iter().map(work).sum::<usize>() as f64;
    let ratio = of(&[Cone::Goal]) / (of(&[Cone::Legal, Cone::Shared, Cone::Next]) + 8.0 * n_moves as f64);
    let part = match ratio {
        ratio if ratio < 0.3 => 16,
        ratio if ratio < 2.0 => 8,
        _ => 4,
    };
    u32::try_from(L::N / part).expect("lanes are few")
}

/// A [`Batch`] being played.
pub(super) struct RollOut<'a, L> {
    pub(super) circuit: &'a Circuit,
    pub(super) sliced: &'a mut Sliced<L>,
    pub(super) batch: Batch<'a>,
    pub(super) interrupt: &'a Interrupt,
}

/// Which lanes are where.
struct Masks<L> {
    /// Those with a rollout.
    busy: L,
    /// Those whose rollout has ended.
    over: L,
    /// Those whose rollout begins with the next step.
    begins: L,
}

impl<L: Lanes> RollOut<'_, L> {
    /// Plays all rollouts; whether it did: not if the interrupt is raised.
    #[inline(always)]
    pub(super) fn run(mut self, level: Level) -> bool {
        let circuit = self.circuit;
        let n_roles = u32::try_from(circuit.legal.len()).expect("roles are few");
        let mut masks = Masks { busy: L::NONE, over: L::NONE, begins: L::NONE };
        let mut queue = 0;
        self.refill(&mut masks, L::ALL, &mut queue, 0);
        self.load();
        masks.begins = L::NONE;
        // When the oldest rollout becomes too long.
        let mut too_long = MAX_ROLLOUT_STEPS;
        for step in 0u32.. {
            if step % STEPS_AT_ONCE == 0 && self.interrupt.is_raised() {
                return false;
            }
            let Sliced { wires, choosers, .. } = &mut *self.sliced;
            wires.evaluate(circuit, Cone::Legal);
            wires.evaluate(circuit, Cone::Shared);
            let mut goes_on = wires.tap(circuit.terminal).not();
            for chooser in &mut *choosers {
                goes_on = goes_on.and(chooser.count(wires));
            }
            let mut ends = masks.busy.and_not(goes_on).and_not(masks.over);
            if step >= too_long {
                too_long = self.cut_off(&masks, step, &mut ends);
            }
            if ends.any() {
                self.end(ends, step);
                masks.over = masks.over.or(ends);
            }
            if masks.over.any() && (masks.over.count() >= self.sliced.n_waiting || masks.over == masks.busy) {
                self.harvest(masks.over);
                let free = std::mem::replace(&mut masks.over, L::NONE);
                masks.busy = masks.busy.and_not(free);
                self.refill(&mut masks, free, &mut queue, step + 1);
                if !masks.busy.any() {
                    return true;
                }
            }
            self.step(level, step.wrapping_mul(n_roles));
            self.advance(&mut masks);
        }
        unreachable!("no batch has 2^32 steps")
    }

    /// Gives waiting rollouts to free lanes, those of one state together.
    #[inline(always)]
    fn refill(&mut self, masks: &mut Masks<L>, free: L, queue: &mut usize, step: u32) {
        let n_roles = u32::try_from(self.circuit.legal.len()).expect("roles are few");
        let offset = step.wrapping_mul(n_roles).wrapping_mul(Lot::STRIDE);
        let Batch { states, seeds, .. } = &self.batch;
        let Sliced { keys, lanes, incoming, .. } = &mut *self.sliced;
        let mut begins = [0; MAX_WORDS];
        // Lanes that begin with the state that is at hand.
        let mut alike = [0; MAX_WORDS];
        for (word_idx, &word) in free.words().iter().enumerate() {
            let mut rest = word;
            while rest != 0 && *queue < states.len() {
                let bit = rest & rest.wrapping_neg();
                let lane = word_idx * 64 + rest.trailing_zeros() as usize;
                rest ^= bit;
                begins[word_idx] |= bit;
                alike[word_idx] |= bit;
                let rollout = *queue;
                *queue += 1;
                keys.set(lane, seeds[rollout], offset);
                lanes[lane] = Lane { rollout, begun: step };
                let is_last = states.get(rollout + 1).is_none_or(|next| !next.is_same(&states[rollout]));
                if is_last {
                    incoming.bring(&states[rollout], L::of_words(&alike));
                    alike = [0; MAX_WORDS];
                }
            }
        }
        let alike = L::of_words(&alike);
        if alike.any() {
            incoming.bring(&states[*queue - 1], alike);
        }
        masks.begins = L::of_words(&begins);
        masks.busy = masks.busy.or(masks.begins);
    }

    /// Sets the fluents of all lanes.
    #[inline(always)]
    fn load(&mut self) {
        let Sliced { wires, incoming, .. } = &mut *self.sliced;
        wires.range_mut(self.circuit.base_wire(0), incoming.bases.len()).copy_from_slice(&incoming.bases);
    }

    /// Adds rollouts that are too long to those that end; when the next one becomes so.
    #[cold]
    fn cut_off(&self, masks: &Masks<L>, step: u32, ends: &mut L) -> u32 {
        let mut earliest = step;
        masks.busy.and_not(masks.over).for_each(|lane| {
            let begun = self.sliced.lanes[lane].begun;
            if step - begun >= MAX_ROLLOUT_STEPS {
                ends.set(lane, true);
            } else {
                earliest = earliest.min(begun);
            }
        });
        earliest + MAX_ROLLOUT_STEPS
    }

    /// Notes the lengths of rollouts that end.
    #[inline(always)]
    fn end(&mut self, ends: L, step: u32) {
        ends.for_each(|lane| {
            let Lane { rollout, begun } = self.sliced.lanes[lane];
            self.batch.lengths[rollout] = step - begun;
        });
    }

    /// Evaluates the goals of rollouts that have ended.
    #[inline(always)]
    fn harvest(&mut self, over: L) {
        let circuit = self.circuit;
        let n_roles = circuit.legal.len();
        self.sliced.wires.evaluate(circuit, Cone::Goal);
        for goal in &circuit.goals {
            self.sliced.wires.tap(goal.tap).and(over).for_each(|lane| {
                let value = &mut self.batch.goals[self.sliced.lanes[lane].rollout * n_roles + goal.role];
                *value = goal.value.max(*value);
            });
        }
    }

    /// Chooses moves and evaluates what comes of them.
    #[inline(always)]
    fn step(&mut self, level: Level, choice: u32) {
        let Sliced { wires, choosers, keys, .. } = &mut *self.sliced;
        let mut offset = choice.wrapping_mul(Lot::STRIDE);
        for chooser in choosers {
            chooser.choose(level, wires, keys, offset);
            offset = offset.wrapping_add(Lot::STRIDE);
        }
        wires.evaluate(self.circuit, Cone::Next);
    }

    /// Makes the next state the state, in lanes that have not ended.
    #[inline(always)]
    fn advance(&mut self, masks: &mut Masks<L>) {
        let Sliced { wires, next, incoming, .. } = &mut *self.sliced;
        let first = self.circuit.base_wire(0);
        for (place, &tap) in next.iter_mut().zip(&self.circuit.next) {
            *place = wires.tap(tap);
        }
        let n_bases = next.len();
        let bases = wires.range_mut(first, n_bases);
        if !masks.over.any() && !masks.begins.any() {
            bases.copy_from_slice(next);
            return;
        }
        for ((base, &next), &incoming) in bases.iter_mut().zip(&*next).zip(&incoming.bases) {
            *base = masks.begins.pick(incoming, masks.over.pick(*base, next));
        }
        masks.begins = L::NONE;
    }
}

/// The states of rollouts that begin.
#[derive(Debug)]
struct Incoming<L> {
    /// By base.
    bases: Vec<L>,
    /// The state that all lanes have, if it is one.
    everywhere: Option<BitState>,
}

impl<L: Lanes> Incoming<L> {
    /// Sets the fluents of a state in some lanes; others may lose theirs only if the same state is everywhere.
    #[inline(always)]
    fn bring(&mut self, state: &BitState, lanes: L) {
        match &self.everywhere {
            Some(everywhere) if everywhere.is_same(state) => return,
            _ => self.everywhere = (lanes == L::ALL).then(|| state.clone()),
        }
        for (base, incoming) in self.bases.iter_mut().enumerate() {
            *incoming = if state.has(base) { incoming.or(lanes) } else { incoming.and_not(lanes) };
        }
    }
}
