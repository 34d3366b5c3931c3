//! The propositional network as a reasoner.
//!
//! In go [`Rules`], out come answers by evaluating gates: one state at a time ([`scalar`]), or 64 to 1024 in lanes
//! ([`sliced`]). Rules that cannot be grounded within a budget have no propnet.
//!
//! What it deliberately does not do: answer about moves and fluents that no reachable state has.

mod choose;
mod circuit;
mod cones;
mod course;
mod evaluate;
#[allow(
    unsafe_code,
    reason = "gates are read without bounds checks, and vector instructions are chosen at run time"
)]
mod kernel;
mod lanes;
mod layout;
mod ledger;
mod netlist;
mod network;
mod report;
mod rollout;
mod scalar;
mod session;
mod sliced;
mod stage;
mod state;
mod width;

use std::sync::Arc;

use gdl::{Rules, Term};
use reasoner::{Interrupt, Limits, Reasoner, ReasonerError, Session};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::Interpreter;
use crate::ground::{Budget, GroundError, Stage};
use crate::net::Net;
use crate::terms::{TermId, Terms};
use circuit::Circuit;
use course::Course;
use kernel::Level;
use network::{Made, Making, Origin};
use rollout::Circuits;

pub use netlist::{Gate, NetFluent, NetGoal, NetMove, Netlist};
pub use report::{GateCount, NetReport};
pub use session::PropnetSession;
pub use state::BitState;

/// How states are evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Evaluation {
    /// Many in lanes, as many as fit the processor and the net; single ones alone.
    #[default]
    Sliced,
    /// So many lanes: 64, 256, 512 or 1024, or the most below that the processor has.
    Lanes(usize),
    /// Each alone: plain, and what the others must agree with.
    Scalar,
}

/// The rules of one game as a network of gates.
#[derive(Debug)]
pub struct Propnet {
    rules: Arc<Rules>,
    terms: Terms,
    circuit: Circuit,
    course: Course,
    initial: BitState,
    /// Fluents that change, by base, then those that hold in every state.
    fluents: Vec<TermId>,
    bases: FxHashMap<TermId, usize>,
    constants: FxHashSet<TermId>,
    moves: Moves,
    making: Making,
    evaluation: Evaluation,
    level: Level,
}

/// The moves of all roles.
#[derive(Debug, Default)]
struct Moves {
    /// By number, in the order of their texts.
    terms: Vec<TermId>,
    numbers: FxHashMap<TermId, u32>,
    /// By role: the numbers of its moves, in ascending order.
    of_role: Vec<Vec<u32>>,
}

impl Moves {
    fn of(rules: &Rules, terms: &Terms, net: &Net) -> Moves {
        let mut all: Vec<TermId> = net.inputs.iter().map(|input| input.a_move).collect();
        all.sort_unstable();
        all.dedup();
        all.sort_by_cached_key(|&a_move| terms.to_term(rules, a_move).to_string());
        let numbers: FxHashMap<TermId, u32> = all.iter().copied().zip(0..).collect();
        let mut of_role = vec![Vec::new(); net.n_roles];
        net.inputs.iter().for_each(|input| of_role[input.role].push(numbers[&input.a_move]));
        debug_assert!(
            of_role.iter().all(|numbers| numbers.is_sorted()),
            "inputs stand in the order of texts"
        );
        Moves { terms: all, numbers, of_role }
    }
}

