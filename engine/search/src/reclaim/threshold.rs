//! How often a node must have been visited to stay, so that about half of what is used becomes free.

use std::hash::Hash;

use super::Fates;
use crate::graph::Graph;
use crate::node::NodeId;
use crate::orders::Orders;

/// Visits are told apart in classes, eight for each doubling.
const CLASSES_PER_DOUBLING: u32 = 8;
const FINE_BITS: u32 = CLASSES_PER_DOUBLING.ilog2();
const N_CLASSES: usize = 64 * CLASSES_PER_DOUBLING as usize;

/// The class of so many visits; it never falls when they rise.
fn class_of(visits: u64) -> usize {
    let bits = visits.max(1).ilog2();
    if bits < FINE_BITS {
        return crate::arena::usize_of(visits);
    }
    let fine = visits >> (bits - FINE_BITS);
    crate::arena::usize_of(u64::from((bits - FINE_BITS + 1) * CLASSES_PER_DOUBLING) + fine)
        - CLASSES_PER_DOUBLING as usize
}

/// The fewest visits of a class.
fn least_of(class: usize) -> u64 {
    let per = CLASSES_PER_DOUBLING as usize;
    if class < per {
        return class as u64;
    }
    let shift = class / per - 1;
    ((per + class % per) as u64).checked_shl(crate::arena::u32_of(shift)).unwrap_or(u64::MAX)
}

impl<S: Eq + Hash + Send + Sync, O: Orders> Graph<S, O> {
    /// The visits that a node must have to stay; none if at most half of the graph is alive anyway.
    pub(super) fn least_visits(&self, reachable: &Fates) -> Option<u64> {
        let record = self.record_bytes();
        let mut bytes = vec![0u64; N_CLASSES];
        let mut n_alive = 0u64;
        for id in reachable.alive() {
            let visits = self.node(id).count.read::<O>().visits;
            let n_edges = self.n_edges(id);
            let opening = if n_edges > 0 { record.opening } else { 0 };
            bytes[class_of(visits)] += record.node + n_edges * record.edge + opening;
            n_alive += 1;
        }
        let ids = (1..self.nodes.end()).map(|idx| NodeId(crate::arena::u32_of(idx)));
        let n_made = ids.filter(|&id| self.state_if_any(id).is_some()).count() as u64;
        // The others are taken to be as large.
        let half = bytes.iter().sum::<u64>() as f64 * n_made as f64 / n_alive.max(1) as f64 / 2.0;
        let mut kept = 0;
        for class in (0..N_CLASSES).rev() {
            kept += bytes[class];
            if kept as f64 > half {
                return Some(least_of(class + 1));
            }
        }
        None
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn classes_are_in_order_and_begin_with_their_fewest_visits() {
        let numbers = (0..200).chain([1 << 20, (1 << 20) + (1 << 17), (1 << 40) - 1]);
        let mut last = 0;
        for visits in numbers {
            let class = class_of(visits);
            assert!(class >= last && class < N_CLASSES, "{visits}");
            assert!(least_of(class) <= visits && visits < least_of(class + 1), "{visits} in {class}");
            last = class;
        }
    }
}
