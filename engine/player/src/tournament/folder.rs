//! The folder of a tournament: one record for each match that was played, and what they are records of.
//!
//! Records are written whole or not at all, and are named by the place of their match in the schedule. Nothing
//! else is remembered, so that a tournament that was killed at any moment goes on where it was. One process at a
//! time works in a folder.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use serde_json::{Value, json};

use super::match_outcome::MatchOutcome;
use super::plan::Plan;
use super::schedule::{Fixture, Schedule};
use crate::failure::Failure;
use crate::game_source::{read_json, read_text};
use crate::golden_text;
use crate::manager::record::{self, Record};

/// What the records of a folder are of.
const SETTINGS: &str = "tournament.json";
/// Where records are.
const RECORDS: &str = "matches";
/// Where processes of ours log.
const LOGS: &str = "logs";

/// A folder that this process alone works in, until it is dropped.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// Holds the lock; the system lets go of it when the process dies.
    _lock: File,
}

impl Folder {
    /// Takes the folder for a plan.
    ///
    /// # Errors
    /// If it cannot be written to, another process works in it, or its records are of another tournament.
    pub fn open(plan: &Plan) -> Result<Folder, Failure> {
        let path = plan.records.clone();
        let failed = |error: std::io::Error| {
            Failure::work(error)
                .context(path.display())
                .hint("give a folder that can be written to with `records` or --records")
        };
        fs::create_dir_all(path.join(RECORDS)).map_err(failed)?;
        fs::create_dir_all(path.join(LOGS)).map_err(failed)?;
        let lock = File::create(path.join(".lock")).map_err(failed)?;
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Err(Failure::work("another process plays this tournament")
                .context(path.display())
                .hint("wait for it, or stop it with Ctrl-C"));
        }
        let folder = Folder { path, _lock: lock };
        record::remove_unfinished(&folder.path)?;
        record::remove_unfinished(&folder.records())?;
        folder.settle(&settings(plan))?;
        Ok(folder)
    }

    /// Remembers the settings, or compares them with those that are remembered.
    fn settle(&self, settings: &Value) -> Result<(), Failure> {
        let path = self.path.join(SETTINGS);
        if !path.exists() {
            let text = serde_json::to_string_pretty(settings).map_err(Failure::work)? + "\n";
            record::write_whole(&self.path, SETTINGS, text.as_bytes())?;
            return Ok(());
        }
        let known: Value = read_json(&path, "give another folder, or delete this one")?;
        match difference(&known, settings, "") {
            None => Ok(()),
            Some(what) => Err(Failure::work(format!("the records there are of another tournament: {what}"))
                .context(self.path.display())
                .hint(
                    "put that back to go on, or give another folder with `records` or --records; more rounds may \
                     be asked for, and parallel, cores and [sprt] changed",
                )),
        }
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where records are.
    pub fn records(&self) -> PathBuf {
        self.path.join(RECORDS)
    }

    /// The record of a match, relative to the folder.
    pub fn link(fixture: &Fixture) -> String {
        format!("{RECORDS}/{}.json", fixture.id)
    }

    /// Where a process of ours logs.
    pub fn log(&self, name: &str) -> PathBuf {
        self.path.join(LOGS).join(format!("{name}.log"))
    }

    /// What is played already, match by match.
    pub fn outcomes(&self, plan: &Plan, schedule: &Schedule) -> Vec<Option<MatchOutcome>> {
        schedule.fixtures.iter().map(|fixture| self.outcome(plan, fixture)).collect()
    }

    fn outcome(&self, plan: &Plan, fixture: &Fixture) -> Option<MatchOutcome> {
        let path = self.path.join(Folder::link(fixture));
        let text = path.exists().then(|| read_text(&path))?;
        let record: Option<Record> = text.ok().and_then(|text| serde_json::from_str(&text).ok());
        // Somebody changed it; a process that is killed leaves no such file.
        let Some(record) = record.filter(|record| record.id == fixture.id && record.format == Record::FORMAT)
        else {
            tracing::warn!(path = %path.display(), "no record of this match; it is played again");
            return None;
        };
        Some(MatchOutcome::of(&record, &plan.games[fixture.game_idx].is_chance))
    }
}

