//! Puzzles as planning problems of bounded length, for a SAT solver.
//!
//! In goes the [`Netlist`] of a game of one role and a state; out come [`Plan`]s, each better
//! than the one before, and a [`Verdict`]: whether the last is the best there is. The rules are unrolled step by step
//! (Kautz and Selman 1992, "Planning as satisfiability"): the question of step k is whether some legal moves end the game
//! there with a better goal. Where no moves lead on, nothing better is left. A state without a legal move ends the game too.
//!
//! What it deliberately does not do: search in any other way, or know which reasoner plays.
#![forbid(unsafe_code)]

mod invariants;
#[cfg(test)]
mod nets;
mod planner;
mod question;
mod relaxed;
mod solver;
mod unrolling;

pub use planner::Planner;
pub use question::{NoPuzzle, Outcome, Plan, Question, Verdict, usual_steps};
pub use reasoner_native::Netlist;
pub use solver::Limits;
