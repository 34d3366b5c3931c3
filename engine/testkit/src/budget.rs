//! A bound on the processor time of one piece of work.

use std::fs;
use std::path::PathBuf;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use reasoner::Interrupt;

/// How often the timer looks; a budget is passed by at most about this much.
const TICK: Duration = Duration::from_millis(20);

/// The processor time of the thread that made it, readable from any thread, so that a loaded machine does
/// not make a game look slow. Where the system does not tell (it needs Linux's `schedstat`), wall time.
#[derive(Debug, Clone)]
pub struct CpuClock {
    schedstat: Option<PathBuf>,
    at_start: Duration,
    wall_start: Instant,
}

impl CpuClock {
    /// Starts counting the calling thread's time.
    pub fn start() -> CpuClock {
        // `/proc/thread-self` resolves to PID/task/TID of whoever reads the link.
        let schedstat = fs::read_link("/proc/thread-self")
            .ok()
            .map(|task| PathBuf::from("/proc").join(task).join("schedstat"))
            .filter(|path| read_schedstat(path).is_some());
        let at_start = schedstat.as_ref().and_then(read_schedstat).unwrap_or_default();
        CpuClock { schedstat, at_start, wall_start: Instant::now() }
    }

    /// The time since the start.
    pub fn elapsed(&self) -> Duration {
        match self.schedstat.as_ref().and_then(read_schedstat) {
            Some(now) => now.saturating_sub(self.at_start),
            None => self.wall_start.elapsed(),
        }
    }
}

/// The first number of the file is the time on the processor in nanoseconds (proc(5), sched-stats).
fn read_schedstat(path: &PathBuf) -> Option<Duration> {
    let text = fs::read_to_string(path).ok()?;
    text.split_ascii_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

/// Does `work` on this thread, and raises `interrupt` once it has used `budget` of processor time. The
/// interrupt stays raised, so the caller can tell.
pub fn within<T>(budget: Duration, interrupt: &Interrupt, work: impl FnOnce() -> T) -> T {
    let clock = CpuClock::start();
    thread::scope(|scope| {
        let (done, is_done) = channel::<()>();
        scope.spawn(move || {
            while is_done.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                if clock.elapsed() > budget {
                    interrupt.raise();
                    break;
                }
            }
        });
        let answer = work();
        // Hanging up wakes the timer at once. A panic of `work` drops `done` too.
        drop(done);
        answer
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endless_work_is_interrupted() {
        let interrupt = Interrupt::new();
        let mut n_turns = 0u64;
        within(Duration::from_millis(1), &interrupt, || {
            while !interrupt.is_raised() {
                n_turns += 1;
            }
        });
        assert!(interrupt.is_raised() && n_turns > 0);
    }

    #[test]
    fn finished_work_is_left_alone() {
        let interrupt = Interrupt::new();
        assert_eq!(within(Duration::from_secs(3600), &interrupt, || 7), 7);
        assert!(!interrupt.is_raised());
    }
}
