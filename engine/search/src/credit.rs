//! What an edge credits its node with: `credited`, a rule of this project. GRAPH.md tells why.
//!
//! A node's sum of values is that of the playouts that ended there, and of its edges' credits. An edge's credit for a
//! role is n q: how often the edge was passed, and the mean of its child when it was last looked at. Of two looks the
//! one with the larger n has seen all that the other has, so it alone counts.

use crate::orders::Orders;
use crate::sync::{AtomicU64, Ordering};

/// The low bits hold q, at most [`MAX_UNITS`](crate::valuation::MAX_UNITS); the other 40 hold n. Sums of values have a
/// bit less for them, so that what is below nothing can be told.
const Q_BITS: u32 = 24;

/// A credit: `n` times `q`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Credit {
    pub(crate) n: u64,
    /// In units of value.
    pub(crate) q: u64,
}

impl Credit {
    pub(crate) fn of(word: u64) -> Credit {
        Credit { n: word >> Q_BITS, q: word & ((1 << Q_BITS) - 1) }
    }

    fn word(self) -> u64 {
        self.n << Q_BITS | self.q
    }

    /// What it adds to its node's sum.
    pub(crate) fn product(self) -> u64 {
        self.n * self.q
    }
}

/// Replaces the credit in `word` by `n` times `q` if it is of fewer playouts; what its node's sum must change by,
/// modulo 2^64.
///
/// # Orderings
/// `Relaxed`: n decides who is right, and it was taken with [`Orders::CREDIT`].
pub(crate) fn renew<O: Orders>(word: &AtomicU64, new: Credit) -> u64 {
    let mut held = word.load(Ordering::Relaxed);
    while O::takes_credit(Credit::of(held).n, new.n) {
        match word.compare_exchange_weak(held, new.word(), Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => return new.product().wrapping_sub(Credit::of(held).product()),
            Err(others) => held = others,
        }
    }
    0
}

/// Adds so many playouts of this value together to a credit whose edge leads to no node; what its node's sum must
/// change by, modulo 2^64.
pub(crate) fn append(word: &AtomicU64, value: u64, weight: u64) -> u64 {
    let mut held = word.load(Ordering::Relaxed);
    loop {
        let old = Credit::of(held);
        let n = old.n + weight;
        let new = Credit { n, q: (old.product() + value + n / 2) / n };
        match word.compare_exchange_weak(held, new.word(), Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => return new.product().wrapping_sub(old.product()),
            Err(others) => held = others,
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::orders::Sound;

    #[test]
    fn a_credit_of_fewer_playouts_never_replaces_one_of_more() {
        let word = AtomicU64::new(0);
        assert_eq!(renew::<Sound>(&word, Credit { n: 2, q: 10 }), 20);
        assert_eq!(renew::<Sound>(&word, Credit { n: 1, q: 1000 }), 0);
        assert_eq!(renew::<Sound>(&word, Credit { n: 3, q: 4 }), 12u64.wrapping_sub(20));
        assert_eq!(Credit::of(word.load(Ordering::Relaxed)), Credit { n: 3, q: 4 });
    }

    #[test]
    fn playouts_behind_no_node_add_up_to_their_mean() {
        let word = AtomicU64::new(0);
        let mut sum = 0u64;
        for value in [10, 20, 60] {
            sum = sum.wrapping_add(append(&word, value, 1));
        }
        assert_eq!(Credit::of(word.load(Ordering::Relaxed)), Credit { n: 3, q: 30 });
        assert_eq!(sum, 90);
    }

    #[test]
    fn the_largest_counts_and_means_fit() {
        let credit = Credit { n: (1 << 40) - 1, q: crate::valuation::MAX_UNITS };
        assert_eq!(Credit::of(credit.word()), credit);
        assert!(credit.product() < u64::MAX);
    }
}
