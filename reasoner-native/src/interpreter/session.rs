//! The interpreter as a [`Session`].

use std::sync::Arc;

use gdl::Term;
use reasoner::{Fluent, GoalAnswer, Move, Reasoner, ReasonerError, Role, Session, Value};

use super::machine::Machine;
use super::{GOAL, INIT, Interpreter, LEGAL, NEXT, TERMINAL};
use crate::terms::TermId;

/// A state: the numbers of its true fluents, in ascending order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FactSet(Arc<[u32]>);

impl FactSet {
    fn new(mut fluents: Vec<u32>) -> FactSet {
        fluents.sort_unstable();
        fluents.dedup();
        FactSet(fluents.into())
    }

    /// Bytes on the heap: what it holds, behind two counts.
    pub(super) fn heap_bytes(&self) -> usize {
        size_of_val(&*self.0) + 2 * size_of::<usize>()
    }
}

/// One thread's hold on an [`Interpreter`].
#[derive(Debug)]
pub struct InterpreterSession {
    interpreter: Arc<Interpreter>,
    machine: Machine,
    /// What the machine has loaded.
    loaded: Option<FactSet>,
}

impl InterpreterSession {
    pub(super) fn new(interpreter: Arc<Interpreter>, machine: Machine) -> InterpreterSession {
        InterpreterSession { interpreter, machine, loaded: None }
    }

    fn load(&mut self, state: &FactSet) {
        let is_loaded =
            self.loaded.as_ref().is_some_and(|loaded| Arc::ptr_eq(&loaded.0, &state.0) || loaded == state);
        if !is_loaded {
            self.machine.load_state(&state.0);
            self.loaded = Some(state.clone());
        }
    }

    /// The number of a term of a message. Names that the rules do not have are compared without case.
    fn intern(&mut self, term: &Term, what: &'static str) -> Result<TermId, ReasonerError> {
        let unknown = || ReasonerError::Unknown { what, term: term.to_string() };
        let functor = self.interpreter.rules.symbols().find_in_any_case(term.name()).ok_or_else(unknown)?;
        let mut args = Vec::new();
        for arg in term.args() {
            args.push(self.intern(arg, what)?.0);
        }
        Ok(self.machine.terms.intern(functor, &args))
    }
}

impl Session for InterpreterSession {
    type State = FactSet;

    fn roles(&self) -> &[Term] {
        self.interpreter.rules.roles()
    }

    fn initial_state(&mut self) -> Result<FactSet, ReasonerError> {
        // Rules that let `init` depend on the state, which GDL forbids, must not depend on what was asked before.
        self.load(&FactSet::new(Vec::new()));
        let answers = self.machine.ask(self.interpreter.code(), INIT, &[])?;
        Ok(FactSet::new(self.machine.words(answers).to_vec()))
    }

    fn state_of(&mut self, fluents: &[Term]) -> Result<FactSet, ReasonerError> {
        let ids = fluents.iter().map(|term| Ok(self.intern(term, "fluent")?.0));
        Ok(FactSet::new(ids.collect::<Result<_, ReasonerError>>()?))
    }

    fn is_terminal(&mut self, state: &FactSet) -> Result<bool, ReasonerError> {
        self.load(state);
        let answer = self.machine.ask(self.interpreter.code(), TERMINAL, &[])?;
        Ok(self.machine.is_yes(answer))
    }

    fn legal_moves(
        &mut self,
        state: &FactSet,
        role: Role,
        moves: &mut Vec<Move>,
    ) -> Result<(), ReasonerError> {
        self.load(state);
        let key = [self.interpreter.role_ids[role.idx()].0];
        let answers = self.machine.ask(self.interpreter.code(), LEGAL, &key)?;
        let start = moves.len();
        moves.extend(self.machine.words(answers).iter().map(|&term| Move(term)));
        // By number, so that the order does not depend on what the session was asked before.
        moves[start..].sort_unstable();
        Ok(())
    }

    fn next_state(&mut self, state: &FactSet, joint_move: &[Move]) -> Result<FactSet, ReasonerError> {
        ReasonerError::check_joint_move(joint_move.len(), self.interpreter.role_ids.len())?;
        self.load(state);
        self.machine.load_moves(joint_move.iter().map(|a_move| a_move.0));
        let answers = self.machine.ask(self.interpreter.code(), NEXT, &[])?;
        Ok(FactSet::new(self.machine.words(answers).to_vec()))
    }

    fn goals(&mut self, state: &FactSet, goals: &mut Vec<GoalAnswer>) -> Result<(), ReasonerError> {
        self.load(state);
        goals.clear();
        let max_goal = self.interpreter.max_goal();
        for role in &self.interpreter.role_ids {
            let answers = self.machine.ask(self.interpreter.code(), GOAL, &[role.0])?;
            let values = self.machine.words(answers).iter().filter_map(|&term| {
                let term = TermId(term);
                let name = self.interpreter.rules.symbols().name(self.machine.terms.functor(term));
                let value: Value = name.parse().ok().filter(|_| self.machine.terms.n_args(term) == 0)?;
                (value <= max_goal).then_some(value)
            });
            goals.push(values.fold(GoalAnswer::None, GoalAnswer::with));
        }
        Ok(())
    }

    fn fluents(&mut self, state: &FactSet, fluents: &mut Vec<Fluent>) {
        fluents.extend(state.0.iter().map(|&term| Fluent(term)));
    }

    fn fluent_term(&mut self, fluent: Fluent) -> Term {
        self.machine.terms.know(TermId(fluent.0));
        self.machine.terms.to_term(&self.interpreter.rules, TermId(fluent.0))
    }

    fn move_term(&mut self, a_move: Move) -> Term {
        self.machine.terms.know(TermId(a_move.0));
        self.machine.terms.to_term(&self.interpreter.rules, TermId(a_move.0))
    }

    fn move_of(&mut self, term: &Term) -> Result<Move, ReasonerError> {
        Ok(Move(self.intern(term, "move")?.0))
    }
}
