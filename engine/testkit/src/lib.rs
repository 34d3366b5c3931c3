//! Checks any reasoner against reference data, laws, and other reasoners; for tests only.
//!
//! In goes a way to make a [`Reasoner`](reasoner::Reasoner) from rules and a folder of reference data
//! ([`Shared`]). Out comes, for each game, whether the reasoner gives the recorded answers, and otherwise the
//! first difference in words. A reasoner crate's whole golden test is one call of [`golden_suite`].
//!
//! What it deliberately does not do: know a concrete reasoner, or judge a rulesheet. It never decides what
//! an answer should be: every expectation comes from the data, or from a second reasoner.
#![forbid(unsafe_code)]

mod budget;
mod golden;
mod position;
mod shared;
mod suite;
mod text;

pub use budget::{CpuClock, within};
pub use golden::{Done, Golden, GoldenOutcome, Thoroughness, Verdict, check_golden};
pub use position::{Mismatch, Position};
pub use shared::{Shared, SharedError, StaticVerdict, skip};
pub use suite::{Exception, Selection, Summary, golden_suite};
pub use text::{fnv_1a, hash_text, legal_hash, state_hash};
