//! The tests of whole searches, in one program, so that the searches of their games are compiled once. Those that take all cores are in
//! another, which runs when this one is done.

mod common;
mod families;
mod memory;
mod reproducible;
mod search;
mod settling;
mod solver;
