//! The best line that anyone has found, kept from move to move.
//!
//! In go lines that were played through, out comes the best of them, as long as the match stays on it. It plays nothing
//! itself.

use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use reasoner::{Move, Value};
use rustc_hash::FxHashMap;

use crate::line::Line;

/// When a line became the best one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Since the searcher began its first run, the time between runs left out.
    pub after: Duration,
    /// The line's value.
    pub value: Value,
    /// Who found it.
    pub by: String,
}

/// The best line known from the root on, shared by all who look for better ones.
///
/// # Orderings
/// `least` is `Relaxed`: it saves the lock, and under the lock values are compared again.
#[derive(Debug)]
pub(crate) struct Best<S> {
    held: Mutex<Held<S>>,
    /// The value that a new line must reach.
    least: AtomicU64,
    /// No line can have more.
    max_goal: Value,
}

#[derive(Debug)]
struct Held<S> {
    line: Option<Line>,
    /// `line.moves[i]` leads from `states[i]` to `states[i + 1]`.
    states: Vec<S>,
    is_optimal: bool,
    /// Who has seen all lines from the root, or ruled better ones out.
    proved_by: Option<String>,
    /// A move that a rule of its own prefers to the line's first.
    preferred: Option<Move>,
    found: Vec<Found>,
}

impl<S: Eq + Hash + Clone> Best<S> {
    /// Of a game in which no goal is larger than `max_goal`.
    pub(crate) fn new(max_goal: Value) -> Best<S> {
        let held = Held {
            line: None,
            states: Vec::new(),
            is_optimal: false,
            proved_by: None,
            preferred: None,
            found: Vec::new(),
        };
        Best { held: Mutex::new(held), least: AtomicU64::new(0), max_goal }
    }

    /// Whether a line of this value would be the best.
    pub(crate) fn would_take(&self, value: Value) -> bool {
        u64::from(value) >= self.least.load(Ordering::Relaxed)
    }

    /// The value of the line, if there is one.
    pub(crate) fn value(&self) -> Option<Value> {
        self.held.lock().line.as_ref().map(|line| line.value)
    }

    /// Keeps the line if it is the best, and tells by how much its value is larger; of equals the earlier one stays. Its detours
    /// are left out.
    pub(crate) fn offer(&self, line: Line, states: Vec<S>, after: Duration, by: &str) -> Option<Value> {
        debug_assert_eq!(states.len(), line.moves.len() + 1);
        let mut held = self.held.lock();
        let before = held.line.as_ref().map(|line| line.value);
        if before.is_some_and(|before| line.value <= before) {
            return None;
        }
        self.least.store(u64::from(line.value) + 1, Ordering::Relaxed);
        held.is_optimal = line.value >= self.max_goal;
        held.found.push(Found { after, value: line.value, by: by.to_owned() });
        let gain = line.value - before.unwrap_or(0);
        let (line, states) = without_detours(&line, &states);
        held.states = states;
        held.line = Some(line);
        Some(gain)
    }

    /// No line from the root can be better than the one held; if none is held, there is none.
    pub(crate) fn prove(&self, by: &str) {
        let mut held = self.held.lock();
        held.proved_by = Some(by.to_owned());
        held.is_optimal = held.line.is_some();
    }

    /// Whether no line can be better.
    pub(crate) fn is_optimal(&self) -> bool {
        self.held.lock().is_optimal
    }

    /// Whether it is known that there is no line at all.
    pub(crate) fn is_hopeless(&self) -> bool {
        let held = self.held.lock();
        held.proved_by.is_some() && held.line.is_none()
    }

    /// Who has seen all lines from the root, or ruled better ones out; nobody where no goal is larger anyway.
    pub(crate) fn proved_by(&self) -> Option<String> {
        self.held.lock().proved_by.clone()
    }

    /// Follows the match to `state`. The rest of an optimal line is optimal too; a line that does not pass there is of no
    /// use any more.
    pub(crate) fn follow(&self, state: &S) {
        let mut held = self.held.lock();
        let held = &mut *held;
        let at = held.states.iter().position(|passed| passed == state);
        if at != Some(0) {
            held.preferred = None;
        }
        match (&mut held.line, at) {
            (Some(line), Some(at)) => {
                line.moves.drain(..at);
                held.states.drain(..at);
            }
            _ => {
                held.line = None;
                held.states.clear();
                held.is_optimal = false;
                held.proved_by = None;
                self.least.store(0, Ordering::Relaxed);
            }
        }
    }

