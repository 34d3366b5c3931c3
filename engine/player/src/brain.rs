//! How a player of ours thinks: the options of a search, as a command line or a player's description names
//! them.
//!
//! In go texts, out comes a [`Brain`]. It does not think.

use std::num::NonZero;
use std::time::{Duration, Instant};

use clap::Args;
use search::{Budget, Config, MAX_EXPLORATION, MAX_THREADS, MIN_BYTES, Options, WorkLimit, cores};

use crate::processor_time;
use crate::reasoners::{self, ReasonerKind};

/// Everything that decides what our player answers, apart from the clock.
#[derive(Debug, Clone)]
pub struct Brain {
    /// Who answers questions about the rules.
    pub reasoner: ReasonerKind,
    /// How the graph is searched.
    pub search: Options,
    /// Playouts per move, instead of the whole clock. Fixes the answers if there is one thread and a seed;
    /// so there is no thinking on the opponents' time either.
    pub playouts: Option<u64>,
    /// Processor time of each thread for a move, instead of the whole clock: fair between players on a machine
    /// that others use too. No thinking on the opponents' time either.
    pub cpu: Option<Duration>,
}

/// The options of a search on the command line.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Search")]
pub struct BrainArgs {
    #[arg(long, default_value = "auto", value_name = "NAME", help = format!("Who answers questions about the rules: {}", reasoners::NAMES))]
    pub reasoner: ReasonerKind,
    /// The rules of selection and backup: uct, uct+t, mc, mc-memory
    #[arg(long, default_value_t, value_name = "NAME")]
    pub config: Config,
    /// Worker threads; all cores if it is not given
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    pub threads: Option<usize>,
    /// The constant C of UCB1, in goal points; 40 if it is not given, 100 in games of one role
    #[arg(long, value_name = "C", value_parser = parse_exploration)]
    pub c: Option<f64>,
    /// Bytes that the graph may take, 1G if it is not given; K, M and G multiply by 1024
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub memory: Option<usize>,
    /// Cores to pin the threads to, such as 0,1
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = parse_core)]
    pub pin: Vec<usize>,
    /// What all random choices follow from
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

impl BrainArgs {
    /// The brain that they describe.
    pub fn brain(&self, playouts: Option<u64>, cpu: Option<f64>) -> Brain {
        let defaults = Options::default();
        let search = Options {
            config: self.config,
            exploration: self.c,
            threads: self.threads.unwrap_or_else(all_cores),
            seed: self.seed,
            max_bytes: self.memory.unwrap_or(defaults.max_bytes),
            pin: self.pin.clone(),
            ..defaults
        };
        Brain { reasoner: self.reasoner, search, playouts, cpu: cpu.map(Duration::from_secs_f64) }
    }
}

impl Default for Brain {
    /// One thread, so that several players share a machine fairly.
    fn default() -> Brain {
        Brain { reasoner: ReasonerKind::default(), search: Options::default(), playouts: None, cpu: None }
    }
}

