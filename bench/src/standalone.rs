//! `daggerboard-bench standalone`: the embedded Prolog reasoner against a program in pure Prolog.

use std::io::Write;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use player::failure::{Failure, Outcome};
use player::game_source::GameArgs;
use player::{output, stop, tables};
use reasoner::Interrupt;
use reasoner_prolog::{Prolog, Update, translate};
use serde::{Deserialize, Serialize};

use crate::measure::Speed;
use crate::results::geometric_mean;
use crate::{child, compare};

/// Random games in pure Prolog.
const WALK: &str = include_str!("walk.pl");

/// Compare embedded SWI-Prolog with a stand-alone program in SWI-Prolog that plays the same random games
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  daggerboard-bench standalone tic-tac-toe connect-four
  daggerboard-bench standalone my-game.kif --seconds 5 --rounds 5")]
pub struct StandaloneArgs {
    /// Paths of rulesheets, or names of shipped games
    #[arg(required = true, value_name = "GAME")]
    games: Vec<String>,
    /// Processor time for each measurement
    #[arg(long, default_value_t = 2.0, value_name = "S", value_parser = compare::seconds)]
    seconds: f64,
    /// Measurements of each, in turn; their medians are compared
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
}

/// Transitions per second of processor time.
#[derive(Debug, Clone, Serialize)]
struct Row {
    game: String,
    standalone: f64,
    prolog: f64,
    prolog_full: f64,
}

/// What the stand-alone program prints.
#[derive(Debug, Deserialize)]
struct Walked {
    transitions: f64,
    cpu_s: f64,
}

impl StandaloneArgs {
    /// Measures and prints.
    ///
    /// # Errors
    /// If a game cannot be had or a measurement fails.
    pub fn run(&self, as_json: bool) -> Result<Outcome, Failure> {
        let stop = stop::on_ctrl_c()?;
        let mut rows = Vec::new();
        for game in &self.games {
            output::progress(format_args!("{game}"));
            rows.push(self.row(game, &stop)?);
        }
        let embedded = geometric_mean(rows.iter().map(|row| row.prolog / row.standalone));
        let difference = geometric_mean(rows.iter().map(|row| row.prolog / row.prolog_full));
        if as_json {
            output::json(&serde_json::json!({
                "games": rows,
                "prolog_to_standalone": embedded,
                "prolog_to_prolog_full": difference,
            }))?;
            return Ok(Outcome::Done);
        }
        let mut table = tables::with_header([
            "game",
            "stand-alone",
            "prolog",
            "prolog-full",
            "prolog / stand-alone",
            "prolog / full",
        ]);
        for row in &rows {
            let rate = |rate: f64| format!("{rate:.0}");
            let ratio = |to: f64| format!("{:.2}", row.prolog / to);
            table.add_row([
                row.game.clone(),
                rate(row.standalone),
                rate(row.prolog),
                rate(row.prolog_full),
                ratio(row.standalone),
                ratio(row.prolog_full),
            ]);
        }
        let mean = |mean: Option<f64>| mean.map_or("-".to_owned(), |mean| format!("{mean:.2}"));
        let empty = String::new;
        table.add_row([
            "geometric mean".to_owned(),
            empty(),
            empty(),
            empty(),
            mean(embedded),
            mean(difference),
        ]);
        output::line(format_args!("Transitions per second of processor time, one thread:\n{table}"))?;
        Ok(Outcome::Done)
    }

    fn row(&self, name: &str, stop: &Interrupt) -> Result<Row, Failure> {
        let args = GameArgs { game: name.to_owned(), reading: Default::default() };
        let game = args.load()?;
        let mut program = tempfile::Builder::new().suffix(".pl").tempfile()?;
        program.write_all(program_text(&game.rules)?.as_bytes())?;
        let mut walk = tempfile::Builder::new().suffix(".pl").tempfile()?;
        walk.write_all(WALK.as_bytes())?;
        let limit = Duration::from_secs_f64(self.seconds * 10.0 + 60.0);
        let failed = |error: String| Failure::work(error).context(&game.name);
        let (mut standalone, mut prolog, mut full) = (Vec::new(), Vec::new(), Vec::new());
        for round in 0..self.rounds {
            let swipl = std::env::var("SWIPL").unwrap_or_else(|_| "swipl".to_owned());
            let mut command = Command::new(swipl);
            let goal = format!("walk({})", self.seconds);
            command.args(["-q", "-O", "-f", "none", "-F", "none", "--no-tty", "-g", &goal, "-t", "halt"]);
            command.arg(program.path()).arg(walk.path());
            let text = child::output_of(&mut command, limit, stop).map_err(failed)?;
            let walked: Walked = serde_json::from_str(&text).map_err(Failure::work)?;
            standalone.push(walked.transitions / walked.cpu_s);
            for (reasoner, rates) in [("prolog", &mut prolog), ("prolog-full", &mut full)] {
                let options = [
                    ("--reasoner", reasoner.to_owned()),
                    ("--seconds", self.seconds.to_string()),
                    ("--seed", (round + 1).to_string()),
                ];
                let speed: Speed = child::measure("speed", name, &options, limit, stop).map_err(failed)?;
                rates.push(speed.transitions_per_cpu_s);
            }
        }
        let [standalone, prolog, prolog_full] = [standalone, prolog, full].map(median);
        Ok(Row { game: game.name, standalone, prolog, prolog_full })
    }
}

/// The rules as the module `game`, with the roles in order: the same text that the embedded engine gets.
fn program_text(rules: &Arc<gdl::Rules>) -> Result<String, Failure> {
    let choices = Prolog::new(Arc::clone(rules), Update::Difference)?.choices();
    let mut text = translate::program(rules, "game", &choices);
    for role in rules.roles() {
        text += &format!("role_of_walk({}).\n", translate::data_text(role));
    }
    Ok(text)
}

/// The middle of some numbers.
fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
