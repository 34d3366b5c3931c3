//! What is chosen before a search, and when a run of it ends.

use std::time::{Duration, Instant};

use reasoner::{Limits, Role};

use crate::SearchError;
use crate::config::{Aim, Config, FinalMove, InFlight, Payoffs, Simultaneous, Unexplored};

/// The most threads that one search takes; with [`MAX_IN_FLIGHT`] it is what in-flight counts have room for.
pub const MAX_THREADS: usize = 1024;

/// The most leaves that one thread has in flight.
pub const MAX_BATCH: u32 = 512;

/// The most rollouts from one leaf.
pub const MAX_ROLLOUTS: u32 = 64;

/// The most rollouts that one thread has in flight, from all leaves of a batch.
pub const MAX_IN_FLIGHT: u32 = 8192;

/// The most levels whose statistics are gathered: below them playouts of a batch hardly ever meet.
pub const MAX_HOT_LEVELS: u32 = 8;

/// The largest C. From here on the means do not count any more, and far above it no bound is a number.
pub const MAX_EXPLORATION: f64 = 1e6;

/// The smallest cap in which a graph can begin: a chunk of everything for the widest games it will hold.
pub const MIN_BYTES: usize = 1 << 20;

/// The best of Saffidine et al. 2012, table 2.
const RAVE_BIAS: f64 = 0.0002;

/// How a [`Searcher`](crate::Searcher) searches.
#[derive(Debug, Clone)]
pub struct Options {
    /// The rules of selection and backup.
    pub config: Config,
    /// Where playouts are added; None: where the configuration has them usually.
    pub payoffs: Option<Payoffs>,
    /// What a role of a two-role game wants.
    pub aim: Aim,
    /// What a value is worth one joint move earlier than its end, above 0 and at most 1 (Cadia: 0.99).
    pub discount: f64,
    /// How the first way out of a node is chosen, and the moves of rollouts.
    pub unexplored: Unexplored,
    /// How playouts under way keep others from the same path.
    pub in_flight: InFlight,
    /// How each role of a simultaneous position chooses.
    pub simultaneous: Simultaneous,
    /// What the move to play has most of. None: visits where moves are chosen by statistics, otherwise the mean.
    pub final_move: Option<FinalMove>,
    /// Leaves that a thread gathers before it rolls out from all of them, 1 to [`MAX_BATCH`], with [`MAX_IN_FLIGHT`]
    /// rollouts at most, and 1 under `rave`, `rave-ucd` and Gibbs sampling. None: as the reasoner likes.
    pub batch: Option<u32>,
    /// Rollouts from each leaf, each a visit, 1 to [`MAX_ROLLOUTS`], and 1 under `rave`, `rave-ucd` and Gibbs sampling.
    /// None: as the reasoner likes.
    pub rollouts: Option<u32>,
    /// Levels from the root on whose statistics each thread gathers over a batch, 0 to [`MAX_HOT_LEVELS`], and only under
    /// configurations that add playouts along their path and nowhere else: `uct`, `uct+t`, `update-descent`. None: not by levels, but
    /// those of all positions whose moves all have finished playouts, in long searches over several batches, under these configurations
    /// without the solver, where batches are larger than 1.
    pub hot_levels: Option<u32>,
    /// Whether bounds on values are proven and gone by; not under `mc` and `mc-memory`, which are baselines.
    pub solver: bool,
    /// How soon later moves' means give way to a move's own in `rave`, 0 to 1 (Saffidine et al. 2012, table 2).
    pub rave_bias: f64,
    /// How much moves are preferred that are near to a proven win, in goal points as C is, 0 to [`MAX_EXPLORATION`]: of n
    /// moves the k-th nearest has `pn_bias (1 - k / n)` more in UCB1 (Kowalski et al. 2024 and 2025, UCT-PN; their C_pn, which
    /// has the unit of their values). 0: nothing is counted for it. Above 0 it needs the solver.
    pub pn_bias: f64,
    /// UCB1's constant C, in goal points, 0 to [`MAX_EXPLORATION`]. None: 40, or 100 for one role (Méhat and Cazenave
    /// 2010, 3.2).
    pub exploration: Option<f64>,
    /// Worker threads, 1 to [`MAX_THREADS`].
    pub threads: usize,
    /// What all random choices follow from. None: another one each time.
    pub seed: Option<u64>,
    /// Bytes that the graph may take, at least [`MIN_BYTES`]. When they are used up what is hardly ever visited makes room;
    /// where there is no time for that, nothing is added any more, and the search goes on with the graph it has.
    pub max_bytes: usize,
    /// Cores by id, of those that [`cores`] lists: worker `i` is pinned to `pin[i % pin.len()]`. Empty: not pinned.
    pub pin: Vec<usize>,
    /// What one query of a session may use.
    pub limits: Limits,
    /// Bytes that one state owns on the heap, beyond its own size, as the cap counts them. None: what the reasoner tells of
    /// all states, or a guess from the first.
    pub state_heap_bytes: Option<usize>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            config: Config::default(),
            payoffs: None,
            aim: Aim::default(),
            discount: 1.0,
            unexplored: Unexplored::default(),
            in_flight: InFlight::default(),
            simultaneous: Simultaneous::default(),
            final_move: None,
            hot_levels: None,
            solver: false,
            rave_bias: RAVE_BIAS,
            pn_bias: 0.0,
            batch: None,
            rollouts: None,
            exploration: None,
            threads: 1,
            seed: None,
            max_bytes: 1 << 30,
            pin: Vec::new(),
            limits: Limits::default(),
            state_heap_bytes: None,
        }
    }
}

