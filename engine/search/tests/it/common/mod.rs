//! Small games written in Rust, behind the traits of the reasoners.
#![allow(clippy::cast_possible_truncation, reason = "the games are small")]

pub mod boards;
pub mod exhaustive;
pub mod graphs;
pub mod runs;

use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

use gdl::Term;
use reasoner::{Fluent, GoalAnswer, Interrupt, Limits, Move, Reasoner, ReasonerError, Role, Session};

/// A game's rules as functions.
pub trait Game: Debug + Send + Sync + 'static {
    type State: Clone + Eq + Hash + Debug + Send + Sync + 'static;

    fn n_roles(&self) -> usize;
    fn initial(&self) -> Self::State;
    fn is_terminal(&self, state: &Self::State) -> bool;
    fn legal(&self, state: &Self::State, role: usize, moves: &mut Vec<u32>);
    fn next(&self, state: &Self::State, joint_move: &[u32]) -> Self::State;
    fn goal(&self, state: &Self::State, role: usize) -> u32;

    /// Called with every question: a way to fail.
    fn ask(&self, _state: &Self::State, _interrupt: &Interrupt) -> Result<(), ReasonerError> {
        Ok(())
    }

    /// As [`Game::ask`], before a successor is made.
    fn ask_next(&self, _state: &Self::State, _joint_move: &[u32]) -> Result<(), ReasonerError> {
        Ok(())
    }
}

/// The reasoner of a [`Game`].
#[derive(Debug)]
pub struct Rust<G> {
    pub game: G,
    roles: Vec<Term>,
}

impl<G: Game> Rust<G> {
    pub fn new(game: G) -> Arc<Rust<G>> {
        let roles = (0..game.n_roles()).map(|i| Term::Name(format!("r{i}").into())).collect();
        Arc::new(Rust { game, roles })
    }

    pub fn initial(&self) -> G::State {
        self.game.initial()
    }
}

impl<G: Game> Reasoner for Rust<G> {
    type State = G::State;
    type Session = RustSession<G>;

    fn name(&self) -> &'static str {
        "rust"
    }

    fn roles(&self) -> &[Term] {
        &self.roles
    }

    fn session(self: &Arc<Self>, _: Limits, interrupt: &Interrupt) -> Result<RustSession<G>, ReasonerError> {
        Ok(RustSession { rules: Arc::clone(self), interrupt: interrupt.clone(), scratch: Vec::new() })
    }
}

#[derive(Debug)]
pub struct RustSession<G> {
    rules: Arc<Rust<G>>,
    interrupt: Interrupt,
    scratch: Vec<u32>,
}

impl<G: Game> RustSession<G> {
    fn ask(&self, state: &G::State) -> Result<(), ReasonerError> {
        if self.interrupt.is_raised() {
            return Err(ReasonerError::Interrupted);
        }
        self.rules.game.ask(state, &self.interrupt)
    }
}

impl<G: Game> Session for RustSession<G> {
    type State = G::State;

    fn roles(&self) -> &[Term] {
        &self.rules.roles
    }

    fn initial_state(&mut self) -> Result<G::State, ReasonerError> {
        Ok(self.rules.game.initial())
    }

    fn state_of(&mut self, _: &[Term]) -> Result<G::State, ReasonerError> {
        Ok(self.rules.game.initial())
    }

    fn is_terminal(&mut self, state: &G::State) -> Result<bool, ReasonerError> {
        self.ask(state)?;
        Ok(self.rules.game.is_terminal(state))
    }

    fn legal_moves(
        &mut self,
        state: &G::State,
        role: Role,
        moves: &mut Vec<Move>,
    ) -> Result<(), ReasonerError> {
        self.ask(state)?;
        self.scratch.clear();
        self.rules.game.legal(state, role.idx(), &mut self.scratch);
        moves.extend(self.scratch.iter().map(|&id| Move(id)));
        Ok(())
    }

    fn next_state(&mut self, state: &G::State, joint_move: &[Move]) -> Result<G::State, ReasonerError> {
        self.ask(state)?;
        self.scratch.clear();
        self.scratch.extend(joint_move.iter().map(|a_move| a_move.0));
        self.rules.game.ask_next(state, &self.scratch)?;
        Ok(self.rules.game.next(state, &self.scratch))
    }

    fn goals(&mut self, state: &G::State, goals: &mut Vec<GoalAnswer>) -> Result<(), ReasonerError> {
        self.ask(state)?;
        goals.clear();
        let game = &self.rules.game;
        goals.extend((0..game.n_roles()).map(|role| GoalAnswer::One(game.goal(state, role))));
        Ok(())
    }

    fn fluents(&mut self, _: &G::State, _: &mut Vec<Fluent>) {}

    fn fluent_term(&mut self, fluent: Fluent) -> Term {
        Term::Name(fluent.0.to_string().into())
    }

