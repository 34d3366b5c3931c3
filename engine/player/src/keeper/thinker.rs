//! The thread that thinks in a match: set-up, one search per turn, and the opponents' time in between.
//!
//! In go orders, out come offers on the desk. A legal move lies there before the search begins, and is only
//! ever replaced by what the search found better. Whatever fails here, the desk keeps what it has.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use gdl::{Description, ReadOptions, Rules};
use reasoner::{Interrupt, Move, Reasoner, ReasonerError};
use search::{Budget, Report, Searcher};
use tracing::{debug, info, info_span, warn};

use super::clock::Deadlines;
use super::desk::Desk;
use super::orders::Orders;
use super::seat::{Seat, SeatError};
use crate::brain::Brain;
use crate::protocol::message::Start;
use crate::reasoners::{ReasonerKind, SetUp, WithReasoner};

/// What a thinker needs of its match.
#[derive(Debug)]
pub struct Job {
    /// The START message.
    pub start: Start,
    /// How names are read.
    pub reading: ReadOptions,
    /// How to think.
    pub brain: Brain,
    /// When START has to be answered.
    pub deadlines: Deadlines,
    /// Where answers go.
    pub desk: Arc<Desk>,
    /// Where turns come from.
    pub orders: Arc<Orders>,
    /// Raised when the match is over.
    pub gone: Interrupt,
}

/// Thinks until the match is over. Never panics.
pub fn run(job: &Job) {
    let _span = info_span!("match", id = job.start.id, role = %job.start.role).entered();
    match catch_unwind(AssertUnwindSafe(|| set_up(job))) {
        Ok(Ok(())) => job.desk.close("the match is over"),
        Ok(Err(reason)) => {
            if !job.orders.is_closed() {
                warn!(reason, "no player for this match");
            }
            job.desk.close(&reason);
        }
        Err(_) => job.desk.close("the player failed"),
    }
}

fn set_up(job: &Job) -> Result<(), String> {
    let started = Instant::now();
    let description = Description::from_sexprs(&job.start.text, job.start.rules.clone(), job.reading);
    let rules = Rules::from_description(&description).map_err(|error| error.to_string())?;
    let rules = Arc::new(rules);
    let time = job.deadlines.search.saturating_duration_since(started) / GROUNDING_PART;
    let set_up = SetUp { time, stop: job.gone.clone() };
    let thinking = Thinking { job, started };
    let thought = match job.brain.reasoner.with(Arc::clone(&rules), &set_up, thinking) {
        Err(ReasonerError::NotGrounded(reason)) => {
            warn!(reason, "the match is played with the interpreter");
            ReasonerKind::Interpreter.with(rules, &set_up, thinking)
        }
        thought => thought,
    };
    thought.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
}

/// The part of the start clock that grounding may take: time must be left for another reasoner.
const GROUNDING_PART: u32 = 2;

#[derive(Clone, Copy)]
struct Thinking<'a> {
    job: &'a Job,
    started: Instant,
}

impl WithReasoner for Thinking<'_> {
    type Output = Result<(), SeatError>;

    fn run<R: Reasoner>(self, reasoner: Arc<R>) -> Result<(), SeatError> {
        let job = self.job;
        let seat = Seat::take(&reasoner, &job.start.role, job.brain.search.limits, &job.gone)?;
        info!(reasoner = reasoner.name(), set_up = ?self.started.elapsed(), "match set up");
        let mut thinker = Thinker { job, reasoner, seat, searcher: None, legal: Vec::new() };
        thinker.think_ahead(Some(job.deadlines.search));
        job.desk.settle();
        if !job.brain.is_limited() {
            thinker.think_ahead(None);
        }
        while let Some(order) = job.orders.take() {
            job.desk.open(order.turn);
            thinker.take_turn(order.report.joint_move, order.deadlines);
            job.desk.settle();
            if !job.brain.is_limited() {
                thinker.think_ahead(None);
            }
        }
        Ok(())
    }
}

struct Thinker<'a, R: Reasoner> {
    job: &'a Job,
    reasoner: Arc<R>,
    seat: Seat<R>,
    /// Made at the first search, and again after one that failed.
    searcher: Option<Searcher<R>>,
    /// Our legal moves in the current state.
    legal: Vec<Move>,
}

impl<R: Reasoner> Thinker<'_, R> {
    /// Follows what was played and offers a move, then better ones.
    fn take_turn(&mut self, joint_move: Option<Vec<Option<gdl::Term>>>, deadlines: Deadlines) {
        if let Err(error) = self.seat.follow(joint_move) {
            // What was legal before may still be; `nil` never is.
            warn!(%error, "the reported moves cannot be followed; the answer is a guess");
            if let Some(&guess) = self.legal.first() {
                self.offer(guess);
            }
            return;
        }
        self.legal.clear();
        match self.seat.legal_moves() {
            Ok(legal) => self.legal = legal,
            Err(error) => warn!(%error, "the legal moves are not known"),
        }
        let Some(&first) = self.legal.first() else { return };
        self.offer(first);
        // A forced move is answered at once: the search goes on while the manager waits for the others.
        if self.legal.len() > 1 {
            self.search(self.job.brain.budget(Some(deadlines.search)), true);
        }
    }

    /// Searches without offering: before the first turn, and on the opponents' time.
    fn think_ahead(&mut self, deadline: Option<Instant>) {
        if !self.job.orders.is_closed() && !self.job.orders.make_way().is_raised() {
            self.search(self.job.brain.budget(deadline), false);
        }
    }

    fn search(&mut self, budget: Budget, offer: bool) {
        match self.seat.is_terminal() {
            Ok(false) => {}
            Ok(true) => return,
            Err(error) => return warn!(%error, "a state that cannot be judged is not searched"),
        }
        let searcher = match self.searcher.take() {
            Some(searcher) => Ok(searcher),
            None => Searcher::new(Arc::clone(&self.reasoner), self.job.brain.search.clone()),
        };
        let mut searcher = match searcher {
            Ok(searcher) => searcher,
            Err(error) => return warn!(%error, "no search"),
        };
        let role = self.seat.role();
        let make_way = self.job.orders.make_way().clone();
        // A panic in a reasoner costs the graph, not the match.
        let result = catch_unwind(AssertUnwindSafe(|| {
            searcher.set_root(self.seat.state());
            let mut progress = |report: &Report| {
                if let (true, Some(best)) = (offer, report.best(role)) {
                    self.offer(best);
                }
            };
            searcher.run(&budget, &make_way, &mut progress)
        }));
        match result {
            Ok(Ok(report)) => {
                if let (true, Some(best)) = (offer, report.best(role)) {
                    self.offer(best);
                }
                debug!(
                    playouts = report.playouts,
                    seconds = report.seconds,
                    nodes = report.nodes,
                    offer,
                    "search"
                );
                self.searcher = Some(searcher);
            }
            Ok(Err(error)) => warn!(%error, "the search failed"),
            Err(_) => warn!("the search failed; it begins anew"),
        }
    }

    /// Lays a move on the desk, if it is legal.
    fn offer(&mut self, a_move: Move) {
        if self.legal.contains(&a_move) {
            let text = self.seat.answer(a_move);
            self.job.desk.offer(text);
        } else {
            warn!(?a_move, "the search wants an illegal move");
        }
    }
}
