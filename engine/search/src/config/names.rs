//! The names of families, both ways.

use std::fmt;
use std::str::FromStr;

use super::{Config, Depth, Depths, MAX_DEPTH};

/// All names, for messages and help.
pub const CONFIG_NAMES: &str = "uct, uct+t, ucd(d1,d2,d3), ucd-incremental(d1,d2,d3), ucd-paper(d1,d2,d3), uct1, uct2, \
    uct3, update-all, update-descent, rave, rave-ucd(d-rave,d-mean), credited, mc, mc-memory";

impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Config::Uct => "uct",
            Config::UctT => "uct+t",
            Config::Ucd(depths) => return f.pad(&format!("ucd{depths}")),
            Config::UcdIncremental(depths) => return f.pad(&format!("ucd-incremental{depths}")),
            Config::UcdPaper(depths) => return f.pad(&format!("ucd-paper{depths}")),
            Config::UpdateAll => "update-all",
            Config::UpdateDescent => "update-descent",
            Config::Rave => "rave",
            Config::RaveUcd { rave, mean } => return f.pad(&format!("rave-ucd({rave},{mean})")),
            Config::Credited => "credited",
            Config::Mc => "mc",
            Config::McMemory => "mc-memory",
        };
        f.pad(name)
    }
}

/// A text that names no configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// No family has this name.
    #[error("{0:?} is no search configuration; known are {CONFIG_NAMES}")]
    Unknown(String),
    /// A name with something around it, or not in lower case.
    #[error("{found:?} is no search configuration; {meant} is one")]
    Nearly {
        /// What was given.
        found: String,
        /// The name that is much like it.
        meant: String,
    },
    /// The family has no parameters.
    #[error("{name} takes nothing in parentheses, not {found:?}; write {name}")]
    NoParameters {
        /// The family.
        name: String,
        /// What stands behind its name.
        found: String,
    },
    /// The family has depths, other ones.
    #[error(
        "{name} takes {n} depths in parentheses, each 0 to {MAX_DEPTH} or inf, not {found:?}; such as {example}"
    )]
    Depths {
        /// The family.
        name: String,
        /// How many depths it has.
        n: usize,
        /// What stands in their place.
        found: String,
        /// How it is done.
        example: &'static str,
    },
}

/// A name as it was probably meant: in lower case, without blanks and quotes around it; none if it is that already.
pub fn plain_name(text: &str) -> Option<String> {
    let is_around = |c: char| c.is_whitespace() || "'\"`".contains(c);
    let plain = text.trim_matches(is_around).to_lowercase();
    (plain != text).then_some(plain)
}

impl FromStr for Config {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Config, ConfigError> {
        Config::read(text).map_err(|error| match (error, plain_name(text)) {
            (ConfigError::Unknown(found), Some(meant)) if Config::read(&meant).is_ok() => {
                ConfigError::Nearly { found, meant }
            }
            (error, _) => error,
        })
    }
}

