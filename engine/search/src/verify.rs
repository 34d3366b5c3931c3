//! The conservation laws of a graph at rest.

use std::collections::{HashMap, HashSet};
use std::fmt::Debug;
use std::hash::Hash;

use reasoner::Interrupt;

use crate::adapted::{Adapter, Memo};
use crate::config::Config;
use crate::credit::Credit;
use crate::edge::Child;
use crate::graph::Graph;
use crate::incremental;
use crate::node::{NodeId, Opening, Status};
use crate::orders::{Orders, Sound};
use crate::scheme::Scheme;
use crate::sync::Ordering;

/// How many broken laws are told.
const MAX_COMPLAINTS: usize = 100;

/// What a graph holds, as counted by walking through all of it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
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
    /// Nodes of whose values something is proven.
    pub bounded_nodes: u64,
    /// Nodes whose values are known, for all roles.
    pub solved_nodes: u64,
    /// Nodes whose proof numbers are not those of what is below them: another way came by there since, edges were cut, or
    /// threads counted at the same time. None where there are no proof numbers.
    pub stale_proof_numbers: Option<u64>,
    /// Playouts that ended at a node.
    pub own_visits: u64,
    /// Passages of playouts through nodes.
    pub node_visits: u64,
    /// Under `credited`: how far what edges credit is from what their children are worth by now.
    pub credit_gap: Option<Gap>,
    /// Under `ucd-incremental` and `ucd-paper`: how far the means that edges keep are from those of the equations.
    pub adapted_gap: Option<Gap>,
}

/// Why there is no summary of a graph.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// Laws are broken: one sentence for each breach, at most a hundred.
    #[error("the graph breaks its laws: {}", .0.join("; "))]
    Broken(Vec<String>),
    /// Stopped before all of the graph was seen.
    #[error("stopped before all of the graph was seen")]
    Interrupted,
}

/// How far two numbers of each edge are apart, in goal points, over all edges that were passed.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Gap {
    /// Edges, once for each role whose numbers they keep.
    pub n: u64,
    /// The mean distance.
    pub mean: f64,
    /// Nine tenths are not farther apart.
    pub p90: f64,
    /// The largest distance.
    pub max: f64,
}

impl Gap {
    /// Of these distances; none if there are none.
    fn of(mut distances: Vec<f64>) -> Option<Gap> {
        distances.sort_by(f64::total_cmp);
        let max = *distances.last()?;
        let n = distances.len();
        let mean = distances.iter().sum::<f64>() / n as f64;
        Some(Gap { n: n as u64, mean, p90: distances[(n * 9 / 10).min(n - 1)], max })
    }
}

/// The largest distance, in goal points, between a mean that is kept exactly and the one of the equations: rounding,
/// over millions of additions.
const MAX_ROUNDING: f64 = 1e-3;

/// The walk.
struct Inspection<'a, S, O: Orders> {
    graph: &'a Graph<S, O>,
    scheme: &'a Scheme,
    stop: &'a Interrupt,
    max_goal: u64,
    summary: GraphSummary,
    complaints: Vec<String>,
    /// Visits that edges brought to each node that has edges to it.
    brought: HashMap<NodeId, u64>,
    /// What joint moves credit, by node and role, modulo 2^64.
    joint_credits: HashMap<NodeId, Vec<u64>>,
    /// Nodes that joint moves lead to.
    has_joint_parent: HashSet<NodeId>,
    credit_gaps: Vec<f64>,
    adapted_gaps: Vec<f64>,
}

