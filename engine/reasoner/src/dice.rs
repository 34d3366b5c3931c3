//! Random numbers, one stream per seed.

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A stream of random numbers that depends on its seed alone, on every machine.
#[derive(Debug, Clone)]
pub struct Dice(Xoshiro256PlusPlus);

impl Dice {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Dice {
        Dice(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// The seed of the `counter`th child of `seed`: one for each rollout of a search, so that any of them
    /// can be played again. (Steele, Lea and Flood 2014, SplitMix64's finaliser.)
    pub fn child_seed(seed: u64, counter: u64) -> u64 {
        let mut z = seed.wrapping_add(counter.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A uniform index below `n` (bias below n / 2^64).
    ///
    /// # Panics
    /// In debug builds, if `n` is 0.
    #[allow(clippy::cast_possible_truncation, reason = "the high half is below n")]
    pub fn below(&mut self, n: usize) -> usize {
        debug_assert!(n > 0, "there is nothing to choose from");
        ((u128::from(self.0.next_u64()) * n as u128) >> 64) as usize
    }

    /// A uniform number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        // The 53 high bits are all that a double holds.
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }
}

/// The random number of one choice in a rollout: it depends on the rollout's seed and on which choice it is,
/// alone, so that a reasoner may play many rollouts side by side, in any order, and any one of them can be played
/// again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lot {
    seed: u64,
    choice: u32,
}

impl Lot {
    /// What the number of a choice is multiplied by (the golden ratio, as in SplitMix64).
    pub const STRIDE: u32 = 0x9e37_79b9;

    /// The lot of the `choice`th choice of a rollout. The choices of all roles are counted, forced ones too: that
    /// of a role in a step is number `step * n_roles + role`.
    pub fn new(seed: u64, choice: u32) -> Lot {
        Lot { seed, choice }
    }

    /// What the halves of a seed are moved by from one rollout of a series to the next (the multipliers of
    /// MurmurHash3's finaliser: odd, and far from [`Lot::STRIDE`]).
    pub const SERIES_STRIDES: [u32; 2] = [0x85eb_ca6b, 0xc2b2_ae35];

    /// The seed of the `rollout`th rollout of a series. 32 bits wide, since processors multiply these in lanes.
    pub fn seed_in_series(seed: u64, rollout: u32) -> u64 {
        let [low, high] = Lot::halves(seed);
        let [low_stride, high_stride] = Lot::SERIES_STRIDES;
        let low = low.wrapping_add(rollout.wrapping_mul(low_stride));
        let high = high.wrapping_add(rollout.wrapping_mul(high_stride));
        u64::from(high) << 32 | u64::from(low)
    }

    /// 32 random bits, the high ones the best.
    fn bits(self) -> u32 {
        let [low, high] = Lot::halves(self.seed);
        let [w0, w1] = Lot::words(low.wrapping_add(self.choice.wrapping_mul(Lot::STRIDE)));
        let [w2, w3] = Lot::words(high);
        let [low, high] = Lot::mix([w0, w1, w2, w3]);
        u32::from(high) << 16 | u32::from(low)
    }

    /// The low and the high half of a seed.
    #[allow(clippy::cast_possible_truncation, reason = "the halves are taken apart")]
    pub fn halves(seed: u64) -> [u32; 2] {
        [seed as u32, (seed >> 32) as u32]
    }

    /// The low and the high word of a half.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "the words are taken apart")]
    pub fn words(half: u32) -> [u16; 2] {
        [half as u16, (half >> 16) as u16]
    }

    /// What [`Lot::mix`] multiplies by (that of Philox 2x32, Salmon et al. 2011, cut to 16 bits).
    pub const MULTIPLIER: u16 = 0xd251;

    /// Hashes the words of a seed, low words first, with the choice added into the low half, to two words; the bits of
    /// the high word are the best, and its high bits the best of them. 16 bits wide, since processors multiply twice as
    /// many of these in lanes as of 32 bits. (A round of Philox, then a product of what it yields, which no constant
    /// makes as hard to foresee. For any high half, each result comes from exactly one low half.)
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "the halves of the product are taken apart")]
    pub fn mix([w0, w1, w2, w3]: [u16; 4]) -> [u16; 2] {
        let product = u32::from(w0) * u32::from(Lot::MULTIPLIER);
        let (low, high) = (product as u16, (product >> 16) as u16);
        [low, (high ^ w1 ^ w2).wrapping_mul(low | 1) ^ w3 ^ low]
    }

    /// A uniform index below `n` (bias below n / 2^32).
    ///
    /// # Panics
    /// In debug builds, if `n` is 0.
    #[allow(clippy::cast_possible_truncation, reason = "the high half is below n")]
    pub fn below(self, n: usize) -> usize {
        debug_assert!(n > 0, "there is nothing to choose from");
        ((u64::from(self.bits()) * n as u64) >> 32) as usize
    }

