//! Who stands where: what the matches that were played say about players, pairings and games.
//!
//! In go a plan, its schedule and the outcomes so far, out come numbers. Only bouts whose matches are all played
//! count, in the order of the schedule, and none behind the one that decided its pairing: what is told does not
//! depend on how many matches ran at the same time, or on who was faster.

use serde::Serialize;

use super::match_outcome::{MatchOutcome, compare};
use super::plan::Plan;
use super::rating::{self, Scored};
use super::schedule::{Bout, Schedule, pairs};
use super::statistics::{Estimate, Moments, Verdict, elo_difference, wilson};

/// Won, equal and lost matches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Score 1.
    pub won: usize,
    /// Score 0.5.
    pub equal: usize,
    /// Score 0.
    pub lost: usize,
}

impl Tally {
    fn add(&mut self, score: f64) {
        match score {
            0.5 => self.equal += 1,
            score if score > 0.5 => self.won += 1,
            _ => self.lost += 1,
        }
    }

    /// How many.
    pub fn n(&self) -> usize {
        self.won + self.equal + self.lost
    }

    /// The mean score with Wilson's interval.
    pub fn share(&self) -> Estimate {
        wilson(self.won as f64 + self.equal as f64 / 2.0, self.n())
    }

    /// As the other player sees it.
    pub fn mirrored(self) -> Tally {
        Tally { won: self.lost, lost: self.won, ..self }
    }

    fn join(&mut self, other: Tally) {
        self.won += other.won;
        self.equal += other.equal;
        self.lost += other.lost;
    }
}

/// One player, over all games or in one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Standing {
    /// The player's name.
    pub name: String,
    /// Its matches against the others; in games of one role, comparisons with the others' goals.
    #[serde(flatten)]
    pub tally: Tally,
    /// The mean score with Wilson's interval.
    pub score: Estimate,
    /// The rating.
    pub elo: Estimate,
    /// The mean goal of its seats in matches that count and were played to their end.
    pub mean_goal: Option<f64>,
    /// Moves that were missing or illegal, in all matches.
    pub errors: usize,
    /// Matches lost by not answering any more.
    pub forfeits: usize,
}

/// Two players against each other, over all games or in one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Pairing {
    /// By index in the plan; the first one stands first there.
    #[serde(skip)]
    pub pair: (usize, usize),
    /// The first player's name.
    pub first: String,
    /// The second player's name.
    pub second: String,
    /// How many bouts count.
    pub bouts: usize,
    /// The first player's matches against the second.
    #[serde(flatten)]
    pub tally: Tally,
    /// The first player's mean score with Wilson's interval.
    pub score: Estimate,
    /// How much stronger the first player is, from the scores of bouts.
    pub elo: Option<Estimate>,
    /// What the test says, if there is one.
    pub sprt: Option<Test>,
}

/// The state of a sequential test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Test {
    /// What it says.
    pub verdict: Verdict,
    /// The logarithm of the likelihood ratio after the bouts that count.
    pub log_likelihood_ratio: f64,
    /// Bouts it took, or has so far.
    pub bouts: usize,
}

/// Players and pairings over some games.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Table {
    /// In the order of the plan.
    pub players: Vec<Standing>,
    /// Every two.
    pub pairings: Vec<Pairing>,
}

impl Table {
    /// The players with their index, by rating.
    pub fn strongest_first(&self) -> Vec<(usize, &Standing)> {
        let mut players: Vec<(usize, &Standing)> = self.players.iter().enumerate().collect();
        players.sort_by(|(_, one), (_, other)| other.elo.value.total_cmp(&one.elo.value));
        players
    }
}

/// Everything that is told at the end.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Standings {
    /// Over all games, with the tests.
    #[serde(flatten)]
    pub overall: Table,
    /// Game by game, by name.
    pub games: Vec<(String, Table)>,
}

/// A bout that counts.
struct Counted<'a> {
    bout: &'a Bout,
    /// The first player's score in each match.
    duels: Vec<f64>,
    score: f64,
}

/// Whether a match will not be played, as long as the tournament runs.
pub type Skipped<'a> = &'a [bool];

