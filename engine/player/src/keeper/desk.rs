//! Where the thinker lays down its answer and the connection picks it up in time.
//!
//! A turn is START (turn 0) or a PLAY. The thinker offers answers that only get better and then settles the
//! turn; whoever waits takes the last offer when the turn is settled or the time is over. It knows no rules, but remembers
//! who has answered about them.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use serde::{Deserialize, Serialize};

/// Shared by the thinker and the connections.
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

/// How many turns that are over are remembered, for managers that send a PLAY again while it is answered.
const REMEMBERED: usize = 8;

#[derive(Debug, Default)]
struct State {
    /// The turn that the thinker is at.
    turn: u64,
    /// The best move so far.
    offer: Option<String>,
    /// Whether nothing better will come for this turn.
    settled: bool,
    /// Nothing will ever come: the reason.
    closed: Option<String>,
    /// The last offers of earlier turns.
    past: VecDeque<(u64, Option<String>)>,
    /// One after the other.
    reasoners: Vec<ThoughtWith>,
}

impl State {
    fn offer_of(&self, turn: u64) -> Option<String> {
        if turn == self.turn {
            return self.offer.clone();
        }
        self.past.iter().find(|(past, _)| *past == turn).and_then(|(_, offer)| offer.clone())
    }
}

/// What lay on the desk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picked {
    /// The move, if one is known.
    pub offer: Option<String>,
    /// Why nothing more will come.
    pub closed: Option<String>,
    /// Whether the time was over.
    pub timed_out: bool,
}

impl Desk {
    /// The thinker turns to a turn; nothing is offered yet.
    pub fn open(&self, turn: u64) {
        let mut state = self.state.lock();
        let over = (state.turn, state.offer.take());
        state.past.push_back(over);
        if state.past.len() > REMEMBERED {
            state.past.pop_front();
        }
        state.turn = turn;
        state.settled = false;
        self.changed.notify_all();
    }

    /// The thinker thinks with a reasoner from now on.
    pub fn think_with(&self, reasoner: &str, since_start: Duration) {
        let mut state = self.state.lock();
        let (turn, seconds) = (state.turn, since_start.as_secs_f64());
        state.reasoners.push(ThoughtWith { reasoner: reasoner.to_owned(), turn, seconds });
    }

    /// What the thinker has thought with, one after the other.
    pub fn reasoners(&self) -> Vec<ThoughtWith> {
        self.state.lock().reasoners.clone()
    }

    /// Lays down a better answer for the turn that is open.
    pub fn offer(&self, text: String) {
        self.state.lock().offer = Some(text);
    }

    /// The latest move laid down in any turn.
    pub fn last_offer(&self) -> Option<String> {
        let state = self.state.lock();
        state.offer.clone().or_else(|| state.past.iter().rev().find_map(|(_, offer)| offer.clone()))
    }

    /// Nothing better will come for the turn that is open.
    pub fn settle(&self) {
        self.state.lock().settled = true;
        self.changed.notify_all();
    }

    /// Nothing will come any more. The first reason stands.
    pub fn close(&self, reason: &str) {
        self.state.lock().closed.get_or_insert_with(|| reason.to_owned());
        self.changed.notify_all();
    }

    /// Waits for the answer to a turn, at most until `deadline`.
    pub fn wait(&self, turn: u64, deadline: Instant) -> Picked {
        let mut state = self.state.lock();
        let is_over = |state: &State| {
            state.turn > turn || (state.turn == turn && state.settled) || state.closed.is_some()
        };
        let mut timed_out = false;
        while !is_over(&state) && !timed_out {
            timed_out = self.changed.wait_until(&mut state, deadline).timed_out();
        }
        Picked { offer: state.offer_of(turn), closed: state.closed.clone(), timed_out }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_offer_of_the_turn_is_taken() {
        let desk = Desk::default();
        desk.open(1);
        desk.offer("a".into());
        desk.offer("b".into());
        assert_eq!(
            desk.wait(1, Instant::now()),
            Picked { offer: Some("b".into()), closed: None, timed_out: true }
        );
        desk.settle();
        assert!(!desk.wait(1, Instant::now()).timed_out);
    }

    #[test]
    fn every_turn_has_its_own_offer() {
        let desk = Desk::default();
        desk.open(1);
        desk.offer("a".into());
        assert_eq!(desk.wait(2, Instant::now()).offer, None);
        assert_eq!(desk.wait(0, Instant::now()).offer, None);
        desk.open(2);
        assert_eq!(desk.wait(2, Instant::now()).offer, None);
        assert_eq!(desk.wait(1, Instant::now()).offer.as_deref(), Some("a"));
    }

    #[test]
    fn the_last_offer_is_remembered_through_turns_without_one() {
        let desk = Desk::default();
        assert_eq!(desk.last_offer(), None);
        desk.open(1);
        desk.offer("a".into());
        desk.open(2);
        desk.open(3);
        assert_eq!(desk.last_offer().as_deref(), Some("a"));
        desk.offer("b".into());
        assert_eq!(desk.last_offer().as_deref(), Some("b"));
    }

    #[test]
    fn a_closed_desk_keeps_nobody_waiting() {
        let desk = Desk::default();
        desk.close("gone");
        desk.close("again");
        desk.open(3);
        assert_eq!(desk.wait(3, Instant::now()).closed.as_deref(), Some("gone"));
    }
}
