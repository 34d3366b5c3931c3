//! Slides what stays down over what is gone, and makes the tables and lists of it follow.
//!
//! Runs are taken in the order in which they lie, so a run never goes above where it was, nor over another that has yet to
//! move: see [`Places`](crate::arena::Places).

use std::hash::Hash;

use super::fates::Fates;
use crate::arena::{Arena, Block, Chunks, Meter, u32_of};
use crate::edge::{Child, Edge};
use crate::graph::Graph;
use crate::graph::joint::Joint;
use crate::node::{INLINE_ROLES, Node, NodeId, Status};
use crate::orders::Orders;
use crate::parents::Way;
use crate::solver::ProofNumbers;
use crate::sync::{AtomicU64, Slot};
use crate::threads::{Part, do_all, for_each};

/// Parts of the tables, so that all threads have some whatever else they do: more make little difference.
const TABLE_PARTS: usize = 16;

/// A run of items in a chunk of an arena; 8 bytes, since there are millions. In the order in which they lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Run {
    /// Where in the chunk it begins.
    within: u16,
    told: u16,
    owner: u32,
}

/// Runs of items in an arena, each with its owner, by the chunk in which they lie.
#[derive(Debug, Default)]
struct Runs {
    by_chunk: Vec<Vec<Run>>,
}

impl Runs {
    /// Notes a run; `told` is a number below 2^16.
    fn add<T: Default>(&mut self, arena: &Arena<T>, first: u32, told: u32, owner: u32) {
        let chunk_len = arena.items.chunk_len();
        let (chunk_idx, within) = (first as usize / chunk_len, first as usize % chunk_len);
        if self.by_chunk.len() <= chunk_idx {
            self.by_chunk.resize_with(chunk_idx + 1, Vec::new);
        }
        let within = u16::try_from(within).expect("a chunk has at most 2^16 items");
        let told = u16::try_from(told).expect("callers tell less than 2^16");
        self.by_chunk[chunk_idx].push(Run { within, told, owner });
    }

    /// Gives each run, as noted, to `each`, in the order in which they lie.
    fn for_each<T: Default>(self, arena: &Arena<T>, mut each: impl FnMut(u32, u32, u32)) {
        for (chunk_idx, mut runs) in self.by_chunk.into_iter().enumerate() {
            runs.sort_unstable();
            let first_of_chunk = u32_of(chunk_idx * arena.items.chunk_len());
            for Run { within, told, owner } in runs {
                each(first_of_chunk + u32::from(within), u32::from(told), owner);
            }
        }
    }
}

/// Whose a run of side words is, as what is told of it.
const OF_NODE: u32 = 0;
const OF_JOINT: u32 = 1;

impl<S: Eq + Hash + Send + Sync + 'static, O: Orders> Graph<S, O> {
    /// Moves everything to where the fates say; how many edges are left.
    pub(super) fn compact(&mut self, fates: &Fates, n_threads: usize) -> u64 {
        let n_edges = self.compact_arenas(fates, n_threads);
        self.meter.reopen();
        self.fill_joint_table(n_threads);
        self.link_parents();
        if let Some(later) = &mut self.later {
            later.follow::<O>(|id| fates.of(id), &self.meter);
        }
        n_edges
    }

    fn compact_arenas(&mut self, fates: &Fates, n_threads: usize) -> u64 {
        let n_roles = self.n_roles;
        let n_spilled = if n_roles > INLINE_ROLES { self.spilled_per_node() } else { 0 };
        let words_of_joint = self.words_of_joint();
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
        let meter = &*meter;
        let (mut edge_runs, mut side_runs) = (Runs::default(), Runs::default());
        do_all(
            vec![
                Box::new(|| {
                    compact_nodes::<O>(fates, nodes, (edges, &mut edge_runs), (side, &mut side_runs), meter)
                }),
                Box::new(|| compact_states(fates, states, (spill, n_spilled), proof_numbers.as_mut(), meter)),
            ],
            n_threads,
        );
        let nodes = &*nodes;
        let mut n_edges = 0;
        let mut parts: Vec<Part<'_>> = vec![
            Box::new(|| n_edges = compact_edges::<O>(fates, nodes, edge_runs, (edges, words, stride), meter)),
            Box::new(|| {
                compact_side(fates, nodes, side_runs, side, joints, (n_roles, words_of_joint), meter);
                compact_joints(fates, joints, meter);
            }),
            // Joint moves are known by their nodes' ids, which are others now.
            Box::new(|| joint_table.clear()),
        ];
        for part in state_table.parts(TABLE_PARTS) {
            let state_table = &*state_table;
            parts.push(Box::new(move || {
                state_table.follow(&part, |id| fates.of(NodeId(id)).map(|id| id.0));
            }));
        }
        do_all(parts, n_threads);
        n_edges
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