/// What the outcomes say.
pub fn standings(
    plan: &Plan,
    schedule: &Schedule,
    outcomes: &[Option<MatchOutcome>],
    skipped: Skipped,
) -> Standings {
    let (counted, tests) = counted_of_all(plan, schedule, outcomes, skipped);
    let telling = Telling { plan, schedule, outcomes, counted: &counted };
    let games = plan.games.iter().enumerate();
    let games = games.map(|(game_idx, game)| (game.name.clone(), telling.table(Some(game_idx)))).collect();
    Standings { overall: telling.overall(&tests), games }
}

/// What the outcomes say over all games, for a look on the way.
pub fn overall(
    plan: &Plan,
    schedule: &Schedule,
    outcomes: &[Option<MatchOutcome>],
    skipped: Skipped,
) -> Table {
    let (counted, tests) = counted_of_all(plan, schedule, outcomes, skipped);
    Telling { plan, schedule, outcomes, counted: &counted }.overall(&tests)
}

/// The bouts that count, and for each pairing the state of its test.
fn counted_of_all<'a>(
    plan: &Plan,
    schedule: &'a Schedule,
    outcomes: &[Option<MatchOutcome>],
    skipped: Skipped,
) -> (Vec<Counted<'a>>, Vec<Option<Test>>) {
    let mut counted = Vec::new();
    let mut tests = Vec::new();
    for pair in pairs(plan.players.len()) {
        let (of_pair, test) = counted_of(plan, schedule, outcomes, skipped, pair);
        counted.extend(of_pair);
        tests.push(test);
    }
    (counted, tests)
}

/// What the test says of a pairing, if there is a test.
pub fn verdict(
    plan: &Plan,
    schedule: &Schedule,
    outcomes: &[Option<MatchOutcome>],
    skipped: Skipped,
    pair: (usize, usize),
) -> Option<Verdict> {
    counted_of(plan, schedule, outcomes, skipped, pair).1.map(|test| test.verdict)
}

/// The bouts of a pairing that count, and the state of its test.
fn counted_of<'a>(
    plan: &Plan,
    schedule: &'a Schedule,
    outcomes: &[Option<MatchOutcome>],
    skipped: Skipped,
    pair: (usize, usize),
) -> (Vec<Counted<'a>>, Option<Test>) {
    let of_pair = || schedule.bouts.iter().filter(|bout| bout.pair == pair);
    let is_open = |bout: &&Bout| bout.fixtures.iter().any(|&idx| outcomes[idx].is_none() && !skipped[idx]);
    let Some(sprt) = plan.sprt else {
        return (of_pair().filter_map(|bout| count(schedule, outcomes, bout)).collect(), None);
    };
    // The test must not know bouts behind one that is still played: short matches end first.
    let mut bouts: Vec<Counted> = of_pair()
        .take_while(|bout| !is_open(bout))
        .filter_map(|bout| count(schedule, outcomes, bout))
        .collect();
    let (verdict, moments) = sprt.run(bouts.iter().map(|bout| bout.score));
    bouts.truncate(moments.n);
    let log_likelihood_ratio = sprt.log_likelihood_ratio(&moments);
    (bouts, Some(Test { verdict, log_likelihood_ratio, bouts: moments.n }))
}

/// The scores of a bout; none if a match is not played, or none says anything.
fn count<'a>(schedule: &Schedule, outcomes: &[Option<MatchOutcome>], bout: &'a Bout) -> Option<Counted<'a>> {
    let (first, second) = bout.pair;
    let played: Vec<(&MatchOutcome, &[usize])> = bout
        .fixtures
        .iter()
        .map(|&idx| outcomes[idx].as_ref().map(|outcome| (outcome, schedule.fixtures[idx].seats.as_slice())))
        .collect::<Option<_>>()?;
    let duels: Vec<f64> = match played[..] {
        [(one, [_]), (other, [_])] => one
            .lone_standing()
            .zip(other.lone_standing())
            .map(|(one, other)| compare(one, other))
            .into_iter()
            .collect(),
        _ => played.iter().filter_map(|(outcome, seats)| outcome.duel(seats, first, second)).collect(),
    };
    let score = duels.iter().sum::<f64>() / duels.len() as f64;
    (!duels.is_empty()).then_some(Counted { bout, duels, score })
}

