//! The matches of a tournament, in their order, which follows from its plan alone.
//!
//! Every two players meet in *bouts*: the matches behind one opening in all their seats. In games of one role a
//! bout is one match of each, whose goals are compared. Rounds come before games and games before pairings, so
//! that a tournament that is stopped early is fair, and more rounds only add matches.

use reasoner::Dice;

use super::plan::{Plan, PlannedGame};
use crate::manager::spec::PlayerKind;

/// Who sits at a role that is chance.
pub const CHANCE: &str = "random";

/// One match to play.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fixture {
    /// The match id: game, round, players and seating, which is unique in the tournament.
    pub id: String,
    /// The game, by index in the plan.
    pub game_idx: usize,
    /// The round, from 0.
    pub round: usize,
    /// The player at each role that is not chance, by index in the plan.
    pub seats: Vec<usize>,
    /// What the opening follows from; the same for all matches of the game in the round.
    pub opening_seed: u64,
    /// What the manager's other random choices follow from.
    pub seed: u64,
}

impl Fixture {
    /// What the choices of the player at a seat follow from.
    pub fn player_seed(&self, seat_idx: usize) -> u64 {
        Dice::child_seed(self.seed, seat_idx as u64)
    }
}

/// The matches that compare two players behind one opening.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bout {
    /// The two players, the first one standing first in the plan.
    pub pair: (usize, usize),
    /// The game, by index in the plan.
    pub game_idx: usize,
    /// Its matches, by index in the schedule. In games of one role the first player's, then the second's.
    pub fixtures: Vec<usize>,
}

/// Everything that is to be played.
#[derive(Debug, Clone, Default)]
pub struct Schedule {
    /// In the order of playing.
    pub fixtures: Vec<Fixture>,
    /// In the order of playing.
    pub bouts: Vec<Bout>,
}

/// Up to so many roles two players are seated in every way.
const MAX_ALL_SEATINGS: usize = 4;

impl Schedule {
    /// The schedule of a plan. `mark` is a part of match ids that tells tournaments apart.
    pub fn of(plan: &Plan, mark: &str) -> Schedule {
        let mut schedule = Schedule::default();
        let rounds = plan.games.iter().map(|game| game.rounds).max().unwrap_or(0);
        for round in 0..rounds {
            for (game_idx, game) in plan.games.iter().enumerate().filter(|(_, game)| round < game.rounds) {
                let adding = Adding { plan, mark, game, game_idx, round };
                match game.n_seats() {
                    1 => adding.lone_matches(&mut schedule),
                    _ => adding.bouts(&mut schedule),
                }
            }
        }
        schedule
    }
}

/// The matches of one game in one round.
struct Adding<'a> {
    plan: &'a Plan,
    mark: &'a str,
    game: &'a PlannedGame,
    game_idx: usize,
    round: usize,
}

impl Adding<'_> {
    fn bouts(&self, schedule: &mut Schedule) {
        for pair in pairs(self.plan.players.len()) {
            let first = schedule.fixtures.len();
            for (seating_idx, seats) in self.seatings(pair).into_iter().enumerate() {
                schedule.fixtures.push(self.fixture(&[pair.0, pair.1], seating_idx, seats));
            }
            let fixtures = (first..schedule.fixtures.len()).collect();
            schedule.bouts.push(Bout { pair, game_idx: self.game_idx, fixtures });
        }
    }

    fn lone_matches(&self, schedule: &mut Schedule) {
        let first = schedule.fixtures.len();
        let n_players = self.plan.players.len();
        schedule
            .fixtures
            .extend((0..n_players).map(|player_idx| self.fixture(&[player_idx], 0, vec![player_idx])));
        schedule.bouts.extend(pairs(n_players).into_iter().map(|pair| Bout {
            pair,
            game_idx: self.game_idx,
            fixtures: vec![first + pair.0, first + pair.1],
        }));
    }

    fn fixture(&self, players: &[usize], seating_idx: usize, seats: Vec<usize>) -> Fixture {
        // Each match has a seed of its own, wherever it stands in the schedule.
        let seed_at = |place: &[usize]| {
            place.iter().fold(self.plan.seed, |seed, &idx| Dice::child_seed(seed, idx as u64))
        };
        let names: Vec<&str> = players.iter().map(|&idx| self.plan.players[idx].name.as_str()).collect();
        let (game, round, names) = (&self.game.name, self.round + 1, names.join("."));
        let last_player = players.last().copied().unwrap_or(0);
        Fixture {
            id: format!("{game}.{round:03}.{names}.{}.{}", seating_idx + 1, self.mark),
            game_idx: self.game_idx,
            round: self.round,
            opening_seed: seed_at(&[0, self.game_idx, self.round]),
            seed: seed_at(&[1, self.game_idx, self.round, players[0], last_player, seating_idx]),
            seats,
        }
    }

    /// The ways to seat two players. With two roles: both ways. With up to four: every way in which both sit
    /// (Sturtevant 2008, "An analysis of UCT in multi-player games"). With more: by turns, in every rotation.
    /// A remote player sits at one role only.
    fn seatings(&self, pair: (usize, usize)) -> Vec<Vec<usize>> {
        let n_seats = self.game.n_seats();
        let seat = |of_second: &dyn Fn(usize) -> bool| -> Vec<usize> {
            (0..n_seats).map(|seat_idx| if of_second(seat_idx) { pair.1 } else { pair.0 }).collect()
        };
        let is_remote = |idx: usize| matches!(self.plan.players[idx].spec.kind, PlayerKind::Remote(_));
        if n_seats > 2 && (is_remote(pair.0) || is_remote(pair.1)) {
            let remote_is_second = is_remote(pair.1);
            return (0..n_seats).map(|alone| seat(&|idx| (idx == alone) == remote_is_second)).collect();
        }
        if n_seats <= MAX_ALL_SEATINGS {
            return (1..(1usize << n_seats) - 1)
                .map(|mask| seat(&|idx| mask >> idx & 1 == 1))
                .rev()
                .collect();
        }
        let mut seatings: Vec<Vec<usize>> = Vec::new();
        for shift in 0..2 * n_seats {
            let (turn, offset) = (shift / n_seats, shift % n_seats);
            let seats = seat(&|idx| ((idx + offset) % n_seats + turn) % 2 == 1);
            if !seatings.contains(&seats) {
                seatings.push(seats);
            }
        }
        seatings
    }
}

