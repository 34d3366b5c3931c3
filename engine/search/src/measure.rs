//! What sharing one graph costs: threads on one graph against as many searches on graphs of their own.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use reasoner::{Interrupt, Reasoner};

use crate::sync::Arc;
use crate::{Budget, Options, Report, SearchError, Searcher};

/// Playouts per second of the two ways to use the same threads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sharing {
    /// Threads in each way.
    pub threads: usize,
    /// On one graph.
    pub shared_per_second: f64,
    /// On one graph for each thread, all together.
    pub separate_per_second: f64,
    /// Playouts made on one graph.
    pub shared_playouts: u64,
    /// Playouts made on separate graphs.
    pub separate_playouts: u64,
}

impl Sharing {
    /// How much of the separate searches' speed remains on one graph.
    pub fn ratio(&self) -> f64 {
        self.shared_per_second / self.separate_per_second
    }
}

/// Searches `root` for `slice` in each way by turns, `rounds` times, always with new graphs, so that both
/// meet the same machine. `options.threads` is the number of threads.
///
/// # Errors
/// As [`Searcher::new`] and [`Searcher::run`].
pub fn measure_sharing<R: Reasoner>(
    reasoner: &Arc<R>,
    root: &R::State,
    options: &Options,
    slice: Duration,
    rounds: u32,
) -> Result<Sharing, SearchError> {
    let n_threads = options.threads;
    let mut sharing = Sharing {
        threads: n_threads,
        shared_per_second: 0.0,
        separate_per_second: 0.0,
        shared_playouts: 0,
        separate_playouts: 0,
    };
    let (mut shared_seconds, mut separate_seconds) = (0.0, 0.0);
    for round in 0..rounds {
        let seeded = |thread_idx: usize| Options {
            seed: Some(options.seed.unwrap_or(0) + u64::from(round) * n_threads as u64 + thread_idx as u64),
            ..options.clone()
        };
        let report = search_once(reasoner, root, seeded(0), slice, None)?;
        sharing.shared_playouts += report.playouts;
        shared_seconds += report.seconds;

        let start = Barrier::new(n_threads);
        let reports = thread::scope(|scope| {
            let searches: Vec<_> = (0..n_threads)
                .map(|thread_idx| {
                    let pin = options.pin.get(thread_idx % options.pin.len().max(1)).copied();
                    let alone = Options { threads: 1, pin: pin.into_iter().collect(), ..seeded(thread_idx) };
                    let start = &start;
                    scope.spawn(move || search_once(reasoner, root, alone, slice, Some(start)))
                })
                .collect();
            let joined = searches.into_iter().map(|search| {
                search.join().unwrap_or_else(|_| Err(SearchError::Panicked("while measuring".to_owned())))
            });
            joined.collect::<Result<Vec<Report>, SearchError>>()
        })?;
        sharing.separate_playouts += reports.iter().map(|report| report.playouts).sum::<u64>();
        separate_seconds += reports.iter().map(|report| report.seconds).sum::<f64>() / n_threads as f64;
    }
    sharing.shared_per_second = sharing.shared_playouts as f64 / shared_seconds;
    sharing.separate_per_second = sharing.separate_playouts as f64 / separate_seconds;
    Ok(sharing)
}

fn search_once<R: Reasoner>(
    reasoner: &Arc<R>,
    root: &R::State,
    options: Options,
    slice: Duration,
    start: Option<&Barrier>,
) -> Result<Report, SearchError> {
    let searcher = Searcher::new(Arc::clone(reasoner), options);
    // Whoever failed comes to the barrier too, or the others would wait for ever.
    if let Some(start) = start {
        start.wait();
    }
    let mut searcher = searcher?;
    searcher.set_root(root);
    let budget = Budget { deadline: Some(Instant::now() + slice), ..Budget::default() };
    searcher.run(&budget, &Interrupt::new(), &mut |_| ())
}
