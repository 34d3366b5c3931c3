//! When to stop thinking and when to answer, so that no clock is ever missed because of us.
//!
//! In go a clock and the moment it began, out come two deadlines before its end. The margin scales with the
//! clock and grows with the lateness that is measured on this machine.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// The two moments that end a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    /// The search ends.
    pub search: Instant,
    /// The answer leaves with what is known, whatever the search does.
    pub answer: Instant,
}

/// Measures lateness and sets the margin.
///
/// ggp-base counts from its last byte sent and gives PLAY one second of grace, START none (section 6 of the
/// protocol page). A tenth of the clock is kept, within bounds. The smallest was measured on two cores with a
/// load of 7 to 10 (a player of four threads, a hog, compilers, a flood of packets), some 2000 moves: answers left
/// at most 248 ms after their deadline, nearly all within 60 ms, and at most 105 ms went by between the manager and
/// us, of which a player sees nothing.
#[derive(Debug, Default)]
pub struct Margin {
    /// By how much an answer left late, recently.
    lateness: Mutex<Duration>,
}

const SMALLEST: Duration = Duration::from_millis(400);
const LARGEST: Duration = Duration::from_millis(600);
/// Time for a first legal move when the clock leaves none.
const LEAST_TURN: Duration = Duration::from_millis(100);

impl Margin {
    /// The deadlines of a turn whose request was received at `received`.
    pub fn deadlines(&self, received: Instant, clock: Duration) -> Deadlines {
        // Twice the worst that was seen, but never more than half of the clock for that.
        let measured = (*self.lateness.lock() * 2).min(clock / 2);
        let margin = (clock / 10).clamp(SMALLEST, LARGEST).max(measured);
        let answer = clock.saturating_sub(margin * 2 / 3).max(LEAST_TURN);
        let search = clock.saturating_sub(margin).max(LEAST_TURN / 2);
        Deadlines { search: received + search, answer: received + answer }
    }

    /// Takes note of when an answer left that was to leave at `deadline`. Old lateness fades.
    pub fn note(&self, deadline: Instant) {
        let late = Instant::now().saturating_duration_since(deadline);
        let mut lateness = self.lateness.lock();
        *lateness = late.max(*lateness * 9 / 10);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(margin: &Margin, clock: Duration) -> (Duration, Duration) {
        let received = Instant::now();
        let deadlines = margin.deadlines(received, clock);
        (deadlines.search - received, deadlines.answer - received)
    }

    #[test]
    fn the_margin_scales_with_the_clock() {
        let margin = Margin::default();
        let of = |clock| turn(&margin, Duration::from_secs(clock));
        assert_eq!(of(1), (Duration::from_millis(600), Duration::from_secs(1) - SMALLEST * 2 / 3));
        assert_eq!(
            of(5),
            (Duration::from_millis(4500), Duration::from_secs(5) - Duration::from_millis(500) * 2 / 3)
        );
        assert_eq!(of(30), (Duration::from_millis(29_400), Duration::from_millis(29_600)));
    }

    #[test]
    fn no_clock_at_all_still_leaves_a_moment() {
        let (search, answer) = turn(&Margin::default(), Duration::ZERO);
        assert!(search < answer && answer <= LEAST_TURN);
    }

    #[test]
    fn lateness_widens_the_margin_and_fades() {
        let margin = Margin::default();
        *margin.lateness.lock() = Duration::from_millis(250);
        let (search, _) = turn(&margin, Duration::from_secs(1));
        assert_eq!(search, Duration::from_millis(500));
        (0..50).for_each(|_| margin.note(Instant::now() + Duration::from_secs(1)));
        assert_eq!(turn(&margin, Duration::from_secs(1)).0, Duration::from_millis(600));
    }
}
