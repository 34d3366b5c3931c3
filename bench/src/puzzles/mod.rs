//! `daggerboard-bench puzzles`: games of one role, played by systems with clocks.
//!
//! In go rulesheets and systems; out come a table of mean values like table 2 of Méhat and Cazenave 2010, a list of what
//! was found when and by whom, and curves of the best value against time.

mod curves;
mod play;
mod table;

use std::num::NonZero;
use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::ProgressBar;
use player::failure::{Failure, Outcome};
use player::reasoners::{self, ReasonerKind};
use player::{output, stop};
use reasoner::Dice;
use search::cores;
use serde_json::json;
use single::System;

use crate::kept::{self, Games, SystemList, systems};
use play::{Key, Played};
use table::Table;

/// The games of table 2 of Méhat and Cazenave 2010, by the names of their rulesheets in the reference data.
const TABLE_2: [&str; 20] = [
    "asteroidsParallel",
    "asteroidsSerial",
    "duplicateStateLarge",
    "duplicateStateMedium",
    "hanoi",
    "hanoi7_bugfix",
    "incredible",
    "knightmove",
    "knightsTour",
    "dresden_lightsout",
    "dresden_lightsout2",
    "max_knights",
    "pancakes6",
    "pancakes88",
    "dresden_peg_bugfixed",
    "queens",
    "stateSpaceLarge",
    "stateSpaceMedium",
    "dresden_sudoku_simple",
    "tpeg",
];

/// Play games of one role by systems for those: mean values, and what is the most that can be had
#[derive(Debug, Args)]
#[command(after_help = format!("\
Systems: {}, and every configuration of `daggerboard search`

Examples:
  daggerboard-bench puzzles --folder ../shared/games --out puzzles.jsonl
  daggerboard-bench puzzles hanoi lights-out --systems 'nested(1),uct+t,portfolio' --runs 3
  daggerboard-bench puzzles --folder ../shared/games --systems portfolio --start 30 --play 0 --list
  daggerboard-bench puzzles knights-tour --systems 'uct,uct+t,nested(1)' --start 12.8 --play 0 --runs 10 --curves curves

A match has its start clock, which the set-up of the reasoner is part of, and a clock for each move; a match whose best \
line cannot be bettered is over at once, and so is one with --play 0 after the start clock. The most that can be had is \
known where a match, of any system and in the file of --out too, proved it: no goal is more than 100, or nothing better \
was left to be seen. A run that was stopped goes on where it was if it has --out.", single::SYSTEM_NAMES))]
pub struct PuzzlesArgs {
    /// Rulesheets, or names of games; the twenty of table 2 in --folder if there are none
    #[arg(value_name = "GAME")]
    games: Vec<String>,
    /// Where the rulesheets of table 2 are
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Systems, separated by commas
    #[arg(long, default_value = "portfolio", value_name = "SYSTEMS", value_parser = systems)]
    systems: SystemList,
    /// The start clock in seconds
    #[arg(long, default_value_t = 1.0, value_name = "S", value_parser = clock)]
    start: f64,
    /// The clock of each move in seconds; with 0 the best line of the start clock is played
    #[arg(long, default_value_t = 1.0, value_name = "S", value_parser = clock)]
    play: f64,
    /// Matches of each system in each game
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    runs: u64,
    /// Threads of a system; all cores if it is not given
    #[arg(long, value_name = "N")]
    threads: Option<NonZero<usize>>,
    #[arg(long, default_value_t = ReasonerKind::Auto, value_name = "NAME",
        help = format!("Who answers questions about the rules: {}", reasoners::NAMES))]
    reasoner: ReasonerKind,
    /// What all random choices follow from
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Where matches are kept, as lines of JSON; those that are there are not played again
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// List each match: its value, when its line was found and by whom, and whether it is proved
    #[arg(long)]
    list: bool,
    /// Draw the best value against time into this folder, as CSV and SVG
    #[arg(long, value_name = "FOLDER")]
    curves: Option<PathBuf>,
}

fn clock(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.0..=604_800.0).contains(seconds));
    seconds.ok_or_else(|| "0 to 604800 seconds are wanted".to_owned())
}

impl PuzzlesArgs {
    /// Plays and prints.
    ///
    /// # Errors
    /// If there is no such game, or a match cannot be kept. A match that cannot be played is in the table.
    pub fn run(&self, as_json: bool) -> Result<Outcome, Failure> {
        let stop = stop::on_ctrl_c()?;
        let games = self.game_names()?;
        let threads = self.threads.map_or_else(|| cores().len().max(1), NonZero::get);
        let keys: Vec<Key> = games.iter().flat_map(|game| self.keys(game, threads)).collect();
        let tasks: Vec<(Key, ())> = keys.into_iter().map(|key| (key, ())).collect();
        let describe = |key: &Key| format!("{} {}", short_name(&key.game), key.system);
        let play = |key: &Key, (): &(), _: &ProgressBar| play::play(key, self.reasoner, &stop);
        let matches: Games<Played> = kept::play_all(&tasks, self.out.as_deref(), &stop, describe, play)?;
        let table = Table::new(&games, &self.systems, &matches.wanted, &matches.all);
        if let Some(folder) = &self.curves {
            curves::write(folder, &table, self.start).map_err(|failure| failure.context(folder.display()))?;
        }
        if as_json {
            output::json(&json!({
                "start": self.start,
                "play": self.play,
                "threads": threads,
                "seed": self.seed,
                "rows": table.rows,
                "sums": table.sums,
                "matches": matches.wanted,
            }))?;
        } else if self.list {
            output::line(table::list(&matches.wanted))?;
        } else {
            output::line(table.print())?;
        }
        if stop.is_raised() {
            output::progress("stopped; with --out the same command goes on");
            return Ok(Outcome::Failed);
        }
        Ok(Outcome::Done)
    }

    fn game_names(&self) -> Result<Vec<String>, Failure> {
        if !self.games.is_empty() {
            return Ok(self.games.clone());
        }
        let Some(folder) = &self.folder else {
            return Err(Failure::usage("no games").hint("name some, or give --folder for those of table 2"));
        };
        Ok(TABLE_2.iter().map(|name| path_in(folder, name)).collect())
    }

    fn keys(&self, game: &str, threads: usize) -> Vec<Key> {
        let key = |system: &System, run: u64| Key {
            game: game.to_owned(),
            system: system.to_string(),
            start: self.start,
            play: self.play,
            threads,
            reasoner: self.reasoner.to_string(),
            seed: Dice::child_seed(self.seed, run),
        };
        (0..self.runs).flat_map(|run| self.systems.iter().map(move |system| key(system, run))).collect()
    }
}

fn path_in(folder: &Path, name: &str) -> String {
    folder.join(format!("{name}.kif")).display().to_string()
}

/// A rulesheet's name without folder and ending.
fn short_name(game: &str) -> String {
    Path::new(game).file_stem().map_or_else(|| game.to_owned(), |stem| stem.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_numbers_of_seconds() {
        assert_eq!(clock("0"), Ok(0.0));
        assert!(["-1", "nan", "inf", "soon"].into_iter().all(|text| clock(text).is_err()));
    }
}
