//! A made-up game of two roles whose positions cost next to nothing, so that a search of it is all search.

use std::fmt;
use std::ops::RangeInclusive;

use reasoner::{Move, Policy, Role, RolloutEnd, Value};

use super::choices::Choices;
use super::game::{FluentParts, Game};
use super::grid::{Colour, NOOP};
use super::name::{GameNameError, Parameters};

/// The way on.
const AHEAD: Move = Move(0);

/// A way of `depth` positions with `width` moves each, made by turns. The first move leads on, and at the end both have
/// won; any other leads astray, where one more move, whichever it is, ends the game for nothing. Rollouts never go
/// astray.
///
/// So a search of it opens one node for each position of the way, tries each of its moves once, and goes straight to
/// the end from then on: its playouts look at `width` edges on each of `depth` levels, and cost no rollout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spine {
    width: u16,
    depth: u16,
}

/// How far the way was followed, and the moves made since.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SpineState {
    level: u16,
    /// The move that led astray; 0 if none did.
    astray: u16,
    /// One more than the move after that; 0 if there is none yet.
    last: u16,
}

impl SpineState {
    fn mover(self) -> Colour {
        Colour::BOTH[usize::from((self.level + u16::from(self.astray > 0)) % 2)]
    }
}

impl Spine {
    /// How many moves a position can have: fewer than the number that stands for no choice.
    pub const WIDTHS: RangeInclusive<u16> = 2..=256;
    /// How long the way can be.
    pub const DEPTHS: RangeInclusive<u16> = 1..=4096;

    /// The game of these sizes.
    ///
    /// # Panics
    /// If they are not in [`Spine::WIDTHS`] and [`Spine::DEPTHS`].
    pub fn new(width: u16, depth: u16) -> Spine {
        let has_sizes = Spine::WIDTHS.contains(&width) && Spine::DEPTHS.contains(&depth);
        assert!(has_sizes, "no way of {depth} positions has {width} moves each");
        Spine { width, depth }
    }

    /// As a name says.
    ///
    /// # Errors
    /// If the name has other parameters, or a size cannot be.
    pub(super) fn from_parameters(parameters: &Parameters<'_>) -> Result<Spine, GameNameError> {
        parameters.only(&["depth"])?;
        let width = parameters.size(8, Spine::WIDTHS)?;
        Ok(Spine::new(width, parameters.whole("depth", Spine::DEPTHS)?.unwrap_or(16)))
    }

    fn moves(&self) -> impl Iterator<Item = Move> {
        (0..u32::from(self.width)).map(Move)
    }
}

impl fmt::Display for Spine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "spine:{},depth={}", self.width, self.depth)
    }
}

impl Game for Spine {
    type State = SpineState;
    /// All moves, for rollouts that begin astray.
    type Memory = Vec<Move>;

    const ROLES: &'static [&'static str] = &["first", "second"];
    const FLUENTS: &'static [&'static str] = &["level", "astray", "last"];

    fn memory(&self) -> Vec<Move> {
        self.moves().collect()
    }

    fn initial_state(&self) -> SpineState {
        SpineState { level: 0, astray: 0, last: 0 }
    }

    fn is_terminal(&self, state: &SpineState) -> bool {
        state.last > 0 || (state.astray == 0 && state.level >= self.depth)
    }

    fn legal_moves(&self, _: &mut Vec<Move>, state: &SpineState, role: Role, moves: &mut Vec<Move>) {
        if state.mover().idx() == role.idx() { moves.extend(self.moves()) } else { moves.push(NOOP) }
    }

    /// A move beyond the end is none.
    #[allow(clippy::cast_possible_truncation, reason = "moves are less than the width")]
    fn next_state(&self, _: &mut Vec<Move>, state: &SpineState, joint_move: &[Move]) -> SpineState {
        let a_move = joint_move[state.mover().idx()];
        match *state {
            _ if self.is_terminal(state) => *state,
            SpineState { level, astray: 0, .. } if a_move == AHEAD => {
                SpineState { level: level + 1, ..*state }
            }
            SpineState { astray: 0, .. } => SpineState { astray: a_move.0 as u16, ..*state },
            _ => SpineState { last: a_move.0 as u16 + 1, ..*state },
        }
    }

    fn goal(&self, _: &mut Vec<Move>, state: &SpineState, _: Role) -> Value {
        if state.astray == 0 { self.max_goal() } else { 0 }
    }

    fn rollout(
        &self,
        memory: &mut Vec<Move>,
        state: &SpineState,
        choices: &mut Choices<'_, impl Policy>,
    ) -> RolloutEnd {
        let mut now = *state;
        let mut length = 0;
        while !self.is_terminal(&now) {
            let asked = if now.astray == 0 { &[AHEAD][..] } else { &memory[..] };
            let a_move = asked[choices.turn(now.mover(), asked)];
            now = self.next_state(&mut Vec::new(), &now, &[a_move; 2]);
            length += 1;
        }
        let goals = vec![self.goal(memory, &now, Role(0)); 2];
        RolloutEnd { length, goals, terminal: true }
    }

    fn fluents(&self, state: &SpineState, fluents: &mut Vec<FluentParts>) {
        fluents.extend([(0, state.level), (1, state.astray), (2, state.last)]);
    }

    fn state_of(&self, fluents: &[FluentParts]) -> Option<SpineState> {
        let mut sorted = fluents.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let [(0, level), (1, astray), (2, last)] = sorted[..] else { return None };
        let is_astray = astray > 0;
        let can_be = if is_astray { level < self.depth } else { last == 0 };
        can_be.then_some(SpineState { level, astray, last })
    }

    fn argument_text(&self, (_, n): FluentParts) -> String {
        n.to_string()
    }

    fn argument_of(&self, kind: u16, text: &str) -> Option<u16> {
        let most = [self.depth, self.width - 1, self.width][usize::from(kind)];
        text.parse().ok().filter(|&n| n <= most)
    }

    fn move_name(&self, a_move: Move) -> String {
        match a_move {
            NOOP => "noop".to_owned(),
            AHEAD => "ahead".to_owned(),
            Move(n) => format!("astray-{n}"),
        }
    }

    fn move_named(&self, name: &str) -> Option<Move> {
        self.moves().chain([NOOP]).find(|&a_move| self.move_name(a_move) == name)
    }
}
