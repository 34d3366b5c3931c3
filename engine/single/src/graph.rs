//! The shared graph's searches as one system among others: what its playouts find is offered like any other line.

use std::sync::Arc;
use std::time::{Duration, Instant};

use reasoner::{Interrupt, Move, Reasoner, ReasonerError};
use search::{Budget, Options, Report, SearchError, Searcher};

use crate::solver::{Ending, Halt, Solver};
use crate::turns::Rest;
use crate::work::Work;

/// A search that goes on from turn to turn and keeps its graph from move to move.
#[derive(Debug)]
pub(crate) struct GraphSolver<R: Reasoner> {
    searcher: Searcher<R>,
    stop: Interrupt,
}

impl<R: Reasoner> GraphSolver<R> {
    /// It ends its turn when `stop` is raised.
    pub(crate) fn new(
        reasoner: &Arc<R>,
        options: Options,
        stop: &Interrupt,
    ) -> Result<GraphSolver<R>, SearchError> {
        let searcher = Searcher::new(Arc::clone(reasoner), options)?;
        Ok(GraphSolver { searcher, stop: stop.clone() })
    }

    /// Searches for one turn.
    fn take_turn(&mut self, rest: Rest) -> Result<(Report, Duration), Halt> {
        let began = Instant::now();
        let budget = match rest {
            Rest::Until(deadline) => Budget { deadline: Some(deadline), ..Budget::default() },
            Rest::Playouts(playouts) => Budget { playouts: Some(playouts), ..Budget::default() },
        };
        let report = self.searcher.run(&budget, &self.stop, &mut |_| {});
        let report = report.map_err(|error| Halt::Failed(ReasonerError::Engine(error.to_string())))?;
        Ok((report, began.elapsed()))
    }
}

impl<R: Reasoner> Solver<R> for GraphSolver<R> {
    fn solve(&mut self, work: &mut Work<'_, R>) -> Result<Ending, Halt> {
        self.searcher.set_root(work.root);
        loop {
            let (report, took) = self.take_turn(work.rest())?;
            work.turn.charge(took);
            work.note(usize::try_from(report.playouts).unwrap_or(usize::MAX));
            if report.is_terminal {
                return Ok(Ending::GaveUp);
            }
            if let Some(line) = &report.best_line
                && u32::try_from(line.value).is_ok_and(|value| work.best.would_take(value))
            {
                let moves: Vec<Move> = line.joint_moves.iter().flatten().copied().collect();
                work.offer(&moves)?;
            }
            work.go_on(0)?;
        }
    }
}
