//! The binary `daggerboard`, as a library: plays games it has never seen.
//!
//! In goes a command line ([`main`]); the commands read rulesheets and messages, and print results to standard output,
//! logs and progress to standard error. The only list of reasoners is in [`reasoners`], which the benchmarks use too,
//! as they use what the commands share.
#![forbid(unsafe_code)]

pub mod brain;
pub mod building;
mod cli;
mod commands;
pub mod failure;
pub mod game_source;
mod golden_text;
pub mod html_page;
mod keeper;
mod logs;
mod manager;
mod memory_policy;
mod moves;
pub mod output;
mod position;
pub mod processor_time;
mod protocol;
pub mod reasoners;
pub mod sampling;
pub mod stop;
pub mod tables;
mod tournament;

use std::process::ExitCode;

use clap::Parser;

/// Reads the command line of the process, or ends it as the command line asks.
///
/// A number below 0 goes to the option that it follows, which says what it wants; it is no option itself.
pub fn read_command_line<C: Parser>() -> C {
    let mut command = C::command().mut_subcommands(|command| {
        command.mut_args(|arg| match arg.get_action().takes_values() {
            true => arg.allow_negative_numbers(true),
            false => arg,
        })
    });
    let matches = command.get_matches_mut();
    C::from_arg_matches(&matches).unwrap_or_else(|error| error.format(&mut command).exit())
}

/// Does what the command line of the process says, and prints why if it cannot.
pub fn main() -> ExitCode {
    match read_command_line::<cli::Cli>().run() {
        Ok(outcome) => outcome.into(),
        Err(failure) => {
            output::progress(&failure);
            failure.exit_code()
        }
    }
}
