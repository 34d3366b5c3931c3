//! What thinks in a match: for one role a system for such games, otherwise the shared graph.
//!
//! In go a brain and states, out come moves, best last. This is the only place of the keeper that knows of both.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use reasoner::{Interrupt, Move, Reasoner, Role};
use search::{Budget, Options, Report, SearchError};
use single::{Outsiders, SingleError};
use tracing::{debug, warn};

use crate::brain::Brain;

/// What a choice rests on, least first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Ground {
    /// It is legal.
    #[default]
    Rules,
    /// So many visits of all moves.
    Visits(u64),
    /// A line of one role that ends with this goal.
    Line(u64),
    Proof,
}

/// A move that is thought to be the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Thought {
    pub(super) a_move: Move,
    pub(super) ground: Ground,
}

/// The best of a role's moves; none if nothing is known of any.
fn best_of(report: &Report, role: Role) -> Option<Thought> {
    let moves = &report.roles.get(role.idx())?.moves;
    let ground = match (&report.best_line, report.is_solved) {
        (_, true) => Ground::Proof,
        (Some(line), false) => Ground::Line(line.value),
        (None, false) => Ground::Visits(moves.iter().map(|it| it.visits).sum()),
    };
    let a_move = report.best(role).filter(|_| ground > Ground::Visits(0))?;
    Some(Thought { a_move, ground })
}

fn best_of_line(report: &single::Report) -> Option<Thought> {
    let ground = match &report.best {
        Some(line) => Ground::Line(u64::from(line.value)),
        None => Ground::Rules,
    };
    report.a_move.map(|a_move| Thought { a_move, ground })
}

/// Makes a searcher with as many threads as options want, or half as many again and again while there are too few to be had.
fn with_threads_to_be_had<T, E: Display>(
    mut options: Options,
    make: impl Fn(&Options) -> Result<T, E>,
    is_for_threads: impl Fn(&E) -> bool,
) -> Result<T, String> {
    loop {
        match make(&options) {
            Err(error) if is_for_threads(&error) && options.threads > 1 => {
                options.threads /= 2;
                warn!(%error, threads = options.threads, "a search with fewer threads");
            }
            made => return made.map_err(|error| error.to_string()),
        }
    }
}

/// One match's thoughts, kept from move to move.
pub(super) enum Mind<R: Reasoner> {
    Graph(Box<search::Searcher<R>>),
    Single(Box<single::Searcher<R>>),
}

impl<R: Reasoner> Mind<R> {
    /// A mind without a root, which may take so many bytes, and hold answers up so long to give some back.
    pub(super) fn new(
        reasoner: &Arc<R>,
        brain: &Brain,
        max_bytes: usize,
        max_pause: Duration,
        outsiders: &Outsiders,
    ) -> Result<Mind<R>, String> {
        let options = Options { max_bytes, ..brain.search.clone() };
        if let Some(system) = brain.system_for(reasoner.n_roles()) {
            let make =
                |options: &Options| single::Searcher::with_outsiders(reasoner, system, options, outsiders);
            let searcher =
                with_threads_to_be_had(options, make, |error| matches!(error, SingleError::Spawn(_)))?;
            return Ok(Mind::Single(Box::new(searcher)));
        }
        if let Some(system) = &brain.config
            && !matches!(system, single::System::Graph(_))
        {
            warn!(%system, instead = %options.config, "a system for one role, in a game of several");
        }
        let make = |options: &Options| search::Searcher::new(Arc::clone(reasoner), options.clone());
        let mut searcher =
            with_threads_to_be_had(options, make, |error| matches!(error, SearchError::Spawn(_)))?;
        searcher.set_max_pause(max_pause);
        Ok(Mind::Graph(Box::new(searcher)))
    }

    /// Moves to another state.
    pub(super) fn set_root(&mut self, state: &R::State) {
        match self {
            Mind::Graph(searcher) => searcher.set_root(state),
            Mind::Single(searcher) => searcher.set_root(state),
        }
    }

    /// Gives room back that is not needed any more, unless `stop` is raised before it is known what that is: for moments when
    /// no answer is owed.
    pub(super) fn tidy(&mut self, stop: &Interrupt) {
        if let Mind::Graph(searcher) = self {
            searcher.tidy(stop);
        }
    }

    /// Lets what is begun from now on take so many bytes; systems for one role have what they were given.
    pub(super) fn set_max_bytes(&mut self, max_bytes: usize) {
        if let Mind::Graph(searcher) = self {
            searcher.set_max_bytes(max_bytes);
        }
    }

