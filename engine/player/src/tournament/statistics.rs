//! What scores say: intervals, Elo differences and a sequential test.
//!
//! In go scores from 0 (lost) to 1 (won), one for each match or for each *bout*: the matches of two players behind
//! one opening, in all their seats. The matches of a bout depend on each other, their bouts do not, so that
//! everything about differences is computed from the scores of bouts (the "pentanomial" way of fishtest). Nothing
//! here knows who played what.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// How sure all intervals are.
pub const CONFIDENCE: f64 = 0.95;

/// The two-sided quantile of the standard normal distribution for [`CONFIDENCE`].
fn z() -> f64 {
    Normal::standard().inverse_cdf(0.5 + CONFIDENCE / 2.0)
}

/// A value with the interval around it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// Where the interval begins.
    pub low: f64,
    /// Where it ends.
    pub high: f64,
}

/// The share `sum / n` with Wilson's interval (Wilson 1927, "Probable inference, the law of succession, and
/// statistical inference"); equal matches count as half won and half lost. Without matches nothing is known.
pub fn wilson(sum: f64, n: usize) -> Estimate {
    if n == 0 {
        return Estimate { value: 0.5, low: 0.0, high: 1.0 };
    }
    let (n, z) = (n as f64, z());
    let share = sum / n;
    let centre = (share + z * z / (2.0 * n)) / (1.0 + z * z / n);
    let half = z / (1.0 + z * z / n) * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    // At shares of 0 and 1 one end is exact, but for rounding.
    Estimate { value: share, low: (centre - half).clamp(0.0, share), high: (centre + half).clamp(share, 1.0) }
}

/// The Elo difference at which that score is expected (Elo 1978, the logistic form); infinite at 0 and 1.
pub fn elo_of(score: f64) -> f64 {
    if score <= 0.0 {
        f64::NEG_INFINITY
    } else if score >= 1.0 {
        f64::INFINITY
    } else {
        400.0 * (score / (1.0 - score)).log10()
    }
}

/// The score that is expected at an Elo difference.
pub fn score_of(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

/// Number, mean and variance of scores, added one by one (Welford 1962).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Moments {
    /// How many.
    pub n: usize,
    /// Their mean; 0 if there are none.
    pub mean: f64,
    squares: f64,
}

impl Moments {
    /// Adds a score.
    pub fn add(&mut self, score: f64) {
        self.n += 1;
        let before = score - self.mean;
        self.mean += before / self.n as f64;
        self.squares += before * (score - self.mean);
    }

    /// The unbiased variance of one score; none below two.
    fn variance(&self) -> Option<f64> {
        (self.n >= 2).then(|| self.squares / (self.n - 1) as f64)
    }
}

impl FromIterator<f64> for Moments {
    fn from_iter<T: IntoIterator<Item = f64>>(scores: T) -> Moments {
        let mut moments = Moments::default();
        scores.into_iter().for_each(|score| moments.add(score));
        moments
    }
}

/// The Elo difference that scores of bouts tell, with an interval: Student's for the mean score (the variance is
/// that of the bouts, so that shared openings are accounted for), then through [`elo_of`]. Where all scores are
/// equal their variance tells nothing, and Wilson's interval stands in. None without bouts.
pub fn elo_difference(bouts: &Moments) -> Option<Estimate> {
    if bouts.n == 0 {
        return None;
    }
    let (low, high) = match bouts.variance().filter(|&variance| variance > 0.0) {
        Some(variance) => {
            let freedom = (bouts.n - 1) as f64;
            let t = StudentsT::new(0.0, 1.0, freedom)
                .map_or(f64::INFINITY, |student| student.inverse_cdf(0.5 + CONFIDENCE / 2.0));
            let half = t * (variance / bouts.n as f64).sqrt();
            (bouts.mean - half, bouts.mean + half)
        }
        None => {
            let share = wilson(bouts.mean * bouts.n as f64, bouts.n);
            (share.low, share.high)
        }
    };
    Some(Estimate { value: elo_of(bouts.mean), low: elo_of(low), high: elo_of(high) })
}

/// A sequential probability ratio test on the Elo difference of two players.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Sprt {
    /// The hypothesis H0: the difference is this.
    pub elo0: f64,
    /// The hypothesis H1: the difference is this, which is more.
    pub elo1: f64,
    /// How often H1 may be accepted where H0 holds.
    pub alpha: f64,
    /// How often H0 may be accepted where H1 holds.
    pub beta: f64,
}

/// What a test says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The difference is rather `elo0` than `elo1`.
    AcceptedH0,
    /// The difference is rather `elo1` than `elo0`.
    AcceptedH1,
    /// Not enough bouts.
    Undecided,
}

