//! Who works for a system: the solvers, by name, and how many of them at once.

use reasoner::Reasoner;
use search::{Config, Options, SearchError};

use crate::beam::Beam;
use crate::exhaustive::Exhaustive;
use crate::graph::GraphSolver;
use crate::ida::{Ida, Meida};
use crate::nested::Nested;
use crate::nrpa::{Nrpa, NrpaOptions};
use crate::outsider::{Guest, Outsiders};
use crate::solver::Solver;
use crate::sp_mcts::{SpMcts, SpMctsOptions};
use crate::system::System;
use crate::worker::Making;

/// What works for a system.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Roster {
    /// One solver each.
    pub(crate) members: Vec<System>,
    pub(crate) n_at_once: usize,
    /// Whether who finds more gets more.
    pub(crate) has_rewards: bool,
    /// Whether solvers are paused between runs from one root, and begin anew otherwise.
    pub(crate) is_resumed: bool,
}

/// The portfolio, those first that pay first.
fn portfolio() -> Vec<System> {
    vec![
        System::Nested(1),
        System::Exhaustive,
        System::Sat,
        System::Nrpa(NrpaOptions::default()),
        System::Graph(Config::UctT),
        System::Beam(64),
        System::Nested(2),
        System::SpMcts(SpMctsOptions::default()),
    ]
}

impl Roster {
    /// For a system on so many threads, with the outsiders that there are.
    pub(crate) fn new(system: System, threads: usize, outsiders: &Outsiders) -> Roster {
        let members = match system {
            System::Max1 | System::Max2 => vec![System::Graph(Config::UctT), System::Nested(1)],
            System::Portfolio => {
                let mut members = portfolio();
                members.retain(|&member| member != System::Sat || outsiders.sat.is_some());
                // Those that depend on chance can be there several times.
                let random = [System::Nested(2), System::Nrpa(NrpaOptions::default()), System::Nested(1)];
                let more = threads.saturating_sub(members.len());
                members.into_iter().chain(random.into_iter().cycle().take(more)).collect()
            }
            System::Nested(_) | System::Nrpa(_) | System::SpMcts(_) | System::Beam(_) => {
                vec![system; threads]
            }
            System::Exhaustive | System::Sat | System::Ida | System::Meida | System::Graph(_) => vec![system],
        };
        let n_at_once = match system {
            System::Max1 => 1,
            System::Max2 => 2,
            _ => threads.min(members.len()),
        };
        let has_rewards = system == System::Portfolio;
        let is_resumed = !matches!(system, System::Meida | System::SpMcts(_));
        Roster { members, n_at_once, has_rewards, is_resumed }
    }

    /// The members' weights while nobody finds anything.
    pub(crate) fn weights(&self) -> Vec<f64> {
        let weight = |member: &System| match member {
            System::Exhaustive => EXHAUSTIVE_WEIGHT,
            System::Sat => SAT_WEIGHT,
            _ => 1.0,
        };
        self.members.iter().map(weight).collect()
    }
}

/// The weight of exhaustive search in a portfolio. It finds nothing on its way, but where all states fit it ends within a
/// second or two and proves the optimum (hanoi7_bugfix: half a second alone), and where they do not it gives up.
const EXHAUSTIVE_WEIGHT: f64 = 4.0;

/// That of the constraint route, which is slow to begin, and then has all or nothing.
const SAT_WEIGHT: f64 = 3.0;

/// The solver of one member.
///
/// # Errors
/// If a search of the graph cannot be had.
pub(crate) fn solver<R: Reasoner>(making: &Making<R>) -> Result<Box<dyn Solver<R>>, SearchError> {
    let Making { member, reasoner, options, outsiders, is_alone, pause, .. } = making;
    let graph = |config| {
        let mut options = Options { config, ..options.clone() };
        if !*is_alone {
            // The others need cores too.
            (options.threads, options.payoffs) = (1, None);
            options.pin.clear();
        }
        GraphSolver::new(reasoner, options, pause)
    };
    Ok(match *member {
        System::Nested(level) => Box::new(Nested { level }),
        System::Nrpa(options) => Box::new(Nrpa::new(options)),
        System::Beam(width) => Box::new(Beam { width }),
        System::Exhaustive => Box::new(Exhaustive::new(outsiders.exhaustive.clone())),
        System::Sat => Box::new(Guest::new(outsiders.sat.clone())),
        System::Ida => Box::new(Ida { has_memory: false }),
        System::Meida => Box::new(Meida { ida: Ida { has_memory: true }, uct: graph(Config::Uct)? }),
        System::SpMcts(options) => Box::new(SpMcts::new(options)),
        System::Graph(config) => Box::new(graph(config)?),
        // Rosters name no systems that have rosters themselves.
        System::Max1 | System::Max2 | System::Portfolio => Box::new(Nested { level: 1 }),
    })
}
