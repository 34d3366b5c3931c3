//! The games of the benchmarks that are written in Rust.
//!
//! In goes a game's name, out comes its reasoner. The binary `daggerboard-bench` measures with them.
#![forbid(unsafe_code)]

pub mod games;
