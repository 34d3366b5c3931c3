//! Rollouts: from a state to the end of the game by random or guided moves.

use crate::{Expansion, Lot, Move, ReasonerError, Role, Session, Value};

/// Where a rollout is cut off. The longest published game has some thousand steps; beyond this a game is
/// taken not to terminate.
pub const MAX_ROLLOUT_STEPS: u32 = 20_000;

/// Chooses moves in a rollout.
pub trait Policy {
    /// The index in `legal` (never empty) of the move that `role` plays.
    fn choose(&mut self, role: Role, legal: &[Move], lot: Lot) -> usize;
}

/// Every legal move with the same probability.
#[derive(Debug, Clone, Copy, Default)]
pub struct Uniform;

impl Policy for Uniform {
    fn choose(&mut self, _role: Role, legal: &[Move], lot: Lot) -> usize {
        lot.below(legal.len())
    }
}

/// How one rollout ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RolloutEnd {
    /// Joint moves made.
    pub length: u32,
    /// One goal per role; 0 where the rules give none.
    pub goals: Vec<Value>,
    /// Whether a terminal state was reached. Otherwise the rollout was cut off, or stuck where a role has
    /// no move, and its goals are those of the state it stopped in.
    pub terminal: bool,
}

/// How a batch of rollouts ended, one after the other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rollouts {
    n_roles: usize,
    goals: Vec<Value>,
    lengths: Vec<u32>,
}

impl Rollouts {
    /// How many rollouts begin in each of so many states.
    ///
    /// # Panics
    /// If the seeds are no multiple of the states.
    pub fn n_each(n_states: usize, n_seeds: usize) -> usize {
        let n_each = n_seeds.checked_div(n_states).unwrap_or(0);
        assert_eq!(n_states * n_each, n_seeds, "as many seeds for each state");
        n_each.max(1)
    }

    /// Forgets all, keeping the memory, and expects goals of `n_roles` roles.
    pub fn clear(&mut self, n_roles: usize) {
        self.n_roles = n_roles;
        self.goals.clear();
        self.lengths.clear();
    }

    /// Adds one.
    pub fn push(&mut self, end: &RolloutEnd) {
        self.push_parts(&end.goals, end.length);
    }

    /// Adds one with these goals, one per role, and this length.
    pub fn push_parts(&mut self, goals: &[Value], length: u32) {
        debug_assert_eq!(goals.len(), self.n_roles);
        self.goals.extend_from_slice(goals);
        self.lengths.push(length);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// The goals of the `rollout_idx`th, one per role.
    pub fn goals(&self, rollout_idx: usize) -> &[Value] {
        &self.goals[rollout_idx * self.n_roles..][..self.n_roles]
    }

    /// The length of the `rollout_idx`th in joint moves.
    pub fn length(&self, rollout_idx: usize) -> u32 {
        self.lengths[rollout_idx]
    }
}

/// What many rollouts came to together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Rollouts that ended.
    pub n_rollouts: u64,
    /// Their joint moves.
    pub n_transitions: u64,
    /// The sum of each role's goals.
    pub goal_sums: Vec<u64>,
}

impl Tally {
    /// Of no rollout yet.
    pub fn new(n_roles: usize) -> Tally {
        Tally { goal_sums: vec![0; n_roles], ..Tally::default() }
    }

    /// Adds one rollout.
    pub fn add(&mut self, end: &RolloutEnd) {
        self.n_rollouts += 1;
        self.n_transitions += u64::from(end.length);
        self.goal_sums.iter_mut().zip(&end.goals).for_each(|(sum, &goal)| *sum += u64::from(goal));
    }

    /// Adds the rollouts of another one.
    pub fn merge(&mut self, other: &Tally) {
        self.n_rollouts += other.n_rollouts;
        self.n_transitions += other.n_transitions;
        self.goal_sums.iter_mut().zip(&other.goal_sums).for_each(|(sum, more)| *sum += more);
    }
}

/// Plays to the end with `policy`, whose choices have the [`Lot`]s of `seed`, appending each joint move to
/// `played`.
///
/// # Errors
/// As every question of a session, except that a state where a role has no move ends the rollout.
pub fn rollout<S: Session>(
    session: &mut S,
    state: &S::State,
    seed: u64,
    policy: &mut impl Policy,
    mut played: Option<&mut Vec<Move>>,
) -> Result<RolloutEnd, ReasonerError> {
    let n_roles = session.roles().len();
    let mut state = state.clone();
    let mut expansion = Expansion::default();
    let mut joint_move = Vec::with_capacity(n_roles);
    let (mut length, mut n_choices) = (0, 0u32);
    loop {
        match session.expand(&state, &mut expansion) {
            Ok(()) if expansion.terminal || length == MAX_ROLLOUT_STEPS => break,
            Ok(()) => {}
            Err(ReasonerError::NotPlayable { .. }) => break,
            Err(error) => return Err(error),
        }
        joint_move.clear();
        for role in Role::all(n_roles) {
            let legal = expansion.moves_of(role);
            let lot = Lot::new(seed, n_choices);
            n_choices = n_choices.wrapping_add(1);
            joint_move.push(legal[policy.choose(role, legal, lot)]);
        }
        if let Some(played) = played.as_deref_mut() {
            played.extend_from_slice(&joint_move);
        }
        state = session.next_state(&state, &joint_move)?;
        length += 1;
    }
    if !expansion.terminal {
        session.goals(&state, &mut expansion.goals)?;
    }
    let goals = expansion.goals.iter().map(|goal| goal.at_end().unwrap_or(0)).collect();
    Ok(RolloutEnd { length, goals, terminal: expansion.terminal })
}
