//! The best way to the end that any playout of a single-role game ever found.

use reasoner::Move;

use crate::sync::{AtomicU64, Mutex, Ordering};

/// The best line from the root, with its states, so that it can be followed when moves are made.
#[derive(Debug)]
pub(crate) struct Line<S> {
    pub(crate) value: u64,
    /// `moves[i]` leads from `states[i]` to `states[i + 1]`.
    pub(crate) moves: Vec<Move>,
    pub(crate) states: Vec<S>,
}

/// The keeper of the line.
#[derive(Debug)]
pub(crate) struct BestLine<S> {
    line: Mutex<Option<Line<S>>>,
    /// The value that a new line must reach, one more than the line's: a look at it saves the lock.
    /// `Relaxed`: under the lock it is compared again.
    least: AtomicU64,
}

impl<S: Eq + Clone> BestLine<S> {
    pub(crate) fn new() -> BestLine<S> {
        BestLine { line: Mutex::new(None), least: AtomicU64::new(0) }
    }

    /// Whether a playout of this value would be the best.
    pub(crate) fn would_take(&self, value: u64) -> bool {
        value >= self.least.load(Ordering::Relaxed)
    }

    /// Keeps the line if it is the best; of equals the earlier one stays.
    pub(crate) fn offer(&self, line: Line<S>) {
        let mut held = self.line.lock();
        if held.as_ref().is_none_or(|held| line.value > held.value) {
            self.least.store(line.value + 1, Ordering::Relaxed);
            *held = Some(line);
        }
    }

    /// Follows the moves made from the old root to `state`; a line that does not lead there is forgotten.
    pub(crate) fn follow(&self, state: &S) {
        let mut held = self.line.lock();
        let at = held.as_ref().and_then(|line| line.states.iter().position(|passed| passed == state));
        match (&mut *held, at) {
            (Some(line), Some(at)) => {
                line.moves.drain(..at);
                line.states.drain(..at);
            }
            _ => {
                *held = None;
                self.least.store(0, Ordering::Relaxed);
            }
        }
    }

    /// The line's value and moves.
    pub(crate) fn get(&self) -> Option<(u64, Vec<Move>)> {
        self.line.lock().as_ref().map(|line| (line.value, line.moves.clone()))
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    fn line(value: u64, first: u32) -> Line<u32> {
        Line { value, moves: vec![Move(first), Move(first + 1)], states: vec![first, first + 1, first + 2] }
    }

    #[test]
    fn the_better_line_stays_and_of_equals_the_earlier() {
        let best = BestLine::new();
        best.offer(line(50, 10));
        best.offer(line(50, 20));
        best.offer(line(40, 30));
        assert_eq!(best.get(), Some((50, vec![Move(10), Move(11)])));
        assert!(!best.would_take(50));
        assert!(best.would_take(51));
    }

    #[test]
    fn the_line_follows_its_own_moves_and_no_others() {
        let best = BestLine::new();
        best.offer(line(50, 10));
        best.follow(&11);
        assert_eq!(best.get(), Some((50, vec![Move(11)])));
        best.follow(&11);
        assert_eq!(best.get(), Some((50, vec![Move(11)])));
        best.follow(&99);
        assert_eq!(best.get(), None);
        assert!(best.would_take(0));
    }
}
