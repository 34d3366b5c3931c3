//! What a configuration knows of each move of a role in a node.

use std::hash::Hash;

use reasoner::Interrupt;

use super::Viewpoint;
use crate::adapted::{Adapter, Memo};
use crate::config::{Config, Depth, Depths};
use crate::count::Tally;
use crate::credit::Credit;
use crate::edge::{Child, Edge};
use crate::graph::Graph;
use crate::incremental;
use crate::node::{NodeId, Status};
use crate::orders::Orders;
use crate::results::Results;
use crate::scheme::Scheme;
use crate::sync::Ordering;

/// What selection knows of one move.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Account {
    /// The mean value, in goal points; none if there is no finished playout.
    pub(crate) mean: Option<f64>,
    /// n, the finished playouts that count for the move.
    pub(crate) visits: f64,
    /// What the move adds to its parent's visits.
    pub(crate) origin: f64,
    pub(crate) in_flight: f64,
    pub(crate) standing: Standing,
    /// What the move is preferred by, whatever it came to, in goal points.
    pub(crate) bias: f64,
}

/// How far a move is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Nobody went there, or is on the way.
    Unexplored,
    Explored,
    /// Its value is proven, and is its mean.
    Proven,
    /// Another move is proven to be better.
    Refuted,
    /// The reasoner does not know where it leads.
    Broken,
}

/// Adapted values that were computed during this descent, by role.
#[derive(Debug, Default)]
pub(crate) struct Recall {
    memos: Vec<Memo>,
    interrupt: Option<Interrupt>,
}

impl Recall {
    /// With an interrupt that ends long computations.
    pub(crate) fn new(interrupt: Interrupt) -> Recall {
        Recall { memos: Vec::new(), interrupt: Some(interrupt) }
    }

    /// Forgets everything: a playout has been added since.
    pub(super) fn clear(&mut self) {
        self.memos.iter_mut().for_each(Memo::clear);
    }

    fn memo(&mut self, role_idx: usize) -> &mut Memo {
        if self.memos.len() <= role_idx {
            self.memos.resize_with(role_idx + 1, Memo::default);
        }
        &mut self.memos[role_idx]
    }
}

/// Replaces `accounts` by those of the role's edges, in order.
pub(super) fn gather<S: Eq + Hash, O: Orders>(
    graph: &Graph<S, O>,
    scheme: &Scheme,
    view: &Viewpoint,
    recall: &mut Recall,
    accounts: &mut Vec<Account>,
) {
    accounts.clear();
    let by_itself = |edge: u32| of_edge::<O>(scheme, graph.edge(edge));
    let edges = graph.edges_in(view.edges.clone());
    if view.is_simultaneous {
        // Decoupled: each role chooses as if it were alone, by what its own moves came to.
        return accounts.extend(edges.iter().map(|edge| of_edge::<O>(scheme, edge)));
    }
    match scheme.config {
        _ if scheme.config.is_by_children(scheme.payoffs) => {
            accounts.extend(edges.iter().map(|edge| of_child(graph, scheme, edge, view.role_idx)));
        }
        Config::Ucd(depths) => {
            let mut adapter = adapter(graph, scheme, view, recall);
            accounts.extend(view.edges.clone().map(|edge| adapted(&mut adapter, scheme, edge, depths)));
        }
        Config::UcdIncremental(_) | Config::UcdPaper(_) => {
            accounts.extend(view.edges.clone().map(|edge| kept(graph, scheme, edge, view.role_idx)));
        }
        Config::Rave => accounts.extend(view.edges.clone().map(|edge| {
            let later = later_of(graph, view.id, view.role_idx, edge);
            mixed(scheme, by_itself(edge), later)
        })),
        Config::RaveUcd { rave, mean } => {
            gather_rave_ucd(graph, scheme, view, recall, accounts, (rave, mean))
        }
        Config::Credited => {
            accounts.extend(view.edges.clone().map(|edge| credited(graph, scheme, edge, view.role_idx)));
        }
        Config::Uct
        | Config::UctT
        | Config::UpdateAll
        | Config::UpdateDescent
        | Config::Mc
        | Config::McMemory => accounts.extend(edges.iter().map(|edge| of_edge::<O>(scheme, edge))),
    }
}

