//! What is chosen before a search.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, Instant};

use reasoner::Limits;

use crate::SearchError;

/// A family of selection and backup rules, by the name that the papers and the command line use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Config {
    /// A tree, UCB1 on its edges (Finnsson and Björnsson 2008; Méhat and Cazenave 2010, "UCT-T").
    Uct,
    /// A graph: equal states are one node, results are kept on nodes, and a parent's visits are the sum of
    /// its children's (Méhat and Cazenave 2010, section 3.2).
    #[default]
    UctT,
    /// Uniform choice from the root on, no memory but the means of the root's moves (Finnsson and Björnsson
    /// 2008, "MC_org").
    Mc,
    /// Uniform choice too, but the tree is built, one node a playout, and kept from move to move ("MC_mem").
    McMemory,
}

impl Config {
    /// All of them.
    pub const ALL: [Config; 4] = [Config::Uct, Config::UctT, Config::Mc, Config::McMemory];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Config::Uct => "uct",
            Config::UctT => "uct+t",
            Config::Mc => "mc",
            Config::McMemory => "mc-memory",
        }
    }

    /// Whether equal states are one node.
    pub(crate) fn has_transpositions(self) -> bool {
        self == Config::UctT
    }

    /// Whether anything below the root is kept.
    pub(crate) fn has_memory(self) -> bool {
        self != Config::Mc
    }

    /// Whether moves are chosen by their statistics, and so the most visited one is played; otherwise they
    /// are chosen uniformly, and the best mean is played.
    pub(crate) fn is_guided(self) -> bool {
        matches!(self, Config::Uct | Config::UctT)
    }
}

impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that is no configuration's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name:?} is no search configuration; known are {}", Config::ALL.map(Config::name).join(", "))]
pub struct ConfigError {
    /// The name.
    pub name: String,
}

impl FromStr for Config {
    type Err = ConfigError;

    fn from_str(name: &str) -> Result<Config, ConfigError> {
        Config::ALL
            .into_iter()
            .find(|config| config.name() == name)
            .ok_or_else(|| ConfigError { name: name.to_owned() })
    }
}

/// The most threads that one search takes. In-flight counts have 16 bits, and a thread has one playout in
/// flight at a time.
pub const MAX_THREADS: usize = 1024;

/// The largest C. From here on the means do not count any more, and far above it no bound is a number.
pub const MAX_EXPLORATION: f64 = 1e6;

/// The smallest cap in which a graph can begin: a chunk of everything for the widest games it will hold.
pub const MIN_BYTES: usize = 1 << 20;

/// How a [`Searcher`](crate::Searcher) searches.
#[derive(Debug, Clone)]
pub struct Options {
    /// The rules of selection and backup.
    pub config: Config,
    /// UCB1's constant C, in goal points, 0 to [`MAX_EXPLORATION`]. None: 40, or 100 for one role (Méhat and Cazenave 2010, 3.2).
    pub exploration: Option<f64>,
    /// Worker threads, 1 to [`MAX_THREADS`].
    pub threads: usize,
    /// What all random choices follow from. None: another one each time.
    pub seed: Option<u64>,
    /// Bytes that the graph may take, at least [`MIN_BYTES`]. At the cap nothing is added any more, and the
    /// search goes on with the graph it has.
    pub max_bytes: usize,
    /// Cores by id, of those that [`cores`] lists: worker `i` is pinned to `pin[i % pin.len()]`. Empty: not pinned.
    pub pin: Vec<usize>,
    /// What one query of a session may use.
    pub limits: Limits,
    /// Bytes that one state owns on the heap, beyond its own size, as the cap counts them. Reasoners do not
    /// tell; the default is a generous state of a published game in a bit set.
    pub state_heap_bytes: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            config: Config::default(),
            exploration: None,
            threads: 1,
            seed: None,
            max_bytes: 1 << 30,
            pin: Vec::new(),
            limits: Limits::default(),
            state_heap_bytes: 256,
        }
    }
}

impl Options {
    /// # Errors
    /// If a number is out of its bounds.
    pub(crate) fn check(&self) -> Result<(), SearchError> {
        if self.threads == 0 || self.threads > MAX_THREADS {
            return Err(SearchError::Threads(self.threads));
        }
        if self.max_bytes < MIN_BYTES {
            return Err(SearchError::CapTooSmall(self.max_bytes));
        }
        if self.exploration.is_some_and(|c| !(0.0..=MAX_EXPLORATION).contains(&c)) {
            return Err(SearchError::Exploration(self.exploration.unwrap_or_default()));
        }
        if !self.pin.is_empty() {
            let known = cores();
            if let Some(&absent) = self.pin.iter().find(|core| !known.contains(core)) {
                return Err(SearchError::Core(absent));
            }
        }
        Ok(())
    }

    /// C for a game of `n_roles`.
    pub(crate) fn exploration_for(&self, n_roles: usize) -> f64 {
        self.exploration.unwrap_or(if n_roles == 1 { 100.0 } else { 40.0 })
    }
}

/// The cores that threads of this process may be pinned to, by id; none if the system does not tell.
pub fn cores() -> Vec<usize> {
    core_affinity::get_core_ids().unwrap_or_default().into_iter().map(|core| core.id).collect()
}

/// When a run ends: with whichever comes first; with none of them, when it is stopped.
#[derive(Debug, Clone, Copy, Default)]
pub struct Budget {
    /// The moment to stop.
    pub deadline: Option<Instant>,
    /// Playouts to make, all threads together; those that a failing reasoner spoils count.
    pub playouts: Option<u64>,
    /// Work of each thread.
    pub work: Option<WorkLimit>,
}

/// How long each thread may work in a run. The search knows no clock of its own, so the measure is handed in.
#[derive(Debug, Clone, Copy)]
pub struct WorkLimit {
    /// How long the calling thread has worked since some moment, such as its processor time; never less than
    /// before.
    pub worked: fn() -> Duration,
    /// A thread begins no playout once it has worked this long.
    pub limit: Duration,
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for config in Config::ALL {
            assert_eq!(config.to_string().parse(), Ok(config));
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let error = "ucb".parse::<Config>().expect_err("there is no ucb");
        assert_eq!(
            error.to_string(),
            "\"ucb\" is no search configuration; known are uct, uct+t, mc, mc-memory"
        );
    }
}
