//! A thread's share of work in a run, by the measure that the caller handed in.

use std::time::Duration;

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

    /// Whether the limit is reached; to be called before each playout, by the thread that started it.
    pub(crate) fn is_over(&mut self) -> bool {
        if self.left > 0 {
            self.left -= 1;
            return false;
        }
        let worked = (self.limit.worked)().saturating_sub(self.started);
        if let Some(last) = self.last.replace(worked) {
            let is_fine = worked.saturating_sub(last) < self.limit.limit / FINENESS;
            self.stride = if is_fine { (self.stride * 2).min(MAX_STRIDE) } else { (self.stride / 2).max(1) };
        }
        self.left = self.stride - 1;
        worked >= self.limit.limit
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        static WORKED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    }

    /// Playouts of a given length until a limit is reached.
    fn playouts_within(limit: Duration, each: Duration) -> u32 {
        let mut stopwatch = Stopwatch::start(WorkLimit { worked: || WORKED.get(), limit });
        let mut n_playouts = 0;
        while !stopwatch.is_over() {
            WORKED.set(WORKED.get() + each);
            n_playouts += 1;
        }
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
