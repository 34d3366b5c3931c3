//! Every match of a tournament as a line of CSV.

use super::cells;
use super::folder::Folder;
use super::match_outcome::MatchOutcome;
use super::plan::Plan;
use super::schedule::Schedule;
use super::table::words;
use crate::failure::Failure;
use crate::manager::record;

/// The name of the file in the tournament's folder.
pub const NAME: &str = "results.csv";

/// Writes the matches that are played, in the order of the schedule. Lists have one entry for each seat, parted by
/// blanks; a goal that there is not is `-`.
///
/// # Errors
/// If the file cannot be written.
pub fn write(
    folder: &Folder,
    plan: &Plan,
    schedule: &Schedule,
    outcomes: &[Option<MatchOutcome>],
) -> Result<(), Failure> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let header = [
        "match",
        "game",
        "round",
        "players",
        "goals",
        "forfeits",
        "errors",
        "status",
        "opening_plies",
        "steps",
        "seconds",
        "record",
    ];
    writer.write_record(header).map_err(Failure::work)?;
    for (fixture, outcome) in schedule.fixtures.iter().zip(outcomes) {
        let Some(outcome) = outcome else { continue };
        let names: Vec<&str> = fixture.seats.iter().map(|&idx| plan.players[idx].name.as_str()).collect();
        writer
            .write_record([
                fixture.id.clone(),
                plan.games[fixture.game_idx].name.clone(),
                (fixture.round + 1).to_string(),
                names.join(" "),
                joined(outcome.goals.iter().map(|&goal| cells::goal(goal))),
                joined(outcome.forfeited.iter().map(|&forfeited| u8::from(forfeited).to_string())),
                joined(outcome.n_errors.iter().map(usize::to_string)),
                words(outcome.status).to_owned(),
                outcome.opening_plies.to_string(),
                outcome.n_steps.to_string(),
                format!("{:.3}", outcome.seconds),
                Folder::link(fixture),
            ])
            .map_err(Failure::work)?;
    }
    let bytes = writer.into_inner().map_err(Failure::work)?;
    record::write_whole(folder.path(), NAME, &bytes).map(|_| ())
}

fn joined(cells: impl Iterator<Item = String>) -> String {
    cells.collect::<Vec<_>>().join(" ")
}
