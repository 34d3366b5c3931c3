//! Words of lanes: the value of one wire in 64, 256, 512 or 1024 states at once.
//!
//! The widths here are plain words and arrays; those made of vector registers are in [`kernel`](super::kernel).

use std::fmt::Debug;

use super::kernel::Level;

/// Words of the widest lanes.
pub(super) const MAX_WORDS: usize = 16;

/// One bit for each lane.
pub(super) trait Lanes: Copy + Debug + PartialEq + 'static {
    /// What the processor must have for them.
    const LEVEL: Level;
    /// 64-bit words.
    const WORDS: usize;
    /// No lane.
    const NONE: Self;
    /// Every lane.
    const ALL: Self;

    /// The lanes of both.
    fn and(self, other: Self) -> Self;
    /// The lanes of this that the other has not.
    fn and_not(self, other: Self) -> Self;
    /// The lanes of either.
    fn or(self, other: Self) -> Self;
    /// The lanes of exactly one.
    fn xor(self, other: Self) -> Self;
    /// Whether there is any lane.
    fn any(self) -> bool;
    /// 64 lanes.
    fn word(&self, word_idx: usize) -> u64;
    /// Replaces 64 lanes.
    fn set_word(&mut self, word_idx: usize, word: u64);

    /// These 64 lanes again and again.
    fn repeated(word: u64) -> Self;

    /// All lanes; words beyond [`Lanes::WORDS`] are 0.
    #[inline(always)]
    fn words(&self) -> [u64; MAX_WORDS] {
        let mut words = [0; MAX_WORDS];
        for (word_idx, word) in words.iter_mut().enumerate().take(Self::WORDS) {
            *word = self.word(word_idx);
        }
        words
    }

    /// The lanes of these words; those beyond [`Lanes::WORDS`] do not count.
    #[inline(always)]
    fn of_words(words: &[u64; MAX_WORDS]) -> Self {
        let mut lanes = Self::NONE;
        for (word_idx, &word) in words.iter().enumerate().take(Self::WORDS) {
            lanes.set_word(word_idx, word);
        }
        lanes
    }

    /// How many lanes there are at most.
    const N: usize = Self::WORDS * 64;

    /// The other lanes.
    #[inline(always)]
    fn not(self) -> Self {
        Self::ALL.and_not(self)
    }

    /// The lanes of this and of the complement of the other, together.
    #[inline(always)]
    fn or_not(self, other: Self) -> Self {
        self.or(other.not())
    }

    /// The complement, if so.
    #[inline(always)]
    fn not_if(self, is_negated: bool) -> Self {
        if is_negated { self.not() } else { self }
    }

    /// `a` where this is, `b` elsewhere.
    #[inline(always)]
    fn pick(self, a: Self, b: Self) -> Self {
        self.and(a).or(b.and_not(self))
    }

    /// The sum of three bits: the low bit.
    #[inline(always)]
    fn sum(a: Self, b: Self, c: Self) -> Self {
        a.xor(b).xor(c)
    }

    /// The sum of three bits: the high bit.
    #[inline(always)]
    fn carry(a: Self, b: Self, c: Self) -> Self {
        a.and(b).or(c.and(a.or(b)))
    }

    /// What `a - b - borrowed` borrows from the next bit.
    #[inline(always)]
    fn borrow(a: Self, b: Self, borrowed: Self) -> Self {
        b.or(borrowed).and_not(a).or(b.and(borrowed))
    }

    /// How many lanes there are.
    #[inline(always)]
    fn count(self) -> u32 {
        (0..Self::WORDS).map(|word_idx| self.word(word_idx).count_ones()).sum()
    }

    /// The first `n` of these lanes, or all.
    #[inline(always)]
    fn first(self, n: u32) -> Self {
        let mut rest = n;
        let mut words = self.words();
        for word in &mut words {
            while word.count_ones() > rest {
                *word &= !(1 << (63 - word.leading_zeros()));
            }
            rest -= word.count_ones();
        }
        Self::of_words(&words)
    }

    /// Calls `visit` for every lane, in ascending order.
    #[inline(always)]
    fn for_each(self, mut visit: impl FnMut(usize)) {
        for word_idx in 0..Self::WORDS {
            let mut rest = self.word(word_idx);
            while rest != 0 {
                visit(word_idx * 64 + rest.trailing_zeros() as usize);
                rest &= rest - 1;
            }
        }
    }

    /// Adds or removes one lane.
    #[inline(always)]
    fn set(&mut self, lane: usize, value: bool) {
        let word = self.word(lane / 64) & !(1 << (lane % 64)) | u64::from(value) << (lane % 64);
        self.set_word(lane / 64, word);
    }
}

