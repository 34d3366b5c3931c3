//! Iterative deepening over the number of moves, without a heuristic (Korf 1985; the comparison of Schadd et al. 2012,
//! section 3), and with the memory that CadiaPlayer gives it (Reinefeld and Marsland 1994; Finnsson and Björnsson 2008).
//!
//! Each iteration looks at all lines of at most so many moves. With memory it leaves out states that it has already
//! looked at as far down. An iteration that cuts nothing off has seen everything.

use std::hash::Hash;

use reasoner::{Move, Reasoner};
use rustc_hash::FxHashMap;

use crate::graph::GraphSolver;
use crate::solver::{Ending, Halt, Solver};
use crate::work::{Stand, Work};

/// Iterative deepening.
#[derive(Debug)]
pub(crate) struct Ida {
    pub(crate) has_memory: bool,
}

/// What an iteration knows.
struct Iteration<S> {
    memory: Option<Memory<S>>,
    is_cut: bool,
}

/// How many moves further states were looked at.
struct Memory<S> {
    known: FxHashMap<S, u32>,
    /// Bytes that the states own.
    heap: usize,
    max_bytes: usize,
}

impl<S: Clone + Eq + Hash> Memory<S> {
    fn new(max_bytes: usize) -> Memory<S> {
        Memory { known: FxHashMap::default(), heap: 0, max_bytes }
    }

    /// Bytes that all of it takes, with `n_more` states more.
    fn bytes(&self, n_more: usize) -> usize {
        // A table has eight slots for seven entries, and a byte beside each; it doubles when it is full.
        let slot = (size_of::<(S, u32)>() + 1) * 8 / 7;
        let full = self.known.capacity();
        let capacity = if self.known.len() + n_more > full { 2 * full } else { full };
        self.heap + capacity * slot
    }

    /// Whether a state was looked at as far down; from now on it was, if there is room for it.
    fn has_seen(&mut self, state: &S, heap: usize, depth: u32) -> bool {
        if let Some(seen) = self.known.get_mut(state) {
            let is_known = *seen >= depth;
            *seen = depth.max(*seen);
            return is_known;
        }
        if self.bytes(1) + heap <= self.max_bytes {
            self.heap += heap;
            self.known.insert(state.clone(), depth);
        }
        false
    }
}

/// Deeper lines are not looked for: each move of the line at hand takes some of the thread's stack.
const MAX_DEPTH: u32 = 1000;

impl<R: Reasoner> Solver<R> for Ida {
    fn solve(&mut self, work: &mut Work<'_, R>) -> Result<Ending, Halt> {
        let root = work.root;
        for depth in 1..=MAX_DEPTH {
            let memory = self.has_memory.then(|| Memory::new(work.max_bytes));
            let mut iteration = Iteration { memory, is_cut: false };
            look(work, &mut iteration, root, &mut Vec::new(), depth)?;
            if !iteration.is_cut {
                return Ok(Ending::Proved);
            }
        }
        Ok(Ending::GaveUp)
    }
}

fn look<R: Reasoner>(
    work: &mut Work<'_, R>,
    iteration: &mut Iteration<R::State>,
    state: &R::State,
    path: &mut Vec<Move>,
    depth: u32,
) -> Result<(), Halt> {
    work.note(1);
    match work.expand(state)? {
        Stand::End(value) => {
            if work.best.would_take(value) {
                work.offer(path)?;
            }
            return work.go_on(0);
        }
        Stand::Open if depth == 0 => {
            iteration.is_cut = true;
            return work.go_on(0);
        }
        Stand::Open => {}
    }
    work.go_on(0)?;
    for a_move in work.expansion.moves.clone() {
        let child = work.next(state, a_move)?;
        if let Some(memory) = &mut iteration.memory
            && memory.has_seen(&child, work.reasoner.heap_bytes(&child), depth)
        {
            continue;
        }
        path.push(a_move);
        look(work, iteration, &child, path, depth - 1)?;
        path.pop();
    }
    Ok(())
}

/// CadiaPlayer's single-agent module: iterative deepening with memory in the start clock, on the play clocks too if it
/// has found something worth more than nothing, and otherwise UCT.
#[derive(Debug)]
pub(crate) struct Meida<R: Reasoner> {
    pub(crate) ida: Ida,
    pub(crate) uct: GraphSolver<R>,
}

impl<R: Reasoner> Solver<R> for Meida<R> {
    fn solve(&mut self, work: &mut Work<'_, R>) -> Result<Ending, Halt> {
        let has_found = work.best.value().is_some_and(|value| value > 0);
        if work.run_idx() == 0 || has_found { self.ida.solve(work) } else { self.uct.solve(work) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_keeps_within_its_bytes_and_forgets_nothing() {
        let mut memory = Memory::new(100_000);
        let n_kept = (0..10_000u64).filter(|state| !memory.has_seen(state, 100, 5)).count();
        assert_eq!(n_kept, 10_000, "all are new");
        assert!(memory.bytes(0) <= 100_000 && memory.bytes(1) + 100 > 100_000, "{}", memory.bytes(0));
        assert!(memory.has_seen(&0, 100, 5) && memory.has_seen(&0, 100, 4) && !memory.has_seen(&0, 100, 6));
        assert!(!memory.has_seen(&9_999, 100, 5), "there was no room for it");
    }
}
