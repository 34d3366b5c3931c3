//! Numbers as the tables and the page show them.

use std::fmt;

use super::standings::{Pairing, Standing, Tally, Test};
use super::statistics::{Estimate, Verdict};

/// A value and the interval around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// The value.
    pub value: String,
    /// The interval in brackets; empty if there is nothing to tell.
    pub interval: String,
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.value, self.interval)
    }
}

/// The mean score in percent.
pub fn share(tally: &Tally) -> Cell {
    let share = tally.share();
    match tally.n() {
        0 => nothing(),
        _ => Cell {
            value: format!("{:.1}", 100.0 * share.value),
            interval: format!("[{:.1}, {:.1}]", 100.0 * share.low, 100.0 * share.high),
        },
    }
}

/// An Elo difference or rating.
fn elo(elo: &Estimate) -> Cell {
    Cell { value: points(elo.value), interval: format!("[{}, {}]", points(elo.low), points(elo.high)) }
}

/// A player's rating; without matches there is none.
pub fn rating(player: &Standing) -> Cell {
    if player.tally.n() == 0 { nothing() } else { elo(&player.elo) }
}

fn nothing() -> Cell {
    Cell { value: "-".to_owned(), interval: String::new() }
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

/// The goal of a match, or a dash.
pub fn goal(goal: Option<u32>) -> String {
    goal.map_or_else(|| "-".to_owned(), |goal| goal.to_string())
}

/// A mean goal, or a dash.
pub fn mean_goal(goal: Option<f64>) -> String {
    goal.map_or_else(|| "-".to_owned(), |goal| format!("{goal:.1}"))
}

/// How much stronger the first player of a pairing is.
pub fn difference(pairing: &Pairing) -> Cell {
    pairing.elo.as_ref().map_or_else(nothing, elo)
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
        assert_eq!(elo(&estimate(-0.2, f64::NEG_INFINITY, 12.6)).to_string(), "0 [-inf, +13]");
        // Newcombe 1998, table I: none of 20 is up to 16.11 %.
        assert_eq!(share(&Tally { won: 0, equal: 0, lost: 20 }).to_string(), "0.0 [0.0, 16.1]");
        assert_eq!(share(&Tally::default()), nothing());
    }
}