/// Makes rows of columns: bit `j` of word `i` becomes bit `i` of word `j` (Warren 2012, Hacker's Delight, 7-3).
#[inline(always)]
pub(super) fn transpose(block: &mut [u64; 64]) {
    let mut width = 32;
    let mut mask = 0x0000_0000_ffff_ffffu64;
    while width > 0 {
        let mut row = 0;
        while row < 64 {
            for low in row..row + width {
                let swapped = (block[low] >> width ^ block[low + width]) & mask;
                block[low] ^= swapped << width;
                block[low + width] ^= swapped;
            }
            row += 2 * width;
        }
        width /= 2;
        mask ^= mask << width;
    }
}

/// 64 lanes for every processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lanes64(u64);

impl Lanes for Lanes64 {
    const LEVEL: Level = Level::Any;
    const WORDS: usize = 1;
    const NONE: Lanes64 = Lanes64(0);
    const ALL: Lanes64 = Lanes64(!0);

    #[inline(always)]
    fn and(self, other: Lanes64) -> Lanes64 {
        Lanes64(self.0 & other.0)
    }

    #[inline(always)]
    fn and_not(self, other: Lanes64) -> Lanes64 {
        Lanes64(self.0 & !other.0)
    }

    #[inline(always)]
    fn or(self, other: Lanes64) -> Lanes64 {
        Lanes64(self.0 | other.0)
    }

    #[inline(always)]
    fn xor(self, other: Lanes64) -> Lanes64 {
        Lanes64(self.0 ^ other.0)
    }

    #[inline(always)]
    fn any(self) -> bool {
        self.0 != 0
    }

    #[inline(always)]
    fn word(&self, word_idx: usize) -> u64 {
        debug_assert_eq!(word_idx, 0);
        self.0
    }

    #[inline(always)]
    fn set_word(&mut self, word_idx: usize, word: u64) {
        debug_assert_eq!(word_idx, 0);
        self.0 = word;
    }

    #[inline(always)]
    fn repeated(word: u64) -> Lanes64 {
        Lanes64(word)
    }
}

/// 256 lanes for every processor: four words, of which compilers make what vectors there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, align(32))]
pub(super) struct Lanes256([u64; 4]);

impl Lanes256 {
    #[inline(always)]
    fn zip(self, other: Lanes256, op: impl Fn(u64, u64) -> u64) -> Lanes256 {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
        Lanes256([op(a, e), op(b, f), op(c, g), op(d, h)])
    }
}

impl Lanes for Lanes256 {
    const LEVEL: Level = Level::Any;
    const WORDS: usize = 4;
    const NONE: Lanes256 = Lanes256([0; 4]);
    const ALL: Lanes256 = Lanes256([!0; 4]);

    #[inline(always)]
    fn and(self, other: Lanes256) -> Lanes256 {
        self.zip(other, |a, b| a & b)
    }

    #[inline(always)]
    fn and_not(self, other: Lanes256) -> Lanes256 {
        self.zip(other, |a, b| a & !b)
    }

    #[inline(always)]
    fn or(self, other: Lanes256) -> Lanes256 {
        self.zip(other, |a, b| a | b)
    }

    #[inline(always)]
    fn xor(self, other: Lanes256) -> Lanes256 {
        self.zip(other, |a, b| a ^ b)
    }

