//! What a solver works with: questions to its session, turns, seeds, and the line that all share.

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use reasoner::{
    Dice, Expansion, GoalAnswer, Interrupt, MAX_ROLLOUT_STEPS, Move, Policy, Reasoner, ReasonerError, Role,
    RolloutEnd, Rollouts, Session, Uniform, Value,
};

use crate::best::Best;
use crate::line::Line;
use crate::solver::Halt;
use crate::turns::{Rest, Turn};

/// One solver's side of a run.
pub(crate) struct Work<'a, R: Reasoner> {
    pub(crate) reasoner: &'a R,
    pub(crate) session: &'a mut R::Session,
    pub(crate) root: &'a R::State,
    /// Ends questions.
    pub(crate) interrupt: &'a Interrupt,
    /// No goal is larger.
    pub(crate) max_goal: Value,
    /// Bytes that the solver may take.
    pub(crate) max_bytes: usize,
    pub(crate) best: &'a Best<R::State>,
    pub(crate) clock: &'a Mutex<Clock>,
    pub(crate) turn: Turn<'a>,
    /// In the report.
    pub(crate) name: &'a str,
    pub(crate) seed: u64,
    pub(crate) n_seeds: u64,
    pub(crate) ends: Rollouts,
    pub(crate) seeds: Vec<u64>,
    pub(crate) expansion: Expansion,
}

/// When the run under way began and ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    /// How many runs there were before.
    pub(crate) n_runs: u64,
    /// How long they took.
    pub(crate) before: Duration,
    pub(crate) began: Instant,
    pub(crate) deadline: Option<Instant>,
}

impl Clock {
    /// How long all runs have taken.
    pub(crate) fn elapsed(&self) -> Duration {
        self.before + self.began.elapsed()
    }
}

/// The goal where a line ends, or the legal moves. Where the role is stuck a line ends too, as in the shared graph and in
/// rollouts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stand {
    End(Value),
    /// The moves are in the expansion.
    Open,
}

/// What the role has at the end of a line; 0 where the rules give nothing.
pub(crate) fn goal_of(goals: &[GoalAnswer]) -> Value {
    goals.first().and_then(|goal| goal.at_end()).unwrap_or(0)
}

/// Expands a state.
pub(crate) fn stand<S: Session>(
    session: &mut S,
    state: &S::State,
    expansion: &mut Expansion,
) -> Result<Stand, ReasonerError> {
    match session.expand(state, expansion) {
        Ok(()) if !expansion.terminal => return Ok(Stand::Open),
        Ok(()) => {}
        Err(ReasonerError::NotPlayable { .. }) => session.goals(state, &mut expansion.goals)?,
        Err(error) => return Err(error),
    }
    Ok(Stand::End(goal_of(&expansion.goals)))
}

