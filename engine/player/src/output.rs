//! Results on standard output, progress on standard error.
//!
//! A reader that goes away (`| head`) is no failure: what cannot be written is dropped.

use std::io::{self, Write};

use serde::Serialize;

use crate::failure::Failure;

/// Writes one line to standard output.
pub fn line(text: impl std::fmt::Display) {
    // The reader may have gone.
    let _ = writeln!(io::stdout().lock(), "{text}");
}

/// Writes a value as JSON on one line of standard output.
///
/// # Errors
/// If the value cannot be JSON.
pub fn json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string(value).map_err(Failure::work)?;
    line(text);
    Ok(())
}

/// Writes one line of progress to standard error.
pub fn progress(text: impl std::fmt::Display) {
    // The reader may have gone.
    let _ = writeln!(io::stderr().lock(), "{text}");
}
