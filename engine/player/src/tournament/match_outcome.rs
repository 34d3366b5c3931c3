//! What a match says about its players: scores from goals, and who lost by record.

use crate::manager::record::{Record, Status};

/// What counts of a record. Lists are by seat: a role that is not chance.
#[derive(Debug, Clone, PartialEq)]
pub struct MatchOutcome {
    /// How it ended.
    pub status: Status,
    /// The goals; none where there is none, or the match was not played to its end.
    pub goals: Vec<Option<u32>>,
    /// Who lost by not answering any more.
    pub forfeited: Vec<bool>,
    /// Who never answered anything.
    pub silent: Vec<bool>,
    /// How many moves were missing or illegal.
    pub n_errors: Vec<usize>,
    /// Joint moves, those of the opening too.
    pub n_steps: usize,
    /// How many of them were the opening.
    pub opening_plies: usize,
    /// How long it took.
    pub seconds: f64,
    /// When it began, in milliseconds since 1970.
    pub started_ms: u64,
}

impl MatchOutcome {
    /// Reads what counts from a record.
    pub fn of(record: &Record, is_chance: &[bool]) -> MatchOutcome {
        let seats = || is_chance.iter().enumerate().filter(|(_, is_chance)| !**is_chance).map(|(idx, _)| idx);
        let forfeit = |idx: usize| record.forfeits.iter().find(|it| record.roles.get(idx) == Some(&it.role));
        MatchOutcome {
            status: record.status,
            goals: seats().map(|idx| record.goals.get(idx).copied().flatten()).collect(),
            forfeited: seats().map(|idx| forfeit(idx).is_some()).collect(),
            silent: seats().map(|idx| forfeit(idx).is_some_and(|it| !it.answered)).collect(),
            n_errors: seats()
                .map(|idx| record.errors.iter().filter(|it| record.roles.get(idx) == Some(&it.role)).count())
                .collect(),
            n_steps: record.moves.len(),
            opening_plies: record.opening_plies,
            seconds: record.seconds,
            started_ms: record.started_ms,
        }
    }

    /// Whether it counts.
    pub fn is_decided(&self) -> bool {
        self.status.is_decided()
    }

    /// The score of `first` against `second` in a match of both: 1 where its seats have the larger mean goal, 0.5
    /// where it is equal. Whoever did not answer any more has lost to whoever did. None if the match does not count.
    pub fn duel(&self, seats: &[usize], first: usize, second: usize) -> Option<f64> {
        self.is_decided().then(|| compare(self.standing_of(seats, first), self.standing_of(seats, second)))
    }

    /// What two players' matches alone are compared by: the goal, or less than any goal for a match lost by record.
    pub fn lone_standing(&self) -> Option<f64> {
        self.is_decided().then(|| self.standing_of(&[0], 0))
    }

    /// The mean goal of a player's seats; -1 where it lost the match by record.
    fn standing_of(&self, seats: &[usize], player_idx: usize) -> f64 {
        let own =
            || seats.iter().enumerate().filter(move |(_, idx)| **idx == player_idx).map(|(seat, _)| seat);
        if own().any(|seat_idx| self.forfeited[seat_idx]) {
            return -1.0;
        }
        let sum: f64 = own().map(|seat_idx| f64::from(self.goals[seat_idx].unwrap_or(0))).sum();
        sum / own().count().max(1) as f64
    }
}

/// 1, 0.5 or 0 for more, equal or less.
pub fn compare(first: f64, second: f64) -> f64 {
    if first > second {
        1.0
    } else if first < second {
        0.0
    } else {
        0.5
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A match that was played to its end.
    pub fn completed(goals: &[u32]) -> MatchOutcome {
        MatchOutcome {
            status: Status::Completed,
            goals: goals.iter().copied().map(Some).collect(),
            forfeited: vec![false; goals.len()],
            silent: vec![false; goals.len()],
            n_errors: vec![0; goals.len()],
            n_steps: 9,
            opening_plies: 1,
            seconds: 1.0,
            started_ms: 0,
        }
    }

    #[test]
    fn goals_are_compared() {
        assert_eq!(completed(&[100, 0]).duel(&[4, 7], 4, 7), Some(1.0));
        assert_eq!(completed(&[100, 0]).duel(&[7, 4], 4, 7), Some(0.0));
        assert_eq!(completed(&[50, 50]).duel(&[7, 4], 4, 7), Some(0.5));
        // Two seats of mean 30 against one of 40.
        assert_eq!(completed(&[60, 40, 0]).duel(&[4, 7, 4], 4, 7), Some(0.0));
    }

    #[test]
    fn whoever_answers_no_more_has_lost() {
        let forfeited = |who: [bool; 2]| MatchOutcome {
            status: Status::Forfeited,
            goals: vec![None; 2],
            forfeited: who.to_vec(),
            ..completed(&[0, 0])
        };
        assert_eq!(forfeited([true, false]).duel(&[0, 1], 0, 1), Some(0.0));
        assert_eq!(forfeited([false, true]).duel(&[0, 1], 0, 1), Some(1.0));
        assert_eq!(forfeited([true, true]).duel(&[0, 1], 0, 1), Some(0.5));
    }

    #[test]
    fn a_match_that_nobody_could_finish_says_nothing() {
        let void = MatchOutcome { status: Status::TooManySteps, ..completed(&[0, 0]) };
        assert_eq!(void.duel(&[0, 1], 0, 1), None);
    }
}
