//! The shared graph: everything that playouts left behind, and how it grows.
//!
//! Sequential positions are here; what is particular to simultaneous ones is in [`joint`], and what a graph is made for
//! in [`plan`].

mod grow;
pub(crate) mod joint;
mod plan;

use plan::RECLAIMING_PART;
pub use plan::RecordBytes;
pub(crate) use plan::{GraphKind, Sizes};

use std::hash::{BuildHasher, Hash};
use std::marker::PhantomData;
use std::ops::Range;

use reasoner::{Expansion, GoalAnswer, Move, Role, Value};
use rustc_hash::FxBuildHasher;

use self::joint::Joint;
use crate::arena::{Arena, Block, Chunks, Meter, u32_of, usize_of};
use crate::counters::WorkerCounters;
use crate::edge::{Child, Edge};
use crate::later::LaterMoves;
use crate::layout::EdgeLayout;
use crate::node::{INLINE_ROLES, Node, NodeId, Opening};
use crate::orders::{Orders, Sound};
use crate::parents::{Parents, Way};
use crate::results::Results;
use crate::solver::ProofNumbers;
use crate::sync::{AtomicU64, Mutex, Ordering, Slot};
use crate::table::{Found, Lookup, Table, spread};

/// Nodes, edges and records that one thread may use without asking others.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    nodes: Block,
    edges: Block,
    side: Block,
    joints: Block,
    links: Block,
    pub(crate) later: Block,
}

/// How opening a node ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opened {
    /// It has edges now.
    Open,
    /// There was no room; the claim is given back.
    Full,
    /// It has too many moves.
    Wide,
}

/// Nodes, their states and edges, and the tables that find them.
///
/// Nothing is freed or moved while it is shared; what is no longer needed is reclaimed while one thread has it alone
/// ([`reclaim`](crate::reclaim)). A thread that adds something writes it, publishes its
/// index, and takes the index that came first if another thread was faster.
#[derive(Debug)]
pub(crate) struct Graph<S, O: Orders = Sound> {
    pub(crate) n_roles: usize,
    /// Whether equal states are one node.
    pub(crate) has_transpositions: bool,
    /// Whether joint moves keep what they credited to their node.
    pub(crate) has_credit: bool,
    /// Whether anything was reclaimed, so that edges may be gone that brought playouts to what is left.
    pub(crate) was_reclaimed: bool,
    /// Whether edges were cut below which nodes were known.
    pub(crate) has_cuts: bool,
    pub(crate) meter: Meter,
    pub(crate) nodes: Arena<Node>,
    /// The state of the node with the same index.
    pub(crate) states: Chunks<Slot<S>>,
    /// Value sums of the roles that have no place in the node: `n_roles - INLINE_ROLES` for each.
    pub(crate) spill: Chunks<AtomicU64>,
    pub(crate) edges: Arena<Edge>,
    /// Words of nodes and joint moves, of fixed meaning; see [`Node`] and [`Joint`].
    pub(crate) side: Arena<AtomicU64>,
    pub(crate) joints: Arena<Joint>,
    pub(crate) layout: EdgeLayout,
    /// The words of edges that the layout asks for, under the edge's index.
    pub(crate) words: Chunks<AtomicU64>,
    /// The ways into nodes, where the configuration asks for them.
    pub(crate) parents: Option<Parents>,
    /// How far nodes are from proofs, where the configuration asks.
    pub(crate) proof_numbers: Option<ProofNumbers>,
    /// What moves were worth later, where the configuration asks.
    pub(crate) later: Option<LaterMoves>,
    /// Held by backups that must see all numbers above a node at rest: see [`incremental`](crate::incremental).
    pub(crate) backup_lock: Mutex<()>,
    pub(crate) state_table: Table,
    pub(crate) joint_table: Table,
    orders: PhantomData<O>,
}

