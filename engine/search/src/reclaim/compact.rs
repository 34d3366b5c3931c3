//! Slides what stays down over what is gone, and makes tables and lists of it anew.
//!
//! Runs are taken in the order in which they lie, so a run never goes above where it was, nor over another that has yet to
//! move: see [`Places`](crate::arena::Places).

use std::hash::Hash;

use super::{Fates, in_threads};
use crate::arena::{Arena, Block, Chunks, Meter, u32_of};
use crate::edge::{Child, Edge};
use crate::graph::Graph;
use crate::graph::joint::Joint;
use crate::node::{INLINE_ROLES, Node, NodeId, Status};
use crate::orders::Orders;
use crate::parents::Way;
use crate::sync::{AtomicU64, Mutex, Slot};

/// A part of the work that can be done beside others.
type Part<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Does the parts in order, as many at a time as there are threads to be had, up to `n_threads`.
fn do_all(parts: Vec<Part<'_>>, n_threads: usize) {
    let parts = Mutex::new(parts.into_iter());
    in_threads(n_threads, || {
        loop {
            let next = parts.lock().next();
            let Some(part) = next else { return };
            part();
        }
    });
}

/// Whose a run of side words is.
#[derive(Debug, Clone, Copy)]
enum Owner {
    Node(NodeId),
    Joint(u32),
}

impl<S: Eq + Hash + Send + Sync, O: Orders> Graph<S, O> {
    /// Moves everything to where the fates say; the nodes then end at `end`.
    pub(super) fn compact(&mut self, fates: &Fates, end: usize, n_threads: usize) {
        self.compact_arenas(fates, end, n_threads);
        self.meter.reopen();
        self.fill_tables(n_threads);
        self.link_parents();
        if let Some(later) = &mut self.later {
            later.follow::<O>(|id| fates.of(id), &self.meter);
        }
    }

    fn compact_arenas(&mut self, fates: &Fates, end: usize, n_threads: usize) {
        let n_roles = self.n_roles;
        let n_spilled = if n_roles > INLINE_ROLES { self.spilled_per_node() } else { 0 };
        let words_of_joint = self.words_of_joint();
        let stride = self.layout.stride;
        let Graph {
            nodes, states, spill, edges, words, side, joints, state_table, joint_table, meter, ..
        } = self;
        let (nodes_now, meter) = (&*nodes, &*meter);
        do_all(
            vec![
                Box::new(|| compact_edges::<O>(fates, nodes_now, (edges, words, stride), meter)),
                Box::new(|| {
                    compact_side::<O>(fates, nodes_now, side, joints, (n_roles, words_of_joint), meter);
                    compact_joints(fates, joints, meter);
                }),
                Box::new(|| compact_states(fates, states, (spill, n_spilled), end, meter)),
                Box::new(|| {
                    state_table.clear();
                    joint_table.clear();
                }),
            ],
            n_threads,
        );
        slide_all(fates, &mut nodes.items, 1, meter);
        nodes.end_at(end, meter);
    }

