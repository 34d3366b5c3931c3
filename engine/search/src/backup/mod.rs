//! The path of a playout, and what becomes of it: its values are added, or it leaves no trace.
//!
//! How they are added is the configuration's: along the path (here), to all that lies above its end
//! ([`update_all`]), or as credit ([`credited`]); adapted values that edges keep are corrected by
//! [`incremental`](crate::incremental).

mod credited;
mod hot;
mod update_all;

pub(crate) use hot::Hot;

use std::hash::Hash;
use std::ops::Range;

use crate::config::Config;
use crate::count::Tally;
use crate::edge::Edge;
use crate::graph::Graph;
use crate::incremental::Ledger;
use crate::kept::{Kept, KeptStep, Spot};
use crate::node::{Node, NodeId};
use crate::orders::{Orders, Sound};
use crate::scheme::Scheme;
use crate::select::Regrets;
use crate::sync::Ordering;

/// An edge that a playout passed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Passed {
    /// The edge, by id.
    pub(crate) edge: u32,
    /// The role that chose it.
    pub(crate) role: u32,
    /// The probability that it had, where it was chosen by regret.
    pub(crate) chance: Option<f64>,
    /// Whether the playout counts as in flight on the edge: not where its child tells as much.
    pub(crate) is_counted: bool,
}

impl Passed {
    /// The playout is finished, and its value is in the edge's sum.
    fn finish<O: Orders>(&self, edge: &Edge, weight: u64) {
        edge.count.finish_some::<O>(weight, if self.is_counted { weight } else { 0 });
    }
}

/// How a node was left.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    /// Where its edges begin in [`Path::edges`]: one, or one per role in a simultaneous node.
    first: usize,
    /// The record of the joint move of a simultaneous node, once it is known.
    joint: Option<u32>,
    is_simultaneous: bool,
}

/// How a playout ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ending<'a> {
    /// What the last state of the descent was worth, one per role, in units: the sum over its rollouts.
    pub(crate) values: &'a [u64],
    /// The best value of a rollout, one per role, where someone asks for it.
    pub(crate) best: &'a [u64],
    /// Whether that state is the last node of the path; otherwise it lies behind the last edge.
    pub(crate) is_at_node: bool,
}

/// The nodes and edges that a playout has entered, in order.
#[derive(Debug, Default)]
pub(crate) struct Path {
    pub(crate) nodes: Vec<NodeId>,
    pub(crate) edges: Vec<Passed>,
    /// One for each node left.
    pub(crate) steps: Vec<Step>,
    /// The first steps, from nodes that are kept: the playout does not count as in flight there.
    kept: Vec<Spot>,
    /// Values by level and role, from the root on: those of each node, and of the edges that leave it. Without a
    /// discount all levels are one.
    values: Vec<u64>,
    n_roles: usize,
    is_discounted: bool,
    ledger: Ledger,
    /// The visits that the playout is worth: one for each rollout.
    pub(crate) weight: u64,
    /// A node of the path, moved to its end whenever the path has doubled (Brent 1980): whoever comes back
    /// to it is in a cycle.
    milestone: Option<NodeId>,
    next_milestone: usize,
    /// Whether the playout does not count as in flight on the root, which is compared with nothing.
    skips_root: bool,
}

impl Path {
    /// Begins a playout that is worth so many visits; with `skips_root` it counts as in flight only below the root.
    pub(crate) fn begin(&mut self, weight: u64, skips_root: bool) {
        self.skips_root = skips_root;
        self.weight = weight;
        self.nodes.clear();
        self.edges.clear();
        self.steps.clear();
        self.kept.clear();
        self.milestone = None;
        self.next_milestone = 1;
    }

    /// The playout comes to a node; what was there before it.
    pub(crate) fn enter_node(&mut self, node: &Node, id: NodeId) -> Tally {
        self.nodes.push(id);
        match self.is_in_flight_on(self.nodes.len() - 1) {
            true => node.count.enter(self.weight),
            false => node.count.read::<Sound>(),
        }
    }

    /// The playout passes a node that is kept; false, and it does not, if it has come back there: then it is to enter the node, and
    /// is cut.
    #[inline]
    pub(crate) fn pass_kept(&mut self, id: NodeId, spot: Spot, step: KeptStep) -> bool {
        self.nodes.push(id);
        if self.has_come_back() {
            self.nodes.pop();
            return false;
        }
        self.leave_kept(spot, step);
        true
    }

    /// The playout leaves the last node, which is kept as of now.
    pub(crate) fn leave_newly_kept(&mut self, node: &Node, spot: Spot, step: KeptStep) {
        debug_assert!(self.is_in_flight_on(self.nodes.len() - 1), "the root counts it where nodes are kept");
        node.count.leave(self.weight);
        self.leave_kept(spot, step);
    }