/// Bouts of the largest variance that scores can have, as if they had been played with the mean score. A few equal
/// scores would otherwise have a variance of nothing, and decide at once. With 3 and `elo0` 0, simulated error rates
/// stay within alpha and beta from 20 to 400 Elo and from no draws to 90 % (see the tests); farther from equal
/// players, where scores are skewed, they are somewhat larger: 0.07 for 0.05 at 100 against 200 Elo.
const PRIOR_BOUTS: f64 = 3.0;
const PRIOR_VARIANCE: f64 = 0.25;

/// The fewest bouts that decide.
const MIN_BOUTS: usize = 2;

impl Sprt {
    /// The logarithm of the generalised likelihood ratio of H1 to H0, in the normal approximation for bounded
    /// scores of unknown distribution: `n (s1 - s0) (2 mean - s0 - s1) / (2 variance)` (Van den Bergh 2018, "A
    /// practical introduction to the GSPRT", as in fishtest).
    pub fn log_likelihood_ratio(&self, bouts: &Moments) -> f64 {
        let (s0, s1) = (score_of(self.elo0), score_of(self.elo1));
        let n = bouts.n as f64;
        let variance = (bouts.squares + PRIOR_BOUTS * PRIOR_VARIANCE) / (n + PRIOR_BOUTS);
        n * (s1 - s0) * (2.0 * bouts.mean - s0 - s1) / (2.0 * variance)
    }

    /// The ratios at which H0 and H1 are accepted (Wald 1945, "Sequential tests of statistical hypotheses").
    pub fn bounds(&self) -> (f64, f64) {
        ((self.beta / (1.0 - self.alpha)).ln(), ((1.0 - self.beta) / self.alpha).ln())
    }

    /// Runs the test over scores of bouts in their order: the verdict, and the moments of the bouts that it took.
    /// What comes after the bout that decides is not looked at.
    pub fn run(&self, scores: impl IntoIterator<Item = f64>) -> (Verdict, Moments) {
        let (low, high) = self.bounds();
        let mut bouts = Moments::default();
        for score in scores {
            bouts.add(score);
            if bouts.n < MIN_BOUTS {
                continue;
            }
            let ratio = self.log_likelihood_ratio(&bouts);
            if ratio >= high {
                return (Verdict::AcceptedH1, bouts);
            }
            if ratio <= low {
                return (Verdict::AcceptedH0, bouts);
            }
        }
        (Verdict::Undecided, bouts)
    }
}

#[cfg(test)]
mod tests {
    use reasoner::Dice;

    use super::*;

    fn assert_near(found: f64, wanted: f64, within: f64) {
        assert!((found - wanted).abs() <= within, "{found} is not {wanted}");
    }

    /// Newcombe 1998, "Two-sided confidence intervals for the single proportion", table I, method 3.
    #[test]
    fn wilsons_intervals_are_those_of_newcombes_table() {
        for (won, n, low, high) in [
            (81.0, 263, 0.2553, 0.3662),
            (15.0, 148, 0.0624, 0.1605),
            (0.0, 20, 0.0, 0.1611),
            (1.0, 29, 0.0061, 0.1718),
        ] {
            let share = wilson(won, n);
            assert_near(share.low, low, 5e-5);
            assert_near(share.high, high, 5e-5);
            let mirrored = wilson(n as f64 - won, n);
            assert_near(mirrored.low, 1.0 - high, 5e-5);
        }
        assert_eq!((wilson(0.0, 0).low, wilson(0.0, 0).high), (0.0, 1.0));
        assert_eq!((wilson(20.0, 20).high, wilson(0.0, 20).low), (1.0, 0.0));
    }

    /// The handbook of FIDE, B.02, table 8.1.1, made of the normal form, is within a few points of the logistic
    /// one near the middle; 10 to 1 is 400 points by definition.
    #[test]
    fn elo_differences_are_the_logistic_ones() {
        assert_near(elo_of(10.0 / 11.0), 400.0, 1e-9);
        assert_near(elo_of(0.64), 102.0, 3.0);
        assert_eq!((elo_of(0.5), elo_of(0.0), elo_of(1.0)), (0.0, f64::NEG_INFINITY, f64::INFINITY));
        for elo in [-300.0, -1.0, 0.0, 55.5] {
            assert_near(elo_of(score_of(elo)), elo, 1e-9);
        }
    }

