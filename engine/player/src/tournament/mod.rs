//! Tournaments: many matches, whose results say who is stronger, and how surely.
//!
//! In goes a file in TOML ([`plan`]), out come one record for each match, standings, a table in CSV and a page of
//! HTML. The schedule follows from the file alone ([`schedule`]), and what has a record is played: nothing else
//! is remembered ([`folder`]), so that a tournament goes on after any interruption. Players of ours run as
//! processes of their own ([`stable`]), and what becomes of them cannot harm the tournament. Nothing here thinks,
//! and single matches are the referee's.

mod cells;
mod file;
pub mod folder;
pub mod match_outcome;
pub mod page;
pub mod plan;
mod plot;
pub mod progress;
pub mod rating;
pub mod results_csv;
pub mod runner;
pub mod schedule;
pub mod stable;
pub mod standings;
pub mod statistics;
pub mod table;