    /// What is known at the root without thinking about it.
    pub(super) fn known(&self, role: Role) -> Option<Thought> {
        match self {
            Mind::Graph(searcher) => best_of(&searcher.report(), role),
            Mind::Single(searcher) => best_of_line(&searcher.report()),
        }
    }

    /// Thinks until the budget is used up or `stop` is raised, and tells of the best move now and then, and at the end. Out
    /// comes how long a thread worked at most, where the graph was searched and work is limited.
    pub(super) fn think(
        &mut self,
        role: Role,
        budget: &Budget,
        stop: &Interrupt,
        tell: &mut dyn FnMut(Thought),
    ) -> Result<Duration, String> {
        match self {
            Mind::Graph(searcher) => {
                let mut progress = |report: &Report| best_of(report, role).into_iter().for_each(&mut *tell);
                let report = searcher.run(budget, stop, &mut progress).map_err(|error| error.to_string())?;
                let Report { playouts, seconds, nodes, is_settled, .. } = report;
                debug!(playouts, seconds, nodes, is_settled, "search");
                best_of(&report, role).into_iter().for_each(tell);
                Ok(Duration::from_nanos(report.counters.work_ns))
            }
            Mind::Single(searcher) => {
                let mut progress =
                    |report: &single::Report| best_of_line(report).into_iter().for_each(&mut *tell);
                let report = searcher.run(budget, stop, &mut progress).map_err(|error| error.to_string())?;
                if let Some(error) = &report.last_error {
                    warn!(error, "a system could not go on");
                }
                best_of_line(&report).into_iter().for_each(tell);
                Ok(Duration::ZERO)
            }
        }
    }

    /// The line that a system for one role holds from the root on.
    pub(super) fn line(&self) -> Vec<Move> {
        match self {
            Mind::Graph(_) => Vec::new(),
            Mind::Single(searcher) => searcher.report().best.map_or_else(Vec::new, |line| line.moves),
        }
    }

    /// Takes over a line from the root on, if it comes to an end there.
    pub(super) fn adopt(&mut self, session: &mut R::Session, root: &R::State, moves: &[Move]) {
        if let Mind::Single(searcher) = self {
            searcher.set_root(root);
            match searcher.adopt(session, moves) {
                Ok(true) => {}
                Ok(false) => warn!("the line of the reasoner before comes to no end, and is lost"),
                Err(error) => warn!(%error, "the line of the reasoner before is lost"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use search::{MoveReport, RoleReport};

    use super::*;

    fn report(visits: [u64; 2], is_solved: bool) -> Report {
        let a_move = |(number, visits)| MoveReport {
            a_move: Move(number),
            visits,
            value: 50.0,
            top: None,
            proven: None,
        };
        let moves = (7..).zip(visits).map(a_move).collect();
        Report {
            roles: vec![RoleReport::default(), RoleReport { proven: None, moves }],
            is_solved,
            ..Report::default()
        }
    }

    #[test]
    fn a_move_rests_on_the_visits_of_all_or_on_a_proof() {
        let thought =
            |visits, is_solved| best_of(&report(visits, is_solved), Role(1)).map(|it| (it.a_move, it.ground));
        assert_eq!(thought([3, 2], false), Some((Move(7), Ground::Visits(5))));
        assert_eq!(thought([0, 0], true), Some((Move(7), Ground::Proof)));
        assert_eq!(thought([0, 0], false), None, "nothing is known yet");
        assert_eq!(best_of(&report([1, 1], false), Role(0)), None);
    }

    #[test]
    fn threads_are_as_many_as_can_be_had() {
        let had = |limit| {
            let make = |options: &Options| {
                if options.threads > limit { Err("no more") } else { Ok(options.threads) }
            };
            with_threads_to_be_had(Options { threads: 8, ..Options::default() }, make, |_| true)
        };
        assert_eq!([had(8), had(7), had(1)], [Ok(8), Ok(4), Ok(1)]);
        assert_eq!(had(0), Err("no more".to_owned()));
    }

    #[test]
    fn a_line_stands_until_there_is_one_as_good() {
        let grounds = [
            Ground::Rules,
            Ground::Visits(1),
            Ground::Visits(2),
            Ground::Line(1),
            Ground::Line(2),
            Ground::Proof,
        ];
        assert!(grounds.is_sorted() && Ground::default() == Ground::Rules);
    }
}
