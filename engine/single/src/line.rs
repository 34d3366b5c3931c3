//! A way to the end of a game of one role.

use reasoner::{Move, Value};

/// Moves from some state to a terminal one, and the goal there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Line {
    /// One after the other.
    pub moves: Vec<Move>,
    /// The goal at the end.
    pub value: Value,
}
