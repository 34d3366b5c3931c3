//! What is particular to x86-64: vector registers as lanes, and the drawing of numbers with them.

use std::arch::x86_64::*;

use reasoner::Lot;

use super::super::lanes::Lanes;
use super::{Begins, Keys, Level};

/// As [`super::draw`], for counts below 2^16.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
pub(super) fn draw<L: Lanes>(counts: &[L], keys: &Keys, offset: u32, numbers: &mut [L]) {
    // With few planes, their bits stay in registers, and what the compiler knows, it unrolls.
    match counts.len() {
        1 => draw_bytes::<L, 1>(counts, keys, offset, numbers),
        2 => draw_bytes::<L, 2>(counts, keys, offset, numbers),
        3 => draw_bytes::<L, 3>(counts, keys, offset, numbers),
        4 => draw_bytes::<L, 4>(counts, keys, offset, numbers),
        5 => draw_bytes::<L, 5>(counts, keys, offset, numbers),
        6 => draw_bytes::<L, 6>(counts, keys, offset, numbers),
        7 => draw_bytes::<L, 7>(counts, keys, offset, numbers),
        8 => draw_bytes::<L, 8>(counts, keys, offset, numbers),
        _ => draw_words(counts, keys, offset, numbers),
    }
}

/// As [`draw`], 64 lanes at a time, with so many planes, at most 8: counts and numbers are bytes on their way from
/// planes and back, so that each plane takes half the masks that words take.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
fn draw_bytes<L: Lanes, const N_PLANES: usize>(counts: &[L], keys: &Keys, offset: u32, numbers: &mut [L]) {
    assert!(size_of::<L>() == L::WORDS * size_of::<u64>() && counts.len() == N_PLANES);
    // A register's words stand in memory in the order of its lanes.
    let (in_planes, out_planes) = (counts.as_ptr().cast::<u64>(), numbers.as_mut_ptr().cast::<u64>());
    let n_numbers = numbers.len().min(N_PLANES);
    let mut bits = [_mm512_set1_epi8(1); N_PLANES];
    for plane in 1..N_PLANES {
        bits[plane] = _mm512_add_epi8(bits[plane - 1], bits[plane - 1]);
    }
    // Registers are unpacked and packed in quarters: what will be the quarters of two, in turn.
    let in_turn = _mm512_set_epi64(7, 3, 6, 2, 5, 1, 4, 0);
    let in_order = _mm512_set_epi64(7, 5, 3, 1, 6, 4, 2, 0);
    for word in 0..L::WORDS {
        let mut count = _mm512_setzero_si512();
        for (plane, &bit) in bits.iter().enumerate() {
            // SAFETY: each plane has `L::WORDS` words.
            let mask = unsafe { *in_planes.add(plane * L::WORDS + word) };
            count = _mm512_mask_add_epi8(count, mask, count, bit);
        }
        let count = _mm512_permutexvar_epi64(in_turn, count);
        let first = _mm512_unpacklo_epi8(count, _mm512_setzero_si512());
        let second = _mm512_unpackhi_epi8(count, _mm512_setzero_si512());
        let first = below(first, keys, offset, word * 64);
        let second = below(second, keys, offset, word * 64 + 32);
        let number = _mm512_permutexvar_epi64(in_order, _mm512_packus_epi16(first, second));
        for (plane, &bit) in bits.iter().enumerate().take(n_numbers) {
            let mask = _mm512_test_epi8_mask(number, bit);
            // SAFETY: each plane has `L::WORDS` words.
            unsafe { *out_planes.add(plane * L::WORDS + word) = mask };
        }
    }
}