impl Options {
    /// Checks all that does not depend on the game, as a search does when it is made.
    ///
    /// # Errors
    /// If a number is out of its bounds, payoffs cannot be where they are wanted, a bias is to go by proofs that nobody
    /// makes or among moves that nobody compares, or rollouts that must tell their moves are wanted side by side.
    pub fn check(&self) -> Result<(), SearchError> {
        if self.threads == 0 || self.threads > MAX_THREADS {
            return Err(SearchError::Threads(self.threads));
        }
        if self.max_bytes < MIN_BYTES {
            return Err(SearchError::CapTooSmall(self.max_bytes));
        }
        if self.exploration.is_some_and(|c| !(0.0..=MAX_EXPLORATION).contains(&c)) {
            return Err(SearchError::Exploration(self.exploration.unwrap_or_default()));
        }
        if !(self.discount > 0.0 && self.discount <= 1.0) {
            return Err(SearchError::Discount(self.discount));
        }
        if !(0.0..=1.0).contains(&self.rave_bias) {
            return Err(SearchError::RaveBias(self.rave_bias));
        }
        if !(0.0..=MAX_EXPLORATION).contains(&self.pn_bias) {
            return Err(SearchError::PnBias(self.pn_bias));
        }
        if self.pn_bias > 0.0 && !self.solver {
            return Err(SearchError::NothingProven);
        }
        if self.pn_bias > 0.0 && !self.config.is_guided() {
            return Err(SearchError::NothingGuided);
        }
        if self.batch.is_some_and(|batch| !(1..=MAX_BATCH).contains(&batch)) {
            return Err(SearchError::Batch(self.batch.unwrap_or_default()));
        }
        if self.rollouts.is_some_and(|rollouts| !(1..=MAX_ROLLOUTS).contains(&rollouts)) {
            return Err(SearchError::Rollouts(self.rollouts.unwrap_or_default()));
        }
        let (batch, rollouts) = (self.batch.unwrap_or(1), self.rollouts.unwrap_or(1));
        if batch * rollouts > MAX_IN_FLIGHT {
            return Err(SearchError::InFlight { batch, rollouts });
        }
        if self.config.wants_moves(self.unexplored) && self.batch.max(self.rollouts).is_some_and(|n| n > 1) {
            return Err(SearchError::OneByOne);
        }
        let hot_levels = self.hot_levels.unwrap_or(0);
        if hot_levels > MAX_HOT_LEVELS {
            return Err(SearchError::HotLevels(hot_levels));
        }
        if hot_levels > 0 && !self.config.adds_along_path() {
            return Err(SearchError::NothingHot);
        }
        self.config.payoffs(self.payoffs).map_err(SearchError::Payoffs)?;
        if !self.pin.is_empty() {
            let known = cores();
            if let Some(&absent) = self.pin.iter().find(|core| !known.contains(core)) {
                return Err(SearchError::Core(absent));
            }
        }
        Ok(())
    }

    /// Whether nodes have proof numbers.
    pub(crate) fn has_proof_numbers(&self) -> bool {
        self.pn_bias > 0.0
    }

    /// Where playouts are added.
    pub(crate) fn place_of_payoffs(&self) -> Payoffs {
        self.config.payoffs(self.payoffs).unwrap_or(Payoffs::Edges)
    }

    /// What the move to play has most of.
    pub(crate) fn rule_of_final_move(&self) -> FinalMove {
        let usual = if self.config.is_guided() { FinalMove::Visits } else { FinalMove::Mean };
        self.final_move.unwrap_or(usual)
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
    /// A choice that ends the run when it is settled, if it is soon enough. Only where the final move is the most visited one,
    /// several roles play, and playouts are not counted: what a seed and a number of playouts give depends on no clock.
    pub settled_for: Option<Settling>,
    /// Whether the run goes on when the choice at the root is proven, as is useful where others choose there, who may err.
    pub is_past_proofs: bool,
}

/// When a run may end before its limits, for the choice of one role at the root: as soon as its most visited move is its
/// only one, or leads by more visits than the rest of the run can add, and later on when it is clear.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settling {
    /// Whose choice.
    pub role: Role,
    /// The part of the limits, of whichever is used up most, from which on a clear choice ends the run: one whose most
    /// visited move has the best mean too, and more than twice the visits of any other. Above 1: none does.
    pub clear_from: f64,
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
