//! The choices of one rollout, numbered as every rollout's are.

use reasoner::{Dice, Lot, Move, Policy, Role};

use super::grid::{Colour, NOOP};

/// Asks a policy for one choice after the other, each with its [`Lot`], and notes what was played: what
/// [`reasoner::rollout`] does, for games that keep their own board through a rollout.
#[derive(Debug)]
pub struct Choices<'a, P> {
    seed: u64,
    n_made: u32,
    policy: &'a mut P,
    played: Option<&'a mut Vec<Move>>,
}

impl<'a, P: Policy> Choices<'a, P> {
    /// The choices of the rollout of a seed; moves are appended to `played`.
    pub fn new(seed: u64, policy: &'a mut P, played: Option<&'a mut Vec<Move>>) -> Choices<'a, P> {
        Choices { seed, n_made: 0, policy, played }
    }

    /// Random numbers of the rollout beside those of its choices.
    pub fn dice(&self) -> Dice {
        // No rollout comes to as many choices.
        Lot::new(self.seed, u32::MAX).dice()
    }

    /// The index in `legal` (never empty) of the move that `role` plays. To be asked for the roles in order.
    #[inline]
    pub fn choose(&mut self, role: Role, legal: &[Move]) -> usize {
        let lot = Lot::new(self.seed, self.n_made);
        self.n_made = self.n_made.wrapping_add(1);
        let move_idx = self.policy.choose(role, legal, lot);
        if let Some(played) = &mut self.played {
            played.push(legal[move_idx]);
        }
        move_idx
    }

    /// One step of a game of turns: the index in `legal` of what `mover` plays, while the other one has [`NOOP`].
    #[inline]
    pub fn turn(&mut self, mover: Colour, legal: &[Move]) -> usize {
        match mover {
            Colour::Black => {
                let move_idx = self.choose(Role(0), legal);
                self.choose(Role(1), &[NOOP]);
                move_idx
            }
            Colour::White => {
                self.choose(Role(0), &[NOOP]);
                self.choose(Role(1), legal)
            }
        }
    }
}

/// A board set up for a state, and kept while questions are about the same one.
#[derive(Debug)]
pub struct Prepared<S, B> {
    state: Option<S>,
    board: B,
}

impl<S: Clone + Eq, B> Prepared<S, B> {
    /// A board that is set up for no state yet.
    pub fn new(board: B) -> Prepared<S, B> {
        Prepared { state: None, board }
    }

    /// The board of a state; `set_up` makes it from whatever board was there.
    pub fn board(&mut self, state: &S, set_up: impl FnOnce(&mut B, &S)) -> &B {
        if self.state.as_ref() != Some(state) {
            set_up(&mut self.board, state);
            self.state = Some(state.clone());
        }
        &self.board
    }
}
