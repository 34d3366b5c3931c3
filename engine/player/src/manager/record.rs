//! The record of a match, which `replay` reads.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::keeper::ThoughtWith;

/// The layout of records; to be raised when a key changes its meaning.
const FORMAT: u32 = 1;

/// How the names of files begin that are being written.
const UNFINISHED: &str = ".unfinished-";

/// Everything that is known of a match. Lists per role are in role order, lists per step begin with the
/// first joint move; terms are KIF texts as the rules spell them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Record {
    /// The layout.
    pub format: u32,
    /// Who wrote it.
    pub version: String,
    /// The match id.
    pub id: String,
    /// The game as it was named.
    pub game: String,
    /// The hash of the rulesheet's text.
    pub rules_hash: String,
    /// When the match began, in milliseconds since 1970.
    pub started_ms: u64,
    /// Whose states these are.
    pub reasoner: String,
    /// The roles.
    pub roles: Vec<String>,
    /// Who played each role.
    pub players: Vec<String>,
    /// What each of them thought with, one reasoner after the other; null where only the player knows.
    #[serde(default)]
    pub thought_with: Vec<Option<Vec<ThoughtWith>>>,
    /// What the manager's random choices follow from; 0 in a player's own record.
    pub seed: u64,
    /// Seconds.
    pub start_clock: f64,
    /// Seconds.
    pub play_clock: f64,
    /// How many of the first joint moves the manager drew before the players were asked. They were told rules
    /// whose initial state is the one behind these moves.
    #[serde(default)]
    pub opening_plies: usize,
    /// Joint moves, those of the opening too.
    pub moves: Vec<Vec<String>>,
    /// Seconds that each player took for each move; null where it was not asked.
    pub times: Vec<Vec<Option<f64>>>,
    /// Hashes of the states, the initial one first, as the golden data defines them.
    pub state_hashes: Vec<String>,
    /// What went wrong.
    pub errors: Vec<PlayerError>,
    /// Who lost by not answering any more.
    #[serde(default)]
    pub forfeits: Vec<Forfeit>,
    /// Seconds from the first START to the end.
    #[serde(default)]
    pub seconds: f64,
    /// How it ended.
    pub status: Status,
    /// Whether the last state is terminal.
    pub terminal: bool,
    /// One goal per role at the end; null where there is none.
    pub goals: Vec<Option<u32>>,
}

/// A fault of a player, in ggp-base's words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlayerError {
    /// The step, from 1; 0 is START.
    pub step: usize,
    /// The role.
    pub role: String,
    /// `TO` (too late), `CE` (no connection), `IL <move>` (illegal, or no move at all).
    pub error: String,
}

/// A role whose player lost the match by record, because it did not answer any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forfeit {
    /// The role.
    pub role: String,
    /// Whether it had answered anything before.
    pub answered: bool,
}

/// How a match ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// In a terminal state.
    Completed,
    /// A player did not answer any more, and has lost.
    Forfeited,
    /// The user stopped it.
    Stopped,
    /// A role had no move in a state that is not terminal.
    NoLegalMove,
    /// The game took more steps than allowed.
    TooManySteps,
    /// The reasoner of whoever recorded it could not answer.
    ReasonerFailed,
}

impl Status {
    /// Whether the match says something about its players: it was played to its end, or somebody lost it by
    /// record.
    pub fn is_decided(self) -> bool {
        matches!(self, Status::Completed | Status::Forfeited)
    }
}

impl Record {
    /// The layout that this program writes.
    pub const FORMAT: u32 = FORMAT;

    /// Writes the record into a folder, whole or not at all.
    ///
    /// # Errors
    /// If the folder cannot be written to.
    pub fn save(&self, folder: &Path) -> Result<PathBuf, Failure> {
        self.save_as(folder, &self.id)
    }

    /// As [`Record::save`], under a name of its own, which is that of a file without its end.
    ///
    /// # Errors
    /// If the folder cannot be written to.
    pub fn save_as(&self, folder: &Path, stem: &str) -> Result<PathBuf, Failure> {
        let text = serde_json::to_string(self).map_err(Failure::work)? + "\n";
        write_whole(folder, &format!("{stem}.json"), text.as_bytes())
    }
}

/// Makes the folder if it is not there, and makes sure that records can be written to it.
///
/// # Errors
/// If they cannot.
pub fn prepare(folder: &Path) -> Result<(), Failure> {
    // As long as a short record, so that a disk that is full is noticed.
    let path = write_whole(folder, &format!(".trial.{}", std::process::id()), &[b' '; 4096])?;
    std::fs::remove_file(path).map_err(|error| unwritable(folder, &error))
}

/// Writes a file whole or not at all, whatever kills the process or the machine meanwhile.
///
/// # Errors
/// If the folder cannot be written to.
pub fn write_whole(folder: &Path, name: &str, bytes: &[u8]) -> Result<PathBuf, Failure> {
    let path = folder.join(name);
    let unfinished = folder.join(format!("{UNFINISHED}{name}.{}", std::process::id()));
    let write = || {
        std::fs::create_dir_all(folder)?;
        let mut file = std::fs::File::create(&unfinished)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&unfinished, &path)?;
        // The new name is on the disk when its folder is.
        std::fs::File::open(folder)?.sync_all()
    };
    write().map_err(|error| {
        // Half a record helps nobody.
        let _ = std::fs::remove_file(&unfinished);
        unwritable(folder, &error)
    })?;
    Ok(path)
}

/// Whether that is the name of a file that is being written, or was when its process was killed.
pub fn is_unfinished(name: &str) -> bool {
    name.starts_with(UNFINISHED)
}

/// Removes what a process that was killed left half written. Nobody else may be writing.
///
/// # Errors
/// If the folder cannot be read or written to.
pub fn remove_unfinished(folder: &Path) -> Result<(), Failure> {
    let remove = || {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            if is_unfinished(&entry.file_name().to_string_lossy()) {
                std::fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    };
    remove().map_err(|error| unwritable(folder, &error))
}

fn unwritable(folder: &Path, error: &std::io::Error) -> Failure {
    Failure::work(error).context(folder.display()).hint("give a folder that can be written to with --records")
}
