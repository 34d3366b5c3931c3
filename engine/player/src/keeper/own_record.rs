//! The record that a player leaves of its own match: what the messages told of it.
//!
//! In go reports and answers, out comes a record like a manager's, beside the rulesheet as it came, so that `replay` needs
//! nothing else. States are played again with the interpreter once the match is over, so that no answer waits for them. It
//! does not know who the other players were.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use gdl::{Description, ReadOptions, Rules, Term};
use reasoner::{Interrupt, Limits, Reasoner, ReasonerError, Role, Session};

use super::desk::ThoughtWith;
use super::seat::JointTerms;
use crate::failure::Failure;
use crate::golden_text;
use crate::manager::record::{Record, Status, write_whole};
use crate::moves::{Found, find_legal, find_role};
use crate::protocol::message::Start;
use crate::reasoners::{ReasonerKind, SetUp, WithReasoner};

/// What was told of a match so far.
#[derive(Debug)]
pub struct OwnRecord {
    start: Start,
    started_ms: u64,
    begun: Instant,
    /// Joint moves as they were reported.
    reported: Vec<JointTerms>,
    /// How long each answer to a PLAY took.
    times: Vec<Duration>,
}

/// What only the keeper knows at the end.
#[derive(Debug)]
pub struct Ending {
    /// Our name.
    pub name: String,
    /// How names are read.
    pub reading: ReadOptions,
    /// Whether the manager said that the match was over.
    pub is_stopped: bool,
    /// What was thought with.
    pub thought_with: Vec<ThoughtWith>,
}

/// What stands for a player that is not ours.
const UNKNOWN: &str = "unknown";

impl OwnRecord {
    /// Begins with START.
    pub fn new(start: &Start, begun: Instant) -> OwnRecord {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        OwnRecord {
            start: start.clone(),
            started_ms: u64::try_from(since_1970.as_millis()).unwrap_or(u64::MAX),
            begun,
            reported: Vec::new(),
            times: Vec::new(),
        }
    }

    /// A PLAY or STOP told of a joint move, or that there was none yet.
    pub fn report(&mut self, joint_move: Option<&JointTerms>) {
        self.reported.extend(joint_move.cloned());
    }

    /// A PLAY was answered.
    pub fn answer(&mut self, time: Duration) {
        self.times.push(time);
    }

    /// Plays the match again, and writes its rulesheet and its record; the path of the record.
    ///
    /// # Errors
    /// If the rules cannot be played, or the folder cannot be written to.
    pub fn write(&self, ending: Ending, folder: &Path, stop: &Interrupt) -> Result<PathBuf, Failure> {
        let Start { text, rules, .. } = &self.start;
        let description = Description::from_sexprs(text, rules.clone(), ending.reading);
        let rules = Arc::new(Rules::from_description(&description).map_err(Failure::work)?);
        let (stem, sheet) = (self.stem(folder), description.to_string());
        let mut record = self.record(&rules, ending, format!("{stem}.kif"), golden_text::hash(&sheet));
        let again = Again { reported: &self.reported, record: &mut record, stop };
        ReasonerKind::Interpreter.with(rules, &SetUp::until(stop), again)??;
        write_whole(folder, &format!("{stem}.kif"), sheet.as_bytes())?;
        record.save_as(folder, &stem)
    }

    /// The name of its files: the match and our role, so that managers and players that share a folder leave each other's
    /// records alone, and a number if such a match was recorded before.
    fn stem(&self, folder: &Path) -> String {
        let first = file_stem(&format!("{}-{}", self.start.id, self.start.role));
        let is_free = |stem: &String| !folder.join(format!("{stem}.json")).exists();
        let numbered = (2u32..).map(|n| format!("{first}-{n}"));
        std::iter::once(first.clone()).chain(numbered).find(is_free).unwrap_or(first)
    }

    fn record(&self, rules: &Rules, ending: Ending, game: String, rules_hash: String) -> Record {
        let own = find_role(rules.roles(), &self.start.role.to_string());
        let roles = || Role::all(rules.roles().len());
        let is_own = |role: Role| own == Some(role);
        let of_role = |role: Role| if is_own(role) { ending.name.clone() } else { UNKNOWN.to_owned() };
        let times = self.times.iter().map(|time| {
            roles().map(|role| is_own(role).then_some(time.as_secs_f64())).collect::<Vec<Option<f64>>>()
        });
        Record {
            format: Record::FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            id: self.start.id.clone(),
            game,
            rules_hash,
            started_ms: self.started_ms,
            reasoner: ReasonerKind::Interpreter.to_string(),
            players: roles().map(of_role).collect(),
            thought_with: roles().map(|role| is_own(role).then(|| ending.thought_with.clone())).collect(),
            // The manager's is not told.
            seed: 0,
            start_clock: self.start.start_clock.as_secs_f64(),
            play_clock: self.start.play_clock.as_secs_f64(),
            opening_plies: 0,
            moves: Vec::new(),
            times: times.collect(),
            state_hashes: Vec::new(),
            errors: Vec::new(),
            forfeits: Vec::new(),
            seconds: self.begun.elapsed().as_secs_f64(),
            status: if ending.is_stopped { Status::Completed } else { Status::Stopped },
            terminal: false,
            goals: vec![None; rules.roles().len()],
            roles: rules.roles().iter().map(Term::to_string).collect(),
        }
    }
}