    fn move_term(&mut self, a_move: Move) -> Term {
        Term::Name(a_move.0.to_string().into())
    }

    fn move_of(&mut self, term: &Term) -> Result<Move, ReasonerError> {
        let unknown = || ReasonerError::Unknown { what: "move", term: term.to_string() };
        term.to_string().parse().map(Move).map_err(|_| unknown())
    }
}

/// The move of a role that has no choice.
pub const NOOP: u32 = 1_000_000;

/// Two roles take from one heap by turns; whoever takes the last wins. Many ways lead to the same heaps.
#[derive(Debug)]
pub struct Nim(pub [u8; 4]);

/// The move that takes `n` from a heap.
pub fn take(heap: usize, n: u8) -> u32 {
    heap as u32 * 16 + u32::from(n)
}

impl Game for Nim {
    type State = ([u8; 4], u8);

    fn n_roles(&self) -> usize {
        2
    }

    fn initial(&self) -> Self::State {
        (self.0, 0)
    }

    fn is_terminal(&self, (heaps, _): &Self::State) -> bool {
        *heaps == [0; 4]
    }

    fn legal(&self, (heaps, mover): &Self::State, role: usize, moves: &mut Vec<u32>) {
        if role != usize::from(*mover) {
            moves.push(NOOP);
            return;
        }
        for (heap, &left) in heaps.iter().enumerate() {
            moves.extend((1..=left).map(|n| take(heap, n)));
        }
    }

    fn next(&self, &(mut heaps, mover): &Self::State, joint_move: &[u32]) -> Self::State {
        let a_move = joint_move[usize::from(mover)];
        let heap = &mut heaps[(a_move / 16) as usize % 4];
        *heap = heap.saturating_sub((a_move % 16) as u8);
        (heaps, 1 - mover)
    }

    fn goal(&self, (_, mover): &Self::State, role: usize) -> u32 {
        if role == usize::from(*mover) { 0 } else { 100 }
    }
}

/// Every role picks a number at once, `steps` times; each is worth its own sum, so the largest pick is best.
#[derive(Debug)]
pub struct Picks {
    pub n_roles: usize,
    pub steps: u8,
    pub most: u8,
}

impl Game for Picks {
    type State = (u8, Vec<u8>);

    fn n_roles(&self) -> usize {
        self.n_roles
    }

    fn initial(&self) -> Self::State {
        (0, vec![0; self.n_roles])
    }

    fn is_terminal(&self, (step, _): &Self::State) -> bool {
        *step == self.steps
    }

    fn legal(&self, _: &Self::State, _: usize, moves: &mut Vec<u32>) {
        moves.extend(0..=u32::from(self.most));
    }

    fn next(&self, (step, sums): &Self::State, joint_move: &[u32]) -> Self::State {
        (step + 1, sums.iter().zip(joint_move).map(|(&sum, &pick)| sum + pick as u8).collect())
    }

    fn goal(&self, (_, sums): &Self::State, role: usize) -> u32 {
        u32::from(sums[role]) * 100 / (u32::from(self.steps) * u32::from(self.most))
    }
}

/// One role dials `digits` digits of 0 to 3; the goal grows with the correct ones, and is 100 for all.
#[derive(Debug)]
pub struct Dial {
    pub digits: usize,
}

impl Dial {
    pub fn secret(i: usize) -> u32 {
        (i as u32 * 7 + 2) % 4
    }
}

impl Game for Dial {
    type State = Vec<u8>;

    fn n_roles(&self) -> usize {
        1
    }

    fn initial(&self) -> Vec<u8> {
        Vec::new()
    }

    fn is_terminal(&self, state: &Vec<u8>) -> bool {
        state.len() == self.digits
    }

    fn legal(&self, _: &Vec<u8>, _: usize, moves: &mut Vec<u32>) {
        moves.extend(0..4);
    }

    fn next(&self, state: &Vec<u8>, joint_move: &[u32]) -> Vec<u8> {
        let mut next = state.clone();
        next.push(joint_move[0] as u8);
        next
    }

    fn goal(&self, state: &Vec<u8>, _: usize) -> u32 {
        let n_right =
            state.iter().enumerate().filter(|&(i, &digit)| u32::from(digit) == Dial::secret(i)).count();
        (n_right * 100 / self.digits) as u32
    }
}

/// One role, one choice among `width`; `lucky` wins.
#[derive(Debug)]
pub struct Wide {
    pub width: u32,
    pub lucky: u32,
}

impl Game for Wide {
    type State = Option<u32>;

    fn n_roles(&self) -> usize {
        2
    }

    fn initial(&self) -> Option<u32> {
        None
    }

    fn is_terminal(&self, state: &Option<u32>) -> bool {
        state.is_some()
    }

    fn legal(&self, _: &Option<u32>, role: usize, moves: &mut Vec<u32>) {
        if role == 0 { moves.extend(0..self.width) } else { moves.push(NOOP) }
    }

