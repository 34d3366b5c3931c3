//! What a comparison has measured: one entry for each game and reasoner, kept in a [`Journal`].

use serde::{Deserialize, Serialize};

use crate::journal::Journal;
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

/// All entries of a comparison.
pub type Results = Journal<Entry>;

impl Results {
    /// The last entry of a key. One that failed does not count where more time is given now.
    pub fn find(&self, key: &Key, limit: f64) -> Option<&Entry> {
        let is_it = |entry: &&Entry| entry.key == *key && (!entry.has_failed() || entry.limit >= limit);
        self.entries.iter().rev().find(is_it)
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
