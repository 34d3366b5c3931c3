//! A way out of a node.

use reasoner::Move;

use crate::arena::Overwrite;
use crate::count::Count;
use crate::node::NodeId;
use crate::orders::Orders;
use crate::results::Results;
use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// Where an edge leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Child {
    /// Nobody went there yet, the graph was full, or what was there is forgotten.
    None,
    /// The reasoner failed to say.
    Broken,
    /// There.
    Node(NodeId),
}

const BROKEN: u32 = u32::MAX;

/// One move of one role in a node, with the statistics of the playouts that chose it.
///
/// In a sequential node it leads to a child. In a simultaneous one the children belong to joint moves and
/// are kept in a table of their own; the edge is the role's own account of its move.
///
/// # Orderings
/// `child` is stored with [`Orders::PUBLISH`] and loaded with [`Orders::FOLLOW`]: whoever sees the id sees
/// the node behind it. `sum` is `Relaxed` behind `count`. `a_move` is written before the node is opened.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Edge {
    /// Playouts that chose the move.
    pub(crate) count: Count,
    /// The sum of the choosing role's values over `count`'s visits.
    pub(crate) sum: AtomicU64,
    a_move: AtomicU32,
    child: AtomicU32,
}

#[cfg(not(any(loom, shuttle)))]
const _: () = assert!(size_of::<Edge>() == 24, "DESIGN: 24 bytes where one value is stored");

impl Overwrite for Edge {
    fn overwrite(&self, other: &Edge) {
        let Edge { count, sum, a_move, child } = self;
        count.overwrite(&other.count);
        sum.overwrite(&other.sum);
        a_move.overwrite(&other.a_move);
        child.overwrite(&other.child);
    }
}

impl Edge {
    /// Writes the move, before the node is opened.
    pub(crate) fn set_move(&self, a_move: Move) {
        self.a_move.store(a_move.0, Ordering::Relaxed);
    }

    /// The move.
    pub(crate) fn a_move(&self) -> Move {
        Move(self.a_move.load(Ordering::Relaxed))
    }

    /// What the playouts that chose the move came to for the role that did.
    #[inline]
    pub(crate) fn results<O: Orders>(&self) -> Results {
        let tally = self.count.read::<O>();
        Results::new(tally, self.sum.load(Ordering::Relaxed))
    }

    /// Where it leads.
    pub(crate) fn child<O: Orders>(&self) -> Child {
        match self.child.load(O::FOLLOW) {
            0 => Child::None,
            BROKEN => Child::Broken,
            id => Child::Node(NodeId(id)),
        }
    }

    /// Makes it lead elsewhere, or nowhere (id 0), while nobody else is there.
    pub(crate) fn relink(&self, child: NodeId) {
        self.child.store(child.0, Ordering::Relaxed);
    }

    /// Makes it lead to `child` unless it leads somewhere already; an error says where.
    pub(crate) fn link<O: Orders>(&self, child: Child) -> Result<(), Child> {
        let id = match child {
            Child::None => return Err(self.child::<O>()),
            Child::Broken => BROKEN,
            Child::Node(id) => id.0,
        };
        match self.child.compare_exchange(0, id, O::PUBLISH, O::FOLLOW) {
            Ok(_) => Ok(()),
            Err(BROKEN) => Err(Child::Broken),
            Err(winner) => Err(Child::Node(NodeId(winner))),
        }
    }
}