impl<S: Eq + Hash, O: Orders> Graph<S, O> {
    /// Walks through the whole graph, which no thread may be writing, and checks:
    /// nothing is in flight; a node's visits are its own and those of its edges (of each role, in a
    /// simultaneous node), and also those that its edges brought, more only if it was a root; a sum is at most visits
    /// times the largest value, and a node's sum is that of its edges and at most the largest value for each own visit
    /// more; every child is alive; with transpositions no two nodes have equal states and each is found by its state;
    /// in a tree no node has two parents; what is proven of a node follows from its goals or its children.
    ///
    /// Under `update-all` edges and nodes have visits of playouts that never passed, so the laws of sums do not hold.
    /// Under `credited` a node's sum is that of its edges' credits, and each credit is of all its edge's visits. Under
    /// `ucd-incremental` the means that edges keep are those of the equations.
    ///
    /// Once the graph was full, edges may have brought playouts to children that found no room or are forgotten. Then a node
    /// need not have the visits that its edges brought, what is proven need not follow from the children, the sum of a
    /// simultaneous node need not be that of its joint moves' credits, and means under `ucd-incremental` need not be those of
    /// the equations. See GRAPH.md, "What is forgotten".
    ///
    /// # Errors
    /// If a law is broken, or `stop` is raised before all of the graph was seen: then what was seen tells nothing.
    pub(crate) fn verify(
        &self,
        scheme: &Scheme,
        roots: &[NodeId],
        stop: &Interrupt,
    ) -> Result<GraphSummary, VerifyError> {
        let mut inspection = Inspection {
            graph: self,
            scheme,
            stop,
            max_goal: scheme.valuation.full(),
            summary: GraphSummary::default(),
            complaints: Vec::new(),
            brought: HashMap::new(),
            joint_credits: HashMap::new(),
            has_joint_parent: HashSet::new(),
            credit_gaps: Vec::new(),
            adapted_gaps: Vec::new(),
        };
        inspection.inspect_joint_moves();
        let ids = (1..self.nodes.end()).map(|idx| NodeId(crate::arena::u32_of(idx)));
        let made: Vec<NodeId> = ids.filter(|&id| self.state_if_any(id).is_some()).collect();
        for &id in made.iter().take_while(|_| !stop.is_raised()) {
            inspection.inspect(id);
        }
        inspection.inspect_arrivals(roots);
        inspection.inspect_adapted_means(&made);
        if self.has_transpositions {
            inspection.inspect_states(&made);
        }
        inspection.summary.credit_gap = Gap::of(std::mem::take(&mut inspection.credit_gaps));
        inspection.summary.adapted_gap = Gap::of(std::mem::take(&mut inspection.adapted_gaps));
        match inspection.complaints {
            _ if stop.is_raised() => Err(VerifyError::Interrupted),
            complaints if complaints.is_empty() => Ok(inspection.summary),
            complaints => Err(VerifyError::Broken(complaints)),
        }
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
            for joint in self.joint_moves().map(|index| self.joint(index)) {
                if let (true, Child::Node(child)) = (parents.contains(&joint.parent()), joint.child()) {
                    children.push(child);
                }
            }
        }
        children
    }

    /// Every joint move that was recorded.
    pub(crate) fn joint_moves(&self) -> impl Iterator<Item = u32> {
        (1..self.joints.end())
            .filter(|&idx| self.joints.items.get(idx).is_some_and(|joint| joint.parent() != NodeId(0)))
            .map(crate::arena::u32_of)
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
        self.inspect_bounds(id);
        self.inspect_proof_numbers(id);
        match status {
            Status::Open => {
                self.summary.open_nodes += 1;
                self.inspect_edges(id, node.opening(), tally.visits, own);
            }
            Status::Terminal | Status::Fresh | Status::Wide => {
                self.summary.terminal_nodes += u64::from(status == Status::Terminal);
                self.expect(tally.visits == own || self.has_foreign_visits(), || {
                    format!("node {}: a leaf with {} visits, {own} of them its own", id.0, tally.visits)
                });
            }
            Status::Claimed | Status::Dead => {
                self.expect(false, || format!("node {}: still {status:?}", id.0));
            }
        }
    }

    /// No lower bound is above its upper one, and what is proven of a node follows from its goals or from what is proven
    /// of its children.
    fn inspect_bounds(&mut self, id: NodeId) {
        let graph = self.graph;
        let word = graph.bounds(id);
        let Some(solver) = self.scheme.solver.as_ref().filter(|_| word != 0) else {
            return self.expect(word == 0, || format!("node {}: bounds, but nothing is to be proven", id.0));
        };
        self.summary.bounded_nodes += 1;
        self.summary.solved_nodes += u64::from(solver.layout.is_exact(word));
        self.expect(solver.layout.is_consistent(word), || {
            format!("node {}: a lower bound is above its upper one", id.0)
        });
        let proof = match graph.node(id).status::<O>() {
            Status::Terminal => {
                let side = graph.node(id).opening().side;
                let goals: Vec<u64> = (0..graph.n_roles).map(|role_idx| graph.goal(side, role_idx)).collect();
                let mut ranks = Vec::new();
                self.scheme.valuation.ranks_of_end(&goals, &mut ranks);
                solver.of_end(&ranks)
            }
            Status::Open => solver.prove(graph, id, &mut Vec::new()),
            // An end whose goals found no room.
            _ => return self.expect(graph.meter.was_full(), || format!("node {}: bounds of a leaf", id.0)),
        };
        // What was proven of children that are gone remains true.
        if graph.has_cuts && graph.node(id).status::<O>() == Status::Open {
            return;
        }
        self.expect(solver.layout.follows(word, proof), || {
            format!("node {}: its bounds do not follow from its children's", id.0)
        });
    }

    /// Proof numbers only guide, so that one which is late is no breach.
    fn inspect_proof_numbers(&mut self, id: NodeId) {
        let graph = self.graph;
        let (Some(solver), Some(_)) = (&self.scheme.solver, &graph.proof_numbers) else { return };
        let is_stale = (0..solver.layout.n_bounded).any(|role_idx| {
            solver.proof_number(graph, id, role_idx) != solver.count_leaves(graph, id, role_idx)
        });
        *self.summary.stale_proof_numbers.get_or_insert(0) += u64::from(is_stale);
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
        for role_idx in 0..graph.n_roles {
            if opening.mover.is_none_or(|mover| mover as usize == role_idx) {
                self.inspect_visits(id, role_idx, visits, own);
            }
            self.inspect_sum(id, opening, role_idx, own);
        }
    }

    /// Under `update-all` playouts count where they never passed.
    fn has_foreign_visits(&self) -> bool {
        self.scheme.config == Config::UpdateAll
    }

    fn inspect_visits(&mut self, id: NodeId, role_idx: usize, visits: u64, own: u64) {
        let edges = self.graph.edges_in(self.graph.edges_of_role(id, role_idx));
        let out: u64 = edges.iter().map(|edge| edge.count.read::<O>().visits).sum();
        self.expect(visits == own + out || self.has_foreign_visits(), || {
            format!("node {}, role {role_idx}: {visits} visits, but {own} own and {out} onwards", id.0)
        });
    }

    /// A node's sum is what came by its edges and at most the largest value for each own visit.
    fn inspect_sum(&mut self, id: NodeId, opening: Opening, role_idx: usize, own: u64) {
        let graph = self.graph;
        let sum = graph.sum(id, role_idx).load(Ordering::Relaxed);
        let is_chooser = opening.mover.is_none_or(|mover| mover as usize == role_idx);
        let passed: u64 = match (self.scheme.config, opening.mover) {
            (Config::UpdateAll, _) => return,
            (Config::Credited, Some(_)) => self.inspect_credits(id, opening, role_idx),
            // Joint moves without a record credit what they bring, when the graph is full.
            (Config::Credited, None) if graph.meter.was_full() => return,
            (Config::Credited, None) => self.joint_credits.get(&id).map_or(0, |credits| credits[role_idx]),
            _ if !is_chooser => return,
            _ => {
                let edges = graph.edges_in(graph.edges_of_role(id, role_idx));
                edges.iter().map(|edge| edge.sum.load(Ordering::Relaxed)).sum()
            }
        };
        self.expect(sum.wrapping_sub(passed) <= own * self.max_goal, || {
            format!("node {}, role {role_idx}: sum {sum}, but edges sum up to {passed}", id.0)
        });
    }

    /// The sum of a role's credits in a sequential node.
    fn inspect_credits(&mut self, id: NodeId, opening: Opening, role_idx: usize) -> u64 {
        let graph = self.graph;
        let mut sum = 0u64;
        for edge in opening.first_edge..opening.first_edge + opening.n_edges {
            let word = graph.word(edge, graph.layout.credits.first + role_idx).load(Ordering::Relaxed);
            let credit = Credit::of(word);
            let visits = graph.edge(edge).count.read::<O>().visits;
            self.expect(credit.n == visits, || {
                format!("node {}, edge {edge}: credit of {} playouts, but {visits} visits", id.0, credit.n)
            });
            sum = sum.wrapping_add(credit.product());
            if let (Child::Node(child), true) = (graph.edge(edge).child::<O>(), visits > 0) {
                self.note_credit_gap(credit, child, role_idx);
            }
        }
        sum
    }

    fn note_credit_gap(&mut self, credit: Credit, child: NodeId, role_idx: usize) {
        let valuation = &self.scheme.valuation;
        let worth = self.graph.results(child, role_idx).mean(valuation).unwrap_or(0.0);
        let distance = valuation.points(credit.q as f64) - worth * valuation.discount;
        self.credit_gaps.push(distance.abs());
    }

    fn is_alive(&self, id: NodeId) -> bool {
        self.graph.state_if_any(id).is_some() && self.graph.node(id).status::<O>() != Status::Dead
    }

    fn inspect_joint_moves(&mut self) {
        let graph = self.graph;
        let stop = self.stop;
        for index in graph.joint_moves().take_while(|_| !stop.is_raised()) {
            self.summary.joint_moves += 1;
            let (parent, child) = (graph.joint(index).parent(), graph.joint(index).child());
            let is_simultaneous = graph.node(parent).opening().mover.is_none();
            self.expect(is_simultaneous, || format!("node {}: joint move, but one mover", parent.0));
            if let Child::Node(child) = child {
                self.expect(self.is_alive(child), || {
                    format!("node {}: child {} is not alive", parent.0, child.0)
                });
                self.has_joint_parent.insert(child);
            }
            if self.scheme.config != Config::Credited {
                continue;
            }
            let credits = self.joint_credits.entry(parent).or_insert_with(|| vec![0; graph.n_roles]);
            for (role_idx, sum) in credits.iter_mut().enumerate() {
                let credit = Credit::of(graph.joint_credit(index, role_idx).load(Ordering::Relaxed));
                *sum = sum.wrapping_add(credit.product());
            }
        }
    }

    /// A node has all visits that its edges brought, and no others unless it was a root or joint moves lead to it. An
    /// edge may have brought more from when the graph was full and its child had no place.
    fn inspect_arrivals(&mut self, roots: &[NodeId]) {
        if self.has_foreign_visits() || self.graph.meter.was_full() {
            return;
        }
        let brought = std::mem::take(&mut self.brought);
        let stop = self.stop;
        for (id, n) in brought.into_iter().take_while(|_| !stop.is_raised()) {
            let visits = self.graph.node(id).count.read::<O>().visits;
            let may_have_more =
                self.graph.was_reclaimed || roots.contains(&id) || self.has_joint_parent.contains(&id);
            self.expect(visits == n || (visits > n && may_have_more), || {
                format!("node {}: {visits} visits, but edges brought {n}", id.0)
            });
        }
    }

    /// Compares the means that edges keep with those that the equations make of all below.
    fn inspect_adapted_means(&mut self, made: &[NodeId]) {
        let depths = match self.scheme.config {
            Config::UcdIncremental(depths) | Config::UcdPaper(depths) => depths,
            _ => return,
        };
        let mut n_wrong_visits = 0;
        let (graph, scheme, stop) = (self.graph, self.scheme, self.stop);
        for role_idx in 0..graph.n_roles {
            let mut memo = Memo::default();
            let mut adapter = Adapter {
                graph,
                payoffs: scheme.payoffs,
                discount: scheme.valuation.discount,
                role_idx,
                memo: &mut memo,
                interrupt: Some(stop.clone()),
            };
            for &id in made.iter().take_while(|_| !stop.is_raised()) {
                let opening = graph.node(id).opening();
                let is_his = graph.node(id).status::<O>() == Status::Open
                    && opening.mover.is_some_and(|mover| mover as usize == role_idx);
                if !is_his {
                    continue;
                }
                for edge in graph.edges_of_role(id, role_idx) {
                    if graph.edge(edge).count.read::<O>().visits == 0 {
                        continue;
                    }
                    let kept = incremental::read(graph, scheme.config, edge, role_idx);
                    let adapted = adapter.at(edge, depths.mean);
                    if let Some(kept) = kept.mean {
                        let distance = scheme.valuation.points(kept - adapted.total / adapted.weight).abs();
                        self.adapted_gaps.push(distance);
                    }
                    let visits = [(kept.visits, depths.child), (kept.origin, depths.parent)];
                    n_wrong_visits += visits
                        .into_iter()
                        .filter(|&(kept, depth)| {
                            let wanted = adapter.at(edge, depth).visits;
                            (kept - wanted).abs() > wanted * 1e-9
                        })
                        .count();
                }
            }
        }
        let max = self.adapted_gaps.iter().copied().fold(0.0, f64::max);
        let is_exact = matches!(scheme.config, Config::UcdIncremental(_)) && !graph.meter.was_full();
        self.expect(!is_exact || max <= MAX_ROUNDING, || {
            format!("a mean that an edge keeps is {max} goal points off")
        });
        self.expect(!is_exact || n_wrong_visits == 0, || {
            format!("{n_wrong_visits} adapted visits that edges keep are not those of the equations")
        });
    }

    fn inspect_states(&mut self, made: &[NodeId]) {
        let graph = self.graph;
        let mut seen: HashMap<&S, NodeId> = HashMap::with_capacity(made.len());
        let stop = self.stop;
        for &id in made.iter().take_while(|_| !stop.is_raised()) {
            let Some(state) = graph.state_if_any(id).filter(|_| self.is_alive(id)) else { continue };
            if let Some(other) = seen.insert(state, id) {
                self.expect(false, || format!("nodes {} and {} have equal states", other.0, id.0));
            }
            let found = graph.find(state);
            self.expect(found == Some(id), || format!("node {}: its state finds {found:?}", id.0));
        }
    }
}
