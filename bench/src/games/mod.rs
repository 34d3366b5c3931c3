//! Games written in Rust, behind the traits of the reasoners: what the papers measure and no rulesheet can be fast at.
//!
//! In goes a name ([`RustGame`]: `leftright:300`, `hex:5,stone=b2`, `samegame:15,seed=7`), out comes a call of a
//! [`WithReasoner`] with the game's reasoner, so that whatever is generic over reasoners runs on these games too:
//! sessions, rollouts, searches. [`InRust`] makes a reasoner of any [`Game`], which is its rules as functions.
//!
//! Every rollout is played move by move on a board that is kept from move to move, by the same code whatever the policy:
//! with the same seed, batches, series and [`Session::rollout_with`](reasoner::Session::rollout_with) play the same moves.
//!
//! What it deliberately does not do: search, or know patterns, openings or any other way to play well.

mod choices;
mod game;
mod go;
mod grid;
mod hex;
mod left_right;
mod name;
mod same_game;
mod spine;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use player::reasoners::WithReasoner;

pub use choices::Choices;
pub use game::{FluentParts, Game, InRust, InRustSession};
pub use go::{Go, GoState, PASS};
pub use grid::NOOP;
pub use hex::{Hex, HexState};
pub use left_right::{LEFT, LeftRight, LeftRightState, RIGHT};
pub use name::GameNameError;
pub use same_game::{SameGame, SameGameState, Tabu};
pub use spine::{Spine, SpineState};

/// The forms of the names, for help texts and messages.
pub const FORMS: &str = "leftright:STEPS, hex:SIZE,stone=POINT, go:SIZE,komi=POINTS,limit=MOVES, samegame:SIDE,board=NUMBER,file=FILE or \
     samegame:SIDE,colours=N,seed=N, both with rollouts=POLICY,epsilon=E, and spine:WIDTH,depth=N, all but the game optional";

/// The games by the names that command lines know.
#[derive(Debug, Clone, PartialEq)]
pub enum RustGame {
    /// `leftright`, `leftright:300`.
    LeftRight(LeftRight),
    /// `hex`, `hex:5`, `hex:5,stone=b2`.
    Hex(Hex),
    /// `go`, `go:9`, `go:9,komi=6.5`, `go:6,komi=5.5,limit=200`.
    Go(Go),
    /// `samegame:15,board=3`, `samegame:15,seed=7`, `samegame:10,colours=4,seed=7,rollouts=random`.
    SameGame(SameGame),
    /// `spine:8,depth=16`.
    Spine(Spine),
}

impl RustGame {
    /// Does some work with the game's reasoner.
    pub fn with<W: WithReasoner>(&self, work: W) -> W::Output {
        match self {
            RustGame::LeftRight(game) => work.run(Arc::new(InRust::new(*game))),
            RustGame::Hex(game) => work.run(Arc::new(InRust::new(*game))),
            RustGame::Go(game) => work.run(Arc::new(InRust::new(*game))),
            RustGame::SameGame(game) => work.run(Arc::new(InRust::new(game.clone()))),
            RustGame::Spine(game) => work.run(Arc::new(InRust::new(*game))),
        }
    }
}

impl FromStr for RustGame {
    type Err = GameNameError;

    fn from_str(name: &str) -> Result<RustGame, GameNameError> {
        let parameters = name::Parameters::read(name)?;
        match parameters.game {
            "leftright" => LeftRight::from_parameters(&parameters).map(RustGame::LeftRight),
            "hex" => Hex::from_parameters(&parameters).map(RustGame::Hex),
            "go" => Go::from_parameters(&parameters).map(RustGame::Go),
            "samegame" => SameGame::from_parameters(&parameters).map(RustGame::SameGame),
            "spine" => Spine::from_parameters(&parameters).map(RustGame::Spine),
            other => Err(GameNameError::Game(other.to_owned())),
        }
    }
}

