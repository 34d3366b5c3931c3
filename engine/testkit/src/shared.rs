//! The reference data beside the repository.

use std::env;
use std::fmt::Display;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gdl::check::Verdict;
use gdl::{CaseReading, Description, ReadOptions, Rules};
use rustc_hash::FxHashMap;
use serde::de::DeserializeOwned;

/// Names the folder, in place of the one beside the repository.
const VARIABLE: &str = "DAGGERBOARD_SHARED";

/// The folder of reference data: published rulesheets and what independent implementations answer. It is
/// third-party data, so it stands beside the repository and is never copied into it.
#[derive(Debug, Clone)]
pub struct Shared {
    root: PathBuf,
}

/// Why reference data cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum SharedError {
    /// There is no such folder.
    #[error("no reference data at {}; set {VARIABLE} to its folder", .0.display())]
    Absent(PathBuf),
    /// A file cannot be read.
    #[error("cannot read {}: {error}", .path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file is not as its README says.
    #[error("{} is not as expected: {what}", .path.display())]
    Format {
        /// Which.
        path: PathBuf,
        /// Why.
        what: String,
    },
    /// A rulesheet has no meaning.
    #[error("cannot read the rules of {}: {what}", .path.display())]
    Rules {
        /// Which.
        path: PathBuf,
        /// Why.
        what: String,
    },
}

/// Says on standard error that a test is skipped, and why; a test cannot be marked as skipped otherwise.
#[allow(clippy::print_stderr, reason = "a test that checks nothing must say so")]
pub fn skip(reason: &dyn Display) {
    eprintln!("SKIPPED: {reason}");
}

impl Shared {
    /// The folder named by the environment variable `DAGGERBOARD_SHARED`, else `../shared` seen from the
    /// root of the workspace.
    ///
    /// # Errors
    /// If there is no such folder.
    pub fn find() -> Result<Shared, SharedError> {
        let root = match env::var_os(VARIABLE) {
            Some(named) => PathBuf::from(named),
            None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        };
        match fs::canonicalize(&root) {
            Ok(root) if root.join("games").is_dir() => Ok(Shared { root }),
            _ => Err(SharedError::Absent(root)),
        }
    }

    /// As [`Shared::find`], but where there is none it says so on standard error.
    pub fn find_or_skip() -> Option<Shared> {
        Shared::find().inspect_err(|error| skip(error)).ok()
    }

    /// A path in the folder.
    pub fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.root.join(relative)
    }

    /// The sorted names of the files of a folder that end with `suffix`, without it.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn names(&self, folder: &str, suffix: &str) -> Result<Vec<String>, SharedError> {
        let path = self.path(folder);
        let entries = fs::read_dir(&path).map_err(|error| SharedError::Read { path, error })?;
        let mut names: Vec<String> = entries
            .filter_map(|entry| Some(entry.ok()?.file_name().to_str()?.strip_suffix(suffix)?.to_string()))
            .collect();
        names.sort_unstable();
        Ok(names)
    }

    /// The names of the published games, sorted.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn games(&self) -> Result<Vec<String>, SharedError> {
        self.names("games", ".kif")
    }

    /// The text of a file.
    ///
    /// # Errors
    /// If it cannot be read, or is not UTF-8.
    pub fn text(&self, relative: impl AsRef<Path>) -> Result<String, SharedError> {
        let path = self.path(relative);
        fs::read_to_string(&path).map_err(|error| SharedError::Read { path, error })
    }

    /// What a JSON file holds.
    ///
    /// # Errors
    /// If it cannot be read, or holds something else.
    pub fn json<T: DeserializeOwned>(&self, relative: impl AsRef<Path>) -> Result<T, SharedError> {
        let text = self.text(&relative)?;
        serde_json::from_str(&text)
            .map_err(|error| SharedError::Format { path: self.path(relative), what: error.to_string() })
    }

    /// A rulesheet as parsed.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn description(
        &self,
        relative: impl AsRef<Path>,
        case: CaseReading,
    ) -> Result<Description, SharedError> {
        let text = self.text(&relative)?;
        Description::read(&text, ReadOptions { case })
            .map_err(|error| SharedError::Rules { path: self.path(relative), what: error.to_string() })
    }

    /// The rules of a rulesheet.
    ///
    /// # Errors
    /// If it cannot be read, or has no meaning.
    pub fn rules(&self, relative: impl AsRef<Path>, case: CaseReading) -> Result<Arc<Rules>, SharedError> {
        let description = self.description(&relative, case)?;
        Rules::from_description(&description)
            .map(Arc::new)
            .map_err(|error| SharedError::Rules { path: self.path(relative), what: error.to_string() })
    }

    /// The rules of a published game, names kept as spelled.
    ///
    /// # Errors
    /// If it cannot be read, or has no meaning.
    pub fn game(&self, name: &str) -> Result<Arc<Rules>, SharedError> {
        self.rules(format!("games/{name}.kif"), CaseReading::Exact)
    }

    /// The reference validator's verdict on each published game, by name.
    ///
    /// # Errors
    /// If the table cannot be read.
    pub fn verdicts(&self) -> Result<FxHashMap<String, Verdict>, SharedError> {
        let relative = "golden/VALIDATOR.tsv";
        let text = self.text(relative)?;
        let mut verdicts = FxHashMap::default();
        for line in text.lines().skip(1).filter(|line| !line.is_empty()) {
            let mut columns = line.split('\t');
            let file = columns.next().and_then(|file| file.strip_suffix(".kif"));
            let verdict = match columns.next() {
                Some("valid") => Some(Verdict::Valid),
                Some("warning") => Some(Verdict::Warning),
                Some("invalid") => Some(Verdict::Invalid),
                _ => None,
            };
            let (Some(file), Some(verdict)) = (file, verdict) else {
                return Err(SharedError::Format { path: self.path(relative), what: line.to_string() });
            };
            verdicts.insert(file.to_string(), verdict);
        }
        Ok(verdicts)
    }
}
