//! Who plays in which lane, and what becomes of it.

use reasoner::{Tally, Value};

use super::kernel::{AtBegin, Begins, Keys};
use super::lanes::{Lanes, MAX_WORDS, transpose};
use super::state::BitState;

/// Rollouts that wait for lanes, and where their ends go.
pub(super) trait Ledger<L: Lanes> {
    /// Whether rollouts begin in different states, so that each has to be brought to its lane.
    const BRINGS_STATES: bool;

    /// Whether rollouts wait to begin, in whatever phase.
    fn waits(&self) -> bool;

    /// Whether rollouts wait to begin in a phase.
    fn waits_for(&self, phase: usize) -> bool;

    /// The phase in which most that wait begin; none if none waits.
    fn busiest(&self) -> Option<usize>;

    /// Gives free lanes to rollouts that wait for this phase, as far as there are; returns those that begin.
    fn begin(&mut self, free: L, phase: usize, begins: Begins, seats: &mut Seats<L>) -> L;

    /// Another joint move is made by all who have begun and not ended.
    fn step(&mut self);

    /// Rollouts end before this step.
    fn end(&mut self, ends: L, step: u32, keys: &Keys);

    /// A goal of rollouts that have ended: one for each role at most.
    fn goal(&mut self, lanes: L, role: usize, value: Value);
}

/// What rollouts are given with their lanes.
#[derive(Debug)]
pub(super) struct Seats<L> {
    pub(super) keys: Keys,
    /// By base: the states of those that begin, if they begin in several.
    states: Vec<L>,
    /// The one state in which all begin, if they do.
    everywhere: Option<BitState>,
    /// By base: that state, in 64 lanes.
    of_everywhere: Vec<u64>,
}

impl<L: Lanes> Seats<L> {
    pub(super) fn new(n_bases: usize) -> Seats<L> {
        Seats {
            keys: Keys::new(L::N),
            states: vec![L::NONE; n_bases],
            everywhere: None,
            of_everywhere: vec![0; n_bases],
        }
    }

    /// The states of those that begin.
    #[inline(always)]
    pub(super) fn at_begin(&self) -> AtBegin<'_, L> {
        match self.everywhere {
            Some(_) => AtBegin::Everywhere(&self.of_everywhere),
            None => AtBegin::Each(&self.states),
        }
    }

    /// Sets the fluents of a state in all lanes that begin.
    #[inline(always)]
    fn bring_everywhere(&mut self, state: &BitState) {
        if self.everywhere.as_ref().is_some_and(|everywhere| everywhere.is_same(state)) {
            return;
        }
        self.everywhere = Some(state.clone());
        for (base, lanes) in self.of_everywhere.iter_mut().enumerate() {
            *lanes = if state.has(base) { !0 } else { 0 };
        }
    }

    /// Sets the fluents of states in 64 lanes, in each those of its state.
    #[inline(always)]
    fn bring(&mut self, word_idx: usize, states: &[Option<&BitState>; 64]) {
        self.everywhere = None;
        for (block_idx, bases) in self.states.chunks_mut(64).enumerate() {
            let mut block = states.map(|state| state.map_or(0, |state| state.words()[block_idx]));
            transpose(&mut block);
            bases.iter_mut().zip(&block).for_each(|(base, &lanes)| base.set_word(word_idx, lanes));
        }
    }
}

/// A batch in which each rollout has its own seed, and some begin in each state.
pub(super) struct Batch<'a> {
    states: &'a [BitState],
    /// Rollouts of a state.
    n_each: usize,
    seeds: &'a [u64],
    /// By rollout, one per role.
    goals: &'a mut [Value],
    /// By rollout.
    lengths: &'a mut [u32],
    n_roles: usize,
    /// By phase: the rollouts that wait, last first.
    waiting: Vec<Vec<usize>>,
    /// By lane.
    rollouts: Vec<usize>,
}

impl<'a> Batch<'a> {
    /// A batch of as many rollouts from each state as fit the seeds; the states have these phases.
    pub(super) fn new(
        states: &'a [BitState],
        phases: impl DoubleEndedIterator<Item = usize> + ExactSizeIterator,
        n_phases: usize,
        seeds: &'a [u64],
        (goals, lengths): (&'a mut [Value], &'a mut [u32]),
    ) -> Batch<'a> {
        let n_roles = goals.len() / seeds.len();
        let n_each = seeds.len() / states.len();
        let mut waiting = vec![Vec::new(); n_phases];
        for (state_idx, phase) in phases.enumerate().rev() {
            waiting[phase].extend((state_idx * n_each..(state_idx + 1) * n_each).rev());
        }
        Batch { states, n_each, seeds, goals, lengths, n_roles, waiting, rollouts: vec![0; MAX_WORDS * 64] }
    }

    /// Where a rollout begins.
    #[inline(always)]
    fn state_of(&self, rollout: usize) -> &'a BitState {
        &self.states[rollout / self.n_each]
    }
}

