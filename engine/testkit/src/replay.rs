//! The replay of a golden file on a reasoner.

use std::sync::Arc;

use gdl::Term;
use reasoner::perft::{Perft, perft};
use reasoner::{Expansion, GoalAnswer, Interrupt, Limits, Move, Reasoner, ReasonerError, Role, Session};

use crate::golden::{Golden, GoldenGoal, GoldenLegal, Thoroughness, Trace};
use crate::outcome::{Done, Mismatch, Outcome, demand_equal, judge};
use crate::position::Position;
use crate::text::{list_difference, shortened};

/// Compares a reasoner with a golden file: the initial position, the traces step by step, and the counts of
/// the game tree.
pub fn check_golden<R: Reasoner>(reasoner: &Arc<R>, golden: &Golden, thoroughness: Thoroughness) -> Outcome {
    check_golden_as(reasoner, golden, thoroughness, &Term::to_lower_case)
}

/// As [`check_golden`], where `write` gives the golden data's text of a reasoner's term.
pub(crate) fn check_golden_as<R: Reasoner>(
    reasoner: &Arc<R>,
    golden: &Golden,
    thoroughness: Thoroughness,
    write: &dyn Fn(&Term) -> String,
) -> Outcome {
    judge(thoroughness.budget, |interrupt, done| {
        let session = reasoner
            .session(Limits::default(), interrupt)
            .map_err(|error| Mismatch::of_error("making a session", &error))?;
        Replay { session, golden, done, write }.all(thoroughness)
    })
}

struct Replay<'a, S> {
    session: S,
    golden: &'a Golden,
    done: &'a mut Done,
    write: &'a dyn Fn(&Term) -> String,
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
        let position = Position::ask(&mut self.session, state, self.write)
            .map_err(|error| Mismatch::of_error(place, &error))?;
        self.done.n_positions += 1;
        Ok(position)
    }

    fn initial_position(&mut self) -> Result<Position<S::State>, Mismatch> {
        let (place, golden) = ("initial state", self.golden);
        let roles: Vec<String> = self.session.roles().iter().map(self.write).collect();
        demand_equal(place, "the list of roles", &roles, &golden.roles, String::new)?;
        let state = self.session.initial_state().map_err(|error| Mismatch::of_error(place, &error))?;
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
                Some(GoldenLegal::Complaint(complaint))
                    if complaint.starts_with("MoveDefinitionException") =>
                {
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
                let texts =
                    Role::all(position.legal.len()).map(|role| shortened(&position.legal_texts(role)));
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
                &Interrupt::new(),
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

    #[test]
    fn a_recorded_stop_names_the_role_without_moves() {
        let error = "MoveDefinitionException: a role is stuck; legal counts [1, 0]";
        assert_eq!(demand_same_stop("there", &[1, 0], error), Ok(()));
        assert!(demand_same_stop("there", &[1, 1], error).is_err());
    }
}