/// A part of match ids that tells tournaments apart.
pub fn mark(plan: &Plan) -> String {
    let mut mark = golden_text::hash(&settings(plan).to_string());
    mark.truncate(8);
    mark
}

/// Everything that decides what is played, but for the number of rounds.
fn settings(plan: &Plan) -> Value {
    let games: Vec<Value> = plan
        .games
        .iter()
        .map(|game| {
            json!({
                "name": game.name,
                "rules_hash": game.game.rules_hash(),
                "case_ignored": game.game.description.case_ignored(),
                "opening_plies": game.opening_plies,
                "start": game.start_clock.as_secs(),
                "play": game.play_clock.as_secs(),
                "max_steps": game.max_steps,
                "playouts": game.playouts,
                "cpu": game.cpu.map(|cpu| cpu.as_secs_f64()),
            })
        })
        .collect();
    let players: Vec<Value> =
        plan.players.iter().map(|player| json!({ "name": player.name, "spec": player.spec.text })).collect();
    json!({
        "format": 1,
        "version": env!("CARGO_PKG_VERSION"),
        "seed": plan.seed,
        "grace": plan.grace.as_secs_f64(),
        "forfeit_after": plan.forfeit_after,
        "reasoner": plan.reasoner.to_string(),
        "players": players,
        "games": games,
    })
}

/// The first difference, in words.
fn difference(known: &Value, wanted: &Value, at: &str) -> Option<String> {
    let below = |key: &str| if at.is_empty() { key.to_owned() } else { format!("{at}.{key}") };
    match (known, wanted) {
        (Value::Object(known), Value::Object(wanted)) => wanted
            .iter()
            .find_map(|(key, value)| difference(known.get(key).unwrap_or(&Value::Null), value, &below(key))),
        (Value::Array(known), Value::Array(wanted)) => {
            let mut pairs = known.iter().zip(wanted).enumerate();
            let inside =
                pairs.find_map(|(idx, (one, other))| difference(one, other, &below(&(idx + 1).to_string())));
            inside.or_else(|| {
                (known.len() != wanted.len())
                    .then(|| format!("{} {at} there, {} here", known.len(), wanted.len()))
            })
        }
        _ => (known != wanted).then(|| format!("{at} is {known} there, {wanted} here")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tournament::plan::test_plan;

    fn plan_in(folder: &Path, head: &str, specs: &[&str]) -> Plan {
        Plan { records: folder.to_owned(), ..test_plan(head, &["nim"], specs) }
    }

    #[test]
    fn a_folder_is_of_one_tournament_and_one_process() {
        let place = tempfile::tempdir().unwrap();
        let open = |head: &str, specs: &[&str]| Folder::open(&plan_in(place.path(), head, specs));
        let held = open("rounds = 2", &["random", "legal"]).unwrap();
        assert!(
            open("rounds = 2", &["random", "legal"]).unwrap_err().to_string().contains("another process")
        );
        drop(held);
        assert!(open("rounds = 9\nparallel = 2", &["random", "legal"]).is_ok(), "more of the same");
        for (head, specs, what) in [
            ("rounds = 2\nseed = 5", &["random", "legal"][..], "seed is 0 there, 5 here"),
            ("rounds = 2", &["random", "random"], "players.2.spec"),
            ("rounds = 2", &["random", "legal", "random"], "2 players there, 3 here"),
            ("rounds = 2\nopening_plies = 1", &["random", "legal"], "games.1.opening_plies"),
        ] {
            let told = open(head, specs).unwrap_err().to_string();
            assert!(told.contains(what) && told.contains("hint: "), "{told}");
        }
    }

    #[test]
    fn what_is_half_written_or_no_record_is_played_again() {
        let place = tempfile::tempdir().unwrap();
        let plan = plan_in(place.path(), "rounds = 1", &["random", "legal"]);
        let schedule = Schedule::of(&plan, &mark(&plan));
        let folder = Folder::open(&plan).unwrap();
        let unfinished = folder.records().join(".unfinished-x.json.1");
        fs::write(&unfinished, "{").unwrap();
        fs::write(place.path().join(Folder::link(&schedule.fixtures[0])), "{\"id\":").unwrap();
        drop(folder);
        let folder = Folder::open(&plan).unwrap();
        assert!(!unfinished.exists());
        assert_eq!(folder.outcomes(&plan, &schedule), [None, None]);
    }
}
