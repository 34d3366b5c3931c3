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
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
#[inline]
fn below(count: __m512i, keys: &Keys, offset: u32, lane: usize) -> __m512i {
    assert!(lane + 32 <= keys.low.len() && keys.high.len() == keys.low.len());
    let offset = _mm512_set1_epi32(offset.cast_signed());
    let bits_of = |lane: usize| {
        // SAFETY: `lane` is at most the number of keys less 16.
        let (low, high) = unsafe {
            (
                _mm512_loadu_si512(keys.low.as_ptr().add(lane).cast()),
                _mm512_loadu_si512(keys.high.as_ptr().add(lane).cast()),
            )
        };
        mix(_mm512_add_epi32(low, offset), high)
    };
    let (a, b) = (bits_of(lane), bits_of(lane + 16));
    let low = _mm512_permutex2var_epi16(a, even_words(), b);
    let high = _mm512_permutex2var_epi16(a, odd_words(), b);
    // The high half of a product of 32 and 16 bits, from those of 16 and 16.
    let from_low = _mm512_mulhi_epu16(low, count);
    let middle = _mm512_mullo_epi16(high, count);
    let is_carried = _mm512_cmplt_epu16_mask(_mm512_add_epi16(middle, from_low), middle);
    let number = _mm512_mulhi_epu16(high, count);
    _mm512_mask_add_epi16(number, is_carried, number, _mm512_set1_epi16(1))
}

/// As [`Keys::set_series`], 16 lanes at a time.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn set_series<L: Lanes>(keys: &mut Keys, lanes: L, seed: u64, first: u32, begins: Begins) {
    const LANES_AT_ONCE: usize = 16;
    assert!(keys.low.len() == L::N && keys.high.len() == L::N && keys.begun.len() == L::N);
    let all = |word: u32| _mm512_set1_epi32(word.cast_signed());
    let [low_stride, high_stride] = Lot::SERIES_STRIDES.map(all);
    let [low, high] = Lot::halves(seed);
    let (low, high) = (all(low.wrapping_sub(begins.offset)), all(high));
    let numbers = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    let mut first = first;
    for (word_idx, word) in lanes.words().into_iter().enumerate().take(L::WORDS) {
        for part in 0..64 / LANES_AT_ONCE {
            #[allow(clippy::cast_possible_truncation, reason = "the other lanes are other parts")]
            let mask = (word >> (part * LANES_AT_ONCE)) as u16;
            let rollout = _mm512_add_epi32(all(first), _mm512_maskz_expand_epi32(mask, numbers));
            first = first.wrapping_add(mask.count_ones());
            let low = _mm512_add_epi32(low, _mm512_mullo_epi32(rollout, low_stride));
            let high = _mm512_add_epi32(high, _mm512_mullo_epi32(rollout, high_stride));
            let lane = word_idx * 64 + part * LANES_AT_ONCE;
            // SAFETY: `lane` is at most `L::N` - 16, and the keys have `L::N` words.
            unsafe {
                _mm512_mask_storeu_epi32(keys.low.as_mut_ptr().add(lane).cast(), mask, low);
                _mm512_mask_storeu_epi32(keys.high.as_mut_ptr().add(lane).cast(), mask, high);
                _mm512_mask_storeu_epi32(keys.begun.as_mut_ptr().add(lane).cast(), mask, all(begins.step));
            }
        }
    }
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

/// [`reasoner::Lot::mix`].
#[target_feature(enable = "avx512f")]
#[inline]
fn mix(low: __m512i, high: __m512i) -> __m512i {
    let x = _mm512_xor_si512(low, _mm512_srli_epi32(low, 16));
    let x = _mm512_add_epi32(_mm512_mullo_epi32(x, _mm512_set1_epi32(0x21f0_aaad)), high);
    let x = _mm512_xor_si512(x, _mm512_srli_epi32(x, 15));
    _mm512_mullo_epi32(x, _mm512_set1_epi32(0x735a_2d97))
}

/// Lanes in a vector register. Its operations must only be called where the features are on: within
/// [`with`](super::with), inlined.
macro_rules! register {
    ($name:ident, $level:expr, $words:literal, $register:ident, $and:ident, $and_not:ident, $or:ident, $xor:ident,
     $test:ident $is:tt 0, $doc:literal) => {
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
    "256 lanes, for AVX2."
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
    "512 lanes, for AVX-512."
);
