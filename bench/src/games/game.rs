//! From a game's rules as functions to a reasoner.

use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

use gdl::Term;
use reasoner::{Fluent, GoalAnswer, Interrupt, Limits, Move, Policy, Reasoner, ReasonerError, Role};
use reasoner::{RolloutEnd, Session, Value};

use super::choices::Choices;

/// A fluent as an index among [`Game::FLUENTS`] and the number that its argument stands for.
pub type FluentParts = (u16, u16);

/// A game's rules. Every question has an answer, and none takes more memory than a board.
pub trait Game: Debug + Send + Sync + 'static {
    /// A position, with all that its future depends on. No game comes back to the same one.
    type State: Clone + Eq + Hash + Debug + Send + Sync + 'static;
    /// What a session keeps from question to question, to be faster. No answer depends on it.
    type Memory: Debug;

    /// The roles' names in role order.
    const ROLES: &'static [&'static str];
    /// The names of the fluents, each with one argument.
    const FLUENTS: &'static [&'static str];

    /// The largest goal.
    fn max_goal(&self) -> Value {
        100
    }

    /// For a new session.
    fn memory(&self) -> Self::Memory;

    /// Where the game begins.
    fn initial_state(&self) -> Self::State;

    /// As [`Session::is_terminal`].
    fn is_terminal(&self, state: &Self::State) -> bool;

    /// As [`Session::legal_moves`].
    fn legal_moves(&self, memory: &mut Self::Memory, state: &Self::State, role: Role, moves: &mut Vec<Move>);

    /// As [`Session::next_state`], with one move for each role.
    fn next_state(&self, memory: &mut Self::Memory, state: &Self::State, joint_move: &[Move]) -> Self::State;

    /// A role's goal; where the state is not terminal, that of the state as it stands.
    fn goal(&self, memory: &mut Self::Memory, state: &Self::State, role: Role) -> Value;

    /// Plays to a terminal state by the moves that `choices` makes. Which moves these are asked to choose from is up to
    /// the game, as far as they are legal; it depends on the state, the seed and the choices made before alone.
    fn rollout(
        &self,
        memory: &mut Self::Memory,
        state: &Self::State,
        choices: &mut Choices<'_, impl Policy>,
    ) -> RolloutEnd;

    /// Appends the state's fluents.
    fn fluents(&self, state: &Self::State, fluents: &mut Vec<FluentParts>);

    /// The state of some fluents, if there is one.
    fn state_of(&self, fluents: &[FluentParts]) -> Option<Self::State>;

    /// The text of a fluent's argument.
    fn argument_text(&self, fluent: FluentParts) -> String;

    /// What the text of an argument stands for, if there is such a fluent.
    fn argument_of(&self, kind: u16, text: &str) -> Option<u16>;

    /// The name of a move.
    fn move_name(&self, a_move: Move) -> String;

    /// The move of a name.
    fn move_named(&self, name: &str) -> Option<Move>;
}

/// The reasoner of a game that is written in Rust. Limits do not matter: no question is a long one.
#[derive(Debug)]
pub struct InRust<G> {
    game: G,
    roles: Vec<Term>,
}

impl<G: Game> InRust<G> {
    /// The reasoner of a game.
    pub fn new(game: G) -> InRust<G> {
        InRust { game, roles: G::ROLES.iter().map(|&name| Term::Name(name.into())).collect() }
    }

    /// The game.
    pub fn game(&self) -> &G {
        &self.game
    }
}

impl<G: Game> Reasoner for InRust<G> {
    type State = G::State;
    type Session = InRustSession<G>;

    fn name(&self) -> &'static str {
        "rust"
    }

    fn roles(&self) -> &[Term] {
        &self.roles
    }

    fn max_goal(&self) -> Value {
        self.game.max_goal()
    }

    fn session(
        self: &Arc<Self>,
        _: Limits,
        interrupt: &Interrupt,
    ) -> Result<InRustSession<G>, ReasonerError> {
        let memory = self.game.memory();
        Ok(InRustSession { reasoner: Arc::clone(self), memory, interrupt: interrupt.clone() })
    }
}

/// One thread's hold on a game.
#[derive(Debug)]
pub struct InRustSession<G: Game> {
    reasoner: Arc<InRust<G>>,
    memory: G::Memory,
    interrupt: Interrupt,
}

impl<G: Game> InRustSession<G> {
    fn go_on(&self) -> Result<(), ReasonerError> {
        if self.interrupt.is_raised() { Err(ReasonerError::Interrupted) } else { Ok(()) }
    }

