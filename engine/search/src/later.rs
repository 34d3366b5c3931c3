//! What moves were worth that came later: the "all moves as first" values of RAVE (Gelly and Silver 2007).

use std::hash::BuildHasher;

use reasoner::Move;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::arena::{Arena, Block, Meter, Overwrite, u32_of};
use crate::node::NodeId;
use crate::orders::Orders;
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use crate::table::{Found, Table, spread};

/// All playouts through a node in which a role made a move there or later.
///
/// # Orderings
/// The key is written, `Relaxed`, before the table publishes the record; `n` and `sum` are `Relaxed`, since they only
/// guide choices.
#[derive(Debug, Default)]
struct Record {
    node: AtomicU32,
    role: AtomicU32,
    a_move: AtomicU32,
    n: AtomicU64,
    sum: AtomicU64,
}

impl Overwrite for Record {
    fn overwrite(&self, other: &Record) {
        let Record { node, role, a_move, n, sum } = self;
        node.overwrite(&other.node);
        role.overwrite(&other.role);
        a_move.overwrite(&other.a_move);
        n.overwrite(&other.n);
        sum.overwrite(&other.sum);
    }
}

/// The records of all nodes.
#[derive(Debug)]
pub(crate) struct LaterMoves {
    records: Arena<Record>,
    table: Table,
}

/// How often a move came later, and the sum of its role's values then.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct LaterTally {
    pub(crate) n: u64,
    pub(crate) sum: u64,
}

impl LaterMoves {
    /// For graphs of these sizes.
    pub(crate) fn new(n_chunks: usize, chunk_bits: u32, table: Table) -> LaterMoves {
        LaterMoves { records: Arena::new(n_chunks, chunk_bits, 512), table }
    }

    /// Whether its table should be larger.
    pub(crate) fn wants_larger_table(&self) -> bool {
        self.table.wants_more_for(self.records.end())
    }

    /// Makes its table larger, while nobody else is there.
    pub(crate) fn grow_table<O: Orders>(&mut self, meter: &Meter, n_threads: usize) {
        self.table.grow::<O>(meter, n_threads);
    }

    fn is(&self, index: u32, node: NodeId, role: u32, a_move: Move) -> bool {
        let record = self.records.items.at(index as usize);
        record.node.load(Ordering::Relaxed) == node.0
            && record.role.load(Ordering::Relaxed) == role
            && record.a_move.load(Ordering::Relaxed) == a_move.0
    }

    fn hash(node: NodeId, role: u32, a_move: Move) -> u64 {
        spread(FxBuildHasher.hash_one((node, role, a_move)))
    }

    /// A playout through the node, in which the role made the move there or later, had this value. Without room it
    /// is not counted.
    pub(crate) fn add<O: Orders>(
        &self,
        block: &mut Block,
        meter: &Meter,
        (node, role, a_move): (NodeId, u32, Move),
        value: u64,
    ) {
        let lookup = self.table.find_or_insert::<O>(
            Self::hash(node, role, a_move),
            meter,
            |index| self.is(index, node, role, a_move),
            || {
                let index = self.records.reserve(block, 1, meter)?;
                let record = self.records.items.at(index as usize);
                record.node.store(node.0, Ordering::Relaxed);
                record.role.store(role, Ordering::Relaxed);
                record.a_move.store(a_move.0, Ordering::Relaxed);
                Some(index)
            },
        );
        let index = match lookup.found {
            Found::There(index) | Found::Inserted(index) | Found::Lost { winner: index, .. } => index,
            Found::Full => 0,
        };
        if index != 0 {
            let record = self.records.items.at(index as usize);
            record.sum.fetch_add(value, Ordering::Relaxed);
            record.n.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Keeps the records of nodes that live on, under their new ids; those of the others are gone.
    pub(crate) fn follow<O: Orders>(&mut self, forward: impl Fn(NodeId) -> Option<NodeId>, meter: &Meter) {
        self.table.clear();
        let mut places = self.records.places();
        for from in places.end()..self.records.end() {
            let node = self.records.items.get(from).map(|record| NodeId(record.node.load(Ordering::Relaxed)));
            let Some(node) = node.and_then(&forward) else { continue };
            let to = places.take(1);
            self.records.items.slide(from, to, 1, meter);
            let record = self.records.items.at(to);
            record.node.store(node.0, Ordering::Relaxed);
            let role = record.role.load(Ordering::Relaxed);
            let a_move = Move(record.a_move.load(Ordering::Relaxed));
            // One that finds no place is never found again, and falls at the next time.
            self.table.insert::<O>(Self::hash(node, role, a_move), meter, u32_of(to));
        }
        self.records.end_at(places.end(), meter);
    }

    /// What is known of a role's move at a node or later.
    pub(crate) fn get<O: Orders>(&self, node: NodeId, role: u32, a_move: Move) -> LaterTally {
        let found =
            self.table.find::<O>(Self::hash(node, role, a_move), |index| self.is(index, node, role, a_move));
        found.map_or(LaterTally::default(), |index| {
            let record = self.records.items.at(index as usize);
            let n = record.n.load(Ordering::Relaxed);
            LaterTally { n, sum: record.sum.load(Ordering::Relaxed) }
        })
    }
}

/// The moves of one playout, each with the last step in which it was made.
#[derive(Debug, Default)]
pub(crate) struct MovesMade {
    last: FxHashMap<(u32, Move), usize>,
}

impl MovesMade {
    pub(crate) fn clear(&mut self) {
        self.last.clear();
    }

    /// The role makes the move in this step; steps come in order.
    pub(crate) fn add(&mut self, role: u32, a_move: Move, step: usize) {
        self.last.insert((role, a_move), step);
    }

    /// The moves made in this step or later, in no particular order.
    pub(crate) fn since(&self, step: usize) -> impl Iterator<Item = (u32, Move)> {
        self.last.iter().filter(move |&(_, &last)| last >= step).map(|(&key, _)| key)
    }

    /// Whether the role made the move in this step or later.
    pub(crate) fn has(&self, role: u32, a_move: Move, step: usize) -> bool {
        self.last.get(&(role, a_move)).is_some_and(|&last| last >= step)
    }
}
