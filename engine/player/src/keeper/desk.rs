//! Where the thinker and the clerk lay down their answers and the connection picks one up in time.
//!
//! A turn is START (turn 0) or a PLAY. The thinker offers answers that only get better and then settles the
//! turn; the clerk lays down one that is merely legal. Whoever waits takes the thinker's last offer when the turn is
//! settled or the time is over, and the clerk's where there is none; or whatever comes first. It knows no rules, but remembers who has answered
//! about them, and what it was.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use gdl::Term;
use parking_lot::{Condvar, Mutex};
use serde::{Deserialize, Serialize};

/// Shared by the thinker, the clerk and the connections.
#[derive(Debug, Default)]
pub struct Desk {
    state: Mutex<State>,
    changed: Condvar,
}

/// A reasoner that a player thought with, and since when.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ThoughtWith {
    /// Its name.
    pub reasoner: String,
    /// The turn in which it came, or that was the last before; START is 0, the first PLAY 1.
    pub turn: u64,
    /// Seconds after START.
    pub seconds: f64,
}

/// How many turns are remembered: those that may wait for their moves at once, and those before, which reports speak of.
const REMEMBERED: usize = 2 * super::MAX_WAITING;

#[derive(Debug, Default)]
struct State {
    /// The turn that the thinker is at.
    thinker_at: u64,
    /// The latest turns that anything is known of, in the order of their numbers.
    turns: VecDeque<Turn>,
    /// The thinker will never lay down anything more: the reason.
    closed: Option<String>,
    /// Nobody wants an answer any more.
    is_over: bool,
    /// The clerk will never lay down anything.
    has_no_clerk: bool,
    /// One after the other.
    reasoners: Vec<ThoughtWith>,
}

#[derive(Debug, Default)]
struct Turn {
    number: u64,
    /// The thinker's best move so far.
    offer: Option<Term>,
    /// The thinker will find nothing better.
    is_settled: bool,
    /// The clerk's move; inside, none if it found none.
    stand_in: Option<Option<Term>>,
    /// The move that left.
    answer: Option<Term>,
}

impl Turn {
    fn known(&self) -> Option<&Term> {
        self.offer.as_ref().or(self.stand_in.as_ref().and_then(Option::as_ref))
    }
}

impl State {
    fn turn(&mut self, number: u64) -> &mut Turn {
        let place = self.turns.partition_point(|turn| turn.number < number);
        if self.turns.get(place).is_none_or(|turn| turn.number != number) {
            self.turns.insert(place, Turn { number, ..Turn::default() });
        }
        &mut self.turns[place]
    }

    fn forget(&mut self) {
        while self.turns.len() > REMEMBERED {
            self.turns.pop_front();
        }
    }

    fn find(&self, number: u64) -> Option<&Turn> {
        self.turns.iter().find(|turn| turn.number == number)
    }

    /// Whether nothing better will come for a turn than what lies there.
    fn is_done(&self, number: u64) -> bool {
        let turn = self.find(number);
        let thinker_is_done =
            self.closed.is_some() || self.thinker_at > number || turn.is_some_and(|turn| turn.is_settled);
        // START wants no move, so the clerk has nothing to do with it.
        let is_answered = || {
            number == 0
                || self.has_no_clerk
                || turn.is_some_and(|it| it.offer.is_some() || it.stand_in.is_some())
        };
        self.is_over || (thinker_is_done && is_answered())
    }
}

/// What lay on the desk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picked {
    /// The move, if one is known.
    pub answer: Option<Term>,
    /// Whether the clerk laid it down.
    pub is_stand_in: bool,
    /// Why nothing more will come.
    pub closed: Option<String>,
    /// Whether the time was over.
    pub timed_out: bool,
}

impl Desk {
    /// The thinker turns to a turn; nothing is offered yet.
    pub fn open(&self, turn: u64) {
        let mut state = self.state.lock();
        state.thinker_at = turn;
        state.turn(turn);
        state.forget();
        self.changed.notify_all();
    }

    /// The thinker thinks with a reasoner from now on.
    pub fn think_with(&self, reasoner: &str, since_start: Duration) {
        let mut state = self.state.lock();
        let (turn, seconds) = (state.thinker_at, since_start.as_secs_f64());
        state.reasoners.push(ThoughtWith { reasoner: reasoner.to_owned(), turn, seconds });
    }

