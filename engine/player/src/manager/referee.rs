//! Plays one match by the clock, replacing late and illegal moves as ggp-base does.
//!
//! In go players and a reasoner of the manager's own, out comes a record. Players are asked at once, each on
//! a thread of its own; a user who stops the match does not wait for them.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use gdl::Term;
use reasoner::{Dice, Expansion, Interrupt, Limits, Move, Reasoner, ReasonerError, Role, Session};
use tracing::info_span;

use super::contact::Contact;
use super::opening::{self, Opening};
use super::record::{Forfeit, PlayerError, Record, Status};
use crate::failure::Failure;
use crate::game_source::Game;
use crate::golden_text;
use crate::moves::{Found, find_legal};
use crate::output;
use crate::protocol::client::AskError;
use crate::protocol::message::shortened;

/// What ggp-base allows for the answer to ABORT.
const ABORT_TIME: Duration = Duration::from_secs(1);
/// How often a stop by the user is looked for while players think.
const POLL: Duration = Duration::from_millis(50);

/// The clocks and limits of a match.
#[derive(Debug, Clone, Copy)]
pub struct Terms {
    /// Time for START.
    pub start_clock: Duration,
    /// Time for PLAY.
    pub play_clock: Duration,
    /// What is added to the play clock before an answer counts as late.
    pub grace: Duration,
    /// Where a match is given up.
    pub max_steps: usize,
    /// After how many turns in a row without any answer a player has lost; if there is no such number, it is
    /// played for to the end.
    pub forfeit_after: Option<usize>,
    /// Whether every step is reported while it is played.
    pub live: bool,
}

/// A player at a role.
#[derive(Debug, Clone)]
pub struct Seated {
    /// What the record says of it.
    pub name: String,
    /// How to reach it.
    pub contact: Contact,
    /// Whether it is a process on this machine whose connection fails only if it is dead, so that it has lost
    /// with the first connection that fails.
    pub is_process: bool,
}

/// One match.
#[derive(Debug)]
pub struct Match<'a> {
    /// The match id.
    pub id: String,
    /// The game.
    pub game: &'a Game,
    /// One player per role.
    pub players: &'a [Seated],
    /// The clocks.
    pub terms: Terms,
    /// How it begins.
    pub opening: Opening,
    /// What the manager's random choices follow from.
    pub seed: u64,
    /// Raised when the user wants to stop.
    pub stop: &'a Interrupt,
}

/// For each role, what is known of its silence.
struct Silence {
    /// Turns in a row without an answer.
    in_a_row: Vec<usize>,
    /// Whether it ever answered.
    answered: Vec<bool>,
}

/// A player's answer and the time it took.
type Reply = (Result<String, AskError>, Duration);

