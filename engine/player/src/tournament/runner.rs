//! Plays the matches that have no record yet, several side by side.
//!
//! In go a plan, its schedule and its folder, out come records. A player that dies or is silent loses its match by
//! record; a remote one that stays silent is absent, and the others go on. Whatever is not finished when the user
//! stops leaves no record.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex, MutexGuard};
use reasoner::{Interrupt, Reasoner};

use super::folder::Folder;
use super::match_outcome::MatchOutcome;
use super::plan::Plan;
use super::progress::{Progress, Snapshot};
use super::schedule::{CHANCE, Fixture, Schedule};
use super::stable::{Orders, Stable};
use super::standings::{Standings, overall, standings, verdict};
use super::statistics::{Moments, Verdict};
use super::table;
use crate::failure::Failure;
use crate::manager::contact::Contact;
use crate::manager::opening::Opening;
use crate::manager::record::{Record, Status};
use crate::manager::referee::{Match, Seated, Terms};
use crate::manager::spec::PlayerKind;
use crate::protocol::client::{self, Address};
use crate::reasoners::{SetUp, WithReasoner};

/// How long a remote player may take to say that it is there.
const INFO_TIME: Duration = Duration::from_secs(2);
/// How often a slot without work looks for a stop.
const POLL: Duration = Duration::from_millis(100);

/// A tournament that is being played.
pub struct Runner<'a> {
    plan: &'a Plan,
    schedule: &'a Schedule,
    folder: &'a Folder,
    stop: &'a Interrupt,
    progress: &'a Progress,
    /// For each match, the bouts that it is a part of.
    bouts_of: Vec<Vec<usize>>,
    ledger: Mutex<Ledger>,
    changed: Condvar,
}

/// What is known at one moment.
struct Ledger {
    /// For each match.
    outcomes: Vec<Option<MatchOutcome>>,
    running: Vec<bool>,
    /// It waits for a player that is absent.
    skipped: Vec<bool>,
    /// For each player: remote ones play one match at a time.
    is_busy: Vec<bool>,
    is_absent: Vec<bool>,
    /// Matches in a row in which it answered nothing.
    silent_in_a_row: Vec<usize>,
    /// Pairings whose test has ended.
    decided: Vec<(usize, usize)>,
    failure: Option<Failure>,
}

/// How it ended.
#[derive(Debug)]
pub struct Played {
    /// For each match of the schedule.
    pub outcomes: Vec<Option<MatchOutcome>>,
    /// Whether every match is played that is wanted; those of absent players are not.
    pub is_complete: bool,
    /// For each match, whether it waits for an absent player.
    pub skipped: Vec<bool>,
    /// For each player.
    pub is_absent: Vec<bool>,
    /// What it comes to.
    pub standings: Standings,
}

impl Played {
    /// Matches that are played.
    pub fn n_played(&self) -> usize {
        self.outcomes.iter().flatten().count()
    }

    /// Matches that wait for an absent player.
    pub fn n_skipped(&self) -> usize {
        self.skipped.iter().filter(|&&skipped| skipped).count()
    }
}

