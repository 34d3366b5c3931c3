//! Games that are played one after the other, since each takes all cores it is given, and kept in a file as they come.

use std::path::Path;

use indicatif::ProgressBar;
use player::brain::split_outside_parentheses;
use player::failure::Failure;
use player::output;
use reasoner::Interrupt;
use serde::Serialize;
use serde::de::DeserializeOwned;
use single::System;

use crate::journal::Journal;
use crate::progress;

/// Systems of a command line.
pub type SystemList = std::sync::Arc<[System]>;

/// Reads systems that commas separate which are not within parentheses.
///
/// # Errors
/// If one is none; the text tells which.
pub fn systems(text: &str) -> Result<SystemList, String> {
    let system = |name: &str| name.trim().parse().map_err(|error: single::SystemError| error.to_string());
    split_outside_parentheses(text).map(system).collect()
}

/// A game that was played, and what it was.
pub trait Played: Clone + Serialize + DeserializeOwned {
    /// What tells it from all others.
    type Key: PartialEq;
    /// What such games are called, many of them.
    const NAME: &'static str;

    /// What tells this one from all others.
    fn key(&self) -> &Self::Key;
}

/// Games that were played.
#[derive(Debug)]
pub struct Games<P> {
    /// Those that were asked for, in that order, as far as they were played.
    pub wanted: Vec<P>,
    /// Those in the file too.
    pub all: Vec<P>,
}

/// Plays the games with these keys that are not in the file, and adds them to it; `describe` tells what one is called.
/// `play` gives none if it was stopped.
///
/// # Errors
/// If a game cannot be played, or not be kept.
pub fn play_all<T, P: Played>(
    tasks: &[(P::Key, T)],
    file: Option<&Path>,
    stop: &Interrupt,
    describe: impl Fn(&P::Key) -> String,
    mut play: impl FnMut(&P::Key, &T, &ProgressBar) -> Result<Option<P>, Failure>,
) -> Result<Games<P>, Failure> {
    let in_file = |error: std::io::Error| {
        let failure = Failure::work(error);
        file.map_or(failure.clone(), |path| failure.context(path.display()))
    };
    let mut journal = file.map(Journal::<P>::open).transpose().map_err(in_file)?;
    if let (Some(Journal { n_unreadable: n @ 1.., .. }), Some(path)) = (&journal, file) {
        output::progress(format_args!("{n} lines of {} are no {}", path.display(), P::NAME));
    }
    let bar = progress::bar(tasks.len());
    let mut wanted = Vec::new();
    for (key, task) in tasks {
        bar.set_message(describe(key));
        let known = journal.as_ref().and_then(|it| it.entries.iter().find(|played| played.key() == key));
        let played = match known {
            Some(played) => played.clone(),
            None if stop.is_raised() => break,
            None => {
                let Some(played) = play(key, task, &bar)? else { break };
                if let Some(journal) = &mut journal {
                    journal.push(played.clone()).map_err(in_file)?;
                }
                played
            }
        };
        wanted.push(played);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let all = journal.map_or_else(|| wanted.clone(), |journal| journal.entries);
    Ok(Games { wanted, all })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    struct Square {
        root: u64,
        square: u64,
    }

    impl Played for Square {
        type Key = u64;
        const NAME: &'static str = "squares";

        fn key(&self) -> &u64 {
            &self.root
        }
    }

    #[test]
    fn what_the_file_has_is_not_played_again_and_a_stop_keeps_what_was_played() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("squares.jsonl");
        let tasks = [(3, ()), (1, ()), (2, ())];
        let stop = Interrupt::new();
        let mut played = Vec::new();
        let mut run = |n_before_stop: usize| {
            let describe = |root: &u64| root.to_string();
            let play = |&root: &u64, (): &(), _: &ProgressBar| {
                played.push(root);
                Ok((played.len() <= n_before_stop).then_some(Square { root, square: root * root }))
            };
            let games: Games<Square> = play_all(&tasks, Some(&path), &stop, describe, play).unwrap();
            let squares = |squares: Vec<Square>| squares.iter().map(|it| it.square).collect::<Vec<_>>();
            (squares(games.wanted), squares(games.all))
        };
        assert_eq!(run(1), (vec![9], vec![9]));
        assert_eq!(run(9), (vec![9, 1, 4], vec![9, 1, 4]));
        assert_eq!(run(9), (vec![9, 1, 4], vec![9, 1, 4]));
        assert_eq!(played, [3, 1, 1, 2]);
        stop.raise();
        let never = |_: &u64, (): &(), _: &ProgressBar| unreachable!("all are known, or it is stopped");
        let games: Games<Square> =
            play_all(&[(2, ()), (7, ())], Some(&path), &stop, u64::to_string, never).unwrap();
        assert_eq!((games.wanted.len(), games.all.len()), (1, 3));
    }

    #[test]
    fn commas_within_parentheses_separate_no_systems() {
        let names = |text| systems(text).map(|list| list.iter().map(System::to_string).collect::<Vec<_>>());
        assert_eq!(
            names("uct, nrpa(2,n=5),ucd(1,0,1)"),
            Ok(vec!["uct".to_owned(), "nrpa(2,n=5,alpha=1,p=1)".to_owned(), "ucd(1,0,1)".to_owned()])
        );
        assert!(names("uct,magic").is_err_and(|error| error.contains("\"magic\"")));
    }
}
