//! What sharing one graph costs: threads on one graph against as many searches on graphs of their own.

use std::sync::RwLock;
use std::thread;
use std::time::{Duration, Instant};

use reasoner::{Interrupt, Reasoner};

use crate::sync::{Arc, channel};
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

        // Held until all searches are made, so that they begin together.
        let start = RwLock::new(());
        let reports = thread::scope(|scope| {
            let held = start.write();
            let (made, making) = channel::unbounded();
            let mut searches = Vec::new();
            for thread_idx in 0..n_threads {
                let pin = options.pin.get(thread_idx % options.pin.len().max(1)).copied();
                let alone = Options { threads: 1, pin: pin.into_iter().collect(), ..seeded(thread_idx) };
                let ready = Ready { made: made.clone(), start: &start };
                let search = move || search_once(reasoner, root, alone, slice, Some(ready));
                searches
                    .push(thread::Builder::new().spawn_scoped(scope, search).map_err(SearchError::Spawn)?);
            }
            // A search that cannot be made drops its end, so that nobody waits for it.
            drop(made);
            making.iter().take(n_threads).for_each(drop);
            drop(held);
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

/// Says that a search is made, and waits for the others.
struct Ready<'a> {
    made: channel::Sender<()>,
    start: &'a RwLock<()>,
}

fn search_once<R: Reasoner>(
    reasoner: &Arc<R>,
    root: &R::State,
    options: Options,
    slice: Duration,
    ready: Option<Ready<'_>>,
) -> Result<Report, SearchError> {
    let mut searcher = Searcher::new(Arc::clone(reasoner), options)?;
    if let Some(Ready { made, start }) = ready {
        // If nobody waits for it, another one could not be made.
        let _ = made.send(());
        drop(made);
        drop(start.read());
    }
    searcher.set_root(root);
    let budget = Budget { deadline: Some(Instant::now() + slice), ..Budget::default() };
    searcher.run(&budget, &Interrupt::new(), &mut |_| ())
}