fn adapter<'a, S: Eq + Hash, O: Orders>(
    graph: &'a Graph<S, O>,
    scheme: &Scheme,
    view: &Viewpoint,
    recall: &'a mut Recall,
) -> Adapter<'a, S, O> {
    let interrupt = recall.interrupt.clone();
    Adapter {
        graph,
        payoffs: scheme.payoffs,
        discount: scheme.valuation.discount,
        role_idx: view.role_idx,
        memo: recall.memo(view.role_idx),
        interrupt,
    }
}

#[inline]
fn account(scheme: &Scheme, results: Results, standing: Standing) -> Account {
    let visits = results.tally.visits as f64;
    let mean = results.mean(&scheme.valuation);
    Account { mean, visits, origin: visits, in_flight: results.tally.in_flight as f64, standing, bias: 0.0 }
}

#[inline]
fn standing_of<O: Orders>(edge: &Edge, tally: Tally) -> Standing {
    match tally.total() {
        // Only an edge without visits can be broken, so the others need not be asked.
        0 if edge.child::<O>() == Child::Broken => Standing::Broken,
        0 => Standing::Unexplored,
        _ => Standing::Explored,
    }
}

/// By the edge's own count and sum: the rule of `uct`, and of every simultaneous position.
#[inline]
fn of_edge<O: Orders>(scheme: &Scheme, edge: &Edge) -> Account {
    let results = edge.results::<O>();
    account(scheme, results, standing_of::<O>(edge, results.tally))
}

/// By the child's count and sum, whichever way it was reached: the rule of `uct+t`. The parent's visits are the sum
/// of theirs, so that a child well known from elsewhere leaves the playouts to its siblings (Méhat and Cazenave
/// 2010, section 3.2).
#[inline]
fn of_child<S: Eq + Hash, O: Orders>(
    graph: &Graph<S, O>,
    scheme: &Scheme,
    edge: &Edge,
    role_idx: usize,
) -> Account {
    let Child::Node(child) = edge.child::<O>() else { return of_edge::<O>(scheme, edge) };
    // The standing stays the edge's: an edge is unexplored until it was followed, however well its
    // child is known.
    let standing = standing_of::<O>(edge, edge.count.read::<O>());
    let of_child = account(scheme, graph.results(child, role_idx), standing);
    Account { mean: of_child.mean.map(|mean| mean * scheme.valuation.discount), ..of_child }
}

fn adapted<S: Eq + Hash, O: Orders>(
    adapter: &mut Adapter<'_, S, O>,
    scheme: &Scheme,
    edge: u32,
    depths: Depths,
) -> Account {
    let own = of_edge::<O>(scheme, adapter.graph.edge(edge));
    if own.visits == 0.0 {
        return own;
    }
    let mean = adapter.at(edge, depths.mean);
    let visits = adapter.at(edge, depths.child).visits;
    let origin = if depths.parent == depths.child { visits } else { adapter.at(edge, depths.parent).visits };
    let is_known = mean.weight > 0.0;
    let mean = if is_known { Some(scheme.valuation.points(mean.total / mean.weight)) } else { own.mean };
    Account { mean, visits, origin, ..own }
}

/// By the adapted numbers that backups keep.
fn kept<S: Eq + Hash, O: Orders>(
    graph: &Graph<S, O>,
    scheme: &Scheme,
    edge: u32,
    role_idx: usize,
) -> Account {
    let own = of_edge::<O>(scheme, graph.edge(edge));
    if own.visits == 0.0 {
        return own;
    }
    let kept = incremental::read(graph, scheme.config, edge, role_idx);
    let mean = kept.mean.map(|mean| scheme.valuation.points(mean)).or(own.mean);
    Account { mean, visits: kept.visits, origin: kept.origin, ..own }
}

/// By how often the edge was passed and what its child is worth now.
fn credited<S: Eq + Hash, O: Orders>(
    graph: &Graph<S, O>,
    scheme: &Scheme,
    edge: u32,
    role_idx: usize,
) -> Account {
    let own = of_edge::<O>(scheme, graph.edge(edge));
    if own.visits == 0.0 {
        return own;
    }
    let mean = match graph.edge(edge).child::<O>() {
        Child::Node(child) => {
            let mean = graph.results(child, role_idx).mean(&scheme.valuation);
            mean.map(|mean| mean * scheme.valuation.discount)
        }
        Child::None | Child::Broken => {
            let word = graph.word(edge, graph.layout.credits.first + role_idx).load(Ordering::Relaxed);
            let credit = Credit::of(word);
            (credit.n > 0).then(|| scheme.valuation.points(credit.q as f64))
        }
    };
    Account { mean, ..own }
}