    /// What the thinker has thought with, one after the other.
    pub fn reasoners(&self) -> Vec<ThoughtWith> {
        self.state.lock().reasoners.clone()
    }

    /// Lays down a better answer for the turn that is open.
    pub fn offer(&self, a_move: Term) {
        let mut state = self.state.lock();
        let turn = state.thinker_at;
        state.turn(turn).offer = Some(a_move);
        self.changed.notify_all();
    }

    /// Lays down the clerk's answer to a turn: a legal move, or none if the clerk knows none.
    pub fn stand_in(&self, turn: u64, a_move: Option<Term>) {
        let mut state = self.state.lock();
        state.turn(turn).stand_in = Some(a_move);
        state.forget();
        self.changed.notify_all();
    }

    /// There is no clerk, so nobody waits for it.
    pub fn miss_clerk(&self) {
        self.state.lock().has_no_clerk = true;
        self.changed.notify_all();
    }

    /// What was answered to a turn, or would have been by now.
    pub fn answer_to(&self, turn: u64) -> Option<Term> {
        let state = self.state.lock();
        let turn = state.find(turn)?;
        turn.answer.as_ref().or(turn.known()).cloned()
    }

    /// The latest move laid down in any turn, as the answer to this one.
    pub fn guess(&self, turn: u64) -> Option<Term> {
        let mut state = self.state.lock();
        let latest = state.turns.iter().rev().find_map(Turn::known).cloned();
        state.turn(turn).answer.clone_from(&latest);
        state.forget();
        latest
    }

    /// Nothing better will come for the turn that is open.
    pub fn settle(&self) {
        let mut state = self.state.lock();
        let turn = state.thinker_at;
        state.turn(turn).is_settled = true;
        self.changed.notify_all();
    }

    /// The thinker lays down nothing more. The first reason stands.
    pub fn close(&self, reason: &str) {
        self.state.lock().closed.get_or_insert_with(|| reason.to_owned());
        self.changed.notify_all();
    }

    /// Keeps nobody waiting any more.
    pub fn end(&self) {
        let mut state = self.state.lock();
        state.is_over = true;
        state.closed.get_or_insert_with(|| "the match is over".to_owned());
        self.changed.notify_all();
    }

    /// Waits for the best answer to a turn, at most until `deadline`, and takes note of it.
    pub fn wait(&self, turn: u64, deadline: Instant) -> Picked {
        self.pick(turn, deadline, |_| false)
    }

    /// Waits for any answer to a turn, at most until `deadline`, and takes note of it.
    pub fn wait_for_any(&self, turn: u64, deadline: Instant) -> Picked {
        self.pick(turn, deadline, |turn| turn.known().is_some())
    }

