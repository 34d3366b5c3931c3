//! Values of an edge adapted to what lies below it, computed when they are asked for (Saffidine, Cazenave and
//! Méhat 2012, section 3.3, equations 9 to 13).
//!
//! With mu and n the mean and number of an edge's playouts, and mu' and n' of those that ended right behind it:
//!
//! mu_d(e) = (mu'(e) n'(e) + sum over f below e of mu_(d-1)(f) n(f)) / (n'(e) + sum of n(f)), mu_0 = mu;
//! n_d(e) = n'(e) + sum over f below e of n_(d-1)(f), n_0 = n.
//!
//! An edge to a simultaneous position has nothing below it, since edges there lead to no single node. With payoffs
//! on nodes the child's numbers stand for an edge's, so that depth 1 is where they begin.

use std::hash::Hash;

use reasoner::Interrupt;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::config::{Depth, Payoffs};
use crate::edge::{Child, Edge};
use crate::graph::Graph;
use crate::node::{NodeId, Status};
use crate::orders::Orders;
use crate::sync::Ordering;

/// Adapted numbers of an edge, or their sums over the edges of a node. Visits count a playout once for every way
/// that leads to it, so they can pass all integers.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Adapted {
    /// The numerator of the mean, in units of value.
    pub(crate) total: f64,
    /// Its denominator.
    pub(crate) weight: f64,
    /// n_d.
    pub(crate) visits: f64,
}

/// Sums over the edges of nodes that were already computed, by node and depth.
pub(crate) type Memo = FxHashMap<(NodeId, Depth), Adapted>;

/// Computes adapted values from one role's view.
#[derive(Debug)]
pub(crate) struct Adapter<'a, S, O: Orders> {
    pub(crate) graph: &'a Graph<S, O>,
    pub(crate) payoffs: Payoffs,
    /// What a value is worth one step earlier.
    pub(crate) discount: f64,
    pub(crate) role_idx: usize,
    /// Valid as long as neither graph nor role change.
    pub(crate) memo: &'a mut Memo,
    /// Raised when there is no time left for all that lies below; what is computed from then on is not to be used.
    pub(crate) interrupt: Option<Interrupt>,
}

/// mu n of an edge with these adapted numbers and n playouts. In a tree the weight is n, and nothing is rounded.
pub(crate) fn share(total: f64, weight: f64, n: f64) -> f64 {
    if weight == n || weight == 0.0 { total } else { total / weight * n }
}

