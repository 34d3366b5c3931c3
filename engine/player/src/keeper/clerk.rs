//! The thread that knows a legal move at every turn, whatever the thinker is at.
//!
//! In go rules and orders, out comes one legal move for each turn, on the desk. It has an interpreter of its own,
//! follows the reports as the thinker does, and searches nothing: a search that does not come back in time, or a reasoner that
//! fails or is slow, costs the better move and not the legal one.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use gdl::{Rules, Term};
use reasoner::{Interrupt, Limits, Reasoner, ReasonerError};
use tracing::subscriber::{NoSubscriber, with_default};
use tracing::warn;

use super::THINKER_STACK_BYTES;
use super::desk::Desk;
use super::orders::{Order, Orders};
use super::seat::{Seat, SeatError};
use super::thinker::Job;
use crate::reasoners::{ReasonerKind, SetUp, WithReasoner};

/// What a clerk needs of its match.
#[derive(Debug)]
pub struct Clerk {
    rules: Arc<Rules>,
    role: Term,
    limits: Limits,
    desk: Arc<Desk>,
    orders: Arc<Orders>,
    gone: Interrupt,
    /// When the search for START ends.
    start_ends: Instant,
}

impl Clerk {
    /// The clerk of a match with these rules.
    pub fn of(job: &Job, rules: &Arc<Rules>) -> Clerk {
        Clerk {
            rules: Arc::clone(rules),
            role: job.start.role.clone(),
            limits: job.brain.search.limits,
            desk: Arc::clone(&job.desk),
            orders: Arc::clone(&job.orders),
            gone: job.gone.clone(),
            start_ends: job.deadlines.search,
        }
    }

    /// Begins on a thread of its own, which ends with the match. Without a thread there is no clerk; the match goes on, and the desk
    /// knows.
    pub fn begin(self) {
        let desk = Arc::clone(&self.desk);
        let thread = std::thread::Builder::new().name("clerk".to_owned()).stack_size(THINKER_STACK_BYTES);
        if let Err(error) = thread.spawn(move || self.work()) {
            warn!(%error, "no thread for the clerk: where the search is late, there is no move");
            desk.miss_clerk();
        }
    }

    /// Serves until the match is over. What comes after a failure is answered with no move.
    fn work(&self) {
        match catch_unwind(AssertUnwindSafe(|| self.serve())) {
            Ok(Ok(())) => {}
            Ok(Err(_)) if self.orders.is_closed() => {}
            Ok(Err(error)) => warn!(%error, "the clerk has no seat"),
            Err(_) => warn!("the clerk failed"),
        }
        while let Some(order) = self.orders.take_for_clerk() {
            self.desk.stand_in(order.turn, None);
        }
    }

    fn serve(&self) -> Result<(), SeatError> {
        // While START is thought about, its clock is the thinker's.
        self.desk.wait(0, self.start_ends);
        ReasonerKind::Interpreter.with(Arc::clone(&self.rules), &SetUp::until(&self.gone), self)?
    }

    fn legal_move<R: Reasoner>(&self, seat: &mut Seat<R>, order: Order) -> Result<Term, ReasonerError> {
        let answered = self.desk.answer_to(order.turn - 1);
        // What is odd about a report, the thinker tells.
        with_default(NoSubscriber::default(), || seat.follow(order.report.joint_move, answered))?;
        let legal = seat.legal_moves()?;
        let first = legal.first().copied();
        let first = first.ok_or_else(|| ReasonerError::NotPlayable { role: self.role.to_string() })?;
        Ok(seat.term(first))
    }
}

impl WithReasoner for &Clerk {
    type Output = Result<(), SeatError>;