impl<'a> Runner<'a> {
    /// Takes stock of what is played.
    pub fn new(
        plan: &'a Plan,
        schedule: &'a Schedule,
        folder: &'a Folder,
        stop: &'a Interrupt,
        progress: &'a Progress,
    ) -> Runner<'a> {
        let n_matches = schedule.fixtures.len();
        let n_players = plan.players.len();
        let mut bouts_of = vec![Vec::new(); n_matches];
        for (bout_idx, bout) in schedule.bouts.iter().enumerate() {
            bout.fixtures.iter().for_each(|&idx| bouts_of[idx].push(bout_idx));
        }
        let ledger = Ledger {
            outcomes: folder.outcomes(plan, schedule),
            running: vec![false; n_matches],
            skipped: vec![false; n_matches],
            is_busy: vec![false; n_players],
            is_absent: vec![false; n_players],
            silent_in_a_row: vec![0; n_players],
            decided: Vec::new(),
            failure: None,
        };
        let runner = Runner {
            plan,
            schedule,
            folder,
            stop,
            progress,
            bouts_of,
            ledger: Mutex::new(ledger),
            changed: Condvar::new(),
        };
        runner.take_stock();
        runner
    }

    /// What follows from the records: silent players, and tests that have ended.
    fn take_stock(&self) {
        let mut ledger = self.ledger.lock();
        let mut played: Vec<(u64, usize)> = ledger
            .outcomes
            .iter()
            .enumerate()
            .filter_map(|(idx, outcome)| outcome.as_ref().map(|outcome| (outcome.started_ms, idx)))
            .collect();
        played.sort_unstable();
        played.into_iter().for_each(|(_, idx)| self.note_silence(&mut ledger, idx));
        super::schedule::pairs(self.plan.players.len())
            .into_iter()
            .for_each(|pair| self.note_verdict(&mut ledger, pair));
    }

    /// Plays what is left, until all is played or the user stops.
    ///
    /// # Errors
    /// If a record cannot be kept, a process of ours cannot be started, or a game cannot be played at all.
    pub fn run(&self) -> Result<Played, Failure> {
        self.greet_remote_players();
        std::thread::scope(|scope| {
            for slot_idx in 0..self.plan.parallel {
                let slot = std::thread::Builder::new().name(format!("match-{}", slot_idx + 1));
                if let Err(error) = slot.spawn_scoped(scope, move || self.fill_slot(slot_idx)) {
                    self.ledger.lock().failure = Some(error.into());
                }
            }
        });
        self.progress.end();
        let ledger = self.ledger.lock();
        match &ledger.failure {
            Some(failure) => Err(failure.clone()),
            None => Ok(self.played(&ledger)),
        }
    }

    fn played(&self, ledger: &Ledger) -> Played {
        let is_complete = (0..ledger.outcomes.len())
            .all(|idx| ledger.outcomes[idx].is_some() || ledger.skipped[idx] || !self.is_wanted(ledger, idx));
        Played {
            outcomes: ledger.outcomes.clone(),
            is_complete,
            skipped: ledger.skipped.clone(),
            is_absent: ledger.is_absent.clone(),
            standings: standings(self.plan, self.schedule, &ledger.outcomes, &ledger.skipped),
        }
    }

    /// Finds out which remote players are there, and ends matches that a killed tournament left with them.
    fn greet_remote_players(&self) {
        for player_idx in 0..self.plan.players.len() {
            let Some(address) = self.remote(player_idx) else { continue };
            let mut ledger = self.ledger.lock();
            if client::ask(address, "( INFO )", INFO_TIME).is_err() {
                // If it was absent before it is not waited for again; otherwise it has its matches to come.
                if ledger.is_absent[player_idx] {
                    self.tell_absent(player_idx);
                }
                continue;
            }
            ledger.silent_in_a_row[player_idx] = 0;
            self.set_absent(&mut ledger, player_idx, false);
            let unplayed = self.schedule.fixtures.iter().zip(&ledger.outcomes);
            let unplayed = unplayed
                .filter(|(fixture, outcome)| outcome.is_none() && fixture.seats.contains(&player_idx));
            // Mostly it knows no such match. Nobody waits for one that answers no more.
            unplayed.take(2 * self.plan.parallel).all(|(fixture, _)| {
                let abort = format!("( ABORT {} )", fixture.id);
                !self.stop.is_raised() && client::ask(address, &abort, INFO_TIME).is_ok()
            });
        }
    }

    fn remote(&self, player_idx: usize) -> Option<&Address> {
        match &self.plan.players[player_idx].spec.kind {
            PlayerKind::Remote(address) => Some(address),
            _ => None,
        }
    }

    /// Plays one match after the other.
    fn fill_slot(&self, slot_idx: usize) {
        let mut stable = Stable::new(self.folder, slot_idx, self.stop);
        while let Some(fixture_idx) = self.take() {
            let played = self.play(fixture_idx, slot_idx, &mut stable);
            let mut ledger = self.ledger.lock();
            ledger.running[fixture_idx] = false;
            self.schedule.fixtures[fixture_idx].seats.iter().for_each(|&idx| ledger.is_busy[idx] = false);
            match played {
                Ok(Some(outcome)) => self.note(ledger, fixture_idx, outcome),
                Ok(None) => {}
                // What a stop breaks off is played when the tournament goes on.
                Err(failure) if self.stop.is_raised() => tracing::debug!("stopped: {failure}"),
                Err(failure) => ledger.failure = Some(failure),
            }
            self.changed.notify_all();
        }
    }

    /// The next match to play, waiting for a player if need be; none if there is nothing to do any more.
    fn take(&self) -> Option<usize> {
        let mut ledger = self.ledger.lock();
        loop {
            if self.stop.is_raised() || ledger.failure.is_some() {
                return None;
            }
            let mut open = (0..ledger.outcomes.len()).filter(|&idx| self.is_open(&ledger, idx)).peekable();
            open.peek()?;
            let is_free = |idx: &usize| {
                let seats = &self.schedule.fixtures[*idx].seats;
                !seats
                    .iter()
                    .any(|&player_idx| ledger.is_busy[player_idx] && self.remote(player_idx).is_some())
            };
            let next = open.find(is_free);
            drop(open);
            if let Some(idx) = next {
                ledger.running[idx] = true;
                self.schedule.fixtures[idx]
                    .seats
                    .iter()
                    .for_each(|&player_idx| ledger.is_busy[player_idx] = true);
                return Some(idx);
            }
            self.changed.wait_for(&mut ledger, POLL);
        }
    }

    /// Whether a match has to be played and nobody plays it.
    fn is_open(&self, ledger: &Ledger, idx: usize) -> bool {
        ledger.outcomes[idx].is_none()
            && !ledger.running[idx]
            && !ledger.skipped[idx]
            && self.is_wanted(ledger, idx)
    }

    /// Whether a match is a part of a bout whose pairing is not decided; matches of one player alone always are.
    fn is_wanted(&self, ledger: &Ledger, idx: usize) -> bool {
        let bouts = &self.bouts_of[idx];
        bouts.is_empty()
            || bouts.iter().any(|&bout_idx| !ledger.decided.contains(&self.schedule.bouts[bout_idx].pair))
    }

    fn play(
        &self,
        fixture_idx: usize,
        slot_idx: usize,
        stable: &mut Stable,
    ) -> Result<Option<MatchOutcome>, Failure> {
        let fixture = &self.schedule.fixtures[fixture_idx];
        let game = &self.plan.games[fixture.game_idx];
        let players = self.seat(fixture, slot_idx, stable)?;
        let playing = Playing {
            one: Match {
                id: fixture.id.clone(),
                game: &game.game,
                players: &players,
                terms: Terms {
                    start_clock: game.start_clock,
                    play_clock: game.play_clock,
                    grace: self.plan.grace,
                    max_steps: game.max_steps,
                    forfeit_after: Some(self.plan.forfeit_after),
                    live: false,
                },
                opening: Opening { plies: game.opening_plies, seed: fixture.opening_seed },
                seed: fixture.seed,
                stop: self.stop,
            },
        };
        let named = |failure: Failure| failure.context(&game.name);
        let rules = Arc::clone(&game.game.rules);
        let record = self
            .plan
            .reasoner
            .for_few_questions()
            .with(rules, &SetUp::until(self.stop), playing)
            .map_err(|error| named(error.into()))?
            .map_err(named)?;
        if record.status == Status::Stopped {
            return Ok(None);
        }
        record.save(&self.folder.records())?;
        Ok(Some(MatchOutcome::of(&record, &game.is_chance)))
    }

    /// Makes contact with everybody who plays.
    fn seat(&self, fixture: &Fixture, slot_idx: usize, stable: &mut Stable) -> Result<Vec<Seated>, Failure> {
        let game = &self.plan.games[fixture.game_idx];
        let mut seats = fixture.seats.iter().enumerate();
        let mut seated = Vec::with_capacity(game.is_chance.len());
        for &is_chance in &game.is_chance {
            let Some((seat_idx, &player_idx)) = (if is_chance { None } else { seats.next() }) else {
                seated.push(Seated { name: CHANCE.to_owned(), contact: Contact::Random, is_process: false });
                continue;
            };
            let player = &self.plan.players[player_idx];
            let contact = match &player.spec.kind {
                PlayerKind::Random => Contact::Random,
                PlayerKind::FirstLegal => Contact::FirstLegal,
                PlayerKind::Remote(address) => Contact::Remote(address.clone()),
                PlayerKind::Own(_) => {
                    let copy_idx = fixture.seats[..seat_idx].iter().filter(|&&idx| idx == player_idx).count();
                    let orders = Orders {
                        seed: fixture.player_seed(seat_idx),
                        pin: cores_of_seat(&self.plan.cores[slot_idx], seat_idx, fixture.seats.len()),
                        playouts: game.playouts,
                        cpu: game.cpu.map(|cpu| cpu.as_secs_f64()),
                        ignore_case: Some(game.game.description.case_ignored()),
                    };
                    Contact::Remote(stable.address(&player.name, &player.spec.text, copy_idx, &orders)?)
                }
            };
            let is_process = matches!(player.spec.kind, PlayerKind::Own(_));
            seated.push(Seated { name: player.name.clone(), contact, is_process });
        }
        Ok(seated)
    }

    /// Takes note of a match that was played, and tells of it.
    fn note(&self, mut ledger: MutexGuard<Ledger>, fixture_idx: usize, outcome: MatchOutcome) {
        let line = table::match_line(self.plan, &self.schedule.fixtures[fixture_idx], &outcome);
        ledger.outcomes[fixture_idx] = Some(outcome);
        let were_absent = ledger.is_absent.clone();
        self.note_silence(&mut ledger, fixture_idx);
        let newly = (0..were_absent.len()).filter(|&idx| ledger.is_absent[idx] && !were_absent[idx]);
        newly.for_each(|player_idx| self.tell_absent(player_idx));
        for &bout_idx in &self.bouts_of[fixture_idx] {
            self.note_verdict(&mut ledger, self.schedule.bouts[bout_idx].pair);
        }
        let text = if self.progress.shows_table() {
            table::players(&overall(self.plan, self.schedule, &ledger.outcomes, &ledger.skipped)).to_string()
        } else {
            String::new()
        };
        self.progress.show(&line, &text, &self.snapshot(&ledger));
    }

    /// Counts matches without any answer of a remote player.
    fn note_silence(&self, ledger: &mut Ledger, fixture_idx: usize) {
        let Some(outcome) = ledger.outcomes[fixture_idx].clone() else { return };
        for (seat_idx, &player_idx) in self.schedule.fixtures[fixture_idx].seats.iter().enumerate() {
            if self.remote(player_idx).is_none() {
                continue;
            }
            if !outcome.silent[seat_idx] {
                ledger.silent_in_a_row[player_idx] = 0;
                continue;
            }
            ledger.silent_in_a_row[player_idx] += 1;
            if ledger.silent_in_a_row[player_idx] == self.plan.absent_after {
                self.set_absent(ledger, player_idx, true);
            }
        }
    }

    fn tell_absent(&self, player_idx: usize) {
        let name = &self.plan.players[player_idx].name;
        self.progress.remark(&format!("{name} does not answer any more; its other matches are skipped"));
    }

    /// Marks a player, and every match that waits for somebody who is absent.
    fn set_absent(&self, ledger: &mut Ledger, player_idx: usize, is_absent: bool) {
        ledger.is_absent[player_idx] = is_absent;
        for (idx, fixture) in self.schedule.fixtures.iter().enumerate() {
            let waits = fixture.seats.iter().any(|&seated| ledger.is_absent[seated]);
            ledger.skipped[idx] = waits && ledger.outcomes[idx].is_none();
        }
    }

    fn note_verdict(&self, ledger: &mut Ledger, pair: (usize, usize)) {
        let said = verdict(self.plan, self.schedule, &ledger.outcomes, &ledger.skipped, pair);
        if said.is_some_and(|said| said != Verdict::Undecided) && !ledger.decided.contains(&pair) {
            ledger.decided.push(pair);
        }
    }

    fn snapshot(&self, ledger: &Ledger) -> Snapshot {
        let n_played = ledger.outcomes.iter().flatten().count();
        let mut n_left = vec![0usize; self.plan.games.len()];
        for (idx, fixture) in self.schedule.fixtures.iter().enumerate() {
            n_left[fixture.game_idx] += usize::from(ledger.running[idx] || self.is_open(ledger, idx));
        }
        let seconds =
            n_left.iter().enumerate().filter(|(_, n_left)| **n_left > 0).map(|(game_idx, &n_left)| {
                self.mean_seconds(ledger, game_idx).map(|seconds| seconds * n_left as f64)
            });
        let left = seconds.sum::<Option<f64>>();
        Snapshot {
            n_played,
            n_wanted: n_played + n_left.iter().sum::<usize>(),
            left: left.and_then(|left| Duration::try_from_secs_f64(left / self.plan.parallel as f64).ok()),
        }
    }

    /// How long matches of a game take.
    fn mean_seconds(&self, ledger: &Ledger, game_idx: usize) -> Option<f64> {
        let played = self.schedule.fixtures.iter().zip(&ledger.outcomes);
        let of_game = played.filter(|(fixture, _)| fixture.game_idx == game_idx);
        let seconds: Moments =
            of_game.filter_map(|(_, outcome)| outcome.as_ref().map(|outcome| outcome.seconds)).collect();
        (seconds.n > 0).then_some(seconds.mean)
    }
}

/// The cores for the threads of a seat: all of the match's, beginning with another one for each seat, so that
/// players that think at the same time share cores only where there are too few.
fn cores_of_seat(cores: &[usize], seat_idx: usize, n_seats: usize) -> Vec<usize> {
    let mut own = cores.to_vec();
    own.rotate_left((seat_idx * cores.len() / n_seats.max(1)).min(cores.len()));
    own
}

struct Playing<'a> {
    one: Match<'a>,
}

impl WithReasoner for Playing<'_> {
    type Output = Result<Record, Failure>;

    fn run<R: Reasoner>(self, reasoner: Arc<R>) -> Self::Output {
        self.one.play(&reasoner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seats_begin_with_cores_of_their_own() {
        assert_eq!(cores_of_seat(&[4, 5, 6, 7], 1, 2), [6, 7, 4, 5]);
        assert_eq!(cores_of_seat(&[0], 1, 2), [0]);
        assert!(cores_of_seat(&[], 0, 1).is_empty());
    }
}
