//! Options that are a name, or a name with a number.

use std::fmt;
use std::str::FromStr;

use super::ChoiceError;

/// How the first way out of a node is chosen, and the moves of rollouts.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Unexplored {
    /// All with the same probability; the ways out of a sequential node in a random order that is fixed when it is opened.
    #[default]
    Uniform,
    /// By Gibbs sampling over what the move was worth elsewhere (Finnsson and Björnsson 2008).
    Gibbs {
        /// The temperature tau, in goal points, above 0 and at most 10^6.
        tau: f64,
    },
}

/// How playouts under way keep others from the same path.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum InFlight {
    /// They count as visits in the exploration term (Liu et al. 2020, WU-UCT).
    #[default]
    Count,
    /// Each counts as so many lost playouts, above 0 and at most 10^6 (Chaslot, Winands and van den Herik 2008).
    VirtualLoss(f64),
}

/// The largest number: a temperature from which on all moves are equally likely to a thousandth, and more lost playouts
/// than a search can have under way.
const MOST: f64 = 1e6;

/// Splits `name(argument)`; the argument, if there is one, is a number above 0 and at most [`MOST`].
fn name_and_number(text: &str) -> Option<(&str, Option<f64>)> {
    let Some((name, rest)) = text.split_once('(') else { return Some((text, None)) };
    let number: f64 = rest.strip_suffix(')')?.parse().ok()?;
    (number > 0.0 && number <= MOST).then_some((name, Some(number)))
}

/// Cadia's temperature, in goal points (Finnsson and Björnsson 2008, "Choosing among unexplored actions").
const TAU: f64 = 10.0;

impl FromStr for Unexplored {
    type Err = ChoiceError;

    fn from_str(text: &str) -> Result<Unexplored, ChoiceError> {
        match name_and_number(text) {
            Some(("uniform", None)) => Ok(Unexplored::Uniform),
            Some(("gibbs", tau)) => Ok(Unexplored::Gibbs { tau: tau.unwrap_or(TAU) }),
            _ => Err(ChoiceError {
                found: text.to_owned(),
                known: "uniform, gibbs, gibbs(TAU) with TAU above 0 and at most 1000000",
            }),
        }
    }
}

impl fmt::Display for Unexplored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unexplored::Uniform => f.pad("uniform"),
            Unexplored::Gibbs { tau } => f.pad(&format!("gibbs({tau})")),
        }
    }
}

impl FromStr for InFlight {
    type Err = ChoiceError;

    fn from_str(text: &str) -> Result<InFlight, ChoiceError> {
        match name_and_number(text) {
            Some(("count", None)) => Ok(InFlight::Count),
            Some(("loss", weight)) => Ok(InFlight::VirtualLoss(weight.unwrap_or(1.0))),
            _ => Err(ChoiceError {
                found: text.to_owned(),
                known: "count, loss, loss(WEIGHT) with WEIGHT above 0 and at most 1000000",
            }),
        }
    }
}

impl fmt::Display for InFlight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InFlight::Count => f.pad("count"),
            InFlight::VirtualLoss(weight) => f.pad(&format!("loss({weight})")),
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for text in ["uniform", "gibbs(2.5)", "gibbs(1000000)"] {
            assert_eq!(text.parse::<Unexplored>().map(|it| it.to_string()).as_deref(), Ok(text));
        }
        for text in ["count", "loss(3)"] {
            assert_eq!(text.parse::<InFlight>().map(|it| it.to_string()).as_deref(), Ok(text));
        }
    }

    #[test]
    fn a_number_out_of_bounds_is_answered_with_the_bounds() {
        let bounds = format!("above 0 and at most {MOST}");
        for number in ["0", "-1", "nan", "inf", "1000001"] {
            let error = format!("gibbs({number})").parse::<Unexplored>().expect_err(number).to_string();
            assert!(error.ends_with(&bounds), "{error}");
            let error = format!("loss({number})").parse::<InFlight>().expect_err(number).to_string();
            assert!(error.ends_with(&bounds), "{error}");
        }
        for text in ["gibbs(", "gibbs()", "uniform(1)", "loss(1"] {
            assert!(text.parse::<Unexplored>().is_err() && text.parse::<InFlight>().is_err(), "{text}");
        }
    }
}
