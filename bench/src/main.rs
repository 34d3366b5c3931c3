//! The binary `daggerboard-bench`: reasoners compared on the same games, search configurations compared by the games
//! they play, and games that are written in Rust.
//!
//! In go games and the names of reasoners or configurations; out come tables, CSV, and a page of HTML. Every measurement
//! of a reasoner runs in a process of its own, which is this binary again with the hidden command `measure`, and which is
//! killed when it is late. What comparisons and games came to is kept in a [`journal::Journal`].
#![forbid(unsafe_code)]

mod child;
mod compare;
mod config_list;
mod costs;
mod duel;
mod games_played;
mod journal;
mod kept;
mod left_right;
mod list;
mod measure;
mod named_game;
mod page;
mod plan;
mod play;
mod progress;
mod puzzles;
mod report;
mod results;
mod same_game;
mod side_by_side;
#[cfg(feature = "prolog")]
mod standalone;
mod tune;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use player::failure::{Failure, Outcome};
use player::output;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Compares reasoners, and search configurations, on the same games
#[derive(Debug, Parser)]
#[command(
    name = "daggerboard-bench",
    version,
    max_term_width = 110,
    after_help = "\
Examples:
  daggerboard-bench compare tic-tac-toe connect-four --reasoners interpreter,prolog
  daggerboard-bench compare my-games/ --seconds 1 --out results
  daggerboard-bench games hex:11 go:9,komi=6.5
  daggerboard-bench leftright --configs 'uct,update-all,ucd(inf,0,1)'
  daggerboard-bench duel --game hex:5,stone=b2 --configs 'ucd(0,1,2),update-all' --against uct
  daggerboard-bench tune --example > tune.toml
  daggerboard-bench plan hanoi lights-out
  daggerboard-bench puzzles hanoi lights-out --systems 'nested(1),uct+t,portfolio'
  daggerboard-bench samegame --seconds 10 --systems nrpa,nested,sp-mcts
  daggerboard-bench costs --configs 'uct,credited'

Exit codes: 0 done, 1 the work failed, reasoners disagree or a game cannot be read, 2 wrong usage"
)]
struct Cli {
    /// Print results as JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Compare(compare::CompareArgs),
    Games(list::GamesArgs),
    #[command(name = "leftright")]
    LeftRight(left_right::LeftRightArgs),
    Duel(duel::DuelArgs),
    Tune(tune::TuneArgs),
    Plan(plan::PlanArgs),
    Puzzles(puzzles::PuzzlesArgs),
    #[command(name = "samegame")]
    SameGame(same_game::SameGameArgs),
    Costs(costs::CostsArgs),
    #[cfg(feature = "prolog")]
    Standalone(standalone::StandaloneArgs),
    #[command(hide = true)]
    Measure(measure::MeasureArgs),
}

fn main() -> ExitCode {
    let cli: Cli = player::read_command_line();
    let outcome: Result<Outcome, Failure> = match &cli.command {
        Command::Compare(args) => args.run(cli.json),
        Command::Games(args) => args.run(cli.json),
        Command::LeftRight(args) => args.run(cli.json),
        Command::Duel(args) => args.run(cli.json),
        Command::Tune(args) => args.run(cli.json),
        Command::Plan(args) => args.run(cli.json),
        Command::Puzzles(args) => args.run(cli.json),
        Command::SameGame(args) => args.run(cli.json),
        Command::Costs(args) => args.run(cli.json),
        #[cfg(feature = "prolog")]
        Command::Standalone(args) => args.run(cli.json),
        Command::Measure(args) => args.run(),
    };
    match outcome {
        Ok(outcome) => outcome.into(),
        Err(failure) => {
            output::progress(&failure);
            failure.exit_code()
        }
    }
}
