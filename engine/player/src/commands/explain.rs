//! `daggerboard explain`: what rules come to as a propositional network.

use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use comfy_table::Table;
use serde_json::json;

use crate::brain::parse_seconds;
use crate::failure::{Failure, Outcome};
use crate::game_source::GameArgs;
use crate::reasoners::{self, GateCount, NetReport, SetUp, Share};
use crate::{output, stop};

/// Tell what a game's rules come to as a propositional network, or why there is none
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  daggerboard explain tic-tac-toe
  daggerboard explain my-game.kif --seconds 300 --json

What takes long is told on standard error once a second: the stage, steps of joins, words of ground rules, memory.")]
pub struct ExplainArgs {
    #[command(flatten)]
    game: GameArgs,
    /// How long grounding may take
    #[arg(long, default_value = "60", value_name = "S", value_parser = parse_seconds)]
    seconds: f64,
}

impl ExplainArgs {
    /// Grounds and prints.
    ///
    /// # Errors
    /// If the game cannot be had, or its rules cannot be grounded.
    pub fn run(&self, as_json: bool) -> Result<Outcome, Failure> {
        let game = self.game.load()?;
        let stop = stop::on_ctrl_c()?;
        let time = Some(Duration::from_secs_f64(self.seconds));
        let set_up = SetUp { demanded: Share { time, ..Share::PATIENT }, ..SetUp::shown(&stop) };
        let report = reasoners::explain(Arc::clone(&game.rules), &set_up)?;
        if as_json {
            output::json(&as_value(&game.name, &report))?;
        } else {
            output::line(format_args!("{}", as_text(&report)))?;
        }
        Ok(Outcome::Done)
    }
}

fn of_gates(count: &GateCount) -> serde_json::Value {
    json!({"gates": count.gates, "inputs": count.inputs})
}

fn as_value(game: &str, report: &NetReport) -> serde_json::Value {
    let cones: serde_json::Map<String, serde_json::Value> =
        report.cones.iter().map(|cone| (cone.name.to_owned(), of_gates(cone))).collect();
    json!({
        "game": game,
        "fluents": report.fluents,
        "relevant_fluents": report.relevant_fluents,
        "constant_fluents": report.constant_fluents,
        "moves": report.moves,
        "ground_words": report.ground_words,
        "is_split": report.is_split,
        "on_demand": report.on_demand,
        "raw_gates": report.raw.gates,
        "raw_inputs": report.raw.inputs,
        "cones": cones,
        "phases": report.phases.iter().map(of_gates).collect::<Vec<_>>(),
        "loops": report.loops,
        "lanes": report.lanes,
        "bytes": report.bytes,
        "ground_s": report.ground_time.as_secs_f64(),
        "net_s": report.net_time.as_secs_f64(),
    })
}

fn as_text(report: &NetReport) -> String {
    let moves: Vec<String> = report.moves.iter().map(usize::to_string).collect();
    let whole = if report.is_split { "split" } else { "whole" };
    let mut text = format!(
        "{} fluents that change, {} of which matter, and {} that always hold; {} moves\n\
         grounded in {:.3} s from {whole} clauses, {} words; net made in {:.3} s, {} gates before simplifying\n",
        report.fluents,
        report.relevant_fluents,
        report.constant_fluents,
        moves.join(" + "),
        report.ground_time.as_secs_f64(),
        report.ground_words,
        report.net_time.as_secs_f64(),
        report.raw.gates,
    );
    if !report.on_demand.is_empty() {
        text += &format!("evaluated on demand: {}\n", report.on_demand.join(", "));
    }
    let mut table = Table::new();
    table.load_preset(comfy_table::presets::ASCII_MARKDOWN);
    table.set_header(["cone", "gates", "inputs"]);
    for cone in &report.cones {
        table.add_row([cone.name.to_owned(), cone.gates.to_string(), cone.inputs.to_string()]);
    }
    let steps: Vec<String> =
        report.phases.iter().map(|phase| format!("{} ({})", phase.gates, phase.inputs)).collect();
    text + &format!(
        "{table}\na step of a rollout, by phase: gates (inputs) {}\n{} loops; {} lanes; {} bytes",
        steps.join(", "),
        report.loops,
        report.lanes,
        report.bytes
    )
}