impl<R: Reasoner> Work<'_, R> {
    /// How many rollouts are played side by side about as fast as one, but no more than are left to the turn.
    pub(crate) fn n_side_by_side(&self) -> usize {
        let left = self.turn.playouts_left().and_then(|left| usize::try_from(left).ok());
        self.reasoner.n_side_by_side().min(left.unwrap_or(usize::MAX)).max(1)
    }

    /// Bytes that a state takes.
    pub(crate) fn bytes_of(&self, state: &R::State) -> usize {
        size_of::<R::State>() + self.reasoner.heap_bytes(state)
    }

    /// Takes note of playouts, before what they found is offered.
    pub(crate) fn note(&mut self, n_playouts: usize) {
        self.turn.note(n_playouts as u64);
    }

    /// Takes note of playouts and lets others work if it is their turn.
    pub(crate) fn go_on(&mut self, n_playouts: usize) -> Result<(), Halt> {
        Ok(self.turn.go_on(n_playouts as u64)?)
    }

    /// What is left of the turn for a search of its own.
    pub(crate) fn rest(&self) -> Rest {
        self.turn.rest()
    }

    /// The part of the run's time that is over, if the run has an end.
    pub(crate) fn part_over(&self) -> Option<f64> {
        let Clock { began, deadline, .. } = *self.clock.lock();
        let all = deadline?.saturating_duration_since(began).as_secs_f64();
        Some(began.elapsed().as_secs_f64() / all.max(1e-3))
    }

    /// Which run of the searcher this is, counted from 0.
    pub(crate) fn run_idx(&self) -> u64 {
        self.clock.lock().n_runs
    }

    /// A new seed.
    pub(crate) fn next_seed(&mut self) -> u64 {
        self.n_seeds += 1;
        Dice::child_seed(self.seed, self.n_seeds)
    }

    /// Expands a state.
    pub(crate) fn expand(&mut self, state: &R::State) -> Result<Stand, Halt> {
        Ok(stand(self.session, state, &mut self.expansion)?)
    }

    /// The successor.
    pub(crate) fn next(&mut self, state: &R::State, a_move: Move) -> Result<R::State, Halt> {
        Ok(self.session.next_state(state, &[a_move])?)
    }

    /// Plays a uniformly random rollout from each state, and a better line than the best is offered; `way(i, moves)`
    /// appends the moves that lead from the root to the `i`th state. The values are those of [`Work::ends`].
    pub(crate) fn roll_out(
        &mut self,
        states: &[R::State],
        way: impl Fn(usize, &mut Vec<Move>),
    ) -> Result<(), Halt> {
        self.seeds.clear();
        for _ in states {
            let seed = self.next_seed();
            self.seeds.push(seed);
        }
        self.session.rollouts(states, &self.seeds, &mut self.ends)?;
        self.note(states.len());
        let with_end = (0..self.ends.len()).filter(|&idx| self.ends.length(idx) < MAX_ROLLOUT_STEPS);
        let values = with_end.map(|idx| (self.ends.goals(idx)[0], idx));
        // The first of equals, whatever the width of a batch.
        let best = values.max_by_key(|&(value, idx)| (value, std::cmp::Reverse(idx)));
        if let Some((value, idx)) = best
            && self.best.would_take(value)
        {
            let mut moves = Vec::new();
            way(idx, &mut moves);
            self.replay(&states[idx], idx, &mut moves)?;
            self.offer(&moves)?;
        }
        self.go_on(0)
    }

    /// Appends the moves of the `idx`th of the last rollouts, which began in `state`.
    pub(crate) fn replay(&mut self, state: &R::State, idx: usize, moves: &mut Vec<Move>) -> Result<(), Halt> {
        let seed = self.seeds[idx];
        self.session.rollout_with(state, seed, &mut Uniform, Some(moves))?;
        Ok(())
    }

    /// Plays one rollout in which `policy` chooses; its moves are appended to `played`.
    pub(crate) fn roll_out_with(
        &mut self,
        state: &R::State,
        policy: &mut impl Policy,
        played: &mut Vec<Move>,
    ) -> Result<RolloutEnd, Halt> {
        let seed = self.next_seed();
        Ok(self.session.rollout_with(state, seed, policy, Some(played))?)
    }

    /// Plays a line through from the root, shares it if it comes to an end better than the best, and tells what it comes
    /// to, if it is a line at all.
    pub(crate) fn offer(&mut self, moves: &[Move]) -> Result<Option<Value>, Halt> {
        let Some((line, states)) = play_through(self.session, self.root, moves)? else { return Ok(None) };
        let value = line.value;
        let after = self.clock.lock().elapsed();
        if self.best.offer(line, states, after, self.name).is_some() {
            self.turn.reward();
        }
        if self.best.is_optimal() {
            // At once, so that nobody begins another turn.
            self.turn.end_all();
            return Err(Halt::Over);
        }
        Ok(Some(value))
    }
}

/// A line, and the states that it passes, one more than its moves.
pub(crate) type Played<S> = (Line, Vec<S>);

/// The line of some moves, played through; none if one of them is not legal, or no line ends behind them.
pub(crate) fn play_through<S: Session>(
    session: &mut S,
    root: &S::State,
    moves: &[Move],
) -> Result<Option<Played<S::State>>, ReasonerError> {
    let mut states = vec![root.clone()];
    let mut expansion = Expansion::default();
    for &a_move in moves {
        let before = &states[states.len() - 1];
        let is_open = stand(session, before, &mut expansion)? == Stand::Open;
        if !is_open || !expansion.moves_of(Role(0)).contains(&a_move) {
            return Ok(None);
        }
        let state = session.next_state(before, &[a_move])?;
        states.push(state);
    }
    Ok(match stand(session, &states[moves.len()], &mut expansion)? {
        Stand::End(value) => Some((Line { moves: moves.to_vec(), value }, states)),
        Stand::Open => None,
    })
}
