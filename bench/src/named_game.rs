//! The game that a command line names: one written in Rust, or a rulesheet.

use bench::games::{self, GameNameError, RustGame};
use player::failure::Failure;
use player::game_source::{Game, GameArgs};
use player::reasoners::{ReasonerKind, SetUp, WithReasoner};
use reasoner::Interrupt;

/// A game that was found.
#[derive(Debug)]
pub enum NamedGame {
    /// Written in Rust, which is its own reasoner.
    Rust(RustGame),
    /// A rulesheet, which needs one.
    Rules(Box<Game>),
}

impl NamedGame {
    /// The game of a name: of one written in Rust, of a shipped game, or the path of a rulesheet.
    ///
    /// # Errors
    /// Wrong usage if there is no such game, failed work if a rulesheet makes no game.
    pub fn find(name: &str) -> Result<NamedGame, Failure> {
        match name.parse() {
            Ok(game) => Ok(NamedGame::Rust(game)),
            Err(GameNameError::Game(_)) => {
                let game = GameArgs { game: name.to_owned(), reading: Default::default() }.load();
                Ok(NamedGame::Rules(Box::new(game.map_err(with_forms)?)))
            }
            Err(error) => Err(Failure::usage(error)),
        }
    }

    /// Its name.
    pub fn name(&self) -> String {
        match self {
            NamedGame::Rust(game) => game.to_string(),
            NamedGame::Rules(game) => game.name.clone(),
        }
    }

    /// The hash of a rulesheet's text.
    pub fn rules_hash(&self) -> Option<String> {
        match self {
            NamedGame::Rust(_) => None,
            NamedGame::Rules(game) => Some(game.rules_hash()),
        }
    }

    /// Does some work with the game's own reasoner, or with one of this kind.
    ///
    /// # Errors
    /// If the reasoner cannot take the rules.
    pub fn with<W: WithReasoner>(
        &self,
        kind: ReasonerKind,
        stop: &Interrupt,
        work: W,
    ) -> Result<W::Output, Failure> {
        match self {
            NamedGame::Rust(game) => Ok(game.with(work)),
            NamedGame::Rules(game) => Ok(kind.with(game.rules.clone(), &SetUp::until(stop), work)?),
        }
    }
}

fn with_forms(failure: Failure) -> Failure {
    let hint = failure.parts().1.map_or_else(String::new, |hint| format!("{hint}; "));
    let hint = format!("{hint}games written in Rust are {}", games::FORMS);
    failure.hint(hint)
}