    fn leave_kept(&mut self, spot: Spot, step: KeptStep) {
        let KeptStep { edge, role, .. } = step;
        self.kept.push(spot);
        self.leave_node(false);
        self.push_edge(Passed { edge, role, chance: None, is_counted: false });
    }

    fn is_in_flight_on(&self, level: usize) -> bool {
        level >= self.n_not_in_flight()
    }

    /// The nodes, from the root on, that do not count it.
    fn n_not_in_flight(&self) -> usize {
        self.kept.len().max(usize::from(self.skips_root))
    }

    /// Whether the last node is known to have been passed before. Rules whose states repeat break the law
    /// of GDL that games end; such a path is cut.
    pub(crate) fn has_come_back(&mut self) -> bool {
        let last = self.nodes.last().copied();
        if self.milestone == last {
            return true;
        }
        if self.nodes.len() >= self.next_milestone {
            self.milestone = last;
            self.next_milestone *= 2;
        }
        false
    }

    /// The playout leaves the last node.
    pub(crate) fn leave_node(&mut self, is_simultaneous: bool) {
        self.steps.push(Step { first: self.edges.len(), joint: None, is_simultaneous });
    }

    /// It does so by an edge.
    pub(crate) fn enter_edge(&mut self, edge: &Edge, passed: Passed) {
        self.push_edge(passed);
        if passed.is_counted {
            edge.count.enter(self.weight);
        }
    }

    /// It does so by this edge and others, which [`Path::enter_edges`] enters when all are chosen.
    pub(crate) fn push_edge(&mut self, passed: Passed) {
        self.edges.push(passed);
    }

    /// Enters the edges of the last step.
    pub(crate) fn enter_edges<S: Eq + Hash, O: Orders>(&self, graph: &Graph<S, O>) {
        self.passed(self.steps.len() - 1).iter().for_each(|passed| {
            graph.edge(passed.edge).count.enter(self.weight);
        });
    }

    /// The joint move that it leaves by has this record.
    pub(crate) fn note_joint(&mut self, joint: Option<u32>) {
        if let Some(step) = self.steps.last_mut() {
            step.joint = joint;
        }
    }

    /// The edges of a step.
    pub(crate) fn passed(&self, step_idx: usize) -> &[Passed] {
        &self.edges[self.range(step_idx)]
    }

    fn range(&self, step_idx: usize) -> Range<usize> {
        let end = self.steps.get(step_idx + 1).map_or(self.edges.len(), |next| next.first);
        self.steps[step_idx].first..end
    }

    /// The edge of a step from a sequential node.
    pub(crate) fn edge_of(&self, step_idx: usize) -> Option<u32> {
        let step = self.steps[step_idx];
        (!step.is_simultaneous).then(|| self.edges[step.first].edge)
    }

    /// The values at a level: of its node, and of the edges that leave it.
    pub(crate) fn values_at(&self, level: usize) -> &[u64] {
        let first = if self.is_discounted { level * self.n_roles } else { 0 };
        &self.values[first..first + self.n_roles]
    }

    /// Adds the values of the finished playout to everything that the configuration adds them to, and counts it as
    /// the last node's own unless it ended behind an edge.
    pub(crate) fn back_up<S: Eq + Hash, O: Orders>(
        &mut self,
        graph: &Graph<S, O>,
        scheme: &Scheme,
        ending: &Ending<'_>,
        hot: &mut Hot,
        kept: &mut Kept,
    ) {
        self.fill_values(scheme, ending);
        if let (true, Some(&last)) = (ending.is_at_node, self.nodes.last()) {
            graph.node(last).own.fetch_add(self.weight, Ordering::Relaxed);
        }
        self.learn(graph, scheme, ending);
        match scheme.config {
            Config::Credited => self.back_up_credit(graph, scheme, ending),
            Config::UpdateAll => self.back_up_to_all(graph),
            Config::UcdIncremental(_) | Config::UcdPaper(_) => {
                // Corrections to numbers above the path start from what they are, so nobody else may change them.
                let _held = graph.backup_lock.lock();
                let mut ledger = std::mem::take(&mut self.ledger);
                ledger.begin(graph, scheme, self);
                self.add_along(graph, hot, kept);
                ledger.finish(graph, scheme, self);
                self.ledger = ledger;
            }
            _ => self.add_along(graph, hot, kept),
        }
    }

    /// What the end is worth at each level.
    fn fill_values(&mut self, scheme: &Scheme, ending: &Ending<'_>) {
        self.values.clear();
        self.n_roles = ending.values.len();
        self.is_discounted = scheme.valuation.discount != 1.0;
        if !self.is_discounted {
            self.values.extend_from_slice(ending.values);
            return;
        }
        let n_steps = self.steps.len();
        for level in 0..self.nodes.len() {
            let n_before = crate::arena::u32_of(n_steps - level);
            self.values.extend(ending.values.iter().map(|&value| scheme.valuation.before(value, n_before)));
        }
    }

