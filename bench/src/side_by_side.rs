//! Independent tasks on several threads.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

/// As many threads as the machine has cores for.
pub fn n_cores() -> NonZero<usize> {
    thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN)
}

/// Does `work` with every task on `n_threads` threads, which take the tasks in order, and has `take` take what comes of
/// them, on the calling thread, as it comes. `take` says whether to go on; what is in progress when it says no is still
/// done, and taken by nobody.
pub fn side_by_side<T: Sync, D: Send>(
    n_threads: NonZero<usize>,
    tasks: &[T],
    work: impl Fn(&T) -> D + Sync,
    mut take: impl FnMut(&T, D) -> bool,
) {
    // `Relaxed`: that each index is given once is all that matters.
    let next = AtomicUsize::new(0);
    let (sender, done) = mpsc::channel();
    thread::scope(|scope| {
        let mut n_started = 0;
        for _ in 0..n_threads.get().min(tasks.len()) {
            let (sender, next, work) = (sender.clone(), &next, &work);
            let do_tasks = move || {
                while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if sender.send((task, work(task))).is_err() {
                        return;
                    }
                }
            };
            if thread::Builder::new().spawn_scoped(scope, do_tasks).is_err() {
                break;
            }
            n_started += 1;
        }
        drop(sender);
        if n_started == 0 {
            tasks.iter().all(|task| take(task, work(task)));
            return;
        }
        // Moved in here, so that it is gone when the loop is left, and nobody sends any more.
        for (task, result) in done {
            if !take(task, result) {
                return;
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn threads(n: usize) -> NonZero<usize> {
        NonZero::new(n).unwrap_or(NonZero::<usize>::MIN)
    }

    #[test]
    fn every_task_is_done_once_on_any_number_of_threads() {
        let tasks: Vec<u32> = (0..100).collect();
        for n_threads in [1, 2, 7, 200] {
            let mut results = Vec::new();
            side_by_side(
                threads(n_threads),
                &tasks,
                |task| task * task,
                |&task, square| {
                    results.push((task, square));
                    true
                },
            );
            results.sort_unstable();
            assert_eq!(results, tasks.iter().map(|&task| (task, task * task)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn whoever_has_enough_gets_no_more() {
        let tasks: Vec<u32> = (0..1000).collect();
        let mut n_taken = 0;
        side_by_side(
            threads(2),
            &tasks,
            |&task| task,
            |_, _| {
                n_taken += 1;
                n_taken < 3
            },
        );
        assert_eq!(n_taken, 3);
    }
}
