//! One game's golden file, as its README describes it.

use std::collections::BTreeMap;
use std::time::Duration;

use reasoner::GoalAnswer;
use serde::Deserialize;

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
    pub(crate) roles: Vec<String>,
    pub(crate) init: Vec<String>,
    pub(crate) init_hash: String,
    pub(crate) init_terminal: bool,
    pub(crate) init_goals: Vec<GoldenGoal>,
    pub(crate) init_legal: BTreeMap<String, GoldenLegal>,
    pub(crate) init_legal_hash: String,
    pub(crate) traces: Vec<Trace>,
    #[serde(default)]
    pub(crate) perft: Vec<u64>,
    #[serde(default)]
    pub(crate) distinct: Vec<u64>,
    #[serde(default)]
    pub(crate) distinct_terminal: Vec<u64>,
}

/// A goal, or the reference's complaint.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum GoldenGoal {
    Value(u32),
    Complaint(String),
}

impl GoldenGoal {
    /// The answer that it stands for; none if the complaint is in no known form.
    pub(crate) fn answer(&self) -> Option<GoalAnswer> {
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
pub(crate) enum GoldenLegal {
    Moves(Vec<String>),
    Complaint(String),
}

/// A recorded playout.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Trace {
    pub(crate) steps: Vec<Step>,
    #[serde(default)]
    pub(crate) final_h: Option<String>,
    #[serde(default)]
    pub(crate) final_n: Option<usize>,
    #[serde(default)]
    pub(crate) terminal: Option<bool>,
    #[serde(default)]
    pub(crate) goals: Option<Vec<GoldenGoal>>,
    #[serde(default)]
    pub(crate) error: Option<String>,
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
    /// The traces to replay, with their indices: all, or the shortest ones that reach the end first.
    pub(crate) fn chosen_traces(&self, n_most: usize) -> Vec<(usize, &Trace)> {
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
}