    /// What each edge keeps of its chooser's values besides the sum.
    fn learn<S: Eq + Hash, O: Orders>(&self, graph: &Graph<S, O>, scheme: &Scheme, ending: &Ending<'_>) {
        let (regret, top) = (graph.layout.regret, graph.layout.top);
        if regret.len + top.len == 0 {
            return;
        }
        for step_idx in 0..self.steps.len() {
            for passed in self.passed(step_idx) {
                let role_idx = passed.role as usize;
                if top.len > 0 {
                    let n_before = crate::arena::u32_of(self.steps.len() - step_idx);
                    let best = scheme.valuation.before(ending.best[role_idx], n_before);
                    graph.word(passed.edge, top.first).fetch_max(best + 1, Ordering::Relaxed);
                }
                if let Some(chance) = passed.chance {
                    let mean = self.values_at(step_idx)[role_idx] as f64 / self.weight as f64;
                    let value = mean / scheme.valuation.full() as f64;
                    let edges = graph.edges_of_role(self.nodes[step_idx], role_idx);
                    Regrets { chosen: passed.edge, chance, value }.add(graph, edges);
                }
            }
        }
    }

    /// Adds the values to the edges and nodes of the path.
    ///
    /// # Orderings
    /// Sums first, counts after them with [`Orders::COUNT`]; see [`Count`](crate::count::Count).
    fn add_along<S: Eq + Hash, O: Orders>(&self, graph: &Graph<S, O>, hot: &mut Hot, kept: &mut Kept) {
        for (level, &spot) in self.kept.iter().enumerate() {
            kept.add(spot, self.values_at(level), self.values_at(level + 1));
        }
        for (step_idx, step) in self.steps.iter().enumerate().skip(self.kept.len()) {
            let values = self.values_at(step_idx);
            for passed in self.passed(step_idx) {
                let value = values[passed.role as usize];
                if hot.has(step_idx) {
                    hot.add_to_edge(passed.edge, value, self.weight, passed.is_counted);
                    continue;
                }
                let edge = graph.edge(passed.edge);
                add(&edge.sum, value);
                if !step.is_simultaneous {
                    self.add_words(graph, passed.edge, values, self.ends_behind(step_idx));
                }
                passed.finish::<O>(edge, self.weight);
            }
        }
        for (level, &id) in self.nodes.iter().enumerate().skip(self.kept.len()) {
            if hot.has(level) {
                hot.add_to_node(id, self.values_at(level), self.weight, self.is_in_flight_on(level));
                continue;
            }
            let node = graph.node(id);
            for (role_idx, &value) in self.values_at(level).iter().enumerate() {
                add(graph.sum_in(node, id, role_idx), value);
            }
            node.count.finish::<O>(self.weight);
        }
    }

    /// Each role's values on an edge, where the layout has a place for them.
    fn add_words<S: Eq + Hash, O: Orders>(
        &self,
        graph: &Graph<S, O>,
        edge: u32,
        values: &[u64],
        ends_behind: bool,
    ) {
        let (sums, own) = (graph.layout.sums, graph.layout.own);
        if sums.len == 0 {
            return;
        }
        for (role_idx, &value) in values.iter().enumerate() {
            add(graph.word(edge, sums.first + role_idx), value);
            if ends_behind {
                add(graph.word(edge, own.first + 1 + role_idx), value);
            }
        }
        if ends_behind {
            add(graph.word(edge, own.first), self.weight);
        }
    }

    /// Whether the playout counts for n' of a step's edge: it ended right behind it, or goes on in a simultaneous
    /// position, whose edges are nobody's children.
    pub(crate) fn ends_behind(&self, step_idx: usize) -> bool {
        self.steps.get(step_idx + 1).is_none_or(|next| next.is_simultaneous)
    }

    /// The child that a step led to.
    fn child_of(&self, step_idx: usize) -> Option<NodeId> {
        self.nodes.get(step_idx + 1).copied()
    }

    /// Takes the playout back: nothing is in flight of it any more.
    pub(crate) fn cancel<S: Eq + Hash, O: Orders>(&self, graph: &Graph<S, O>, kept: &mut Kept) {
        self.kept.iter().for_each(|&spot| kept.cancel(spot));
        for passed in self.edges.iter().filter(|passed| passed.is_counted) {
            graph.edge(passed.edge).count.leave(self.weight);
        }
        for &id in self.nodes.iter().skip(self.n_not_in_flight()) {
            graph.node(id).count.leave(self.weight);
        }
    }
}

/// Half of all goals are 0, and adding nothing still takes the cache line from its owner.
pub(crate) fn add(sum: &crate::sync::AtomicU64, value: u64) {
    if value != 0 {
        sum.fetch_add(value, Ordering::Relaxed);
    }
}
