//! Standings on the terminal.

use comfy_table::Table as Grid;

use super::cells;
use super::match_outcome::MatchOutcome;
use super::plan::Plan;
use super::runner::Played;
use super::schedule::Fixture;
use super::standings::{Standings, Table};
use crate::failure::Failure;
use crate::manager::record::Status;
use crate::{output, tables};

/// The players of a table, the strongest first.
pub fn players(table: &Table) -> Grid {
    let mut grid = tables::with_header([
        "player",
        "matches",
        "won/equal/lost",
        "score %",
        "Elo",
        "mean goal",
        "errors",
        "forfeits",
    ]);
    for (_, player) in table.strongest_first() {
        grid.add_row([
            player.name.clone(),
            player.tally.n().to_string(),
            cells::tally(&player.tally),
            cells::share(&player.tally).to_string(),
            cells::rating(player).to_string(),
            cells::mean_goal(player.mean_goal),
            player.errors.to_string(),
            player.forfeits.to_string(),
        ]);
    }
    grid
}

/// The pairings of a table.
fn pairings(table: &Table) -> Grid {
    let mut grid =
        tables::with_header(["pairing", "bouts", "won/equal/lost", "score %", "Elo difference", "test"]);
    for pairing in &table.pairings {
        grid.add_row([
            format!("{} - {}", pairing.first, pairing.second),
            pairing.bouts.to_string(),
            cells::tally(&pairing.tally),
            cells::share(&pairing.tally).to_string(),
            cells::difference(pairing).to_string(),
            pairing.sprt.as_ref().map_or_else(|| "-".to_owned(), cells::test),
        ]);
    }
    grid
}

/// Prints everything.
///
/// # Errors
/// If it cannot be written.
pub fn print(standings: &Standings) -> Result<(), Failure> {
    if standings.games.len() > 1 {
        for (name, table) in &standings.games {
            output::line(format_args!("{name}:\n{}\n{}\n", players(table), pairings(table)))?;
        }
        output::line("All games:")?;
    }
    output::line(format_args!("{}\n{}", players(&standings.overall), pairings(&standings.overall)))
}

/// How far a tournament is, and why not farther.
pub fn state(plan: &Plan, played: &Played) -> String {
    let (n_matches, n_played, n_skipped) = (played.outcomes.len(), played.n_played(), played.n_skipped());
    let n_void = played.outcomes.iter().flatten().filter(|outcome| !outcome.is_decided()).count();
    let mut state = format!("{n_played} of {n_matches} matches are played");
    if n_void > 0 {
        state += &format!("; {n_void} of them could not be finished and count for nobody");
    }
    if n_skipped > 0 {
        let absent = plan.players.iter().zip(&played.is_absent).filter(|(_, is_absent)| **is_absent);
        let absent: Vec<&str> = absent.map(|(player, _)| player.name.as_str()).collect();
        state += &format!("; {n_skipped} are skipped, since {} did not answer", absent.join(" and "));
    }
    if !played.is_complete {
        return state + ". It is not complete; the same command goes on.";
    }
    if n_played + n_skipped < n_matches {
        state += "; the others are not wanted, since the test is decided";
    }
    state + ". The tournament is over."
}

/// A match in one line.
pub fn match_line(plan: &Plan, fixture: &Fixture, outcome: &MatchOutcome) -> String {
    let seats = fixture.seats.iter().enumerate().map(|(seat_idx, &player_idx)| {
        let name = &plan.players[player_idx].name;
        match (outcome.forfeited[seat_idx], outcome.goals[seat_idx]) {
            (true, _) => format!("{name} gone"),
            (false, Some(goal)) => format!("{name} {goal}"),
            (false, None) => name.clone(),
        }
    });
    let seats: Vec<String> = seats.collect();
    let game = &plan.games[fixture.game_idx].name;
    let status = match outcome.status {
        Status::Completed => String::new(),
        other => format!(" ({})", words(other)),
    };
    format!(
        "{game} round {}: {}{status}, {} steps, {:.1} s",
        fixture.round + 1,
        seats.join(", "),
        outcome.n_steps,
        outcome.seconds
    )
}

/// How a match ended, in words.
pub fn words(status: Status) -> &'static str {
    match status {
        Status::Completed => "completed",
        Status::Forfeited => "lost by record",
        Status::Stopped => "stopped",
        Status::NoLegalMove => "a role had no move",
        Status::TooManySteps => "too many steps",
        Status::ReasonerFailed => "the manager's reasoner failed",
    }
}