    /// Finds nodes by their states again, and joint moves by theirs.
    fn fill_tables(&self, n_threads: usize) {
        let per_thread = self.nodes.end().div_ceil(n_threads).max(1);
        let fill = |from: usize| {
            let ids = (from..(from + per_thread).min(self.nodes.end())).map(|idx| NodeId(u32_of(idx)));
            for id in ids.filter(|&id| self.state_if_any(id).is_some()) {
                // Nothing is lost if there is no place: the node is found by the edges that lead to it.
                self.enter_state(id);
            }
        };
        let mut parts: Vec<Part<'_>> = Vec::new();
        if self.has_transpositions {
            let starts = (0..n_threads).map(|part_idx| part_idx * per_thread);
            parts.extend(starts.map(|from| Box::new(move || fill(from)) as Part<'_>));
        }
        parts.push(Box::new(|| {
            for index in self.joint_moves() {
                self.enter_joint(index);
            }
        }));
        do_all(parts, n_threads);
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

/// Slides what belongs to each living node, so many items under its index.
fn slide_all<T: Default>(fates: &Fates, items: &mut Chunks<T>, n_each: usize, meter: &Meter) {
    for from in fates.alive() {
        let to = fates.of(from).unwrap_or(from);
        for offset in 0..n_each {
            items.slide(from.idx() * n_each + offset, to.idx() * n_each + offset, meter);
        }
    }
}

fn compact_states<S>(
    fates: &Fates,
    states: &mut Chunks<Slot<S>>,
    (spill, n_spilled): (&mut Chunks<AtomicU64>, usize),
    end: usize,
    meter: &Meter,
) {
    slide_all(fates, states, 1, meter);
    states.truncate(end, meter);
    slide_all(fates, spill, n_spilled, meter);
    spill.truncate(end * n_spilled, meter);
}

/// Slides the edges of living nodes, with their words, and makes them lead to where their children go.
fn compact_edges<O: Orders>(
    fates: &Fates,
    nodes: &Arena<Node>,
    (edges, words, stride): (&mut Arena<Edge>, &mut Chunks<AtomicU64>, usize),
    meter: &Meter,
) {
    let is_open = |id: &NodeId| nodes.items.at(id.idx()).status::<O>() == Status::Open;
    let first_edge = |id: NodeId| nodes.items.at(id.idx()).opening().first_edge;
    let mut runs: Vec<(u32, NodeId)> = fates.alive().filter(is_open).map(|id| (first_edge(id), id)).collect();
    runs.sort_unstable();
    let mut places = edges.places();
    for (first, id) in runs {
        let first = first as usize;
        let node = nodes.items.at(id.idx());
        let n = node.opening().n_edges as usize;
        let to = places.take(n);
        for offset in 0..n {
            edges.items.slide(first + offset, to + offset, meter);
            let edge = edges.items.at(to + offset);
            if let Child::Node(child) = edge.child::<O>() {
                edge.relink(fates.of(child));
            }
        }
        for word in 0..n * stride {
            words.slide(first * stride + word, to * stride + word, meter);
        }
        node.move_edges(u32_of(to));
    }
    words.truncate(places.end() * stride, meter);
    edges.end_at(places.end(), meter);
}

/// Slides the side records of living nodes and joint moves.
fn compact_side<O: Orders>(
    fates: &Fates,
    nodes: &Arena<Node>,
    side: &mut Arena<AtomicU64>,
    joints: &Arena<Joint>,
    (n_roles, words_of_joint): (usize, usize),
    meter: &Meter,
) {
    let of_nodes = fates.alive().filter_map(|id| {
        let node = nodes.items.at(id.idx());
        let has_record = matches!(node.status::<O>(), Status::Open | Status::Terminal);
        let first = node.opening().side;
        (has_record && first != 0).then_some((first, Owner::Node(id)))
    });
    let of_joints = (1..joints.end()).filter_map(|idx| {
        let joint = joints.items.get(idx)?;
        stays(fates, joint).then_some((joint.side(), Owner::Joint(u32_of(idx))))
    });
    let mut runs: Vec<(u32, Owner)> = of_nodes.chain(of_joints).collect();
    runs.sort_unstable_by_key(|&(first, _)| first);
    let mut places = side.places();
    for (first, owner) in runs {
        let n = if matches!(owner, Owner::Node(_)) { n_roles } else { words_of_joint };
        let to = places.take(n);
        (0..n).for_each(|offset| side.items.slide(first as usize + offset, to + offset, meter));
        match owner {
            Owner::Node(id) => nodes.items.at(id.idx()).move_side(u32_of(to)),
            Owner::Joint(index) => joints.items.at(index as usize).move_side(u32_of(to)),
        }
    }
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
        joints.items.slide(from, to, meter);
        let joint = joints.items.at(to);
        let child = match joint.child() {
            Child::Node(child) => fates.of(child).map_or(Child::None, Child::Node),
            none_or_broken => none_or_broken,
        };
        joint.relink(fates.of(joint.parent()).unwrap_or(NodeId(0)), child);
    }
    joints.end_at(places.end(), meter);
}