impl<S: Eq + Hash, O: Orders> Graph<S, O> {
    /// An empty graph.
    pub(crate) fn new(n_roles: usize, kind: GraphKind, sizes: Sizes) -> Graph<S, O> {
        let GraphKind {
            has_transpositions,
            has_parent_links,
            has_credit,
            has_later_moves,
            has_proof_numbers,
            layout,
        } = kind;
        let Sizes { node_bits, edge_bits, first_table_bits, table_bits, cap, state_heap_bytes } = sizes;
        // As many chunks as the cap could pay for if it paid for nothing else, within 32-bit ids.
        let n_chunks =
            |bits: u32, bytes: usize| ((cap / bytes) >> bits).saturating_add(1).min(1 << (32 - bits));
        let n_spilled = n_roles.saturating_sub(INLINE_ROLES);
        let n_node_chunks = n_chunks(node_bits, size_of::<Node>());
        let word_bits = edge_bits.min(9);
        let n_edge_chunks = n_chunks(edge_bits, size_of::<Edge>());
        let n_small_chunks = n_edge_chunks << (edge_bits - word_bits);
        Graph {
            n_roles,
            has_transpositions,
            meter: Meter::new((cap - cap / RECLAIMING_PART) as u64),
            nodes: Arena::new(n_node_chunks, node_bits, 64),
            states: Chunks::new(n_node_chunks, node_bits, state_heap_bytes as u64),
            // Rounded up to a power of two per node, so that chunks of both arenas match.
            spill: Chunks::new(n_node_chunks, node_bits + n_spilled.next_power_of_two().ilog2(), 0),
            edges: Arena::new(n_edge_chunks, edge_bits, 1024),
            side: Arena::new(n_chunks(edge_bits, size_of::<u64>()), edge_bits, 512),
            joints: Arena::new(n_chunks(node_bits, size_of::<Joint>()), node_bits, 64),
            // In smaller chunks, since an edge may have many words and a small graph few edges.
            words: Chunks::new(n_small_chunks, word_bits + layout.stride.max(1).ilog2(), 0),
            layout,
            parents: has_parent_links
                .then(|| Parents::new(n_node_chunks, node_bits, n_small_chunks, word_bits)),
            proof_numbers: has_proof_numbers.then(|| ProofNumbers::new(n_node_chunks, node_bits, n_roles)),
            later: has_later_moves.then(|| {
                LaterMoves::new(n_small_chunks, word_bits, Table::new(first_table_bits, table_bits + 2))
            }),
            backup_lock: Mutex::new(()),
            has_credit,
            was_reclaimed: false,
            has_cuts: false,
            state_table: Table::new(first_table_bits, table_bits),
            joint_table: Table::new(first_table_bits, table_bits),
            orders: PhantomData,
        }
    }

    #[inline]
    pub(crate) fn node(&self, id: NodeId) -> &Node {
        self.nodes.items.at(id.idx())
    }

    /// The state of a node.
    ///
    /// # Panics
    /// If the node was not published.
    pub(crate) fn state(&self, id: NodeId) -> &S {
        match self.states.at(id.idx()).get() {
            Some(state) => state,
            None => panic!("node {} was followed before its state was there", id.0),
        }
    }

    /// The state of a node that may never have been used.
    pub(crate) fn state_if_any(&self, id: NodeId) -> Option<&S> {
        self.states.get(id.idx())?.get()
    }

    #[inline]
    pub(crate) fn edge(&self, edge: u32) -> &Edge {
        self.edges.items.at(edge as usize)
    }

    pub(crate) fn edges_in(&self, edges: Range<u32>) -> &[Edge] {
        self.edges.items.slice(edges.start as usize, edges.len())
    }

    pub(crate) fn edges_of(&self, opening: Opening) -> &[Edge] {
        self.edges.items.slice(opening.first_edge as usize, opening.n_edges as usize)
    }

    /// A word of an edge's record.
    pub(crate) fn word(&self, edge: u32, word_idx: usize) -> &AtomicU64 {
        debug_assert!(word_idx < self.layout.stride);
        self.words.at(edge as usize * self.layout.stride + word_idx)
    }