impl fmt::Display for RustGame {
    /// The name with what it leaves out, which is the same game.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RustGame::LeftRight(game) => game.fmt(f),
            RustGame::Hex(game) => game.fmt(f),
            RustGame::Go(game) => game.fmt(f),
            RustGame::SameGame(game) => game.fmt(f),
            RustGame::Spine(game) => game.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str) -> String {
        match name.parse::<RustGame>() {
            Ok(game) => game.to_string(),
            Err(error) => format!("error: {error}"),
        }
    }

    #[test]
    fn names_give_games_and_back() {
        for (name, whole) in [
            ("leftright", "leftright:300"),
            ("leftright:20000", "leftright:20000"),
            ("hex", "hex:11"),
            ("hex:5", "hex:5"),
            ("hex:5,stone=b2", "hex:5,stone=b2"),
            ("hex:stone=k11", "hex:11,stone=k11"),
            ("go", "go:9,komi=7.5"),
            ("go:9,komi=6.5", "go:9,komi=6.5"),
            ("go:6,limit=200,komi=-5", "go:6,komi=-5,limit=200"),
            ("go:komi=0", "go:9,komi=0"),
            ("samegame", "samegame:15,seed=1"),
            ("samegame:8,seed=7,colours=5", "samegame:8,seed=7"),
            ("samegame:8,colours=3,rollouts=random", "samegame:8,colours=3,seed=1,rollouts=random"),
            ("samegame:epsilon=0.00007", "samegame:15,seed=1,epsilon=0.00007"),
            ("samegame:rollouts=tabucolorrandom,epsilon=0.003", "samegame:15,seed=1"),
            ("spine", "spine:8,depth=16"),
            ("spine:depth=3", "spine:8,depth=3"),
        ] {
            assert_eq!(read(name), whole);
            assert_eq!(read(whole), whole);
            assert_eq!(name.parse::<RustGame>(), whole.parse::<RustGame>());
        }
    }

    #[test]
    fn a_wrong_name_is_told_with_the_word_and_what_to_give() {
        for (name, word, hint) in [
            ("", "\"\" is no game", "leftright, hex, go, samegame or spine"),
            ("chess", "\"chess\" is no game", "hex:5"),
            ("Go:9", "\"Go\" is no game", "go:9"),
            ("go:", "\"\" is no size of go", "from 2 to 19"),
            ("go:20", "\"20\" is no size of go", "from 2 to 19"),
            ("hex:1", "\"1\" is no size of hex", "from 2 to 19"),
            ("hex:5.0", "\"5.0\" is no size", "a whole number"),
            ("leftright:0", "\"0\" is no size of leftright", "from 1 to 20000"),
            ("leftright:99999999999999999999", "is no size of leftright", "from 1 to 20000"),
            ("leftright:3,komi=1", "leftright has no parameter \"komi\"", "only a size"),
            ("hex:5,komi=1", "hex has no parameter \"komi\"", "stone"),
            ("hex:5,stone=f1", "\"f1\" is no stone of hex", "a1 to e5"),
            ("go:9,komi=6.3", "\"6.3\" is no komi of go", "as in komi=6.5"),
            ("go:9,komi=nan", "\"nan\" is no komi", "halves"),
            ("go:9,komi=inf", "\"inf\" is no komi", "halves"),
            ("go:9,komi=1e9", "\"1e9\" is no komi", "at most 361"),
            ("go:9,limit=0", "\"0\" is no limit of go", "from 1 to 20000"),
            ("go:9,limit=5,limit=6", "\"limit\" is given twice", "once"),
            ("samegame:16", "\"16\" is no size of samegame", "from 2 to 15"),
            ("samegame:colours=6", "\"6\" is no colours of samegame", "from 2 to 5"),
            ("samegame:rollouts=tabu", "\"tabu\" is no rollouts of samegame", "tabucolorrandom"),
            ("samegame:epsilon=1.5", "\"1.5\" is no epsilon", "a probability"),
            ("samegame:epsilon=nan", "\"nan\" is no epsilon", "a probability"),
            ("samegame:board=0", "\"0\" is no board of samegame", "from 1 to"),
            ("samegame:board=1,seed=2", "\"2\" is no seed of samegame", "either board or seed"),
            ("samegame:board=1,colours=2", "\"2\" is no colours of samegame", "no colours"),
            ("samegame:file=there", "\"there\" is no file of samegame", "board=NUMBER"),
            ("samegame:board=1,file=/no/such/file", "cannot read a board of /no/such/file", "No such file"),
            ("spine:1", "\"1\" is no size of spine", "from 2 to 256"),
            ("spine:depth=0", "\"0\" is no depth of spine", "from 1 to 4096"),
            ("go:9,9", "\"size\" is given twice", "once"),
            ("go:9,,komi=1", "\"size\" is given twice", "once"),
        ] {
            let error = read(name);
            assert!(
                error.starts_with("error: ") && error.contains(word) && error.contains(hint),
                "{name}: {error}"
            );
        }
    }
}
