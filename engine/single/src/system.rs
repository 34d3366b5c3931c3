//! The systems by the names that command lines and papers know.

use std::fmt;
use std::str::FromStr;

use search::{CONFIG_NAMES, Config, ConfigError, plain_name};

use crate::beam::MAX_WIDTH;
use crate::nested::MAX_LEVEL;
use crate::nrpa::NrpaOptions;
use crate::sp_mcts::{FinalRule, SpMctsOptions, TimeControl};

/// A way of playing a game of one role.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum System {
    /// Nested Monte-Carlo search of a level (Méhat and Cazenave 2010, section 4).
    Nested(u32),
    /// UCT+T and nested(1), half of the time each (section 6).
    Max1,
    /// UCT+T and nested(1), a core each.
    Max2,
    /// Nested rollout policy adaptation (Rosin 2011).
    Nrpa(NrpaOptions),
    /// Beam search over states, first so wide.
    Beam(u32),
    /// Every state once.
    Exhaustive,
    /// The ground rules as a planning problem for a SAT solver.
    Sat,
    /// Iterative deepening.
    Ida,
    /// Iterative deepening with memory, and UCT when it finds nothing (Finnsson and Björnsson 2008).
    Meida,
    /// Single-player Monte-Carlo tree search (Schadd et al. 2012).
    SpMcts(SpMctsOptions),
    /// Many of these, which share the cores by what they find.
    Portfolio,
    /// A search of the shared graph.
    Graph(Config),
}

impl System {
    /// Whether it searches a shared graph, all the time or a part of it.
    pub fn has_graph(&self) -> bool {
        match self {
            System::Graph(_) | System::Portfolio | System::Max1 | System::Max2 | System::Meida => true,
            System::Nested(_)
            | System::Nrpa(_)
            | System::Beam(_)
            | System::Exhaustive
            | System::Sat
            | System::Ida
            | System::SpMcts(_) => false,
        }
    }

    /// How many shares of the memory it has: none if it needs little, and most where all states are to be kept.
    pub(crate) fn shares(&self) -> usize {
        match self {
            System::Nested(_) | System::Nrpa(_) => 0,
            System::Exhaustive => 4,
            _ => 1,
        }
    }
}

/// The names of those that are no searches of the shared graph, for messages and help.
pub const SYSTEM_NAMES: &str = "portfolio, nested(LEVEL), max1, max2, nrpa(LEVEL,n=N,alpha=A,p=P), beam(WIDTH), \
    exhaustive, sat, ida, meida, sp-mcts(c=C,d=D,w=W,t=T,restarts=N,final=top|mean|visits,time=move|game)";

/// A text that names no system.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SystemError {
    /// There is none of this name.
    #[error(
        "{0:?} is no search configuration; known are {CONFIG_NAMES}, and for games of one role {SYSTEM_NAMES}"
    )]
    Unknown(String),
    /// A name with something around it, or not in lower case.
    #[error("{found:?} is no search configuration; {meant} is one")]
    Nearly {
        /// What was given.
        found: String,
        /// The name that is much like it.
        meant: String,
    },
    /// The parenthesis that was opened is not closed at the end.
    #[error("{0:?} ends without the parenthesis that closes it")]
    Unclosed(String),
    /// A configuration of the graph has other parameters.
    #[error(transparent)]
    Config(ConfigError),
    /// One of its parameters cannot be.
    #[error("{name}: {parameter} {wanted}, not {found:?}")]
    Parameter {
        /// The system.
        name: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// What it can be.
        wanted: String,
        /// What was given.
        found: String,
    },
    /// A parameter was there before.
    #[error("{name}: {parameter} is given twice")]
    Twice {
        /// The system.
        name: &'static str,
        /// The parameter.
        parameter: String,
    },
    /// It has no parameter of this name.
    #[error("{name} has no parameter {parameter:?}; known are {SYSTEM_NAMES}")]
    NoParameter {
        /// The system.
        name: &'static str,
        /// What was given.
        parameter: String,
    },
}

/// What stands in a system's parentheses.
struct Parameters {
    name: &'static str,
    given: Vec<(String, String)>,
}

