//! Why a search could not be made.

use reasoner::ReasonerError;

use crate::options::{
    MAX_BATCH, MAX_EXPLORATION, MAX_HOT_LEVELS, MAX_IN_FLIGHT, MAX_ROLLOUTS, MAX_THREADS, MIN_BYTES,
};

/// Why a search could not be made. A reasoner that fails within a playout is no such error: the playout is
/// given up and counted in the [`Report`](crate::Report).
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// A worker got no session.
    #[error("the reasoner gives no session to a worker: {0}")]
    Session(#[source] ReasonerError),
    /// [`Options::threads`](crate::Options::threads) is out of bounds.
    #[error("a search takes 1 to {max} threads, not {0}", max = MAX_THREADS)]
    Threads(usize),
    /// [`Options::max_bytes`](crate::Options::max_bytes) is too small.
    #[error("a graph needs at least {min} bytes, not {0}; raise the cap", min = MIN_BYTES)]
    CapTooSmall(usize),
    /// [`Options::exploration`](crate::Options::exploration) is no number to explore with.
    #[error("the exploration constant is a number from 0 to {max}, not {0}", max = MAX_EXPLORATION)]
    Exploration(f64),
    /// [`Options::discount`](crate::Options::discount) is no share of a value.
    #[error("a discount is above 0 and at most 1, not {0}")]
    Discount(f64),
    /// [`Options::rave_bias`](crate::Options::rave_bias) is out of bounds.
    #[error("the bias of rave is a number from 0 to 1, not {0}")]
    RaveBias(f64),
    /// [`Options::pn_bias`](crate::Options::pn_bias) is out of bounds.
    #[error("the bias by proof numbers is a number from 0 to {max}, not {0}", max = MAX_EXPLORATION)]
    PnBias(f64),
    /// [`Options::pn_bias`](crate::Options::pn_bias) is wanted without [`Options::solver`](crate::Options::solver).
    #[error("proof numbers count what is left to be proven; turn the solver on, or leave the bias at 0")]
    NothingProven,
    /// [`Options::pn_bias`](crate::Options::pn_bias) is wanted where moves are chosen by nothing.
    #[error("mc and mc-memory choose uniformly, without any bias; leave it at 0")]
    NothingGuided,
    /// [`Options::batch`](crate::Options::batch) is out of bounds.
    #[error("a batch has 1 to {max} leaves, not {0}", max = MAX_BATCH)]
    Batch(u32),
    /// [`Options::rollouts`](crate::Options::rollouts) is out of bounds.
    #[error("a leaf has 1 to {max} rollouts, not {0}", max = MAX_ROLLOUTS)]
    Rollouts(u32),
    /// Leaves and rollouts, each within its bounds, that are too many together.
    #[error("a batch of {batch} leaves with {rollouts} rollouts each has {}, but at most {max} are in flight at once; \
             take fewer of either", u64::from(*batch) * u64::from(*rollouts), max = MAX_IN_FLIGHT)]
    InFlight {
        /// Leaves of a batch.
        batch: u32,
        /// Rollouts of a leaf.
        rollouts: u32,
    },
    /// Rollouts that must tell their moves are wanted side by side.
    #[error("rave, rave-ucd and gibbs make their rollouts one by one; leave batch and rollouts out, or at 1")]
    OneByOne,
    /// [`Options::hot_levels`](crate::Options::hot_levels) is out of bounds.
    #[error("statistics are gathered on 0 to {max} levels, not {0}", max = MAX_HOT_LEVELS)]
    HotLevels(u32),
    /// Statistics are to be gathered under a configuration that adds more than these.
    #[error("hot levels go with uct, uct+t and update-descent, which add playouts along their path only")]
    NothingHot,
    /// [`Options::payoffs`](crate::Options::payoffs) does not go with the configuration.
    #[error("{0}")]
    Payoffs(String),
    /// A core to pin to that there is not.
    #[error("there is no core {0} to pin to")]
    Core(usize),
    /// The operating system gave no thread.
    #[error("a thread could not be started: {0}")]
    Spawn(#[source] std::io::Error),
    /// A run without a root.
    #[error("there is no position to search; call set_root first")]
    NoRoot,
    /// A worker panicked, most likely in the reasoner. The next run starts with a new graph and session.
    #[error("a worker panicked: {0}")]
    Panicked(String),
}
