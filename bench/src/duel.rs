//! `daggerboard-bench duel`: search configurations against one of them, in games of two roles.

use std::sync::Arc;

use bench::games;
use clap::Args;
use player::failure::{Failure, Outcome};
use player::reasoners::{self, ReasonerKind, WithReasoner};
use player::{output, stop, tables};
use reasoner::{Dice, Interrupt, Reasoner};
use search::Config;
use serde::Serialize;
use serde_json::json;
use statrs::distribution::{Beta, ContinuousCDF};

use crate::config_list::ConfigList;
use crate::games_played::{self, PlayArgs};
use crate::named_game::NamedGame;
use crate::play::{Key, Played, Seat};

/// How sure intervals are.
const CONFIDENCE: f64 = 0.95;

/// Play search configurations against one of them: win rates with 95 % intervals
#[derive(Debug, Args)]
#[command(after_help = format!("\
Games: names or paths of rulesheets, and {}

Examples:
  daggerboard-bench duel --game hex:5,stone=b2 --configs 'ucd(0,1,2),update-all' --against uct
  daggerboard-bench duel --game go:6,komi=5.5 --configs 'ucd(1,1,0)' --c 0.4 --playouts 10000 --games 200
  daggerboard-bench duel --game connect-four --configs uct+t --out games.jsonl

Each configuration has each role in half of its games, and each seed for one game in either role. Each game is played by \
one thread under a seed of its own, so that results depend on no other option than these. A run that was stopped goes \
on where it was if it has --out. Even games count half.", games::FORMS))]
pub struct DuelArgs {
    /// What is played
    #[arg(long, value_name = "GAME")]
    game: String,
    #[arg(long, default_value_t = ReasonerKind::Propnet, value_name = "NAME",
        help = format!("Who answers for a rulesheet: {}", reasoners::NAMES))]
    reasoner: ReasonerKind,
    /// Configurations, separated by commas
    #[arg(long, value_name = "CONFIGS")]
    configs: ConfigList,
    /// Whom each of them plays
    #[arg(long, default_value_t = Config::Uct, value_name = "CONFIG")]
    against: Config,
    /// Its constant, if it has another one
    #[arg(long, value_name = "C", value_parser = games_played::exploration)]
    against_c: Option<f64>,
    /// Games for each configuration, an even number
    #[arg(long, default_value_t = 400, value_name = "N", value_parser = n_games)]
    games: u64,
    /// Playouts for each move
    #[arg(long, default_value_t = 1000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    playouts: u64,
    #[command(flatten)]
    play: PlayArgs,
}

fn n_games(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(n) if n % 2 == 0 && (2..=1_000_000).contains(&n) => Ok(n),
        _ => Err("give an even number, 2 to 1000000, so that each has each role as often".to_owned()),
    }
}

/// One configuration against the common opponent.
#[derive(Debug, Serialize)]
struct Row {
    config: String,
    games: usize,
    won: usize,
    drawn: usize,
    lost: usize,
    /// What it won, even games as half won, in percent; none without games.
    score: Option<f64>,
    /// Where the interval begins and ends.
    interval: [f64; 2],
    /// The same in each role.
    by_role: [Option<f64>; 2],
}

impl DuelArgs {
    /// Plays and prints.
    ///
    /// # Errors
    /// If the game has not two roles, or a game cannot be played or kept.
    pub fn run(&self, as_json: bool) -> Result<Outcome, Failure> {
        let stop = stop::on_ctrl_c()?;
        let game = NamedGame::find(&self.game)?;
        game.with(self.reasoner, &stop, Dueling { args: self, game: &game, as_json, stop: &stop })?
    }
}

struct Dueling<'a> {
    args: &'a DuelArgs,
    game: &'a NamedGame,
    as_json: bool,
    stop: &'a Interrupt,
}

impl WithReasoner for Dueling<'_> {
    type Output = Result<Outcome, Failure>;

    fn run<R: Reasoner>(self, reasoner: Arc<R>) -> Self::Output {
        let roles: Vec<String> = reasoner.roles().iter().map(ToString::to_string).collect();
        let [first, second] = &roles[..] else {
            let text = format!("a duel has two roles, and {} has {}", self.game.name(), roles.len());
            return Err(Failure::usage(text));
        };
        let configs = &self.args.configs.0;
        let keys: Vec<Vec<Key>> = configs.iter().map(|&config| self.keys(reasoner.name(), config)).collect();
        let games = self.args.play.play_all(&reasoner, &keys.concat(), self.stop)?;
        let rows: Vec<Row> = configs
            .iter()
            .zip(games.chunks(keys[0].len()))
            .map(|(config, games)| row(config.to_string(), games))
            .collect();
        if self.as_json {
            output::json(&json!({
                "game": self.game.name(),
                "roles": roles,
                "against": self.args.against.to_string(),
                "against_c": self.args.against_c(),
                "playouts": self.args.playouts,
                "settings": self.args.play.settings(),
                "rows": rows,
            }))?;
        } else {
            self.print(&rows, [first, second])?;
        }
        if self.stop.is_raised() {
            output::progress("stopped; with --out the same command goes on");
            return Ok(Outcome::Failed);
        }
        Ok(Outcome::Done)
    }
}

impl DuelArgs {
    fn against_c(&self) -> f64 {
        self.against_c.unwrap_or(self.play.c)
    }
}

