//! `daggerboard tournament`: many matches, and what they say.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use crate::failure::{Failure, Outcome};
use crate::output;
use crate::stop;
use crate::tournament::folder::{self, Folder};
use crate::tournament::plan::{self, Plan};
use crate::tournament::progress::Progress;
use crate::tournament::runner::{Played, Runner};
use crate::tournament::schedule::Schedule;
use crate::tournament::{page, results_csv, table};

/// Play a tournament and tell who is stronger, and how surely
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  daggerboard tournament --example > my-tournament.toml
  daggerboard tournament my-tournament.toml
  daggerboard tournament my-tournament.toml --records another-folder --json

A small file:
  rounds = 20
  opening_plies = 2
  parallel = 2
  [[game]]
  game = \"connect-four\"
  [[player]]
  name = \"uct\"
  spec = \"self:config=uct,playouts=200\"
  [[player]]
  name = \"mc\"
  spec = \"self:config=mc,playouts=200\"
  [sprt]
  elo0 = 0
  elo1 = 100

The same command goes on after Ctrl-C, a crash or a kill: what has a record in FOLDER/matches is played. A larger \
number of rounds adds matches. FOLDER/index.html and FOLDER/results.csv are written at the end, and when it is stopped.

Every two players meet in bouts: the matches behind one random opening, in all their seats. A match is won by the \
larger goal (mean goal, where a player has several seats), and lost by record by a player that dies or answers no \
more. In games of one role goals of matches alone are compared.

In JSON an end of an interval, or a difference, that is infinite is null.")]
pub struct TournamentArgs {
    /// The file of the tournament
    #[arg(value_name = "FILE", required_unless_present = "example")]
    file: Option<PathBuf>,
    /// Print a commented file to begin with
    #[arg(long, conflicts_with = "file")]
    example: bool,
    /// The folder for the records, instead of the one that the file names
    #[arg(long, value_name = "DIR")]
    records: Option<PathBuf>,
    /// What all random choices follow from, instead of the seed in the file
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Show no progress
    #[arg(long)]
    quiet: bool,
}

impl TournamentArgs {
    /// Plays and prints.
    ///
    /// # Errors
    /// If the file is no plan, its folder cannot be used, or a match cannot be played or recorded.
    pub fn run(&self, as_json: bool) -> Result<Outcome, Failure> {
        let Some(file) = &self.file else {
            output::line(plan::EXAMPLE.trim_end())?;
            return Ok(Outcome::Done);
        };
        let mut plan = Plan::read(file)?;
        if let Some(records) = &self.records {
            plan.records.clone_from(records);
        }
        plan.seed = self.seed.unwrap_or(plan.seed);
        let schedule = Schedule::of(&plan, &folder::mark(&plan));
        let folder = Folder::open(&plan)?;
        let stop = stop::on_ctrl_c()?;
        let progress = Progress::new(self.quiet);
        let played = Runner::new(&plan, &schedule, &folder, &stop, &progress).run()?;
        results_csv::write(&folder, &plan, &schedule, &played.outcomes)?;
        page::write(&folder, &plan, &schedule, &played)?;
        tell(&folder, &plan, &schedule, &played, as_json)?;
        Ok(if played.is_complete { Outcome::Done } else { Outcome::Failed })
    }
}

/// Prints the standings.
fn tell(
    folder: &Folder,
    plan: &Plan,
    schedule: &Schedule,
    played: &Played,
    as_json: bool,
) -> Result<(), Failure> {
    if as_json {
        let absent: Vec<&str> = plan
            .players
            .iter()
            .zip(&played.is_absent)
            .filter(|(_, is_absent)| **is_absent)
            .map(|(player, _)| player.name.as_str())
            .collect();
        return output::json(&json!({
            "title": plan.title,
            "complete": played.is_complete,
            "matches": schedule.fixtures.len(),
            "played": played.n_played(),
            "skipped": played.n_skipped(),
            "absent": absent,
            "overall": played.standings.overall,
            "games": played.standings.games.iter().map(|(name, table)| json!({ "game": name, "table": table })).collect::<Vec<_>>(),
            "records": folder.path().display().to_string(),
        }));
    }
    table::print(&played.standings)?;
    output::line(table::state(plan, played))?;
    output::line(format_args!("{0}/index.html, {0}/results.csv", folder.path().display()))
}
