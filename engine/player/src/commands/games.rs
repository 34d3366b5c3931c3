//! `daggerboard games`: the shipped games.

use clap::Args;
use serde_json::json;

use crate::failure::{Failure, Outcome};
use crate::output;

/// List the shipped games
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  daggerboard games
  daggerboard games --show tic-tac-toe > tic-tac-toe.kif
  daggerboard games --json")]
pub struct GamesArgs {
    /// Print the rulesheet of one of them
    #[arg(long, value_name = "NAME")]
    show: Option<String>,
}

impl GamesArgs {
    /// Prints the list, or one rulesheet.
    ///
    /// # Errors
    /// If there is no such game.
    pub fn run(&self, as_json: bool) -> Result<Outcome, Failure> {
        if let Some(name) = &self.show {
            let game = games::find(name).ok_or_else(|| {
                Failure::usage(format!("there is no shipped game {name:?}"))
                    .hint("`daggerboard games` lists them")
            })?;
            output::line(game.text.trim_end())?;
            return Ok(Outcome::Done);
        }
        for game in games::all() {
            if as_json {
                output::json(&json!({ "name": game.name, "summary": game.summary }))?;
            } else {
                output::line(format_args!("{:<20} {}", game.name, game.summary))?;
            }
        }
        Ok(Outcome::Done)
    }
}
