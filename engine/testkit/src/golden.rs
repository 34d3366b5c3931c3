//! One game's golden file and its replay.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use gdl::Term;
use reasoner::perft::{Perft, perft};
use reasoner::{Expansion, GoalAnswer, Interrupt, Limits, Move, Reasoner, ReasonerError, Role, Session};
use serde::Deserialize;

use crate::budget::{CpuClock, within};
use crate::position::{Mismatch, Position};
use crate::text::{list_difference, shortened};

/// What the reference answers for one game; the fields are those of the data's README.
#[derive(Debug, Clone, Deserialize)]
pub struct Golden {
    /// The game.
    pub game: String,
    /// `ok`, `slow`, `timeout` or `error`: how far the reference got.
    pub status: String,
    /// Processor time that the reference used, in seconds; none if it was stopped.
    #[serde(default)]
    pub cpu_s: Option<f64>,
    roles: Vec<String>,
    init: Vec<String>,
    init_hash: String,
    init_terminal: bool,
    init_goals: Vec<GoldenGoal>,
    init_legal: BTreeMap<String, GoldenLegal>,
    init_legal_hash: String,
    traces: Vec<Trace>,
    #[serde(default)]
    perft: Vec<u64>,
    #[serde(default)]
    distinct: Vec<u64>,
    #[serde(default)]
    distinct_terminal: Vec<u64>,
}

/// A goal, or the reference's complaint.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum GoldenGoal {
    Value(u32),
    Complaint(String),
}

impl GoldenGoal {
    /// The answer that it stands for; none if the complaint is in no known form.
    fn answer(&self) -> Option<GoalAnswer> {
        match self {
            GoldenGoal::Value(value) => Some(GoalAnswer::One(*value)),
            // "GoalDefinitionException: N values: a,b"
            GoldenGoal::Complaint(text) => {
                let (_, values) = text.rsplit_once(": ")?;
                values
                    .split(',')
                    .filter(|value| !value.is_empty())
                    .try_fold(GoalAnswer::None, |answer, value| Some(answer.with(value.trim().parse().ok()?)))
            }
        }
    }
}

/// Legal moves, or the reference's complaint that there are none.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum GoldenLegal {
    Moves(Vec<String>),
    Complaint(String),
}

/// A recorded playout.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Trace {
    pub(crate) steps: Vec<Step>,
    #[serde(default)]
    final_h: Option<String>,
    #[serde(default)]
    final_n: Option<usize>,
    #[serde(default)]
    pub(crate) terminal: Option<bool>,
    #[serde(default)]
    goals: Option<Vec<GoldenGoal>>,
    #[serde(default)]
    error: Option<String>,
}

impl Trace {
    /// The goals at the end as numbers, `None` where none holds; empty if the end was not reached.
    pub(crate) fn final_goals(&self) -> Vec<Option<u32>> {
        let goals = self.goals.as_deref().filter(|_| self.terminal == Some(true)).unwrap_or_default();
        goals.iter().map(|goal| goal.answer().and_then(GoalAnswer::at_end)).collect()
    }
}

/// One joint move and the position it was made in.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Step {
    pub(crate) h: String,
    pub(crate) n: Vec<usize>,
    pub(crate) l: String,
    pub(crate) m: Vec<String>,
}

impl Golden {
    pub(crate) fn traces(&self) -> &[Trace] {
        &self.traces
    }

    /// The traces to replay, with their indices: all, or the shortest ones that reach the end first.
    fn chosen_traces(&self, n_most: usize) -> Vec<(usize, &Trace)> {
        let mut traces: Vec<(usize, &Trace)> = self.traces.iter().enumerate().collect();
        if n_most < traces.len() {
            traces.sort_by_key(|(_, trace)| (trace.terminal != Some(true), trace.steps.len()));
            traces.truncate(n_most);
        }
        traces
    }
}

/// How much of a golden file is replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thoroughness {
    /// Levels of the game tree are counted while they have at most this many leaves.
    pub n_leaves: u64,
    /// At most this many traces; if not all, then the shortest that reach the end.
    pub n_traces: usize,
    /// Processor time for the game.
    pub budget: Duration,
}

impl Thoroughness {
    /// All traces, and levels of up to 20,000 leaves.
    pub const WHOLE: Thoroughness =
        Thoroughness { n_leaves: 20_000, n_traces: usize::MAX, budget: Duration::from_secs(120) };
    /// The shortest trace, and levels of up to 200 leaves.
    pub const SAMPLE: Thoroughness =
        Thoroughness { n_leaves: 200, n_traces: 1, budget: Duration::from_secs(30) };
}

