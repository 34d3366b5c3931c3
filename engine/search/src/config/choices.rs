//! Options that have one of a few values, each a name.

use std::fmt;
use std::str::FromStr;

/// Where playouts are added, for the families that leave it open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Payoffs {
    /// On the edges that were passed.
    Edges,
    /// On the nodes that were passed, so that an edge shares its child's results with the other edges to it.
    Nodes,
}

/// What a role of a two-role game wants; with any other number of roles, always its own goal (Finnsson and
/// Björnsson 2008).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Aim {
    /// A high goal.
    #[default]
    Own,
    /// A high difference to the other's goal; an even end is worth half.
    Difference,
    /// A high goal, and of equal ones that where the other's is low.
    OwnThenOther,
}

/// How each role of a simultaneous position chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Simultaneous {
    /// UCB1, as if it were alone (decoupled UCT).
    #[default]
    Ucb1,
    /// In proportion to its positive regrets (Hart and Mas-Colell 2000), a tenth of the time uniformly.
    RegretMatching,
}

/// What the move to play has most of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FinalMove {
    /// Visits.
    Visits,
    /// The mean.
    Mean,
    /// The best value that a playout through it ever had.
    Top,
}

/// An option whose text is none of its values.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is not one of {known}")]
pub struct ChoiceError {
    pub(super) found: String,
    pub(super) known: &'static str,
}

/// Texts for the values of an option, both ways.
macro_rules! choices {
    ($type:ty, $known:literal, $($text:literal => $value:path,)*) => {
        impl FromStr for $type {
            type Err = ChoiceError;

            fn from_str(text: &str) -> Result<$type, ChoiceError> {
                match text {
                    $($text => Ok($value),)*
                    _ => Err(ChoiceError { found: text.to_owned(), known: $known }),
                }
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(match self {
                    $($value => $text,)*
                })
            }
        }
    };
}

choices!(Payoffs, "edges, nodes", "edges" => Payoffs::Edges, "nodes" => Payoffs::Nodes,);
choices!(
    Aim,
    "own, difference, own-then-other",
    "own" => Aim::Own,
    "difference" => Aim::Difference,
    "own-then-other" => Aim::OwnThenOther,
);
choices!(
    Simultaneous,
    "ucb1, regret-matching",
    "ucb1" => Simultaneous::Ucb1,
    "regret-matching" => Simultaneous::RegretMatching,
);
choices!(
    FinalMove,
    "visits, mean, top",
    "visits" => FinalMove::Visits,
    "mean" => FinalMove::Mean,
    "top" => FinalMove::Top,
);

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for text in ["own", "difference", "own-then-other"] {
            assert_eq!(text.parse::<Aim>().map(|it| it.to_string()).as_deref(), Ok(text));
        }
        for text in ["visits", "mean", "top"] {
            assert_eq!(text.parse::<FinalMove>().map(|it| it.to_string()).as_deref(), Ok(text));
        }
    }

    #[test]
    fn another_name_is_answered_with_the_known_ones() {
        let error = "tree".parse::<Payoffs>().expect_err("there is no tree");
        assert_eq!(error.to_string(), "\"tree\" is not one of edges, nodes");
    }
}
