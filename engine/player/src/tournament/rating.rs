//! Elo ratings of many players from their bouts, with intervals.
//!
//! Bradley and Terry's model (1952, "Rank analysis of incomplete block designs"), fitted by Hunter's iteration
//! (2004, "MM algorithms for generalized Bradley-Terry models", eq. 3). Equal bouts count as half won and half
//! lost. Every two players have one more bout, half of it won and half lost, so that nobody is infinitely strong.

use reasoner::Dice;

use super::statistics::{CONFIDENCE, Estimate};

/// The score of the first player in one bout.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    /// The players.
    pub pair: (usize, usize),
    /// From 0 to 1.
    pub score: f64,
}

/// How many resamples the intervals come from; their ends are then sure to a twentieth of their length.
const RESAMPLES: usize = 1000;
/// What the resamples follow from: equal bouts have equal intervals.
const SEED: u64 = 0x0e10;
/// Ends the iteration when no strength changes by more than this part.
const PRECISION: f64 = 1e-7;
const MAX_ITERATIONS: usize = 2000;

/// The rating of each of `n_players`, of mean 0. Intervals are from the Bayesian bootstrap over bouts (Rubin 1981),
/// so that what the matches of a bout have in common is accounted for. The bout that is mixed in is the prior
/// measure (Ferguson 1973, "A Bayesian analysis of some nonparametric problems"): its halves weigh differently from
/// resample to resample, so that a few bouts of equal score leave an interval.
pub fn ratings(n_players: usize, bouts: &[Scored]) -> Vec<Estimate> {
    let halves: Vec<Scored> = super::schedule::pairs(n_players)
        .into_iter()
        .flat_map(|pair| [1.0, 0.0].map(|score| Scored { pair, score }))
        .collect();
    let start = vec![1.0; n_players];
    let weighted = bouts.iter().map(|bout| (bout, 1.0)).chain(halves.iter().map(|half| (half, 0.5)));
    let strengths = fit(n_players, &start, weighted);
    let mut samples: Vec<Vec<f64>> = vec![Vec::with_capacity(RESAMPLES); n_players];
    let mut dice = Dice::new(SEED);
    for _ in 0..RESAMPLES {
        // Gamma weights are Dirichlet ones, but for their sum, which cancels out.
        let mut weights: Vec<f64> = bouts.iter().map(|_| exponential(&mut dice)).collect();
        weights.extend(halves.iter().map(|_| gamma_of_a_half(&mut dice)));
        let resampled = elos(&fit(n_players, &strengths, bouts.iter().chain(&halves).zip(weights)));
        samples.iter_mut().zip(resampled).for_each(|(samples, elo)| samples.push(elo));
    }
    elos(&strengths).into_iter().zip(&mut samples).map(|(value, samples)| estimate(value, samples)).collect()
}

/// A draw from the gamma distribution of shape 1.
fn exponential(dice: &mut Dice) -> f64 {
    -(1.0 - dice.unit()).ln()
}

/// A draw from the gamma distribution of shape 1/2: half the square of a normal one (Box and Muller 1958).
fn gamma_of_a_half(dice: &mut Dice) -> f64 {
    let angle = std::f64::consts::TAU * dice.unit();
    exponential(dice) * angle.cos().powi(2)
}

fn estimate(value: f64, samples: &mut [f64]) -> Estimate {
    samples.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - CONFIDENCE) / 2.0;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a small number")]
    let cut = (tail * samples.len() as f64) as usize;
    Estimate { value, low: samples[cut], high: samples[samples.len() - 1 - cut] }
}

/// Strengths on an Elo scale, of mean 0.
fn elos(strengths: &[f64]) -> Vec<f64> {
    let logs: Vec<f64> = strengths.iter().map(|strength| 400.0 * strength.log10()).collect();
    let mean = logs.iter().sum::<f64>() / logs.len().max(1) as f64;
    logs.into_iter().map(|log| log - mean).collect()
}

