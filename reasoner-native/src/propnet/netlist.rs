//! The net of a game for others than this reasoner: gates, and what they stand for.

use std::sync::Arc;

use gdl::Term;
use reasoner::{ReasonerError, Value};

use super::network::{self, Made, Origin};
use crate::Interpreter;
use crate::ground::Budget;
use crate::net::{Kind, Net, Signal};

/// A gate of a [`Netlist`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate<'a> {
    /// Always false.
    False,
    /// Whether a fluent is true, by index in [`Netlist::fluents`].
    Fluent(usize),
    /// Whether a move is made, by index in [`Netlist::moves`].
    Move(usize),
    /// Whether all these hold.
    And(&'a [Signal]),
}

/// A fluent that changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetFluent {
    /// Its term.
    pub term: Term,
    /// Whether it is true in the initial state.
    pub is_initial: bool,
    /// What it becomes.
    pub next: Signal,
}

/// A move of a role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetMove {
    /// The role's index.
    pub role: usize,
    /// Its term.
    pub term: Term,
    /// Whether it is legal.
    pub legal: Signal,
}

/// A goal of a role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NetGoal {
    /// The role's index.
    pub role: usize,
    /// How much it is.
    pub value: Value,
    /// Whether it holds; the largest that holds counts.
    pub holds: Signal,
}

/// The rules of a game as an and-inverter graph: whether gates hold follows from the fluents and the moves, and what is
/// legal, what comes next, who gets what and whether it is over are gates or their complements. All of it holds where
/// each role makes exactly one move.
#[derive(Debug)]
pub struct Netlist {
    net: Net,
    needed: Vec<bool>,
    fluents: Vec<NetFluent>,
    moves: Vec<NetMove>,
    goals: Vec<NetGoal>,
}

impl Netlist {
    /// Grounds rules and makes the net, as small as [`Propnet`](super::Propnet) has it.
    ///
    /// # Errors
    /// [`ReasonerError::NotGrounded`] if that is not done within the budget, cannot be done, or something depends on
    /// itself within one state, and [`ReasonerError::Interrupted`].
    pub fn new(interpreter: &Arc<Interpreter>, budget: &Budget) -> Result<Netlist, ReasonerError> {
        let rules = interpreter.rules();
        let origin = Origin::of(interpreter, &budget.interrupt)?;
        let Made { net, terms, .. } = network::best(&origin, budget)?;
        let needed = net.relevant();
        if net.cycles.iter().any(|cycle| needed[cycle.gate.idx()]) {
            let what = "a relation depends on itself within a state, so that it is no circuit";
            return Err(ReasonerError::NotGrounded(what.to_owned()));
        }
        let term = |id| terms.to_term(rules, id);
        let fluents = net.bases.iter().map(|base| NetFluent {
            term: term(base.fluent),
            is_initial: base.is_initial,
            next: base.next,
        });
        let moves = net.inputs.iter().map(|input| NetMove {
            role: input.role,
            term: term(input.a_move),
            legal: input.legal,
        });
        let goals =
            net.goals.iter().map(|goal| NetGoal { role: goal.role, value: goal.value, holds: goal.holds });
        Ok(Netlist {
            fluents: fluents.collect(),
            moves: moves.collect(),
            goals: goals.collect(),
            needed,
            net,
        })
    }

    /// How many roles there are.
    pub fn n_roles(&self) -> usize {
        self.net.n_roles
    }

    /// How many gates there are. A gate's inputs have smaller numbers than it.
    pub fn n_gates(&self) -> usize {
        self.net.gates.len()
    }

    /// A gate by number.
    pub fn gate(&self, number: usize) -> Gate<'_> {
        let gate = Signal::at(2 * number).gate();
        match self.net.gates.kind(gate) {
            Kind::Base(base) => Gate::Fluent(base as usize),
            Kind::Input(input) => Gate::Move(input as usize),
            Kind::And => Gate::And(self.net.gates.inputs(gate)),
            // Nothing needed depends on those that depend on themselves.
            Kind::False | Kind::Cycle => Gate::False,
        }
    }

    /// Whether legality, the end of the game or goals depend on a gate, now or later.
    pub fn is_needed(&self, number: usize) -> bool {
        self.needed[number]
    }

    /// The fluents that change.
    pub fn fluents(&self) -> &[NetFluent] {
        &self.fluents
    }

    /// All moves, role by role.
    pub fn moves(&self) -> &[NetMove] {
        &self.moves
    }

    /// All goals.
    pub fn goals(&self) -> &[NetGoal] {
        &self.goals
    }

    /// Whether the game is over.
    pub fn terminal(&self) -> Signal {
        self.net.terminal
    }
}