impl<S: Eq + Hash, O: Orders> Adapter<'_, S, O> {
    /// The adapted numbers of an edge.
    pub(crate) fn at(&mut self, edge: u32, depth: Depth) -> Adapted {
        let base = self.base(edge);
        let depth = self.shifted(depth);
        if depth == Depth::Finite(0) {
            return base;
        }
        self.with_below(edge, base, depth)
    }

    /// Payoffs on nodes are those of depth 1.
    fn shifted(&self, depth: Depth) -> Depth {
        if self.payoffs == Payoffs::Nodes { depth.below() } else { depth }
    }

    fn with_below(&mut self, edge: u32, base: Adapted, depth: Depth) -> Adapted {
        let Some(kid) = kid_of(self.graph, self.graph.edge(edge)) else { return base };
        let own = self.own(edge, kid);
        let below = self.below(kid, depth.below());
        if own.weight + below.weight == 0.0 {
            // What other threads are about to count is not there yet.
            return base;
        }
        Adapted {
            total: own.total + self.discount * below.total,
            weight: own.weight + below.weight,
            visits: own.visits + below.visits,
        }
    }

    /// The sums over the edges of a node.
    fn below(&mut self, id: NodeId, depth: Depth) -> Adapted {
        if depth == Depth::Infinite {
            self.resolve(id);
            return self.memo.get(&(id, depth)).copied().unwrap_or_default();
        }
        if depth == Depth::Finite(0) {
            return self.sum_up(id, depth);
        }
        if let Some(&known) = self.memo.get(&(id, depth)) {
            return known;
        }
        let sum = self.sum_up(id, depth);
        self.memo.insert((id, depth), sum);
        sum
    }

    fn sum_up(&mut self, id: NodeId, depth: Depth) -> Adapted {
        let opening = self.graph.node(id).opening();
        let mut sum = Adapted::default();
        for edge in opening.first_edge..opening.first_edge + opening.n_edges {
            let base = self.base(edge);
            if base.weight == 0.0 {
                continue;
            }
            let at = if depth == Depth::Finite(0) { base } else { self.with_below(edge, base, depth) };
            sum.total += share(at.total, at.weight, base.weight);
            sum.weight += base.weight;
            sum.visits += at.visits;
        }
        sum
    }

    /// Computes the sums of a node and of all below it, without recursion: games can be thousands of moves deep.
    fn resolve(&mut self, id: NodeId) {
        let mut open = vec![id];
        let mut entered = FxHashSet::default();
        while let Some(&top) = open.last() {
            if self.interrupt.as_ref().is_some_and(Interrupt::is_raised) {
                return;
            }
            if self.memo.contains_key(&(top, Depth::Infinite)) {
                open.pop();
                continue;
            }
            let opening = self.graph.node(top).opening();
            let kids = self.graph.edges_of(opening).iter().filter_map(|edge| kid_of(self.graph, edge));
            let unknown = kids.filter(|&kid| !self.memo.contains_key(&(kid, Depth::Infinite)));
            if entered.insert(top) {
                open.extend(unknown);
                continue;
            }
            // Whatever is unknown now leads back to here, which only broken rules do: it counts as nothing.
            let cycles: Vec<NodeId> = unknown.collect();
            self.memo.extend(cycles.into_iter().map(|kid| ((kid, Depth::Infinite), Adapted::default())));
            let sum = self.sum_up(top, Depth::Infinite);
            self.memo.insert((top, Depth::Infinite), sum);
            open.pop();
        }
    }

    /// mu_0 n_0 and n_0.
    fn base(&self, edge: u32) -> Adapted {
        let graph = self.graph;
        let (sum, n) = match (self.payoffs, graph.edge(edge).child::<O>()) {
            (Payoffs::Edges, _) => {
                let n = graph.edge(edge).count.read::<O>().visits;
                (graph.word(edge, graph.layout.sums.first + self.role_idx).load(Ordering::Relaxed), n)
            }
            (Payoffs::Nodes, Child::Node(child)) => {
                let results = graph.results(child, self.role_idx);
                (results.sum, results.tally.visits)
            }
            (Payoffs::Nodes, Child::None | Child::Broken) => (0, 0),
        };
        Adapted { total: sum as f64, weight: n as f64, visits: n as f64 }
    }

    /// mu' n' and n' of an edge to an open node.
    fn own(&self, edge: u32, kid: NodeId) -> Adapted {
        let graph = self.graph;
        let (sum, n) = match self.payoffs {
            Payoffs::Edges => {
                let first = graph.layout.own.first;
                let n = graph.word(edge, first).load(Ordering::Relaxed);
                (graph.word(edge, first + 1 + self.role_idx).load(Ordering::Relaxed), n)
            }
            Payoffs::Nodes => {
                let opening = graph.node(kid).opening();
                let passed: u64 = (opening.first_edge..opening.first_edge + opening.n_edges)
                    .map(|edge| graph.word(edge, graph.layout.sums.first + self.role_idx))
                    .map(|sum| sum.load(Ordering::Relaxed))
                    .sum();
                let n = graph.node(kid).own.load(Ordering::Relaxed);
                (graph.sum(kid, self.role_idx).load(Ordering::Relaxed).saturating_sub(passed), n)
            }
        };
        Adapted { total: sum as f64, weight: n as f64, visits: n as f64 }
    }
}

/// The node below an edge, if it has edges that belong to one role.
pub(crate) fn kid_of<S: Eq + Hash, O: Orders>(graph: &Graph<S, O>, edge: &Edge) -> Option<NodeId> {
    let Child::Node(child) = edge.child::<O>() else { return None };
    let node = graph.node(child);
    (node.status::<O>() == Status::Open && node.opening().mover.is_some()).then_some(child)
}
