//! `daggerboard-bench leftright`: the artificial game of the UCD paper, played by configurations.

use std::sync::Arc;

use bench::games::{InRust, LeftRight};
use clap::Args;
use player::failure::{Failure, Outcome};
use player::{output, stop, tables};
use reasoner::{Dice, Reasoner};
use search::Config;
use serde::Serialize;
use serde_json::json;
use statrs::statistics::Statistics;

use crate::config_list::ConfigList;
use crate::games_played::PlayArgs;
use crate::play::{Key, Played, Seat};

/// Saffidine, Cazenave and Méhat 2012, section 4.1: the shares of lefts that the text gives, of 300 steps with 100
/// playouts for each.
const PAPER: [(&str, f64); 3] = [("uct", 81.5), ("update-all", 77.7), ("ucd(inf,0,1)", 99.8)];

/// Play LeftRight by search configurations: the shares of steps to the left
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  daggerboard-bench leftright
  daggerboard-bench leftright --configs 'uct,ucd(1,0,1)' --steps 100 --runs 20
  daggerboard-bench leftright --c 0.1 --graph kept --final-move mean --out games.jsonl

Each game is played by one thread under a seed of its own, so that results depend on no other option than these. A run \
that was stopped goes on where it was if it has --out.")]
pub struct LeftRightArgs {
    /// Configurations, separated by commas
    #[arg(long, default_value = "uct,update-all,ucd-incremental(inf,0,1)", value_name = "CONFIGS")]
    configs: ConfigList,
    /// Steps of a game
    #[arg(long, default_value_t = LeftRight::DEFAULT_STEPS, value_name = "N", value_parser = steps())]
    steps: u16,
    /// Playouts for each step
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    playouts: u64,
    /// Games for each configuration
    #[arg(long, default_value_t = 50, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    runs: u64,
    #[command(flatten)]
    play: PlayArgs,
}

fn steps() -> clap::builder::RangedI64ValueParser<u16> {
    clap::value_parser!(u16).range(i64::from(*LeftRight::STEPS.start())..=i64::from(*LeftRight::STEPS.end()))
}

/// One configuration.
#[derive(Debug, Serialize)]
struct Row {
    config: String,
    /// Games played.
    runs: usize,
    /// The mean share of steps to the left, in percent; none without games.
    lefts: Option<f64>,
    /// Of that mean; none below two games.
    standard_error: Option<f64>,
    /// What the paper has for these settings, in percent.
    paper: Option<f64>,
    /// The difference to the paper, in standard errors.
    deviation: Option<f64>,
}

impl LeftRightArgs {
    /// Plays and prints.
    ///
    /// # Errors
    /// If a game cannot be played or kept.
    pub fn run(&self, as_json: bool) -> Result<Outcome, Failure> {
        let stop = stop::on_ctrl_c()?;
        let game = LeftRight::new(self.steps);
        let reasoner = Arc::new(InRust::new(game));
        let keys: Vec<Key> = self.configs.0.iter().flat_map(|&config| self.keys(&reasoner, config)).collect();
        let games = self.play.play_all(&reasoner, &keys, &stop)?;
        let rows: Vec<Row> = self
            .configs
            .0
            .iter()
            .map(|&config| {
                self.row(config, games.iter().flatten().filter(|it| it.key.seats[0].config == config))
            })
            .collect();
        if as_json {
            output::json(&json!({
                "game": game.to_string(),
                "playouts": self.playouts,
                "settings": self.play.settings(),
                "rows": rows,
            }))?;
        } else {
            self.print(&rows)?;
        }
        if stop.is_raised() {
            output::progress("stopped; with --out the same command goes on");
            return Ok(Outcome::Failed);
        }
        Ok(Outcome::Done)
    }

    /// The games of a configuration. The seed of a run is the same for all of them.
    fn keys(&self, reasoner: &InRust<LeftRight>, config: Config) -> impl Iterator<Item = Key> {
        let key = Key {
            game: reasoner.game().to_string(),
            rules_hash: None,
            reasoner: reasoner.name().to_owned(),
            seats: vec![Seat { config, playouts: self.playouts, c: self.play.c }],
            payoffs: self.play.payoffs,
            graph: self.play.graph,
            final_move: self.play.final_move,
            seed: 0,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let seed = self.play.seed;
        (0..self.runs).map(move |run| Key { seed: Dice::child_seed(seed, run), ..key.clone() })
    }

    fn row<'a>(&self, config: Config, games: impl Iterator<Item = &'a Played>) -> Row {
        let shares: Vec<f64> =
            games.map(|played| 100.0 * f64::from(played.goals[0]) / f64::from(self.steps)).collect();
        let n = shares.len();
        let lefts = (n > 0).then(|| shares.iter().mean());
        let standard_error = (n > 1).then(|| shares.iter().std_dev() / (n as f64).sqrt());
        let paper = self.paper(config);
        let deviation =
            lefts.zip(standard_error).zip(paper).map(|((lefts, error), paper)| (lefts - paper) / error);
        let config = config.to_string();
        Row {
            config,
            runs: n,
            lefts,
            standard_error,
            paper,
            deviation: deviation.filter(|it| it.is_finite()),
        }
    }

    /// What the paper has for a configuration, if the game and the playouts are the paper's.
    fn paper(&self, config: Config) -> Option<f64> {
        // The same numbers, kept up to date.
        let name = config.to_string().replace("ucd-incremental", "ucd");
        let is_theirs = self.steps == LeftRight::DEFAULT_STEPS && self.playouts == 100;
        PAPER.iter().find(|(known, _)| is_theirs && *known == name).map(|&(_, share)| share)
    }

    fn print(&self, rows: &[Row]) -> Result<(), Failure> {
        let mut table = tables::with_header([
            "configuration",
            "runs",
            "lefts %",
            "standard error",
            "paper",
            "standard errors from it",
        ]);
        let number = |number: Option<f64>, digits: usize| {
            number.map_or("-".to_owned(), |number| format!("{number:.digits$}"))
        };
        for row in rows {
            table.add_row([
                row.config.clone(),
                row.runs.to_string(),
                number(row.lefts, 2),
                number(row.standard_error, 2),
                number(row.paper, 1),
                number(row.deviation, 1),
            ]);
        }
        output::line(format_args!("{} steps, {} playouts each:\n{table}", self.steps, self.playouts))
    }
}
