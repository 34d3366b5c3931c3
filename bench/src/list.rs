//! `daggerboard-bench games`: the games written in Rust, and how fast they are.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bench::games::{self, RustGame};
use clap::Args;
use player::failure::{Failure, Outcome};
use player::processor_time::cpu_seconds;
use player::reasoners::WithReasoner;
use player::sampling::Sampling;
use player::{output, stop, tables};
use reasoner::{Expansion, Interrupt, Limits, Reasoner, ReasonerError, Role, Session};
use serde::Serialize;

use crate::compare;

/// What each of the papers measures, and the sizes people play.
const LISTED: [&str; 8] = [
    "leftright:300",
    "hex:5,stone=b2",
    "hex:11",
    "go:6,komi=5.5",
    "go:9,komi=7.5",
    "go:13,komi=7.5",
    "go:19,komi=7.5",
    "samegame:15,seed=1",
];

/// List the games written in Rust, with their random rollouts per second
#[derive(Debug, Args)]
#[command(after_help = format!("\
Names: {}

Examples:
  daggerboard-bench games
  daggerboard-bench games hex:7 go:9,komi=6.5 --seconds 5
  daggerboard-bench games leftright:1000 --json

Rollouts of Go fill no eyes, so that they come to an end; searches may. Those of SameGame leave one colour alone \
(rollouts=random, taburandom or tabucolorrandom). samegame:15,board=1 to 20 are the standard boards of the reference \
data; other boards are read from a file, or made from a seed. Its goals are points and what all blocks cost.", games::FORMS))]
pub struct GamesArgs {
    /// Which ones
    #[arg(value_name = "GAME", default_values = LISTED)]
    games: Vec<RustGame>,
    /// Time for each
    #[arg(long, default_value_t = 0.5, value_name = "S", value_parser = compare::seconds)]
    seconds: f64,
    /// What rollouts follow from
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
}

/// One game.
#[derive(Debug, Serialize)]
struct Row {
    game: String,
    roles: Vec<String>,
    /// For each role its moves in the first position.
    first_moves: Vec<Vec<String>>,
    max_goal: u32,
    rollouts: u64,
    rollouts_per_s: f64,
    rollouts_per_cpu_s: f64,
    transitions_per_cpu_s: f64,
    mean_length: f64,
    mean_goals: Vec<f64>,
}

impl GamesArgs {
    /// Measures and prints.
    ///
    /// # Errors
    /// If it is stopped before a rollout comes to its end.
    pub fn run(&self, as_json: bool) -> Result<Outcome, Failure> {
        let stop = stop::on_ctrl_c()?;
        let mut rows = Vec::new();
        for game in &self.games {
            output::progress(game);
            rows.push(game.with(Measuring { args: self, name: game.to_string(), stop: &stop })?);
            if stop.is_raised() {
                output::progress("stopped; what was measured until then follows");
                break;
            }
        }
        if as_json {
            output::json(&rows)?;
        } else {
            print(&rows)?;
        }
        Ok(if stop.is_raised() { Outcome::Failed } else { Outcome::Done })
    }
}

struct Measuring<'a> {
    args: &'a GamesArgs,
    name: String,
    stop: &'a Interrupt,
}

impl WithReasoner for Measuring<'_> {
    type Output = Result<Row, Failure>;

    fn run<R: Reasoner>(self, reasoner: Arc<R>) -> Self::Output {
        let mut session = reasoner.session(Limits::default(), self.stop)?;
        let root = session.initial_state()?;
        let first_moves = first_moves(&mut session, &root)?;
        let mut sampling = Sampling::new(session, &root, self.args.seed);
        let (begun, cpu_begun) = (Instant::now(), cpu_seconds());
        while begun.elapsed() < Duration::from_secs_f64(self.args.seconds) {
            match sampling.batch() {
                Ok(()) => {}
                Err(ReasonerError::Interrupted) => break,
                Err(error) => return Err(error.into()),
            }
        }
        let (seconds, cpu_s) = (begun.elapsed().as_secs_f64(), cpu_seconds() - cpu_begun);
        let tally = &sampling.sampled().tally;
        if tally.n_rollouts == 0 {
            return Err(Failure::work("stopped before a rollout came to its end").context(self.name));
        }
        let n_rollouts = tally.n_rollouts as f64;
        Ok(Row {
            game: self.name,
            roles: reasoner.roles().iter().map(ToString::to_string).collect(),
            first_moves,
            max_goal: reasoner.max_goal(),
            rollouts: tally.n_rollouts,
            rollouts_per_s: n_rollouts / seconds,
            rollouts_per_cpu_s: n_rollouts / cpu_s,
            transitions_per_cpu_s: tally.n_transitions as f64 / cpu_s,
            mean_length: tally.n_transitions as f64 / n_rollouts,
            mean_goals: tally.goal_sums.iter().map(|&sum| sum as f64 / n_rollouts).collect(),
        })
    }
}

fn first_moves<S: Session>(session: &mut S, root: &S::State) -> Result<Vec<Vec<String>>, ReasonerError> {
    let mut expansion = Expansion::default();
    session.expand(root, &mut expansion)?;
    let roles = Role::all(session.roles().len());
    let mut names_of = |role| -> Vec<String> {
        expansion.moves_of(role).iter().map(|&a_move| session.move_term(a_move).to_string()).collect()
    };
    Ok(roles.map(&mut names_of).collect())
}

fn print(rows: &[Row]) -> Result<(), Failure> {
    let mut table = tables::with_header([
        "game",
        "roles",
        "first moves",
        "rollouts/s",
        "transitions/s",
        "mean length",
        "mean goals",
    ]);
    for row in rows {
        table.add_row([
            row.game.clone(),
            row.roles.join(", "),
            row.first_moves.iter().map(|moves| shortened(moves)).collect::<Vec<_>>().join("; "),
            format!("{:.0}", row.rollouts_per_cpu_s),
            format!("{:.0}", row.transitions_per_cpu_s),
            format!("{:.1}", row.mean_length),
            format!("{:.1?} of {}", row.mean_goals, row.max_goal),
        ]);
    }
    output::line(format_args!("Random rollouts, one thread, per second of processor time:\n{table}"))
}

/// The first and the last of many moves, and how many there are.
fn shortened(moves: &[String]) -> String {
    match moves {
        [first, second, .., last] if moves.len() > 4 => {
            format!("{} moves: {first}, {second} .. {last}", moves.len())
        }
        _ => moves.join(", "),
    }
}
