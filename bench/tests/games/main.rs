//! The games written in Rust keep the laws of games, agree with obviously right implementations, and their rollouts can
//! be played again.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::cast_possible_truncation, reason = "the games are small")]

mod all_games;
mod common;
mod go;
mod hex;
mod left_right;
mod naive_go;
mod naive_hex;
mod naive_same_game;
mod same_game;
