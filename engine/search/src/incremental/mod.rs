//! Adapted values that edges keep, and the corrections that a backup makes to them: exactly ([`exact`]), or as
//! Saffidine, Cazenave and Méhat 2012 print it in equation 15 ([`paper`]).
//!
//! Every correction starts from what the numbers are, so all of a graph's backups are made one after the other, under
//! [`Graph::backup_lock`]. Descents read without it.

mod exact;
mod paper;

use std::hash::Hash;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::adapted::kid_of;
use crate::backup::Path;
use crate::config::{Config, Depth, Depths};
use crate::edge::Child;
use crate::graph::Graph;
use crate::node::NodeId;
use crate::orders::Orders;
use crate::parents::Way;
use crate::scheme::Scheme;
use crate::sync::Ordering;

/// What an edge keeps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Kept {
    /// mu_d1, in units; none if nothing was added to it.
    pub(crate) mean: Option<f64>,
    /// n_d3.
    pub(crate) visits: f64,
    /// n_d2.
    pub(crate) origin: f64,
}

/// Where an edge keeps a number for several depths: one for each finite depth from 1 on, and one for the infinite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Levels {
    pub(crate) n_finite: usize,
    pub(crate) has_infinite: bool,
}

impl Levels {
    /// All that these depths need.
    pub(crate) fn of(depths: &[Depth]) -> Levels {
        let finite = depths.iter().map(|depth| match depth {
            Depth::Finite(depth) => usize::from(*depth),
            Depth::Infinite => 0,
        });
        Levels { n_finite: finite.max().unwrap_or(0), has_infinite: depths.contains(&Depth::Infinite) }
    }

    pub(crate) fn len(self) -> usize {
        self.n_finite + usize::from(self.has_infinite)
    }

    /// The place of a depth; depth 0 is the edge's own number.
    fn place(self, depth: Depth) -> Option<usize> {
        match depth {
            Depth::Finite(0) => None,
            Depth::Finite(depth) => Some(usize::from(depth) - 1),
            Depth::Infinite => Some(self.n_finite),
        }
    }
}

/// The words of an edge under `ucd-incremental`: the numerators of the mean by depth and role, their denominator, and
/// the visits by depth.
#[derive(Debug, Clone, Copy)]
struct ExactWords {
    first: usize,
    n_roles: usize,
    mean: Levels,
    visits: Levels,
}

impl ExactWords {
    fn of<S: Eq + Hash, O: Orders>(graph: &Graph<S, O>, depths: Depths) -> ExactWords {
        ExactWords {
            first: graph.layout.adapted.first,
            n_roles: graph.n_roles,
            mean: Levels::of(&[depths.mean]),
            visits: Levels::of(&[depths.parent, depths.child]),
        }
    }

    fn total(self, place: usize, role_idx: usize) -> usize {
        self.first + place * self.n_roles + role_idx
    }

    fn weight(self) -> usize {
        self.first + self.mean.len() * self.n_roles
    }

    fn visits(self, place: usize) -> usize {
        self.weight() + 1 + place
    }
}

/// How many words an edge keeps.
pub(crate) fn n_words(config: Config, n_roles: usize) -> usize {
    match config {
        Config::UcdIncremental(depths) => {
            Levels::of(&[depths.mean]).len() * n_roles + 1 + Levels::of(&[depths.parent, depths.child]).len()
        }
        Config::UcdPaper(_) => n_roles + 2,
        _ => 0,
    }
}

/// What an edge keeps for a role under these configurations; its own numbers where the depth is 0.
pub(crate) fn read<S: Eq + Hash, O: Orders>(
    graph: &Graph<S, O>,
    config: Config,
    edge: u32,
    role_idx: usize,
) -> Kept {
    match config {
        Config::UcdIncremental(depths) => exact::read(graph, depths, edge, role_idx),
        _ => paper::read(graph, edge, role_idx),
    }
}

fn load<S: Eq + Hash, O: Orders>(graph: &Graph<S, O>, edge: u32, word: usize) -> f64 {
    f64::from_bits(graph.word(edge, word).load(Ordering::Relaxed))
}

fn store<S: Eq + Hash, O: Orders>(graph: &Graph<S, O>, edge: u32, word: usize, number: f64) {
    graph.word(edge, word).store(number.to_bits(), Ordering::Relaxed);
}

