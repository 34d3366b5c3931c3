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

const USAGE: &str = "\
usage: sharing SECONDS FILE.kif...
Example: cargo run --release -p daggerboard-player --example sharing -- 10 my-game.kif";

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let seconds = args.next().and_then(|text| text.parse::<f64>().ok());
    let Some(slice) = seconds.and_then(|s| Duration::try_from_secs_f64(s / f64::from(ROUNDS)).ok()) else {
        println!("{USAGE}");
        std::process::exit(2);
    };
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