/// What was compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Done {
    /// Positions of traces.
    pub n_positions: u64,
    /// Traces, to their ends.
    pub n_traces: u64,
    /// Levels of the game tree.
    pub n_levels: u64,
}

/// Whether a reasoner agrees with the reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// All that was asked for was compared, and is equal.
    Agree,
    /// What was compared is equal, but the budget ran out at this place.
    Slow(String),
    /// The first difference.
    Differs(String),
}

/// The result of [`check_golden`].
#[derive(Debug, Clone)]
pub struct GoldenOutcome {
    /// Whether the reasoner agrees.
    pub verdict: Verdict,
    /// What was compared before that was known.
    pub done: Done,
    /// Processor time used.
    pub cpu: Duration,
}

/// Compares a reasoner with a golden file: the initial position, the traces step by step, and the counts of
/// the game tree.
pub fn check_golden<R: Reasoner>(
    reasoner: &Arc<R>,
    golden: &Golden,
    thoroughness: Thoroughness,
) -> GoldenOutcome {
    let clock = CpuClock::start();
    let interrupt = Interrupt::new();
    let mut done = Done::default();
    let answer = within(thoroughness.budget, &interrupt, || {
        let session = reasoner
            .session(Limits::default(), &interrupt)
            .map_err(|error| Mismatch::of_error("making a session", &error))?;
        Replay { session, golden, done: &mut done }.all(thoroughness)
    });
    let verdict = match answer {
        Ok(()) => Verdict::Agree,
        Err(Mismatch::Interrupted(place)) => Verdict::Slow(place),
        Err(Mismatch::Differs(what)) => Verdict::Differs(what),
    };
    GoldenOutcome { verdict, done, cpu: clock.elapsed() }
}

/// `Ok` if equal, else the difference at `place`.
pub(crate) fn demand_equal<T: PartialEq + std::fmt::Debug>(
    place: &str,
    what: &str,
    ours: &T,
    expected: &T,
    detail: impl FnOnce() -> String,
) -> Result<(), Mismatch> {
    match ours == expected {
        true => Ok(()),
        false => {
            let detail = detail();
            let detail = if detail.is_empty() { detail } else { format!("; {detail}") };
            Err(Mismatch::Differs(format!("{place}: {what} is {ours:?}, expected {expected:?}{detail}")))
        }
    }
}

struct Replay<'a, S> {
    session: S,
    golden: &'a Golden,
    done: &'a mut Done,
}