impl Config {
    fn read(text: &str) -> Result<Config, ConfigError> {
        let (name, arguments) = match text.split_once('(') {
            Some((name, rest)) => (name, rest.strip_suffix(')').or(Some(rest))),
            None => (text, None),
        };
        let depths = |n: usize, example: &'static str| {
            let found = arguments.unwrap_or_default();
            let read: Result<Vec<Depth>, ()> = found.split(',').map(str::parse).collect();
            let is_closed = text.ends_with(')');
            read.ok().filter(|read| read.len() == n && is_closed).ok_or_else(|| ConfigError::Depths {
                name: name.to_owned(),
                n,
                found: text[name.len()..].to_owned(),
                example,
            })
        };
        let three = |example| {
            let read = depths(3, example)?;
            Ok(Depths { mean: read[0], parent: read[1], child: read[2] })
        };
        let config = match (name, arguments) {
            ("ucd", _) => Config::Ucd(three("ucd(1,0,1)")?),
            ("ucd-incremental", _) => Config::UcdIncremental(three("ucd-incremental(1,0,1)")?),
            ("ucd-paper", _) => Config::UcdPaper(three("ucd-paper(1,0,1)")?),
            ("rave-ucd", _) => {
                let read = depths(2, "rave-ucd(1,0)")?;
                Config::RaveUcd { rave: read[0], mean: read[1] }
            }
            (_, Some(_)) if Config::read(name).is_ok() => {
                return Err(ConfigError::NoParameters {
                    name: name.to_owned(),
                    found: text[name.len()..].to_owned(),
                });
            }
            (_, Some(_)) => return Err(ConfigError::Unknown(text.to_owned())),
            // Childs, Brodeur and Kocsis 2008, as the paper of 2012 places them.
            ("uct1", None) => Config::Ucd(Depths::finite(0, 0, 0)),
            ("uct2", None) => Config::Ucd(Depths::finite(1, 0, 0)),
            ("uct3", None) => Config::Ucd(Depths { mean: Depth::Infinite, ..Depths::finite(0, 0, 0) }),
            ("uct", None) => Config::Uct,
            ("uct+t", None) => Config::UctT,
            ("update-all", None) => Config::UpdateAll,
            ("update-descent", None) => Config::UpdateDescent,
            ("rave", None) => Config::Rave,
            ("credited", None) => Config::Credited,
            ("mc", None) => Config::Mc,
            ("mc-memory", None) => Config::McMemory,
            _ => return Err(ConfigError::Unknown(text.to_owned())),
        };
        Ok(config)
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for config in Config::ALL {
            assert_eq!(config.to_string().parse(), Ok(config));
        }
    }

    #[test]
    fn other_names_of_the_papers_are_known() {
        assert_eq!("uct1".parse::<Config>(), "ucd(0,0,0)".parse());
        assert_eq!("uct2".parse::<Config>(), "ucd(1,0,0)".parse());
        assert_eq!("uct3".parse::<Config>(), "ucd(inf,0,0)".parse());
        assert_eq!("ucd(infinity, 0, 1)".parse::<Config>(), "ucd(∞,0,1)".parse());
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let error = "ucb".parse::<Config>().expect_err("there is no ucb");
        assert!(
            error.to_string().starts_with("\"ucb\" is no search configuration; known are uct, uct+t, ucd(")
        );
    }

    #[test]
    fn wrong_depths_are_answered_with_an_example() {
        for text in [
            "ucd",
            "ucd()",
            "ucd(1,2)",
            "ucd(1,2,3",
            "ucd(1,2,17)",
            "ucd(1,2,-1)",
            "ucd(1,2,3,4)",
            "ucd(1,2,3)x",
        ] {
            let error = text.parse::<Config>().expect_err(text).to_string();
            assert!(error.ends_with("such as ucd(1,0,1)"), "{error}");
        }
    }

    #[test]
    fn parentheses_behind_a_name_that_has_none_are_told() {
        for (text, name) in
            [("uct(1)", "uct"), ("mc()", "mc"), ("credited(", "credited"), ("uct1(0,0,0)", "uct1")]
        {
            let error = text.parse::<Config>().expect_err(text).to_string();
            assert!(error.starts_with(&format!("{name} takes nothing in parentheses")), "{error}");
        }
        assert!(matches!("gibbs(1)".parse::<Config>(), Err(ConfigError::Unknown(_))));
    }

    #[test]
    fn a_name_that_is_nearly_right_is_answered_with_the_right_one() {
        for (text, name) in [
            ("UCT", "uct"),
            (" uct+t ", "uct+t"),
            ("'ucd(1,0,1)'", "ucd(1,0,1)"),
            ("Ucd(INF,0,1)", "ucd(inf,0,1)"),
        ] {
            let error = text.parse::<Config>().expect_err(text).to_string();
            assert!(error.ends_with(&format!("is no search configuration; {name} is one")), "{error}");
        }
    }
}
