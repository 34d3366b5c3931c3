//! The page of a tournament: standings with intervals, cross-table, tests, settings and links to records.

use maud::{Markup, PreEscaped, html};

use super::cells;
use super::folder::Folder;
use super::match_outcome::MatchOutcome;
use super::plan::Plan;
use super::plot;
use super::runner::Played;
use super::schedule::Schedule;
use super::standings::{Pairing, Table};
use super::table::{self, words};
use crate::failure::Failure;
use crate::html_page;
use crate::manager::record;

/// The name of the file in the tournament's folder.
pub const NAME: &str = "index.html";

/// What this page adds to the style of all.
const STYLE: &str = "
td:nth-child(1) { white-space: nowrap; } .cross td, .cross th { text-align: center; }
.cross td:first-child { text-align: left; } .diagonal { background: #eee; }
.interval { color: #666; font-size: .85em; white-space: nowrap; } .note { color: #555; max-width: 45rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; } dt { color: #555; } dd { margin: 0; overflow-wrap: anywhere; }
h2 { margin-top: 2rem; border-bottom: 2px solid #4878a8; } h3 { margin-bottom: .3rem; }
.matches td { text-align: left; } .test { min-width: 13rem; }
@media (max-width: 40rem) { body { font-size: 14px; padding: 0 .6rem; } th, td { padding: .2rem .25rem; } dl { grid-template-columns: 1fr; } dd { margin-bottom: .4rem; } }
@media print { body { font-size: 10pt; max-width: none; } h2, h3 { break-after: avoid; } tr, svg { break-inside: avoid; } a { color: inherit; text-decoration: none; } }";

/// Writes the page.
///
/// # Errors
/// If it cannot be written, or the plot not be drawn.
pub fn write(folder: &Folder, plan: &Plan, schedule: &Schedule, played: &Played) -> Result<(), Failure> {
    let page = Page { plan, schedule, played }.html()?;
    record::write_whole(folder.path(), NAME, page.as_bytes()).map(|_| ())
}

struct Page<'a> {
    plan: &'a Plan,
    schedule: &'a Schedule,
    played: &'a Played,
}

impl Page<'_> {
    fn html(&self) -> Result<String, Failure> {
        let overall = &self.played.standings.overall;
        let plot = plot::elo(overall)?;
        let body = html! {
            p { (table::state(self.plan, self.played)) }
            h2 { "Standings" }
            (self.standings(overall))
            div { (PreEscaped(plot)) }
            p.note {
                "Score: won matches and half of the equal ones, with Wilson's 95 % interval. Elo: Bradley and \
                 Terry's model over bouts (the matches behind one opening, in all seats) and half a won and half a \
                 lost one for every two players, mean 0, with a 95 % interval from the Bayesian bootstrap."
            }
            h2 { "Cross-table" }
            (cross_table(overall))
            p.note { "Score in percent of the player at the left, and its won / equal / lost matches." }
            h3 { "Pairings" }
            (pairings(overall))
            p.note {
                "Elo difference: how much stronger the first player is, from the scores of bouts, with \
                 Student's 95 % interval." (self.sprt_note())
            }
            @if self.played.standings.games.len() > 1 {
                h2 { "Game by game" }
                @for (name, table) in &self.played.standings.games {
                    h3 { (name) }
                    (self.standings(table))
                    (cross_table(table))
                }
            }
            h2 { "Settings" }
            (self.settings())
            h2 { "Matches" }
            (self.matches())
        };
        Ok(html_page::render(&self.plan.title, STYLE, &body))
    }

    fn standings(&self, table: &Table) -> Markup {
        html! {
            div.wide { table {
                tr { th { "player" } th { "matches" } th { "won / equal / lost" } th { "score %" } th { "Elo" }
                     th { "mean goal" } th { "errors" } th { "forfeits" } }
                @for (player_idx, player) in table.strongest_first() {
                    tr {
                        td { (player.name) @if self.played.is_absent[player_idx] { " " span.bad { "absent" } } }
                        td { (player.tally.n()) } td.interval { (cells::tally(&player.tally)) }
                        td { (estimate(&cells::share(&player.tally))) } td { (estimate(&cells::rating(player))) }
                        td { (cells::mean_goal(player.mean_goal)) }
                        td.bad[player.errors > 0] { (player.errors) }
                        td.bad[player.forfeits > 0] { (player.forfeits) }
                    }
                }
            } }
        }
    }

    fn sprt_note(&self) -> String {
        self.plan.sprt.map_or_else(String::new, |sprt| {
            format!(
                " Test: a generalised sequential probability ratio test of H0, a difference of {} Elo, against H1, \
                 {} Elo; alpha {}, beta {}. It looks at bouts in the order of the schedule, and bouts behind the one \
                 that decides do not count.",
                sprt.elo0, sprt.elo1, sprt.alpha, sprt.beta
            )
        })
    }

    fn settings(&self) -> Markup {
        let plan = self.plan;
        html! {
            dl {
                @for player in &plan.players { dt { (player.name) } dd { code { (player.spec.text) } } }
                @for game in &plan.games {
                    dt { (game.name) }
                    dd {
                        (game.rounds) " rounds, openings of " (game.opening_plies) " joint moves, clocks "
                        (game.start_clock.as_secs()) " and " (game.play_clock.as_secs()) " s, "
                        @if let Some(playouts) = game.playouts { (playouts) " playouts per move, " }
                        @if let Some(cpu) = game.cpu { (cpu.as_secs_f64()) " s of processor time per move, " }
                        "rules "
                        code { (game.game.rules_hash()) }
                    }
                }
                dt { "seed" } dd { (plan.seed) }
                dt { "matches at once" } dd { (plan.parallel) " on cores " (format!("{:?}", plan.cores)) }
                dt { "manager" } dd { "daggerboard " (env!("CARGO_PKG_VERSION")) ", reasoner " (plan.reasoner) }
                dt { "machine" } dd { (machine()) }
            }
        }
    }

    fn matches(&self) -> Markup {
        html! {
            div.wide { table.matches {
                tr { th { "match" } th { "players" } th { "goals" } th { "steps" } th { "seconds" } th { "remarks" } }
                @for (fixture, outcome) in self.schedule.fixtures.iter().zip(&self.played.outcomes) {
                    @if let Some(outcome) = outcome {
                        tr {
                            td { a href=(Folder::link(fixture)) {
                                (self.plan.games[fixture.game_idx].name) " " (fixture.round + 1)
                            } }
                            td { (joined(fixture.seats.iter().map(|&idx| self.plan.players[idx].name.clone()))) }
                            td { (joined(outcome.goals.iter().map(|&goal| cells::goal(goal)))) }
                            td { (outcome.n_steps) } td { (format!("{:.1}", outcome.seconds)) }
                            td.bad { (self.remarks(&fixture.seats, outcome)) }
                        }
                    }
                }
            } }
        }
    }

    fn remarks(&self, seats: &[usize], outcome: &MatchOutcome) -> String {
        let mut remarks = Vec::new();
        if !outcome.is_decided() {
            remarks.push(words(outcome.status).to_owned());
        }
        for (seat_idx, &player_idx) in seats.iter().enumerate() {
            let name = &self.plan.players[player_idx].name;
            if outcome.forfeited[seat_idx] {
                remarks.push(format!("{name} lost by record"));
            } else if outcome.n_errors[seat_idx] > 0 {
                remarks.push(format!("{name}: {} errors", outcome.n_errors[seat_idx]));
            }
        }
        remarks.join(", ")
    }
}

fn joined(cells: impl Iterator<Item = String>) -> String {
    cells.collect::<Vec<_>>().join(", ")
}

fn cross_table(table: &Table) -> Markup {
    let n_players = table.players.len();
    let find = |first: usize, second: usize| table.pairings.iter().find(|it| it.pair == (first, second));
    html! {
        div.wide { table.cross {
            tr { th { "" } @for player in &table.players { th { (player.name) } } }
            @for row in 0..n_players {
                tr {
                    td { (table.players[row].name) }
                    @for column in 0..n_players {
                        @if let Some(pairing) = find(row, column) {
                            td { (cross_cell(pairing, false)) }
                        } @else if let Some(pairing) = find(column, row) {
                            td { (cross_cell(pairing, true)) }
                        } @else {
                            td.diagonal {}
                        }
                    }
                }
            }
        } }
    }
}

fn cross_cell(pairing: &Pairing, is_mirrored: bool) -> Markup {
    let tally = if is_mirrored { pairing.tally.mirrored() } else { pairing.tally };
    html! {
        @if tally.n() == 0 { "-" } @else {
            (format!("{:.1}", 100.0 * tally.share().value)) br; span.interval { (cells::tally(&tally)) }
        }
    }
}

fn pairings(table: &Table) -> Markup {
    let has_test = table.pairings.iter().any(|pairing| pairing.sprt.is_some());
    html! {
        div.wide { table {
            tr { th { "pairing" } th { "bouts" } th { "won / equal / lost" } th { "score %" } th { "Elo difference" }
                 @if has_test { th { "test" } } }
            @for pairing in &table.pairings {
                tr {
                    td { (pairing.first) " - " (pairing.second) } td { (pairing.bouts) }
                    td.interval { (cells::tally(&pairing.tally)) } td { (estimate(&cells::share(&pairing.tally))) }
                    td { (estimate(&cells::difference(pairing))) }
                    @if let Some(test) = &pairing.sprt { td.test { (cells::test(test)) } }
                }
            }
        } }
    }
}

/// The interval goes below the value where there is no room beside it.
fn estimate(cell: &cells::Cell) -> Markup {
    html! { (cell.value) " " span.interval { (cell.interval) } }
}

/// The machine in words, as far as the system tells.
fn machine() -> String {
    let system = rustix::system::uname();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": ").map(|it| it.1));
    format!(
        "{}{cores} cores, {} {} {}",
        model.map(|model| format!("{model}, ")).unwrap_or_default(),
        system.sysname().to_string_lossy(),
        system.release().to_string_lossy(),
        system.machine().to_string_lossy()
    )
}
