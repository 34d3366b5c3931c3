//! Logs to standard error.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

/// Begins logging: warnings, plus what `default` says, or `RUST_LOG` if it is set; `-v` shows more.
pub fn begin(verbosity: u8, default: &str) {
    let level = match verbosity {
        0 => default,
        1 => "debug",
        _ => "trace",
    };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(level));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false)
        // Where nobody reads the log any more, the complaint about that would have no reader either, and panic.
        .log_internal_errors(false)
        .init();
}
