//! The conservation laws of a graph at rest.

use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::Hash;

use crate::edge::Child;
use crate::graph::Graph;
use crate::node::{NodeId, Opening, Status};
use crate::orders::{Orders, Sound};
use crate::sync::Ordering;

/// How many broken laws are told.
const MAX_COMPLAINTS: usize = 100;

/// What a graph holds, as counted by walking through all of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GraphSummary {
    /// Nodes that something refers to.
    pub nodes: u64,
    /// Nodes made in vain.
    pub dead_nodes: u64,
    /// Nodes with edges.
    pub open_nodes: u64,
    /// Nodes whose game is over.
    pub terminal_nodes: u64,
    /// Edges of open nodes.
    pub edges: u64,
    /// Joint moves of simultaneous nodes that were made.
    pub joint_moves: u64,
    /// Playouts that ended at a node.
    pub own_visits: u64,
    /// Passages of playouts through nodes.
    pub node_visits: u64,
}

/// The walk.
struct Inspection<'a, S, O: Orders> {
    graph: &'a Graph<S, O>,
    max_goal: u64,
    summary: GraphSummary,
    complaints: Vec<String>,
    /// Visits that edges brought to each node that has edges to it.
    brought: HashMap<NodeId, u64>,
}

impl<S: Eq + Hash, O: Orders> Graph<S, O> {
    /// Walks through the whole graph, which no thread may be writing, and checks:
    /// nothing is in flight; a node's visits are its own and those of its edges (of each role, in a
    /// simultaneous node); a sum is at most visits times the largest goal, and a node's sum is that of its
    /// edges and at most the largest goal for each own visit more; every child is alive; with transpositions
    /// no two nodes have equal states and each is found by its state; in a tree no node has two parents.
    ///
    /// # Errors
    /// One sentence for each breach, at most a hundred.
    pub(crate) fn verify(&self, max_goal: u64) -> Result<GraphSummary, Vec<String>> {
        let mut inspection = Inspection {
            graph: self,
            max_goal,
            summary: GraphSummary::default(),
            complaints: Vec::new(),
            brought: HashMap::new(),
        };
        let ids = (1..self.nodes.end()).map(|idx| NodeId(crate::arena::u32_of(idx)));
        let made: Vec<NodeId> = ids.filter(|&id| self.state_if_any(id).is_some()).collect();
        for &id in &made {
            inspection.inspect(id);
        }
        inspection.inspect_joint_moves();
        inspection.inspect_arrivals();
        if self.has_transpositions {
            inspection.inspect_states(&made);
        }
        if inspection.complaints.is_empty() { Ok(inspection.summary) } else { Err(inspection.complaints) }
    }

    /// The nodes that edges or joint moves of these nodes lead to.
    pub(crate) fn children_of(&self, parents: &[NodeId]) -> Vec<NodeId> {
        let mut children = Vec::new();
        let mut has_simultaneous = false;
        for &id in parents {
            if self.node(id).status::<Sound>() != Status::Open {
                continue;
            }
            let opening = self.node(id).opening();
            has_simultaneous |= opening.mover.is_none();
            children.extend(self.edges_of(opening).iter().filter_map(|edge| match edge.child::<Sound>() {
                Child::Node(child) => Some(child),
                Child::None | Child::Broken => None,
            }));
        }
        if has_simultaneous {
            let parents: std::collections::HashSet<NodeId> = parents.iter().copied().collect();
            for (parent, child) in self.joint_moves() {
                if let (true, Child::Node(child)) = (parents.contains(&parent), child) {
                    children.push(child);
                }
            }
        }
        children
    }

    /// Every joint move that was recorded: from where, and where to.
    fn joint_moves(&self) -> impl Iterator<Item = (NodeId, Child)> {
        (1..self.joints.end())
            .filter_map(|idx| self.joints.items.get(idx))
            .map(|joint| (joint.parent(), joint.child()))
            .filter(|&(parent, _)| parent != NodeId(0))
    }
}

