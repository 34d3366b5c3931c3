//! Threads on one graph against as many searches on graphs of their own: playouts per second of both.
//!
//! `cargo run --release -p daggerboard-search --example two_threads [-- SECONDS THREADS]`
#![allow(clippy::print_stdout, reason = "it is a command")]

#[allow(dead_code, reason = "a part of the games will do")]
#[path = "../tests/it/common/mod.rs"]
mod common;

use std::time::Duration;

use common::{Game, Nim, Picks, Rust};
use daggerboard_search::{Config, Options, SearchError, measure_sharing};

/// Turns of each way.
const ROUNDS: u32 = 5;

fn show<G: Game>(name: &str, game: G, seconds: f64, threads: usize) -> Result<(), SearchError> {
    let reasoner = Rust::new(game);
    let root = reasoner.initial();
    for config in Config::ALL {
        // Slices short enough for no graph to meet the cap.
        let options = Options { config, threads, seed: Some(1), max_bytes: 4 << 30, ..Options::default() };
        let slice = Duration::from_secs_f64(seconds / f64::from(ROUNDS));
        let sharing = measure_sharing(&reasoner, &root, &options, slice, ROUNDS)?;
        println!(
            "{name:8} {config:10} {threads} threads: shared {:9.0}/s, separate {:9.0}/s, ratio {:.3}",
            sharing.shared_per_second,
            sharing.separate_per_second,
            sharing.ratio()
        );
    }
    Ok(())
}

fn main() -> Result<(), SearchError> {
    let mut arguments = std::env::args().skip(1);
    let seconds = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(2.0);
    let threads = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(2);
    show("nim", Nim([9, 9, 9, 9]), seconds, threads)?;
    show("picks", Picks { n_roles: 3, steps: 30, most: 5 }, seconds, threads)
}