    /// A stream of random numbers for a choice that needs more than one.
    pub fn dice(self) -> Dice {
        Dice::new(Dice::child_seed(self.seed, u64::from(self.choice)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The 99.9 % point of chi-square at 6 degrees of freedom.
    const CHI_SQUARE_6: f64 = 22.46;

    fn chi_square(counts: [u32; 7]) -> f64 {
        let expected = f64::from(counts.iter().sum::<u32>()) / 7.0;
        counts.iter().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum()
    }

    #[test]
    fn lots_of_one_rollout_are_uniform() {
        let mut counts = [0u32; 7];
        (0..70_000).for_each(|choice| counts[Lot::new(42, choice).below(7)] += 1);
        assert!(chi_square(counts) < CHI_SQUARE_6, "{counts:?}");
    }

    #[test]
    fn first_lots_of_many_rollouts_are_uniform() {
        for seed in 0..4 {
            let mut counts = [0u32; 7];
            for rollout in 0..70_000 {
                counts[Lot::new(Dice::child_seed(seed, rollout), 1).below(7)] += 1;
            }
            assert!(chi_square(counts) < CHI_SQUARE_6, "{seed}: {counts:?}");
        }
    }

    /// How far the pairs of numbers `lag` apart are from uniform, in standard deviations.
    fn deviation_of_pairs(numbers: &[usize], n: usize, lag: usize) -> f64 {
        let mut counts = vec![0u32; n * n];
        numbers.iter().zip(&numbers[lag..]).for_each(|(a, b)| counts[a * n + b] += 1);
        let expected = (numbers.len() - lag) as f64 / counts.len() as f64;
        let chi_square: f64 = counts.iter().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum();
        let freedom = counts.len() as f64 - 1.0;
        (chi_square - freedom) / (2.0 * freedom).sqrt()
    }

    #[test]
    fn lots_of_a_rollout_and_of_a_series_are_uniform_and_independent() {
        for seed in [0, 1, Dice::child_seed(7, 0)] {
            for n in [2, 3, 7, 16, 30, 64] {
                let of_rollout = |number| Lot::new(seed, number).below(n);
                let of_series = |number| Lot::new(Lot::seed_in_series(seed, number), 5).below(n);
                let of_both = |number| Lot::new(Lot::seed_in_series(seed, number / 40), number % 40).below(n);
                let of_seeds = |number| Lot::new(seed + u64::from(number), 5).below(n);
                let of_seeds_and_roles = |number| Lot::new(seed + u64::from(number / 4), number % 4).below(n);
                let of_children = |number| Lot::new(Dice::child_seed(seed, u64::from(number)), 5).below(n);
                let all: [&dyn Fn(u32) -> usize; 6] =
                    [&of_rollout, &of_series, &of_both, &of_seeds, &of_seeds_and_roles, &of_children];
                for (what, lot) in all.into_iter().enumerate() {
                    let numbers: Vec<usize> = (0..200_000).map(lot).collect();
                    for lag in [1, 2, 3, 4, 8, 16, 32, 40] {
                        let deviation = deviation_of_pairs(&numbers, n, lag);
                        assert!(deviation < 6.0, "seed {seed}, below {n}, {what}, lag {lag}: {deviation}");
                    }
                }
            }
        }
    }

    #[test]
    fn for_any_high_half_each_number_comes_from_one_low_half() {
        for high in [0, 0x1234_5678] {
            let [w2, w3] = Lot::words(high);
            for w0 in [0, 1, 0x8000, 0xffff] {
                let mut is_met = vec![false; 1 << 16];
                for w1 in 0..=u16::MAX {
                    let [low, high] = Lot::mix([w0, w1, w2, w3]);
                    assert_eq!(low, w0.wrapping_mul(Lot::MULTIPLIER));
                    assert!(!std::mem::replace(&mut is_met[usize::from(high)], true));
                }
            }
        }
    }

    #[test]
    fn equal_seeds_give_equal_streams() {
        let draw = |seed| {
            let mut dice = Dice::new(seed);
            (0..8).map(|_| dice.below(1000)).collect::<Vec<_>>()
        };
        assert_eq!(draw(7), draw(7));
        assert_ne!(draw(7), draw(Dice::child_seed(7, 0)));
        assert_ne!(Dice::child_seed(7, 0), Dice::child_seed(7, 1));
    }

    #[test]
    fn every_index_comes_about_equally_often() {
        let mut dice = Dice::new(1);
        let mut counts = [0u32; 7];
        (0..70_000).for_each(|_| counts[dice.below(7)] += 1);
        assert!(chi_square(counts) < CHI_SQUARE_6, "{counts:?}");
    }
}
