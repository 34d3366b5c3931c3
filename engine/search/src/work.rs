//! A thread's share of work in a run, by the measure that the caller handed in.

use std::time::{Duration, Instant};

use crate::counters::Counter;
use crate::options::WorkLimit;

/// The most playouts between two looks at the measure. A look is a system call, some 0.3 microseconds.
const MAX_STRIDE: u32 = 64;
/// The stride grows while the work between two looks is below this part of the limit, so that a run ends late
/// by about as little, however fast playouts are.
const FINENESS: u32 = 1000;

/// Tells a thread when it has worked enough.
#[derive(Debug)]
pub(crate) struct Stopwatch {
    limit: WorkLimit,
    started: Duration,
    /// The work at the last look, if there was one.
    last: Option<Duration>,
    /// Playouts until the next look.
    left: u32,
    stride: u32,
}

impl Stopwatch {
    /// Begins to count the calling thread's work.
    pub(crate) fn start(limit: WorkLimit) -> Stopwatch {
        let started = (limit.worked)();
        Stopwatch { limit, started, last: None, left: 0, stride: 1 }
    }

    /// Whether the limit is reached; to be called before each playout, by the thread that started it. What every look
    /// finds goes to `work_ns`.
    pub(crate) fn is_over(&mut self, work_ns: &Counter) -> bool {
        if self.left > 0 {
            self.left -= 1;
            return false;
        }
        let worked = self.look(work_ns);
        if let Some(last) = self.last.replace(worked) {
            let is_fine = worked.saturating_sub(last) < self.limit.limit / FINENESS;
            self.stride = if is_fine { (self.stride * 2).min(MAX_STRIDE) } else { (self.stride / 2).max(1) };
        }
        self.left = self.stride - 1;
        worked >= self.limit.limit
    }

    /// How long the thread has worked; in nanoseconds in `work_ns` too.
    pub(crate) fn look(&self, work_ns: &Counter) -> Duration {
        let worked = (self.limit.worked)().saturating_sub(self.started);
        work_ns.raise(u64::try_from(worked.as_nanos()).unwrap_or(u64::MAX));
        worked
    }
}

/// How long a batch may take in a run that ends at some moment: what it still has in flight then is lost.
const LONG: Duration = Duration::from_millis(4);

/// Half a batch that takes more than this part of a whole one's time is not worth it: lanes that stay empty take as long as others.
const NEARLY_AS_LONG: f64 = 0.75;

/// Batches until one is halved again for which that was not worth it: what was measured may have been chance.
const TRUSTED: u32 = 32;

/// How many leaves a thread gathers before it rolls out: fewer where that takes long. Runs that only count their
/// playouts keep to what was asked for, so that they can be made again.
#[derive(Debug)]
pub(crate) struct Pace {
    pub(crate) batch: u64,
    most: u64,
    /// What a batch took, if it was halved for that.
    before: Option<Duration>,
    /// Batches that are not halved.
    n_trusted: u32,
    is_timed: bool,
}

impl Pace {
    /// Of at most `most` leaves.
    pub(crate) fn new(most: u64, is_timed: bool) -> Pace {
        Pace { batch: most, most, before: None, n_trusted: 0, is_timed: is_timed && most > 1 }
    }

    /// A batch begins.
    pub(crate) fn begin(&self) -> Option<Instant> {
        self.is_timed.then(Instant::now)
    }

    /// It is done, and had so many leaves.
    pub(crate) fn end(&mut self, started: Option<Instant>, n_leaves: u64) {
        if let Some(started) = started
            && n_leaves == self.batch
        {
            self.take(started.elapsed());
        }
    }

