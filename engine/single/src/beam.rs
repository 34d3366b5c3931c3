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
            match search(work, width)? {
                Cut::Nothing => return Ok(Ending::Proved),
                Cut::Worse => width = (width * 2).min(MAX_WIDTH as usize),
                Cut::NoRoom => {}
            }
        }
    }
}

/// What a beam left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cut {
    /// So all lines have been seen.
    Nothing,
    /// States that did not look as good.
    Worse,
    /// States for which there was no memory: a wider beam is of no use.
    NoRoom,
}

/// How much memory a beam takes.
struct Room {
    max_bytes: usize,
    /// Of states, besides what they own: in their level, among the candidates, and in the table of those.
    each: usize,
    /// Of the level, and of the ways to it.
    held: usize,
    candidates: usize,
}

impl Room {
    fn new<S>(max_bytes: usize) -> Room {
        /// A table has eight slots for seven entries, and a byte beside each; vectors double.
        const GROWTH: usize = 2;
        let each = GROWTH * (size_of::<(S, u32)>() + size_of::<Candidate<S>>() + size_of::<S>() + 1);
        Room { max_bytes, each, held: 0, candidates: 0 }
    }

    /// A level of states that own so many bytes is widened next.
    fn begin_level(&mut self, n_steps: usize, n_states: usize, heap: usize) {
        self.held = 2 * n_steps * size_of::<Step>() + n_states * self.each + heap;
        self.candidates = 0;
    }

    fn add_candidate(&mut self, heap: usize) {
        self.candidates += self.each + heap;
    }

    fn is_full(&self) -> bool {
        self.held + self.candidates > self.max_bytes
    }
}

/// One beam from the root to the end.
fn search<R: Reasoner>(work: &mut Work<'_, R>, width: usize) -> Result<Cut, Halt> {
    let mut steps: Vec<Step> = Vec::new();
    let mut level = vec![(work.root.clone(), START)];
    let mut room = Room::new::<R::State>(work.max_bytes);
    let mut cut = Cut::Nothing;
    while !level.is_empty() {
        let heap = level.iter().map(|(state, _)| work.reasoner.heap_bytes(state)).sum();
        room.begin_level(steps.len(), level.len(), heap);
        if 2 * steps.len() * size_of::<Step>() > work.max_bytes {
            return Ok(Cut::NoRoom);
        }
        let (mut candidates, are_all) = widen(work, &level, &steps, &mut room)?;
        if !are_all {
            cut = Cut::NoRoom;
        }
        if candidates.len() > width {
            cut = if cut == Cut::Nothing { Cut::Worse } else { cut };
            judge(work, &mut candidates, &steps)?;
            let worth = |it: &Candidate<R::State>| std::cmp::Reverse((it.sum, it.top, it.lot));
            candidates.select_nth_unstable_by_key(width - 1, worth);
            candidates.truncate(width);
        }
        level.clear();
        for candidate in candidates {
            let at = u32::try_from(steps.len()).unwrap_or(START);
            steps.push(candidate.step);
            level.push((candidate.state, at));
        }
    }
    Ok(cut)
}

/// What a level is widened to, and whether there was room for all of it.
type Widened<S> = (Vec<Candidate<S>>, bool);

/// The successors of a level, each state once; the ends among the level are offered.
fn widen<R: Reasoner>(
    work: &mut Work<'_, R>,
    level: &[(R::State, u32)],
    steps: &[Step],
    room: &mut Room,
) -> Result<Widened<R::State>, Halt> {
    let mut seen = FxHashSet::default();
    let mut candidates = Vec::new();
    for (state, at) in level {
        if room.is_full() && !candidates.is_empty() {
            return Ok((candidates, false));
        }
        work.note(1);
        match work.expand(state)? {
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
                        room.add_candidate(work.reasoner.heap_bytes(&child));
                        candidates.push(Candidate { state: child, step, sum: 0, top: 0, lot });
                    }
                }
            }
        }
        work.go_on(0)?;
    }
    Ok((candidates, true))
}

/// Plays rollouts from all of them.
fn judge<R: Reasoner>(
    work: &mut Work<'_, R>,
    candidates: &mut [Candidate<R::State>],
    steps: &[Step],
) -> Result<(), Halt> {
    let n_side_by_side = work.reasoner.n_side_by_side();
    let n_each = ROLLOUTS.min(n_side_by_side);
    for group in candidates.chunks_mut((n_side_by_side / n_each).max(1)) {
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