impl Propnet {
    /// Grounds rules and makes the net.
    ///
    /// # Errors
    /// [`ReasonerError::NotGrounded`] if that is not done within the budget or cannot be done, and
    /// [`ReasonerError::Interrupted`]. Nothing stays behind.
    pub fn new(
        interpreter: &Arc<Interpreter>,
        budget: &Budget,
        evaluation: Evaluation,
    ) -> Result<Propnet, ReasonerError> {
        let rules = Arc::clone(interpreter.rules());
        let origin = Origin::of(interpreter, &budget.interrupt)?;
        let Made { net, terms, making } = network::best(&origin, budget)?;
        let circuit = Circuit::of(&net, net.n_relevant())?;
        budget.enter(Stage::Phases);
        let course = Course::of(&net, &circuit, budget)?;
        let bases: FxHashMap<TermId, usize> =
            net.bases.iter().enumerate().map(|(base, of_net)| (of_net.fluent, base)).collect();
        let initial = net.bases.iter().enumerate().filter(|(_, base)| base.is_initial).map(|(base, _)| base);
        Ok(Propnet {
            initial: BitState::of(net.bases.len(), initial),
            fluents: net.bases.iter().map(|base| base.fluent).chain(net.constants.iter().copied()).collect(),
            constants: net.constants.iter().copied().collect(),
            moves: Moves::of(&rules, &terms, &net),
            level: Level::detect(),
            rules,
            terms,
            circuit,
            course,
            bases,
            making,
            evaluation,
        })
    }
}

impl Propnet {
    /// What rollouts are evaluated with: the course, if the phases of their states are known.
    fn circuits(&self, has_phases: bool) -> Circuits<'_> {
        let phases = if has_phases { &self.course.phases } else { std::slice::from_ref(&self.circuit) };
        Circuits { phases, is_course: has_phases }
    }
}

impl From<GroundError> for ReasonerError {
    fn from(error: GroundError) -> ReasonerError {
        match error {
            GroundError::Interrupted => ReasonerError::Interrupted,
            error => ReasonerError::NotGrounded(format!("the rules cannot be grounded: {error}")),
        }
    }
}

impl<'a> Origin<'a> {
    /// The terms of the roles and of the initial state, which is not asked of the net: `init` depends on no state.
    fn of(interpreter: &'a Arc<Interpreter>, interrupt: &Interrupt) -> Result<Origin<'a>, ReasonerError> {
        let rules = interpreter.rules();
        let mut terms = Terms::default();
        let mut intern = |term: &Term| {
            terms
                .intern_term(rules, term)
                .ok_or_else(|| ReasonerError::Unknown { what: "term", term: term.to_string() })
        };
        let mut session = interpreter.session(Limits::default(), interrupt)?;
        let state = session.initial_state()?;
        let mut fluents = Vec::new();
        session.fluents(&state, &mut fluents);
        let initial = fluents.into_iter().map(|fluent| intern(&session.fluent_term(fluent)));
        let initial = initial.collect::<Result<_, _>>()?;
        let roles = rules.roles().iter().map(intern).collect::<Result<_, _>>()?;
        Ok(Origin { rules, terms, roles, initial, max_goal: interpreter.max_goal() })
    }
}

impl Reasoner for Propnet {
    type State = BitState;
    type Session = PropnetSession;

    fn name(&self) -> &'static str {
        match self.evaluation {
            Evaluation::Scalar => "propnet-scalar",
            Evaluation::Sliced | Evaluation::Lanes(_) => "propnet",
        }
    }

    fn roles(&self) -> &[Term] {
        self.rules.roles()
    }

    fn n_side_by_side(&self) -> usize {
        width::lanes_of(self)
    }

    fn session(
        self: &Arc<Self>,
        _limits: Limits,
        interrupt: &Interrupt,
    ) -> Result<PropnetSession, ReasonerError> {
        Ok(PropnetSession::new(Arc::clone(self), interrupt))
    }

    fn bytes(&self) -> usize {
        let phases = self.course.phases.iter();
        self.circuit.bytes() + phases.map(Circuit::bytes).sum::<usize>() + self.terms.bytes()
    }

    fn heap_bytes(&self, state: &BitState) -> usize {
        state.heap_bytes()
    }

    fn heap_bytes_of_all(&self) -> Option<usize> {
        let bytes = self.initial.heap_bytes();
        // Allocators round up by an eighth at most.
        Some(bytes + bytes / 8)
    }
}
