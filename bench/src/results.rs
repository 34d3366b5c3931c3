//! What was measured, kept on disk as it comes, so that a comparison goes on where it was stopped.
//!
//! One line of JSON for each game and reasoner. A line that cannot be read, such as one that was cut off by a kill, stays
//! where it is, and is measured again.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};

use crate::measure::{Cross, SearchSpeed, Speed};

/// What identifies a measurement: equal keys are not measured again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Key {
    /// The hash of the rulesheet's text.
    pub rules_hash: String,
    /// The reasoner's name.
    pub reasoner: String,
    /// The reasoner that its answers are checked against; none for that one itself.
    pub against: Option<String>,
    /// Of this program, and of SWI-Prolog where that is the reasoner.
    pub version: String,
    /// For each measurement.
    pub seconds: f64,
    /// Joint moves of the check.
    pub steps: u64,
    /// What random games follow from.
    pub seed: u64,
}

/// One game on one reasoner. What failed says why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// As the command line names the game.
    pub game: String,
    /// How many roles it has.
    pub n_roles: usize,
    /// What was measured.
    pub key: Key,
    /// The seconds after which measurements were killed.
    #[serde(default)]
    pub limit: f64,
    /// Rollouts.
    pub speed: Result<Speed, String>,
    /// Search.
    pub search: Result<SearchSpeed, String>,
    /// The check against the first reasoner.
    pub cross: Option<Result<Cross, String>>,
}

impl Entry {
    /// Transitions per second of processor time, if the measurement did not fail.
    pub fn rate(&self) -> Option<f64> {
        self.speed.as_ref().ok().map(|speed| speed.transitions_per_cpu_s)
    }

    /// What went wrong, for the table: a difference first.
    pub fn complaint(&self) -> Option<String> {
        match &self.cross {
            Some(Ok(Cross { difference: Some(difference), .. })) => {
                return Some(format!("DIFFERS: {difference}"));
            }
            Some(Err(error)) => return Some(format!("check: {error}")),
            _ => {}
        }
        let speed = self.speed.as_ref().err().map(|error| format!("rollouts: {error}"));
        speed.or_else(|| self.search.as_ref().err().map(|error| format!("search: {error}")))
    }

    /// Whether something could not be measured.
    fn has_failed(&self) -> bool {
        self.speed.is_err() || self.search.is_err() || matches!(self.cross, Some(Err(_)))
    }

    /// Whether the answers differ from those of the first reasoner.
    pub fn differs(&self) -> bool {
        matches!(&self.cross, Some(Ok(cross)) if cross.difference.is_some())
    }
}

/// The file of all entries.
#[derive(Debug)]
pub struct Results {
    file: File,
    /// In the order of measuring.
    pub entries: Vec<Entry>,
    /// Lines that are no entries.
    pub n_unreadable: usize,
}

impl Results {
    /// Opens or begins a file, for this process alone.
    ///
    /// # Errors
    /// If it cannot be read or written, or another process has it open.
    pub fn open(path: &Path) -> std::io::Result<Results> {
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)
            .map_err(|_| std::io::Error::other("another comparison writes there; give another --out"))?;
        let bytes = std::fs::read(path)?;
        if bytes.last().is_some_and(|&last| last != b'\n') {
            file.write_all(b"\n")?;
        }
        let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let read: Vec<Option<Entry>> = lines.map(|line| serde_json::from_slice(line).ok()).collect();
        let n_unreadable = read.iter().filter(|entry| entry.is_none()).count();
        Ok(Results { file, entries: read.into_iter().flatten().collect(), n_unreadable })
    }

    /// The last entry of a key. One that failed does not count where more time is given now.
    pub fn find(&self, key: &Key, limit: f64) -> Option<&Entry> {
        let is_it = |entry: &&Entry| entry.key == *key && (!entry.has_failed() || entry.limit >= limit);
        self.entries.iter().rev().find(is_it)
    }

    /// Adds an entry, also on disk.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn push(&mut self, entry: Entry) -> std::io::Result<()> {
        let mut line = serde_json::to_string(&entry)?;
        line.push('\n');
        self.file.write_all(line.as_bytes())?;
        self.file.sync_data()?;
        self.entries.push(entry);
        Ok(())
    }
}

/// The geometric mean of positive numbers; nothing if there are none.
pub fn geometric_mean(ratios: impl Iterator<Item = f64>) -> Option<f64> {
    let logarithms: Vec<f64> =
        ratios.filter(|ratio| ratio.is_finite() && *ratio > 0.0).map(f64::ln).collect();
    let n = logarithms.len();
    (n > 0).then(|| (logarithms.iter().sum::<f64>() / n as f64).exp())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn entry(hash: &str) -> Entry {
        Entry {
            game: "g".into(),
            n_roles: 2,
            key: Key {
                rules_hash: hash.into(),
                reasoner: "interpreter".into(),
                against: None,
                version: "1".into(),
                seconds: 0.5,
                steps: 10,
                seed: 1,
            },
            speed: Ok(Speed { transitions_per_cpu_s: 10.0, ..Speed::default() }),
            search: Ok(SearchSpeed { playouts_per_cpu_s: 5.0 }),
            cross: None,
            limit: 60.0,
        }
    }

    #[test]
    fn a_line_that_cannot_be_read_is_measured_again_and_loses_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.jsonl");
        for kept in [0, 3, 40] {
            let mut results = Results::open(&path).unwrap();
            results.push(entry("a")).unwrap();
            results.push(entry("b")).unwrap();
            drop(results);
            let whole = std::fs::read(&path).unwrap();
            // Cut off, and damaged, also by bytes that are no text.
            let mut damaged = [b"\xff\xfe{}\n\0\0\n", &whole[..whole.len() - 7 - kept]].concat();
            std::fs::write(&path, &damaged).unwrap();
            let mut results = Results::open(&path).unwrap();
            assert!(results.find(&entry("a").key, 60.0).is_some());
            assert!(results.find(&entry("b").key, 60.0).is_none());
            assert_eq!(results.n_unreadable, 3);
            results.push(entry("c")).unwrap();
            drop(results);
            assert_eq!(Results::open(&path).unwrap().entries, [entry("a"), entry("c")]);
            damaged.push(b'\n');
            assert!(std::fs::read(&path).unwrap().starts_with(&damaged), "nothing is taken away");
            std::fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn a_file_belongs_to_one_process() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.jsonl");
        let first = Results::open(&path).unwrap();
        assert!(Results::open(&path).unwrap_err().to_string().contains("another comparison"));
        drop(first);
        Results::open(&path).unwrap();
    }

    #[test]
    fn what_failed_is_measured_again_with_more_time() {
        let folder = tempfile::tempdir().unwrap();
        let mut results = Results::open(&folder.path().join("results.jsonl")).unwrap();
        let late = Entry { search: Err("killed".into()), ..entry("a") };
        results.push(late.clone()).unwrap();
        assert_eq!(results.find(&late.key, 60.0), Some(&late));
        assert_eq!(results.find(&late.key, 61.0), None);
        let again = Entry { limit: 61.0, ..entry("a") };
        results.push(again.clone()).unwrap();
        assert_eq!(results.find(&late.key, 120.0), Some(&again));
    }

    #[test]
    fn ratios_have_a_geometric_mean() {
        assert_eq!(geometric_mean([1.0, 4.0].into_iter()), Some(2.0));
        assert_eq!(geometric_mean([].into_iter()), None);
    }
}
