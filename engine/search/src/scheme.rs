//! The rules of one search, read from its options once.

use reasoner::Value;

use crate::config::{Config, FinalMove, InFlight, Payoffs, Simultaneous, Unexplored};
use crate::options::Options;
use crate::solver::Solver;
use crate::valuation::Valuation;

/// How a search chooses and counts.
#[derive(Debug, Clone)]
pub(crate) struct Scheme {
    pub(crate) config: Config,
    pub(crate) payoffs: Payoffs,
    pub(crate) valuation: Valuation,
    /// What proofs go by, if anything is to be proven.
    pub(crate) solver: Option<Solver>,
    /// C, in goal points.
    pub(crate) exploration: f64,
    pub(crate) in_flight: InFlight,
    pub(crate) simultaneous: Simultaneous,
    pub(crate) unexplored: Unexplored,
    pub(crate) final_move: FinalMove,
    pub(crate) rave_bias: f64,
    /// What the move nearest to a proven win is preferred by, in goal points.
    pub(crate) pn_bias: f64,
    /// Whether moves are compared by counts and sums that stand ready, and by nothing else.
    pub(crate) has_columns: bool,
    /// Whether what is in flight on the edges of sequential nodes is read from their children.
    pub(crate) children_tell: bool,
    /// Levels from the root on whose statistics are gathered over a batch.
    pub(crate) hot_levels: usize,
    /// Whether threads keep the nodes that their descents come by, for some batches.
    pub(crate) keeps_nodes: bool,
    /// Leaves of a batch.
    pub(crate) batch: u64,
    /// Rollouts from each leaf.
    pub(crate) n_rollouts: u32,
    /// Threads of the search.
    pub(crate) n_threads: u64,
}

/// Leaves in flight, and rollouts from each, where the reasoner plays many side by side (BATCHES.md of the reference
/// data).
const SIDE_BY_SIDE: (u32, u32) = (64, 8);

/// Rollouts of a leaf up to which C stays: BATCHES.md has 40 for 8, and 113 for 32 where 40 was bad. (With 113 for 8,
/// breakthrough at 0.05 s a move scored 21 of 40 against one leaf at a time, with 40 it scored 34.)
const ROLLOUTS_OF_C: f64 = 8.0;

impl Scheme {
    /// What these options mean in a game of so many roles.
    ///
    /// `n_side_by_side` is how many rollouts the reasoner plays as fast as one. Rollouts that tell their moves are made
    /// one by one. C grows with the square root of a leaf's rollouts, since each is a visit but the leaf is one look;
    /// up to [`ROLLOUTS_OF_C`] of them it is what it is for one.
    pub(crate) fn new(options: &Options, max_goal: Value, n_roles: usize, n_side_by_side: usize) -> Scheme {
        let usual = if n_side_by_side > 1 { SIDE_BY_SIDE } else { (1, 1) };
        let (batch, n_rollouts) = match options.config.wants_moves(options.unexplored) {
            true => (1, 1),
            false => (options.batch.unwrap_or(usual.0), options.rollouts.unwrap_or(usual.1)),
        };
        let valuation = Valuation::new(options.aim, options.discount, max_goal, n_roles);
        let solver = Solver::new(options, &valuation, n_roles);
        let config = options.config;
        let payoffs = options.place_of_payoffs();
        let has_columns = config.has_columns()
            && solver.is_none()
            && options.in_flight == InFlight::Count
            && options.unexplored == Unexplored::Uniform;
        Scheme {
            has_columns,
            children_tell: has_columns && config.is_by_children(payoffs),
            solver,
            valuation,
            hot_levels: options.hot_levels.unwrap_or(0) as usize,
            keeps_nodes: has_columns && batch > 1 && config.adds_along_path() && options.hot_levels.is_none(),
            batch: u64::from(batch),
            n_rollouts,
            n_threads: options.threads as u64,
            config,
            payoffs,
            exploration: options.exploration_for(n_roles)
                * (f64::from(n_rollouts) / ROLLOUTS_OF_C).max(1.0).sqrt(),
            in_flight: options.in_flight,
            simultaneous: options.simultaneous,
            unexplored: options.unexplored,
            final_move: options.rule_of_final_move(),
            rave_bias: options.rave_bias,
            pn_bias: options.pn_bias,
        }
    }

    /// What a unit of a sum is worth in goal points, where moves are compared by what came to their children or to their edges.
    pub(crate) fn points_of_unit(&self, by_children: bool) -> f64 {
        self.valuation.points(1.0) * if by_children { self.valuation.discount } else { 1.0 }
    }

    /// Visits of a playout.
    pub(crate) fn weight(&self) -> u64 {
        u64::from(self.n_rollouts)
    }

    /// Whether rollouts must tell their moves.
    pub(crate) fn wants_moves(&self) -> bool {
        self.config.wants_moves(self.unexplored)
    }
}
