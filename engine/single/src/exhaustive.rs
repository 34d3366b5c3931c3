//! All states that can be reached, level by level, each once: the best line among all is the optimum.
//!
//! It gives up when the states do not fit its memory. A state that is reached again, on its level or a later one, is
//! left out: whatever follows it was seen where it came first, and a line through there is as good.

use std::hash::BuildHasher;

use reasoner::{Move, Reasoner};
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::solver::{Ending, Halt, Solver};
use crate::work::{Work, goal_of};

/// Bytes that a state takes besides its own size: its heap, its hash and its way.
const BYTES_BESIDE: usize = 96;
/// States that are expanded in one question.
const CHUNK: usize = 1024;

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

impl<S: Eq + std::hash::Hash> Met<S> {
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
    let mut expansions = Vec::new();
    let mut begin = 0;
    let width = CHUNK.min(work.n_side_by_side.max(16));
    while begin < met.states.len() {
        let end = (begin + width).min(met.states.len());
        reasoner::Session::expand_all(work.session, &met.states[begin..end], &mut expansions)?;
        for (idx, expansion) in (begin..end).zip(&expansions) {
            let at = u32::try_from(idx).unwrap_or(NONE);
            if expansion.terminal {
                if work.best.would_take(goal_of(expansion)) {
                    work.offer(&met.way(at))?;
                }
                continue;
            }
            for &a_move in &expansion.moves {
                let child = work.next(&met.states[idx], a_move)?;
                met.add(child, (at, a_move));
            }
        }
        if met.states.len() > most {
            return Ok(Ending::GaveUp);
        }
        work.go_on(end - begin)?;
        begin = end;
    }
    Ok(Ending::Proved)
}
