//! The position that a command starts from: the initial state, or one read from a file.

use std::path::{Path, PathBuf};

use clap::Args;
use gdl::Term;
use reasoner::Session;

use crate::failure::Failure;
use crate::game_source::read_json;

/// Where to start.
#[derive(Debug, Clone, Args)]
pub struct PositionArgs {
    /// A JSON list of facts as KIF texts, in place of the initial state
    #[arg(long, value_name = "FILE")]
    pub state: Option<PathBuf>,
}

impl PositionArgs {
    /// Reads the position.
    ///
    /// # Errors
    /// If the file is no list of facts.
    pub fn read(&self) -> Result<Position, Failure> {
        let facts = self.state.as_deref().map(read_facts).transpose()?;
        Ok(Position { path: self.state.clone().unwrap_or_default(), facts })
    }
}

/// A position that was read.
#[derive(Debug, Clone)]
pub struct Position {
    path: PathBuf,
    /// Its facts; the initial state if there are none.
    pub facts: Option<Vec<Term>>,
}

impl Position {
    /// The state to start from.
    ///
    /// # Errors
    /// If the facts are none of this game.
    pub fn load<S: Session>(&self, session: &mut S) -> Result<S::State, Failure> {
        match &self.facts {
            None => Ok(session.initial_state()?),
            Some(facts) => {
                session.state_of(facts).map_err(|error| Failure::from(error).context(self.path.display()))
            }
        }
    }
}

fn read_facts(path: &Path) -> Result<Vec<Term>, Failure> {
    let wanted = "a JSON list of facts is wanted, such as [\"(cell 1 1 b)\", \"(control white)\"]";
    let failed = |error: &dyn std::fmt::Display| Failure::work(error).context(path.display()).hint(wanted);
    let texts: Vec<String> = read_json(path, wanted)?;
    texts.iter().map(|text| Term::parse(text).map_err(|error| failed(&error))).collect()
}
