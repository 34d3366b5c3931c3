//! Random rollouts from the initial state, one thread: set-up time, transitions and rollouts per second.
//!
//! `cargo run --release -p daggerboard-reasoner-native --example rates -- SECONDS FILE.kif...`
#![allow(clippy::print_stdout, reason = "it is a command")]

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use gdl::{Description, ReadOptions, Rules};
use reasoner::{Interrupt, Limits, Reasoner, Rollouts, Session};
use reasoner_native::Interpreter;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let seconds: f64 = args.next().ok_or("usage: rates SECONDS FILE.kif...")?.parse()?;
    println!("{:<28} {:>9} {:>13} {:>11} {:>8}", "game", "set-up s", "transitions/s", "rollouts/s", "length");
    for path in args {
        let text = std::fs::read_to_string(&path)?;
        let begin = Instant::now();
        let rules = Rules::from_description(&Description::read(&text, ReadOptions::default())?)?;
        let interpreter = Arc::new(Interpreter::new(Arc::new(rules))?);
        let mut session = interpreter.session(Limits::default(), &Interrupt::new())?;
        let initial = session.initial_state()?;
        let set_up = begin.elapsed().as_secs_f64();
        let (mut n_rollouts, mut n_transitions) = (0u64, 0u64);
        let mut ends = Rollouts::default();
        let begin = Instant::now();
        while begin.elapsed().as_secs_f64() < seconds {
            session.rollouts(std::slice::from_ref(&initial), &[n_rollouts], &mut ends)?;
            n_rollouts += 1;
            n_transitions += u64::from(ends.length(0));
        }
        let spent = begin.elapsed().as_secs_f64();
        let name = path.rsplit('/').next().unwrap_or(&path).trim_end_matches(".kif");
        println!(
            "{name:<28} {set_up:>9.3} {:>13.0} {:>11.1} {:>8.1}",
            n_transitions as f64 / spent,
            n_rollouts as f64 / spent,
            n_transitions as f64 / n_rollouts as f64
        );
    }
    Ok(())
}
