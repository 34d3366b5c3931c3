//! Random rollouts from one state, in batches, as fast as a reasoner makes them.
//!
//! In go a session, a state and a seed, out come counts. It keeps no time but that of its batches.

use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use reasoner::{Dice, ReasonerError, Rollouts, Session};

/// Rollouts asked for at once: more and more, while that takes no noticeable time. A reasoner that works in lanes
/// needs many times as many as it has lanes, since those that finish first are refilled.
const BATCHES: RangeInclusive<usize> = 1..=8192;
/// What no batch should take much longer than: the one in flight at the end may be lost.
const BATCH_TIME: Duration = Duration::from_millis(100);

/// What rollouts came to.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// Rollouts that ended.
    pub n_rollouts: u64,
    /// Their joint moves.
    pub n_transitions: u64,
    /// The sum of each role's goals.
    pub goal_sums: Vec<u64>,
}

/// Rollouts from one state, one batch after the other.
#[derive(Debug)]
pub struct Sampling<S: Session> {
    session: S,
    /// As often as rollouts are asked for at once.
    states: Vec<S::State>,
    seed: u64,
    n_seeds: u64,
    ends: Rollouts,
    tally: Tally,
}

impl<S: Session> Sampling<S> {
    /// Rollouts from `root` whose seeds follow from `seed`.
    pub fn new(session: S, root: &S::State, seed: u64) -> Sampling<S> {
        let tally = Tally { goal_sums: vec![0; session.roles().len()], ..Tally::default() };
        Sampling {
            session,
            states: vec![root.clone(); *BATCHES.start()],
            seed,
            n_seeds: 0,
            ends: Rollouts::default(),
            tally,
        }
    }

    /// Plays one more batch.
    ///
    /// # Errors
    /// If the reasoner fails or is interrupted; the rollouts that ended before count.
    pub fn batch(&mut self) -> Result<(), ReasonerError> {
        let counters = self.n_seeds..self.n_seeds + self.states.len() as u64;
        self.n_seeds = counters.end;
        let seeds: Vec<u64> = counters.map(|counter| Dice::child_seed(self.seed, counter)).collect();
        let begun = Instant::now();
        let result = self.session.rollouts(&self.states, &seeds, &mut self.ends);
        if begun.elapsed() < BATCH_TIME && self.states.len() < *BATCHES.end() {
            let root = self.states[0].clone();
            self.states.resize(2 * self.states.len(), root);
        }
        for rollout_idx in 0..self.ends.len() {
            self.tally.n_rollouts += 1;
            self.tally.n_transitions += u64::from(self.ends.length(rollout_idx));
            let goals = self.ends.goals(rollout_idx).iter();
            self.tally.goal_sums.iter_mut().zip(goals).for_each(|(sum, &goal)| *sum += u64::from(goal));
        }
        result
    }

    /// What there is so far.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }
}
