//! Exhaustive search on another reasoner than the match's.
//!
//! A propositional network that has a fluent for each position of eight pancakes takes 5 kB for a state in which two hold, and
//! all its gates for each step; the interpreter's state is those two.

use gdl::Term;
use reasoner::{Interrupt, Limits, Move, Reasoner, ReasonerError, Session, Value};

use crate::exhaustive::{Client, expand_all};
use crate::lazily::Lazily;
use crate::outsider::{Desk, Outsider};
use crate::solver::{Ending, Halt};

/// Another reasoner.
#[derive(Debug)]
pub(crate) struct Elsewhere<R> {
    reasoner: Lazily<R>,
}

impl<R> Elsewhere<R> {
    pub(crate) fn new(
        make: impl Fn(&Interrupt) -> Result<R, ReasonerError> + Send + Sync + 'static,
    ) -> Elsewhere<R> {
        Elsewhere { reasoner: Lazily::new(make) }
    }
}

impl<R: Reasoner> Outsider for Elsewhere<R> {
    fn solve(&self, position: &[Term], desk: &mut dyn Desk) -> Result<Ending, Halt> {
        let reasoner = self.reasoner.get(desk.interrupt())?;
        let mut session = reasoner.session(Limits::default(), desk.interrupt())?;
        let root = session.state_of(position)?;
        desk.forgive();
        expand_all(&mut Abroad { reasoner: &*reasoner, session, desk }, &root)
    }
}

/// A session of its own, and whom it works for.
struct Abroad<'a, R: Reasoner> {
    reasoner: &'a R,
    session: R::Session,
    desk: &'a mut dyn Desk,
}

impl<R: Reasoner> Client<R> for Abroad<'_, R> {
    fn reasoner(&self) -> &R {
        self.reasoner
    }

    fn session(&mut self) -> &mut R::Session {
        &mut self.session
    }

    fn max_bytes(&self) -> usize {
        self.desk.max_bytes()
    }

    fn would_take(&self, value: Value) -> bool {
        self.desk.would_take(value)
    }

    fn offer(&mut self, moves: &[Move], value: Value) -> Result<(), Halt> {
        let line: Vec<Term> = moves.iter().map(|&a_move| self.session.move_term(a_move)).collect();
        self.desk.offer(&line, value)
    }

    fn note(&mut self, n_playouts: usize) {
        self.desk.note(n_playouts);
    }

    fn go_on(&mut self) -> Result<(), Halt> {
        self.desk.go_on()
    }
}
