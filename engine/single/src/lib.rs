//! Searches for games of one role: the systems of the papers, and a portfolio of them.
//!
//! In goes a game as a [`Reasoner`](reasoner::Reasoner) with one role, a state, and a [`Budget`](search::Budget); out
//! comes the best line found ([`Report`]), by whichever system ([`System`]) was asked for, and whether it is proved that
//! none is better.
//!
//! What it deliberately does not do: anything for several roles, and a graph of its own: UCT is the shared graph's.
//!
//! # How it fits together
//! A [`Searcher`] has a [`roster`] of solvers ([`solver`]), each on a [`worker`] thread with a session of its own. Only so
//! many work at once as there are threads, in [`turns`]; what they find is played through and kept as the [`best`] line.
//! Each system is one file. Some know the rules by themselves ([`outsider`]): another reasoner, or a SAT solver.
#![forbid(unsafe_code)]

mod beam;
mod best;
mod elsewhere;
mod exhaustive;
mod graph;
mod ida;
mod lazily;
mod line;
mod nested;
mod nrpa;
mod outsider;
mod report;
mod roster;
mod sat;
mod searcher;
mod solver;
mod sp_mcts;
mod system;
mod turns;
mod work;
mod worker;

pub use best::Found;
pub use line::Line;
pub use nrpa::NrpaOptions;
pub use outsider::Outsiders;
pub use report::{Part, Report};
pub use searcher::{Searcher, SingleError};
pub use sp_mcts::{FinalRule, SpMctsOptions, TimeControl};
pub use system::{SYSTEM_NAMES, System, SystemError};
pub use turns::Used;
