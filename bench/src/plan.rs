//! `daggerboard-bench plan`: puzzles by a SAT solver.

use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use gdl::Term;
use player::failure::{Failure, Outcome};
use player::reasoners::{self, SetUp, Share};
use player::{output, stop, tables};
use reasoner::{
    Dice, Expansion, Interrupt, MAX_ROLLOUT_STEPS, Reasoner, ReasonerError, Role, Session, Value,
};
use sat::{Limits, Planner, Question, Verdict, usual_steps};
use serde::Serialize;
use serde_json::json;

use crate::compare;
use crate::named_game::NamedGame;

/// Solve puzzles as planning problems by a SAT solver: the best line, and whether it is proved
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  daggerboard-bench plan hanoi lights-out
  daggerboard-bench plan my-puzzle.kif --seconds 60 --memory-mib 4096 --json

The rules are ground, some random lines are played, and for better ones the rules are unrolled step by step. Each line is played by \
the interpreter before it is told. A game of several roles, or with rules that cannot be a circuit, is told and passed over; the exit code is 1 then.")]
pub struct PlanArgs {
    /// Names or paths of rulesheets
    #[arg(value_name = "GAME", required = true)]
    games: Vec<String>,
    /// Time for each, grounding included
    #[arg(long, default_value_t = 30.0, value_name = "S", value_parser = compare::seconds)]
    seconds: f64,
    /// Memory of the solver for each
    #[arg(long, default_value_t = 1024, value_name = "MIB", value_parser = clap::value_parser!(u32).range(1..))]
    memory_mib: u32,
}

/// What a game came to.
#[derive(Debug, Serialize)]
struct Row {
    game: String,
    best_value: Option<Value>,
    /// Whether no line is better.
    proved: bool,
    /// How it ended, or why it could not begin.
    end: String,
    /// Until the best line was found.
    found_s: Option<f64>,
    seconds: f64,
    /// As far as the rules were unrolled.
    steps: usize,
    best_line: Vec<String>,
    /// Whether it could be planned.
    #[serde(skip)]
    is_puzzle: bool,
}

impl PlanArgs {
    /// Solves and prints.
    ///
    /// # Errors
    /// If there is no such game, or a line does not come to what was told.
    pub fn run(&self, as_json: bool) -> Result<Outcome, Failure> {
        let stop = stop::on_ctrl_c()?;
        let mut rows = Vec::new();
        for name in &self.games {
            let game = NamedGame::find(name)?;
            output::progress(game.name());
            rows.push(self.solve(&game, &stop)?);
            if stop.is_raised() {
                output::progress("stopped; what was found until then follows");
                break;
            }
        }
        let is_done = !stop.is_raised() && rows.iter().all(|row| row.is_puzzle);
        if as_json {
            output::json(&json!(rows))?;
        } else {
            print(&rows)?;
        }
        Ok(if is_done { Outcome::Done } else { Outcome::Failed })
    }

    fn solve(&self, game: &NamedGame, stop: &Interrupt) -> Result<Row, Failure> {
        let begun = Instant::now();
        let deadline = begun + Duration::from_secs_f64(self.seconds);
        let mut row = Row {
            game: game.name(),
            best_value: None,
            proved: false,
            end: String::new(),
            found_s: None,
            seconds: 0.0,
            steps: 0,
            best_line: Vec::new(),
            is_puzzle: false,
        };
        let NamedGame::Rules(game) = game else {
            row.end = "the game has no rulesheet".to_owned();
            return Ok(row);
        };
        let demanded = Share { time: Some(Duration::from_secs_f64(self.seconds)), ..Share::PATIENT };
        let set_up = SetUp { demanded, ..SetUp::until(stop) };
        let (reasoner, netlist) = match reasoners::netlist(Arc::clone(&game.rules), &set_up) {
            Ok(both) => both,
            Err(error) => {
                row.end = error.to_string();
                return Ok(row);
            }
        };
        let go_on = || !stop.is_raised() && Instant::now() < deadline;
        let limits = Limits { bytes: (self.memory_mib as usize) << 20, go_on: &go_on };
        let planner = match Planner::new(&netlist, None, limits) {
            Ok(planner) => planner,
            Err(error) => {
                row.end = error.to_string();
                return Ok(row);
            }
        };
        row.is_puzzle = true;
        let mut best: Vec<Term> = Vec::new();
        let mut lengths = Vec::new();
        for seed in 0..RANDOM_LINES {
            let Some((value, line)) = random_line(&reasoner, seed, &go_on)? else {
                lengths.push(MAX_ROLLOUT_STEPS);
                break;
            };
            lengths.push(u32::try_from(line.len()).unwrap_or(u32::MAX));
            if row.best_value.is_none_or(|best| value > best) {
                (row.best_value, row.found_s, best) =
                    (Some(value), Some(begun.elapsed().as_secs_f64()), line);
            }
        }
        let least = row.best_value;
        let question =
            Question { usual_steps: usual_steps(lengths), least: &|| least, ..Question::default() };
        let outcome = planner.run(&question, |plan| {
            row.best_value = Some(plan.value);
            row.found_s = Some(begun.elapsed().as_secs_f64());
            best = plan.moves.iter().map(|&a_move| netlist.moves()[a_move].term.clone()).collect();
        });
        row.proved = outcome.verdict == Verdict::Proved;
        row.end = outcome.verdict.to_string();
        row.steps = outcome.n_steps;
        row.seconds = begun.elapsed().as_secs_f64();
        row.best_line = best.iter().map(Term::to_string).collect();
        if let Some(value) = row.best_value {
            let played = played(&reasoner, &best)?;
            if played != Some(value) {
                let text = format!("the line comes to {played:?}, not {value}, played by the interpreter");
                return Err(Failure::work(text).context(row.game));
            }
        }
        Ok(row)
    }
}

