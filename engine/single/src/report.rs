//! What a search has found.

use std::time::Duration;

use reasoner::Move;

use crate::best::Found;
use crate::line::Line;
use crate::turns::Used;

/// One system's part in a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its name.
    pub name: String,
    /// What it had and found since the root was set.
    pub used: Used,
    /// Whether it is done with this root: it has proved an optimum, or has given up.
    pub is_done: bool,
}

/// What a search of a game of one role has found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// The best line known from the root on.
    pub best: Option<Line>,
    /// Whether no line from the root can be better.
    pub proved: bool,
    /// Who has seen all lines, or ruled better ones out; nobody where no goal is larger anyway.
    pub proved_by: Option<String>,
    /// Whether it is proved that no line comes to an end.
    pub is_hopeless: bool,
    /// The move to play.
    pub a_move: Option<Move>,
    /// Playouts since the root was set: rollouts, or states expanded by systems that make none.
    pub playouts: u64,
    /// How long the last run took, or is taking.
    pub time: Duration,
    /// The systems' parts.
    pub parts: Vec<Part>,
    /// All lines that ever were the best, in order.
    pub found: Vec<Found>,
    /// The last reason why a system could not go on.
    pub last_error: Option<String>,
}
