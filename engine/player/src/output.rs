//! Results on standard output, progress on standard error.
//!
//! A reader that goes away (`| head`) is no failure: what it does not want is dropped. A result that cannot be
//! written for another reason, such as a full disk, is one.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use crate::failure::Failure;

/// Writes one line to standard output.
///
/// # Errors
/// If it cannot be written, though there is somebody to read it.
pub fn line(text: impl std::fmt::Display) -> Result<(), Failure> {
    // Standard output is flushed at the end of each line.
    match writeln!(io::stdout().lock(), "{text}") {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::work(error).context("the result cannot be written"))
        }
        _ => Ok(()),
    }
}

/// Writes a value as JSON on one line of standard output.
///
/// # Errors
/// If the value cannot be JSON, or the line cannot be written.
pub fn json(value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string(value).map_err(Failure::work)?;
    line(text)
}

/// Looks whether a file could be written, before the work whose result it is to hold; what is in it stays.
///
/// # Errors
/// If its folder is not there, it is a folder itself, or it must not be written.
pub fn check_file(path: &Path) -> Result<(), Failure> {
    let was_there = path.exists();
    let opened = OpenOptions::new().append(true).create(true).open(path);
    opened.map_err(|error| Failure::work(error).context(path.display()))?;
    if !was_there {
        // Left behind it would look like a result.
        fs::remove_file(path).map_err(|error| Failure::work(error).context(path.display()))?;
    }
    Ok(())
}

/// Writes one line of progress to standard error.
pub fn progress(text: impl std::fmt::Display) {
    // The reader may have gone.
    let _ = writeln!(io::stderr().lock(), "{text}");
}
