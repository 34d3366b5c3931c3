//! Two threads on one graph against two searches on graphs of their own, on rulesheets: playouts per second.
//!
//! `cargo run --release -p daggerboard-player --example sharing -- SECONDS FILE.kif...`
#![allow(clippy::print_stdout, reason = "it is a command")]

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use gdl::{Description, ReadOptions, Rules};
use reasoner::{Interrupt, Limits, Reasoner, Session};
use reasoner_native::Interpreter;
use search::{Config, Options, measure_sharing};

/// Turns of each way, so that both meet the same machine.
const ROUNDS: u32 = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let seconds: f64 = args.next().ok_or("usage: sharing SECONDS FILE.kif...")?.parse()?;
    let slice = Duration::from_secs_f64(seconds / f64::from(ROUNDS));
    for path in args {
        let text = std::fs::read_to_string(&path)?;
        let rules = Rules::from_description(&Description::read(&text, ReadOptions::default())?)?;
        let interpreter = Arc::new(Interpreter::new(Arc::new(rules))?);
        let root = interpreter.session(Limits::default(), &Interrupt::new())?.initial_state()?;
        let options = Options { config: Config::UctT, threads: 2, seed: Some(1), ..Options::default() };
        let sharing = measure_sharing(&interpreter, &root, &options, slice, ROUNDS)?;
        let name = path.rsplit('/').next().unwrap_or(&path).trim_end_matches(".kif");
        println!(
            "{name:<24} one graph {:>8.0}/s, two graphs {:>8.0}/s, ratio {:.3}",
            sharing.shared_per_second,
            sharing.separate_per_second,
            sharing.ratio()
        );
    }
    Ok(())
}
