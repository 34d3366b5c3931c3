//! The two traits.

use std::fmt::Debug;
use std::hash::Hash;
use std::sync::Arc;

use gdl::Term;

use crate::rollout::{self, Policy, Rollouts};
use crate::{Fluent, GoalAnswer, Interrupt, Lot, Move, ReasonerError, Role, RolloutEnd, Tally, Value};

/// What one query may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Inference steps, whatever the reasoner counts as one.
    pub steps: u64,
    /// Bytes of scratch memory of the session, of which each thread has its own.
    pub bytes: u64,
}

impl Default for Limits {
    /// Minutes of the slowest published game's queries, and a gibibyte, which each of many threads may take.
    fn default() -> Limits {
        Limits { steps: 2_000_000_000, bytes: 1 << 30 }
    }
}

/// One game's rules, answering: shared by all threads, and immutable as far as they can tell.
pub trait Reasoner: Debug + Send + Sync + Sized + 'static {
    /// A set of true fluents. Equal sets are equal states and hash alike, in all sessions.
    type State: Clone + Eq + Hash + Debug + Send + Sync + 'static;
    /// One thread's hold on the rules.
    type Session: Session<State = Self::State>;

    /// The name by which the reasoner is chosen, such as `interpreter`.
    fn name(&self) -> &'static str;

    /// The roles' names in role order; at least one.
    fn roles(&self) -> &[Term];

    /// How many roles there are.
    fn n_roles(&self) -> usize {
        self.roles().len()
    }

    /// The largest goal that can be; 100 for GDL.
    fn max_goal(&self) -> Value {
        100
    }

    /// How many rollouts a session plays side by side about as fast as one; a search gathers them for it.
    fn n_side_by_side(&self) -> usize {
        1
    }

    /// A session whose queries end when `interrupt` is raised or a limit is passed.
    ///
    /// # Errors
    /// If the reasoner cannot serve another thread.
    fn session(
        self: &Arc<Self>,
        limits: Limits,
        interrupt: &Interrupt,
    ) -> Result<Self::Session, ReasonerError>;

    /// Bytes of memory that all sessions share, to the reasoner's knowledge.
    fn bytes(&self) -> usize {
        0
    }

    /// Bytes that a state owns on the heap, beyond its own size; none for states that are plain values.
    fn heap_bytes(&self, _state: &Self::State) -> usize {
        0
    }

    /// Bytes that every state owns on the heap, with what an allocator rounds up; None if they differ from state to state.
    fn heap_bytes_of_all(&self) -> Option<usize> {
        None
    }
}

/// All that the search wants to know of a state, in one answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expansion {
    /// Whether the state is terminal.
    pub terminal: bool,
    /// In a terminal state one answer per role; otherwise empty, since goals are not demanded there.
    pub goals: Vec<GoalAnswer>,
    /// In a state that is not terminal, the legal moves role by role; otherwise empty.
    pub moves: Vec<Move>,
    /// Where each role's moves end in [`Expansion::moves`]; empty in a terminal state.
    pub ends: Vec<usize>,
}

impl Expansion {
    /// Forgets everything, keeping the memory.
    pub fn clear(&mut self) {
        self.terminal = false;
        self.goals.clear();
        self.moves.clear();
        self.ends.clear();
    }

    /// The legal moves of a role; none in a terminal state.
    pub fn moves_of(&self, role: Role) -> &[Move] {
        let Some(&end) = self.ends.get(role.idx()) else { return &[] };
        let start = if role.0 == 0 { 0 } else { self.ends[role.idx() - 1] };
        &self.moves[start..end]
    }
}

/// One thread's hold on a reasoner: its scratch memory or its Prolog engine. Not `Send` where that matters.
///
/// Every question may end with [`ReasonerError::Interrupted`] or with a limit passed; the session answers
/// the next question all the same. Sets come in no particular order, which is however the same for the same
/// history of questions.
pub trait Session: Sized {
    /// As [`Reasoner::State`].
    type State: Clone + Eq + Hash + Debug + Send + Sync + 'static;

    /// The roles' names in role order.
    fn roles(&self) -> &[Term];

    /// The state of the `init` facts.
    ///
    /// # Errors
    /// As every question.
    fn initial_state(&mut self) -> Result<Self::State, ReasonerError>;

    /// The state in which exactly `fluents` are true.
    ///
    /// # Errors
    /// If a term cannot be a fluent of this game ([`ReasonerError::Unknown`]).
    fn state_of(&mut self, fluents: &[Term]) -> Result<Self::State, ReasonerError>;

    /// Whether the state is terminal.
    ///
    /// # Errors
    /// As every question.
    fn is_terminal(&mut self, state: &Self::State) -> Result<bool, ReasonerError>;

    /// Appends the legal moves of a role, each once. To be asked only in states that are not terminal;
    /// elsewhere the answer is whatever the rules give.
    ///
    /// # Errors
    /// As every question; no move at all is an answer, not an error.
    fn legal_moves(
        &mut self,
        state: &Self::State,
        role: Role,
        moves: &mut Vec<Move>,
    ) -> Result<(), ReasonerError>;

    /// The successor under one move per role, in role order. Moves need not be legal.
    ///
    /// # Errors
    /// As every question, and [`ReasonerError::JointMove`] if there are not as many moves as roles.
    fn next_state(&mut self, state: &Self::State, joint_move: &[Move]) -> Result<Self::State, ReasonerError>;

