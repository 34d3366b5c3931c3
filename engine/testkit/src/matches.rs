//! Records of real matches and their replay.

use std::sync::Arc;
use std::time::Duration;

use gdl::Term;
use reasoner::{GoalAnswer, Limits, Reasoner, Session};
use serde::Deserialize;
use serde_json::Value;

use crate::outcome::{Done, Mismatch, Outcome, demand_equal, judge};
use crate::position::Position;

/// A match as played in a competition, and what the reference found when replaying it; the fields are those
/// of the data's README.
#[derive(Debug, Clone, Deserialize)]
pub struct MatchRecord {
    /// The name of the published rulesheet; none if it is not known.
    pub game: Option<String>,
    moves: Vec<Vec<String>>,
    rewards: Vec<Value>,
    replay: Option<Replayed>,
}

#[derive(Debug, Clone, Deserialize)]
struct Replayed {
    verdict: String,
    #[serde(default)]
    terminal: bool,
    /// Per role a value, or the list of values that hold.
    #[serde(default)]
    goals: Vec<Value>,
    #[serde(default)]
    state_hashes: Vec<String>,
    #[serde(default)]
    legal_counts: Vec<Vec<usize>>,
}

impl MatchRecord {
    /// Whether the reference found every move legal and the end where the record has it. The goals are then
    /// the rewards, unless the players were punished for something outside of the rules.
    pub fn agrees(&self) -> bool {
        self.replay.as_ref().is_some_and(|replay| {
            matches!(replay.verdict.as_str(), "agree" | "agree_max_goal" | "agree_but_zeroed")
        })
    }

    /// How many legal moves the positions have together: what a replay costs.
    pub(crate) fn n_choices(&self) -> usize {
        self.replay.iter().flat_map(|replay| replay.legal_counts.iter().flatten()).sum()
    }
}

/// The largest of the values, which are numbers or texts of numbers, or a list of those.
fn largest(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.parse().ok(),
        Value::Array(values) => values.iter().filter_map(largest).max(),
        _ => None,
    }
}

/// Replays a record that [`MatchRecord::agrees`]: every move must be legal, the states and numbers of legal
/// moves those recorded, the state terminal exactly at the end, and the goals there the rewards.
pub fn replay_match<R: Reasoner>(reasoner: &Arc<R>, record: &MatchRecord, budget: Duration) -> Outcome {
    judge(budget, |interrupt, done| {
        let mut session = reasoner
            .session(Limits::default(), interrupt)
            .map_err(|error| Mismatch::of_error("making a session", &error))?;
        replay(&mut session, record, done)
    })
}

fn replay<S: Session>(session: &mut S, record: &MatchRecord, done: &mut Done) -> Result<(), Mismatch> {
    let Some(replayed) = &record.replay else {
        return Err(Mismatch::Differs("the record was never replayed by the reference".into()));
    };
    let mut state = session.initial_state().map_err(|error| Mismatch::of_error("initial state", &error))?;
    for step_idx in 0..=record.moves.len() {
        let place = format!("after {step_idx} joint moves");
        let fail = |error| Mismatch::of_error(&place, &error);
        let position = Position::ask(session, state, Term::to_lower_case).map_err(fail)?;
        done.n_positions += 1;
        if let Some(expected) = replayed.state_hashes.get(step_idx) {
            demand_equal(&place, "the state hash", &position.state_hash(), expected, || {
                format!("our facts: {}", crate::text::shortened(&position.facts))
            })?;
        }
        let Some(joint_move) = record.moves.get(step_idx) else {
            demand_equal(&place, "terminal", &position.terminal, &replayed.terminal, String::new)?;
            return demand_rewards(&place, &position.goals, record, replayed)
                .inspect(|()| done.n_traces += 1);
        };
        demand_equal(&place, "terminal", &position.terminal, &false, String::new)?;
        if let Some(expected) = replayed.legal_counts.get(step_idx) {
            let ours = position.legal_counts();
            demand_equal(&place, "the number of legal moves", &ours, expected, String::new)?;
        }
        // Old servers wrote in any case.
        let texts: Vec<String> = joint_move.iter().map(|text| text.to_ascii_lowercase()).collect();
        let joint_moves = position
            .joint_moves(&texts)
            .map_err(|what| Mismatch::Differs(format!("{place}: the recorded move {what}")))?;
        state = session.next_state(&position.state, &joint_moves[0]).map_err(fail)?;
    }
    unreachable!("the loop ends after the last joint move")
}

fn demand_rewards(
    place: &str,
    ours: &[GoalAnswer],
    record: &MatchRecord,
    replayed: &Replayed,
) -> Result<(), Mismatch> {
    let punished = replayed.verdict == "agree_but_zeroed";
    let expected = if punished { &replayed.goals } else { &record.rewards };
    let expected: Vec<Option<u64>> = expected.iter().map(largest).collect();
    let ours: Vec<Option<u64>> = ours.iter().map(|goal| goal.at_end().map(u64::from)).collect();
    demand_equal(place, "the list of goals", &ours, &expected, String::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_recorded_in_three_ways() {
        for (json, expected) in
            [("70", Some(70)), (r#"["0"]"#, Some(0)), ("[0, 100]", Some(100)), ("null", None)]
        {
            assert_eq!(largest(&serde_json::from_str(json).unwrap()), expected, "{json}");
        }
    }
}
