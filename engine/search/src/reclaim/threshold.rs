//! How often a node must have been visited to stay, so that about half of what is used becomes free.

use std::hash::Hash;

use reasoner::Interrupt;

use super::fates::{Marks, PER_WORD, WORDS_AT_ONCE};
use super::prepare;
use crate::graph::{Graph, RecordBytes};
use crate::node::{Node, Status};
use crate::orders::Orders;
use crate::sync::Mutex;
use crate::threads::{Part, do_all, for_each};

/// Visits are told apart in classes, eight for each doubling.
const CLASSES_PER_DOUBLING: u32 = 8;
const FINE_BITS: u32 = CLASSES_PER_DOUBLING.ilog2();
/// As many as a byte tells apart: all from 2^34 visits on are of the last.
const N_CLASSES: usize = 256;

/// The class of so many visits; it never falls when they rise.
fn class_of(visits: u64) -> u8 {
    let bits = visits.max(1).ilog2();
    let class = if bits < FINE_BITS {
        visits
    } else {
        u64::from((bits - FINE_BITS) * CLASSES_PER_DOUBLING) + (visits >> (bits - FINE_BITS))
    };
    u8::try_from(class).unwrap_or(u8::MAX)
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
    bytes: [u64; N_CLASSES],
    n_nodes: u64,
}

impl Default for Worths {
    fn default() -> Worths {
        Worths { bytes: [0; N_CLASSES], n_nodes: 0 }
    }
}

impl Worths {
    /// Adds a node; the class of its visits.
    pub(super) fn add(&mut self, visits: u64, bytes: u64) -> u8 {
        let class = class_of(visits);
        self.bytes[usize::from(class)] += bytes;
        self.n_nodes += 1;
        class
    }

    pub(super) fn add_all(&mut self, others: &Worths) {
        self.bytes.iter_mut().zip(&others.bytes).for_each(|(bytes, more)| *bytes += more);
        self.n_nodes += others.n_nodes;
    }

    /// The visits that a node must have to stay, where these nodes are all that can and `n_made` were made in all; none if
    /// at most half of the graph would stay anyway.
    pub(super) fn least_visits(&self, n_made: u64) -> Option<u64> {
        // The others are taken to be as large.
        self.least_class(n_made as f64 / self.n_nodes.max(1) as f64).map(least_of)
    }

    /// The class of those visits, where there are `times` as many nodes.
    fn least_class(&self, times: f64) -> Option<usize> {
        let half = self.bytes.iter().sum::<u64>() as f64 * times / 2.0;
        let mut kept = 0;
        for class in (0..N_CLASSES).rev() {
            kept += self.bytes[class];
            if kept as f64 > half {
                return Some(class + 1);
            }
        }
        None
    }
}

/// The class of each node's visits, so that nodes themselves are read once.
#[derive(Debug, Default)]
pub(super) struct Classes(Vec<u8>);

impl Classes {
    /// Takes memory for so many nodes; see [`prepare`].
    pub(super) fn prepare(&mut self, n_nodes: usize, bytes_left: &mut usize) {
        prepare(&mut self.0, n_nodes, bytes_left);
    }

    /// Writes down those of all nodes, and tells what they are worth. A node without visits is taken for one that was never made.
    pub(super) fn note<S: Eq + Hash + Send + Sync, O: Orders>(
        &mut self,
        graph: &Graph<S, O>,
        n_threads: usize,
        stop: &Interrupt,
    ) -> Option<Worths> {
        let worths = Mutex::new(Worths::default());
        self.0.clear();
        self.0.resize(graph.nodes.end(), 0);
        let record = graph.record_bytes();
        let chunks =
            self.0.chunks_mut(graph.nodes.items.chunk_len()).enumerate().map(|(chunk_idx, classes)| {
                let (worths, record) = (&worths, &record);
                Box::new(move || {
                    if stop.is_raised() {
                        return;
                    }
                    let mut mine = Worths::default();
                    for (class, node) in classes.iter_mut().zip(graph.nodes.items.chunk(chunk_idx)) {
                        let visits = node.count.read::<O>().visits;
                        if visits > 0 {
                            *class = mine.add(visits, Graph::<S, O>::bytes_of(record, node));
                        }
                    }
                    worths.lock().add_all(&mine);
                }) as Part<'_>
            });
        do_all(chunks.collect(), n_threads);
        (!stop.is_raised()).then(|| std::mem::take(&mut *worths.lock()))
    }

    /// Marks those nodes that must stay for about half of what is used to become free.
    pub(super) fn mark_upper_half(&self, worths: &Worths, n_threads: usize, marks: &mut Marks) {
        let least = worths.least_class(1.0).unwrap_or(1);
        marks.begin(self.0.len());
        let marks = &*marks;
        let part_len = WORDS_AT_ONCE * PER_WORD;
        for_each(self.0.len().div_ceil(part_len), n_threads, |part| {
            let words = self.0[part * part_len..].chunks(PER_WORD).take(WORDS_AT_ONCE);
            for (word_idx, classes) in (part * WORDS_AT_ONCE..).zip(words) {
                let stays = |&class: &u8| u64::from(usize::from(class) >= least);
                marks.add_all(word_idx, classes.iter().rev().fold(0, |bits, class| bits << 1 | stays(class)));
            }
        });
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
        let numbers = (0..200).chain([1 << 20, (1 << 20) + (1 << 17), (1 << 34) - 1]);
        let mut last = 0;
        for visits in numbers {
            let class = usize::from(class_of(visits));
            assert!(class >= last, "{visits}");
            assert!(least_of(class) <= visits && visits < least_of(class + 1), "{visits} in {class}");
            last = class;
        }
    }
}