    /// Prefers a move at the root to the line's, whatever it is worth.
    pub(crate) fn prefer(&self, a_move: Move) {
        self.held.lock().preferred = Some(a_move);
    }

    /// The preferred move, if there is one.
    pub(crate) fn preferred(&self) -> Option<Move> {
        self.held.lock().preferred
    }

    /// The line, and whether it is known to be optimal.
    pub(crate) fn get(&self) -> (Option<Line>, bool) {
        let held = self.held.lock();
        (held.line.clone(), held.is_optimal)
    }

    /// All lines that ever were the best, in order.
    pub(crate) fn found(&self) -> Vec<Found> {
        self.held.lock().found.clone()
    }
}

/// The line without the moves that lead from a state back to it: a match that [follows](Best::follow) it would make them for
/// ever, since a state does not tell how often it was passed.
fn without_detours<S: Eq + Hash + Clone>(line: &Line, states: &[S]) -> (Line, Vec<S>) {
    let last_pass: FxHashMap<&S, usize> = states.iter().zip(0..).collect();
    let (mut moves, mut passed) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(state) = states.get(at) {
        let last = last_pass[state];
        passed.push(state.clone());
        moves.extend(line.moves.get(last));
        at = last + 1;
    }
    (Line { moves, value: line.value }, passed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(best: &Best<u32>, value: Value, first: u32) -> Option<Value> {
        let line = Line { moves: vec![Move(first), Move(first + 1)], value };
        best.offer(line, vec![first, first + 1, first + 2], Duration::ZERO, "a test")
    }

    #[test]
    fn the_better_line_stays_and_of_equals_the_earlier() {
        let best = Best::new(100);
        assert_eq!(offer(&best, 50, 10), Some(50));
        assert_eq!(offer(&best, 50, 20), None);
        assert_eq!(offer(&best, 40, 30), None);
        assert_eq!(best.get().0.map(|line| line.moves), Some(vec![Move(10), Move(11)]));
        assert!(!best.would_take(50) && best.would_take(51));
        assert_eq!(offer(&best, 100, 40), Some(50));
        assert!(best.is_optimal(), "no goal is larger");
        assert_eq!(best.found().iter().map(|it| it.value).collect::<Vec<_>>(), [50, 100]);
    }

    #[test]
    fn a_line_that_comes_back_to_a_state_is_kept_without_what_lies_between() {
        let best = Best::new(100);
        let line = Line { moves: (0..6).map(Move).collect(), value: 50 };
        best.offer(line, vec![10, 10, 11, 12, 11, 10, 13], Duration::ZERO, "a test");
        assert_eq!(best.get().0.map(|line| line.moves), Some(vec![Move(5)]));
        best.follow(&13);
        assert_eq!(best.get().0.map(|line| line.moves), Some(vec![]));
        let line = Line { moves: (0..5).map(Move).collect(), value: 60 };
        best.offer(line, vec![13, 14, 15, 14, 16, 17], Duration::ZERO, "a test");
        assert_eq!(best.get().0.map(|line| line.moves), Some(vec![Move(0), Move(3), Move(4)]));
    }

    #[test]
    fn what_is_left_of_an_optimal_line_is_optimal() {
        let best = Best::new(100);
        best.prove("a test");
        assert!(!best.is_optimal() && best.is_hopeless(), "there is no line");
        offer(&best, 50, 10);
        best.prove("a test");
        best.follow(&11);
        assert_eq!(best.get(), (Some(Line { moves: vec![Move(11)], value: 50 }), true));
    }

    #[test]
    fn a_match_that_leaves_the_line_has_none() {
        let best = Best::new(100);
        offer(&best, 50, 10);
        best.prove("a test");
        best.prefer(Move(7));
        best.follow(&99);
        assert_eq!(best.get(), (None, false));
        assert_eq!(best.preferred(), None);
        assert!(best.would_take(0));
    }
}