impl Match<'_> {
    /// Plays it. Where the manager's own reasoner fails, the record ends.
    ///
    /// # Errors
    /// If that reasoner gives no session.
    pub fn play<R: Reasoner>(&self, reasoner: &Arc<R>) -> Result<Record, Failure> {
        let _span = info_span!("referee", id = self.id).entered();
        let mut session = reasoner.session(Limits::default(), self.stop)?;
        let mut record = self.record(reasoner);
        let begun = Instant::now();
        match self.play_steps(&mut session, &mut record) {
            Ok(()) => {}
            Err(ReasonerError::Interrupted) => record.status = Status::Stopped,
            Err(error) => {
                tracing::warn!(id = self.id, %error, "the match cannot go on");
                record.status = Status::ReasonerFailed;
            }
        }
        record.seconds = begun.elapsed().as_secs_f64();
        record.thought_with = self.players.iter().map(|player| player.contact.reasoners()).collect();
        if record.status == Status::Completed {
            let last = joint_text(record.moves.last().map(Vec::as_slice));
            self.tell_all(|_| format!("( STOP {} {last} )", self.id), self.terms.play_clock.max(ABORT_TIME));
        } else {
            self.tell_all(|_| format!("( ABORT {} )", self.id), ABORT_TIME);
        }
        Ok(record)
    }

    fn record<R: Reasoner>(&self, reasoner: &Arc<R>) -> Record {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Record {
            format: Record::FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            id: self.id.clone(),
            game: self.game.name.clone(),
            rules_hash: self.game.rules_hash(),
            started_ms: u64::try_from(since_1970.as_millis()).unwrap_or(u64::MAX),
            reasoner: reasoner.name().to_owned(),
            roles: reasoner.roles().iter().map(Term::to_string).collect(),
            players: self.players.iter().map(|player| player.name.clone()).collect(),
            thought_with: Vec::new(),
            seed: self.seed,
            start_clock: self.terms.start_clock.as_secs_f64(),
            play_clock: self.terms.play_clock.as_secs_f64(),
            opening_plies: 0,
            moves: Vec::new(),
            times: Vec::new(),
            state_hashes: Vec::new(),
            errors: Vec::new(),
            forfeits: Vec::new(),
            seconds: 0.0,
            status: Status::Completed,
            terminal: false,
            goals: vec![None; reasoner.n_roles()],
        }
    }

    fn play_steps<S: Session>(&self, session: &mut S, record: &mut Record) -> Result<(), ReasonerError> {
        let mut dice = Dice::new(self.seed);
        let mut state = session.initial_state()?;
        for joint_move in self.opening.draw(session)? {
            state = self.play_opening_move(session, &state, &joint_move, record)?;
        }
        let begin = (record.opening_plies > 0).then_some(&state);
        let rules = opening::rules_from(self.game, session, begin);
        let mut silence =
            Silence { in_a_row: vec![0; self.players.len()], answered: vec![false; self.players.len()] };
        self.start(session, &rules, &mut silence, record)?;
        let mut expansion = Expansion::default();
        loop {
            if !record.forfeits.is_empty() {
                record.status = Status::Forfeited;
                return Ok(());
            }
            record.state_hashes.push(golden_text::state_hash(&golden_text::facts(session, &state)));
            match session.expand(&state, &mut expansion) {
                Err(ReasonerError::NotPlayable { .. }) => {
                    record.status = Status::NoLegalMove;
                    return Ok(());
                }
                answer => answer?,
            }
            if expansion.terminal {
                record.terminal = true;
                record.goals = expansion.goals.iter().map(|goal| goal.at_end()).collect();
                return Ok(());
            }
            if record.moves.len() >= self.terms.max_steps {
                record.status = Status::TooManySteps;
                return Ok(());
            }
            let joint_move = self.step(session, &expansion, &mut dice, &mut silence, record)?;
            // A match that is lost by record ends before the move that was not made.
            if record.forfeits.is_empty() {
                state = session.next_state(&state, &joint_move)?;
            }
        }
    }

    fn play_opening_move<S: Session>(
        &self,
        session: &mut S,
        state: &S::State,
        joint_move: &[Move],
        record: &mut Record,
    ) -> Result<S::State, ReasonerError> {
        record.state_hashes.push(golden_text::state_hash(&golden_text::facts(session, state)));
        record.moves.push(joint_move.iter().map(|&a_move| session.move_term(a_move).to_string()).collect());
        record.times.push(vec![None; joint_move.len()]);
        record.opening_plies += 1;
        session.next_state(state, joint_move)
    }

    fn start<S: Session>(
        &self,
        session: &S,
        rules: &str,
        silence: &mut Silence,
        record: &mut Record,
    ) -> Result<(), ReasonerError> {
        let roles = session.roles();
        // Whole seconds, as every player reads them.
        let seconds = |clock: Duration| clock.as_secs().max(1);
        let replies = self.ask_all(
            |role_idx| {
                let (start, play) = (seconds(self.terms.start_clock), seconds(self.terms.play_clock));
                format!("( START {} {} ({rules} ) {start} {play})", self.id, roles[role_idx])
            },
            self.terms.start_clock,
        )?;
        self.listen(&replies, silence, record);
        for (role_idx, reply) in replies.into_iter().enumerate() {
            let error = match reply {
                Some((Err(error), _)) => Some(code(&error)),
                Some((Ok(text), _)) if !text.eq_ignore_ascii_case("ready") => {
                    Some(format!("IL {}", shortened(&text)))
                }
                _ => None,
            };
            let role = roles[role_idx].to_string();
            record.errors.extend(error.map(|error| PlayerError { step: 0, role, error }));
        }
        Ok(())
    }

    /// Asks every player for a move and settles what is played.
    fn step<S: Session>(
        &self,
        session: &mut S,
        expansion: &Expansion,
        dice: &mut Dice,
        silence: &mut Silence,
        record: &mut Record,
    ) -> Result<Vec<Move>, ReasonerError> {
        // What came before the rules' initial state is not reported.
        let last = joint_text(record.moves[record.opening_plies..].last().map(Vec::as_slice));
        let time = self.terms.play_clock + self.terms.grace;
        let mut replies = self.ask_all(|_| format!("( PLAY {} {last} )", self.id), time)?;
        self.listen(&replies, silence, record);
        let step = record.moves.len() + 1;
        let (mut joint_move, mut texts, mut times) = (Vec::new(), Vec::new(), Vec::new());
        for role in Role::all(self.players.len()) {
            let legal = expansion.moves_of(role);
            let reply = replies[role.idx()].take();
            times.push(reply.as_ref().map(|(_, taken)| taken.as_secs_f64()));
            let (a_move, error) = match reply {
                Some((answer, _)) => judge(session, legal, answer),
                None => (self.own_choice(session, role, legal, dice), None),
            };
            // ggp-base plays a random legal move in place of one that is missing.
            let a_move = a_move.unwrap_or_else(|| legal[dice.below(legal.len())]);
            let role = session.roles()[role.idx()].to_string();
            record.errors.extend(error.map(|error| PlayerError { step, role, error }));
            texts.push(session.move_term(a_move).to_string());
            joint_move.push(a_move);
        }
        if self.terms.live {
            self.report_step(step, &texts, &times, record);
        }
        if !record.forfeits.is_empty() {
            return Ok(joint_move);
        }
        record.moves.push(texts);
        record.times.push(times);
        Ok(joint_move)
    }

    /// Counts turns without an answer, and notes who has lost by them.
    fn listen(&self, replies: &[Option<Reply>], silence: &mut Silence, record: &mut Record) {
        let Some(most) = self.terms.forfeit_after else { return };
        for (role_idx, reply) in replies.iter().enumerate() {
            let is_dead = match reply {
                None => continue,
                Some((Ok(_), _)) => {
                    silence.in_a_row[role_idx] = 0;
                    silence.answered[role_idx] = true;
                    continue;
                }
                Some((Err(AskError::Connection(_)), _)) => self.players[role_idx].is_process,
                Some((Err(AskError::TimedOut), _)) => false,
            };
            silence.in_a_row[role_idx] += 1;
            if is_dead || silence.in_a_row[role_idx] >= most {
                let role = record.roles[role_idx].clone();
                record.forfeits.push(Forfeit { role, answered: silence.answered[role_idx] });
            }
        }
    }

    /// What the manager plays for a player that is not asked; none stands for a random move.
    fn own_choice<S: Session>(
        &self,
        session: &mut S,
        role: Role,
        legal: &[Move],
        dice: &mut Dice,
    ) -> Option<Move> {
        match self.players[role.idx()].contact {
            Contact::FirstLegal => {
                legal.iter().copied().min_by_key(|&a_move| session.move_term(a_move).to_string())
            }
            _ => Some(legal[dice.below(legal.len())]),
        }
    }

    fn report_step(&self, step: usize, texts: &[String], times: &[Option<f64>], record: &Record) {
        let parts: Vec<String> = texts
            .iter()
            .zip(times)
            .zip(&record.roles)
            .map(|((text, time), role)| match time {
                Some(time) => format!("{role} {text} {time:.2} s"),
                None => format!("{role} {text}"),
            })
            .collect();
        output::progress(format_args!("{} step {step}: {}", self.id, parts.join(", ")));
        for error in record.errors.iter().filter(|error| error.step == step) {
            output::progress(format_args!(
                "{} step {step}: error of {}: {}",
                self.id, error.role, error.error
            ));
        }
    }

    /// Sends a message to every player that is asked; none stands for the others.
    ///
    /// # Errors
    /// [`ReasonerError::Interrupted`] if the user stops meanwhile.
    fn ask_all(
        &self,
        message: impl Fn(usize) -> String,
        time: Duration,
    ) -> Result<Vec<Option<Reply>>, ReasonerError> {
        let mut replies: Vec<Option<Reply>> = vec![None; self.players.len()];
        let mut waiting = 0;
        let (sender, receiver) = mpsc::channel();
        for (role_idx, player) in
            self.players.iter().enumerate().filter(|(_, player)| player.contact.is_asked())
        {
            let (contact, message, sender) = (player.contact.clone(), message(role_idx), sender.clone());
            let ask = move || {
                let begun = Instant::now();
                let answer = contact.ask(&message, time);
                // Nobody waits for it if the user has stopped the match.
                let _ = sender.send((role_idx, (answer, begun.elapsed())));
            };
            if let Err(error) = std::thread::Builder::new().name("ask".into()).spawn(ask.clone()) {
                tracing::warn!(%error, player = player.name, "no thread to ask a player, so others wait for it");
                ask();
            }
            waiting += 1;
        }
        while waiting > 0 {
            match receiver.recv_timeout(POLL) {
                Ok((role_idx, reply)) => {
                    replies[role_idx] = Some(reply);
                    waiting -= 1;
                }
                Err(RecvTimeoutError::Timeout) if !self.stop.is_raised() => {}
                Err(_) => return Err(ReasonerError::Interrupted),
            }
        }
        if self.stop.is_raised() { Err(ReasonerError::Interrupted) } else { Ok(replies) }
    }

    /// Sends a message whose answer does not matter.
    fn tell_all(&self, message: impl Fn(usize) -> String, time: Duration) {
        std::thread::scope(|scope| {
            for (role_idx, player) in
                self.players.iter().enumerate().filter(|(_, player)| player.contact.is_asked())
            {
                let message = message(role_idx);
                let tell = move || {
                    if let Err(error) = player.contact.ask(&message, time) {
                        tracing::debug!(%error, player = player.name, "no answer at the end");
                    }
                };
                if std::thread::Builder::new().spawn_scoped(scope, tell.clone()).is_err() {
                    tell();
                }
            }
        });
    }
}

/// The moves of a PLAY or STOP.
fn joint_text(joint_move: Option<&[String]>) -> String {
    joint_move.map_or_else(|| "NIL".to_owned(), |moves| format!("({} )", moves.join(" ")))
}

/// The legal move that an answer names, or what is wrong with it.
fn judge<S: Session>(
    session: &mut S,
    legal: &[Move],
    answer: Result<String, AskError>,
) -> (Option<Move>, Option<String>) {
    let text = match answer {
        Ok(text) => text,
        Err(error) => return (None, Some(code(&error))),
    };
    match Term::parse(&text).map(|term| find_legal(session, legal, &term)) {
        Ok(Found::Legal(a_move)) => (Some(a_move), None),
        _ => (None, Some(format!("IL {}", shortened(&text)))),
    }
}

/// ggp-base's code for a missing answer.
fn code(error: &AskError) -> String {
    match error {
        AskError::TimedOut => "TO".to_owned(),
        AskError::Connection(reason) => {
            tracing::debug!(reason, "connection");
            "CE".to_owned()
        }
    }
}