    #[inline(always)]
    fn any(self) -> bool {
        let [a, b, c, d] = self.0;
        a | b | c | d != 0
    }

    #[inline(always)]
    fn word(&self, word_idx: usize) -> u64 {
        self.0[word_idx]
    }

    #[inline(always)]
    fn set_word(&mut self, word_idx: usize, word: u64) {
        self.0[word_idx] = word;
    }

    #[inline(always)]
    fn repeated(word: u64) -> Lanes256 {
        Lanes256([word; 4])
    }
}

/// Twice the lanes of another width: fewer decisions for each, where the wires still fit the caches.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C)]
pub(super) struct Pair<L>(L, L);

impl<L: Lanes> Lanes for Pair<L> {
    const LEVEL: Level = L::LEVEL;
    const WORDS: usize = 2 * L::WORDS;
    const NONE: Pair<L> = Pair(L::NONE, L::NONE);
    const ALL: Pair<L> = Pair(L::ALL, L::ALL);

    #[inline(always)]
    fn and(self, other: Pair<L>) -> Pair<L> {
        Pair(self.0.and(other.0), self.1.and(other.1))
    }

    #[inline(always)]
    fn and_not(self, other: Pair<L>) -> Pair<L> {
        Pair(self.0.and_not(other.0), self.1.and_not(other.1))
    }

    #[inline(always)]
    fn or(self, other: Pair<L>) -> Pair<L> {
        Pair(self.0.or(other.0), self.1.or(other.1))
    }

    #[inline(always)]
    fn xor(self, other: Pair<L>) -> Pair<L> {
        Pair(self.0.xor(other.0), self.1.xor(other.1))
    }

    #[inline(always)]
    fn pick(self, a: Pair<L>, b: Pair<L>) -> Pair<L> {
        Pair(self.0.pick(a.0, b.0), self.1.pick(a.1, b.1))
    }

    #[inline(always)]
    fn sum(a: Pair<L>, b: Pair<L>, c: Pair<L>) -> Pair<L> {
        Pair(L::sum(a.0, b.0, c.0), L::sum(a.1, b.1, c.1))
    }

    #[inline(always)]
    fn carry(a: Pair<L>, b: Pair<L>, c: Pair<L>) -> Pair<L> {
        Pair(L::carry(a.0, b.0, c.0), L::carry(a.1, b.1, c.1))
    }

    #[inline(always)]
    fn borrow(a: Pair<L>, b: Pair<L>, borrowed: Pair<L>) -> Pair<L> {
        Pair(L::borrow(a.0, b.0, borrowed.0), L::borrow(a.1, b.1, borrowed.1))
    }

    #[inline(always)]
    fn or_not(self, other: Pair<L>) -> Pair<L> {
        Pair(self.0.or_not(other.0), self.1.or_not(other.1))
    }

    #[inline(always)]
    fn any(self) -> bool {
        self.0.or(self.1).any()
    }

    #[inline(always)]
    fn word(&self, word_idx: usize) -> u64 {
        match word_idx.checked_sub(L::WORDS) {
            None => self.0.word(word_idx),
            Some(word_idx) => self.1.word(word_idx),
        }
    }

    #[inline(always)]
    fn set_word(&mut self, word_idx: usize, word: u64) {
        match word_idx.checked_sub(L::WORDS) {
            None => self.0.set_word(word_idx, word),
            Some(word_idx) => self.1.set_word(word_idx, word),
        }
    }

    #[inline(always)]
    fn repeated(word: u64) -> Pair<L> {
        Pair(L::repeated(word), L::repeated(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transposed_block_has_its_bits_mirrored() {
        let mut block: [u64; 64] =
            std::array::from_fn(|row| (row as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let rows = block;
        transpose(&mut block);
        for (i, row) in rows.iter().enumerate() {
            for (j, column) in block.iter().enumerate() {
                assert_eq!(row >> j & 1, column >> i & 1, "row {i}, column {j}");
            }
        }
    }
}