/// As [`draw`], 32 lanes at a time.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
fn draw_words<L: Lanes>(counts: &[L], keys: &Keys, offset: u32, numbers: &mut [L]) {
    const LANES_AT_ONCE: usize = 32;
    let n_chunks = L::N / LANES_AT_ONCE;
    assert!(size_of::<L>() == n_chunks * 4);
    // A register's words stand in memory in the order of its lanes.
    let (in_planes, out_planes) = (counts.as_ptr().cast::<u32>(), numbers.as_mut_ptr().cast::<u32>());
    let n_numbers = numbers.len().min(counts.len());
    let bit = |plane: usize| _mm512_set1_epi16(1i16 << plane);
    for chunk in 0..n_chunks {
        let mut count = _mm512_setzero_si512();
        for plane in 0..counts.len() {
            // SAFETY: each plane has `n_chunks` such words.
            let mask = unsafe { *in_planes.add(plane * n_chunks + chunk) };
            count = _mm512_mask_add_epi16(count, mask, count, bit(plane));
        }
        let number = below(count, keys, offset, chunk * LANES_AT_ONCE);
        for plane in 0..n_numbers {
            let mask = _mm512_test_epi16_mask(number, bit(plane));
            // SAFETY: each plane has `n_chunks` such words.
            unsafe { *out_planes.add(plane * n_chunks + chunk) = mask };
        }
    }
}

/// The numbers that 32 lanes from `lane` on draw below these counts, in words.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn below(count: __m512i, keys: &Keys, offset: u32, lane: usize) -> __m512i {
    assert!(lane + 32 <= keys.begun.len());
    let mut words = [_mm512_setzero_si512(); 4];
    for (word, of_lanes) in words.iter_mut().zip(&keys.words) {
        // SAFETY: there are as many words of each kind as numbers of steps, so 32 from `lane` on.
        *word = unsafe { _mm512_loadu_si512(of_lanes.as_ptr().add(lane).cast()) };
    }
    let one = _mm512_set1_epi16(1);
    // The sum of halves, by words.
    let [offset_low, offset_high] = Lot::words(offset).map(|word| _mm512_set1_epi16(word.cast_signed()));
    words[0] = _mm512_add_epi16(words[0], offset_low);
    words[1] = _mm512_add_epi16(words[1], offset_high);
    let is_carried = _mm512_cmplt_epu16_mask(words[0], offset_low);
    words[1] = _mm512_mask_add_epi16(words[1], is_carried, words[1], one);
    let [low, high] = mix(words);
    // The high half of a product of 32 and 16 bits, from those of 16 and 16.
    let from_low = _mm512_mulhi_epu16(low, count);
    let middle = _mm512_mullo_epi16(high, count);
    let is_carried = _mm512_cmplt_epu16_mask(_mm512_add_epi16(middle, from_low), middle);
    let number = _mm512_mulhi_epu16(high, count);
    _mm512_mask_add_epi16(number, is_carried, number, one)
}

/// [`reasoner::Lot::mix`].
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn mix([w0, w1, w2, w3]: [__m512i; 4]) -> [__m512i; 2] {
    let multiplier = _mm512_set1_epi16(Lot::MULTIPLIER.cast_signed());
    let (low, high) = (_mm512_mullo_epi16(w0, multiplier), _mm512_mulhi_epu16(w0, multiplier));
    let one_factor = _mm512_xor_si512(_mm512_xor_si512(high, w1), w2);
    let other = _mm512_or_si512(low, _mm512_set1_epi16(1));
    let product = _mm512_mullo_epi16(one_factor, other);
    [low, _mm512_xor_si512(_mm512_xor_si512(product, w3), low)]
}

