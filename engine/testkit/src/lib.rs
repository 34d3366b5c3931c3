//! Checks any reasoner against reference data, laws, and other reasoners; for tests and benchmarks.
//!
//! In goes a way to make a [`Reasoner`](reasoner::Reasoner) from rules and a folder of reference data
//! ([`Shared`]). Out comes, for each game, whether the reasoner gives the recorded answers, and otherwise the
//! first difference in words. A reasoner crate's whole test is four calls: [`golden_suite`],
//! [`match_suite`], [`scrambled_suite`] and [`case_suite`]; [`cross_check`] compares two reasoners, also on the
//! games that [`random_rules`] and [`clocked_rules`] make up; [`odd_game`] has rules that pass limits.
//!
//! What it deliberately does not do: know a concrete reasoner, or judge a rulesheet. It never decides what
//! an answer should be: every expectation comes from the data, or from a second reasoner.
#![forbid(unsafe_code)]

mod budget;
mod cases;
mod clocks;
#[cfg(test)]
mod counting_game;
mod crew;
mod cross;
mod golden;
mod matches;
pub mod odd_game;
mod outcome;
mod position;
mod random_rules;
mod replay;
mod scrambled;
mod shared;
mod suite;
mod text;

pub use budget::{CpuClock, within};
pub use cases::{KifCase, check_case};
pub use clocks::clocked_rules;
pub use crew::{Exception, Summary};
pub use cross::cross_check;
pub use golden::{Golden, Thoroughness};
pub use matches::{MatchRecord, replay_match};
pub use outcome::{Agreement, Done, Mismatch, Outcome};
pub use position::Position;
pub use random_rules::random_rules;
pub use replay::check_golden;
pub use scrambled::{ScrambledSheet, check_scrambled};
pub use shared::{Shared, SharedError, skip};
pub use suite::{Selection, case_suite, golden_suite, match_suite, scrambled_suite};
pub use text::{fnv_1a, hash_text, legal_hash, state_hash};
