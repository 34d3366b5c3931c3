//! Iterative deepening over the number of moves, without a heuristic (Korf 1985; the comparison of Schadd et al. 2011,
//! section 3), and with the memory that CadiaPlayer gives it (Reinefeld and Marsland 1994; Finnsson and Björnsson 2008).
//!
//! Each iteration looks at all lines of at most so many moves. With memory it leaves out states that it has already
//! looked at as far down. An iteration that cuts nothing off has seen everything.

use reasoner::{Move, Reasoner};
use rustc_hash::FxHashMap;

use crate::graph::GraphSolver;
use crate::solver::{Ending, Halt, Solver};
use crate::work::{Stand, Work};

/// Bytes of a remembered state besides its own size.
const BYTES_BESIDE: usize = 64;

/// Iterative deepening.
#[derive(Debug)]
pub(crate) struct Ida {
    pub(crate) has_memory: bool,
}

/// What an iteration knows.
struct Iteration<S> {
    /// How many moves further each state was looked at.
    memory: Option<FxHashMap<S, u32>>,
    most: usize,
    is_cut: bool,
}

/// Deeper lines are not looked for: each move of the line at hand takes some of the thread's stack.
const MAX_DEPTH: u32 = 1000;

impl<R: Reasoner> Solver<R> for Ida {
    fn solve(&mut self, work: &mut Work<'_, R>) -> Result<Ending, Halt> {
        let most = work.max_bytes / (size_of::<R::State>() + BYTES_BESIDE);
        let root = work.root;
        for depth in 1..=MAX_DEPTH {
            let memory = self.has_memory.then(FxHashMap::default);
            let mut iteration = Iteration { memory, most, is_cut: false };
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
    work.go_on(1)?;
    match work.expand(state)? {
        Stand::Stuck => return Ok(()),
        Stand::End(value) => {
            if work.best.would_take(value) {
                work.offer(path)?;
            }
            return Ok(());
        }
        Stand::Open if depth == 0 => {
            iteration.is_cut = true;
            return Ok(());
        }
        Stand::Open => {}
    }
    for a_move in work.expansion.moves.clone() {
        let child = work.next(state, a_move)?;
        if let Some(memory) = &mut iteration.memory {
            let has_room = memory.len() < iteration.most;
            match memory.get_mut(&child) {
                Some(seen) if *seen >= depth => continue,
                Some(seen) => *seen = depth,
                None if has_room => {
                    memory.insert(child.clone(), depth);
                }
                None => {}
            }
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