    fn next(&self, _: &Option<u32>, joint_move: &[u32]) -> Option<u32> {
        Some(joint_move[0])
    }

    fn goal(&self, state: &Option<u32>, role: usize) -> u32 {
        if (*state == Some(self.lucky)) == (role == 0) { 100 } else { 0 }
    }
}

/// One role walks `length` steps, going on or giving up at each; only the end is worth anything.
#[derive(Debug)]
pub struct Deep {
    pub length: u32,
    /// 1: there is only the way on.
    pub n_moves: u32,
}

impl Game for Deep {
    type State = u32;

    fn n_roles(&self) -> usize {
        1
    }

    fn initial(&self) -> u32 {
        0
    }

    fn is_terminal(&self, state: &u32) -> bool {
        *state >= self.length
    }

    fn legal(&self, _: &u32, _: usize, moves: &mut Vec<u32>) {
        moves.extend(0..self.n_moves);
    }

    fn next(&self, state: &u32, joint_move: &[u32]) -> u32 {
        if joint_move[0] == 0 { state + 1 } else { u32::MAX }
    }

    fn goal(&self, state: &u32, _: usize) -> u32 {
        if *state == self.length { 100 } else { 0 }
    }
}

/// Everything that can be wrong with a game, one move for each: see [`Broken::legal`].
#[derive(Debug)]
pub struct Broken;

impl Game for Broken {
    type State = u32;

    fn n_roles(&self) -> usize {
        2
    }

    fn initial(&self) -> u32 {
        0
    }

    fn is_terminal(&self, state: &u32) -> bool {
        matches!(state, 5..=7)
    }

    /// From the start: 1 leads to a state that every question fails in, 2 has no successor, 3 leads to a
    /// state where nobody can move and nothing ends, 4 leads back, 5 to a goal beyond the maximum, 6 to a
    /// loss, 7 to a win.
    fn legal(&self, state: &u32, role: usize, moves: &mut Vec<u32>) {
        match (state, role) {
            (3, _) => {}
            (_, 0) => moves.extend(1..=7),
            _ => moves.push(NOOP),
        }
    }

    fn next(&self, _: &u32, joint_move: &[u32]) -> u32 {
        if joint_move[0] == 4 { 0 } else { joint_move[0] }
    }

    fn goal(&self, state: &u32, role: usize) -> u32 {
        match state {
            5 => 4_000_000_000,
            7 if role == 0 => 100,
            3 => 40,
            _ => 0,
        }
    }

    fn ask(&self, state: &u32, _: &Interrupt) -> Result<(), ReasonerError> {
        if *state == 1 { Err(ReasonerError::TooManySteps(1)) } else { Ok(()) }
    }

    fn ask_next(&self, _: &u32, joint_move: &[u32]) -> Result<(), ReasonerError> {
        if joint_move[0] == 2 { Err(ReasonerError::Engine("no successor".to_owned())) } else { Ok(()) }
    }
}

/// A game whose every question after the first runs until it is interrupted.
#[derive(Debug)]
pub struct Endless {
    /// Whether even the root's moves cannot be had.
    pub from_the_start: bool,
}

impl Game for Endless {
    type State = u32;

    fn n_roles(&self) -> usize {
        1
    }

    fn initial(&self) -> u32 {
        0
    }

    fn is_terminal(&self, _: &u32) -> bool {
        false
    }

    fn legal(&self, _: &u32, _: usize, moves: &mut Vec<u32>) {
        moves.extend(0..3);
    }

    fn next(&self, state: &u32, joint_move: &[u32]) -> u32 {
        state + 1 + joint_move[0]
    }

    fn goal(&self, _: &u32, _: usize) -> u32 {
        0
    }

    fn ask(&self, state: &u32, interrupt: &Interrupt) -> Result<(), ReasonerError> {
        while (*state > 0 || self.from_the_start) && !interrupt.is_raised() {
            std::thread::yield_now();
        }
        if interrupt.is_raised() { Err(ReasonerError::Interrupted) } else { Ok(()) }
    }
}

/// A game whose reasoner panics in every state but the first.
#[derive(Debug)]
pub struct Panicking;

impl Game for Panicking {
    type State = u32;

    fn n_roles(&self) -> usize {
        1
    }

    fn initial(&self) -> u32 {
        0
    }

    fn is_terminal(&self, _: &u32) -> bool {
        false
    }

    fn legal(&self, _: &u32, _: usize, moves: &mut Vec<u32>) {
        moves.extend(0..3);
    }

    fn next(&self, state: &u32, _: &[u32]) -> u32 {
        state + 1
    }

    fn goal(&self, _: &u32, _: usize) -> u32 {
        0
    }

    fn ask(&self, state: &u32, _: &Interrupt) -> Result<(), ReasonerError> {
        assert!(*state == 0, "this reasoner panics on purpose");
        Ok(())
    }
}