impl Dueling<'_> {
    /// The games of a configuration: by turns in the first and in the second role.
    fn keys(&self, reasoner: &str, config: Config) -> Vec<Key> {
        let DuelArgs { play, playouts, .. } = self.args;
        let seat = Seat { config, playouts: *playouts, c: play.c };
        let other = Seat { config: self.args.against, playouts: *playouts, c: self.args.against_c() };
        let key = |game_idx: u64| Key {
            game: self.game.name(),
            rules_hash: self.game.rules_hash(),
            reasoner: reasoner.to_owned(),
            seats: match role_of(game_idx) {
                0 => vec![seat.clone(), other.clone()],
                _ => vec![other.clone(), seat.clone()],
            },
            payoffs: play.payoffs,
            graph: play.graph,
            final_move: play.final_move,
            seed: Dice::child_seed(play.seed, game_idx / 2),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        (0..self.args.games).map(key).collect()
    }

    fn print(&self, rows: &[Row], roles: [&str; 2]) -> Result<(), Failure> {
        let [as_first, as_second] = roles.map(|role| format!("as {role} %"));
        let mut table = tables::with_header([
            "configuration",
            "games",
            "won",
            "drawn",
            "lost",
            "score %",
            "95 % interval",
            &as_first,
            &as_second,
        ]);
        let percent = |share: Option<f64>| share.map_or("-".to_owned(), |share| format!("{share:.1}"));
        for row in rows {
            table.add_row([
                row.config.clone(),
                row.games.to_string(),
                row.won.to_string(),
                row.drawn.to_string(),
                row.lost.to_string(),
                percent(row.score),
                format!("{:.1} to {:.1}", row.interval[0], row.interval[1]),
                percent(row.by_role[0]),
                percent(row.by_role[1]),
            ]);
        }
        let DuelArgs { against, playouts, .. } = self.args;
        let game = self.game.name();
        output::line(format_args!("{game}, {playouts} playouts a move, against {against}:\n{table}"))
    }
}

/// The role of the configuration in its `game_idx`th game.
fn role_of(game_idx: u64) -> usize {
    usize::from(game_idx % 2 == 1)
}

/// What a configuration's games came to, in the order of their keys; those not played are missing.
fn row(config: String, games: &[Option<Played>]) -> Row {
    let scores: Vec<(usize, f64)> = (0u64..)
        .zip(games)
        .filter_map(|(game_idx, game)| {
            Some((role_of(game_idx), score(&game.as_ref()?.goals, role_of(game_idx))))
        })
        .collect();
    let count = |wanted: f64| scores.iter().filter(|(_, score)| *score == wanted).count();
    let mean = |scores: &[f64]| {
        (!scores.is_empty()).then(|| 100.0 * scores.iter().sum::<f64>() / scores.len() as f64)
    };
    let of_role = |wanted: usize| {
        let scores: Vec<f64> = scores.iter().filter(|(role, _)| *role == wanted).map(|it| it.1).collect();
        mean(&scores)
    };
    let all: Vec<f64> = scores.iter().map(|it| it.1).collect();
    Row {
        config,
        games: all.len(),
        won: count(1.0),
        drawn: count(0.5),
        lost: count(0.0),
        score: mean(&all),
        interval: interval(all.iter().sum(), all.len() as f64).map(|share| 100.0 * share),
        by_role: [of_role(0), of_role(1)],
    }
}

/// 1 for a role that has more than the other, 0 for one that has less.
fn score(goals: &[u32], role_idx: usize) -> f64 {
    match goals[role_idx].cmp(&goals[1 - role_idx]) {
        std::cmp::Ordering::Greater => 1.0,
        std::cmp::Ordering::Equal => 0.5,
        std::cmp::Ordering::Less => 0.0,
    }
}

/// The exact interval of a share of `sum` in `n` (Clopper and Pearson 1934), by quantiles of the beta distribution; with
/// even games, which have less variance, it is too wide rather than too narrow.
fn interval(sum: f64, n: f64) -> [f64; 2] {
    let quantile = |a: f64, b: f64, share: f64| Beta::new(a, b).map(|beta| beta.inverse_cdf(share)).ok();
    let tail = (1.0 - CONFIDENCE) / 2.0;
    // No distribution where nothing was won or nothing lost: there the end is exact.
    let low = quantile(sum, n - sum + 1.0, tail).unwrap_or(0.0);
    let high = quantile(sum + 1.0, n - sum, 1.0 - tail).unwrap_or(1.0);
    [low, high]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_clopper_and_pearsons() {
        // Newcombe 1998, "Two-sided confidence intervals for the single proportion", table I, method 5.
        for (won, n, low, high) in [
            (81.0, 263.0, 0.2527, 0.3676),
            (15.0, 148.0, 0.0578, 0.1617),
            (0.0, 20.0, 0.0, 0.1684),
            (1.0, 29.0, 0.0009, 0.1776),
            (29.0, 29.0, 0.8806, 1.0),
            (0.0, 0.0, 0.0, 1.0),
        ] {
            let [found_low, found_high] = interval(won, n);
            assert!((found_low - low).abs() < 1e-4, "{won} of {n}: {found_low} is not {low}");
            assert!((found_high - high).abs() < 1e-4, "{won} of {n}: {found_high} is not {high}");
        }
    }

    #[test]
    fn whoever_has_more_has_won() {
        assert_eq!([0, 1].map(|role| score(&[100, 0], role)), [1.0, 0.0]);
        assert_eq!([0, 1].map(|role| score(&[30, 31], role)), [0.0, 1.0]);
        assert_eq!([0, 1].map(|role| score(&[50, 50], role)), [0.5, 0.5]);
    }
}
