//! The commands, one file each: the options it takes, the work, and what it prints.

pub mod check;
pub mod coverage;
pub mod explain;
pub mod games;
mod laws;
pub mod moves_file;
pub mod perft;
pub mod play_match;
pub mod player;
mod reclaims;
pub mod replay;
pub mod search;
pub mod speed;
pub mod stress;
pub mod tournament;
pub mod tournament_player;