/// Playouts through a node in which a move came there or later: their number, and their values in units.
#[derive(Debug, Clone, Copy, Default)]
struct Later {
    n: f64,
    sum: f64,
}

fn later_of<S: Eq + Hash, O: Orders>(graph: &Graph<S, O>, id: NodeId, role_idx: usize, edge: u32) -> Later {
    let Some(later) = &graph.later else { return Later::default() };
    let tally = later.get::<O>(id, crate::arena::u32_of(role_idx), graph.edge(edge).a_move());
    Later { n: tally.n as f64, sum: tally.sum as f64 }
}

/// The mean mixed with that of later moves, whose share is n' / (n + n' + b n n') for n playouts of the move itself
/// and n' in which it came later (Gelly and Silver 2007; with the bias b as Saffidine, Cazenave and Méhat 2012 give
/// it in table 2).
fn mixed(scheme: &Scheme, own: Account, later: Later) -> Account {
    if later.n == 0.0 || own.standing == Standing::Broken {
        return own;
    }
    let n = own.visits;
    let beta = later.n / (n + later.n + scheme.rave_bias * n * later.n);
    let worth = scheme.valuation.points(later.sum / later.n);
    let mean = own.mean.map_or(worth, |mean| (1.0 - beta) * mean + beta * worth);
    // A move that came later somewhere need not be tried first.
    Account { mean: Some(mean), standing: Standing::Explored, ..own }
}

/// As `rave`, with what moves were worth later at the nodes `rave` levels below, so that playouts which reached those
/// by other ways count too (Saffidine, Cazenave and Méhat 2012, section 4.3), and the mean of depth `mean`.
fn gather_rave_ucd<S: Eq + Hash, O: Orders>(
    graph: &Graph<S, O>,
    scheme: &Scheme,
    view: &Viewpoint,
    recall: &mut Recall,
    accounts: &mut Vec<Account>,
    (rave, mean): (Depth, Depth),
) {
    let depths = Depths { mean, parent: Depth::Finite(0), child: Depth::Finite(0) };
    let mut adapter = adapter(graph, scheme, view, recall);
    accounts.extend(view.edges.clone().map(|edge| adapted(&mut adapter, scheme, edge, depths)));
    let mut sources = nodes_below(graph, view.id, rave);
    if sources.len().saturating_mul(view.edges.len()) > MAX_LOOK_UPS {
        sources = vec![(view.id, 0)];
    }
    for (account, edge) in accounts.iter_mut().zip(view.edges.clone()) {
        let mut later = Later::default();
        for &(source, n_levels) in &sources {
            let at = later_of(graph, source, view.role_idx, edge);
            later.n += at.n;
            later.sum += at.sum * scheme.valuation.discount.powi(i32::from(n_levels));
        }
        *account = mixed(scheme, *account, later);
    }
}

/// Look-ups for one choice under `rave-ucd`; a node with more moves times nodes below uses its own numbers.
const MAX_LOOK_UPS: usize = 1 << 14;

/// The nodes so many levels below a node, or where its ways end before that, each once with its level.
fn nodes_below<S: Eq + Hash, O: Orders>(graph: &Graph<S, O>, id: NodeId, depth: Depth) -> Vec<(NodeId, u8)> {
    let mut level = vec![id];
    let mut found = Vec::new();
    let mut n_levels = 0;
    while !level.is_empty() && Depth::Finite(n_levels) != depth && n_levels < u8::MAX {
        let mut next = Vec::new();
        for &node in &level {
            let n_before = next.len();
            if graph.node(node).status::<O>() == Status::Open {
                let edges = graph.edges_of(graph.node(node).opening());
                next.extend(edges.iter().filter_map(|edge| match edge.child::<O>() {
                    Child::Node(child) => Some(child),
                    Child::None | Child::Broken => None,
                }));
            }
            if next.len() == n_before {
                found.push((node, n_levels));
            }
        }
        next.sort_unstable();
        next.dedup();
        level = next;
        n_levels += 1;
    }
    found.extend(level.into_iter().map(|node| (node, n_levels)));
    found.sort_unstable();
    found.dedup_by_key(|&mut (node, _)| node);
    found
}