impl<L: Lanes> Ledger<L> for Batch<'_> {
    const BRINGS_STATES: bool = true;

    #[inline(always)]
    fn waits(&self) -> bool {
        self.waiting.iter().any(|waiting| !waiting.is_empty())
    }

    #[inline(always)]
    fn waits_for(&self, phase: usize) -> bool {
        !self.waiting[phase].is_empty()
    }

    fn busiest(&self) -> Option<usize> {
        let most = (0..self.waiting.len()).max_by_key(|&phase| self.waiting[phase].len())?;
        (!self.waiting[most].is_empty()).then_some(most)
    }

    #[inline(always)]
    fn begin(&mut self, free: L, phase: usize, begins: Begins, seats: &mut Seats<L>) -> L {
        let mut waiting = std::mem::take(&mut self.waiting[phase]);
        let begin = free.first(u32::try_from(waiting.len()).unwrap_or(u32::MAX));
        for word_idx in 0..L::WORDS {
            let mut rest = begin.word(word_idx);
            if rest == 0 {
                continue;
            }
            let mut states = [None; 64];
            while rest != 0 {
                let bit = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                let lane = word_idx * 64 + bit;
                let rollout = waiting.pop().expect("there are not more lanes than rollouts");
                seats.keys.set(lane, self.seeds[rollout], begins);
                self.rollouts[lane] = rollout;
                states[bit] = Some(self.state_of(rollout));
            }
            seats.bring(word_idx, &states);
        }
        self.waiting[phase] = waiting;
        begin
    }

    #[inline(always)]
    fn step(&mut self) {}

    #[inline(always)]
    fn end(&mut self, ends: L, step: u32, keys: &Keys) {
        ends.for_each(|lane| self.lengths[self.rollouts[lane]] = step - keys.begun(lane));
    }

    #[inline(always)]
    fn goal(&mut self, lanes: L, role: usize, value: Value) {
        lanes.for_each(|lane| self.goals[self.rollouts[lane] * self.n_roles + role] = value);
    }
}

/// A series of rollouts from one state, of which only the sums are wanted.
pub(super) struct Series<'a> {
    pub(super) state: &'a BitState,
    pub(super) phase: usize,
    pub(super) seed: u64,
    /// The number of the first rollout that is not played.
    pub(super) n_rollouts: u32,
    pub(super) tally: &'a mut Tally,
    /// The number of the next rollout that begins.
    pub(super) n_begun: u32,
    /// Those that are in lanes and have not ended.
    pub(super) n_playing: u32,
}

impl<L: Lanes> Ledger<L> for Series<'_> {
    const BRINGS_STATES: bool = false;

    #[inline(always)]
    fn waits(&self) -> bool {
        self.n_begun < self.n_rollouts
    }

    #[inline(always)]
    fn waits_for(&self, phase: usize) -> bool {
        self.phase == phase && Ledger::<L>::waits(self)
    }

    fn busiest(&self) -> Option<usize> {
        Ledger::<L>::waits(self).then_some(self.phase)
    }

    #[inline(always)]
    fn begin(&mut self, free: L, _phase: usize, begins: Begins, seats: &mut Seats<L>) -> L {
        seats.bring_everywhere(self.state);
        let n = free.count().min(self.n_rollouts - self.n_begun);
        let begin = free.first(n);
        seats.keys.set_series(begin, self.seed, self.n_begun, begins);
        self.n_begun += n;
        self.n_playing += n;
        begin
    }

    #[inline(always)]
    fn step(&mut self) {
        self.tally.n_transitions += u64::from(self.n_playing);
    }

    #[inline(always)]
    fn end(&mut self, ends: L, _step: u32, _keys: &Keys) {
        let n = ends.count();
        self.n_playing -= n;
        self.tally.n_rollouts += u64::from(n);
    }

    #[inline(always)]
    fn goal(&mut self, lanes: L, role: usize, value: Value) {
        self.tally.goal_sums[role] += u64::from(lanes.count()) * u64::from(value);
    }
}