/// Why a description of a player makes no brain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BrainError {
    /// No `=`.
    #[error("{0:?} is no setting; write key=value")]
    NoValue(String),
    /// A key that there is not.
    #[error(
        "there is no setting {0:?}; known are threads, config, reasoner, playouts, cpu, c, memory, pin \
         (cores joined by +) and seed"
    )]
    UnknownKey(String),
    /// A value that cannot be read.
    #[error("{key}={value}: {reason}")]
    Value {
        /// The setting.
        key: String,
        /// What stands behind the `=`.
        value: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl Brain {
    /// What ends a search before its deadline does.
    pub fn budget(&self, deadline: Option<Instant>) -> Budget {
        let work = self.cpu.map(|limit| WorkLimit { worked: processor_time::of_this_thread, limit });
        Budget { deadline, playouts: self.playouts, work }
    }

    /// Whether it thinks for less than the whole clock.
    pub fn is_limited(&self) -> bool {
        self.playouts.is_some() || self.cpu.is_some()
    }

    /// Reads settings such as `threads=2,config=uct+t`.
    ///
    /// # Errors
    /// If a setting is unknown, or its value makes no sense.
    pub fn parse(settings: &str) -> Result<Brain, BrainError> {
        let mut brain = Brain::default();
        for setting in settings.split(',').filter(|setting| !setting.is_empty()) {
            let (key, value) =
                setting.split_once('=').ok_or_else(|| BrainError::NoValue(setting.to_owned()))?;
            brain.set(key, value)?;
        }
        Ok(brain)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), BrainError> {
        fn read<T: std::str::FromStr<Err: std::fmt::Display>>(
            key: &str,
            value: &str,
        ) -> Result<T, BrainError> {
            value.parse().map_err(|error: T::Err| wrong(key, value, &error))
        }
        fn wrong(key: &str, value: &str, reason: &dyn std::fmt::Display) -> BrainError {
            BrainError::Value { key: key.to_owned(), value: value.to_owned(), reason: reason.to_string() }
        }
        match key {
            "threads" => {
                self.search.threads = parse_threads(value).map_err(|reason| wrong(key, value, &reason))?;
            }
            "config" => self.search.config = read(key, value)?,
            "reasoner" => self.reasoner = read(key, value)?,
            "playouts" => self.playouts = Some(read::<NonZero<u64>>(key, value)?.get()),
            "cpu" => {
                let seconds = parse_seconds(value).map_err(|reason| wrong(key, value, &reason))?;
                self.cpu = Some(Duration::from_secs_f64(seconds));
            }
            "c" => {
                let c = parse_exploration(value).map_err(|reason| wrong(key, value, &reason))?;
                self.search.exploration = Some(c);
            }
            "memory" => {
                self.search.max_bytes = parse_bytes(value).map_err(|reason| wrong(key, value, &reason))?;
            }
            "pin" => {
                let cores: Result<_, _> = value.split('+').map(parse_core).collect();
                self.search.pin = cores.map_err(|reason| wrong(key, value, &reason))?;
            }
            "seed" => self.search.seed = Some(read(key, value)?),
            _ => return Err(BrainError::UnknownKey(key.to_owned())),
        }
        Ok(())
    }
}

/// Reads a time in seconds, which is not nothing.
pub fn parse_seconds(text: &str) -> Result<f64, String> {
    let seconds: f64 = text.parse().map_err(|_| "a number of seconds is wanted".to_owned())?;
    // A week is as good as for ever, and can be added to any moment.
    let is_fine = seconds > 0.0 && seconds <= 604_800.0;
    is_fine.then_some(seconds).ok_or_else(|| "more than 0 and at most 604800 seconds are wanted".to_owned())
}

// What a search would refuse is refused here: a player that cannot search plays its first legal moves, and
// only its log tells.

/// Reads a number of threads.
fn parse_threads(text: &str) -> Result<usize, String> {
    let threads = text.parse().ok().filter(|threads| (1..=MAX_THREADS).contains(threads));
    threads.ok_or_else(|| format!("1 to {MAX_THREADS} threads are wanted"))
}

/// Reads the constant C.
fn parse_exploration(text: &str) -> Result<f64, String> {
    let c = text.parse().ok().filter(|c| (0.0..=MAX_EXPLORATION).contains(c));
    c.ok_or_else(|| format!("a number from 0 to {MAX_EXPLORATION} is wanted"))
}

/// Reads the id of a core that threads can be pinned to.
fn parse_core(text: &str) -> Result<usize, String> {
    let cores = cores();
    let core = text.parse().ok().filter(|core| cores.contains(core));
    core.ok_or_else(|| match cores.is_empty() {
        true => "this system tells of no cores to pin to".to_owned(),
        false => {
            let known: Vec<String> = cores.iter().map(usize::to_string).collect();
            format!("there is no such core here; there are {}", known.join(" "))
        }
    })
}

/// Reads a number of bytes such as `512M`, enough for a graph.
pub fn parse_bytes(text: &str) -> Result<usize, String> {
    let (digits, shift) = match text.to_ascii_uppercase().as_str() {
        upper if upper.ends_with('K') => (&text[..text.len() - 1], 10),
        upper if upper.ends_with('M') => (&text[..text.len() - 1], 20),
        upper if upper.ends_with('G') => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    let number: usize = digits.parse().map_err(|_| "a number of bytes such as 512M is wanted".to_owned())?;
    let bytes = number.checked_mul(1 << shift).ok_or_else(|| "more bytes than any machine has".to_owned())?;
    if bytes < MIN_BYTES {
        return Err(format!("a graph needs at least {MIN_BYTES} bytes"));
    }
    Ok(bytes)
}

fn all_cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read() {
        let brain =
            Brain::parse("threads=2,config=mc,playouts=100,cpu=0.5,c=12.5,memory=64M,seed=7").unwrap();
        assert_eq!((brain.search.threads, brain.search.config), (2, Config::Mc));
        assert_eq!((brain.playouts, brain.search.seed), (Some(100), Some(7)));
        assert_eq!(brain.budget(None).work.map(|work| work.limit), Some(Duration::from_millis(500)));
        assert_eq!(brain.search.max_bytes, 64 << 20);
        assert!(Brain::parse("").is_ok());
    }

    #[test]
    fn a_wrong_setting_is_named() {
        assert!(matches!(Brain::parse("thread=2"), Err(BrainError::UnknownKey(_))));
        assert!(matches!(Brain::parse("threads"), Err(BrainError::NoValue(_))));
        assert!(matches!(Brain::parse("memory=lots"), Err(BrainError::Value { .. })));
        assert!(matches!(Brain::parse("reasoner=magic"), Err(BrainError::Value { .. })));
        for setting in [
            "threads=0",
            "threads=1025",
            "c=nan",
            "c=-1",
            "c=1e308",
            "memory=1",
            "memory=99999999999G",
            "playouts=0",
            "cpu=0",
            "cpu=-1",
            "pin=",
            "pin=-1",
            "pin=99999",
        ] {
            assert!(matches!(Brain::parse(setting), Err(BrainError::Value { .. })), "{setting}");
        }
    }

    #[test]
    fn every_core_of_this_machine_can_be_pinned_to() {
        let known = cores();
        let texts: Vec<String> = known.iter().map(usize::to_string).collect();
        if known.is_empty() {
            return eprintln!("skipped: this system tells of no cores");
        }
        assert_eq!(Brain::parse(&format!("pin={}", texts.join("+"))).unwrap().search.pin, known);
    }
}
