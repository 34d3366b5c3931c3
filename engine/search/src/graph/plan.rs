//! What a graph is made for: how large it may grow, and what its configuration keeps in it.

use crate::config::Config;
use crate::edge::Edge;
use crate::layout::EdgeLayout;
use crate::node::Node;
use crate::options::Options;

/// The part of the cap that is left for what reclaiming writes down meanwhile: a byte and a half for each node, three quarters
/// for each edge and word of a side record.
pub(super) const RECLAIMING_PART: usize = 16;

/// The sizes of a graph's parts, as powers of two.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    /// Nodes in a chunk.
    pub(crate) node_bits: u32,
    /// Edges in a chunk, which is also the most moves that a node can have.
    pub(crate) edge_bits: u32,
    /// Words in each of the two tables at first.
    pub(crate) first_table_bits: u32,
    /// Words in them at most.
    pub(crate) table_bits: u32,
    /// Bytes of all.
    pub(crate) cap: usize,
    /// Bytes that a state owns on the heap.
    pub(crate) state_heap_bytes: usize,
}

impl Sizes {
    /// For tests: chunks of 64 nodes and as many edges.
    #[cfg(all(test, not(any(loom, shuttle))))]
    pub(crate) const SMALL: Sizes = Sizes {
        node_bits: 6,
        edge_bits: 6,
        first_table_bits: 8,
        table_bits: 8,
        cap: 1 << 20,
        state_heap_bytes: 0,
    };

    /// For a cap, with states of `state_bytes` in all.
    pub(crate) fn for_cap(
        cap: usize,
        state_bytes: usize,
        state_heap_bytes: usize,
        n_threads: usize,
    ) -> Sizes {
        // A chunk is at most a 64th of the cap, so that rounding up to chunks costs little; the bounds keep
        // chunks between a page and what the allocator hands out in one piece without effort.
        let bits_for = |bytes: usize, low: u32, high: u32| (cap / 64 / bytes).max(1).ilog2().clamp(low, high);
        // Small games have about four moves a node and half of their nodes opened (BATCHES.md measured 100
        // to 207 bytes a node in all); the table must be large enough for the leanest, whose words it takes from the cap too.
        let lean_node_bytes =
            size_of::<Node>() + state_bytes + 2 * size_of::<Edge>() + 3 * size_of::<u64>() / 2;
        let n_nodes = ((cap - cap / RECLAIMING_PART) / lean_node_bytes).max(16);
        Sizes {
            node_bits: bits_for(size_of::<Node>() + state_bytes, 6, 12),
            edge_bits: bits_for(size_of::<Edge>(), 9, 16),
            table_bits: (n_nodes + n_nodes / 4).next_power_of_two().ilog2().min(32),
            // Each thread may make a few batches before all meet to make a table larger.
            first_table_bits: 14 + n_threads.next_power_of_two().ilog2(),
            cap,
            state_heap_bytes,
        }
    }
}

/// What a configuration wants of a graph.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct GraphKind {
    pub(crate) has_transpositions: bool,
    pub(crate) has_parent_links: bool,
    pub(crate) has_credit: bool,
    pub(crate) has_later_moves: bool,
    pub(crate) has_proof_numbers: bool,
    pub(crate) layout: EdgeLayout,
}

impl GraphKind {
    /// As these options want it, for so many roles.
    pub(crate) fn new(options: &Options, n_roles: usize) -> GraphKind {
        GraphKind {
            has_transpositions: options.config.has_transpositions(),
            has_parent_links: options.config.has_parent_links(),
            has_credit: options.config == Config::Credited,
            has_later_moves: options.config.has_later_moves(),
            has_proof_numbers: options.has_proof_numbers(),
            layout: EdgeLayout::new(options, n_roles),
        }
    }
}

/// What one record of a graph costs, in bytes; tables and what moves were worth later come on top.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordBytes {
    /// A node with its state, the sums of roles that have no place in it, and proof numbers if there are any.
    pub node: u64,
    /// An edge with the words that its configuration keeps of it; with links to parents, the way to its child too.
    pub edge: u64,
    /// What a node has more once it has edges, or is an end.
    pub opening: u64,
}
