//! States as sets of bits.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// So many words have their place in the state itself: those of most board games with two kinds of pieces. A search that makes
/// hundreds of thousands of states a second feels each allocation, and each look beyond the state.
const INLINE_WORDS: usize = 3;

/// A state: one bit for each fluent that changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BitState(Words);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Words {
    /// The first so many; the others are 0.
    Few(u8, [u64; INLINE_WORDS]),
    Many(Arc<[u64]>),
}

impl Hash for BitState {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.words().hash(hasher);
    }
}

impl BitState {
    /// The state in which the bases of these numbers, out of `n_bases`, hold.
    pub(super) fn of(n_bases: usize, bases: impl Iterator<Item = usize>) -> BitState {
        let mut words = vec![0; n_bases.div_ceil(64)];
        bases.for_each(|base| words[base / 64] |= 1 << (base % 64));
        BitState::of_words(words.into_iter())
    }

    /// The state with these words, 64 bases in each.
    #[inline(always)]
    pub(super) fn of_words(words: impl ExactSizeIterator<Item = u64>) -> BitState {
        match u8::try_from(words.len()) {
            Ok(n) if usize::from(n) <= INLINE_WORDS => {
                let mut few = [0; INLINE_WORDS];
                few.iter_mut().zip(words).for_each(|(place, word)| *place = word);
                BitState(Words::Few(n, few))
            }
            _ => BitState(Words::Many(words.collect())),
        }
    }

    /// Its words, 64 bases in each.
    #[inline(always)]
    pub(super) fn words(&self) -> &[u64] {
        match &self.0 {
            Words::Few(n, words) => &words[..usize::from(*n)],
            Words::Many(words) => words,
        }
    }

    /// Bytes on the heap: what it holds, behind two counts.
    pub(super) fn heap_bytes(&self) -> usize {
        match &self.0 {
            Words::Few(..) => 0,
            Words::Many(words) => size_of_val(&**words) + 2 * size_of::<usize>(),
        }
    }

    /// Equality that looks at the address first.
    #[inline(always)]
    pub(super) fn is_same(&self, other: &BitState) -> bool {
        match (&self.0, &other.0) {
            (Words::Many(words), Words::Many(others)) => Arc::ptr_eq(words, others) || words == others,
            _ => self == other,
        }
    }

    /// Whether a base holds.
    #[inline(always)]
    pub(super) fn has(&self, base: usize) -> bool {
        self.words()[base / 64] >> (base % 64) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_hold_the_same_wherever_their_words_lie() {
        for n_bases in [0, 1, 64, 65, 192, 193, 700] {
            let held: Vec<usize> = (0..n_bases).filter(|base| base % 3 == 0).collect();
            let state = BitState::of(n_bases, held.iter().copied());
            assert!((0..n_bases).all(|base| state.has(base) == held.contains(&base)), "{n_bases} bases");
            assert_eq!(state.words().len(), n_bases.div_ceil(64));
            assert_eq!(state.heap_bytes() > 0, n_bases > INLINE_WORDS * 64);
            let again = BitState::of_words(state.words().to_vec().into_iter());
            assert!(again == state && again.is_same(&state) && state.clone().is_same(&again));
            if n_bases > 0 {
                let other = BitState::of(n_bases, held.iter().copied().skip(1));
                assert!(other != state && !other.is_same(&state));
            }
        }
    }
}
