//! Names of games, such as `go:9,komi=6.5`: read and taken apart.

use std::ops::RangeInclusive;

/// Why a name stands for no game.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GameNameError {
    /// No such game.
    #[error(
        "{0:?} is no game that is written in Rust; use leftright, hex, go, samegame or spine, as in hex:5 or go:9,komi=6.5"
    )]
    Game(String),
    /// A size or the value of a parameter that cannot be.
    #[error("{word:?} is no {what}; give {hint}")]
    Value {
        /// The offending word.
        word: String,
        /// What it should be.
        what: String,
        /// What can be given.
        hint: String,
    },
    /// The game has no such parameter.
    #[error("{game} has no parameter {word:?}; it has {known}")]
    Parameter {
        /// The offending word.
        word: String,
        /// The game.
        game: String,
        /// The parameters it has.
        known: String,
    },
    /// There is no such board.
    #[error("cannot read a board of {path}: {what}")]
    Boards {
        /// The file.
        path: String,
        /// Why not.
        what: String,
    },
    /// A parameter is given again.
    #[error("{0:?} is given twice; give it once")]
    Twice(String),
}

/// A game's name taken apart: `go:9,komi=6.5` is the game `go`, the size 9 and the parameter `komi`.
#[derive(Debug)]
pub struct Parameters<'a> {
    /// What stands before the colon.
    pub game: &'a str,
    size: Option<&'a str>,
    named: Vec<(&'a str, &'a str)>,
}

impl<'a> Parameters<'a> {
    /// Takes a name apart: after the game a colon, then a size, parameters or both, with commas between.
    ///
    /// # Errors
    /// If a parameter is given twice.
    pub fn read(name: &'a str) -> Result<Parameters<'a>, GameNameError> {
        let (game, rest) = name.split_once(':').map_or((name, None), |(game, rest)| (game, Some(rest)));
        let mut parameters = Parameters { game, size: None, named: Vec::new() };
        for word in rest.iter().flat_map(|rest| rest.split(',')) {
            match word.split_once('=') {
                Some((key, _)) if parameters.value(key).is_some() => {
                    return Err(GameNameError::Twice(key.to_owned()));
                }
                Some(named) => parameters.named.push(named),
                None if parameters.size.is_some() => return Err(GameNameError::Twice("size".to_owned())),
                None => parameters.size = Some(word),
            }
        }
        Ok(parameters)
    }

    /// Demands that all parameters but the size are among `known`.
    ///
    /// # Errors
    /// If one is not.
    pub fn only(&self, known: &[&str]) -> Result<(), GameNameError> {
        match self.named.iter().find(|(key, _)| !known.contains(key)) {
            None => Ok(()),
            Some((key, _)) => Err(GameNameError::Parameter {
                word: (*key).to_owned(),
                game: self.game.to_owned(),
                known: if known.is_empty() { "only a size".to_owned() } else { known.join(", ") },
            }),
        }
    }

    /// The size, or `default` if the name has none.
    ///
    /// # Errors
    /// If it is no number of `range`.
    pub fn size(&self, default: u16, range: RangeInclusive<u16>) -> Result<u16, GameNameError> {
        self.size.map_or(Ok(default), |word| self.number(word, "size", &range))
    }

    /// The whole number that a parameter has, if it is there.
    ///
    /// # Errors
    /// If it is no number of `range`.
    pub fn whole(&self, key: &str, range: RangeInclusive<u16>) -> Result<Option<u16>, GameNameError> {
        self.value(key).map(|word| self.number(word, key, &range)).transpose()
    }

    fn number(&self, word: &str, what: &str, range: &RangeInclusive<u16>) -> Result<u16, GameNameError> {
        let hint = || format!("a whole number from {} to {}", range.start(), range.end());
        word.parse().ok().filter(|n| range.contains(n)).ok_or_else(|| self.wrong(word, what, &hint()))
    }

    /// The text of a parameter, if it is there.
    pub fn value(&self, key: &str) -> Option<&'a str> {
        self.named.iter().find(|(known, _)| *known == key).map(|&(_, value)| value)
    }

    /// The error of a word that is not `what` it should be.
    pub fn wrong(&self, word: &str, what: &str, hint: &str) -> GameNameError {
        let what = format!("{what} of {}", self.game);
        GameNameError::Value { word: word.to_owned(), what, hint: hint.to_owned() }
    }
}
