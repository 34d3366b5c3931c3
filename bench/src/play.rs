//! One game between search configurations.
//!
//! In goes a [`Key`], which fixes everything, out comes what was [`Played`]. Each seat has a searcher of its own with one
//! thread and a number of playouts for each move, so that nothing depends on time. A seat searches where it has a
//! choice, and plays the first move of the report's list. It never follows the best line that a search of a
//! single-role game has found: the papers' players know none.

use std::fmt::Display;
use std::str::FromStr;
use std::sync::Arc;

use clap::ValueEnum;
use player::brain::Brain;
use player::failure::Failure;
use reasoner::{Dice, GoalAnswer, Interrupt, Limits, Move, Reasoner, Role, Session};
use search::{Budget, Config, FinalMove, Options, Searcher};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What happens to the graph when a move was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GraphUse {
    /// It is kept, so that a search goes on with what earlier ones found.
    Kept,
    /// Each search begins with nothing.
    Anew,
}

/// Which payoffs an exploration constant is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Payoffs {
    /// 0 to 1: the constant is multiplied by the largest goal.
    Unit,
    /// Goals as they are.
    Goals,
}

/// How one role plays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Seat {
    /// Its configuration.
    #[serde(serialize_with = "to_text", deserialize_with = "from_text")]
    pub config: Config,
    /// For each move.
    pub playouts: u64,
    /// UCB1's constant.
    pub c: f64,
}

/// What identifies a game: equal keys give the same moves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Key {
    /// The game's name.
    pub game: String,
    /// The hash of its rulesheet, if it has one.
    pub rules_hash: Option<String>,
    /// The reasoner's name.
    pub reasoner: String,
    /// In role order.
    pub seats: Vec<Seat>,
    /// Which payoffs `c` is for.
    pub payoffs: Payoffs,
    /// What happens to graphs when a move was made.
    pub graph: GraphUse,
    /// What the move to play has most of.
    #[serde(serialize_with = "to_text", deserialize_with = "from_text")]
    pub final_move: FinalMove,
    /// What all random choices of the game follow from.
    pub seed: u64,
    /// Of this program.
    pub version: String,
}

/// A game that came to its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Played {
    /// Which one.
    pub key: Key,
    /// In role order.
    pub goals: Vec<u32>,
    /// Joint moves.
    pub n_moves: u64,
}

fn to_text<S: Serializer>(value: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

fn from_text<'de, D: Deserializer<'de>, T: FromStr<Err: Display>>(deserializer: D) -> Result<T, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
}

/// Plays a game; nothing comes of one that is stopped.
///
/// # Errors
/// If an option cannot be, or the reasoner fails.
pub fn play<R: Reasoner>(reasoner: &Arc<R>, key: &Key, stop: &Interrupt) -> Result<Option<Played>, Failure> {
    let mut seats: Vec<Searching<'_, R>> =
        (0u64..).zip(&key.seats).map(|(idx, seat)| Searching::new(reasoner, key, seat, idx)).collect();
    let played = play_seats(reasoner, &mut seats, stop)?;
    Ok(played.map(|(goals, n_moves)| Played { key: key.clone(), goals, n_moves }))
}

/// Plays a game between seats, in role order: the goals and the number of joint moves; nothing comes of one that is
/// stopped.
///
/// # Errors
/// If an option cannot be, or the reasoner fails.
pub fn play_seats<R: Reasoner>(
    reasoner: &Arc<R>,
    seats: &mut [Searching<'_, R>],
    stop: &Interrupt,
) -> Result<Option<(Vec<u32>, u64)>, Failure> {
    let mut session = reasoner.session(Limits::default(), &Interrupt::new())?;
    let mut state = session.initial_state()?;
    let mut n_moves = 0;
    let mut legal = Vec::new();
    while !session.is_terminal(&state)? {
        let mut joint_move = Vec::with_capacity(seats.len());
        for (role, seat) in Role::all(seats.len()).zip(&mut *seats) {
            legal.clear();
            session.legal_moves(&state, role, &mut legal)?;
            joint_move.push(match legal[..] {
                [only] => only,
                _ => seat.choose(&state, role, n_moves, stop)?,
            });
            if stop.is_raised() {
                return Ok(None);
            }
        }
        state = session.next_state(&state, &joint_move)?;
        n_moves += 1;
    }
    let mut answers = Vec::new();
    session.goals(&state, &mut answers)?;
    let goals = answers.into_iter().map(|answer| match answer {
        GoalAnswer::One(goal) => Ok(goal),
        _ => Err(Failure::work("a role has no goal, or several, at the end")),
    });
    Ok(Some((goals.collect::<Result<_, _>>()?, n_moves)))
}

/// A seat's searcher.
pub struct Searching<'a, R: Reasoner> {
    reasoner: &'a Arc<R>,
    options: Options,
    budget: Budget,
    graph: GraphUse,
    seed: u64,
    searcher: Option<Searcher<R>>,
}

impl<'a, R: Reasoner> Searching<'a, R> {
    fn new(reasoner: &'a Arc<R>, key: &Key, seat: &Seat, role_idx: u64) -> Searching<'a, R> {
        let unit = match key.payoffs {
            Payoffs::Unit => f64::from(reasoner.max_goal()),
            Payoffs::Goals => 1.0,
        };
        let options = Options {
            config: seat.config,
            final_move: Some(key.final_move),
            exploration: Some(seat.c * unit),
            threads: 1,
            // One leaf at a time and one rollout from it, as in the papers.
            batch: Some(1),
            rollouts: Some(1),
            // Nor do they prove anything.
            solver: false,
            ..Options::default()
        };
        Searching {
            reasoner,
            options,
            budget: Budget { playouts: Some(seat.playouts), ..Budget::default() },
            graph: key.graph,
            seed: Dice::child_seed(key.seed, role_idx),
            searcher: None,
        }
    }

    /// Of a player's settings, with the graph kept from move to move.
    pub fn of_brain(reasoner: &'a Arc<R>, brain: &Brain, seed: u64) -> Searching<'a, R> {
        let (options, budget) = (brain.search.clone(), brain.budget(None));
        Searching { reasoner, options, budget, graph: GraphUse::Kept, seed, searcher: None }
    }

    /// The move to play; any move if it is stopped.
    fn choose(
        &mut self,
        state: &R::State,
        role: Role,
        n_moves: u64,
        stop: &Interrupt,
    ) -> Result<Move, Failure> {
        if self.graph == GraphUse::Anew {
            self.searcher = None;
        }
        let searcher = match &mut self.searcher {
            Some(searcher) => searcher,
            none => {
                let seed = Some(Dice::child_seed(self.seed, n_moves));
                let options = Options { seed, ..self.options.clone() };
                none.insert(Searcher::new(Arc::clone(self.reasoner), options)?)
            }
        };
        searcher.set_root(state);
        let report = searcher.run(&self.budget, stop, &mut |_| ())?;
        if let Some(error) = report.errors.last {
            return Err(Failure::work(error));
        }
        if report.is_full {
            return Err(Failure::work("the graph has outgrown its memory").hint("make fewer playouts"));
        }
        let best = report.roles.get(role.idx()).and_then(|role| role.moves.first());
        best.map(|best| best.a_move).ok_or_else(|| Failure::work("the search has found no move"))
    }
}
