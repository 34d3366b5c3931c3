//! Random rollouts from one state, in batches, as fast as a reasoner makes them.
//!
//! In go a session, a state and a seed, out come counts. It keeps no time but that of its batches.

use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use reasoner::{Dice, ReasonerError, Session, Tally};

/// Rollouts asked for at once: more and more, while that takes no noticeable time. A reasoner that works in lanes
/// needs many times as many as it has lanes, since those that finish first are refilled.
const BATCHES: RangeInclusive<u32> = 1..=1 << 22;
/// What no batch should take much longer than: the one in flight at the end is lost.
const BATCH_TIME: Duration = Duration::from_millis(40);
/// What one may take while twice as many rollouts take hardly more time than so many did: lanes are filling.
const FILLING_TIME: Duration = Duration::from_millis(500);

/// Rollouts from one state, one batch after the other.
#[derive(Debug)]
pub struct Sampling<S: Session> {
    session: S,
    root: S::State,
    seed: u64,
    n_batches: u64,
    batch: u32,
    /// What the batch before took for each of its rollouts.
    time_each: Duration,
    tally: Tally,
}

impl<S: Session> Sampling<S> {
    /// Rollouts from `root` whose seeds follow from `seed`.
    pub fn new(session: S, root: &S::State, seed: u64) -> Sampling<S> {
        let tally = Tally::new(session.roles().len());
        Sampling {
            session,
            root: root.clone(),
            seed,
            n_batches: 0,
            batch: *BATCHES.start(),
            time_each: FILLING_TIME,
            tally,
        }
    }

    /// Plays one more batch.
    ///
    /// # Errors
    /// If the reasoner fails or is interrupted; then the batch does not count.
    pub fn batch(&mut self) -> Result<(), ReasonerError> {
        let seed = Dice::child_seed(self.seed, self.n_batches);
        self.n_batches += 1;
        let mut tally = Tally::new(self.tally.goal_sums.len());
        let begun = Instant::now();
        self.session.tally(&self.root, seed, self.batch, &mut tally)?;
        self.tally.merge(&tally);
        let time = begun.elapsed();
        let time_each = time / self.batch;
        let is_filling = time < FILLING_TIME && time_each < self.time_each.mul_f64(0.75);
        if (time < BATCH_TIME || is_filling) && self.batch < *BATCHES.end() {
            self.batch *= 2;
        }
        self.time_each = time_each;
        Ok(())
    }

    /// What there is so far.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }
}