impl Parameters {
    /// `first` is the parameter whose name may be left out.
    fn read(name: &'static str, first: &'static str, text: &str) -> Result<Parameters, SystemError> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        let pair = |part: &str| match part.split_once('=') {
            Some((key, value)) => (key.trim().to_owned(), value.trim().to_owned()),
            None if first.is_empty() => (part.to_owned(), String::new()),
            None => (first.to_owned(), part.to_owned()),
        };
        let given: Vec<(String, String)> = parts.map(pair).collect();
        let is_again = |&idx: &usize| given[..idx].iter().any(|(key, _)| *key == given[idx].0);
        match (0..given.len()).find(is_again) {
            Some(idx) => Err(SystemError::Twice { name, parameter: given[idx].0.clone() }),
            None => Ok(Parameters { name, given }),
        }
    }

    fn take(&mut self, parameter: &'static str) -> Option<String> {
        let at = self.given.iter().position(|(key, _)| key == parameter)?;
        Some(self.given.remove(at).1)
    }

    /// A number within bounds, if it was given.
    fn number<T: FromStr + PartialOrd + fmt::Display + Copy>(
        &mut self,
        parameter: &'static str,
        [least, most]: [T; 2],
        slot: &mut T,
    ) -> Result<(), SystemError> {
        let Some(found) = self.take(parameter) else { return Ok(()) };
        match found.parse() {
            Ok(number) if number >= least && number <= most => *slot = number,
            _ => {
                let wanted = format!("is a number from {least} to {most}");
                return Err(SystemError::Parameter { name: self.name, parameter, wanted, found });
            }
        }
        Ok(())
    }

    /// One of several words, if it was given.
    fn word<T: Copy>(
        &mut self,
        parameter: &'static str,
        words: &[(&str, T)],
        slot: &mut T,
    ) -> Result<(), SystemError> {
        let Some(found) = self.take(parameter) else { return Ok(()) };
        match words.iter().find(|(word, _)| *word == found) {
            Some(&(_, value)) => *slot = value,
            None => {
                let known: Vec<&str> = words.iter().map(|&(word, _)| word).collect();
                let wanted = format!("is one of {}", known.join(", "));
                return Err(SystemError::Parameter { name: self.name, parameter, wanted, found });
            }
        }
        Ok(())
    }

    fn end(self) -> Result<(), SystemError> {
        match self.given.into_iter().next() {
            None => Ok(()),
            Some((parameter, _)) => Err(SystemError::NoParameter { name: self.name, parameter }),
        }
    }
}

const FINAL_RULES: [(&str, FinalRule); 3] =
    [("top", FinalRule::Top), ("mean", FinalRule::Mean), ("visits", FinalRule::Visits)];
const TIME_CONTROLS: [(&str, TimeControl); 2] = [("move", TimeControl::Move), ("game", TimeControl::Game)];
/// The widest bounds of constants: with more, nothing else counts.
const CONSTANT: [f64; 2] = [0.0, 1e9];
/// The most searches, rollouts and visits that are counted up to.
const COUNT: [u32; 2] = [1, 1_000_000];

impl FromStr for System {
    type Err = SystemError;

    fn from_str(text: &str) -> Result<System, SystemError> {
        System::read(text).map_err(|error| match (error, plain_name(text)) {
            (SystemError::Unknown(found), Some(meant)) if System::read(&meant).is_ok() => {
                SystemError::Nearly { found, meant }
            }
            (error, _) => error,
        })
    }
}

impl System {
    fn read(text: &str) -> Result<System, SystemError> {
        match text.parse() {
            Ok(config) => return Ok(System::Graph(config)),
            Err(ConfigError::Unknown(_)) => {}
            Err(ConfigError::Nearly { found, meant }) => return Err(SystemError::Nearly { found, meant }),
            Err(parameters) => return Err(SystemError::Config(parameters)),
        }
        let (name, inside) = match text.split_once('(') {
            Some((name, rest)) => {
                let inside = rest.strip_suffix(')');
                (name, inside.ok_or_else(|| SystemError::Unclosed(text.to_owned()))?)
            }
            None => (text, ""),
        };
        let (system, parameters) = match name {
            "nested" => {
                let mut parameters = Parameters::read("nested", "level", inside)?;
                let mut level = 1;
                parameters.number("level", [1, MAX_LEVEL], &mut level)?;
                (System::Nested(level), parameters)
            }
            "nrpa" => nrpa(inside)?,
            "beam" => {
                let mut parameters = Parameters::read("beam", "width", inside)?;
                let mut width = 64;
                parameters.number("width", [1, MAX_WIDTH], &mut width)?;
                (System::Beam(width), parameters)
            }
            "sp-mcts" => sp_mcts(inside)?,
            "max1" => (System::Max1, Parameters::read("max1", "", inside)?),
            "max2" => (System::Max2, Parameters::read("max2", "", inside)?),
            "exhaustive" => (System::Exhaustive, Parameters::read("exhaustive", "", inside)?),
            "sat" => (System::Sat, Parameters::read("sat", "", inside)?),
            "ida" => (System::Ida, Parameters::read("ida", "", inside)?),
            "meida" => (System::Meida, Parameters::read("meida", "", inside)?),
            "portfolio" => (System::Portfolio, Parameters::read("portfolio", "", inside)?),
            _ => return Err(SystemError::Unknown(text.to_owned())),
        };
        parameters.end()?;
        Ok(system)
    }
}

