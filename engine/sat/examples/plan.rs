//! Plans for rulesheets of one role: `plan SECONDS FILE...` prints each better plan when it is found, and the verdict.

#![allow(clippy::print_stdout, reason = "an example shows what it finds")]

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gdl::{Description, ReadOptions, Rules};
use reasoner::Interrupt;
use reasoner_native::{Budget, Interpreter, Netlist};
use sat::{Limits, Planner};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args_os().skip(1);
    let seconds = args.next().and_then(|word| word.to_str()?.parse().ok());
    let seconds: f64 = seconds.ok_or("usage: plan SECONDS FILE...")?;
    for path in args.map(PathBuf::from) {
        if let Err(error) = plan(&path, Duration::from_secs_f64(seconds)) {
            println!("{}: {error}", path.display());
        }
    }
    Ok(())
}

fn plan(path: &PathBuf, time: Duration) -> Result<(), Box<dyn Error>> {
    let begun = Instant::now();
    let description = Description::read(&std::fs::read_to_string(path)?, ReadOptions::default())?;
    let rules = Arc::new(Rules::from_description(&description)?);
    let deadline = Some(begun + time);
    let interpreter = Arc::new(Interpreter::new(rules)?);
    let netlist = Netlist::new(&interpreter, &Budget { deadline, ..Budget::default() })?;
    let limits = Limits { deadline, bytes: 2 << 30, stop: Interrupt::new() };
    let planner = Planner::new(&netlist, None, limits)?;
    println!("{}: {} gates after {:.2?}", path.display(), netlist.n_gates(), begun.elapsed());
    let outcome = planner.run(usize::MAX, None, |plan| {
        let moves: Vec<String> =
            plan.moves.iter().map(|&a_move| netlist.moves()[a_move].term.to_string()).collect();
        println!("  {:>3} after {:.2?}: {}", plan.value, begun.elapsed(), moves.join(" "));
    });
    println!("  {} after {} steps, {:.2?}", outcome.verdict, outcome.n_steps, begun.elapsed());
    Ok(())
}
