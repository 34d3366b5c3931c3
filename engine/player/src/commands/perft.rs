//! `daggerboard perft`: counts of the game tree.

use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use reasoner::perft::perft;
use reasoner::{Interrupt, Limits, Reasoner};
use serde_json::json;

use crate::failure::{Failure, Outcome};
use crate::game_source::GameArgs;
use crate::output;
use crate::position::{Position, PositionArgs};
use crate::reasoners::{self, ReasonerKind, SetUp, WithReasoner};
use crate::stop;

/// Count the game tree, depth by depth
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  daggerboard perft tic-tac-toe --depth 6
  echo '[\"(left a 2)\",\"(left b 3)\",\"(left c 0)\",\"(turn first)\"]' > position.json
  daggerboard perft nim --depth 3 --state position.json --json

The reasoner auto is the propnet where the rules can be grounded within some seconds, counted in steps, otherwise the \
interpreter; the counts are the same.")]
pub struct PerftArgs {
    #[command(flatten)]
    game: GameArgs,
    /// How many joint moves deep
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    depth: u32,
    #[command(flatten)]
    position: PositionArgs,
    #[arg(long, default_value = "auto", value_name = "NAME", help = format!("Who answers questions about the rules: {}", reasoners::NAMES))]
    reasoner: ReasonerKind,
}

impl PerftArgs {
    /// Counts and prints.
    ///
    /// # Errors
    /// If the game or the position cannot be had, or counting fails.
    pub fn run(&self, as_json: bool) -> Result<Outcome, Failure> {
        let game = self.game.load()?;
        let stop = stop::on_ctrl_c()?;
        let position = self.position.read()?;
        let set_up = SetUp { position: position.facts.clone(), ..SetUp::shown(&stop) };
        let counting = Counting { args: self, name: &game.name, position, as_json, stop: &stop };
        self.reasoner.with(Arc::clone(&game.rules), &set_up, counting)?
    }
}

struct Counting<'a> {
    args: &'a PerftArgs,
    name: &'a str,
    position: Position,
    as_json: bool,
    stop: &'a Interrupt,
}

impl WithReasoner for Counting<'_> {
    type Output = Result<Outcome, Failure>;

    fn run<R: Reasoner>(self, reasoner: Arc<R>) -> Self::Output {
        let mut session = reasoner.session(Limits::default(), self.stop)?;
        let root = self.position.load(&mut session)?;
        let begun = Instant::now();
        let counts = perft(&mut session, &root, self.args.depth, self.stop, |depth, counts| {
            let last = |list: &[u64]| list.last().copied().unwrap_or(0);
            output::progress(format_args!(
                "depth {depth}: {} leaves, {} states, {} of them terminal, {:.1} s",
                last(&counts.leaves),
                last(&counts.distinct),
                last(&counts.distinct_terminal),
                begun.elapsed().as_secs_f64()
            ));
        })?;
        if self.as_json {
            output::json(&json!({
                "game": self.name,
                "reasoner": reasoner.name(),
                "perft": counts.leaves,
                "distinct": counts.distinct,
                "distinct_terminal": counts.distinct_terminal,
                "seconds": begun.elapsed().as_secs_f64(),
            }))?;
        } else {
            output::line(format_args!(
                "{:>5} {:>20} {:>12} {:>12}",
                "depth", "leaves", "distinct", "terminal"
            ))?;
            let rows = counts.leaves.iter().zip(&counts.distinct).zip(&counts.distinct_terminal);
            for (depth, ((leaves, distinct), terminal)) in (1..).zip(rows) {
                output::line(format_args!("{depth:>5} {leaves:>20} {distinct:>12} {terminal:>12}"))?;
            }
        }
        Ok(Outcome::Done)
    }
}
