//! Numbers as the tables and the page show them.

use super::standings::{Pairing, Tally, Test};
use super::statistics::{Estimate, Verdict};

/// A share in percent with its interval.
pub fn share(share: &Estimate) -> String {
    format!("{:.1} [{:.1}, {:.1}]", 100.0 * share.value, 100.0 * share.low, 100.0 * share.high)
}

/// An Elo difference or rating with its interval.
pub fn elo(elo: &Estimate) -> String {
    format!("{} [{}, {}]", points(elo.value), points(elo.low), points(elo.high))
}

fn points(elo: f64) -> String {
    match elo {
        f64::INFINITY => "+inf".to_owned(),
        f64::NEG_INFINITY => "-inf".to_owned(),
        // No "-0".
        elo if elo.abs() < 0.5 => "0".to_owned(),
        elo => format!("{elo:+.0}"),
    }
}

/// Won, equal and lost matches.
pub fn tally(tally: &Tally) -> String {
    format!("{} / {} / {}", tally.won, tally.equal, tally.lost)
}

/// A mean goal, or a dash.
pub fn goal(goal: Option<f64>) -> String {
    goal.map_or_else(|| "-".to_owned(), |goal| format!("{goal:.1}"))
}

/// How much stronger the first player of a pairing is.
pub fn difference(pairing: &Pairing) -> String {
    pairing.elo.as_ref().map_or_else(|| "-".to_owned(), elo)
}

/// What a test says, in words.
pub fn test(test: &Test) -> String {
    let (verdict, bouts) = (verdict(test.verdict), test.bouts);
    format!("{verdict} after {bouts} bouts, log-likelihood ratio {:.2}", test.log_likelihood_ratio)
}

fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::AcceptedH0 => "H0 accepted",
        Verdict::AcceptedH1 => "H1 accepted",
        Verdict::Undecided => "undecided",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_infinity_has_a_word() {
        let estimate = |value, low, high| Estimate { value, low, high };
        assert_eq!(elo(&estimate(-0.2, f64::NEG_INFINITY, 12.6)), "0 [-inf, +13]");
        assert_eq!(share(&estimate(0.5, 0.25, 1.0)), "50.0 [25.0, 100.0]");
    }
}