    /// The sum of a role's values over the node's visits.
    #[inline]
    pub(crate) fn sum(&self, id: NodeId, role_idx: usize) -> &AtomicU64 {
        self.sum_in(self.node(id), id, role_idx)
    }

    /// The same, where the node is at hand.
    #[inline]
    pub(crate) fn sum_in<'a>(&'a self, node: &'a Node, id: NodeId, role_idx: usize) -> &'a AtomicU64 {
        match node.sums.get(role_idx) {
            Some(sum) => sum,
            None => self.spill.at(id.idx() * self.spilled_per_node() + role_idx - INLINE_ROLES),
        }
    }

    /// What nodes and edges cost.
    pub(crate) fn record_bytes(&self) -> RecordBytes {
        let n_spilled = if self.n_roles > INLINE_ROLES { self.spilled_per_node() as u64 } else { 0 };
        let numbers = self.proof_numbers.as_ref().map_or(0, ProofNumbers::node_bytes);
        let (list, way) = self.parents.as_ref().map_or((0, 0), Parents::item_bytes);
        RecordBytes {
            node: self.nodes.items.item_bytes()
                + self.states.item_bytes()
                + n_spilled * self.spill.item_bytes()
                + list
                + numbers,
            edge: self.edges.items.item_bytes() + self.layout.stride as u64 * self.words.item_bytes() + way,
            opening: if self.n_roles > 1 { self.n_roles as u64 * self.side.items.item_bytes() } else { 0 },
        }
    }

    /// What a node's playouts came to for a role.
    #[inline]
    pub(crate) fn results(&self, id: NodeId, role_idx: usize) -> Results {
        let node = self.node(id);
        let tally = node.count.read::<O>();
        Results::new(tally, self.sum_in(node, id, role_idx).load(Ordering::Relaxed))
    }

    /// Sums of a node that have no place in it, rounded up to a power of two.
    pub(crate) fn spilled_per_node(&self) -> usize {
        self.n_roles.saturating_sub(INLINE_ROLES).next_power_of_two()
    }

    /// Makes a node of a state, unpublished; the state comes back if there is no room.
    fn make_node(&self, blocks: &mut Blocks, state: S) -> Result<NodeId, S> {
        if self.meter.is_full() {
            return Err(state);
        }
        let Some(id) = self.nodes.reserve(&mut blocks.nodes, 1, &self.meter).map(NodeId) else {
            return Err(state);
        };
        let has_room = self.states.ensure(id.idx(), &self.meter)
            && self.parents.as_ref().is_none_or(|parents| parents.ensure(id, &self.meter))
            && self.proof_numbers.as_ref().is_none_or(|numbers| numbers.ensure(id, &self.meter))
            && (self.n_roles <= INLINE_ROLES
                || self.spill.ensure(id.idx() * self.spilled_per_node(), &self.meter));
        if !has_room {
            return Err(state);
        }
        self.states.at(id.idx()).set(state);
        Ok(id)
    }

    /// The node of a state: a new one, or with transpositions the one that stands for it already. Gives the
    /// state back if there is no room.
    pub(crate) fn node_of(
        &self,
        blocks: &mut Blocks,
        state: S,
        counters: &WorkerCounters,
    ) -> Result<NodeId, S>
    where
        S: Clone,
    {
        if !self.has_transpositions {
            return self.make_node(blocks, state).inspect(|_| counters.nodes_made.add(1));
        }
        let hash = self.hash_of(&state);
        if self.meter.is_full() {
            // What is known can still be reached by new ways.
            return self.state_table.find::<O>(hash, |id| self.is_state(id, &state)).map(NodeId).ok_or(state);
        }
        let lookup = self.state_table.find_or_insert::<O>(
            hash,
            &self.meter,
            |id| self.is_state(id, &state),
            || self.make_node(blocks, state.clone()).ok().map(|id| id.0),
        );
        note(lookup, counters);
        match lookup.found {
            Found::There(id) => {
                counters.transpositions.add(1);
                Ok(NodeId(id))
            }
            Found::Inserted(id) => {
                counters.nodes_made.add(1);
                Ok(NodeId(id))
            }
            Found::Lost { winner, loser } => {
                self.node(NodeId(loser)).kill();
                counters.nodes_made.add(1);
                counters.duplicates.add(1);
                if winner == 0 { Err(state) } else { Ok(NodeId(winner)) }
            }
            Found::Full => Err(state),
        }
    }

