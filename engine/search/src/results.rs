//! What playouts came to for a role, and their mean: the one place where a mean is read.

use crate::count::Tally;
use crate::valuation::Valuation;

/// Playouts through a node or an edge, and the sum of a role's values over the finished ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Results {
    pub(crate) tally: Tally,
    /// In units of value.
    pub(crate) sum: u64,
}

impl Results {
    /// Of no playouts.
    pub(crate) const NONE: Results = Results { tally: Tally { visits: 0, in_flight: 0 }, sum: 0 };

    /// `sum` must have been read after `tally`: then it has the value of every visit.
    ///
    /// Under `credited` changes are being added to a sum. Of two changes the one that takes away may come first: then the
    /// sum is below nothing for a moment, which is far above all that there can be, and counts as nothing.
    pub(crate) fn new(tally: Tally, sum: u64) -> Results {
        Results { tally, sum: if sum.cast_signed() < 0 { 0 } else { sum } }
    }

    /// The mean in goal points; none without a finished playout.
    #[inline]
    pub(crate) fn mean(self, valuation: &Valuation) -> Option<f64> {
        let visits = self.tally.visits;
        (visits > 0).then(|| valuation.points(self.sum as f64 / visits as f64))
    }

    /// The mean in units of value, rounded half up and at most the largest value; 0 without a finished playout.
    pub(crate) fn mean_units(self, valuation: &Valuation) -> u64 {
        let n = self.tally.visits.max(1);
        (self.sum / n).saturating_add(u64::from(self.sum % n * 2 >= n)).min(valuation.full())
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::config::Aim;

    fn results(visits: u64, sum: u64) -> Results {
        Results::new(Tally { visits, in_flight: 1 }, sum)
    }

    #[test]
    fn a_mean_is_that_of_finished_playouts() {
        let valuation = Valuation::new(Aim::Own, 1.0, 100, 1);
        let unit = valuation.of_goal(1);
        assert_eq!(results(0, 0).mean(&valuation), None);
        assert_eq!(results(4, 10 * unit).mean(&valuation), Some(2.5));
        assert_eq!(results(0, 0).mean_units(&valuation), 0);
        assert_eq!([9, 10, 11].map(|sum| results(4, sum).mean_units(&valuation)), [2, 3, 3]);
    }

    #[test]
    fn a_mean_is_never_out_of_the_values_while_changes_are_added() {
        let valuation = Valuation::new(Aim::Own, 1.0, 100, 1);
        assert_eq!(results(3, 5u64.wrapping_sub(9)).mean(&valuation), Some(0.0));
        assert_eq!(results(1, 2 * valuation.full()).mean_units(&valuation), valuation.full());
    }
}
