//! One match of a game of one role.

use std::sync::Arc;
use std::time::{Duration, Instant};

use player::failure::Failure;
use player::reasoners::{self, ReasonerKind, SetUp, Share, WithReasoner};
use reasoner::{Interrupt, Limits, Reasoner, ReasonerError, Role, Session, Value};
use search::{Budget, Options};
use serde::{Deserialize, Serialize};
use single::{Outsiders, Report, Searcher, System};

use crate::kept;
use crate::named_game::NamedGame;

/// What decides a match, but for the machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Key {
    pub game: String,
    pub system: String,
    /// Seconds.
    pub start: f64,
    /// Seconds for each move.
    pub play: f64,
    pub threads: usize,
    /// As it was asked for.
    pub reasoner: String,
    pub seed: u64,
}

/// When a better line was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Better {
    /// Seconds of search.
    pub after: f64,
    pub value: Value,
    pub by: String,
}

/// What a match came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Played {
    pub key: Key,
    /// Who answered.
    pub reasoner: String,
    /// The goal at the end; none if there was no end.
    pub value: Option<Value>,
    /// Whether it is known that no match can have more.
    pub proved: bool,
    /// Who knows it, where the value alone does not say so.
    #[serde(default)]
    pub proved_by: Option<String>,
    pub n_moves: usize,
    /// Seconds that the match took, and its set-up.
    pub seconds: f64,
    pub set_up: f64,
    pub found: Vec<Better>,
    /// Why there was no end.
    pub error: Option<String>,
}

impl kept::Played for Played {
    type Key = Key;
    const NAME: &'static str = "matches";

    fn key(&self) -> &Key {
        &self.key
    }
}

/// Grounding may take this part of the start clock.
const AUTO_PART: f64 = 0.5;

/// A match longer than this has no end: the longest published game has some thousand moves.
const MOST_MOVES: usize = 20_000;

/// Plays a match; none if it was stopped.
///
/// # Errors
/// If there is no such game, or it has not one role. What else goes wrong is in the answer.
pub fn play(key: &Key, kind: ReasonerKind, stop: &Interrupt) -> Result<Option<Played>, Failure> {
    let begun = Instant::now();
    let game = NamedGame::find(&key.game)?;
    let system: System = key.system.parse().map_err(Failure::usage)?;
    let outsiders = match &game {
        NamedGame::Rust(_) => Outsiders::default(),
        NamedGame::Rules(rules) => reasoners::outsiders(&rules.rules),
    };
    let work = Match { key, system, outsiders, stop, begun };
    let played = match &game {
        NamedGame::Rust(game) => game.with(work),
        NamedGame::Rules(rules) => {
            let time = Some(Duration::from_secs_f64(key.start * AUTO_PART));
            let share = Share { time, ..Share::PATIENT };
            let set_up = SetUp { auto: share, demanded: share, ..SetUp::until(stop) };
            match kind.with(Arc::clone(&rules.rules), &set_up, work) {
                Ok(played) => played,
                Err(error) => Ok(failed(key, begun, &error)),
            }
        }
    };
    Ok(Some(played?).filter(|_| !stop.is_raised()))
}

fn failed(key: &Key, begun: Instant, error: &ReasonerError) -> Played {
    Played {
        key: key.clone(),
        reasoner: key.reasoner.clone(),
        value: None,
        proved: false,
        proved_by: None,
        n_moves: 0,
        seconds: begun.elapsed().as_secs_f64(),
        set_up: begun.elapsed().as_secs_f64(),
        found: Vec::new(),
        error: Some(error.to_string()),
    }
}

struct Match<'a> {
    key: &'a Key,
    system: System,
    outsiders: Outsiders,
    stop: &'a Interrupt,
    begun: Instant,
}

impl WithReasoner for Match<'_> {
    type Output = Result<Played, Failure>;

    fn run<R: Reasoner>(self, reasoner: Arc<R>) -> Result<Played, Failure> {
        let Match { key, system, begun, .. } = self;
        let options = Options { threads: key.threads, seed: Some(key.seed), ..Options::default() };
        let mut searcher = Searcher::with_outsiders(&reasoner, system, &options, &self.outsiders)
            .map_err(|error| Failure::usage(error).context(&key.game))?;
        let set_up = begun.elapsed().as_secs_f64();
        let mut played = match self.play_on(&reasoner, &mut searcher) {
            Ok(played) => played,
            Err(error) => failed(key, begun, &error),
        };
        played.reasoner = reasoner.name().to_owned();
        played.set_up = set_up;
        Ok(played)
    }
}

impl Match<'_> {
    /// Plays to the end.
    fn play_on<R: Reasoner>(
        &self,
        reasoner: &Arc<R>,
        searcher: &mut Searcher<R>,
    ) -> Result<Played, ReasonerError> {
        let mut session = reasoner.session(Limits::default(), self.stop)?;
        let mut state = session.initial_state()?;
        let mut n_moves = 0;
        let mut is_proved_at_start = false;
        let mut proved_by = None;
        let mut legal = Vec::new();
        while !session.is_terminal(&state)? && n_moves < MOST_MOVES && !self.stop.is_raised() {
            legal.clear();
            session.legal_moves(&state, Role(0), &mut legal)?;
            let first = *legal.first().ok_or_else(|| ReasonerError::NotPlayable { role: "0".to_owned() })?;
            searcher.set_root(&state);
            if n_moves == 0 {
                let deadline = self.begun + Duration::from_secs_f64(self.key.start);
                is_proved_at_start = self.search(searcher, deadline)?.proved;
            }
            let deadline = Instant::now() + Duration::from_secs_f64(self.key.play);
            let is_searched = legal.len() > 1 && self.key.play > 0.0;
            let report = if is_searched { self.search(searcher, deadline)? } else { searcher.report() };
            if n_moves == 0 {
                is_proved_at_start |= report.proved;
                proved_by = report.proved_by;
            }
            let a_move = report.a_move.filter(|a_move| legal.contains(a_move)).unwrap_or(first);
            state = session.next_state(&state, &[a_move])?;
            n_moves += 1;
        }
        let mut goals = Vec::new();
        session.goals(&state, &mut goals)?;
        let is_over = session.is_terminal(&state)?;
        let value = goals.first().and_then(|goal| goal.at_end()).filter(|_| is_over);
        Ok(Played {
            value,
            proved: value.is_some_and(|value| is_proved_at_start || value >= reasoner.max_goal()),
            proved_by: proved_by.filter(|_| is_proved_at_start),
            n_moves,
            found: searcher.report().found.iter().map(better).collect(),
            error: (!is_over).then(|| "the match has no end".to_owned()),
            ..failed(self.key, self.begun, &ReasonerError::Interrupted)
        })
    }

    fn search<R: Reasoner>(
        &self,
        searcher: &mut Searcher<R>,
        deadline: Instant,
    ) -> Result<Report, ReasonerError> {
        let budget = Budget { deadline: Some(deadline), ..Budget::default() };
        let searched = searcher.run(&budget, self.stop, &mut |_| {});
        searched.map_err(|error| ReasonerError::Engine(error.to_string()))
    }
}

fn better(found: &single::Found) -> Better {
    Better { after: found.after.as_secs_f64(), value: found.value, by: found.by.clone() }
}
