//! What is asked of a planner, and what it answers.

use std::fmt;

use reasoner::{MAX_ROLLOUT_STEPS, Value};

/// Moves to the end of the game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The moves' indices in [`Netlist::moves`](reasoner_native::Netlist::moves).
    pub moves: Vec<usize>,
    /// The goal at the end; 0 if the rules give none.
    pub value: Value,
}

/// How a search for plans ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The last plan is the best there is, or there is no plan at all.
    Proved,
    /// It may not go on.
    Stopped,
    /// The memory is used up.
    OutOfMemory,
    /// There are as many steps as there may be.
    TooLong,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Proved => "proved",
            Verdict::Stopped => "stopped",
            Verdict::OutOfMemory => "out of memory",
            Verdict::TooLong => "too long",
        })
    }
}

/// How a search for plans ended, and how far it went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub verdict: Verdict,
    /// As far as the rules were unrolled, in moves.
    pub n_steps: usize,
}

/// Why a game cannot be planned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoPuzzle {
    /// Only games of one role are planning problems.
    #[error("the game has {0} roles; only games of one role can be planned")]
    Roles(usize),
}

/// What plans are looked for.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// Plans of at most so many moves.
    pub max_steps: usize,
    /// Only plans that are better than this are of use, if there is such a value; asked now and then, and never smaller than
    /// before.
    pub least: &'a dyn Fn() -> Option<Value>,
    /// How many moves lines have, where something is known of that, and otherwise 0: nothing is asked about shorter plans before
    /// those.
    pub usual_steps: usize,
}

impl Default for Question<'_> {
    /// All plans, the shortest first.
    fn default() -> Self {
        Question { max_steps: usize::MAX, least: &|| None, usual_steps: 0 }
    }
}

impl fmt::Debug for Question<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Question { max_steps, usual_steps, .. } = self;
        f.debug_struct("Question")
            .field("max_steps", max_steps)
            .field("usual_steps", usual_steps)
            .finish_non_exhaustive()
    }
}

/// How many moves lines have, if all of these random lines have as many; otherwise 0, so that short plans come first. Lines that were
/// cut off after [`MAX_ROLLOUT_STEPS`] tell nothing.
pub fn usual_steps(lengths: impl IntoIterator<Item = u32>) -> usize {
    let mut lengths = lengths.into_iter();
    let first = lengths.next().filter(|&first| first < MAX_ROLLOUT_STEPS).unwrap_or(0);
    if lengths.all(|length| length == first) { first as usize } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_as_long_as_all_of_them() {
        assert_eq!(usual_steps([21, 21, 21]), 21);
        assert_eq!(usual_steps([21, 20, 21]), 0);
        assert_eq!(usual_steps([MAX_ROLLOUT_STEPS; 3]), 0, "cut off");
        assert_eq!(usual_steps([]), 0);
    }
}
