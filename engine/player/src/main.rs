//! The binary `daggerboard`: plays games it has never seen.
//!
//! In goes a command line; the commands read rulesheets and messages, and print results to standard output,
//! logs and progress to standard error. The only list of reasoners is in [`reasoners`].
#![forbid(unsafe_code)]

mod brain;
mod cli;
mod commands;
mod failure;
mod game_source;
mod golden_text;
mod keeper;
mod logs;
mod manager;
mod moves;
mod output;
mod position;
mod protocol;
mod reasoners;
mod stop;

use std::process::ExitCode;

use clap::Parser;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match cli::Cli::parse().run() {
        Ok(outcome) => outcome.into(),
        Err(failure) => {
            output::progress(&failure);
            failure.exit_code()
        }
    }
}