/// Slides the nodes, and notes what runs belong to them under their new ids.
fn compact_nodes<O: Orders>(
    fates: &Fates,
    nodes: &mut Arena<Node>,
    (edges, edge_runs): (&Arena<Edge>, &mut Runs),
    (side, side_runs): (&Arena<AtomicU64>, &mut Runs),
    meter: &Meter,
) {
    for from in fates.alive() {
        let Some(to) = fates.of(from) else { continue };
        let node = nodes.items.at(from.idx());
        let opening = node.opening();
        let status = node.status::<O>();
        if status == Status::Open && opening.n_edges > 0 {
            edge_runs.add(edges, opening.first_edge, opening.n_edges - 1, to.0);
        }
        if matches!(status, Status::Open | Status::Terminal) && opening.side != 0 {
            side_runs.add(side, opening.side, OF_NODE, to.0);
        }
        nodes.items.slide(from.idx(), to.idx(), 1, meter);
    }
    nodes.end_at(fates.end(), meter);
}

fn compact_states<S: Send + 'static>(
    fates: &Fates,
    states: &mut Chunks<Slot<S>>,
    (spill, n_spilled): (&mut Chunks<AtomicU64>, usize),
    mut proof_numbers: Option<&mut ProofNumbers>,
    meter: &Meter,
) {
    for from in fates.alive() {
        let to = fates.of(from).unwrap_or(from);
        // Exchanged, so that the states of what is gone gather above and need not be dropped yet.
        states.exchange(from.idx(), to.idx(), meter);
        spill.slide(from.idx() * n_spilled, to.idx() * n_spilled, n_spilled, meter);
        if let Some(numbers) = &proof_numbers {
            numbers.slide(from, to, meter);
        }
    }
    states.truncate(fates.end(), meter);
    spill.truncate(fates.end() * n_spilled, meter);
    if let Some(numbers) = &mut proof_numbers {
        numbers.truncate(fates.end(), meter);
    }
}

/// Slides the edges of living nodes, with their words, and makes them lead to where their children go; how many edges are left.
fn compact_edges<O: Orders>(
    fates: &Fates,
    nodes: &Arena<Node>,
    runs: Runs,
    (edges, words, stride): (&mut Arena<Edge>, &mut Chunks<AtomicU64>, usize),
    meter: &Meter,
) -> u64 {
    let mut places = edges.places();
    let mut n_edges = 0;
    runs.for_each(edges, |first, last, owner| {
        let (first, n) = (first as usize, last as usize + 1);
        let to = places.take(n);
        edges.items.slide(first, to, n, meter);
        // One by one: chunks of words may be shorter than runs.
        (0..n).for_each(|at| words.slide((first + at) * stride, (to + at) * stride, stride, meter));
        for edge in edges.items.slice(to, n) {
            let child = match edge.child::<O>() {
                Child::Broken => continue,
                Child::None => NodeId(0),
                Child::Node(child) => child,
            };
            edge.relink(fates.of_or_none(child));
        }
        nodes.items.at(owner as usize).move_edges(u32_of(to));
        n_edges += n as u64;
    });
    words.truncate(places.end() * stride, meter);
    edges.end_at(places.end(), meter);
    n_edges
}

/// Slides the side records of living nodes, noted under their new ids, and of joint moves.
fn compact_side(
    fates: &Fates,
    nodes: &Arena<Node>,
    mut runs: Runs,
    side: &mut Arena<AtomicU64>,
    joints: &Arena<Joint>,
    (n_roles, words_of_joint): (usize, usize),
    meter: &Meter,
) {
    for idx in 1..joints.end() {
        if let Some(joint) = joints.items.get(idx).filter(|joint| stays(fates, joint)) {
            runs.add(side, joint.side(), OF_JOINT, u32_of(idx));
        }
    }
    let mut places = side.places();
    runs.for_each(side, |first, kind, owner| {
        let n = if kind == OF_NODE { n_roles } else { words_of_joint };
        let to = places.take(n);
        side.items.slide(first as usize, to, n, meter);
        if kind == OF_NODE {
            nodes.items.at(owner as usize).move_side(u32_of(to));
        } else {
            joints.items.at(owner as usize).move_side(u32_of(to));
        }
    });
    side.end_at(places.end(), meter);
}

/// Whether a joint move is kept: it was made in a node that stays, and what it leads to stays too.
fn stays(fates: &Fates, joint: &Joint) -> bool {
    let is_cut = matches!(joint.child(), Child::Node(child) if !fates.is_alive(child));
    joint.parent() != NodeId(0) && fates.is_alive(joint.parent()) && !is_cut
}

fn compact_joints(fates: &Fates, joints: &mut Arena<Joint>, meter: &Meter) {
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
        joint.relink(fates.of(joint.parent()).unwrap_or(NodeId(0)), child);
    }
    joints.end_at(places.end(), meter);
}
