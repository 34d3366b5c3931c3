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

/// Batches of one size until another is tried, whatever was found of it before: that may have been chance.
const STEADY: u32 = 32;

/// How many leaves a thread gathers before it rolls out: fewer where that takes long. Runs that only count their
/// playouts keep to what was asked for, so that they can be made again.
///
/// Times are those of a clock on the wall, in which other threads may have had the processor: one long batch tells nothing, two in turn do.
#[derive(Debug)]
pub(crate) struct Pace {
    pub(crate) batch: u64,
    most: u64,
    /// Batches since there were other numbers of leaves.
    n_steady: u32,
    /// What the last one took, if it was long.
    last: Option<Duration>,
    /// What batches took that were halved for that.
    before: Option<Duration>,
    /// Whether half of it was found to take nearly as long.
    is_worthwhile: bool,
    is_timed: bool,
}

impl Pace {
    /// Of at most `most` leaves.
    pub(crate) fn new(most: u64, is_timed: bool) -> Pace {
        let is_timed = is_timed && most > 1;
        Pace { batch: most, most, n_steady: 0, last: None, before: None, is_worthwhile: false, is_timed }
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
        let (last, before) = (self.last.take(), self.before.take());
        self.n_steady = self.n_steady.saturating_add(1);
        let is_due = self.n_steady >= STEADY;
        if before.is_some_and(|before| elapsed > before.mul_f64(NEARLY_AS_LONG)) {
            self.resize(self.batch * 2);
            self.is_worthwhile = true;
        } else if elapsed <= LONG {
            // Twice as many take twice as long at most.
            if elapsed < LONG / 2 || is_due {
                self.resize(self.batch * 2);
            }
        } else if self.batch > 1 && (is_due || !self.is_worthwhile) {
            match last {
                None => self.last = Some(elapsed),
                Some(last) => {
                    self.resize(self.batch / 2);
                    self.before = Some(last.min(elapsed));
                }
            }
        }
    }

    fn resize(&mut self, batch: u64) {
        self.batch = batch.min(self.most);
        self.n_steady = 0;
        self.is_worthwhile = false;
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
        let mut pace = Pace::new(8, true);
        assert_eq!(paced(&mut pace, 8, |n| times(LONG, n)), [8, 8, 4, 4, 2, 2, 1, 1]);
        assert_eq!(paced(&mut pace, 5, |_| LONG / 10), [1, 2, 4, 8, 8]);
        assert!(Pace::new(8, false).begin().is_none(), "what only counts is not timed");
        let long_ago = || Some(Instant::now().checked_sub(LONG * 2).expect("the machine runs for longer"));
        (0..2).for_each(|_| pace.end(long_ago(), 7));
        assert_eq!(pace.batch, 8, "a part of a batch tells nothing");
        (0..2).for_each(|_| pace.end(long_ago(), 8));
        assert_eq!(pace.batch, 4);
    }

    #[test]
    fn batches_stay_where_smaller_ones_take_as_long() {
        let mut pace = Pace::new(64, true);
        let batches = paced(&mut pace, 200, |_| LONG * 20);
        let n_small = batches.iter().filter(|&&batch| batch < 64).count();
        assert!(batches.iter().all(|&batch| batch >= 32) && n_small < 8, "{batches:?}");
        let of_sixteen_lanes = |n: u64| times(LONG / 3, n.div_ceil(16));
        let batches = paced(&mut pace, 120, of_sixteen_lanes);
        let n_whole = batches[40..].iter().filter(|&&batch| batch == 32).count();
        assert!(n_whole > 72 && batches[40..].iter().all(|&batch| batch >= 32), "{batches:?}");
    }

    #[test]
    fn what_was_chance_is_forgotten() {
        // 32 leaves take half as long as 64, fewer as long as 32.
        let length = |n: u64| times(LONG * 11 / 20, n.div_ceil(32));
        let mut pace = Pace::new(64, true);
        let mut n_batches = 0;
        let mut disturbed = |n: u64| {
            n_batches += 1;
            if n_batches % 10 == 0 { LONG * 3 } else { length(n) }
        };
        let mut batches = Vec::new();
        for _ in 0..1000 {
            batches.push(pace.batch);
            pace.take(disturbed(pace.batch));
        }
        let n_small = batches.iter().filter(|&&batch| batch < 32).count();
        assert!(n_small < 100, "{batches:?}");
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
