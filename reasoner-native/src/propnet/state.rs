//! States as sets of bits.

use std::sync::Arc;

/// A state: one bit for each fluent that changes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BitState(Arc<[u64]>);

impl BitState {
    /// The state in which the bases of these numbers, out of `n_bases`, hold.
    pub(super) fn of(n_bases: usize, bases: impl Iterator<Item = usize>) -> BitState {
        let mut words = vec![0; n_bases.div_ceil(64)];
        bases.for_each(|base| words[base / 64] |= 1 << (base % 64));
        BitState(words.into())
    }

    /// The state with these words, 64 bases in each.
    #[inline(always)]
    pub(super) fn of_words(words: impl Iterator<Item = u64>) -> BitState {
        BitState(words.collect())
    }

    /// Its words, 64 bases in each.
    #[inline(always)]
    pub(super) fn words(&self) -> &[u64] {
        &self.0
    }

    /// Bytes on the heap: what it holds, behind two counts.
    pub(super) fn heap_bytes(&self) -> usize {
        size_of_val(&*self.0) + 2 * size_of::<usize>()
    }

    /// Equality that looks at the address first.
    #[inline(always)]
    pub(super) fn is_same(&self, other: &BitState) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self == other
    }

    /// Whether a base holds.
    #[inline(always)]
    pub(super) fn has(&self, base: usize) -> bool {
        self.0[base / 64] >> (base % 64) & 1 == 1
    }
}
