//! `daggerboard-bench samegame`: boards of SameGame, played by systems for games of one role.
//!
//! In go boards and systems; out come the points on each board and their sum, and in a file the moves of each line, which
//! anyone can count again.

mod play;
mod table;

use std::num::NonZero;
use std::path::{Path, PathBuf};

use bench::games::{RustGame, SameGame, Tabu};
use clap::Args;
use indicatif::ProgressBar;
use player::failure::{Failure, Outcome};
use player::{output, stop};
use reasoner::{Dice, Interrupt};
use search::cores;
use serde_json::json;
use single::System;

use crate::kept::{self, SystemList, systems};
use play::{Effort, Key, Played};
use table::Column;

/// The file of the standard boards in a folder of boards.
const STANDARD_BOARDS: &str = "standard20.txt";
/// How many standard boards there are.
const N_STANDARD: u16 = 20;

/// Play boards of SameGame by systems for games of one role: points, and lines that can be counted again
#[derive(Debug, Args)]
#[command(after_help = format!("\
Systems: {}, and every configuration of `daggerboard search`
Rollouts: random, taburandom, tabucolorrandom (Schadd et al. 2012, section 4.1)

Examples:
  daggerboard-bench samegame --seconds 60 --threads 2 --out samegame.jsonl
  daggerboard-bench samegame 1 9 17 --systems 'nrpa(4,n=40),nested(2),sp-mcts' --seconds 10
Tables 1, 2 and 4 of Schadd et al. 2012, on ten random boards; their C of 1 is 2000 points here:
  daggerboard-bench samegame --random 10 --playouts 200000 --threads 1 --rollouts random,taburandom,tabucolorrandom \
--systems 'sp-mcts(c=1000,d=10000,restarts=1)'
  daggerboard-bench samegame --random 10 --playouts 100000 --threads 1 \
--systems 'sp-mcts(c=200,d=32,restarts=1),sp-mcts(c=1000,d=10000,restarts=1),sp-mcts(c=2000,d=20000,restarts=1)'
  daggerboard-bench samegame --random 10 --playouts 100000 --threads 1 --per-move \
--systems 'sp-mcts(c=200,d=32,restarts=1,final=mean),sp-mcts(c=200,d=32,restarts=1,final=visits),sp-mcts(c=200,d=32,restarts=1)'

Boards come one after the other, each with all threads. A run that was stopped goes on where it was if it has --out, whose \
lines hold the moves. With --playouts and one thread a game is the same again.", single::SYSTEM_NAMES))]
pub struct SameGameArgs {
    /// Numbers of boards; all twenty standard boards if there are none
    #[arg(value_name = "BOARD", conflicts_with = "random")]
    boards: Vec<u16>,
    /// A file of boards, or a folder with standard20.txt; the reference data if it is not given
    #[arg(long = "boards", value_name = "PATH", conflicts_with = "random")]
    from: Option<PathBuf>,
    /// So many random boards of 15 by 15 in five colours instead, made from the numbers from 1 on
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    random: Option<u16>,
    /// Systems, separated by commas
    #[arg(long, default_value = DEFAULT_SYSTEM, value_name = "SYSTEMS", value_parser = systems)]
    systems: SystemList,
    /// What rollouts leave alone, separated by commas
    #[arg(long, default_value = "tabucolorrandom", value_name = "NAMES", value_delimiter = ',', value_parser = tabu)]
    rollouts: Vec<Tabu>,
    /// How often a step of a rollout leaves nothing alone
    #[arg(long, default_value_t = SameGame::EPSILON, value_name = "P", value_parser = probability)]
    epsilon: f64,
    /// Seconds for each board
    #[arg(long, default_value_t = 10.0, value_name = "S", value_parser = seconds)]
    seconds: f64,
    /// Playouts for each board, instead of seconds
    #[arg(long, value_name = "N", conflicts_with = "seconds", value_parser = clap::value_parser!(u64).range(1..))]
    playouts: Option<u64>,
    /// Search before each move, with the 64.4th part of that, instead of once
    #[arg(long)]
    per_move: bool,
    /// Threads of a system; all cores if it is not given
    #[arg(long, value_name = "N")]
    threads: Option<NonZero<usize>>,
    /// What all random choices follow from
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Where games are kept, as lines of JSON; those that are there are not played again
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Best of those measured (EXPERIMENTS.md); a search of it takes 1.3 million rollouts, which a thread makes in a minute.
const DEFAULT_SYSTEM: &str = "nrpa(4,n=24,p=4)";

fn tabu(text: &str) -> Result<Tabu, String> {
    text.parse().map_err(|()| "random, taburandom or tabucolorrandom is wanted".to_owned())
}

fn probability(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|p| (0.0..=1.0).contains(p)).ok_or_else(|| "0 to 1 is wanted".to_owned())
}

fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (1e-3..=604_800.0).contains(seconds));
    seconds.ok_or_else(|| "0.001 to 604800 seconds are wanted".to_owned())
}

impl SameGameArgs {
    /// Plays and prints.
    ///
    /// # Errors
    /// If there is no such board, a system cannot play, or a game cannot be kept.
    pub fn run(&self, as_json: bool) -> Result<Outcome, Failure> {
        let stop = stop::on_ctrl_c()?;
        let boards = self.boards();
        let ways: Vec<(System, Tabu)> =
            self.rollouts.iter().flat_map(|&tabu| self.systems.iter().map(move |&it| (it, tabu))).collect();
        let games = self.play_all(&boards, &ways, &stop)?;
        let columns: Vec<Column> = ways
            .iter()
            .enumerate()
            .map(|(way, (system, tabu))| {
                let of_way: Vec<Option<&Played>> =
                    (0..boards.len()).map(|board| games.get(board * ways.len() + way)).collect();
                Column::new(system.to_string(), tabu.to_string(), &of_way)
            })
            .collect();
        if as_json {
            let boards: Vec<&str> = boards.iter().map(|(_, name)| &name[..]).collect();
            output::json(&json!({"boards": boards, "columns": columns, "games": games}))?;
        } else {
            let numbers: Vec<String> = boards.iter().map(|(number, _)| number.to_string()).collect();
            output::line(table::print(&numbers, &columns))?;
        }
        if stop.is_raised() {
            output::progress("stopped; with --out the same command goes on");
            return Ok(Outcome::Failed);
        }
        Ok(Outcome::Done)
    }

    /// The boards, by their numbers and by their names without rollouts.
    fn boards(&self) -> Vec<(u16, String)> {
        if let Some(n) = self.random {
            return (1..=n).map(|seed| (seed, format!("samegame:15,seed={seed}"))).collect();
        }
        let numbers = if self.boards.is_empty() { (1..=N_STANDARD).collect() } else { self.boards.clone() };
        let file = match &self.from {
            None => String::new(),
            Some(path) => format!(",file={}", file_of_boards(path).display()),
        };
        numbers.iter().map(|&number| (number, format!("samegame:15,board={number}{file}"))).collect()
    }

    fn game(&self, board: &str, tabu: Tabu) -> Result<SameGame, Failure> {
        match board.parse().map_err(Failure::usage)? {
            RustGame::SameGame(game) => Ok(game.with_rollouts(tabu, self.epsilon)),
            other => Err(Failure::usage(format_args!("{other} is no board of SameGame"))),
        }
    }

    /// Plays what is not in the file: on each board, in order, each way in order.
    fn play_all(
        &self,
        boards: &[(u16, String)],
        ways: &[(System, Tabu)],
        stop: &Interrupt,
    ) -> Result<Vec<Played>, Failure> {
        let threads = self.threads.map_or_else(|| cores().len().max(1), NonZero::get);
        // All boards are there before the first one is played.
        let mut tasks = Vec::new();
        for (number, board) in boards {
            for (system, tabu) in ways {
                let game = self.game(board, *tabu)?;
                let key = Key {
                    board: game.to_string(),
                    system: system.to_string(),
                    effort: self.playouts.map_or(Effort::Seconds(self.seconds), Effort::Playouts),
                    is_per_move: self.per_move,
                    threads,
                    seed: Dice::child_seed(self.seed, u64::from(*number)),
                };
                tasks.push((key, game));
            }
        }
        let describe = |key: &Key| format!("{}, {}", key.board, key.system);
        let play = |key: &Key, game: &SameGame, bar: &ProgressBar| {
            play::play(game, key, stop, &|points| {
                bar.set_message(format!("{}: {points} points", describe(key)));
            })
        };
        Ok(kept::play_all(&tasks, self.out.as_deref(), stop, describe, play)?.wanted)
    }
}

/// The file of boards that a path stands for.
fn file_of_boards(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(STANDARD_BOARDS) } else { path.to_owned() }
}
