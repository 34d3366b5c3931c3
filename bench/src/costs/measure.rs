//! What one playout costs on a way of one width and depth.

use std::sync::Arc;

use bench::games::{InRust, Spine};
use player::failure::Failure;
use player::processor_time::cpu_seconds;
use reasoner::{Interrupt, Limits, Reasoner, Session};
use search::{Budget, Config, Options, RecordBytes, Searcher};
use serde::Serialize;

/// Runs of which the middle one counts: on a machine with other work some are slowed down, and few are sped up.
const N_RUNS: usize = 7;
/// Playouts of the run that finds out how many a run can have.
const FIRST_PLAYOUTS: u64 = 256;

/// One width and depth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Point {
    /// Edges of each position.
    pub width: u16,
    /// Positions of the way.
    pub depth: u16,
    /// Positions with a choice that a playout passed on average: the depth but for playouts that went astray.
    pub levels: f64,
    /// Processor time of a playout, in nanoseconds.
    pub playout_ns: f64,
    /// The part of it that went into backups.
    pub backup_ns: f64,
}

/// Searches a way by one thread until each move was tried once, and then for `seconds` of processor time; none if it is
/// stopped before.
///
/// # Errors
/// If the search cannot be made, or its playouts do not follow the way.
pub fn measure(
    config: Config,
    game: Spine,
    (width, depth): (u16, u16),
    seconds: f64,
    seed: u64,
    stop: &Interrupt,
) -> Result<Option<(Point, RecordBytes)>, Failure> {
    let mut searcher = searcher(config, game, seed)?;
    let mut run = |playouts: u64| -> Result<Run, Failure> {
        let cpu_begun = cpu_seconds();
        let report =
            searcher.run(&Budget { playouts: Some(playouts), ..Budget::default() }, stop, &mut |_| ())?;
        let counters = report.counters;
        let timed = (counters.descent_ns + counters.rollout_ns + counters.backup_ns) as f64;
        let playout_ns = (cpu_seconds() - cpu_begun) * 1e9 / playouts as f64;
        Ok(Run {
            levels: report.mean_depth - 1.0,
            playout_ns,
            backup_ns: if timed > 0.0 { playout_ns * counters.backup_ns as f64 / timed } else { 0.0 },
        })
    };
    let n_edges = u64::from(width) * u64::from(depth);
    run(n_edges + 2 * u64::from(depth))?;
    let first = run(FIRST_PLAYOUTS)?;
    let n_playouts = seconds * 1e9 / N_RUNS as f64 / first.playout_ns.max(1.0);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive and rounded")]
    let n_playouts = (n_playouts as u64).max(FIRST_PLAYOUTS);
    let mut runs = Vec::with_capacity(N_RUNS);
    for _ in 0..N_RUNS {
        runs.push(run(n_playouts)?);
        if stop.is_raised() {
            return Ok(None);
        }
    }
    let bytes = searcher.record_bytes();
    let middle = |number: fn(&Run) -> f64| {
        let mut numbers: Vec<f64> = runs.iter().map(number).collect();
        numbers.sort_by(f64::total_cmp);
        numbers[N_RUNS / 2]
    };
    let point = Point {
        width,
        depth,
        levels: middle(|run| run.levels),
        playout_ns: middle(|run| run.playout_ns),
        backup_ns: middle(|run| run.backup_ns),
    };
    if point.levels < 0.9 * f64::from(depth) {
        let text = format!("{config} passes {:.1} of {depth} positions only", point.levels);
        return Err(Failure::work(text).hint("its choice of moves does not depend on their values"));
    }
    Ok(Some((point, bytes)))
}

struct Run {
    levels: f64,
    playout_ns: f64,
    backup_ns: f64,
}

fn searcher(config: Config, game: Spine, seed: u64) -> Result<Searcher<InRust<Spine>>, Failure> {
    let reasoner = Arc::new(InRust::new(game));
    let root = reasoner.session(Limits::default(), &Interrupt::new())?.initial_state()?;
    let options = Options {
        config,
        threads: 1,
        seed: Some(seed),
        batch: Some(1),
        rollouts: Some(1),
        // Whoever explores goes astray.
        exploration: Some(0.0),
        // States own nothing on the heap.
        state_heap_bytes: Some(0),
        ..Options::default()
    };
    let mut searcher = Searcher::new(reasoner, options)?;
    searcher.set_root(&root);
    Ok(searcher)
}
