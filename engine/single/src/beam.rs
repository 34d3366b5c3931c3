//! Beam search over states: level by level the best so many states stay, by what rollouts from them came to.
//!
//! Equal states of a level are one. When the end is reached the search begins again, twice as wide.

use reasoner::{Move, Reasoner};
use rustc_hash::FxHashSet;

use crate::solver::{Ending, Halt, Solver};
use crate::work::{Stand, Work};

/// The widest beam.
pub(crate) const MAX_WIDTH: u32 = 1 << 24;
/// Rollouts from each state on a reasoner that plays many side by side.
const ROLLOUTS: usize = 8;

/// Beams that widen.
#[derive(Debug)]
pub(crate) struct Beam {
    pub(crate) width: u32,
}

/// How a state was reached: its predecessor's place in the list of all ways, and the move.
#[derive(Debug, Clone, Copy)]
struct Step {
    before: u32,
    a_move: Move,
}

const START: u32 = u32::MAX;

/// Appends the moves that lead to a place in the list.
fn way(steps: &[Step], mut at: u32, moves: &mut Vec<Move>) {
    let begin = moves.len();
    while let Some(step) = steps.get(at as usize) {
        moves.push(step.a_move);
        at = step.before;
    }
    moves[begin..].reverse();
}

/// A state that may stay.
struct Candidate<S> {
    state: S,
    step: Step,
    sum: u64,
    top: u32,
    /// Decides between equals.
    lot: u64,
}

impl<R: Reasoner> Solver<R> for Beam {
    fn solve(&mut self, work: &mut Work<'_, R>) -> Result<Ending, Halt> {
        let mut width = self.width as usize;
        loop {
            let n_cut = search(work, width)?;
            if n_cut == 0 {
                // Nothing was left out, so all lines have been seen.
                return Ok(Ending::Proved);
            }
            width = (width * 2).min(MAX_WIDTH as usize);
        }
    }
}

/// One beam from the root to the end; how many states did not fit.
fn search<R: Reasoner>(work: &mut Work<'_, R>, width: usize) -> Result<usize, Halt> {
    let mut steps: Vec<Step> = Vec::new();
    let mut level = vec![(work.root.clone(), START)];
    let mut n_cut = 0;
    while !level.is_empty() {
        let mut candidates = widen(work, &level, &steps)?;
        if candidates.len() > width {
            n_cut += candidates.len() - width;
            judge(work, &mut candidates, &steps)?;
            let worth = |it: &Candidate<R::State>| std::cmp::Reverse((it.sum, it.top, it.lot));
            candidates.select_nth_unstable_by_key(width - 1, worth);
            candidates.truncate(width);
        }
        level.clear();
        for candidate in candidates {
            let at = u32::try_from(steps.len()).unwrap_or(START);
            if at == START {
                return Ok(n_cut.max(1));
            }
            steps.push(candidate.step);
            level.push((candidate.state, at));
        }
    }
    Ok(n_cut)
}

/// The successors of a level, each once; lines that end there are offered.
fn widen<R: Reasoner>(
    work: &mut Work<'_, R>,
    level: &[(R::State, u32)],
    steps: &[Step],
) -> Result<Vec<Candidate<R::State>>, Halt> {
    let mut seen = FxHashSet::default();
    let mut candidates = Vec::new();
    for (state, at) in level {
        match work.expand(state)? {
            Stand::Stuck => {}
            Stand::End(value) => {
                if work.best.would_take(value) {
                    let mut moves = Vec::new();
                    way(steps, *at, &mut moves);
                    work.offer(&moves)?;
                }
            }
            Stand::Open => {
                for a_move in work.expansion.moves.clone() {
                    let child = work.next(state, a_move)?;
                    if seen.insert(child.clone()) {
                        let lot = work.next_seed();
                        let step = Step { before: *at, a_move };
                        candidates.push(Candidate { state: child, step, sum: 0, top: 0, lot });
                    }
                }
            }
        }
        work.go_on(1)?;
    }
    Ok(candidates)
}

/// Plays rollouts from all of them.
fn judge<R: Reasoner>(
    work: &mut Work<'_, R>,
    candidates: &mut [Candidate<R::State>],
    steps: &[Step],
) -> Result<(), Halt> {
    let n_each = if work.n_side_by_side > 1 { ROLLOUTS } else { 1 };
    for group in candidates.chunks_mut((work.n_side_by_side / n_each).max(1)) {
        let states: Vec<R::State> =
            group.iter().flat_map(|it| std::iter::repeat_n(it.state.clone(), n_each)).collect();
        work.roll_out(&states, |idx, moves| {
            let step = group[idx / n_each].step;
            way(steps, step.before, moves);
            moves.push(step.a_move);
        })?;
        for (idx, candidate) in group.iter_mut().enumerate() {
            let values = (0..n_each).map(|i| work.ends.goals(idx * n_each + i)[0]);
            candidate.sum = values.clone().map(u64::from).sum();
            candidate.top = values.max().unwrap_or(0);
        }
    }
    Ok(())
}
