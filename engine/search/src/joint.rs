//! Where a joint move leads from a simultaneous position.

use crate::edge::Child;
use crate::node::NodeId;
use crate::sync::{AtomicU32, Ordering};

const BROKEN: u32 = u32::MAX;

/// A joint move that was made, under the key (node, one choice per role). Joint moves are too many to list
/// (101^6 occurs), so they get a record when they are first made, which a table finds.
///
/// # Orderings
/// Written once, `Relaxed`, before the table publishes the record's index.
#[derive(Debug, Default)]
pub(crate) struct Joint {
    parent: AtomicU32,
    child: AtomicU32,
    /// First word in the side arena: the choices, one index per role among the node's edges; under `credited` also the
    /// visits, and each role's credit.
    side: AtomicU32,
}

impl Joint {
    /// Fills the record.
    pub(crate) fn write(&self, parent: NodeId, child: Child, side: u32) {
        let child = match child {
            Child::None => 0,
            Child::Broken => BROKEN,
            Child::Node(id) => id.0,
        };
        self.parent.store(parent.0, Ordering::Relaxed);
        self.child.store(child, Ordering::Relaxed);
        self.side.store(side, Ordering::Relaxed);
    }

    /// Takes a record out that was never published.
    pub(crate) fn kill(&self) {
        self.parent.store(0, Ordering::Relaxed);
    }

    /// The node in which the joint move was made; 0 in a record that nothing refers to.
    pub(crate) fn parent(&self) -> NodeId {
        NodeId(self.parent.load(Ordering::Relaxed))
    }

    /// Where it leads.
    pub(crate) fn child(&self) -> Child {
        match self.child.load(Ordering::Relaxed) {
            0 => Child::None,
            BROKEN => Child::Broken,
            id => Child::Node(NodeId(id)),
        }
    }

    pub(crate) fn side(&self) -> u32 {
        self.side.load(Ordering::Relaxed)
    }
}
