//! The rules of one search, read from its options once.

use reasoner::Value;

use crate::config::{Config, FinalMove, InFlight, Payoffs, Simultaneous, Unexplored};
use crate::options::Options;
use crate::valuation::Valuation;

/// How a search chooses and counts.
#[derive(Debug, Clone)]
pub(crate) struct Scheme {
    pub(crate) config: Config,
    pub(crate) payoffs: Payoffs,
    pub(crate) valuation: Valuation,
    /// C, in goal points.
    pub(crate) exploration: f64,
    pub(crate) in_flight: InFlight,
    pub(crate) simultaneous: Simultaneous,
    pub(crate) unexplored: Unexplored,
    pub(crate) final_move: FinalMove,
    pub(crate) rave_bias: f64,
}

impl Scheme {
    /// What these options mean in a game of so many roles.
    pub(crate) fn new(options: &Options, max_goal: Value, n_roles: usize) -> Scheme {
        Scheme {
            config: options.config,
            payoffs: options.place_of_payoffs(),
            valuation: Valuation::new(options.aim, options.discount, max_goal, n_roles),
            exploration: options.exploration_for(n_roles),
            in_flight: options.in_flight,
            simultaneous: options.simultaneous,
            unexplored: options.unexplored,
            final_move: options.rule_of_final_move(),
            rave_bias: options.rave_bias,
        }
    }

    /// Whether rollouts must tell their moves.
    pub(crate) fn wants_moves(&self) -> bool {
        self.config.has_later_moves() || self.unexplored != Unexplored::Uniform
    }
}
