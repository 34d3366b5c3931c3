//! The ways into a node, for those who add playouts to what lies above it.
//!
//! A side structure: only configurations that need it make it and pay for it.

use std::hash::Hash;

use crate::arena::{Arena, Block, Chunks, Meter};
use crate::edge::Child;
use crate::graph::Graph;
use crate::node::NodeId;
use crate::orders::Orders;
use crate::sync::{AtomicU32, Ordering};

/// By what a node is entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Way {
    /// An edge of a sequential node.
    Edge(u32),
    /// A joint move of a simultaneous node.
    Joint(u32),
}

/// One way into a node, in a list of all.
///
/// # Orderings
/// Written once, `Relaxed`, before the list's head is stored with [`Orders::INSERT`].
#[derive(Debug, Default)]
struct Link {
    origin: AtomicU32,
    /// The id of an edge, or of a joint move.
    way: AtomicU32,
    is_joint: AtomicU32,
    next: AtomicU32,
}

/// For each node a list of ways into it, which only grows.
#[derive(Debug)]
pub(crate) struct Parents {
    heads: Chunks<AtomicU32>,
    links: Arena<Link>,
}

impl Parents {
    /// For as many nodes and links as there may be nodes and edges.
    pub(crate) fn new(n_node_chunks: usize, node_bits: u32, n_edge_chunks: usize, edge_bits: u32) -> Parents {
        Parents {
            heads: Chunks::new(n_node_chunks, node_bits, 0),
            links: Arena::new(n_edge_chunks, edge_bits, 256),
        }
    }

    /// What a node's list costs, and each way in it.
    pub(crate) fn item_bytes(&self) -> (u64, u64) {
        (self.heads.item_bytes(), self.links.items.item_bytes())
    }

    /// Makes room for a node's list; false if there is none.
    pub(crate) fn ensure(&self, id: NodeId, meter: &Meter) -> bool {
        self.heads.ensure(id.idx(), meter)
    }

    /// Adds a way from `origin` into `child`, before the way leads there, so that whoever goes it is known to have come
    /// by it. Without room it stays out, and what happens below is not told to `origin` by this way.
    pub(crate) fn add<O: Orders>(
        &self,
        block: &mut Block,
        meter: &Meter,
        child: NodeId,
        origin: NodeId,
        way: Way,
    ) {
        let Some(index) = self.links.reserve(block, 1, meter) else { return };
        let link = self.links.items.at(index as usize);
        let (id, is_joint) = match way {
            Way::Edge(id) => (id, 0),
            Way::Joint(id) => (id, 1),
        };
        link.origin.store(origin.0, Ordering::Relaxed);
        link.way.store(id, Ordering::Relaxed);
        link.is_joint.store(is_joint, Ordering::Relaxed);
        let head = self.heads.at(child.idx());
        let mut first = head.load(Ordering::Relaxed);
        loop {
            link.next.store(first, Ordering::Relaxed);
            match head.compare_exchange(first, index, O::INSERT, Ordering::Relaxed) {
                Ok(_) => return,
                Err(others) => first = others,
            }
        }
    }

    /// Forgets all ways; what is left may be added again.
    pub(crate) fn clear(&mut self, meter: &Meter) {
        self.heads.for_each(|head| head.store(0, Ordering::Relaxed));
        let start = self.links.places().end();
        self.links.end_at(start, meter);
    }

    /// The ways into a node of this graph, each with the node it comes from; the latest first. One that several
    /// threads made at once may come several times.
    pub(crate) fn of<'a, S: Eq + Hash, O: Orders>(
        &'a self,
        graph: &'a Graph<S, O>,
        child: NodeId,
    ) -> impl Iterator<Item = (NodeId, Way)> + 'a {
        let mut next = self.heads.at(child.idx()).load(O::FIND);
        let links = std::iter::from_fn(move || {
            if next == 0 {
                return None;
            }
            let link = self.links.items.at(next as usize);
            next = link.next.load(Ordering::Relaxed);
            let id = link.way.load(Ordering::Relaxed);
            let way = if link.is_joint.load(Ordering::Relaxed) == 0 { Way::Edge(id) } else { Way::Joint(id) };
            Some((NodeId(link.origin.load(Ordering::Relaxed)), way))
        });
        // Of threads that made a way lead somewhere at the same time only one had its wish.
        links.filter(move |&(origin, way)| match way {
            Way::Edge(edge) => graph.edge(edge).child::<O>() == Child::Node(child),
            Way::Joint(joint) => {
                let joint = graph.joint(joint);
                joint.parent() == origin && joint.child() == Child::Node(child)
            }
        })
    }
}