/// The strengths that explain weighted bouts best, of geometric mean 1.
fn fit<'a>(n_players: usize, start: &[f64], bouts: impl Iterator<Item = (&'a Scored, f64)>) -> Vec<f64> {
    let mut won = vec![0.0; n_players];
    let mut met = vec![vec![0.0; n_players]; n_players];
    for (Scored { pair: (first, second), score }, weight) in bouts {
        won[*first] += weight * score;
        won[*second] += weight * (1.0 - score);
        met[*first][*second] += weight;
        met[*second][*first] += weight;
    }
    let mut strengths = start.to_vec();
    for _ in 0..MAX_ITERATIONS {
        let mut change = 0.0f64;
        for player in 0..n_players {
            let others = (0..n_players).filter(|&other| other != player);
            let expected: f64 =
                others.map(|other| met[player][other] / (strengths[player] + strengths[other])).sum();
            // A player who met nobody stays where it is.
            if expected > 0.0 && won[player] > 0.0 {
                let strength = won[player] / expected;
                change = change.max((strength / strengths[player] - 1.0).abs());
                strengths[player] = strength;
            }
        }
        if change < PRECISION {
            break;
        }
    }
    strengths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeated(pair: (usize, usize), score: f64, n: usize) -> Vec<Scored> {
        vec![Scored { pair, score }; n]
    }

    #[test]
    fn two_players_differ_by_the_elo_of_their_score() {
        // With the bout that is mixed in: 75 of 100.
        let bouts = [repeated((0, 1), 1.0, 74), repeated((0, 1), 0.0, 24), repeated((0, 1), 0.5, 1)].concat();
        let ratings = ratings(2, &bouts);
        assert!((ratings[0].value - ratings[1].value - 400.0 * 3f64.log10()).abs() < 0.01, "{ratings:?}");
        assert!(ratings[0].low > 40.0 && ratings[0].high < 160.0, "{ratings:?}");
        assert!(ratings[0].low < ratings[0].value && ratings[0].value < ratings[0].high);
    }

    /// In the model odds multiply: 3 to 1 and 3 to 1 are 9 to 1.
    #[test]
    fn differences_add_up_over_a_third_player() {
        let many =
            |pair, won: usize, lost: usize| [repeated(pair, 1.0, won), repeated(pair, 0.0, lost)].concat();
        let bouts = [many((0, 1), 3000, 1000), many((1, 2), 3000, 1000)].concat();
        let ratings = ratings(3, &bouts);
        let wanted = 400.0 * 9f64.log10();
        assert!((ratings[0].value - ratings[2].value - wanted).abs() < 2.0, "{ratings:?}");
        assert!(ratings[1].value.abs() < 1.0);
    }

    #[test]
    fn winning_everything_is_no_infinite_strength_and_no_certainty() {
        let few = ratings(2, &repeated((0, 1), 1.0, 5));
        let many = ratings(2, &repeated((0, 1), 1.0, 50));
        assert!(few[0].value.is_finite() && few[0].value < many[0].value);
        assert!(few[0].high - few[0].low > 100.0, "{few:?}");
    }

    #[test]
    fn few_bouts_of_equal_score_are_no_certainty() {
        let width = |n: usize| {
            let ratings = ratings(2, &repeated((0, 1), 0.5, n));
            assert!(ratings[0].value.abs() < 1e-6, "{ratings:?}");
            assert!(ratings[0].low < 0.0 && ratings[0].high > 0.0, "{ratings:?}");
            ratings[0].high - ratings[0].low
        };
        assert!(width(1) > 150.0 && width(1) > 2.0 * width(8) && width(8) > 4.0 * width(64));
    }

    /// Ten bouts of two matches without draws; with a whole equal bout mixed in, only 0.87 of them did.
    #[test]
    fn intervals_hold_the_difference_as_often_as_they_say() {
        const TRIALS: u32 = 400;
        let mut dice = Dice::new(11);
        let mut score = || f64::from(u8::from(dice.unit() < 0.5) + u8::from(dice.unit() < 0.5)) / 2.0;
        let holds = (0..TRIALS).filter(|_| {
            let bouts: Vec<Scored> = (0..10).map(|_| Scored { pair: (0, 1), score: score() }).collect();
            let rating = ratings(2, &bouts)[0];
            rating.low <= 0.0 && rating.high >= 0.0
        });
        let share = holds.count() as f64 / f64::from(TRIALS);
        // 0.95, but for three standard errors.
        assert!(share > 0.95 - 3.0 * (0.95f64 * 0.05 / f64::from(TRIALS)).sqrt(), "{share}");
    }

    /// Of means 1 and 1/2, and variances the same.
    #[test]
    fn weights_have_the_moments_of_gamma_distributions() {
        let mut dice = Dice::new(3);
        for (draw, shape) in [(exponential as fn(&mut Dice) -> f64, 1.0), (gamma_of_a_half, 0.5)] {
            let n = 100_000;
            let draws: Vec<f64> = (0..n).map(|_| draw(&mut dice)).collect();
            let mean = draws.iter().sum::<f64>() / f64::from(n);
            let variance = draws.iter().map(|draw| (draw - mean).powi(2)).sum::<f64>() / f64::from(n);
            assert!((mean - shape).abs() < 0.02 && (variance - shape).abs() < 0.04, "{mean} {variance}");
        }
    }

    #[test]
    fn equal_bouts_have_equal_intervals_and_nobody_alone_has_one() {
        let bouts = [repeated((0, 1), 1.0, 5), repeated((0, 1), 0.5, 5)].concat();
        assert_eq!(ratings(2, &bouts), ratings(2, &bouts));
        assert_eq!(ratings(1, &[])[0], Estimate { value: 0.0, low: 0.0, high: 0.0 });
    }
}
