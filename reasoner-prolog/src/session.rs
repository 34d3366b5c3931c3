//! One thread's hold on the rules in Prolog.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use gdl::Term;
use reasoner::{Fluent, GoalAnswer, Interrupt, Limits, Move, Reasoner, ReasonerError, Role, Session, Value};

use crate::engine::{Engine, PrologError};
use crate::program::{Hold, Program};
use crate::reasoner::{PLAIN_STEPS, Prolog};
use crate::state::FactSet;
use crate::terms::{TermId, intern_term};
use crate::watchdog::Watched;

/// A session with [`Prolog`]. It belongs to the thread that made it, and so does the Prolog engine behind it,
/// which all sessions of a thread share.
#[derive(Debug)]
pub struct PrologSession {
    reasoner: Arc<Prolog>,
    limits: Limits,
    watched: Arc<Watched>,
    hold: Rc<RefCell<Hold>>,
    /// The moves of the question, and the terms of its answer; kept for their memory.
    moves: Vec<TermId>,
    ids: Vec<TermId>,
    engine: Engine,
}

impl PrologSession {
    pub(crate) fn new(
        reasoner: Arc<Prolog>,
        limits: Limits,
        interrupt: &Interrupt,
    ) -> Result<PrologSession, ReasonerError> {
        let engine = Engine::of_this_thread().map_err(ReasonerError::Engine)?;
        let watched = reasoner.watchdog.watch(&engine, interrupt);
        let hold = Hold::of(&reasoner.program(), &engine, &reasoner.terms)
            .map_err(|error| ReasonerError::Engine(error.to_string()))?;
        Ok(PrologSession { reasoner, limits, watched, hold, moves: Vec::new(), ids: Vec::new(), engine })
    }

    /// Loads the state that the question is about and asks it; more relations are tabled and the question is asked again
    /// if plain resolution does not answer it.
    fn ask<T>(
        &mut self,
        state: &FactSet,
        mut question: impl FnMut(&mut Hold) -> Result<T, PrologError>,
    ) -> Result<T, ReasonerError> {
        loop {
            let program = self.reasoner.program();
            if !Arc::ptr_eq(&program, &self.hold.borrow().program) {
                self.hold = self.hold_of(&program)?;
            }
            let can_table = self.reasoner.can_table_more(&program);
            let steps = if can_table { self.limits.steps.min(PLAIN_STEPS) } else { self.limits.steps };
            match self.ask_once(&self.hold, state, steps, &mut question) {
                Ok(answer) => return Ok(answer),
                Err(PrologError::TooManySteps | PrologError::TooMuchMemory(_)) if can_table => {
                    self.reasoner.table_more(&program, &self.engine, |candidate| {
                        let hold = self.hold_of(candidate)?;
                        match self.ask_once(&hold, state, steps, &mut question) {
                            Ok(_) => Ok(true),
                            Err(PrologError::TooManySteps | PrologError::TooMuchMemory(_)) => Ok(false),
                            Err(error) => Err(self.failure(error)),
                        }
                    })?;
                }
                Err(error) => return Err(self.failure(error)),
            }
        }
    }

    fn hold_of(&self, program: &Arc<Program>) -> Result<Rc<RefCell<Hold>>, ReasonerError> {
        Hold::of(program, &self.engine, &self.reasoner.terms).map_err(|error| self.failure(error))
    }

    fn ask_once<T>(
        &self,
        hold: &RefCell<Hold>,
        state: &FactSet,
        steps: u64,
        question: &mut impl FnMut(&mut Hold) -> Result<T, PrologError>,
    ) -> Result<T, PrologError> {
        let hold = &mut *hold.borrow_mut();
        let answer = self.watched.ask(&self.engine, steps, || {
            self.engine.limit_memory(self.limits.bytes)?;
            hold.load(state, self.reasoner.update)?;
            question(hold)
        });
        if answer.is_err() {
            hold.forget();
        }
        answer
    }

    fn failure(&self, error: PrologError) -> ReasonerError {
        match error {
            PrologError::Interrupted => ReasonerError::Interrupted,
            PrologError::TooManySteps => ReasonerError::TooManySteps(self.limits.steps),
            PrologError::TooMuchMemory(_) => ReasonerError::TooMuchMemory(self.limits.bytes),
            PrologError::TooDeep => ReasonerError::TooDeep(gdl::MAX_DEPTH),
            PrologError::Unbound => ReasonerError::Unbound(error.to_string()),
            PrologError::Raised(_) => ReasonerError::Engine(error.to_string()),
        }
    }