    fn pick(&self, turn: u64, deadline: Instant, is_enough: impl Fn(&Turn) -> bool) -> Picked {
        let mut state = self.state.lock();
        let mut timed_out = false;
        while !state.is_done(turn) && !state.find(turn).is_some_and(&is_enough) && !timed_out {
            timed_out = self.changed.wait_until(&mut state, deadline).timed_out();
        }
        let lies = state.turn(turn);
        lies.answer = lies.known().cloned();
        let (answer, is_stand_in) = (lies.answer.clone(), lies.answer.is_some() && lies.offer.is_none());
        state.forget();
        Picked { answer, is_stand_in, closed: state.closed.clone(), timed_out }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn term(text: &str) -> Term {
        Term::parse(text).unwrap()
    }

    /// What is taken at once.
    fn take(desk: &Desk, turn: u64) -> (Option<String>, bool) {
        let picked = desk.wait(turn, Instant::now());
        (picked.answer.map(|a_move| a_move.to_string()), picked.timed_out)
    }

    fn taken(text: &str, timed_out: bool) -> (Option<String>, bool) {
        (Some(text.to_owned()), timed_out)
    }

    #[test]
    fn the_last_offer_of_the_turn_is_taken() {
        let desk = Desk::default();
        desk.open(1);
        desk.offer(term("a"));
        desk.offer(term("b"));
        assert_eq!(take(&desk, 1), taken("b", true));
        desk.settle();
        assert_eq!(take(&desk, 1), taken("b", false));
    }

    #[test]
    fn any_answer_ends_a_wait_for_any() {
        let desk = Desk::default();
        desk.open(1);
        let far = || Instant::now() + Duration::from_secs(10);
        let answer = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| desk.wait_for_any(1, far()));
            std::thread::sleep(Duration::from_millis(20));
            desk.offer(term("a"));
            waiting.join().unwrap()
        });
        assert_eq!((answer.answer, answer.timed_out), (Some(term("a")), false));
        desk.stand_in(2, Some(term("b")));
        assert_eq!(desk.wait_for_any(2, far()).answer, Some(term("b")));
        assert!(desk.wait_for_any(3, Instant::now()).timed_out);
    }

    #[test]
    fn every_turn_has_its_own_offer() {
        let desk = Desk::default();
        desk.open(1);
        desk.offer(term("a"));
        assert_eq!(take(&desk, 2), (None, true));
        assert_eq!(take(&desk, 0), (None, false));
        desk.open(2);
        assert_eq!(take(&desk, 2), (None, true));
        assert_eq!(take(&desk, 1), taken("a", false));
    }

    #[test]
    fn the_clerk_stands_in_where_the_thinker_has_nothing() {
        let desk = Desk::default();
        desk.open(1);
        desk.stand_in(1, Some(term("a")));
        desk.stand_in(2, Some(term("c")));
        assert_eq!(take(&desk, 1), taken("a", true));
        assert!(desk.wait(1, Instant::now()).is_stand_in);
        // A thinker that is elsewhere is waited for as long as there is time.
        assert_eq!(take(&desk, 2), taken("c", true));
        desk.offer(term("b"));
        assert_eq!(take(&desk, 1), taken("b", true));
        assert!(!desk.wait(1, Instant::now()).is_stand_in);
    }

    #[test]
    fn a_thinker_that_is_done_without_a_move_leaves_the_turn_to_the_clerk() {
        let desk = Desk::default();
        desk.open(1);
        desk.settle();
        assert_eq!(take(&desk, 1), (None, true));
        desk.stand_in(1, Some(term("a")));
        assert_eq!(take(&desk, 1), taken("a", false));
        desk.close("it failed");
        assert_eq!(take(&desk, 2), (None, true));
        desk.stand_in(2, None);
        assert_eq!(take(&desk, 2), (None, false));
    }

    #[test]
    fn what_left_is_what_was_answered_whatever_comes_later() {
        let desk = Desk::default();
        assert_eq!(desk.answer_to(1), None);
        desk.stand_in(1, Some(term("a")));
        assert_eq!(desk.answer_to(1), Some(term("a")));
        take(&desk, 1);
        desk.open(1);
        desk.offer(term("b"));
        assert_eq!(desk.answer_to(1), Some(term("a")));
    }

    #[test]
    fn the_last_move_is_guessed_through_turns_without_one() {
        let desk = Desk::default();
        assert_eq!(desk.guess(1), None);
        desk.open(1);
        desk.offer(term("a"));
        desk.open(2);
        desk.open(3);
        assert_eq!((desk.guess(3), desk.answer_to(3)), (Some(term("a")), Some(term("a"))));
        desk.offer(term("b"));
        assert_eq!(desk.guess(4), Some(term("b")));
    }

    #[test]
    fn nobody_waits_for_a_clerk_that_is_not_there() {
        let desk = Desk::default();
        desk.open(1);
        desk.settle();
        desk.miss_clerk();
        assert_eq!(take(&desk, 1), (None, false));
    }

    #[test]
    fn turns_of_long_ago_are_forgotten() {
        let desk = Desk::default();
        for turn in 1..=100 {
            desk.stand_in(turn, Some(term("a")));
        }
        assert_eq!(desk.state.lock().turns.len(), REMEMBERED);
        assert_eq!((desk.answer_to(1), desk.answer_to(100)), (None, Some(term("a"))));
    }

    #[test]
    fn a_desk_that_is_closed_or_over_keeps_nobody_waiting() {
        let desk = Desk::default();
        desk.close("gone");
        desk.close("again");
        assert_eq!(desk.wait(0, Instant::now()).closed.as_deref(), Some("gone"));
        desk.end();
        assert_eq!(take(&desk, 3), (None, false));
        assert_eq!(desk.wait(3, Instant::now()).closed.as_deref(), Some("gone"));
    }
}
