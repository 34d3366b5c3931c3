//! One board, played by one system.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bench::games::{InRust, SameGame};
use player::failure::Failure;
use reasoner::{Interrupt, Limits, Reasoner, Session};
use search::{Budget, Options};
use serde::{Deserialize, Serialize};
use single::{Report, Searcher, System};

use crate::kept;

/// How long a line is on average, by which the time of a board is divided among its moves (Schadd et al. 2012,
/// section 6.4).
const MEAN_LENGTH: f64 = 64.4;

/// How much a system may search on a board.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effort {
    /// Seconds.
    Seconds(f64),
    /// Playouts.
    Playouts(u64),
}

impl Effort {
    /// For one of `n_parts` searches.
    fn budget(self, n_parts: f64) -> Budget {
        match self {
            Effort::Seconds(seconds) => {
                let time = Duration::from_secs_f64(seconds / n_parts);
                Budget { deadline: Some(Instant::now() + time), ..Budget::default() }
            }
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "fewer than there were"
            )]
            Effort::Playouts(playouts) => {
                let part = (playouts as f64 / n_parts).ceil().max(1.0) as u64;
                Budget { playouts: Some(part), ..Budget::default() }
            }
        }
    }
}

/// What decides a game, but for the machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Key {
    /// A name of a game of SameGame, which has its rollouts too.
    pub board: String,
    pub system: String,
    pub effort: Effort,
    /// Whether each move is searched for, in its part of the effort; otherwise the best line of one search is played.
    pub is_per_move: bool,
    pub threads: usize,
    pub seed: u64,
}

/// When a better line was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Better {
    /// Seconds of search.
    pub after: f64,
    pub points: i64,
}

/// What a game came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Played {
    pub key: Key,
    pub points: i64,
    /// The moves, by their names: the lowest block of the leftmost column, colour and size of each group.
    pub line: Vec<String>,
    pub playouts: u64,
    pub seconds: f64,
    pub found: Vec<Better>,
}

impl kept::Played for Played {
    type Key = Key;
    const NAME: &'static str = "games";

    fn key(&self) -> &Key {
        &self.key
    }
}

/// Plays a game; none if it was stopped. `progress` is told the points of the best line, several times a second.
///
/// # Errors
/// If the system cannot play it.
pub fn play(
    game: &SameGame,
    key: &Key,
    stop: &Interrupt,
    progress: &dyn Fn(i64),
) -> Result<Option<Played>, Failure> {
    let begun = Instant::now();
    let system: System = key.system.parse().map_err(Failure::usage)?;
    let reasoner = Arc::new(InRust::new(game.clone()));
    let options = Options { threads: key.threads, seed: Some(key.seed), ..Options::default() };
    let mut searcher = Searcher::new(&reasoner, system, &options).map_err(Failure::usage)?;
    let mut session = reasoner.session(Limits::default(), stop)?;
    let mut state = session.initial_state()?;
    let tell = |report: &Report| {
        if let Some(line) = &report.best {
            progress(game.points_of_goal(line.value));
        }
    };
    let n_parts = if key.is_per_move { MEAN_LENGTH } else { 1.0 };
    let (mut line, mut playouts) = (Vec::new(), 0);
    while !session.is_terminal(&state)? {
        searcher.set_root(&state);
        let searched = searcher.run(&key.effort.budget(n_parts), stop, &mut |report| tell(report));
        let report = searched.map_err(Failure::work)?;
        if stop.is_raised() {
            return Ok(None);
        }
        playouts += report.playouts;
        let moves = match (&report.best, report.a_move) {
            (_, Some(a_move)) if key.is_per_move => vec![a_move],
            (Some(best), _) if !key.is_per_move => best.moves.clone(),
            _ => {
                let why =
                    report.last_error.unwrap_or_else(|| "no line was found; give it more time".to_owned());
                return Err(Failure::work(why).context(&key.system));
            }
        };
        for a_move in moves {
            line.push(session.move_term(a_move).to_string());
            state = session.next_state(&state, &[a_move])?;
        }
    }
    let mut goals = Vec::new();
    session.goals(&state, &mut goals)?;
    let goal = goals.first().and_then(|goal| goal.at_end()).unwrap_or_default();
    let better = |found: &single::Found| Better {
        after: found.after.as_secs_f64(),
        points: game.points_of_goal(found.value),
    };
    Ok(Some(Played {
        key: key.clone(),
        points: game.points_of_goal(goal),
        line,
        playouts,
        seconds: begun.elapsed().as_secs_f64(),
        found: searcher.report().found.iter().map(better).collect(),
    }))
}
