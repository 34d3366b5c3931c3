//! Visits and in-flight playouts in one word.

use crate::arena::Overwrite;
use crate::orders::Orders;
use crate::sync::{AtomicU64, Ordering};

/// The low bits hold what is in flight: [`MAX_THREADS`](crate::MAX_THREADS) batches of
/// [`MAX_IN_FLIGHT`](crate::MAX_IN_FLIGHT) rollouts. The other 40 count visits: thirty hours at ten million a second.
const IN_FLIGHT_BITS: u32 = 24;
const VISIT: u64 = 1 << IN_FLIGHT_BITS;

/// How often a node or edge was passed, and how many playouts through it are unfinished.
///
/// One word, so that finishing a playout is one addition and selection reads a consistent pair.
///
/// # Orderings
/// Entering and leaving are `Relaxed`: what is in flight only guides selection. Finishing is
/// [`Orders::COUNT`] and reading [`Orders::WEIGH`]: whoever sees a visit sees its value in the sums, so a
/// mean is never too low for lack of a value that was counted.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

/// What a [`Count`] held at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Finished playouts.
    pub(crate) visits: u64,
    /// Unfinished ones.
    pub(crate) in_flight: u64,
}

impl Tally {
    fn of(word: u64) -> Tally {
        Tally { visits: word >> IN_FLIGHT_BITS, in_flight: word & (VISIT - 1) }
    }

    /// Finished and unfinished.
    pub(crate) fn total(self) -> u64 {
        self.visits + self.in_flight
    }
}

impl Overwrite for Count {
    fn overwrite(&self, other: &Count) {
        self.0.overwrite(&other.0);
    }
}

impl Count {
    /// A playout of so many visits comes by; what was there before it.
    pub(crate) fn enter(&self, weight: u64) -> Tally {
        Tally::of(self.0.fetch_add(weight, Ordering::Relaxed))
    }

    /// A playout that came by is given up.
    pub(crate) fn leave(&self, weight: u64) {
        self.0.fetch_sub(weight, Ordering::Relaxed);
    }

    /// A playout that came by is finished, and its values are in the sums.
    pub(crate) fn finish<O: Orders>(&self, weight: u64) {
        self.finish_some::<O>(weight, weight);
    }

    /// A playout that came by is finished, and this many visits are now, its own among them. Whoever is told a larger
    /// number has seen what all who were told smaller ones did before.
    pub(crate) fn finish_in_order<O: Orders>(&self, weight: u64) -> u64 {
        Tally::of(self.0.fetch_add(weight * (VISIT - 1), O::CREDIT)).visits + weight
    }

    /// Playouts of so many visits are finished, `landed` of which came by.
    pub(crate) fn finish_some<O: Orders>(&self, visits: u64, landed: u64) {
        self.0.fetch_add(visits * VISIT - landed, O::COUNT);
    }

    /// A playout that did not come by is counted all the same.
    pub(crate) fn add<O: Orders>(&self, weight: u64) {
        self.finish_some::<O>(weight, 0);
    }

    /// Takes so many finished playouts away, while nobody else is there.
    pub(crate) fn retract(&self, visits: u64) {
        self.0.fetch_sub(visits * VISIT, Ordering::Relaxed);
    }

    /// What is there now.
    pub(crate) fn read<O: Orders>(&self) -> Tally {
        Tally::of(self.0.load(O::WEIGH))
    }
}
