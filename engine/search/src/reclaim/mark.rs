//! Finds what stays, with several threads: all nodes that are visited often enough, or those of them that a root leads to by others.
//!
//! For the second, nodes are looked at in the order in which they lie, chunk by chunk, and not in that of a search: most children lie behind
//! their parents, so that a few rounds find all, and neither nodes nor edges are waited for one at a time.

use std::hash::Hash;
use std::thread;

use reasoner::Interrupt;

use super::fates::{Marks, PER_WORD, bits_of};
use super::threshold::{Classes, Worths};
use crate::arena::usize_of;
use crate::edge::Child;
use crate::graph::Graph;
use crate::node::{Node, NodeId, Status};
use crate::orders::{Orders, Sound};
use crate::sync::{AtomicBool, AtomicU64, Mutex, Ordering};
use crate::threads::in_threads;

/// One way to mark a graph.
#[derive(Debug)]
pub(super) struct Marking<'a, S, O: Orders> {
    graph: &'a Graph<S, O>,
    root: NodeId,
    joints: JointMoves,
}

/// The joint moves of each node, in lists: they are not kept that way, since playouts look for one at a time.
#[derive(Debug, Default)]
struct JointMoves {
    /// By node; empty where there are no joint moves at all.
    first: Vec<u32>,
    /// By joint move.
    next: Vec<u32>,
}

impl JointMoves {
    fn of<S: Eq + Hash, O: Orders>(graph: &Graph<S, O>) -> JointMoves {
        let mut lists = JointMoves::default();
        for index in graph.joint_moves() {
            if lists.first.is_empty() {
                lists.first.resize(graph.nodes.end(), 0);
                lists.next.resize(graph.joints.end(), 0);
            }
            let first = &mut lists.first[graph.joint(index).parent().idx()];
            lists.next[index as usize] = std::mem::replace(first, index);
        }
        lists
    }

    fn of_node(&self, id: NodeId) -> impl Iterator<Item = u32> {
        let mut next = self.first.get(id.idx()).copied().unwrap_or(0);
        std::iter::from_fn(move || {
            let index = next;
            next = *self.next.get(index as usize)?;
            (index != 0).then_some(index)
        })
    }
}

/// How far the marking is.
///
/// # Orderings
/// A chunk is declared due with [`Orders::DECLARE`] after a node of it was found, and taken with [`Orders::TAKE`] before its
/// nodes are looked at. `n_due` is `Relaxed`: a thread that declares a chunk due is counted itself meanwhile, so when others find
/// nothing to do, it or another does the rest.
#[derive(Debug)]
struct Progress {
    /// Nodes that some edge leads to.
    found: Marks,
    /// Those of them that were looked at.
    seen: Marks,
    /// Those of them that stay.
    kept: Marks,
    /// Whether a chunk has nodes that were found and not looked at.
    is_due: Vec<AtomicBool>,
    /// How many have, or are being looked at.
    n_due: AtomicU64,
    /// The chunk to look at next, counted round and round.
    next: AtomicU64,
    words_per_chunk: usize,
}

impl Progress {
    fn new(n_nodes: usize, chunk_len: usize) -> Progress {
        Progress {
            found: Marks::new(n_nodes),
            seen: Marks::new(n_nodes),
            kept: Marks::new(n_nodes),
            is_due: (0..n_nodes.div_ceil(chunk_len)).map(|_| AtomicBool::new(false)).collect(),
            n_due: AtomicU64::new(0),
            next: AtomicU64::new(0),
            words_per_chunk: chunk_len / PER_WORD,
        }
    }

