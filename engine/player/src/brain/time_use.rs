//! Whether a player thinks as long as it may, or answers when it knows.

use std::fmt;
use std::str::FromStr;

/// How much of a turn's time is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TimeUse {
    /// All of it.
    #[default]
    Whole,
    /// What the choice needs: less where it is settled, and where processor time is limited more where it is not.
    Managed,
}

impl fmt::Display for TimeUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            TimeUse::Whole => "whole",
            TimeUse::Managed => "managed",
        })
    }
}

impl FromStr for TimeUse {
    type Err = String;

    fn from_str(text: &str) -> Result<TimeUse, String> {
        match text {
            "whole" => Ok(TimeUse::Whole),
            "managed" => Ok(TimeUse::Managed),
            _ => Err("whole or managed is wanted".to_owned()),
        }
    }
}
