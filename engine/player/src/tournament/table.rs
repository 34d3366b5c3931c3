//! Standings on the terminal.

use comfy_table::Table as Grid;

use super::cells;
use super::match_outcome::MatchOutcome;
use super::plan::Plan;
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
    let mut players: Vec<_> = table.players.iter().collect();
    players.sort_by(|one, other| other.elo.value.total_cmp(&one.elo.value));
    for player in players {
        grid.add_row([
            player.name.clone(),
            player.tally.n().to_string(),
            cells::tally(&player.tally),
            cells::share(&player.tally).to_string(),
            cells::rating(player).to_string(),
            cells::goal(player.mean_goal),
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
