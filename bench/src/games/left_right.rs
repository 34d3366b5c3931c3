//! LeftRight, an artificial game of one role.

use std::fmt;
use std::ops::RangeInclusive;

use reasoner::{MAX_ROLLOUT_STEPS, Move, Policy, Role, RolloutEnd, Value};

use super::choices::Choices;
use super::game::{FluentParts, Game};
use super::name::{GameNameError, Parameters};

/// A step to the left.
pub const LEFT: Move = Move(0);
/// A step to the right.
pub const RIGHT: Move = Move(1);
/// What there is to choose from, always.
const BOTH: [Move; 2] = [LEFT, RIGHT];

/// "At each step the player is asked to choose to move Left or to move Right; after a given number of steps the score
/// of the player is the number of steps walked towards Left." (Saffidine, Cazenave and Méhat 2012, "UCD: Upper
/// confidence bound for rooted directed acyclic graphs", section 4.1, with 300 steps; it is the "left move" game of
/// Cazenave 2009, "Nested Monte-Carlo search".)
///
/// The goal is that number as it is, so the largest goal is the number of steps; the paper reports it as a share of
/// that. Nothing of the game itself is ambiguous, but two sentences about it are:
/// - a position is "the number of steps made towards Left and the total number of moves played so far", of which
///   there are (h + 1)(h + 2) / 2 with h steps, h(h + 1) / 2 of them not terminal, while the paper counts
///   h(h - 1) / 2; here it is what the sentence says;
/// - the paper's exploration constant of 0.3 does not say which payoffs it is for; together with 0.3 for Hex and 40
///   for goals of 0 to 100 (section 4.4) it must be payoffs of 0 to 1, so for goals of 0 to h it is 0.3 h.
///
/// The rulesheet `left-right` that this project ships is the same game with 100 steps: the same roles, fluents, moves
/// and goals, which GDL bounds by 100.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeftRight {
    n_steps: u16,
}

/// How far the walk is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LeftRightState {
    n_made: u16,
    n_left: u16,
}

impl LeftRight {
    /// How many steps there can be: a rollout is cut off after as many.
    #[allow(clippy::cast_possible_truncation, reason = "20 000 fits")]
    pub const STEPS: RangeInclusive<u16> = 1..=MAX_ROLLOUT_STEPS as u16;
    /// The paper's number of steps.
    pub const DEFAULT_STEPS: u16 = 300;

    /// The game of `n_steps` steps, one of [`LeftRight::STEPS`].
    ///
    /// # Panics
    /// If there cannot be as many.
    pub fn new(n_steps: u16) -> LeftRight {
        assert!(LeftRight::STEPS.contains(&n_steps), "no game has {n_steps} steps");
        LeftRight { n_steps }
    }

    /// As a name says.
    ///
    /// # Errors
    /// If the name has other parameters, or the number of steps cannot be.
    pub(super) fn from_parameters(parameters: &Parameters<'_>) -> Result<LeftRight, GameNameError> {
        parameters.only(&[])?;
        let n_steps = parameters.size(LeftRight::DEFAULT_STEPS, LeftRight::STEPS)?;
        Ok(LeftRight::new(n_steps))
    }
}

impl fmt::Display for LeftRight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "leftright:{}", self.n_steps)
    }
}

impl Game for LeftRight {
    type State = LeftRightState;
    type Memory = ();

    const ROLES: &'static [&'static str] = &["walker"];
    const FLUENTS: &'static [&'static str] = &["steps", "lefts"];

    fn max_goal(&self) -> Value {
        Value::from(self.n_steps)
    }

    fn memory(&self) {}

    fn initial_state(&self) -> LeftRightState {
        LeftRightState { n_made: 0, n_left: 0 }
    }

    fn is_terminal(&self, state: &LeftRightState) -> bool {
        state.n_made >= self.n_steps
    }

    fn legal_moves(&self, _: &mut (), _: &LeftRightState, _: Role, moves: &mut Vec<Move>) {
        moves.extend(BOTH);
    }

    /// A step beyond the end is none.
    fn next_state(&self, _: &mut (), state: &LeftRightState, joint_move: &[Move]) -> LeftRightState {
        if self.is_terminal(state) {
            return *state;
        }
        let n_left = state.n_left + u16::from(joint_move[0] == LEFT);
        LeftRightState { n_made: state.n_made + 1, n_left }
    }

    fn goal(&self, _: &mut (), state: &LeftRightState, _: Role) -> Value {
        Value::from(state.n_left)
    }

    fn rollout(
        &self,
        _: &mut (),
        state: &LeftRightState,
        choices: &mut Choices<'_, impl Policy>,
    ) -> RolloutEnd {
        let length = self.n_steps.saturating_sub(state.n_made);
        let n_left: Value =
            (0..length).map(|_| Value::from(BOTH[choices.choose(Role(0), &BOTH)] == LEFT)).sum();
        let goals = vec![Value::from(state.n_left) + n_left];
        RolloutEnd { length: u32::from(length), goals, terminal: true }
    }

    fn fluents(&self, state: &LeftRightState, fluents: &mut Vec<FluentParts>) {
        fluents.extend([(0, state.n_made), (1, state.n_left)]);
    }

    fn state_of(&self, fluents: &[FluentParts]) -> Option<LeftRightState> {
        let mut sorted = fluents.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        match sorted[..] {
            [(0, n_made), (1, n_left)] if n_left <= n_made => Some(LeftRightState { n_made, n_left }),
            _ => None,
        }
    }

    fn argument_text(&self, (_, n): FluentParts) -> String {
        n.to_string()
    }

    fn argument_of(&self, _: u16, text: &str) -> Option<u16> {
        text.parse().ok().filter(|&n| n <= self.n_steps)
    }

    fn move_name(&self, a_move: Move) -> String {
        if a_move == LEFT { "left" } else { "right" }.to_owned()
    }

    fn move_named(&self, name: &str) -> Option<Move> {
        BOTH.into_iter().find(|&a_move| self.move_name(a_move) == name)
    }
}