/// In how many ways two players are seated at most.
pub fn max_seatings(n_seats: u64) -> u64 {
    if n_seats <= MAX_ALL_SEATINGS as u64 { (1 << n_seats) - 2 } else { 2 * n_seats }
}

/// Every two of `n` players, the smaller index first.
pub fn pairs(n: usize) -> Vec<(usize, usize)> {
    (0..n).flat_map(|first| (first + 1..n).map(move |second| (first, second))).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::tournament::plan::test_plan;

    #[test]
    fn seats_change_behind_the_same_opening() {
        let plan = test_plan("rounds = 3", &["nim"], &["random", "legal", "random"]);
        let schedule = Schedule::of(&plan, "x");
        assert_eq!((schedule.fixtures.len(), schedule.bouts.len()), (3 * 3 * 2, 9));
        for bout in &schedule.bouts {
            let [one, other] = bout.fixtures[..] else { panic!("two matches") };
            let (one, other) = (&schedule.fixtures[one], &schedule.fixtures[other]);
            assert_eq!(one.seats, [bout.pair.0, bout.pair.1]);
            assert_eq!(other.seats, [bout.pair.1, bout.pair.0]);
            assert_eq!(one.opening_seed, other.opening_seed);
            assert_ne!(one.seed, other.seed);
        }
        let ids: HashSet<&str> = schedule.fixtures.iter().map(|fixture| fixture.id.as_str()).collect();
        let seeds: HashSet<u64> = schedule.fixtures.iter().map(|fixture| fixture.seed).collect();
        assert_eq!((ids.len(), seeds.len()), (18, 18));
    }

    #[test]
    fn more_rounds_only_add_matches() {
        let of = |rounds: &str| {
            Schedule::of(&test_plan(rounds, &["nim", "hanoi"], &["random", "legal"]), "x").fixtures
        };
        let (few, many) = (of("rounds = 2"), of("rounds = 5"));
        assert_eq!(few, many[..few.len()]);
    }

    #[test]
    fn three_roles_are_filled_in_every_way() {
        let plan = test_plan("rounds = 1", &["three-in-a-row-three"], &["random", "legal"]);
        let schedule = Schedule::of(&plan, "x");
        let seatings: HashSet<&[usize]> =
            schedule.fixtures.iter().map(|fixture| fixture.seats.as_slice()).collect();
        assert_eq!((schedule.bouts.len(), seatings.len()), (1, 6));
        assert!(seatings.iter().all(|seats| seats.contains(&0) && seats.contains(&1)));
    }

    #[test]
    fn a_remote_player_sits_at_each_of_three_roles_once() {
        let plan = test_plan("rounds = 1", &["three-in-a-row-three"], &["random", "http://localhost:1"]);
        let schedule = Schedule::of(&plan, "x");
        let seatings: Vec<&[usize]> = schedule.fixtures.iter().map(|it| it.seats.as_slice()).collect();
        assert_eq!(seatings, [[1, 0, 0], [0, 1, 0], [0, 0, 1]]);
    }

    #[test]
    fn alone_every_player_plays_once_a_round_and_is_compared_with_every_other() {
        let plan = test_plan("rounds = 2", &["hanoi"], &["random", "legal", "random"]);
        let schedule = Schedule::of(&plan, "x");
        assert_eq!((schedule.fixtures.len(), schedule.bouts.len()), (6, 6));
        assert_eq!((&schedule.bouts[5].fixtures, schedule.bouts[5].pair), (&vec![4, 5], (1, 2)));
    }
}