struct Telling<'a> {
    plan: &'a Plan,
    schedule: &'a Schedule,
    outcomes: &'a [Option<MatchOutcome>],
    counted: &'a [Counted<'a>],
}

impl Telling<'_> {
    /// Over all games, with the tests.
    fn overall(&self, tests: &[Option<Test>]) -> Table {
        let mut table = self.table(None);
        table.pairings.iter_mut().zip(tests).for_each(|(pairing, test)| pairing.sprt = *test);
        table
    }

    /// Over one game, or over all.
    fn table(&self, game_idx: Option<usize>) -> Table {
        let is_of_game = |idx: usize| game_idx.is_none_or(|wanted| wanted == idx);
        let counted: Vec<&Counted> =
            self.counted.iter().filter(|counted| is_of_game(counted.bout.game_idx)).collect();
        let n_players = self.plan.players.len();
        let pairings: Vec<Pairing> =
            pairs(n_players).into_iter().map(|pair| self.pairing(pair, &counted)).collect();
        let scored: Vec<Scored> =
            counted.iter().map(|counted| Scored { pair: counted.bout.pair, score: counted.score }).collect();
        let elos = rating::ratings(n_players, &scored);
        let players = (0..n_players)
            .map(|player_idx| {
                let mut tally = Tally::default();
                for pairing in &pairings {
                    if pairing.pair.0 == player_idx {
                        tally.join(pairing.tally);
                    } else if pairing.pair.1 == player_idx {
                        tally.join(pairing.tally.mirrored());
                    }
                }
                let seats = self.seats(player_idx, game_idx);
                Standing {
                    name: self.plan.players[player_idx].name.clone(),
                    tally,
                    score: tally.share(),
                    elo: elos[player_idx],
                    mean_goal: self.mean_goal(player_idx, game_idx, &counted),
                    errors: seats.iter().map(|(outcome, seat_idx)| outcome.n_errors[*seat_idx]).sum(),
                    forfeits: seats.iter().filter(|(outcome, seat_idx)| outcome.forfeited[*seat_idx]).count(),
                }
            })
            .collect();
        Table { players, pairings }
    }

    fn pairing(&self, pair: (usize, usize), counted: &[&Counted]) -> Pairing {
        let of_pair = || counted.iter().filter(|counted| counted.bout.pair == pair);
        let mut tally = Tally::default();
        of_pair().flat_map(|counted| &counted.duels).for_each(|&score| tally.add(score));
        let moments: Moments = of_pair().map(|counted| counted.score).collect();
        Pairing {
            pair,
            first: self.plan.players[pair.0].name.clone(),
            second: self.plan.players[pair.1].name.clone(),
            bouts: moments.n,
            tally,
            score: tally.share(),
            elo: elo_difference(&moments),
            sprt: None,
        }
    }

    /// Every seat of a player in matches that were played.
    fn seats(&self, player_idx: usize, game_idx: Option<usize>) -> Vec<(&MatchOutcome, usize)> {
        let fixtures = self.schedule.fixtures.iter().zip(self.outcomes);
        fixtures
            .filter(|(fixture, _)| game_idx.is_none_or(|wanted| wanted == fixture.game_idx))
            .filter_map(|(fixture, outcome)| outcome.as_ref().map(|outcome| (fixture, outcome)))
            .flat_map(|(fixture, outcome)| {
                let seats = fixture.seats.iter().enumerate();
                seats.filter(|(_, idx)| **idx == player_idx).map(move |(seat_idx, _)| (outcome, seat_idx))
            })
            .collect()
    }

    /// Over the matches of bouts that count, each once; in games of one role over all of them.
    fn mean_goal(&self, player_idx: usize, game_idx: Option<usize>, counted: &[&Counted]) -> Option<f64> {
        let mut counts = vec![false; self.outcomes.len()];
        counted.iter().flat_map(|counted| &counted.bout.fixtures).for_each(|&idx| counts[idx] = true);
        let mut goals = Moments::default();
        for (idx, fixture) in self.schedule.fixtures.iter().enumerate() {
            let is_alone = fixture.seats.len() == 1 && game_idx.is_none_or(|it| it == fixture.game_idx);
            let Some(outcome) = self.outcomes[idx].as_ref().filter(|_| counts[idx] || is_alone) else {
                continue;
            };
            let own = fixture.seats.iter().zip(&outcome.goals).filter(|(seated, _)| **seated == player_idx);
            own.filter_map(|(_, goal)| *goal).for_each(|goal| goals.add(f64::from(goal)));
        }
        (goals.n > 0).then_some(goals.mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tournament::match_outcome::tests::completed;
    use crate::tournament::plan::test_plan;

    /// The first player wins every match, as far as they are played.
    fn won_by_first(schedule: &Schedule, is_played: impl Fn(usize) -> bool) -> Vec<Option<MatchOutcome>> {
        let outcome = |idx: usize| {
            let goals = if schedule.fixtures[idx].seats[0] == 0 { [100, 0] } else { [0, 100] };
            is_played(idx).then(|| completed(&goals))
        };
        (0..schedule.fixtures.len()).map(outcome).collect()
    }

    #[test]
    fn only_whole_bouts_count() {
        let plan = test_plan("rounds = 4", &["nim"], &["random", "legal"]);
        let schedule = Schedule::of(&plan, "x");
        let outcomes = won_by_first(&schedule, |idx| idx != 3);
        let told = standings(&plan, &schedule, &outcomes, &[false; 8]);
        assert_eq!(told.overall.pairings[0].tally, Tally { won: 6, equal: 0, lost: 0 });
        assert_eq!(told.overall.players[1].tally, Tally { won: 0, equal: 0, lost: 6 });
        assert_eq!(told.overall.players[0].mean_goal, Some(100.0));
        assert_eq!(told.games[0].1.pairings[0].bouts, 3);
    }

    #[test]
    fn a_test_ends_with_the_bout_that_decides_whatever_was_played_behind_it() {
        let sprt = "rounds = 40\nsprt = { elo0 = 0, elo1 = 200 }";
        let plan = test_plan(sprt, &["nim"], &["random", "legal"]);
        let schedule = Schedule::of(&plan, "x");
        let skipped = vec![false; 80];
        let all = standings(&plan, &schedule, &won_by_first(&schedule, |_| true), &skipped);
        let test = all.overall.pairings[0].sprt.unwrap();
        assert_eq!(test.verdict, Verdict::AcceptedH1);
        assert!((2..20).contains(&test.bouts), "{test:?}");
        assert_eq!(all.overall.pairings[0].bouts, test.bouts);
        let until_then = won_by_first(&schedule, |idx| idx < 2 * test.bouts);
        assert_eq!(standings(&plan, &schedule, &until_then, &skipped), all);
    }

    #[test]
    fn a_test_does_not_look_behind_a_bout_that_is_still_played() {
        let plan = test_plan("rounds = 40\nsprt = { elo0 = 0, elo1 = 200 }", &["nim"], &["random", "legal"]);
        let schedule = Schedule::of(&plan, "x");
        let outcomes = won_by_first(&schedule, |idx| idx != 0);
        let mut skipped = vec![false; 80];
        assert_eq!(verdict(&plan, &schedule, &outcomes, &skipped, (0, 1)), Some(Verdict::Undecided));
        // It will never be played.
        skipped[0] = true;
        assert_eq!(verdict(&plan, &schedule, &outcomes, &skipped, (0, 1)), Some(Verdict::AcceptedH1));
    }

    #[test]
    fn goals_of_lone_matches_are_compared() {
        let plan = test_plan("rounds = 1", &["hanoi"], &["random", "legal", "random"]);
        let schedule = Schedule::of(&plan, "x");
        let outcomes: Vec<_> = [100, 40, 40].into_iter().map(|goal| Some(completed(&[goal]))).collect();
        let told = standings(&plan, &schedule, &outcomes, &[false; 3]);
        let tallies: Vec<Tally> = told.overall.players.iter().map(|player| player.tally).collect();
        let tally = |won, equal, lost| Tally { won, equal, lost };
        assert_eq!(tallies, [tally(2, 0, 0), tally(0, 1, 1), tally(0, 1, 1)]);
        assert_eq!(told.overall.players[1].mean_goal, Some(40.0));
    }
}
