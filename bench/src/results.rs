//! What was measured, kept on disk as it comes, so that a comparison goes on where it was stopped.
//!
//! One line of JSON for each game and reasoner. A line that was cut off by a kill is left out and measured again.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

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
}

impl Results {
    /// Opens or begins a file.
    ///
    /// # Errors
    /// If it cannot be read or written.
    pub fn open(path: &Path) -> std::io::Result<Results> {
        let mut entries = Vec::new();
        let mut whole = String::new();
        if path.exists() {
            for line in BufReader::new(File::open(path)?).lines() {
                let line = line?;
                if let Ok(entry) = serde_json::from_str(&line) {
                    entries.push(entry);
                    whole += &line;
                    whole.push('\n');
                }
            }
            // Without the line that was cut off, the next one begins where a line begins.
            let beside = path.with_extension("jsonl.new");
            std::fs::write(&beside, whole)?;
            std::fs::rename(&beside, path)?;
        }
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Results { file, entries })
    }

    /// The entry of a key.
    pub fn find(&self, key: &Key) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == *key)
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
            search: Err("late".into()),
            cross: None,
        }
    }

    #[test]
    fn a_line_that_was_cut_off_is_measured_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.jsonl");
        let mut results = Results::open(&path).unwrap();
        results.push(entry("a")).unwrap();
        results.push(entry("b")).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, &text[..text.len() - 7]).unwrap();
        let mut results = Results::open(&path).unwrap();
        assert!(results.find(&entry("a").key).is_some());
        assert!(results.find(&entry("b").key).is_none());
        results.push(entry("c")).unwrap();
        assert_eq!(Results::open(&path).unwrap().entries, [entry("a"), entry("c")]);
    }

    #[test]
    fn ratios_have_a_geometric_mean() {
        assert_eq!(geometric_mean([1.0, 4.0].into_iter()), Some(2.0));
        assert_eq!(geometric_mean([].into_iter()), None);
    }
}
