//! Shares work among threads that live as long as it lasts.

use std::thread;

use crate::sync::{AtomicU64, Mutex, Ordering};

/// Runs `work` in this thread and, where they can be had, in others beside it, `n_threads` in all.
pub(crate) fn in_threads(n_threads: usize, work: impl Fn() + Sync) {
    thread::scope(|scope| {
        for _ in 1..n_threads {
            if thread::Builder::new().spawn_scoped(scope, &work).is_err() {
                break;
            }
        }
        work();
    });
}

/// A part of the work that can be done beside others.
pub(crate) type Part<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Does the parts in order, as many at a time as there are threads to be had, up to `n_threads`.
pub(crate) fn do_all(parts: Vec<Part<'_>>, n_threads: usize) {
    let n_threads = n_threads.min(parts.len());
    let parts = Mutex::new(parts.into_iter());
    in_threads(n_threads, || {
        loop {
            let next = parts.lock().next();
            let Some(part) = next else { return };
            part();
        }
    });
}

/// Does something for each number below `n`, each by whoever is free.
pub(crate) fn for_each(n: usize, n_threads: usize, each: impl Fn(usize) + Sync) {
    let next = AtomicU64::new(0);
    in_threads(n_threads.min(n), || {
        loop {
            let idx = crate::arena::usize_of(next.fetch_add(1, Ordering::Relaxed));
            if idx >= n {
                return;
            }
            each(idx);
        }
    });
}
