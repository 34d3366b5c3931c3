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

#[cfg(test)]
mod tests {
    use super::*;

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
        let chi_square: f64 = counts.iter().map(|&n| (f64::from(n) - 1e4).powi(2) / 1e4).sum();
        // The 99.9 % point at 6 degrees of freedom.
        assert!(chi_square < 22.46, "{counts:?}");
    }
}
