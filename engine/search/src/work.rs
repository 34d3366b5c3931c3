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

/// How long it may take where smaller ones are as long, since lanes that are empty cost as much as others.
const TOO_LONG: Duration = Duration::from_millis(32);

/// A leaf of half a batch may take so many times as long as one of a whole one.
const DEARER: f64 = 1.25;

/// How many leaves a thread gathers before it rolls out: fewer where that takes long. Runs that only count their
/// playouts keep to what was asked for, so that they can be made again.
#[derive(Debug)]
pub(crate) struct Pace {
    pub(crate) batch: u64,
    most: u64,
    /// Fewer made a leaf dearer.
    least: u64,
    /// Seconds a leaf took, if the batch was halved for that.
    each_before: Option<f64>,
    is_timed: bool,
}

impl Pace {
    /// Of at most `most` leaves.
    pub(crate) fn new(most: u64, is_timed: bool) -> Pace {
        Pace { batch: most, most, least: 1, each_before: None, is_timed: is_timed && most > 1 }
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
        let each = elapsed.as_secs_f64() / self.batch as f64;
        let is_dearer = self.each_before.take().is_some_and(|before| each > DEARER * before);
        if is_dearer && elapsed <= TOO_LONG {
            self.batch = (self.batch * 2).min(self.most);
            self.least = self.batch;
        } else if elapsed > TOO_LONG || elapsed > LONG && self.batch > self.least {
            self.each_before = Some(each);
            self.batch = (self.batch / 2).max(1);
        } else if elapsed < LONG / 2 {
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

    /// The leaves of the last of some batches, each of which takes as long as `length` tells of its leaves.
    fn settled(length: impl Fn(u64) -> Duration) -> u64 {
        let mut pace = Pace::new(64, true);
        (0..20).for_each(|_| pace.take(length(pace.batch)));
        pace.batch
    }

    #[test]
    fn batches_shrink_while_they_take_long_and_grow_again() {
        let mut pace = Pace::new(64, true);
        (0..10).for_each(|_| pace.take(LONG * u32::try_from(pace.batch).expect("small")));
        assert_eq!(pace.batch, 1);
        (0..10).for_each(|_| pace.take(LONG / 10));
        assert_eq!(pace.batch, 64);
        assert!(Pace::new(64, false).begin().is_none(), "what only counts is not timed");
        let mut pace = Pace::new(64, true);
        pace.end(Instant::now().checked_sub(TOO_LONG * 2), 63);
        assert_eq!(pace.batch, 64, "a part of a batch tells nothing");
    }

    #[test]
    fn batches_stay_where_smaller_ones_take_as_long() {
        assert_eq!(settled(|_| LONG * 2), 64, "all leaves are in the lanes of one");
        let sixteen_lanes = |n_leaves: u64| LONG / 3 * u32::try_from(n_leaves.div_ceil(16)).expect("small");
        assert_eq!(settled(sixteen_lanes), 32);
        assert_eq!(settled(|_| TOO_LONG * 2), 1, "no answer waits that long");
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