    /// A whole batch took so long.
    fn take(&mut self, elapsed: Duration) {
        let was_in_vain = self.before.take().is_some_and(|before| elapsed > before.mul_f64(NEARLY_AS_LONG));
        self.n_trusted = self.n_trusted.saturating_sub(1);
        if was_in_vain {
            self.n_trusted = TRUSTED;
            self.batch = (self.batch * 2).min(self.most);
        } else if elapsed > LONG && self.batch > 1 && self.n_trusted == 0 {
            self.before = Some(elapsed);
            self.batch /= 2;
        } else if elapsed < LONG / 2 {
            // Twice as many take twice as long at most.
            self.batch = (self.batch * 2).min(self.most);
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        static WORKED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    }

    fn times(length: Duration, n: u64) -> Duration {
        length * u32::try_from(n).expect("small")
    }

    /// The leaves of batches, each of which takes as long as `length` tells of its leaves.
    fn paced(pace: &mut Pace, n_batches: usize, length: impl Fn(u64) -> Duration) -> Vec<u64> {
        let paced = |_| {
            let batch = pace.batch;
            pace.take(length(batch));
            batch
        };
        (0..n_batches).map(paced).collect()
    }

    #[test]
    fn batches_shrink_while_they_take_long_and_grow_again() {
        let mut pace = Pace::new(64, true);
        assert_eq!(paced(&mut pace, 9, |n| times(LONG, n)), [64, 32, 16, 8, 4, 2, 1, 1, 1]);
        assert_eq!(paced(&mut pace, 8, |_| LONG / 10), [1, 2, 4, 8, 16, 32, 64, 64]);
        assert!(Pace::new(64, false).begin().is_none(), "what only counts is not timed");
        let long_ago = Instant::now().checked_sub(LONG * 2);
        assert!(long_ago.is_some());
        pace.end(long_ago, 63);
        assert_eq!(pace.batch, 64, "a part of a batch tells nothing");
        pace.end(long_ago, 64);
        assert_eq!(pace.batch, 32);
    }

    #[test]
    fn batches_stay_where_smaller_ones_take_as_long() {
        let mut pace = Pace::new(64, true);
        let batches = paced(&mut pace, 200, |_| LONG * 20);
        let n_small = batches.iter().filter(|&&batch| batch < 64).count();
        assert!(batches.iter().all(|&batch| batch >= 32) && n_small < 8, "{batches:?}");
        let of_sixteen_lanes = |n: u64| times(LONG / 3, n.div_ceil(16));
        assert_eq!(paced(&mut pace, 60, of_sixteen_lanes)[40..], [32; 20]);
    }

    #[test]
    fn what_was_chance_is_forgotten() {
        let mut pace = Pace::new(64, true);
        let linear = |n| times(LONG / 16, n);
        paced(&mut pace, 1, linear);
        // The first half comes upon other work.
        paced(&mut pace, 1, |_| LONG * 4);
        assert_eq!(paced(&mut pace, 1, linear), [64]);
        let batches = paced(&mut pace, 60, linear);
        assert!(batches[40..].iter().all(|&batch| batch <= 16), "{batches:?}");
    }

    /// Playouts of a given length until a limit is reached.
    fn playouts_within(limit: Duration, each: Duration) -> u32 {
        let mut stopwatch = Stopwatch::start(WorkLimit { worked: || WORKED.get(), limit });
        let (mut n_playouts, work_ns) = (0, Counter::default());
        while !stopwatch.is_over(&work_ns) {
            WORKED.set(WORKED.get() + each);
            n_playouts += 1;
        }
        assert!(u128::from(work_ns.get()) >= limit.as_nanos(), "the last look is told");
        n_playouts
    }

    #[test]
    fn a_limit_is_kept_to_one_slow_playout_or_a_few_fast_ones() {
        let limit = Duration::from_millis(100);
        assert_eq!(playouts_within(limit, Duration::from_millis(30)), 4);
        assert_eq!(playouts_within(limit, limit), 1);
        assert_eq!(playouts_within(Duration::ZERO, limit), 0);
        let fast = playouts_within(limit, Duration::from_micros(1));
        assert!((100_000..100_200).contains(&fast), "{fast}");
    }
}
