//! What a game can be asked, whoever answers.
//!
//! A [`Reasoner`] is one game's rules, shared and immutable; a [`Session`] is one thread's hold on it. In go
//! states, moves and seeds, out come legal moves, successors and goals; ids throughout, text-level
//! [`gdl::Term`]s only at the edge. [`perft`](perft::perft) counts a game's tree, [`laws`] checks what every
//! reasoner must keep.
//!
//! What it deliberately does not do: search, keep time, or know how any reasoner works inside.
#![forbid(unsafe_code)]

mod dice;
mod error;
mod interrupt;
pub mod laws;
pub mod perft;
mod rollout;
mod session;
mod words;

pub use dice::{Dice, Lot};
pub use error::ReasonerError;
pub use interrupt::Interrupt;
pub use rollout::{MAX_ROLLOUT_STEPS, Policy, RolloutEnd, Rollouts, Tally, Uniform, rollout};
pub use session::{Expansion, Limits, Reasoner, Session};
pub use words::{Fluent, GoalAnswer, Move, Role, Value};
