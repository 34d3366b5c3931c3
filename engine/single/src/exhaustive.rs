//! All states that can be reached, level by level, each once: the best line among all is the optimum.
//!
//! It gives up when the states do not fit its memory. A state that is reached again, on its level or a later one, is
//! left out: whatever follows it was seen where it came first, and a line through there is as good.

use std::hash::{BuildHasher, Hash};
use std::ops::Range;
use std::sync::Arc;

use reasoner::{Expansion, Move, Reasoner, Session, Value};
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::outsider::{self, Outsider, Patience};
use crate::solver::{Ending, Halt, Solver};
use crate::work::{Work, goal_of};

/// The most states that are expanded in one question.
const CHUNK: usize = 1024;
/// About so many successors are asked for in one question: with more, a run would end late in games of many moves.
const SUCCESSORS: usize = 4096;
/// States that take more bytes are those of a net with a fluent for each of thousands of things of which few hold: there
/// another reasoner sees more of them, and sees them sooner. Of pancakes88 the propnet's take 5 kB each, and in a second 8 to
/// 10 thousand are expanded, against 160 thousand of the interpreter's.
const LARGE_STATE: usize = 1024;

/// Expands everything once.
#[derive(Debug)]
pub(crate) struct Exhaustive {
    elsewhere: Option<Arc<dyn Outsider>>,
    patience: Patience,
}

impl Exhaustive {
    /// With another reasoner for games whose states are large, if there is one.
    pub(crate) fn new(elsewhere: Option<Arc<dyn Outsider>>) -> Exhaustive {
        Exhaustive { elsewhere, patience: Patience::default() }
    }
}

/// On whose behalf states are expanded.
pub(crate) trait Client<R: Reasoner> {
    /// Who knows the states.
    fn reasoner(&self) -> &R;

    /// Who answers.
    fn session(&mut self) -> &mut R::Session;

    /// Bytes that may be taken.
    fn max_bytes(&self) -> usize;

    /// Whether a line of this value would be the best.
    fn would_take(&self, value: Value) -> bool;

    /// Offers a line to `value`.
    fn offer(&mut self, moves: &[Move], value: Value) -> Result<(), Halt>;

    /// Takes note of states that are expanded.
    fn note(&mut self, n_playouts: usize);

    /// Lets others work if it is their turn.
    fn go_on(&mut self) -> Result<(), Halt>;
}

impl<R: Reasoner> Client<R> for Work<'_, R> {
    fn reasoner(&self) -> &R {
        self.reasoner
    }

    fn session(&mut self) -> &mut R::Session {
        self.session
    }

    fn max_bytes(&self) -> usize {
        self.max_bytes
    }

    fn would_take(&self, value: Value) -> bool {
        self.best.would_take(value)
    }

    fn offer(&mut self, moves: &[Move], _: Value) -> Result<(), Halt> {
        Work::offer(self, moves).map(|_| ())
    }

    fn note(&mut self, n_playouts: usize) {
        Work::note(self, n_playouts);
    }

    fn go_on(&mut self) -> Result<(), Halt> {
        Work::go_on(self, 0)
    }
}

/// All states met, in order of their levels.
struct Met<S> {
    states: Vec<S>,
    /// The predecessor's place, and the move.
    steps: Vec<(u32, Move)>,
    /// By hash, the last place with it; the places before it follow by `same_hash`.
    places: FxHashMap<u64, u32>,
    same_hash: Vec<u32>,
    /// Bytes that the states own.
    heap: usize,
}

const NONE: u32 = u32::MAX;

impl<S: Eq + Hash> Met<S> {
    fn new() -> Met<S> {
        Met {
            states: Vec::new(),
            steps: Vec::new(),
            places: FxHashMap::default(),
            same_hash: Vec::new(),
            heap: 0,
        }
    }

    /// Bytes that all of it takes.
    fn bytes(&self) -> usize {
        /// A table has eight slots for seven entries, and a byte beside each.
        const SLOT: usize = (size_of::<(u64, u32)>() + 1) * 8 / 7;
        self.heap
            + self.states.capacity() * size_of::<S>()
            + self.steps.capacity() * size_of::<(u32, Move)>()
            + self.same_hash.capacity() * size_of::<u32>()
            + self.places.capacity() * SLOT
    }

    /// Adds a state that owns so many bytes, unless it is there.
    fn add(&mut self, state: S, heap: usize, step: (u32, Move)) {
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
        self.heap += heap;
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

impl<R: Reasoner> Solver<R> for Exhaustive {
    fn solve(&mut self, work: &mut Work<'_, R>) -> Result<Ending, Halt> {
        if self.patience.is_too_early(work.run_idx()) {
            return Ok(Ending::GaveUp);
        }
        let elsewhere = self.elsewhere.as_deref().filter(|_| work.bytes_of(work.root) > LARGE_STATE);
        let ending = match elsewhere {
            Some(elsewhere) => outsider::solve(elsewhere, work)?,
            None => {
                let root = work.root;
                expand_all(work, root)?
            }
        };
        self.patience.note(work.run_idx(), ending);
        Ok(ending)
    }
}

/// Sees all states that can be reached.
pub(crate) fn expand_all<R: Reasoner>(client: &mut impl Client<R>, root: &R::State) -> Result<Ending, Halt> {
    let mut met = Met::new();
    met.add(root.clone(), client.reasoner().heap_bytes(root), (0, Move(0)));
    let mut level = Level::default();
    let mut begin = 0;
    let most_wide = CHUNK.min(client.reasoner().n_side_by_side().max(16));
    let mut width = 1;
    while begin < met.states.len() {
        let end = (begin + width).min(met.states.len());
        client.note(end - begin);
        level.widen(client, &mut met, begin..end)?;
        // As many successors as the chunk before had for each state.
        width = (SUCCESSORS * (end - begin) / level.moves.len().max(1)).clamp(1, most_wide);
        if met.bytes() > client.max_bytes() || met.states.len() > NONE as usize - SUCCESSORS * CHUNK {
            return Ok(Ending::GaveUp);
        }
        client.go_on()?;
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
        client: &mut impl Client<R>,
        met: &mut Met<S>,
        chunk: Range<usize>,
    ) -> Result<(), Halt> {
        client.session().expand_all(&met.states[chunk.clone()], &mut self.expansions)?;
        self.before.clear();
        self.steps.clear();
        self.moves.clear();
        for (idx, expansion) in chunk.zip(&mut self.expansions) {
            let at = u32::try_from(idx).unwrap_or(NONE);
            if expansion.moves.is_empty() {
                if !expansion.terminal {
                    client.session().goals(&met.states[idx], &mut expansion.goals)?;
                }
                let value = goal_of(&expansion.goals);
                if client.would_take(value) {
                    client.offer(&met.way(at), value)?;
                }
                continue;
            }
            self.moves.extend_from_slice(&expansion.moves);
            self.steps.extend(expansion.moves.iter().map(|&a_move| (at, a_move)));
            self.before.extend(expansion.moves.iter().map(|_| met.states[idx].clone()));
        }
        client.session().next_states(&self.before, &self.moves, &mut self.next)?;
        for (state, &step) in self.next.drain(..).zip(&self.steps) {
            let heap = client.reasoner().heap_bytes(&state);
            met.add(state, heap, step);
        }
        Ok(())
    }
}
