//! Random rollouts from one state, in batches, as fast as a reasoner makes them.
//!
//! In go a session, a state and a seed, out come counts and the time that they took. When to end is not its matter.

use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use reasoner::{Dice, ReasonerError, Session, Tally};

use crate::processor_time;

/// Rollouts asked for at once: more and more, while that takes no noticeable time. A reasoner that works in lanes
/// needs many times as many as it has lanes, since those that finish first are refilled.
const BATCHES: RangeInclusive<u32> = 1..=1 << 22;
/// What batches may take from the first on.
const BATCH_TIME: Duration = Duration::from_millis(40);
/// Later ones may take so great a part of the time of all before them. At the end of each, lanes are empty while the last
/// rollouts are played: that should be little of it, also where rollouts are long.
const BATCH_SHARE: u32 = 4;
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
    sampled: Sampled,
}

/// What batches came to, and what they took.
#[derive(Debug, Clone)]
pub struct Sampled {
    /// What all their rollouts came to.
    pub tally: Tally,
    /// How long they took.
    pub time: Duration,
    /// Processor time of the thread meanwhile.
    pub processor_time: Duration,
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
            sampled: Sampled { tally, time: Duration::ZERO, processor_time: Duration::ZERO },
        }
    }

    /// Plays one more batch.
    ///
    /// # Errors
    /// If the reasoner fails or is interrupted; then neither the batch nor its time counts.
    pub fn batch(&mut self) -> Result<(), ReasonerError> {
        let seed = Dice::child_seed(self.seed, self.n_batches);
        self.n_batches += 1;
        let mut tally = Tally::new(self.sampled.tally.goal_sums.len());
        let (begun, processor_begun) = (Instant::now(), processor_time::of_this_thread());
        self.session.tally(&self.root, seed, self.batch, &mut tally)?;
        let time = processor_time::of_this_thread().saturating_sub(processor_begun);
        self.sampled.tally.merge(&tally);
        self.sampled.time += begun.elapsed();
        self.sampled.processor_time += time;
        let time_each = time / self.batch;
        let is_filling = time < FILLING_TIME && time_each < self.time_each.mul_f64(0.75);
        let is_short = time < BATCH_TIME.max(self.sampled.processor_time / BATCH_SHARE);
        if (is_short || is_filling) && self.batch < *BATCHES.end() {
            self.batch *= 2;
        }
        self.time_each = time_each;
        Ok(())
    }

    /// What there is so far.
    pub fn sampled(&self) -> &Sampled {
        &self.sampled
    }
}