/// As [`Keys::set_series`], 32 lanes at a time.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
pub(super) fn set_series<L: Lanes>(keys: &mut Keys, lanes: L, seed: u64, first: u32, begins: Begins) {
    const LANES_AT_ONCE: usize = 32;
    assert!(keys.begun.len() == L::N && keys.words.iter().all(|words| words.len() == L::N));
    let mut first = first;
    for (word_idx, word) in lanes.words().into_iter().enumerate().take(L::WORDS) {
        for part in 0..64 / LANES_AT_ONCE {
            #[allow(clippy::cast_possible_truncation, reason = "the other lanes are other parts")]
            let mask = (word >> (part * LANES_AT_ONCE)) as u32;
            if mask == 0 {
                continue;
            }
            let [half, other_half] = Lot::words(mask);
            let [low, high] = seeds_in_series(half, seed, first, begins);
            let [other_low, other_high] =
                seeds_in_series(other_half, seed, first.wrapping_add(half.count_ones()), begins);
            first = first.wrapping_add(mask.count_ones());
            let words = [
                _mm512_permutex2var_epi16(low, even_words(), other_low),
                _mm512_permutex2var_epi16(low, odd_words(), other_low),
                _mm512_permutex2var_epi16(high, even_words(), other_high),
                _mm512_permutex2var_epi16(high, odd_words(), other_high),
            ];
            let step = _mm512_set1_epi32(begins.step.cast_signed());
            let lane = word_idx * 64 + part * LANES_AT_ONCE;
            // SAFETY: `lane` is at most `L::N` - 32, and the keys have `L::N` words of each kind.
            unsafe {
                for (of_lanes, word) in keys.words.iter_mut().zip(words) {
                    _mm512_mask_storeu_epi16(of_lanes.as_mut_ptr().add(lane).cast(), mask, word);
                }
                let begun = keys.begun.as_mut_ptr().add(lane);
                _mm512_mask_storeu_epi32(begun.cast(), half, step);
                _mm512_mask_storeu_epi32(begun.add(16).cast(), other_half, step);
            }
        }
    }
}

/// The halves of the seeds of a series from its `first` rollout on, for the lanes of a mask, the lower one moved back.
#[target_feature(enable = "avx512f")]
#[inline]
fn seeds_in_series(mask: u16, seed: u64, first: u32, begins: Begins) -> [__m512i; 2] {
    let [low, high] = Lot::halves(Lot::seed_in_series(seed, first));
    let starts = [low.wrapping_sub(begins.offset), high];
    let mut halves = [_mm512_setzero_si512(); 2];
    for (half, (start, stride)) in halves.iter_mut().zip(starts.into_iter().zip(Lot::SERIES_STRIDES)) {
        let multiples = multiples(stride);
        let start = _mm512_set1_epi32(start.cast_signed());
        *half = _mm512_add_epi32(start, _mm512_maskz_expand_epi32(mask, multiples));
    }
    halves
}

/// 0 to 15 times a number.
#[target_feature(enable = "avx512f")]
#[inline]
fn multiples(number: u32) -> __m512i {
    let numbers = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    _mm512_mullo_epi32(numbers, _mm512_set1_epi32(number.cast_signed()))
}

/// The indexes of the low halves of 32-bit words.
#[target_feature(enable = "avx512f")]
#[inline]
fn even_words() -> __m512i {
    let words: [u16; 32] = [
        0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 42, 44, 46, 48, 50,
        52, 54, 56, 58, 60, 62,
    ];
    // SAFETY: both are as many plain bits.
    unsafe { std::mem::transmute(words) }
}

/// The indexes of the high halves.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn odd_words() -> __m512i {
    _mm512_add_epi16(even_words(), _mm512_set1_epi16(1))
}

/// The tables of what is the first, the second and the third of three bits: [`of_three`] takes what is made of them.
const ONE: i32 = 0xf0;
const TWO: i32 = 0xcc;
const THREE: i32 = 0xaa;
const ALL: i32 = 0xff;

/// What a table says of three bits, in one instruction; compilers do not find it for more than two operations. To be
/// called where the features are on, as the operations of [`X512`].
#[inline(always)]
fn of_three<const TABLE: i32>(a: X512, b: X512, c: X512) -> X512 {
    // SAFETY: called where the features are on.
    X512(unsafe { _mm512_ternarylogic_epi64::<TABLE>(a.0, b.0, c.0) })
}

