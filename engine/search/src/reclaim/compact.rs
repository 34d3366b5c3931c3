//! Slides what stays down over what is gone, and makes the tables and lists of it follow.
//!
//! First it is found out where everything goes ([`runs`](super::runs)), so that nodes, edges and the rest can move side by side. Runs are
//! taken in the order in which they lie, so a run never goes above where it was, nor over another that has yet to move: see
//! [`Places`](crate::arena::Places).

use std::hash::Hash;

use super::Scratch;
use super::fates::{Fates, PER_WORD, WORDS_AT_ONCE};
use super::runs::RunPlaces;
use crate::arena::{Arena, Block, Chunks, Meter, u32_of};
use crate::edge::{Child, Edge};
use crate::graph::Graph;
use crate::graph::joint::Joint;
use crate::node::{INLINE_ROLES, Node, NodeId, Opening, Status};
use crate::orders::Orders;
use crate::parents::Way;
use crate::solver::ProofNumbers;
use crate::sync::{AtomicU64, Slot};
use crate::threads::{Part, do_all, for_each};

/// Parts of the tables, so that all threads have some whatever else they do: more make little difference.
const TABLE_PARTS: usize = 16;

impl<S: Eq + Hash + Send + Sync + 'static, O: Orders> Graph<S, O> {
    /// Moves everything to where the fates say; how many edges are left.
    pub(super) fn compact(&mut self, scratch: &mut Scratch, n_threads: usize) -> u64 {
        self.place_runs(scratch, n_threads);
        let n_edges = self.compact_arenas(scratch, n_threads);
        let fates = &scratch.fates;
        self.meter.reopen();
        self.fill_joint_table(n_threads);
        self.link_parents();
        if let Some(later) = &mut self.later {
            later.follow::<O>(|id| fates.of(id), &self.meter);
        }
        n_edges
    }

    fn compact_arenas(&mut self, scratch: &Scratch, n_threads: usize) -> u64 {
        let Scratch { fates, edge_places, side_places, .. } = scratch;
        let n_spilled = if self.n_roles > INLINE_ROLES { self.spilled_per_node() } else { 0 };
        let stride = self.layout.stride;
        let Graph {
            nodes,
            states,
            spill,
            proof_numbers,
            edges,
            words,
            side,
            joints,
            state_table,
            joint_table,
            meter,
            ..
        } = self;
        let (mut n_edges, mut joints_end) = (0, 0);
        // Memory is had before and given back behind: in a thread that has just begun, its first allocation takes milliseconds.
        let mut parts: Vec<Part<'_>> = vec![
            Box::new(|| {
                n_edges = compact_edges::<O>(fates, edge_places, (&edges.items, words, stride), meter)
            }),
            Box::new(|| compact_nodes::<O>(fates, nodes, edge_places, side_places, meter)),
            Box::new(|| compact_states(fates, states, (spill, n_spilled), proof_numbers.as_ref(), meter)),
            Box::new(|| side_places.for_each(|from, to, n| side.items.slide(from, to, n, meter))),
            Box::new(|| joints_end = compact_joints(fates, joints, side_places, meter)),
            // Joint moves are known by their nodes' ids, which are others now.
            Box::new(|| joint_table.clear()),
        ];
        for part in state_table.parts(TABLE_PARTS) {
            let state_table = &*state_table;
            parts.push(Box::new(move || state_table.follow(&part, |id| fates.of_or_none(NodeId(id)).0)));
        }
        do_all(parts, n_threads);
        nodes.end_at(fates.end(), meter);
        states.truncate(fates.end(), meter);
        spill.truncate(fates.end() * n_spilled, meter);
        if let Some(numbers) = proof_numbers {
            numbers.truncate(fates.end(), meter);
        }
        edges.end_at(edge_places.end(), meter);
        words.truncate(edge_places.end() * stride, meter);
        side.end_at(side_places.end(), meter);
        joints.end_at(joints_end, meter);
        n_edges
    }

    /// Finds out where the edges and side records of living nodes and joint moves go.
    fn place_runs(&self, scratch: &mut Scratch, n_threads: usize) {
        let Scratch { fates, edges, edge_places, side, side_places, .. } = scratch;
        edges.begin(self.edges.end());
        side.begin(self.side.end());
        let (fates, edges, side) = (&*fates, &*edges, &*side);
        for_each(fates.n_words().div_ceil(WORDS_AT_ONCE), n_threads, |part| {
            let mut owners = RunOwners::default();
            for word_idx in (part * WORDS_AT_ONCE..fates.n_words()).take(WORDS_AT_ONCE) {
                for owner in owners.gather::<O>(fates, word_idx, &self.nodes.items) {
                    if owner.has_edges() {
                        edges.add(owner.opening.first_edge, owner.opening.n_edges as usize);
                    }
                    if owner.has_side() {
                        side.add(owner.opening.side, self.n_roles);
                    }
                }
            }
        });
        let joints = &self.joints.items;
        for_each(self.joints.end().div_ceil(joints.chunk_len()), n_threads, |chunk_idx| {
            for joint in joints.chunk(chunk_idx).iter().filter(|joint| stays(fates, joint)) {
                side.add(joint.side(), self.words_of_joint());
            }
        });
        edge_places.begin(edges, self.edges.places());
        side_places.begin(side, self.side.places());
        do_all(vec![Box::new(|| edge_places.place()), Box::new(|| side_places.place())], n_threads);
    }

    /// Finds joint moves again.
    fn fill_joint_table(&self, n_threads: usize) {
        let chunk_len = self.joints.items.chunk_len();
        for_each(self.joints.end().div_ceil(chunk_len), n_threads, |chunk_idx| {
            for (at, joint) in self.joints.items.chunk(chunk_idx).iter().enumerate() {
                if joint.parent() != NodeId(0) {
                    // Nothing is lost if there is no place: the joint move is made anew.
                    self.enter_joint(u32_of(chunk_idx * chunk_len + at));
                }
            }
        });
    }

    fn link_parents(&mut self) {
        let Some(parents) = &mut self.parents else { return };
        parents.clear(&self.meter);
        let mut links = Block::default();
        let ids = (1..self.nodes.end()).map(|idx| NodeId(u32_of(idx)));
        for id in ids.filter(|&id| self.state_if_any(id).is_some()) {
            let opening = self.node(id).opening();
            if self.node(id).status::<O>() != Status::Open || opening.mover.is_none() {
                continue;
            }
            for edge in opening.first_edge..opening.first_edge + opening.n_edges {
                if let Child::Node(child) = self.edge(edge).child::<O>() {
                    self.add_parent(&mut links, child, id, Way::Edge(edge));
                }
            }
        }
        for index in self.joint_moves() {
            if let Child::Node(child) = self.joint(index).child() {
                self.add_parent(&mut links, child, self.joint(index).parent(), Way::Joint(index));
            }
        }
    }
}