impl<S: Eq + Hash, O: Orders> Inspection<'_, S, O> {
    fn expect(&mut self, holds: bool, complaint: impl FnOnce() -> String) {
        if !holds && self.complaints.len() < MAX_COMPLAINTS {
            self.complaints.push(complaint());
        }
    }

    fn inspect(&mut self, id: NodeId) {
        let graph = self.graph;
        let node = graph.node(id);
        let tally = node.count.read::<O>();
        let own = node.own.load(Ordering::Relaxed);
        let status = node.status::<O>();
        self.summary.node_visits += tally.visits;
        self.summary.own_visits += own;
        self.expect(tally.in_flight == 0, || format!("node {}: {} in flight", id.0, tally.in_flight));
        for role_idx in 0..graph.n_roles {
            let sum = graph.sum(id, role_idx).load(Ordering::Relaxed);
            let most = tally.visits * self.max_goal;
            self.expect(sum <= most, || format!("node {}, role {role_idx}: sum {sum} above {most}", id.0));
        }
        if status == Status::Dead {
            self.summary.dead_nodes += 1;
            self.expect(tally.visits == 0, || format!("node {}: dead, but visited", id.0));
            return;
        }
        self.summary.nodes += 1;
        match status {
            Status::Open => {
                self.summary.open_nodes += 1;
                self.inspect_edges(id, node.opening(), tally.visits, own);
            }
            Status::Terminal | Status::Fresh | Status::Wide => {
                self.summary.terminal_nodes += u64::from(status == Status::Terminal);
                self.expect(tally.visits == own, || {
                    format!("node {}: a leaf with {} visits, {own} of them its own", id.0, tally.visits)
                });
            }
            Status::Claimed | Status::Dead => {
                self.expect(false, || format!("node {}: still {status:?}", id.0));
            }
        }
    }

    fn inspect_edges(&mut self, id: NodeId, opening: Opening, visits: u64, own: u64) {
        let graph = self.graph;
        let edges = graph.edges_of(opening);
        self.summary.edges += edges.len() as u64;
        for edge in edges {
            let tally = edge.count.read::<O>();
            let a_move = edge.a_move().0;
            self.expect(tally.in_flight == 0, || {
                format!("node {}, move {a_move}: {} in flight", id.0, tally.in_flight)
            });
            if let Child::Node(child) = edge.child::<O>() {
                self.expect(self.is_alive(child), || {
                    format!("node {}: child {} is not alive", id.0, child.0)
                });
                let has_parent = self.brought.contains_key(&child);
                self.expect(graph.has_transpositions || !has_parent, || {
                    format!("node {}: in a tree, but with two parents", child.0)
                });
                *self.brought.entry(child).or_default() += tally.visits;
            }
        }
        let roles = match opening.mover {
            Some(mover) => vec![(mover as usize, 0..edges.len())],
            None => {
                (0..graph.n_roles).map(|role_idx| (role_idx, graph.edge_range(opening, role_idx))).collect()
            }
        };
        for (role_idx, range) in roles {
            let out: u64 = edges[range.clone()].iter().map(|edge| edge.count.read::<O>().visits).sum();
            self.expect(visits == own + out, || {
                format!("node {}, role {role_idx}: {visits} visits, but {own} own and {out} onwards", id.0)
            });
            let passed: u64 = edges[range].iter().map(|edge| edge.sum.load(Ordering::Relaxed)).sum();
            let sum = graph.sum(id, role_idx).load(Ordering::Relaxed);
            self.expect(passed <= sum && sum <= passed + own * self.max_goal, || {
                format!("node {}, role {role_idx}: sum {sum}, but edges sum up to {passed}", id.0)
            });
        }
    }

    fn is_alive(&self, id: NodeId) -> bool {
        self.graph.state_if_any(id).is_some() && self.graph.node(id).status::<O>() != Status::Dead
    }

    fn inspect_joint_moves(&mut self) {
        let joint_moves: Vec<_> = self.graph.joint_moves().collect();
        for (parent, child) in joint_moves {
            self.summary.joint_moves += 1;
            let is_simultaneous = self.graph.node(parent).opening().mover.is_none();
            self.expect(is_simultaneous, || format!("node {}: joint move, but one mover", parent.0));
            if let Child::Node(child) = child {
                self.expect(self.is_alive(child), || {
                    format!("node {}: child {} is not alive", parent.0, child.0)
                });
            }
        }
    }

    /// In a tree a node has all visits that its edge brought. It may have more, from when it was the root; and
    /// the edge may, from when the graph was full and its child had no place.
    fn inspect_arrivals(&mut self) {
        if self.graph.has_transpositions {
            return;
        }
        let brought = std::mem::take(&mut self.brought);
        for (id, n) in brought {
            let visits = self.graph.node(id).count.read::<O>().visits;
            self.expect(visits >= n || self.graph.meter.is_full(), || {
                format!("node {}: {visits} visits, but edges brought {n}", id.0)
            });
        }
    }

    fn inspect_states(&mut self, made: &[NodeId]) {
        let graph = self.graph;
        let mut seen: HashMap<&S, NodeId> = HashMap::with_capacity(made.len());
        for &id in made {
            let Some(state) = graph.state_if_any(id).filter(|_| self.is_alive(id)) else { continue };
            if let Some(other) = seen.insert(state, id) {
                self.expect(false, || format!("nodes {} and {} have equal states", other.0, id.0));
            }
            let found = graph.find(state);
            self.expect(found == Some(id), || format!("node {}: its state finds {found:?}", id.0));
        }
    }
}