    fn fluent_of(&self, term: &Term) -> Option<FluentParts> {
        let Term::Compound(name, arguments) = term else { return None };
        let kind = (0u16..).zip(G::FLUENTS).find(|(_, known)| ***known == **name)?.0;
        let [Term::Name(argument)] = &arguments[..] else { return None };
        Some((kind, self.reasoner.game.argument_of(kind, argument)?))
    }
}

/// The id of a fluent.
fn fluent_id((kind, argument): FluentParts) -> Fluent {
    Fluent(u32::from(kind) << 16 | u32::from(argument))
}

/// What an id of [`fluent_id`] stands for.
#[allow(clippy::cast_possible_truncation, reason = "the halves are taken apart")]
fn fluent_parts(fluent: Fluent) -> FluentParts {
    ((fluent.0 >> 16) as u16, fluent.0 as u16)
}

impl<G: Game> Session for InRustSession<G> {
    type State = G::State;

    fn roles(&self) -> &[Term] {
        &self.reasoner.roles
    }

    fn initial_state(&mut self) -> Result<G::State, ReasonerError> {
        self.go_on()?;
        Ok(self.reasoner.game.initial_state())
    }

    fn state_of(&mut self, fluents: &[Term]) -> Result<G::State, ReasonerError> {
        self.go_on()?;
        let unknown = |term: &Term| ReasonerError::Unknown { what: "fluent", term: term.to_string() };
        let parts: Vec<FluentParts> = fluents
            .iter()
            .map(|term| self.fluent_of(term).ok_or_else(|| unknown(term)))
            .collect::<Result<_, _>>()?;
        let contradiction =
            "these fluents contradict each other, or some are missing; give all of one position";
        self.reasoner.game.state_of(&parts).ok_or_else(|| ReasonerError::Engine(contradiction.to_owned()))
    }

    fn is_terminal(&mut self, state: &G::State) -> Result<bool, ReasonerError> {
        self.go_on()?;
        Ok(self.reasoner.game.is_terminal(state))
    }

    fn legal_moves(
        &mut self,
        state: &G::State,
        role: Role,
        moves: &mut Vec<Move>,
    ) -> Result<(), ReasonerError> {
        self.go_on()?;
        self.reasoner.game.legal_moves(&mut self.memory, state, role, moves);
        Ok(())
    }

    fn next_state(&mut self, state: &G::State, joint_move: &[Move]) -> Result<G::State, ReasonerError> {
        self.go_on()?;
        ReasonerError::check_joint_move(joint_move.len(), G::ROLES.len())?;
        Ok(self.reasoner.game.next_state(&mut self.memory, state, joint_move))
    }

    fn goals(&mut self, state: &G::State, goals: &mut Vec<GoalAnswer>) -> Result<(), ReasonerError> {
        self.go_on()?;
        goals.clear();
        let game = &self.reasoner.game;
        let memory = &mut self.memory;
        goals.extend(Role::all(G::ROLES.len()).map(|role| GoalAnswer::One(game.goal(memory, state, role))));
        Ok(())
    }

    fn fluents(&mut self, state: &G::State, fluents: &mut Vec<Fluent>) {
        let mut parts = Vec::new();
        self.reasoner.game.fluents(state, &mut parts);
        parts.sort_unstable();
        fluents.extend(parts.into_iter().map(fluent_id));
    }

    fn fluent_term(&mut self, fluent: Fluent) -> Term {
        let parts = fluent_parts(fluent);
        let name = G::FLUENTS.get(usize::from(parts.0)).copied().unwrap_or("unknown");
        let argument = self.reasoner.game.argument_text(parts);
        Term::Compound(name.into(), vec![Term::Name(argument.into())])
    }

    fn move_term(&mut self, a_move: Move) -> Term {
        Term::Name(self.reasoner.game.move_name(a_move).into())
    }

    fn move_of(&mut self, term: &Term) -> Result<Move, ReasonerError> {
        let unknown = || ReasonerError::Unknown { what: "move", term: term.to_string() };
        let Term::Name(name) = term else { return Err(unknown()) };
        self.reasoner.game.move_named(name).ok_or_else(unknown)
    }

    fn rollout_with(
        &mut self,
        state: &G::State,
        seed: u64,
        policy: &mut impl Policy,
        played: Option<&mut Vec<Move>>,
    ) -> Result<RolloutEnd, ReasonerError> {
        self.go_on()?;
        let mut choices = Choices::new(seed, policy, played);
        Ok(self.reasoner.game.rollout(&mut self.memory, state, &mut choices))
    }
}
