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
/// If its folder is not there, it is a folder itself, or it must not be written; for links to nothing and for what is no file that is
/// not known beforehand.
pub fn check_file(path: &Path) -> Result<(), Failure> {
    let checked = match fs::metadata(path) {
        Ok(found) if found.is_file() || found.is_dir() => {
            OpenOptions::new().append(true).open(path).map(drop)
        }
        // A pipe or a device is not opened twice.
        Ok(_) => Ok(()),
        // A link to a file that is not there yet.
        Err(_) if fs::symlink_metadata(path).is_ok() => Ok(()),
        // An empty file that is left behind would look like a result.
        Err(_) => fs::File::create_new(path).and_then(|_| fs::remove_file(path)),
    };
    checked.map_err(|error| Failure::work(error).context(path.display()))
}

/// Writes one line of progress to standard error.
pub fn progress(text: impl std::fmt::Display) {
    // The reader may have gone.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looking_whether_a_file_can_be_written_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result");
        check_file(&path).unwrap();
        assert!(!path.exists(), "nothing is left behind");
        fs::write(&path, "old").unwrap();
        check_file(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert!(check_file(folder.path()).is_err());
        assert!(check_file(&folder.path().join("no").join("result")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_to_nothing_stay_links() {
        let folder = tempfile::tempdir().unwrap();
        let (link, target) = (folder.path().join("link"), folder.path().join("target"));
        std::os::unix::fs::symlink(&target, &link).unwrap();
        check_file(&link).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink() && !target.exists());
    }
}
