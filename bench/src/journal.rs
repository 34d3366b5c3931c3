//! What has been done, kept on disk as it comes, so that a command goes on where it was stopped.
//!
//! In go entries, out come a file with one line of JSON for each, and those of earlier runs. A line that cannot be read,
//! such as one that was cut off by a kill, stays where it is and counts for nothing.

use std::fs::{File, OpenOptions};
use std::io::{Error, Result, Write};
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The file of all entries.
#[derive(Debug)]
pub struct Journal<T> {
    file: File,
    /// In the order in which they came.
    pub entries: Vec<T>,
    /// Lines that are no entries.
    pub n_unreadable: usize,
}

impl<T: Serialize + DeserializeOwned> Journal<T> {
    /// Opens or begins a file, for this process alone.
    ///
    /// # Errors
    /// If it cannot be read or written, or another process has it open.
    pub fn open(path: &Path) -> Result<Journal<T>> {
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)
            .map_err(|_| Error::other("another daggerboard-bench writes there; give another --out"))?;
        let bytes = std::fs::read(path)?;
        if bytes.last().is_some_and(|&last| last != b'\n') {
            file.write_all(b"\n")?;
        }
        let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let read: Vec<Option<T>> = lines.map(|line| serde_json::from_slice(line).ok()).collect();
        let n_unreadable = read.iter().filter(|entry| entry.is_none()).count();
        Ok(Journal { file, entries: read.into_iter().flatten().collect(), n_unreadable })
    }

    /// Adds an entry, also on disk.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn push(&mut self, entry: T) -> Result<()> {
        let mut line = serde_json::to_string(&entry)?;
        line.push('\n');
        self.file.write_all(line.as_bytes())?;
        self.file.sync_data()?;
        self.entries.push(entry);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    struct Entry {
        name: String,
        padding: String,
    }

    fn entry(name: &str) -> Entry {
        Entry { name: name.to_owned(), padding: "-".repeat(50) }
    }

    #[test]
    fn a_line_that_cannot_be_read_counts_for_nothing_and_loses_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        for kept in [0, 3, 40] {
            let mut journal = Journal::open(&path).unwrap();
            journal.push(entry("a")).unwrap();
            journal.push(entry("b")).unwrap();
            drop(journal);
            let whole = std::fs::read(&path).unwrap();
            // Cut off, and damaged, also by bytes that are no text.
            let mut damaged = [b"\xff\xfe{}\n\0\0\n", &whole[..whole.len() - 7 - kept]].concat();
            std::fs::write(&path, &damaged).unwrap();
            let mut journal = Journal::<Entry>::open(&path).unwrap();
            assert_eq!(journal.entries, [entry("a")]);
            assert_eq!(journal.n_unreadable, 3);
            journal.push(entry("c")).unwrap();
            drop(journal);
            assert_eq!(Journal::<Entry>::open(&path).unwrap().entries, [entry("a"), entry("c")]);
            damaged.push(b'\n');
            assert!(std::fs::read(&path).unwrap().starts_with(&damaged), "nothing is taken away");
            std::fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn a_file_belongs_to_one_process() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.jsonl");
        let first = Journal::<Entry>::open(&path).unwrap();
        let error = Journal::<Entry>::open(&path).unwrap_err().to_string();
        assert!(error.contains("another daggerboard-bench"), "{error}");
        drop(first);
        Journal::<Entry>::open(&path).unwrap();
    }
}
