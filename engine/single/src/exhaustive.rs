//! All states that can be reached, level by level, each once: the best line among all is the optimum.
//!
//! It gives up when the states do not fit its memory. A state that is reached again, on its level or a later one, is
//! left out: whatever follows it was seen where it came first, and a line through there is as good.

use std::hash::{BuildHasher, Hash};
use std::ops::Range;

use reasoner::{Expansion, Move, Reasoner, Session};
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::solver::{Ending, Halt, Solver};
use crate::work::{Work, goal_of};

/// Bytes that a state takes besides its own size: its heap, its hash and its way.
const BYTES_BESIDE: usize = 96;
/// The most states that are expanded in one question.
const CHUNK: usize = 1024;
/// About so many successors are asked for in one question: with more, a run would end late in games of many moves.
const SUCCESSORS: usize = 4096;

/// Expands everything once.
#[derive(Debug, Default)]
pub(crate) struct Exhaustive {
    /// The states it gave up with; from fewer moves further on it would give up again.
    has_given_up_at: Option<u64>,
}

/// All states met, in order of their levels.
struct Met<S> {
    states: Vec<S>,
    /// The predecessor's place, and the move.
    steps: Vec<(u32, Move)>,
    /// By hash, the last place with it; the places before it follow by `same_hash`.
    places: FxHashMap<u64, u32>,
    same_hash: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl<S: Eq + Hash> Met<S> {
    /// Adds a state unless it is there.
    fn add(&mut self, state: S, step: (u32, Move)) {
        let hash = FxBuildHasher.hash_one(&state);
        let last = self.places.get(&hash).copied().unwrap_or(NONE);
        let mut at = last;
        while at != NONE {
            if self.states[at as usize] == state {
                return;
            }
            at = self.same_hash[at as usize];
        }
        let place = u32::try_from(self.states.len()).unwrap_or(NONE);
        self.places.insert(hash, place);
        self.states.push(state);
        self.steps.push(step);
        self.same_hash.push(last);
    }

    /// The moves that lead to a place.
    fn way(&self, mut at: u32) -> Vec<Move> {
        let mut moves = Vec::new();
        while at != 0 {
            let (before, a_move) = self.steps[at as usize];
            moves.push(a_move);
            at = before;
        }
        moves.reverse();
        moves
    }
}

/// Runs in which it is not tried again, after it gave up in one of them.
const RUNS_TO_WAIT: u64 = 2;

impl<R: Reasoner> Solver<R> for Exhaustive {
    fn solve(&mut self, work: &mut Work<'_, R>) -> Result<Ending, Halt> {
        if self.has_given_up_at.is_some_and(|run| work.run_idx() < run + RUNS_TO_WAIT) {
            return Ok(Ending::GaveUp);
        }
        let ending = expand_all(work)?;
        self.has_given_up_at = (ending == Ending::GaveUp).then_some(work.run_idx());
        Ok(ending)
    }
}

fn expand_all<R: Reasoner>(work: &mut Work<'_, R>) -> Result<Ending, Halt> {
    let most = (work.max_bytes / (size_of::<R::State>() + BYTES_BESIDE)).min(NONE as usize - CHUNK);
    let mut met =
        Met { states: Vec::new(), steps: Vec::new(), places: FxHashMap::default(), same_hash: Vec::new() };
    met.add(work.root.clone(), (0, Move(0)));
    let mut level = Level::default();
    let mut begin = 0;
    let most_wide = CHUNK.min(work.n_side_by_side.max(16));
    let mut width = 1;
    while begin < met.states.len() {
        let end = (begin + width).min(met.states.len());
        level.widen(work, &mut met, begin..end)?;
        // As many successors as the chunk before had for each state.
        width = (SUCCESSORS * (end - begin) / level.moves.len().max(1)).clamp(1, most_wide);
        if met.states.len() > most {
            return Ok(Ending::GaveUp);
        }
        work.go_on(end - begin)?;
        begin = end;
    }
    Ok(Ending::Proved)
}

/// Scratch memory of one chunk of states.
struct Level<S> {
    expansions: Vec<Expansion>,
    /// The states that moves are made in, one for each move.
    before: Vec<S>,
    steps: Vec<(u32, Move)>,
    moves: Vec<Move>,
    next: Vec<S>,
}

impl<S> Default for Level<S> {
    fn default() -> Level<S> {
        Level {
            expansions: Vec::new(),
            before: Vec::new(),
            steps: Vec::new(),
            moves: Vec::new(),
            next: Vec::new(),
        }
    }
}

impl<S: Clone + Eq + Hash> Level<S> {
    /// Adds all successors of a chunk, and offers the lines that end there.
    fn widen<R: Reasoner<State = S>>(
        &mut self,
        work: &mut Work<'_, R>,
        met: &mut Met<S>,
        chunk: Range<usize>,
    ) -> Result<(), Halt> {
        work.session.expand_all(&met.states[chunk.clone()], &mut self.expansions)?;
        self.before.clear();
        self.steps.clear();
        self.moves.clear();
        for (idx, expansion) in chunk.zip(&self.expansions) {
            let at = u32::try_from(idx).unwrap_or(NONE);
            if expansion.terminal {
                if work.best.would_take(goal_of(expansion)) {
                    work.offer(&met.way(at))?;
                }
                continue;
            }
            self.moves.extend_from_slice(&expansion.moves);
            self.steps.extend(expansion.moves.iter().map(|&a_move| (at, a_move)));
            self.before.extend(expansion.moves.iter().map(|_| met.states[idx].clone()));
        }
        work.session.next_states(&self.before, &self.moves, &mut self.next)?;
        for (state, &step) in self.next.drain(..).zip(&self.steps) {
            met.add(state, step);
        }
        Ok(())
    }
}
