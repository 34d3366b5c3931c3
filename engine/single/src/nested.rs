//! Nested Monte-Carlo search with memory of the best line (Méhat and Cazenave 2010, section 4, algorithm 1).
//!
//! At each step of a line of level n every move is followed by a search of level n - 1, and the line goes on with the
//! best one found so far. On the lowest level that is a random rollout, or as many of them as the reasoner plays side by
//! side in the same time.

use reasoner::{MAX_ROLLOUT_STEPS, Move, Reasoner, Session, Value};

use crate::solver::{Ending, Halt, Solver};
use crate::work::{Stand, Work};

/// The deepest level; each takes as long as all steps of a line on the level below.
pub(crate) const MAX_LEVEL: u32 = 8;

/// Repeats searches of one level.
#[derive(Debug)]
pub(crate) struct Nested {
    pub(crate) level: u32,
}

/// What follows a state: the moves to the end, the last one first, and the value there.
#[derive(Debug, Clone, Default)]
struct Rest {
    value: Value,
    backwards: Vec<Move>,
}

impl<R: Reasoner> Solver<R> for Nested {
    fn solve(&mut self, work: &mut Work<'_, R>) -> Result<Ending, Halt> {
        let root = work.root.clone();
        loop {
            if work.expand(&root)? != Stand::Open {
                return Ok(Ending::GaveUp);
            }
            nested(work, &root, &mut Vec::new(), self.level)?;
            // Lines of forced moves make no rollouts.
            work.go_on(1)?;
        }
    }
}

/// The best line found from `state`, to which `path` leads; none if none of them came to an end.
fn nested<R: Reasoner>(
    work: &mut Work<'_, R>,
    state: &R::State,
    path: &mut Vec<Move>,
    level: u32,
) -> Result<Option<Rest>, Halt> {
    let n_before = path.len();
    let mut state = state.clone();
    let mut best: Option<Rest> = None;
    let found = loop {
        match work.expand(&state)? {
            Stand::End(value) => {
                if work.best.would_take(value) {
                    work.offer(path)?;
                }
                break Some(value);
            }
            Stand::Open => {}
        }
        // A line of forced moves makes no playouts, and rules that break the law of GDL may never end it.
        work.go_on(0)?;
        if path.len() >= MAX_ROLLOUT_STEPS as usize {
            break None;
        }
        let legal = work.expansion.moves.clone();
        if legal.len() > 1 && best.as_ref().is_none_or(|best| best.value < work.max_goal) {
            let tried = match level {
                1 => sample_all(work, &state, &legal, path)?,
                _ => search_all(work, &state, &legal, path, level - 1)?,
            };
            if let Some(tried) = tried
                && best.as_ref().is_none_or(|best| tried.value > best.value)
            {
                best = Some(tried);
            }
        }
        let a_move = match &mut best {
            Some(best) => best.backwards.pop().unwrap_or(legal[0]),
            None => legal[0],
        };
        path.push(a_move);
        state = work.next(&state, a_move)?;
    };
    let rest = found.map(|value| Rest { value, backwards: path[n_before..].iter().rev().copied().collect() });
    path.truncate(n_before);
    Ok(rest)
}

/// The best of searches behind each move.
fn search_all<R: Reasoner>(
    work: &mut Work<'_, R>,
    state: &R::State,
    legal: &[Move],
    path: &mut Vec<Move>,
    level: u32,
) -> Result<Option<Rest>, Halt> {
    let mut best: Option<Rest> = None;
    for &a_move in legal {
        let child = work.next(state, a_move)?;
        path.push(a_move);
        let rest = nested(work, &child, path, level)?;
        path.pop();
        if let Some(mut rest) = rest
            && best.as_ref().is_none_or(|best| rest.value > best.value)
        {
            rest.backwards.push(a_move);
            best = Some(rest);
        }
    }
    Ok(best)
}

/// The best of rollouts behind each move.
fn sample_all<R: Reasoner>(
    work: &mut Work<'_, R>,
    state: &R::State,
    legal: &[Move],
    path: &[Move],
) -> Result<Option<Rest>, Halt> {
    let n_each = (work.n_side_by_side() / legal.len()).max(1);
    let mut children = Vec::with_capacity(legal.len());
    work.session.next_states(&vec![state.clone(); legal.len()], legal, &mut children)?;
    let states: Vec<R::State> =
        children.into_iter().flat_map(|child| std::iter::repeat_n(child, n_each)).collect();
    work.roll_out(&states, |idx, moves| {
        moves.extend_from_slice(path);
        moves.push(legal[idx / n_each]);
    })?;
    let values = (0..states.len()).map(|idx| (work.ends.goals(idx)[0], idx));
    let Some((value, idx)) = values.max_by_key(|&(value, idx)| (value, std::cmp::Reverse(idx))) else {
        return Ok(None);
    };
    let mut moves = vec![legal[idx / n_each]];
    work.replay(&states[idx], idx, &mut moves)?;
    moves.reverse();
    Ok(Some(Rest { value, backwards: moves }))
}
