//! What becomes of each node: a bit that says whether it stays, and how many stay below it.
//!
//! Two words for 64 nodes, so that the fates of a million nodes lie in a cache while edges ask for them at random.

use super::prepare;
use crate::arena::u32_of;
use crate::node::NodeId;
use crate::sync::{AtomicU64, Ordering};

/// Nodes whose bits lie in one word.
pub(super) const PER_WORD: usize = 64;

/// Words of marks or fates that a thread looks at in a row: what it writes, it writes beside what it wrote before.
pub(super) const WORDS_AT_ONCE: usize = 64;

/// A set of nodes, or of items of another arena, that threads add to.
///
/// # Orderings
/// `Relaxed`: a bit says nothing about anything else.
#[derive(Debug, Default)]
pub(super) struct Marks(Vec<AtomicU64>);

impl Marks {
    /// None of `n`.
    pub(super) fn new(n: usize) -> Marks {
        let mut marks = Marks::default();
        marks.begin(n);
        marks
    }

    /// Begins with none of `n`.
    pub(super) fn begin(&mut self, n: usize) {
        self.0.clear();
        self.0.resize_with(n.div_ceil(PER_WORD), AtomicU64::default);
    }

    /// Takes memory for so many; see [`prepare`].
    pub(super) fn prepare(&mut self, n: usize, bytes_left: &mut usize) {
        prepare(&mut self.0, n.div_ceil(PER_WORD), bytes_left);
    }

    /// Adds a node; whether it was not there before.
    pub(super) fn add(&self, id: NodeId) -> bool {
        let bit = 1 << (id.idx() % PER_WORD);
        // Looking first: others are met often.
        let word = &self.0[id.idx() / PER_WORD];
        word.load(Ordering::Relaxed) & bit == 0 && word.fetch_or(bit, Ordering::Relaxed) & bit == 0
    }

    /// Adds several of a word's nodes; those that were not there before.
    pub(super) fn add_all(&self, word_idx: usize, bits: u64) -> u64 {
        bits & !self.0[word_idx].fetch_or(bits, Ordering::Relaxed)
    }

    pub(super) fn word(&self, word_idx: usize) -> u64 {
        self.0[word_idx].load(Ordering::Relaxed)
    }

    pub(super) fn n_words(&self) -> usize {
        self.0.len()
    }
}

/// The places in a word whose bits are set, from the lowest on.
pub(super) fn bits_of(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let at = word.trailing_zeros() as usize;
        word &= word.wrapping_sub(1);
        (at < PER_WORD).then_some(at)
    })
}

/// The fates of 64 nodes.
#[derive(Debug, Clone, Copy, Default)]
struct Word {
    stays: u64,
    /// The new id of the first that stays.
    first: u32,
}

/// The fates of all nodes, by their old ids.
#[derive(Debug, Default)]
pub(super) struct Fates(Vec<Word>);

impl Fates {
    /// Takes memory for so many nodes; see [`prepare`].
    pub(super) fn prepare(&mut self, n_nodes: usize, bytes_left: &mut usize) {
        prepare(&mut self.0, n_nodes.div_ceil(PER_WORD), bytes_left);
    }

    /// Those that are marked stay, in order, under ids from `start` on.
    pub(super) fn decide(&mut self, marks: &Marks, start: usize) {
        let mut next = u32_of(start);
        let number = |word_idx| {
            let (stays, first) = (marks.word(word_idx), next);
            next += stays.count_ones();
            Word { stays, first }
        };
        self.0.clear();
        self.0.extend((0..marks.n_words()).map(number));
    }

    /// The new id of a node that stays.
    #[inline]
    pub(super) fn of(&self, id: NodeId) -> Option<NodeId> {
        let new = if id.idx() / PER_WORD < self.0.len() { self.of_or_none(id) } else { NodeId(0) };
        (new != NodeId(0)).then_some(new)
    }

    /// The new id of a node that stays; id 0, which names none, for one that does not, and for itself. No branch depends on
    /// that: nobody could foretell it, and there are millions of edges to ask for.
    #[inline]
    pub(super) fn of_or_none(&self, id: NodeId) -> NodeId {
        let word = self.0[id.idx() / PER_WORD];
        let at = id.idx() % PER_WORD;
        let stays = u32::from(word.stays >> at & 1 == 1);
        NodeId(stays * (word.first + (word.stays & ((1 << at) - 1)).count_ones()))
    }

    pub(super) fn is_alive(&self, id: NodeId) -> bool {
        self.of(id).is_some()
    }

    /// The old ids of those that stay, in order.
    pub(super) fn alive(&self) -> impl Iterator<Item = NodeId> {
        (0..self.0.len()).flat_map(|word_idx| self.alive_in(word_idx))
    }

    /// The same of 64 nodes.
    pub(super) fn alive_in(&self, word_idx: usize) -> impl Iterator<Item = NodeId> {
        bits_of(self.0[word_idx].stays).map(move |at| NodeId(u32_of(word_idx * PER_WORD + at)))
    }

    pub(super) fn n_words(&self) -> usize {
        self.0.len()
    }

    /// All new ids lie below.
    pub(super) fn end(&self) -> usize {
        self.0.last().map_or(0, |word| (word.first + word.stays.count_ones()) as usize)
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn those_that_stay_are_numbered_in_order() {
        let marks = Marks::new(300);
        let staying = [3, 63, 64, 130, 299].map(NodeId);
        assert!(staying.iter().all(|&id| marks.add(id)) && !marks.add(NodeId(64)));
        let mut fates = Fates::default();
        fates.decide(&Marks::new(5000), 70);
        fates.decide(&marks, 10);
        assert_eq!(fates.alive().collect::<Vec<_>>(), staying);
        assert_eq!(staying.map(|id| fates.of(id)), [10, 11, 12, 13, 14].map(|id| Some(NodeId(id))));
        assert_eq!([0, 3, 4].map(|id| fates.of_or_none(NodeId(id))), [0, 10, 0].map(NodeId));
        assert!(!fates.is_alive(NodeId(4)) && !fates.is_alive(NodeId(5000)));
        assert_eq!(fates.end(), 15);
    }
}