fn nrpa(inside: &str) -> Result<(System, Parameters), SystemError> {
    let mut parameters = Parameters::read("nrpa", "level", inside)?;
    let mut options = NrpaOptions::default();
    parameters.number("level", [1, MAX_LEVEL], &mut options.level)?;
    parameters.number("n", COUNT, &mut options.n)?;
    parameters.number("alpha", CONSTANT, &mut options.alpha)?;
    parameters.number("p", COUNT, &mut options.p)?;
    Ok((System::Nrpa(options), parameters))
}

fn sp_mcts(inside: &str) -> Result<(System, Parameters), SystemError> {
    let mut parameters = Parameters::read("sp-mcts", "c", inside)?;
    let mut options = SpMctsOptions::default();
    parameters.number("c", CONSTANT, &mut options.c)?;
    parameters.number("d", CONSTANT, &mut options.d)?;
    parameters.number("w", CONSTANT, &mut options.w)?;
    parameters.number("t", [0, COUNT[1]], &mut options.t)?;
    parameters.number("restarts", COUNT, &mut options.restarts)?;
    parameters.word("final", &FINAL_RULES, &mut options.final_move)?;
    parameters.word("time", &TIME_CONTROLS, &mut options.time)?;
    Ok((System::SpMcts(options), parameters))
}

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            System::Nested(level) => f.pad(&format!("nested({level})")),
            System::Max1 => f.pad("max1"),
            System::Max2 => f.pad("max2"),
            System::Nrpa(NrpaOptions { level, n, alpha, p }) => {
                f.pad(&format!("nrpa({level},n={n},alpha={alpha},p={p})"))
            }
            System::Beam(width) => f.pad(&format!("beam({width})")),
            System::Exhaustive => f.pad("exhaustive"),
            System::Sat => f.pad("sat"),
            System::Ida => f.pad("ida"),
            System::Meida => f.pad("meida"),
            System::SpMcts(options) => {
                let SpMctsOptions { c, d, w, t, restarts, final_move, time } = options;
                let rule = FINAL_RULES.iter().find(|it| it.1 == *final_move).map_or("", |it| it.0);
                let time = TIME_CONTROLS.iter().find(|it| it.1 == *time).map_or("", |it| it.0);
                f.pad(&format!(
                    "sp-mcts(c={c},d={d},w={w},t={t},restarts={restarts},final={rule},time={time})"
                ))
            }
            System::Portfolio => f.pad("portfolio"),
            System::Graph(config) => config.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for text in [
            "nested(2)",
            "max1",
            "max2",
            "nrpa(2,n=50,alpha=0.5,p=4)",
            "beam(100)",
            "exhaustive",
            "sat",
            "ida",
            "meida",
            "sp-mcts(c=0.5,d=10000,w=0.02,t=10,restarts=3,final=mean,time=game)",
            "portfolio",
            "uct+t",
            "ucd(1,0,1)",
        ] {
            assert_eq!(text.parse::<System>().map(|it| it.to_string()).as_deref(), Ok(text));
        }
        assert_eq!("nested".parse(), Ok(System::Nested(1)));
        assert_eq!("nrpa".parse(), Ok(System::Nrpa(NrpaOptions::default())));
        assert_eq!("sp-mcts".parse(), Ok(System::SpMcts(SpMctsOptions::default())));
    }

    #[test]
    fn what_cannot_be_is_named() {
        for (text, word) in [
            ("nested(0)", "level is a number from 1 to"),
            ("nested(2", "ends without the parenthesis that closes it"),
            ("rave-ucd(1,0", "rave-ucd takes 2 depths in parentheses"),
            ("credited(1)", "credited takes nothing in parentheses"),
            ("Nested(2)", "nested(2) is one"),
            ("'ucd(1,0,1)'", "ucd(1,0,1) is one"),
            ("nested(depth=2)", "no parameter \"depth\""),
            ("max1(2)", "max1 has no parameter \"2\""),
            ("nested(2,3)", "nested: level is given twice"),
            ("nrpa(2,n=5,n=6)", "nrpa: n is given twice"),
            ("nrpa(alpha=nan)", "alpha is a number"),
            ("sp-mcts(final=best)", "final is one of top, mean, visits"),
            ("magic", "for games of one role portfolio, nested"),
        ] {
            let error = text.parse::<System>().expect_err(text).to_string();
            assert!(error.contains(word), "{text}: {error}");
        }
    }
}