impl<S: Session> Replay<'_, S> {
    fn all(mut self, thoroughness: Thoroughness) -> Result<(), Mismatch> {
        let init = self.initial_position()?;
        for (trace_idx, trace) in self.golden.chosen_traces(thoroughness.n_traces) {
            self.trace(&format!("trace {trace_idx}"), trace_idx, trace, &init)?;
            self.done.n_traces += 1;
        }
        self.counts(&init, thoroughness.n_leaves)
    }

    fn ask(&mut self, place: &str, state: S::State) -> Result<Position<S::State>, Mismatch> {
        let position = Position::ask(&mut self.session, state, Term::to_lower_case)
            .map_err(|error| Mismatch::of_error(place, &error))?;
        self.done.n_positions += 1;
        Ok(position)
    }

    fn initial_position(&mut self) -> Result<Position<S::State>, Mismatch> {
        let (place, golden) = ("initial state", self.golden);
        let roles: Vec<String> = self.session.roles().iter().map(Term::to_lower_case).collect();
        demand_equal(place, "the list of roles", &roles, &golden.roles, String::new)?;
        let state =
            self.session.initial_state().map_err(|error| Mismatch::of_error(place, &error))?;
        let position = self.ask(place, state)?;
        if position.facts != golden.init {
            let difference = list_difference(&position.facts, &golden.init);
            return Err(Mismatch::Differs(format!("{place}: facts: {difference}")));
        }
        demand_equal(place, "the state hash", &position.state_hash(), &golden.init_hash, String::new)?;
        demand_equal(place, "terminal", &position.terminal, &golden.init_terminal, String::new)?;
        if position.terminal {
            demand_goals(place, &position.goals, &golden.init_goals)?;
            return Ok(position);
        }
        let mut all_have_moves = true;
        for (role, name) in Role::all(roles.len()).zip(&roles) {
            let ours = position.legal_texts(role);
            let expected: &[String] = match golden.init_legal.get(name) {
                Some(GoldenLegal::Moves(moves)) => moves,
                Some(GoldenLegal::Complaint(complaint)) if complaint.starts_with("MoveDefinitionException") => {
                    all_have_moves = false;
                    &[]
                }
                other => {
                    return Err(Mismatch::Differs(format!("{place}: bad data for role {name}: {other:?}")));
                }
            };
            if ours != expected {
                let difference = list_difference(&ours, expected);
                return Err(Mismatch::Differs(format!("{place}: legal moves of {name}: {difference}")));
            }
        }
        if all_have_moves {
            let hash = position.legal_hash();
            demand_equal(place, "the legal hash", &hash, &golden.init_legal_hash, String::new)?;
        }
        Ok(position)
    }

    fn trace(
        &mut self,
        name: &str,
        trace_idx: usize,
        trace: &Trace,
        init: &Position<S::State>,
    ) -> Result<(), Mismatch> {
        let mut position = init.clone();
        for (step_idx, step) in trace.steps.iter().enumerate() {
            let place = format!("{name} step {step_idx}");
            let facts = || format!("our facts: {}", shortened(&position.facts));
            demand_equal(&place, "the state hash", &position.state_hash(), &step.h, facts)?;
            demand_equal(&place, "terminal", &position.terminal, &false, facts)?;
            let legal = || {
                let texts = Role::all(position.legal.len()).map(|role| shortened(&position.legal_texts(role)));
                format!("our legal moves: {}", texts.collect::<Vec<_>>().join(" and "))
            };
            demand_equal(&place, "the number of legal moves", &position.legal_counts(), &step.n, legal)?;
            demand_equal(&place, "the legal hash", &position.legal_hash(), &step.l, legal)?;
            self.second_way(&place, trace_idx, &position)?;
            let next_hash = trace.steps.get(step_idx + 1).map(|next| &next.h).or(trace.final_h.as_ref());
            // After a step whose end the reference did not live to see there is nothing to compare.
            let Some(next_hash) = next_hash else { return Ok(()) };
            position = self.step(&place, &position, &step.m, next_hash)?;
        }
        let place = format!("the end of {name}");
        let facts = || format!("our facts: {}", shortened(&position.facts));
        if let Some(expected) = &trace.final_h {
            demand_equal(&place, "the state hash", &position.state_hash(), expected, facts)?;
        }
        if let Some(expected) = &trace.final_n {
            demand_equal(&place, "the number of facts", &position.facts.len(), expected, facts)?;
        }
        if let Some(expected) = &trace.terminal {
            demand_equal(&place, "terminal", &position.terminal, expected, facts)?;
        }
        if let (true, Some(goals)) = (position.terminal, &trace.goals) {
            demand_goals(&place, &position.goals, goals)?;
        }
        if let Some(error) = &trace.error {
            demand_same_stop(&place, &position.legal_counts(), error)?;
        }
        self.second_way(&place, trace_idx, &position)
    }

    /// Makes the joint move. Where moves differ only by case, the one that leads to the recorded state.
    fn step(
        &mut self,
        place: &str,
        position: &Position<S::State>,
        texts: &[String],
        next_hash: &str,
    ) -> Result<Position<S::State>, Mismatch> {
        let joint_moves = position
            .joint_moves(texts)
            .map_err(|what| Mismatch::Differs(format!("{place}: the recorded move {what}")))?;
        let mut first = None;
        for joint_move in joint_moves {
            let next = self
                .session
                .next_state(&position.state, &joint_move)
                .map_err(|error| Mismatch::of_error(place, &error))?;
            let next = self.ask(place, next)?;
            if next.state_hash() == next_hash {
                return Ok(next);
            }
            first.get_or_insert(next);
        }
        Ok(first.expect("there is at least one joint move"))
    }

    /// Asks the same again in the session's other ways: `expand`, `state_of` and `move_of` must agree with
    /// the single questions. Only in every other trace, so that a plain question after a plain question is
    /// tested too.
    fn second_way(
        &mut self,
        place: &str,
        trace_idx: usize,
        position: &Position<S::State>,
    ) -> Result<(), Mismatch> {
        if trace_idx % 2 == 1 {
            return Ok(());
        }
        let fail = |error: ReasonerError| Mismatch::of_error(place, &error);
        let mut fluents = Vec::new();
        self.session.fluents(&position.state, &mut fluents);
        let terms: Vec<Term> = fluents.iter().map(|&fluent| self.session.fluent_term(fluent)).collect();
        let state = self.session.state_of(&terms).map_err(fail)?;
        if state != position.state {
            return Err(Mismatch::Differs(format!("{place}: state_of(fluents(state)) is another state")));
        }
        let stuck = !position.terminal && position.legal.iter().any(Vec::is_empty);
        let mut expansion = Expansion::default();
        match self.session.expand(&position.state, &mut expansion) {
            Err(ReasonerError::NotPlayable { .. }) if stuck => return Ok(()),
            answer => answer.map_err(fail)?,
        }
        demand_equal(place, "expand's terminal", &expansion.terminal, &position.terminal, String::new)?;
        demand_equal(place, "expand's list of goals", &expansion.goals, &position.goals, String::new)?;
        for (role, legal) in Role::all(position.legal.len()).zip(&position.legal) {
            let mut ours: Vec<Move> = expansion.moves_of(role).to_vec();
            let mut expected: Vec<Move> = legal.iter().map(|&(_, a_move)| a_move).collect();
            ours.sort_unstable();
            expected.sort_unstable();
            demand_equal(place, "expand's list of moves", &ours, &expected, String::new)?;
            if let Some(&a_move) = expected.first() {
                let term = self.session.move_term(a_move);
                let again = self.session.move_of(&term).map_err(fail)?;
                demand_equal(place, "move_of(move_term(move))", &again, &a_move, || term.to_string())?;
            }
        }
        Ok(())
    }

    fn counts(&mut self, init: &Position<S::State>, n_leaves: u64) -> Result<(), Mismatch> {
        let golden = self.golden;
        let n_levels = golden.perft.iter().take_while(|&&n| n <= n_leaves).count();
        // What is counted when the budget runs out is compared all the same.
        let mut counted = Perft::default();
        let answer = match n_levels {
            0 => return Ok(()),
            _ => perft(
                &mut self.session,
                &init.state,
                u32::try_from(n_levels).expect("the data has at most 60 levels"),
                |_, counts| counted.clone_from(counts),
            ),
        };
        let place = format!("game tree to depth {n_levels}");
        for (what, ours, expected) in [
            ("the list of leaves", &counted.leaves, &golden.perft),
            ("the list of distinct states", &counted.distinct, &golden.distinct),
            ("the list of distinct terminal states", &counted.distinct_terminal, &golden.distinct_terminal),
        ] {
            let n_compared = if answer.is_ok() { n_levels } else { ours.len() };
            let expected = expected.get(..n_compared).unwrap_or(expected).to_vec();
            demand_equal(&place, what, ours, &expected, String::new)?;
        }
        self.done.n_levels += counted.leaves.len() as u64;
        answer.map(drop).map_err(|error| Mismatch::of_error(&place, &error))
    }
}

