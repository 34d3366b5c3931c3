//! The folder of a tournament: one record for each match that was played, and what they are records of.
//!
//! Records are written whole or not at all, and are named by the place of their match in the schedule. Nothing
//! else is remembered, so that a tournament that was killed at any moment goes on where it was. One process at a
//! time works in a folder.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use serde_json::{Map, Value, json};

use super::match_outcome::MatchOutcome;
use super::plan::Plan;
use super::schedule::{CHANCE, Fixture, Schedule};
use crate::failure::Failure;
use crate::game_source::{read_json, read_text};
use crate::golden_text;
use crate::manager::record::{self, Record, Status};

/// What the records of a folder are of.
const SETTINGS: &str = "tournament.json";
/// Where records are.
const RECORDS: &str = "matches";
/// Where processes of ours log.
const LOGS: &str = "logs";
/// What the process that works in a folder has locked.
const LOCK: &str = ".lock";

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
    /// If it cannot be written to, another process works in it, its records are of another tournament, or it holds
    /// something else.
    pub fn open(plan: &Plan) -> Result<Folder, Failure> {
        let path = plan.records.clone();
        refuse_foreign(&path)?;
        let failed = |error: std::io::Error| {
            Failure::work(error)
                .context(path.display())
                .hint("give a folder that can be written to with `records` or --records")
        };
        fs::create_dir_all(path.join(RECORDS)).map_err(failed)?;
        fs::create_dir_all(path.join(LOGS)).map_err(failed)?;
        let lock = File::create(path.join(LOCK)).map_err(failed)?;
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
        let known: Map<String, Value> = read_json(&path, "give another folder, or delete this one")?;
        match difference(&Value::Object(known), settings, "") {
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
        let Some(record) = record.filter(|record| is_record_of(record, plan, fixture)) else {
            tracing::warn!(path = %path.display(), "no record of this match; it is played again");
            return None;
        };
        Some(MatchOutcome::of(&record, &plan.games[fixture.game_idx].is_chance))
    }
}

/// A folder with files of somebody else is left alone: it may be there by chance, being named like the tournament.
fn refuse_foreign(path: &Path) -> Result<(), Failure> {
    let Ok(entries) = fs::read_dir(path) else { return Ok(()) };
    if path.join(SETTINGS).exists() {
        return Ok(());
    }
    // What a process that is killed before it settles leaves.
    let is_ours = |name: &str| [LOCK, RECORDS, LOGS].contains(&name) || record::is_unfinished(name);
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    match names.into_iter().find(|name| !is_ours(name)) {
        None => Ok(()),
        Some(name) => Err(Failure::work(format!("this folder is of no tournament: it has {name:?}"))
            .context(path.display())
            .hint("give a folder that is empty or not there with `records` or --records")),
    }
}

/// Whether a record is one of this match, and can be counted.
fn is_record_of(record: &Record, plan: &Plan, fixture: &Fixture) -> bool {
    let is_chance = &plan.games[fixture.game_idx].is_chance;
    let mut seats = fixture.seats.iter();
    let players = is_chance.iter().map(|&is_chance| {
        let player_idx = if is_chance { None } else { seats.next() };
        player_idx.map_or(CHANCE, |&idx| plan.players[idx].name.as_str())
    });
    record.format == Record::FORMAT
        && record.id == fixture.id
        && record.seed == fixture.seed
        && record.status != Status::Stopped
        && record.players.iter().map(String::as_str).eq(players)
        && [record.roles.len(), record.goals.len()] == [is_chance.len(); 2]
        && record.goals.iter().flatten().all(|&goal| goal <= 100)
        && record.seconds >= 0.0
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
        for no_settings in ["", "[]"] {
            fs::write(place.path().join(SETTINGS), no_settings).unwrap();
            let told = open("rounds = 2", &["random", "legal"]).unwrap_err().to_string();
            assert!(told.contains(SETTINGS) && told.contains("delete"), "{told}");
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
    #[test]
    fn a_folder_of_something_else_is_left_alone() {
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("index.html"), "mine").unwrap();
        let told =
            Folder::open(&plan_in(place.path(), "rounds = 1", &["random", "legal"])).unwrap_err().to_string();
        assert!(told.contains("index.html") && told.contains("hint: "), "{told}");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_record_that_somebody_changed_is_played_again() {
        let place = tempfile::tempdir().unwrap();
        let plan = plan_in(place.path(), "rounds = 1", &["random", "legal"]);
        let schedule = Schedule::of(&plan, &mark(&plan));
        let folder = Folder::open(&plan).unwrap();
        let fixture = &schedule.fixtures[0];
        let record = json!({
            "format": 1, "version": "", "id": fixture.id, "game": "nim", "rules_hash": "", "started_ms": 0,
            "reasoner": "", "roles": ["a", "b"], "players": ["p0", "p1"], "seed": fixture.seed,
            "start_clock": 1.0, "play_clock": 1.0, "moves": [], "times": [], "state_hashes": [], "errors": [],
            "status": "completed", "terminal": true, "goals": [100, 0],
        });
        let outcome = |record: &Value| {
            fs::write(place.path().join(Folder::link(fixture)), record.to_string()).unwrap();
            folder.outcomes(&plan, &schedule).swap_remove(0)
        };
        assert!(outcome(&record).is_some());
        for (key, value) in [
            ("id", json!("other")),
            ("format", json!(2)),
            ("seed", json!(1)),
            ("players", json!(["p1", "p0"])),
            ("roles", json!(["a"])),
            ("goals", json!([])),
            ("goals", json!([101, 0])),
            ("status", json!("stopped")),
            ("seconds", json!(-1.0)),
        ] {
            let mut changed = record.clone();
            changed[key] = value;
            assert_eq!(outcome(&changed), None, "{key}");
        }
    }
}