/// How many random lines there are to begin with.
const RANDOM_LINES: u64 = 8;

/// What a random line comes to, and its moves; nothing if it does not end within the steps of a rollout, or may not go on.
fn random_line<R: Reasoner>(
    reasoner: &Arc<R>,
    seed: u64,
    go_on: &impl Fn() -> bool,
) -> Result<Option<(Value, Vec<Term>)>, ReasonerError> {
    let mut session = reasoner.session(reasoner::Limits::default(), &Interrupt::new())?;
    let mut state = session.initial_state()?;
    let mut expansion = Expansion::default();
    let (mut dice, mut line) = (Dice::new(seed), Vec::new());
    while go_on() && line.len() < MAX_ROLLOUT_STEPS as usize {
        if ends(&mut session, &state, &mut expansion)? {
            return Ok(Some((expansion.goals[0].at_end().unwrap_or(0), line)));
        }
        let moves = expansion.moves_of(Role(0));
        let a_move = moves[dice.below(moves.len())];
        line.push(session.move_term(a_move));
        state = session.next_state(&state, &[a_move])?;
    }
    Ok(None)
}

/// Whether a line ends here, since the game is over or the role is stuck; the goals are in the expansion then.
fn ends<S: Session>(
    session: &mut S,
    state: &S::State,
    expansion: &mut Expansion,
) -> Result<bool, ReasonerError> {
    match session.expand(state, expansion) {
        Ok(()) => Ok(expansion.terminal),
        Err(ReasonerError::NotPlayable { .. }) => {
            session.goals(state, &mut expansion.goals)?;
            Ok(true)
        }
        Err(error) => Err(error),
    }
}

/// The goal of a line; none if it is not legal or neither ends the game nor gets stuck.
fn played<R: Reasoner>(reasoner: &Arc<R>, line: &[Term]) -> Result<Option<Value>, ReasonerError> {
    let mut session = reasoner.session(reasoner::Limits::default(), &Interrupt::new())?;
    let mut state = session.initial_state()?;
    let mut expansion = Expansion::default();
    for term in line {
        session.expand(&state, &mut expansion)?;
        let a_move = session.move_of(term)?;
        if !expansion.moves_of(Role(0)).contains(&a_move) {
            return Ok(None);
        }
        state = session.next_state(&state, &[a_move])?;
    }
    let is_end = ends(&mut session, &state, &mut expansion)?;
    Ok(is_end.then(|| expansion.goals[0].at_end().unwrap_or(0)))
}

fn print(rows: &[Row]) -> Result<(), Failure> {
    let mut table =
        tables::with_header(["game", "best value", "moves", "found s", "seconds", "steps", "end"]);
    for row in rows {
        let or_none = |number: Option<String>| number.unwrap_or_else(|| "-".to_owned());
        table.add_row([
            row.game.clone(),
            or_none(row.best_value.map(|value| value.to_string())),
            row.best_line.len().to_string(),
            or_none(row.found_s.map(|seconds| format!("{seconds:.2}"))),
            format!("{:.2}", row.seconds),
            row.steps.to_string(),
            row.end.clone(),
        ]);
    }
    output::line(table)
}
