//! How long the processors worked for this process and its threads.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Processor time of this process in seconds, all threads together.
pub fn cpu_seconds() -> f64 {
    of(ClockId::ProcessCPUTime).as_secs_f64()
}

/// Processor time of the calling thread.
pub fn of_this_thread() -> Duration {
    of(ClockId::ThreadCPUTime)
}

fn of(clock: ClockId) -> Duration {
    // Processor time is never negative.
    clock_gettime(clock).try_into().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_works_uses_its_own_time_and_that_of_the_process() {
        let (thread, process) = (of_this_thread(), cpu_seconds());
        let idle = std::thread::spawn(of_this_thread);
        let mut sum = 0u64;
        while of_this_thread() < thread + Duration::from_millis(20) {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        assert!(cpu_seconds() >= process + 0.02);
        assert!(idle.join().unwrap() < Duration::from_millis(20));
    }
}
