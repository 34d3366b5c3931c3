//! What a turn may use of its time where time is managed.
//!
//! In go a brain and the deadline of a turn, out comes the budget of its search, which ends when the choice is settled. A
//! deadline stands as it is: time that a play clock leaves over is nobody's. Processor time is saved from turn to turn.

use std::time::{Duration, Instant};

use reasoner::Role;
use search::{Budget, Settling, WorkLimit};

use crate::brain::{Brain, TimeUse};

/// The part of a turn's own time from which on a clear choice ends the search. Chosen, not measured: a move that is ahead
/// so far is rarely passed in the rest, and two fifths saved are enough for every third turn to take nearly twice its time.
const CLEAR_FROM: f64 = 0.6;

/// Processor time that earlier turns of a match have left unused.
///
/// Each turn that is searched adds the time of one move and takes what its search worked, so that a match never takes more
/// than its turns together have; where the limit comes in the middle of playouts these are finished, as in every turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bank {
    saved: Duration,
}

impl Bank {
    /// Of a match that begins, if time is managed in it. Not for one role, whose line may get better to the end, and not where
    /// playouts are counted.
    pub fn of(brain: &Brain, n_roles: usize) -> Option<Bank> {
        let is_managed = brain.time == TimeUse::Managed && brain.playouts.is_none() && n_roles > 1;
        is_managed.then(Bank::default)
    }

    /// The budget of a role's turn. Where processor time is limited, a turn may take as much again from what is saved.
    pub fn budget(self, brain: &Brain, role: Role, deadline: Instant) -> Budget {
        let budget = brain.budget(Some(deadline));
        let Some(work) = budget.work else {
            return Budget { settled_for: Some(Settling { role, clear_from: CLEAR_FROM }), ..budget };
        };
        let limit = self.limit(work.limit);
        let clear_from = CLEAR_FROM * work.limit.as_secs_f64() / limit.as_secs_f64();
        Budget {
            work: Some(WorkLimit { limit, ..work }),
            settled_for: Some(Settling { role, clear_from }),
            ..budget
        }
    }

    /// After a turn that has worked so long.
    pub fn after(self, brain: &Brain, worked: Duration) -> Bank {
        let each = brain.cpu.unwrap_or_default();
        Bank { saved: (self.saved + each).saturating_sub(worked) }
    }

    fn limit(self, each: Duration) -> Duration {
        each + self.saved.min(each)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn brain(settings: &str) -> Brain {
        Brain::parse(settings).unwrap()
    }

    /// What a turn may work, and from which moment of it on a clear choice ends it.
    fn turn(bank: Bank, brain: &Brain) -> (Duration, Duration) {
        let budget = bank.budget(brain, Role(1), Instant::now());
        let (limit, settling) = (budget.work.unwrap().limit, budget.settled_for.unwrap());
        assert_eq!(settling.role, Role(1));
        (limit, limit.mul_f64(settling.clear_from))
    }

    #[test]
    fn time_is_managed_where_that_is_wanted_and_can_end_a_search() {
        let managed = brain("time=managed,cpu=1");
        assert!(Bank::of(&managed, 2).is_some() && Bank::of(&managed, 1).is_none());
        assert!(Bank::of(&brain("cpu=1"), 2).is_none());
        // As a tournament does with the players of a game.
        let counted = Brain { playouts: Some(10), ..managed };
        assert!(Bank::of(&counted, 2).is_none());
    }

    #[test]
    fn the_deadline_of_a_turn_stands() {
        let deadline = Instant::now() + SECOND;
        for settings in ["time=managed", "time=managed,cpu=1"] {
            let bank = Bank { saved: SECOND * 10 };
            let budget = bank.budget(&brain(settings), Role(0), deadline);
            assert_eq!(budget.deadline, Some(deadline), "{settings}");
        }
        let budget = Bank::default().budget(&brain("time=managed"), Role(0), deadline);
        assert!(budget.work.is_none());
        assert_eq!(budget.settled_for, Some(Settling { role: Role(0), clear_from: CLEAR_FROM }));
    }

    #[test]
    fn a_turn_takes_twice_its_time_if_as_much_is_saved() {
        let brain = brain("time=managed,cpu=1");
        let clear_from = SECOND.mul_f64(CLEAR_FROM);
        let close = |one: Duration, other: Duration| one.abs_diff(other) < Duration::from_micros(1);
        for (saved, limit) in [(0.0, 1.0), (0.5, 1.5), (1.0, 2.0), (7.0, 2.0)] {
            let bank = Bank { saved: Duration::from_secs_f64(saved) };
            let (told, clear) = turn(bank, &brain);
            assert_eq!(told, Duration::from_secs_f64(limit), "{saved} s");
            assert!(close(clear, clear_from), "whatever is saved: {clear:?}");
        }
    }

    #[test]
    fn a_match_takes_no_more_than_its_turns_have() {
        let brain = brain("time=managed,cpu=1");
        // By turns a choice is clear, and others take all that they may.
        let (mut bank, mut total, mut longest) = (Bank::default(), Duration::ZERO, Duration::ZERO);
        for turn_idx in 1..=30 {
            let (limit, clear) = turn(bank, &brain);
            let worked = if turn_idx % 3 == 0 { limit } else { clear };
            bank = bank.after(&brain, worked);
            total += worked;
            longest = longest.max(worked);
            assert_eq!(total + bank.saved, SECOND * turn_idx, "turn {turn_idx}");
        }
        assert!(longest > SECOND * 17 / 10 && longest <= SECOND * 2, "{longest:?}");
    }

    #[test]
    fn a_search_that_ends_late_leaves_nothing_saved_and_no_debt() {
        let brain = brain("time=managed,cpu=1");
        let bank = Bank { saved: SECOND / 2 }.after(&brain, SECOND * 2);
        assert_eq!(bank, Bank::default());
        assert_eq!(turn(bank, &brain).0, SECOND);
    }
}