    /// The node of a state, by the table of states.
    pub(crate) fn find(&self, state: &S) -> Option<NodeId> {
        self.state_table.find::<O>(self.hash_of(state), |id| self.is_state(id, state)).map(NodeId)
    }

    /// Reads the word, state and node that are likely to be met when these states are looked up and entered. What is read for one state waits
    /// for memory, but not for what is read for another, so that later none of them waits for long.
    pub(crate) fn look_ahead<'a>(&self, states: impl Iterator<Item = &'a S>)
    where
        S: 'a,
    {
        if !self.has_transpositions {
            return;
        }
        let likely = states.filter_map(|state| self.state_table.likely::<O>(self.hash_of(state))).map(NodeId);
        let n_visits = likely
            .filter(|&id| self.state_if_any(id).is_some())
            .map(|id| self.node(id).count.read::<O>().visits);
        // Nobody wants the sum, and compilers would leave the reads out.
        std::hint::black_box(n_visits.sum::<u64>());
    }

    fn hash_of(&self, state: &S) -> u64 {
        spread(FxBuildHasher.hash_one(state))
    }

    fn is_state(&self, id: u32, state: &S) -> bool {
        self.state(NodeId(id)) == state
    }

    /// Makes an edge of `origin` lead to a node that was just made or found; the node that it leads to now.
    pub(crate) fn link(
        &self,
        blocks: &mut Blocks,
        origin: NodeId,
        edge: u32,
        id: NodeId,
        counters: &WorkerCounters,
    ) -> NodeId {
        self.add_parent(&mut blocks.links, id, origin, Way::Edge(edge));
        match self.edge(edge).link::<O>(Child::Node(id)) {
            Ok(()) => id,
            Err(Child::Node(winner)) if winner != id => {
                if !self.has_transpositions {
                    // In a tree the node was made for this edge alone.
                    self.node(id).kill();
                    counters.duplicates.add(1);
                }
                winner
            }
            // An edge that another thread found broken can be followed all the same, this once.
            Err(_) => id,
        }
    }

    pub(crate) fn add_parent(&self, links: &mut Block, child: NodeId, origin: NodeId, way: Way) {
        if let Some(parents) = &self.parents {
            parents.add::<O>(links, &self.meter, child, origin, way);
        }
    }

    /// Opens a node that this thread has claimed, with the moves of a state that is not terminal. The random bits of `salt` fix in which order
    /// they have their turns.
    pub(crate) fn open(
        &self,
        blocks: &mut Blocks,
        id: NodeId,
        expansion: &Expansion,
        salt: u64,
        counters: &WorkerCounters,
    ) -> Opened {
        let node = self.node(id);
        let mut choosing = Role::all(self.n_roles).filter(|&role| expansion.moves_of(role).len() > 1);
        let mover = match (choosing.next(), choosing.next()) {
            (Some(_), Some(_)) => None,
            (Some(role), None) => Some(role),
            (None, _) => Some(Role(0)),
        };
        let moves = mover.map_or(&expansion.moves[..], |role| expansion.moves_of(role));
        if moves.len() > self.edges.items.chunk_len() {
            node.leave_wide();
            return Opened::Wide;
        }
        let edges = self.edges.reserve(&mut blocks.edges, moves.len(), &self.meter);
        // One role alone needs no record of the others.
        let side = match self.n_roles {
            1 => Some(0),
            n => self.side.reserve(&mut blocks.side, n, &self.meter),
        };
        let edges = edges.filter(|&first| self.ensure_words(first as usize, moves.len()));
        let (Some(first_edge), Some(side)) = (edges, side) else {
            node.unclaim();
            return Opened::Full;
        };
        let n_edges = u32_of(moves.len());
        let opening = Opening { mover: mover.map(|role| role.0), first_edge, n_edges, side };
        for (edge, &a_move) in self.edges_of(opening).iter().zip(moves) {
            edge.set_move(a_move);
        }
        if side != 0 {
            for role in Role::all(self.n_roles) {
                let word = match mover {
                    None => expansion.ends[role.idx()] as u64,
                    Some(_) => u64::from(expansion.moves_of(role)[0].0),
                };
                self.side_word(side, role.idx()).store(word, Ordering::Relaxed);
            }
        }
        node.open::<O>(opening, salt);
        counters.edges_made.add(moves.len() as u64);
        Opened::Open
    }

    /// Makes room for the words of `n` edges; false if there is none.
    fn ensure_words(&self, first: usize, n: usize) -> bool {
        let stride = self.layout.stride;
        let chunk_len = self.words.chunk_len();
        let mut words = (first * stride..(first + n) * stride).step_by(chunk_len.max(1));
        let last = ((first + n) * stride).saturating_sub(1);
        stride == 0
            || words.all(|idx| self.words.ensure(idx, &self.meter)) && self.words.ensure(last, &self.meter)
    }

    /// Closes a node that this thread has claimed: the game is over there, or stuck.
    pub(crate) fn close(
        &self,
        blocks: &mut Blocks,
        id: NodeId,
        goals: impl ExactSizeIterator<Item = u64>,
    ) -> Opened {
        let node = self.node(id);
        let Some(side) = self.side.reserve(&mut blocks.side, self.n_roles, &self.meter) else {
            node.unclaim();
            return Opened::Full;
        };
        for (role_idx, goal) in goals.enumerate() {
            self.side_word(side, role_idx).store(goal, Ordering::Relaxed);
        }
        node.close::<O>(side);
        Opened::Open
    }

    /// A word of a side record.
    pub(crate) fn side_word(&self, side: u32, offset: usize) -> &AtomicU64 {
        self.side.items.at(side as usize + offset)
    }

    /// The goals in a terminal node.
    pub(crate) fn goal(&self, side: u32, role_idx: usize) -> u64 {
        self.side_word(side, role_idx).load(Ordering::Relaxed)
    }

    /// The only move of a role in a sequential node where another role has the choice.
    #[allow(clippy::cast_possible_truncation, reason = "opening stored a move's 32 bits")]
    pub(crate) fn only_move(&self, opening: Opening, role_idx: usize) -> Move {
        Move(self.side_word(opening.side, role_idx).load(Ordering::Relaxed) as u32)
    }

    /// The edges of a role that has a choice in an open node, by id.
    pub(crate) fn edges_of_role(&self, id: NodeId, role_idx: usize) -> Range<u32> {
        let opening = self.node(id).opening();
        let within = match opening.mover {
            Some(_) => 0..opening.n_edges,
            None => {
                let range = self.edge_range(opening, role_idx);
                u32_of(range.start)..u32_of(range.end)
            }
        };
        opening.first_edge + within.start..opening.first_edge + within.end
    }

    /// The edges of a role in a simultaneous node, as a range within the node's.
    pub(crate) fn edge_range(&self, opening: Opening, role_idx: usize) -> std::ops::Range<usize> {
        let end = |idx: usize| usize_of(self.side_word(opening.side, idx).load(Ordering::Relaxed));
        let start = if role_idx == 0 { 0 } else { end(role_idx - 1) };
        start..end(role_idx)
    }
}

fn note(lookup: Lookup, counters: &WorkerCounters) {
    counters.lookups.add(1);
    counters.probes.add(lookup.n_probes);
    counters.max_probes.raise(lookup.n_probes);
    counters.cas_failures.add(lookup.n_cas_failures);
}

/// A goal as search counts it: no more than the game's maximum, and 0 where the rules give none.
pub(crate) fn goal_of(answer: GoalAnswer, max_goal: Value) -> u64 {
    u64::from(answer.at_end().unwrap_or(0).min(max_goal))
}
