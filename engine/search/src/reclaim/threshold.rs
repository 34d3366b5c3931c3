//! How often a node must have been visited to stay, so that about half of what is used becomes free.

use std::hash::Hash;

use reasoner::Interrupt;

use crate::graph::{Graph, RecordBytes};
use crate::node::{Node, Status};
use crate::orders::Orders;
use crate::sync::Mutex;
use crate::threads::for_each;

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

/// The bytes of nodes, by classes of their visits.
#[derive(Debug)]
pub(super) struct Worths {
    bytes: Vec<u64>,
    n_nodes: u64,
}

impl Default for Worths {
    fn default() -> Worths {
        Worths { bytes: vec![0; N_CLASSES], n_nodes: 0 }
    }
}

impl Worths {
    pub(super) fn add(&mut self, visits: u64, bytes: u64) {
        self.bytes[class_of(visits)] += bytes;
        self.n_nodes += 1;
    }

    pub(super) fn add_all(&mut self, others: &Worths) {
        self.bytes.iter_mut().zip(&others.bytes).for_each(|(bytes, more)| *bytes += more);
        self.n_nodes += others.n_nodes;
    }

    pub(super) fn n_nodes(&self) -> u64 {
        self.n_nodes
    }

    /// The visits that a node must have to stay, where these nodes are all that can and `n_made` were made in all; none if
    /// at most half of the graph would stay anyway.
    pub(super) fn least_visits(&self, n_made: u64) -> Option<u64> {
        // The others are taken to be as large.
        let half = self.bytes.iter().sum::<u64>() as f64 * n_made as f64 / self.n_nodes.max(1) as f64 / 2.0;
        let mut kept = 0;
        for class in (0..N_CLASSES).rev() {
            kept += self.bytes[class];
            if kept as f64 > half {
                return Some(least_of(class + 1));
            }
        }
        None
    }
}

impl<S: Eq + Hash + Send + Sync, O: Orders> Graph<S, O> {
    /// What a node takes, with its edges.
    pub(super) fn bytes_of(record: &RecordBytes, node: &Node) -> u64 {
        if node.status::<O>() == Status::Open {
            record.node + u64::from(node.opening().n_edges) * record.edge + record.opening
        } else {
            record.node
        }
    }

    /// All nodes that were made.
    pub(super) fn worths_of_all(&self, n_threads: usize, stop: &Interrupt) -> Option<Worths> {
        let worths = Mutex::new(Worths::default());
        let chunk_len = self.nodes.items.chunk_len();
        for_each(self.nodes.end().div_ceil(chunk_len), n_threads, |chunk_idx| {
            if stop.is_raised() {
                return;
            }
            let (mut mine, record) = (Worths::default(), self.record_bytes());
            let nodes = self.nodes.items.chunk(chunk_idx).iter().zip(self.states.chunk(chunk_idx));
            for (node, _) in nodes.filter(|(_, state)| state.get().is_some()) {
                mine.add(node.count.read::<O>().visits, Self::bytes_of(&record, node));
            }
            worths.lock().add_all(&mine);
        });
        (!stop.is_raised()).then(|| std::mem::take(&mut *worths.lock()))
    }

    /// How many nodes were made.
    pub(super) fn n_made(&self) -> u64 {
        let chunks =
            (0..self.nodes.end().div_ceil(self.nodes.items.chunk_len())).map(|idx| self.states.chunk(idx));
        chunks.map(|states| states.iter().filter(|state| state.get().is_some()).count() as u64).sum()
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