/// Finished playouts through an edge.
fn visits_of<S: Eq + Hash, O: Orders>(graph: &Graph<S, O>, edge: u32) -> f64 {
    graph.edge(edge).count.read::<O>().visits as f64
}

/// A step of a path from a sequential node.
#[derive(Debug, Clone, Copy)]
struct PathEdge {
    edge: u32,
    level: usize,
    origin: NodeId,
    /// Whether the playout counts for n'.
    ends_behind: bool,
}

fn path_edges(path: &Path) -> impl Iterator<Item = PathEdge> {
    (0..path.steps.len()).filter_map(|level| {
        Some(PathEdge {
            edge: path.edge_of(level)?,
            level,
            origin: path.nodes[level],
            ends_behind: path.ends_behind(level),
        })
    })
}

/// The edges of sequential nodes that lead to a node, each once, with their nodes.
fn edges_into<S: Eq + Hash, O: Orders>(graph: &Graph<S, O>, id: NodeId) -> Vec<(u32, NodeId)> {
    let Some(parents) = &graph.parents else { return Vec::new() };
    let mut into: Vec<(u32, NodeId)> = parents
        .of(graph, id)
        .filter_map(|(origin, way)| match way {
            Way::Edge(edge) => Some((edge, origin)),
            Way::Joint(_) => None,
        })
        .collect();
    into.sort_unstable();
    into.dedup();
    into
}

/// The nodes at most `depth` edges above the given ones, with them, so ordered that none comes before one that lies
/// below it.
fn upwards<S: Eq + Hash, O: Orders>(graph: &Graph<S, O>, from: &[NodeId], depth: Depth) -> Vec<NodeId> {
    let mut within: FxHashSet<NodeId> = from.iter().copied().collect();
    let mut level: Vec<NodeId> = from.to_vec();
    let mut n_above = 0;
    while !level.is_empty() && Depth::Finite(n_above) != depth {
        let above = level.iter().flat_map(|&id| edges_into(graph, id)).map(|(_, origin)| origin);
        level = above.filter(|&origin| within.insert(origin)).collect();
        n_above = n_above.saturating_add(1).min(u8::MAX - 1);
    }
    // A node is finished after all above it; so the reverse has it before them.
    let mut finished = Vec::with_capacity(within.len());
    let mut entered = FxHashSet::default();
    let mut open: Vec<NodeId> = from.to_vec();
    let mut is_finished: FxHashSet<NodeId> = FxHashSet::default();
    while let Some(&top) = open.last() {
        if entered.insert(top) {
            let above = edges_into(graph, top).into_iter().map(|(_, origin)| origin);
            open.extend(above.filter(|origin| within.contains(origin) && !entered.contains(origin)));
        } else {
            open.pop();
            if is_finished.insert(top) {
                finished.push(top);
            }
        }
    }
    finished.reverse();
    finished
}

/// The corrections of one backup, with memory of its own.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    nodes: FxHashMap<NodeId, exact::NodeChange>,
}

impl Ledger {
    /// Before the playout is counted: an edge that it is the first to pass gets the numbers of what lies below.
    pub(crate) fn begin<S: Eq + Hash, O: Orders>(
        &mut self,
        graph: &Graph<S, O>,
        scheme: &Scheme,
        path: &Path,
    ) {
        for passed in path_edges(path) {
            if visits_of(graph, passed.edge) > 0.0 {
                continue;
            }
            let kid = match graph.edge(passed.edge).child::<O>() {
                Child::Node(_) => kid_of(graph, graph.edge(passed.edge)),
                Child::None | Child::Broken => None,
            };
            match scheme.config {
                Config::UcdIncremental(depths) => exact::begin_edge(graph, scheme, depths, passed.edge, kid),
                Config::UcdPaper(depths) => paper::begin_edge(graph, depths, passed.edge, kid),
                _ => {}
            }
        }
    }

    /// After it was counted: everything above its end is corrected.
    pub(crate) fn finish<S: Eq + Hash, O: Orders>(
        &mut self,
        graph: &Graph<S, O>,
        scheme: &Scheme,
        path: &Path,
    ) {
        match scheme.config {
            Config::UcdIncremental(depths) => self.finish_exactly(graph, scheme, depths, path),
            Config::UcdPaper(depths) => paper::finish(graph, depths, path),
            _ => {}
        }
    }
}
