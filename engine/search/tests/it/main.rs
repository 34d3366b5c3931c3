//! The tests of whole searches, in one program: so the searches of their games are compiled once.

mod common;
mod families;
mod memory;
mod reproducible;
mod search;
mod settling;
mod solver;
mod stress;