    fn run<R: Reasoner>(self, reasoner: Arc<R>) -> Result<(), SeatError> {
        let mut seat = Seat::take(&reasoner, &self.role, self.limits, &self.gone)?;
        while let Some(order) = self.orders.take_for_clerk() {
            let turn = order.turn;
            let legal = self.legal_move(&mut seat, order);
            if let Err(error) = &legal {
                warn!(%error, turn, "the clerk has no move");
            }
            self.desk.stand_in(turn, legal.ok());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use gdl::{Description, ReadOptions};

    use super::*;
    use crate::brain::Brain;
    use crate::keeper::clock::Deadlines;
    use crate::protocol::message::{Report, Request};

    /// One role walks up a ladder, or stays; every rung has a move of its own name.
    const LADDER: &str = "(role climber) (init (rung 0)) (above 0 1) (above 1 2) (above 2 3) \
        (<= (legal climber (stay ?x)) (true (rung ?x))) (<= (legal climber (leave ?x)) (true (rung ?x)) (above ?x ?y)) \
        (<= (next (rung ?y)) (does climber (leave ?x)) (above ?x ?y)) \
        (<= (next (rung ?x)) (does climber (stay ?x))) \
        (<= terminal (true (rung 3))) (goal climber 100)";

    /// A match in which nobody thinks.
    struct Alone {
        desk: Arc<Desk>,
        orders: Arc<Orders>,
    }

    impl Alone {
        fn begin(role: &str, text: &str) -> Alone {
            let now = Instant::now();
            let Ok(Request::Start(start)) = Request::parse(&format!("( START m {role} ({text}) 1 1)")) else {
                panic!("a START is one");
            };
            let job = Job {
                start: *start,
                reading: ReadOptions::default(),
                brain: Brain::default(),
                deadlines: Deadlines { search: now, answer: now },
                desk: Arc::default(),
                orders: Arc::default(),
                gone: Interrupt::new(),
            };
            let description = Description::read(text, ReadOptions::default()).unwrap();
            let rules = Rules::from_description(&description).unwrap();
            Clerk::of(&job, &Arc::new(rules)).begin();
            Alone { desk: job.desk, orders: job.orders }
        }

        /// The answer to a report, if there is one.
        fn ask(&self, report: Option<&[Option<&str>]>) -> Option<String> {
            let term = |text: &Option<&str>| text.map(|text| Term::parse(text).unwrap());
            let joint_move = report.map(|moves| moves.iter().map(term).collect());
            let now = Instant::now();
            let deadlines = Deadlines { search: now, answer: now };
            let turn = self.orders.give(Report { id: "m".into(), joint_move }, deadlines);
            self.desk.close("nobody thinks");
            let picked = self.desk.wait(turn, now + Duration::from_secs(600));
            assert!(picked.is_stand_in == picked.answer.is_some() && !picked.timed_out);
            picked.answer.map(|answer| answer.to_string())
        }
    }

    impl Drop for Alone {
        fn drop(&mut self) {
            self.orders.close();
        }
    }

    #[test]
    fn a_match_in_which_nobody_thinks_is_played_with_legal_moves() {
        let alone = Alone::begin("climber", LADDER);
        let is_at = |rung: u32, answer: Option<String>| {
            let legal = [format!("(stay {rung})"), format!("(leave {rung})")];
            assert!(answer.as_ref().is_some_and(|answer| legal.contains(answer)), "rung {rung}: {answer:?}");
        };
        is_at(0, alone.ask(None));
        is_at(1, alone.ask(Some(&[Some("(leave 0)")])));
        is_at(1, alone.ask(Some(&[Some("(STAY 1)")])));
        is_at(2, alone.ask(Some(&[Some("(leave 1)")])));
    }

    /// What is answered is what was played, where the manager does not say.
    #[test]
    fn an_answer_stands_in_for_a_missing_report() {
        let alone = Alone::begin("climber", LADDER);
        let first = alone.ask(None);
        let rung = u32::from(first.as_deref() == Some("(leave 0)"));
        let second = alone.ask(Some(&[None]));
        assert!(second.as_ref().is_some_and(|it| it.contains(&rung.to_string())), "{first:?}, {second:?}");
    }

    #[test]
    fn what_cannot_be_known_is_said_and_keeps_nobody_waiting() {
        let no_move = LADDER.replace("(<= (legal climber (stay ?x)) (true (rung ?x)))", "");
        let alone = Alone::begin("climber", &no_move);
        assert_eq!(alone.ask(None).as_deref(), Some("(leave 0)"));
        for report in ["(leave 0)", "(leave 1)", "(leave 2)"] {
            let answer = alone.ask(Some(&[Some(report)]));
            assert_eq!(answer.is_none(), report == "(leave 2)", "{answer:?}");
        }
        let nobody = Alone::begin("nobody", LADDER);
        assert_eq!((nobody.ask(None), nobody.ask(None)), (None, None));
    }
}