    /// Student's sleep data (1908, "The probable error of a mean"): ten differences of mean 1.58, and the 95 %
    /// interval 0.70 to 2.46 that every textbook has. Shifted and scaled into scores.
    #[test]
    fn the_interval_of_a_mean_is_students() {
        let hours = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4];
        let bouts: Moments = hours.into_iter().map(|hours| hours / 10.0).collect();
        let elo = elo_difference(&bouts).unwrap();
        assert_near(score_of(elo.value) * 10.0, 1.58, 1e-9);
        assert_near(score_of(elo.low) * 10.0, 0.70, 5e-3);
        assert_near(score_of(elo.high) * 10.0, 2.46, 5e-3);
    }

    #[test]
    fn equal_scores_leave_an_open_interval() {
        let all_won = elo_difference(&[1.0; 20].into_iter().collect()).unwrap();
        assert_eq!((all_won.value, all_won.high), (f64::INFINITY, f64::INFINITY));
        assert_near(all_won.low, elo_of(1.0 - 0.1611), 0.1);
        let all_equal = elo_difference(&[0.5; 4].into_iter().collect()).unwrap();
        assert!(all_equal.low < -100.0 && all_equal.high > 100.0, "four bouts tell little");
        assert_eq!(elo_difference(&Moments::default()), None);
    }

    /// Shared openings that decide matches make bouts equal, and differences sharp.
    #[test]
    fn pairs_that_cancel_out_narrow_the_interval() {
        let paired =
            elo_difference(&[0.5, 0.5, 0.5, 0.5, 0.75, 0.5, 0.5, 0.25].into_iter().collect()).unwrap();
        let single = [1.0, 0.0].into_iter().cycle().take(16).collect();
        let single = elo_difference(&single).unwrap();
        assert!(paired.high - paired.low < (single.high - single.low) / 2.0);
    }

    #[test]
    fn the_ratio_is_that_of_the_formula() {
        let sprt = Sprt { elo0: 0.0, elo1: 400.0, alpha: 0.05, beta: 0.05 };
        let bouts: Moments = [1.0, 0.5, 1.0, 0.5].into_iter().collect();
        // Variance (0.25 + 3 / 4) / 7 = 1 / 7; s1 = 10 / 11.
        let (s0, s1) = (0.5, 10.0 / 11.0);
        assert_near(sprt.log_likelihood_ratio(&bouts), 4.0 * (s1 - s0) * (1.5 - s0 - s1) * 3.5, 1e-9);
        assert_near(sprt.bounds().1, 19f64.ln(), 1e-12);
        assert_near(sprt.bounds().0, -(19f64.ln()), 1e-12);
    }

    /// How often each hypothesis is accepted in simulated bouts of two matches: `[H0, H1, undecided]`.
    fn verdicts(sprt: Sprt, mean: f64, draws: f64, cap: usize, trials: u64) -> [f64; 3] {
        // Of the matches that are not drawn, so many are won that the mean is as wanted.
        let won = 0.5 + (mean - 0.5) / (1.0 - draws);
        let mut counts = [0.0; 3];
        for seed in 0..trials {
            let mut dice = Dice::new(Dice::child_seed(7, seed));
            let mut score = || match (dice.unit() < draws, dice.unit() < won) {
                (true, _) => 0.5,
                (false, true) => 1.0,
                (false, false) => 0.0,
            };
            let (verdict, _) = sprt.run((0..cap).map(|_| (score() + score()) / 2.0));
            counts[verdict as usize] += 1.0 / trials as f64;
        }
        counts
    }

    #[test]
    fn wrong_hypotheses_are_accepted_within_the_error_rates() {
        const TRIALS: u64 = 2000;
        for (elo1, draws, cap) in [
            (50.0, 0.0, 600),
            (50.0, 0.5, 600),
            (100.0, 0.0, 300),
            (100.0, 0.5, 300),
            (200.0, 0.0, 100),
            (400.0, 0.0, 100),
        ] {
            let sprt = Sprt { elo0: 0.0, elo1, alpha: 0.05, beta: 0.05 };
            // Three standard errors of a rate of 0.05 above it.
            let most = 0.05 + 3.0 * (0.05f64 * 0.95 / TRIALS as f64).sqrt();
            let [_, h1, _] = verdicts(sprt, 0.5, draws, cap, TRIALS);
            assert!(h1 <= most, "{elo1} Elo, {draws} drawn: H1 accepted {h1}");
            let [h0, h1, undecided] = verdicts(sprt, score_of(elo1), draws, cap, TRIALS);
            assert!(h0 <= most, "{elo1} Elo, {draws} drawn: H0 accepted {h0}");
            assert!(h1 > 0.9 && undecided < 0.05, "{elo1} Elo, {draws} drawn: {h1} {undecided}");
        }
    }

    #[test]
    fn a_cap_leaves_it_undecided() {
        let sprt = Sprt { elo0: 0.0, elo1: 5.0, alpha: 0.05, beta: 0.05 };
        let (verdict, bouts) = sprt.run([1.0, 0.5, 0.0, 0.5]);
        assert_eq!((verdict, bouts.n), (Verdict::Undecided, 4));
        // What comes behind a decision changes nothing.
        let sprt = Sprt { elo1: 400.0, ..sprt };
        let (verdict, bouts) = sprt.run(std::iter::repeat_n(0.0, 10).chain([1.0; 50]));
        assert_eq!(verdict, Verdict::AcceptedH0);
        assert!(bouts.n < 10);
    }
}
