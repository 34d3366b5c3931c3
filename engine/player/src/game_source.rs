//! The game that a command line names: a path, or a shipped game.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use clap::Args;
use gdl::{CaseReading, Description, ReadOptions, Rules};
use serde::de::DeserializeOwned;

use crate::failure::Failure;
use crate::golden_text;

/// A game and how its names are read.
#[derive(Debug, Clone, Args)]
pub struct GameArgs {
    /// A rulesheet: the path of a KIF file, or the name of a shipped game (see `daggerboard games`)
    #[arg(value_name = "GAME")]
    pub game: String,
    /// How the case of its names is read.
    #[command(flatten)]
    pub reading: ReadingArgs,
}

/// These options stand below those of the command itself.
const NAMES: usize = 800;

/// How the case of names is read. Without either option the rulesheet decides.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct ReadingArgs {
    /// Names that differ only by case are one name; the spelling of the rulesheet decides if neither
    /// this nor --match-case is given
    #[arg(long, conflicts_with = "match_case", display_order = NAMES)]
    pub ignore_case: bool,
    /// Names that differ by case are different names
    #[arg(long, display_order = NAMES)]
    pub match_case: bool,
}

impl ReadingArgs {
    /// The options for the reader.
    pub fn options(self) -> ReadOptions {
        let case = match (self.ignore_case, self.match_case) {
            (true, _) => CaseReading::Ignored,
            (_, true) => CaseReading::Exact,
            _ => CaseReading::Auto,
        };
        ReadOptions { case }
    }
}

impl From<ReadOptions> for ReadingArgs {
    fn from(options: ReadOptions) -> ReadingArgs {
        ReadingArgs {
            ignore_case: options.case == CaseReading::Ignored,
            match_case: options.case == CaseReading::Exact,
        }
    }
}

/// A rulesheet that was found and read.
#[derive(Debug, Clone)]
pub struct Game {
    /// As the command line names it, or the shipped game's name.
    pub name: String,
    /// The statements as parsed.
    pub description: Description,
    /// The rules.
    pub rules: Arc<Rules>,
}

impl GameArgs {
    /// Reads the game.
    ///
    /// # Errors
    /// Wrong usage if there is no such game, failed work if its text makes no game.
    pub fn load(&self) -> Result<Game, Failure> {
        let (name, text) = find(&self.game)?;
        let described = |error: &dyn std::fmt::Display| {
            Failure::work(error).context(&name).hint(format!("`daggerboard check {}` tells more", self.game))
        };
        let description =
            Description::read(&text, self.reading.options()).map_err(|error| described(&error))?;
        let rules = Rules::from_description(&description).map_err(|error| described(&error))?;
        Ok(Game { name, description, rules: Arc::new(rules) })
    }
}

impl Game {
    /// The hash of the rulesheet's text, which tells records of different versions apart.
    pub fn rules_hash(&self) -> String {
        golden_text::hash(self.description.text())
    }
}

/// The name and the text of a game.
fn find(name: &str) -> Result<(String, String), Failure> {
    // A pipe is as good as a file.
    if std::fs::metadata(name).is_ok_and(|it| !it.is_dir()) {
        return Ok((name.to_owned(), read_text(Path::new(name))?));
    }
    if let Some(game) = games::find(name) {
        return Ok((game.name.to_owned(), game.text.to_owned()));
    }
    let similar: Vec<&str> = games::similar(name).iter().map(|game| game.name).collect();
    let hint = match similar.is_empty() {
        true => "give the path of a rulesheet, or a name that `daggerboard games` lists".to_owned(),
        false => format!("did you mean {}?", similar.join(" or ")),
    };
    Err(Failure::usage(format!("{name:?} is neither a file nor a shipped game")).hint(hint))
}

/// The longest file that is read. The largest published rulesheet has 200 kB; a device may never end.
const MAX_FILE_BYTES: u64 = 256 << 20;

/// A file as text. Bytes that are not UTF-8 become U+FFFD, so that a stray byte in a comment does no harm.
///
/// # Errors
/// If the file cannot be read, or is too long.
pub fn read_text(path: &Path) -> Result<String, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::work(error).context(path.display());
    let file = File::open(path).map_err(|error| failed(&error))?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(|error| failed(&error))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(failed(&format_args!("more than {MAX_FILE_BYTES} bytes are not read")));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A file as JSON, with or without a byte order mark. `wanted` is the hint where it is something else.
///
/// # Errors
/// If the file cannot be read, or is no JSON of that type.
pub fn read_json<T: DeserializeOwned>(path: &Path, wanted: &str) -> Result<T, Failure> {
    let text = read_text(path)?;
    serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| Failure::work(error).context(path.display()).hint(wanted))
}