fn demand_goals(place: &str, ours: &[GoalAnswer], expected: &[GoldenGoal]) -> Result<(), Mismatch> {
    let answers: Option<Vec<GoalAnswer>> = expected.iter().map(GoldenGoal::answer).collect();
    let Some(answers) = answers else {
        return Err(Mismatch::Differs(format!("{place}: bad data: goals {expected:?}")));
    };
    demand_equal(place, "the list of goals", &ours, &answers.as_slice(), String::new)
}

/// Where the reference threw because a role has no move, we must find the same roles without.
fn demand_same_stop(place: &str, ours: &[usize], error: &str) -> Result<(), Mismatch> {
    // "MoveDefinitionException: ...; legal counts [1, 1, 0, 1]"
    let counts = error.rsplit_once("legal counts ").and_then(|(_, list)| serde_json::from_str(list).ok());
    match counts {
        Some(expected) => {
            let expected: Vec<usize> = expected;
            demand_equal(place, "the number of legal moves", &ours, &expected.as_slice(), || error.into())
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(json: &str) -> Option<GoalAnswer> {
        serde_json::from_str::<GoldenGoal>(json).unwrap().answer()
    }

    #[test]
    fn goals_and_complaints_about_them_are_answers() {
        assert_eq!(answer("30"), Some(GoalAnswer::One(30)));
        assert_eq!(answer(r#""GoalDefinitionException: 0 values: ""#), Some(GoalAnswer::None));
        assert_eq!(answer(r#""GoalDefinitionException: 2 values: 0,100""#), Some(GoalAnswer::Several(100)));
        assert_eq!(answer(r#""GoalDefinitionException: 1 values: ten""#), None);
    }

    #[test]
    fn a_recorded_stop_names_the_role_without_moves() {
        let error = "MoveDefinitionException: a role is stuck; legal counts [1, 0]";
        assert_eq!(demand_same_stop("there", &[1, 0], error), Ok(()));
        assert!(demand_same_stop("there", &[1, 1], error).is_err());
    }
}