/// A node, as far as what belongs to it goes.
#[derive(Debug, Clone, Copy)]
struct RunOwner {
    status: Status,
    opening: Opening,
}

impl RunOwner {
    const NONE: RunOwner = RunOwner {
        status: Status::Dead,
        opening: Opening { mover: None, first_edge: 0, n_edges: 0, side: 0 },
    };

    fn has_edges(&self) -> bool {
        self.status == Status::Open && self.opening.n_edges > 0
    }

    fn has_side(&self) -> bool {
        matches!(self.status, Status::Open | Status::Terminal) && self.opening.side != 0
    }
}

/// Nodes of one word of fates, gathered before anything is done with them: a node is waited for, and the next ones are fetched
/// meanwhile only if little lies between.
#[derive(Debug)]
struct RunOwners([RunOwner; PER_WORD]);

impl Default for RunOwners {
    fn default() -> RunOwners {
        RunOwners([RunOwner::NONE; PER_WORD])
    }
}

impl RunOwners {
    /// Those that stay, in order.
    fn gather<O: Orders>(&mut self, fates: &Fates, word_idx: usize, nodes: &Chunks<Node>) -> &mut [RunOwner] {
        let first = word_idx * PER_WORD;
        let chunk = nodes.chunk(first / nodes.chunk_len());
        let mut n = 0;
        for (owner, id) in self.0.iter_mut().zip(fates.alive_in(word_idx)) {
            let node = &chunk[id.idx() & (nodes.chunk_len() - 1)];
            *owner = RunOwner { status: node.status::<O>(), opening: node.opening() };
            n += 1;
        }
        &mut self.0[..n]
    }
}