/// Lanes in a vector register. Its operations must only be called where the features are on: within
/// [`with`](super::with), inlined.
macro_rules! register {
    ($name:ident, $level:expr, $words:literal, $register:ident, $and:ident, $and_not:ident, $or:ident, $xor:ident,
     $test:ident $is:tt 0, $doc:literal, { $($of_three:item)* }) => {
        #[doc = $doc]
        #[derive(Debug, Clone, Copy)]
        #[repr(transparent)]
        pub(in super::super) struct $name($register);

        impl $name {
            #[inline(always)]
            fn to_array(self) -> [u64; $words] {
                // SAFETY: both are as many plain bits.
                unsafe { std::mem::transmute(self.0) }
            }

            const fn of(words: [u64; $words]) -> $name {
                // SAFETY: both are as many plain bits.
                $name(unsafe { std::mem::transmute::<[u64; $words], $register>(words) })
            }
        }

        impl PartialEq for $name {
            #[inline(always)]
            fn eq(&self, other: &$name) -> bool {
                self.to_array() == other.to_array()
            }
        }

        impl Lanes for $name {
            const LEVEL: Level = $level;
            const WORDS: usize = $words;
            const NONE: $name = $name::of([0; $words]);
            const ALL: $name = $name::of([!0; $words]);

            #[inline(always)]
            fn and(self, other: $name) -> $name {
                // SAFETY: called where the features are on.
                $name(unsafe { $and(self.0, other.0) })
            }

            #[inline(always)]
            fn and_not(self, other: $name) -> $name {
                // SAFETY: as above.
                $name(unsafe { $and_not(other.0, self.0) })
            }

            #[inline(always)]
            fn or(self, other: $name) -> $name {
                // SAFETY: as above.
                $name(unsafe { $or(self.0, other.0) })
            }

            #[inline(always)]
            fn xor(self, other: $name) -> $name {
                // SAFETY: as above.
                $name(unsafe { $xor(self.0, other.0) })
            }

            #[inline(always)]
            fn any(self) -> bool {
                // SAFETY: as above.
                unsafe { $test(self.0, self.0) $is 0 }
            }

            #[inline(always)]
            fn word(&self, word_idx: usize) -> u64 {
                self.to_array()[word_idx]
            }

            #[inline(always)]
            fn set_word(&mut self, word_idx: usize, word: u64) {
                let mut words = self.to_array();
                words[word_idx] = word;
                *self = $name::of(words);
            }

            #[inline(always)]
            fn repeated(word: u64) -> $name {
                $name::of([word; $name::WORDS])
            }

            $($of_three)*
        }
    };
}

register!(
    X256,
    Level::Avx2,
    4,
    __m256i,
    _mm256_and_si256,
    _mm256_andnot_si256,
    _mm256_or_si256,
    _mm256_xor_si256,
    _mm256_testz_si256 == 0,
    "256 lanes, for AVX2.",
    {}
);
register!(
    X512,
    Level::Avx512,
    8,
    __m512i,
    _mm512_and_si512,
    _mm512_andnot_si512,
    _mm512_or_si512,
    _mm512_xor_si512,
    _mm512_test_epi64_mask != 0,
    "512 lanes, for AVX-512.",
    {
        #[inline(always)]
        fn or_not(self, other: X512) -> X512 {
            of_three::<{ ONE | ALL ^ TWO }>(self, other, other)
        }

        #[inline(always)]
        fn pick(self, a: X512, b: X512) -> X512 {
            of_three::<{ ONE & TWO | (ALL ^ ONE) & THREE }>(self, a, b)
        }

        #[inline(always)]
        fn sum(a: X512, b: X512, c: X512) -> X512 {
            of_three::<{ ONE ^ TWO ^ THREE }>(a, b, c)
        }

        #[inline(always)]
        fn carry(a: X512, b: X512, c: X512) -> X512 {
            of_three::<{ ONE & TWO | THREE & (ONE | TWO) }>(a, b, c)
        }

        #[inline(always)]
        fn borrow(a: X512, b: X512, borrowed: X512) -> X512 {
            of_three::<{ (ALL ^ ONE) & (TWO | THREE) | TWO & THREE }>(a, b, borrowed)
        }
    }
);
