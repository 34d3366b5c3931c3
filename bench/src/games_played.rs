//! Many games side by side, kept in a file, so that none is played twice.

use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use player::failure::Failure;
use player::output;
use reasoner::{Interrupt, Reasoner};
use search::{FinalMove, MAX_EXPLORATION};
use serde::Serialize;

use crate::journal::Journal;
use crate::play::{GraphUse, Key, Payoffs, Played, play};
use crate::progress;
use crate::side_by_side::{n_cores, side_by_side};

/// How games between configurations are played, and where they go.
#[derive(Debug, Args)]
pub struct PlayArgs {
    /// UCB1's constant
    #[arg(long, default_value_t = 0.3, value_name = "C", value_parser = exploration)]
    pub c: f64,
    /// Which payoffs C is for: 0 to 1, or goals as they are
    #[arg(long, value_enum, default_value_t = Payoffs::Unit)]
    pub payoffs: Payoffs,
    /// What happens to the graph when a move was made
    #[arg(long, value_enum, default_value_t = GraphUse::Anew)]
    pub graph: GraphUse,
    /// What the move to play has most of: visits, mean or top
    #[arg(long, default_value_t = FinalMove::Visits, value_name = "RULE")]
    pub final_move: FinalMove,
    /// What all random choices follow from
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// Games played at a time, each by one thread
    #[arg(long, default_value_t = n_cores(), value_name = "N")]
    pub jobs: NonZero<usize>,
    /// Where games are kept, as lines of JSON; those that are there are not played again
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// A constant of the command line.
///
/// # Errors
/// In words, if it is none.
pub fn exploration(text: &str) -> Result<f64, String> {
    // Multiplied by the largest goals there are it is within what a search takes.
    const MOST: f64 = MAX_EXPLORATION / 1e5;
    match text.parse::<f64>() {
        Ok(c) if (0.0..=MOST).contains(&c) => Ok(c),
        _ => Err(format!("give a number, 0 to {MOST}")),
    }
}

/// What every game of a command has in common, for reports.
#[derive(Debug, Clone, Serialize)]
pub struct Settings {
    pub c: f64,
    pub payoffs: Payoffs,
    pub graph: GraphUse,
    pub final_move: String,
    pub seed: u64,
}

impl PlayArgs {
    /// What every game has in common.
    pub fn settings(&self) -> Settings {
        Settings {
            c: self.c,
            payoffs: self.payoffs,
            graph: self.graph,
            final_move: self.final_move.to_string(),
            seed: self.seed,
        }
    }

    /// Plays those games that are not in the file. What is missing in the answer was not played, because `stop` was
    /// raised.
    ///
    /// # Errors
    /// If a game cannot be played, or the file cannot be read or written.
    pub fn play_all<R: Reasoner>(
        &self,
        reasoner: &Arc<R>,
        keys: &[Key],
        stop: &Interrupt,
    ) -> Result<Vec<Option<Played>>, Failure> {
        let mut journal = self.journal()?;
        let known = |key: &Key| journal.as_ref()?.entries.iter().find(|played| played.key == *key).cloned();
        let mut games: Vec<Option<Played>> = keys.iter().map(known).collect();
        let missing: Vec<usize> = (0..keys.len()).filter(|&idx| games[idx].is_none()).collect();
        let bar = progress::bar(keys.len());
        bar.inc((keys.len() - missing.len()) as u64);
        let mut failed = None;
        let mut keep = |idx: usize, result| -> Result<bool, Failure> {
            let Some(played): Option<Played> = result? else { return Ok(false) };
            if let Some(journal) = &mut journal {
                journal.push(played.clone()).map_err(|error| self.in_file(error))?;
            }
            games[idx] = Some(played);
            bar.inc(1);
            Ok(true)
        };
        side_by_side(
            self.jobs,
            &missing,
            |&idx| if stop.is_raised() { Ok(None) } else { play(reasoner, &keys[idx], stop) },
            |&idx, result| {
                keep(idx, result).unwrap_or_else(|failure| {
                    failed = Some(failure);
                    // The others need not end their games.
                    stop.raise();
                    false
                })
            },
        );
        bar.finish_and_clear();
        failed.map_or(Ok(games), Err)
    }

    fn journal(&self) -> Result<Option<Journal<Played>>, Failure> {
        let Some(path) = &self.out else { return Ok(None) };
        let journal = Journal::open(path).map_err(|error| self.in_file(error))?;
        if journal.n_unreadable > 0 {
            let what = "lines cannot be read; the games that they held are played again";
            output::progress(format_args!("{}: {} {what}", path.display(), journal.n_unreadable));
        }
        Ok(Some(journal))
    }

    fn in_file(&self, error: std::io::Error) -> Failure {
        let path = self.out.as_deref().unwrap_or_else(|| "".as_ref());
        Failure::work(error).context(path.display())
    }
}