    /// Replaces `goals` by one answer per role.
    ///
    /// # Errors
    /// As every question.
    fn goals(&mut self, state: &Self::State, goals: &mut Vec<GoalAnswer>) -> Result<(), ReasonerError>;

    /// Appends every true fluent, in ascending order.
    fn fluents(&mut self, state: &Self::State, fluents: &mut Vec<Fluent>);

    /// The term of a fluent.
    fn fluent_term(&mut self, fluent: Fluent) -> Term;

    /// The term of a move.
    fn move_term(&mut self, a_move: Move) -> Term;

    /// The id of a move's term, which may be new: managers report moves that are not legal.
    ///
    /// # Errors
    /// If no rule could ever speak of such a move.
    fn move_of(&mut self, term: &Term) -> Result<Move, ReasonerError>;

    /// Fills `expansion` with all that search wants to know of a state.
    ///
    /// # Errors
    /// As every question, and [`ReasonerError::NotPlayable`] if a role has no move in a state that is not
    /// terminal.
    fn expand(&mut self, state: &Self::State, expansion: &mut Expansion) -> Result<(), ReasonerError> {
        expansion.clear();
        if self.is_terminal(state)? {
            expansion.terminal = true;
            return self.goals(state, &mut expansion.goals);
        }
        for role in Role::all(self.roles().len()) {
            let n_before = expansion.moves.len();
            self.legal_moves(state, role, &mut expansion.moves)?;
            if expansion.moves.len() == n_before {
                let role = self.roles()[role.idx()].to_string();
                return Err(ReasonerError::NotPlayable { role });
            }
            expansion.ends.push(expansion.moves.len());
        }
        Ok(())
    }

    /// Expands many states, and replaces `expansions` by what [`Session::expand`] gives for each. In a state that is not
    /// terminal a role may have no move: then that is no error here.
    ///
    /// # Errors
    /// As every question.
    fn expand_all(
        &mut self,
        states: &[Self::State],
        expansions: &mut Vec<Expansion>,
    ) -> Result<(), ReasonerError> {
        expansions.resize_with(states.len(), Expansion::default);
        for (state, expansion) in states.iter().zip(expansions) {
            expansion.clear();
            if self.is_terminal(state)? {
                expansion.terminal = true;
                self.goals(state, &mut expansion.goals)?;
                continue;
            }
            for role in Role::all(self.roles().len()) {
                self.legal_moves(state, role, &mut expansion.moves)?;
                expansion.ends.push(expansion.moves.len());
            }
        }
        Ok(())
    }

    /// The successors of many states, each under its own joint move, and replaces `next` by them. `joint_moves` has the
    /// moves of the first state's roles, then those of the second's, and so on.
    ///
    /// # Errors
    /// As for [`Session::next_state`]; then `next` holds the successors of the states before the one that failed.
    ///
    /// # Panics
    /// If there are not as many moves as states times roles.
    fn next_states(
        &mut self,
        states: &[Self::State],
        joint_moves: &[Move],
        next: &mut Vec<Self::State>,
    ) -> Result<(), ReasonerError> {
        let n_roles = self.roles().len();
        assert_eq!(joint_moves.len(), states.len() * n_roles, "one move for each role of each state");
        next.clear();
        for (state, joint_move) in states.iter().zip(joint_moves.chunks_exact(n_roles)) {
            next.push(self.next_state(state, joint_move)?);
        }
        Ok(())
    }

    /// Plays uniformly random rollouts, as many from each state, the `i`th with `seeds[i]`, those of the first state first,
    /// and replaces `ends` by how they ended. The outcome of a rollout depends on its state and seed alone:
    /// [`Session::rollout_with`] of [`Uniform`](crate::Uniform) with the same seed plays the same moves.
    ///
    /// # Errors
    /// As every question; then `ends` holds the rollouts finished before.
    ///
    /// # Panics
    /// If the seeds are no multiple of the states.
    fn rollouts(
        &mut self,
        states: &[Self::State],
        seeds: &[u64],
        ends: &mut Rollouts,
    ) -> Result<(), ReasonerError> {
        let n_each = Rollouts::n_each(states.len(), seeds.len());
        ends.clear(self.roles().len());
        for (state, seeds) in states.iter().zip(seeds.chunks(n_each)) {
            for &seed in seeds {
                let end = self.rollout_with(state, seed, &mut crate::Uniform, None)?;
                ends.push(&end);
            }
        }
        Ok(())
    }

    /// Plays a series of uniformly random rollouts from one state, the `i`th with [`Lot::seed_in_series`]`(seed, i)`,
    /// and adds them to `tally`. This is cheaper than [`Session::rollouts`], since nobody asks which came to what.
    ///
    /// # Errors
    /// As every question; then an unknown part of the series is missing in `tally`.
    fn tally(
        &mut self,
        state: &Self::State,
        seed: u64,
        n_rollouts: u32,
        tally: &mut Tally,
    ) -> Result<(), ReasonerError> {
        for rollout in 0..n_rollouts {
            let seed = Lot::seed_in_series(seed, rollout);
            tally.add(&self.rollout_with(state, seed, &mut crate::Uniform, None)?);
        }
        Ok(())
    }

    /// Plays one rollout in which `policy` chooses the moves, and appends the joint moves to `played`.
    ///
    /// # Errors
    /// As every question.
    fn rollout_with(
        &mut self,
        state: &Self::State,
        seed: u64,
        policy: &mut impl Policy,
        played: Option<&mut Vec<Move>>,
    ) -> Result<RolloutEnd, ReasonerError> {
        rollout::rollout(self, state, seed, policy, played)
    }
}