    fn intern(&mut self, term: &Term, what: &'static str) -> Result<TermId, ReasonerError> {
        let hold = &mut *self.hold.borrow_mut();
        intern_term(&mut hold.local, &self.reasoner.terms, &self.engine, term, what)
    }

    fn term(&mut self, id: TermId) -> Term {
        self.hold.borrow_mut().local.entry(&self.reasoner.terms, id).term.clone()
    }
}

impl Session for PrologSession {
    type State = FactSet;

    fn roles(&self) -> &[Term] {
        self.reasoner.rules().roles()
    }

    fn initial_state(&mut self) -> Result<FactSet, ReasonerError> {
        let mut ids = Vec::new();
        self.ask(&FactSet::new(Vec::new()), |hold| hold.ask(hold.program.init, None, &[], &mut ids))?;
        Ok(FactSet::of_sorted(&ids))
    }

    fn state_of(&mut self, fluents: &[Term]) -> Result<FactSet, ReasonerError> {
        let ids = fluents.iter().map(|term| self.intern(term, "fluent"));
        Ok(FactSet::new(ids.collect::<Result<_, _>>()?))
    }

    fn is_terminal(&mut self, state: &FactSet) -> Result<bool, ReasonerError> {
        self.ask(state, |hold| hold.holds(hold.program.terminal))
    }

    fn legal_moves(
        &mut self,
        state: &FactSet,
        role: Role,
        moves: &mut Vec<Move>,
    ) -> Result<(), ReasonerError> {
        let role = self.reasoner.role_ids[role.idx()];
        let mut ids = std::mem::take(&mut self.ids);
        let answer = self.ask(state, |hold| hold.ask(hold.program.legal, Some(role), &[], &mut ids));
        if answer.is_ok() {
            moves.extend(ids.iter().map(|id| Move(id.0)));
        }
        self.ids = ids;
        answer
    }

    fn next_state(&mut self, state: &FactSet, joint_move: &[Move]) -> Result<FactSet, ReasonerError> {
        ReasonerError::check_joint_move(joint_move.len(), self.reasoner.role_ids.len())?;
        let mut moves = std::mem::take(&mut self.moves);
        let mut ids = std::mem::take(&mut self.ids);
        moves.clear();
        moves.extend(joint_move.iter().map(|a_move| TermId(a_move.0)));
        let answer = self.ask(state, |hold| hold.ask(hold.program.next, None, &moves, &mut ids));
        let next = answer.map(|()| FactSet::of_sorted(&ids));
        (self.moves, self.ids) = (moves, ids);
        next
    }

    fn goals(&mut self, state: &FactSet, goals: &mut Vec<GoalAnswer>) -> Result<(), ReasonerError> {
        goals.clear();
        let max_goal = self.reasoner.max_goal();
        let mut ids = Vec::new();
        for role_idx in 0..self.reasoner.role_ids.len() {
            let role = self.reasoner.role_ids[role_idx];
            self.ask(state, |hold| hold.ask(hold.program.goal, Some(role), &[], &mut ids))?;
            let mut answer = GoalAnswer::None;
            for &id in &ids {
                let hold = &mut *self.hold.borrow_mut();
                let term = &hold.local.entry(&self.reasoner.terms, id).term;
                let value: Option<Value> = term.name().parse().ok().filter(|_| term.args().is_empty());
                answer = value.filter(|&value| value <= max_goal).map_or(answer, |value| answer.with(value));
            }
            goals.push(answer);
        }
        Ok(())
    }

    fn fluents(&mut self, state: &FactSet, fluents: &mut Vec<Fluent>) {
        fluents.extend(state.ids().iter().map(|id| Fluent(id.0)));
    }

    fn fluent_term(&mut self, fluent: Fluent) -> Term {
        self.term(TermId(fluent.0))
    }

    fn move_term(&mut self, a_move: Move) -> Term {
        self.term(TermId(a_move.0))
    }

    fn move_of(&mut self, term: &Term) -> Result<Move, ReasonerError> {
        Ok(Move(self.intern(term, "move")?.0))
    }
}
