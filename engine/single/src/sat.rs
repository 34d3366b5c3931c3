//! The constraint route: the ground rules as a planning problem for a SAT solver.
//!
//! It finds what no sampling finds, where everything must be right at once, and proves that nothing is better. Where rules
//! cannot be a circuit, or one that does not fit its memory, it gives up. A decision of the solver counts as a playout.

use std::cell::RefCell;

use gdl::Term;
use reasoner::{Interrupt, MAX_ROLLOUT_STEPS, ReasonerError};
use sat::{Limits, Netlist, Plan, Planner, Question, Verdict, usual_steps};

use crate::lazily::Lazily;
use crate::outsider::{Desk, Outsider};
use crate::solver::{Ending, Halt};

/// The rules as a circuit.
#[derive(Debug)]
pub(crate) struct Constraints {
    netlist: Lazily<Netlist>,
}

impl Constraints {
    pub(crate) fn new(
        make: impl Fn(&Interrupt) -> Result<Netlist, ReasonerError> + Send + Sync + 'static,
    ) -> Constraints {
        Constraints { netlist: Lazily::new(make) }
    }
}

/// The desk, and what ended the work there.
struct Counter<'a> {
    desk: &'a mut dyn Desk,
    halt: Option<Halt>,
}

impl Counter<'_> {
    fn tell(&mut self, netlist: &Netlist, plan: &Plan) {
        let line: Vec<Term> = plan.moves.iter().map(|&a_move| netlist.moves()[a_move].term.clone()).collect();
        let offered = self.desk.offer(&line, plan.value);
        self.halt = self.halt.take().or(offered.err());
    }

    fn go_on(&mut self) -> bool {
        if self.halt.is_none() {
            self.desk.note(1);
            self.halt = self.desk.go_on().err();
        }
        self.halt.is_none()
    }
}

impl Outsider for Constraints {
    fn solve(&self, position: &[Term], desk: &mut dyn Desk) -> Result<Ending, Halt> {
        let netlist = match self.netlist.get(desk.interrupt()) {
            Ok(netlist) => netlist,
            Err(ReasonerError::Interrupted) => return Err(Halt::Over),
            Err(reason) => {
                tracing::debug!(%reason, "no plans");
                return Ok(Ending::GaveUp);
            }
        };
        desk.forgive();
        let usual_steps = usual_steps(desk.lengths()?);
        let bytes = desk.max_bytes();
        let counter = RefCell::new(Counter { desk, halt: None });
        let go_on = || counter.borrow_mut().go_on();
        let least = || counter.borrow().desk.best();
        let planner = Planner::new(&netlist, Some(position), Limits { bytes, go_on: &go_on });
        let planner = planner.map_err(|error| Halt::Failed(ReasonerError::Engine(error.to_string())))?;
        let question = Question { max_steps: MAX_ROLLOUT_STEPS as usize, least: &least, usual_steps };
        let outcome = planner.run(&question, |plan| counter.borrow_mut().tell(&netlist, &plan));
        if let Some(halt) = counter.into_inner().halt {
            return Err(halt);
        }
        Ok(if outcome.verdict == Verdict::Proved { Ending::Proved } else { Ending::GaveUp })
    }
}