    fn find(&self, id: NodeId) {
        if self.found.add(id)
            && !self.is_due[id.idx() / PER_WORD / self.words_per_chunk].swap(true, Sound::DECLARE)
        {
            self.n_due.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Finds a node that stays whatever its visits.
    fn keep(&self, id: NodeId) {
        self.kept.add(id);
        self.find(id);
    }

    /// A chunk that is due; none when everything is done or `stop` is raised.
    fn take(&self, stop: &Interrupt) -> Option<usize> {
        let n_chunks = self.is_due.len();
        let mut n_tried = 0;
        while self.n_due.load(Ordering::Relaxed) > 0 && !stop.is_raised() {
            let chunk_idx = usize_of(self.next.fetch_add(1, Ordering::Relaxed)) % n_chunks;
            let is_due = &self.is_due[chunk_idx];
            if is_due.load(Ordering::Relaxed) && is_due.swap(false, Sound::TAKE) {
                return Some(chunk_idx);
            }
            n_tried += 1;
            if n_tried % n_chunks == 0 {
                thread::yield_now();
            }
        }
        None
    }

    fn has_done_one(&self) {
        self.n_due.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<S: Eq + Hash + Send + Sync, O: Orders> Graph<S, O> {
    /// What the root itself leads to, as far as the report tells of it: that stays.
    fn reported(&self, root: NodeId) -> impl Iterator<Item = NodeId> {
        let opening = self.node(root).opening();
        let is_open = self.node(root).status::<O>() == Status::Open;
        let edges = if is_open && opening.mover.is_some() { self.edges_of(opening) } else { &[] };
        let joints = (is_open && opening.mover.is_none() && self.has_credit).then(|| self.joint_moves());
        let joints = joints.into_iter().flatten().map(|index| self.joint(index));
        let joints = joints.filter(move |joint| joint.parent() == root).map(|joint| joint.child());
        edges.iter().map(|edge| edge.child::<O>()).chain(joints).filter_map(|child| match child {
            Child::Node(child) => Some(child),
            Child::None | Child::Broken => None,
        })
    }

    /// Marks all nodes of so many visits that about half of what is used becomes free, the root and what it leads to. None if
    /// `stop` is raised.
    pub(super) fn mark_most_visited(
        &self,
        root: NodeId,
        n_threads: usize,
        stop: &Interrupt,
        (classes, kept): (&mut Classes, &mut Marks),
    ) -> Option<()> {
        let worths = classes.note(self, n_threads, stop)?;
        classes.mark_upper_half(&worths, n_threads, kept);
        std::iter::once(root).chain(self.reported(root)).for_each(|id| {
            kept.add(id);
        });
        Some(())
    }
}

impl<'a, S: Eq + Hash + Send + Sync, O: Orders> Marking<'a, S, O> {
    pub(super) fn new(graph: &'a Graph<S, O>, root: NodeId) -> Marking<'a, S, O> {
        Marking { graph, root, joints: JointMoves::of(graph) }
    }

    /// Marks the root and what it leads to by nodes of so many visits, and tells what they are worth; what the root itself
    /// leads to stays, since the report tells of it. None if `stop` is raised.
    pub(super) fn mark(
        &self,
        least_visits: u64,
        n_threads: usize,
        stop: &Interrupt,
    ) -> Option<(Marks, Worths)> {
        let nodes = &self.graph.nodes;
        let progress = Progress::new(nodes.end(), nodes.items.chunk_len());
        // It names none, and is where an edge that leads nowhere seems to lead: looked at before anything else.
        progress.found.add(NodeId(0));
        progress.seen.add(NodeId(0));
        progress.keep(self.root);
        self.graph.reported(self.root).for_each(|child| progress.keep(child));
        let worths = Mutex::new(Worths::default());
        in_threads(n_threads.min(progress.is_due.len()), || {
            let mut mine = Worths::default();
            while let Some(chunk_idx) = progress.take(stop) {
                self.look_at(chunk_idx, least_visits, &progress, &mut mine);
                progress.has_done_one();
            }
            worths.lock().add_all(&mine);
        });
        (!stop.is_raised()).then(|| (progress.kept, std::mem::take(&mut *worths.lock())))
    }

    /// Looks at all nodes of a chunk that were found and not looked at before.
    fn look_at(&self, chunk_idx: usize, least_visits: u64, progress: &Progress, worths: &mut Worths) {
        let nodes = self.graph.nodes.items.chunk(chunk_idx);
        let record = self.graph.record_bytes();
        let first_word = chunk_idx * progress.words_per_chunk;
        let end = (first_word + progress.words_per_chunk).min(progress.found.n_words());
        // Gathered first: while a branch hangs on a child, nothing behind it is fetched from memory.
        let mut children = Vec::new();
        for word_idx in first_word..end {
            loop {
                let new = progress.found.word(word_idx) & !progress.seen.word(word_idx);
                let mine = if new == 0 { 0 } else { progress.seen.add_all(word_idx, new) };
                if mine == 0 {
                    break;
                }
                let mut kept = progress.kept.word(word_idx);
                for at in bits_of(mine) {
                    let node = &nodes[(word_idx - first_word) * PER_WORD + at];
                    let visits = node.count.read::<O>().visits;
                    if visits < least_visits && kept >> at & 1 == 0 {
                        continue;
                    }
                    kept |= 1 << at;
                    worths.add(visits, Graph::<S, O>::bytes_of(&record, node));
                    let id = NodeId(crate::arena::u32_of(word_idx * PER_WORD + at));
                    self.meet_children(id, node, |child| children.push(child));
                }
                children.drain(..).for_each(|child| progress.find(child));
                progress.kept.add_all(word_idx, kept);
            }
        }
    }

    /// Gives `meet` what a node leads to, and id 0 where it leads nowhere.
    fn meet_children(&self, id: NodeId, node: &Node, mut meet: impl FnMut(NodeId)) {
        if node.status::<O>() != Status::Open {
            return;
        }
        let graph = self.graph;
        let opening = node.opening();
        // Whether an edge leads somewhere cannot be foretold, so no branch depends on it.
        let mut meet = |child: Child| {
            meet(match child {
                Child::Node(child) => child,
                Child::None | Child::Broken => NodeId(0),
            });
        };
        match opening.mover {
            Some(_) => graph.edges_of(opening).iter().for_each(|edge| meet(edge.child::<O>())),
            None => self.joints.of_node(id).for_each(|index| meet(graph.joint(index).child())),
        }
    }
}