/// The match played again, as far as its moves are legal.
struct Again<'a> {
    reported: &'a [JointTerms],
    record: &'a mut Record,
    stop: &'a Interrupt,
}

impl WithReasoner for Again<'_> {
    type Output = Result<(), ReasonerError>;

    fn run<R: Reasoner>(self, reasoner: Arc<R>) -> Self::Output {
        let Again { reported, record, stop } = self;
        let mut session = reasoner.session(Limits::default(), stop)?;
        let initial = session.initial_state()?;
        if let Err(error) = play_again(&*reasoner, &mut session, initial, reported, record) {
            tracing::warn!(id = record.id, step = record.moves.len() + 1, %error, "the record ends where the rules fail");
            record.status = Status::ReasonerFailed;
        }
        // The answer to the last PLAY was not played, if the match was broken off.
        record.times.resize(record.moves.len(), vec![None; reasoner.n_roles()]);
        if !record.terminal && record.status == Status::Completed {
            record.status = Status::Stopped;
        }
        Ok(())
    }
}

/// Adds what was reported to the record, as far as it is legal and the reasoner answers.
fn play_again<R: Reasoner>(
    reasoner: &R,
    session: &mut R::Session,
    mut state: R::State,
    reported: &[JointTerms],
    record: &mut Record,
) -> Result<(), ReasonerError> {
    let hash = |session: &mut R::Session, state: &R::State| {
        golden_text::state_hash(&golden_text::facts(session, state))
    };
    record.state_hashes.push(hash(session, &state));
    for terms in reported {
        let mut joint_move = Vec::new();
        for role in Role::all(reasoner.n_roles()) {
            let mut legal = Vec::new();
            session.legal_moves(&state, role, &mut legal)?;
            let term = terms.get(role.idx()).and_then(Option::as_ref);
            if let Some(Found::Legal(a_move)) = term.map(|term| find_legal(session, &legal, term)) {
                joint_move.push(a_move);
            }
        }
        if joint_move.len() < reasoner.n_roles() || terms.len() > reasoner.n_roles() {
            let step = record.moves.len() + 1;
            tracing::warn!(id = record.id, step, "the record ends before an illegal move");
            record.status = Status::Stopped;
            break;
        }
        record.moves.push(joint_move.iter().map(|&it| session.move_term(it).to_string()).collect());
        state = session.next_state(&state, &joint_move)?;
        record.state_hashes.push(hash(session, &state));
    }
    if session.is_terminal(&state)? {
        let mut goals = Vec::new();
        session.goals(&state, &mut goals)?;
        record.terminal = true;
        record.goals = goals.iter().map(|goal| goal.at_end()).collect();
    }
    Ok(())
}

/// The longest name of a file without its end.
const MAX_STEM: usize = 100;

/// An id as the name of a file: whatever managers call matches, it stays in its folder, and different ids stay different.
fn file_stem(id: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if !id.is_empty() && id.len() <= MAX_STEM && id.chars().all(is_plain) && !id.starts_with(['.', '-']) {
        return id.to_owned();
    }
    let plain: String = id.chars().map(|c| if is_plain(c) { c } else { '_' }).take(MAX_STEM / 2).collect();
    format!("{}-{}", plain.trim_start_matches(['.', '-']), golden_text::hash(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_stay_in_their_folder_and_apart() {
        assert_eq!(file_stem("Base.paint.1406040304050"), "Base.paint.1406040304050");
        let odd =
            ["a/b", "../a", "a;b", ".a", "..", "-rf", "", &"x".repeat(300), &"x".repeat(301)].map(file_stem);
        for (idx, stem) in odd.iter().enumerate() {
            assert!(
                !stem.is_empty() && !stem.contains('/') && !stem.starts_with(['.']) && stem.len() <= MAX_STEM,
                "{stem}"
            );
            assert!(!odd[..idx].contains(stem), "{stem}");
        }
    }
}
