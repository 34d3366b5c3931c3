//! Finds what a root leads to, with several threads.

use std::hash::Hash;
use std::thread;

use reasoner::Interrupt;

use super::{Fates, in_threads};
use crate::edge::Child;
use crate::graph::Graph;
use crate::node::{NodeId, Status};
use crate::orders::Orders;
use crate::sync::Mutex;

/// Nodes to look at that a thread keeps before it offers some to others.
const SHARED_FROM: usize = 256;

/// Nodes between two looks at the interrupt.
const STRIDE: usize = 1024;

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

/// Nodes that nobody has looked at yet, and how many of the threads that have come have nothing to do.
#[derive(Debug, Default)]
struct Pool {
    offered: Vec<Vec<NodeId>>,
    n_there: usize,
    n_idle: usize,
}

impl<'a, S: Eq + Hash + Send + Sync, O: Orders> Marking<'a, S, O> {
    pub(super) fn new(graph: &'a Graph<S, O>, root: NodeId) -> Marking<'a, S, O> {
        Marking { graph, root, joints: JointMoves::of(graph) }
    }

    /// Marks the root and what it leads to by nodes of so many visits; what the root itself leads to stays, since the report
    /// tells of it. None if `stop` is raised.
    pub(super) fn mark(&self, least_visits: u64, n_threads: usize, stop: &Interrupt) -> Option<Fates> {
        let fates = Fates::new(self.graph.nodes.end());
        fates.mark(self.root);
        let mut children = Vec::new();
        let keeps_joint_moves = self.graph.has_credit;
        let is_sequential = self.graph.node(self.root).opening().mover.is_some();
        let least_at_root = if is_sequential || keeps_joint_moves { 0 } else { least_visits };
        self.visit(self.root, least_at_root, &fates, &mut children);
        let pool = Mutex::new(Pool { offered: vec![children], ..Pool::default() });
        in_threads(n_threads, || self.work(least_visits, n_threads, &fates, &pool, stop));
        (!stop.is_raised()).then_some(fates)
    }

    fn work(&self, least_visits: u64, n_threads: usize, fates: &Fates, pool: &Mutex<Pool>, stop: &Interrupt) {
        let mut mine: Vec<NodeId> = Vec::new();
        let mut n_visited = 0usize;
        pool.lock().n_there += 1;
        loop {
            let Some(id) = mine.pop() else {
                match Self::take(pool, stop) {
                    Some(others) => mine = others,
                    None => return,
                }
                continue;
            };
            self.visit(id, least_visits, fates, &mut mine);
            n_visited += 1;
            if n_visited.is_multiple_of(STRIDE) && stop.is_raised() {
                return;
            }
            if mine.len() >= SHARED_FROM && n_threads > 1 && n_visited.is_multiple_of(SHARED_FROM) {
                let mut pool = pool.lock();
                if pool.offered.len() < n_threads {
                    // The older half: it lies higher, so there is more below it.
                    let kept = mine.split_off(mine.len() / 2);
                    pool.offered.push(std::mem::replace(&mut mine, kept));
                }
            }
        }
    }

    /// Waits for nodes to look at; none when no thread has any. A thread that comes when all others are done is done too.
    fn take(pool: &Mutex<Pool>, stop: &Interrupt) -> Option<Vec<NodeId>> {
        let mut is_idle = false;
        loop {
            {
                let mut pool = pool.lock();
                if let Some(offered) = pool.offered.pop() {
                    pool.n_idle -= usize::from(is_idle);
                    return Some(offered);
                }
                pool.n_idle += usize::from(!is_idle);
                is_idle = true;
                if pool.n_idle == pool.n_there {
                    return None;
                }
            }
            if stop.is_raised() {
                return None;
            }
            thread::yield_now();
        }
    }

    /// Marks what a node leads to, and notes what was not marked before.
    fn visit(&self, id: NodeId, least_visits: u64, fates: &Fates, found: &mut Vec<NodeId>) {
        let graph = self.graph;
        let node = graph.node(id);
        if node.status::<O>() != Status::Open {
            return;
        }
        let opening = node.opening();
        let mut meet = |child: Child| {
            if let Child::Node(child) = child
                && (least_visits == 0 || graph.node(child).count.read::<O>().visits >= least_visits)
                && fates.mark(child)
            {
                found.push(child);
            }
        };
        match opening.mover {
            Some(_) => graph.edges_of(opening).iter().for_each(|edge| meet(edge.child::<O>())),
            None => self.joints.of_node(id).for_each(|index| meet(graph.joint(index).child())),
        }
    }
}