/// Slides the nodes, and tells them where their runs go.
fn compact_nodes<O: Orders>(
    fates: &Fates,
    nodes: &Arena<Node>,
    edges: &RunPlaces,
    side: &RunPlaces,
    meter: &Meter,
) {
    let mut owners = RunOwners::default();
    let mut to = nodes.places().end();
    for word_idx in 0..fates.n_words() {
        let owners = owners.gather::<O>(fates, word_idx, &nodes.items);
        for owner in &mut *owners {
            if owner.has_edges() {
                owner.opening.first_edge = edges.of(owner.opening.first_edge);
            }
            if owner.has_side() {
                owner.opening.side = side.of(owner.opening.side);
            }
        }
        for (from, owner) in fates.alive_in(word_idx).zip(owners) {
            nodes.items.slide(from.idx(), to, 1, meter);
            nodes.items.at(to).move_runs(owner.opening.first_edge, owner.opening.side);
            to += 1;
        }
    }
}

fn compact_states<S>(
    fates: &Fates,
    states: &mut Chunks<Slot<S>>,
    (spill, n_spilled): (&Chunks<AtomicU64>, usize),
    proof_numbers: Option<&ProofNumbers>,
    meter: &Meter,
) {
    for from in fates.alive() {
        let to = fates.of(from).unwrap_or(from);
        // Exchanged, so that the states of what is gone gather above and need not be dropped yet.
        states.exchange(from.idx(), to.idx(), meter);
        spill.slide(from.idx() * n_spilled, to.idx() * n_spilled, n_spilled, meter);
        if let Some(numbers) = proof_numbers {
            numbers.slide(from, to, meter);
        }
    }
}

/// Slides the edges of living nodes, with their words, and makes them lead to where their children go; how many edges are left.
fn compact_edges<O: Orders>(
    fates: &Fates,
    places: &RunPlaces,
    (edges, words, stride): (&Chunks<Edge>, &Chunks<AtomicU64>, usize),
    meter: &Meter,
) -> u64 {
    let mut n_edges = 0;
    places.for_each(|first, to, n| {
        edges.slide(first, to, n, meter);
        if stride > 0 {
            // One by one: chunks of words may be shorter than runs.
            (0..n).for_each(|at| words.slide((first + at) * stride, (to + at) * stride, stride, meter));
        }
        for edge in edges.slice(to, n) {
            let child = match edge.child::<O>() {
                Child::Broken => continue,
                Child::None => NodeId(0),
                Child::Node(child) => child,
            };
            edge.relink(fates.of_or_none(child));
        }
        n_edges += n as u64;
    });
    n_edges
}

/// Whether a joint move is kept: it was made in a node that stays, and what it leads to stays too.
fn stays(fates: &Fates, joint: &Joint) -> bool {
    let is_cut = matches!(joint.child(), Child::Node(child) if !fates.is_alive(child));
    joint.parent() != NodeId(0) && fates.is_alive(joint.parent()) && !is_cut
}

/// Slides the joint moves that stay; all lie below then.
fn compact_joints(fates: &Fates, joints: &Arena<Joint>, side: &RunPlaces, meter: &Meter) -> usize {
    let mut places = joints.places();
    for from in places.end()..joints.end() {
        if !joints.items.get(from).is_some_and(|joint| stays(fates, joint)) {
            continue;
        }
        let to = places.take(1);
        joints.items.slide(from, to, 1, meter);
        let joint = joints.items.at(to);
        let child = match joint.child() {
            Child::Node(child) => fates.of(child).map_or(Child::None, Child::Node),
            none_or_broken => none_or_broken,
        };
        joint.move_side(side.of(joint.side()));
        joint.relink(fates.of(joint.parent()).unwrap_or(NodeId(0)), child);
    }
    places.end()
}
