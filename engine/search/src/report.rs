//! What a search has found, for whoever plays by it or watches it.

use std::hash::Hash;

use reasoner::{Move, Role};

use crate::config::Config;
use crate::count::Tally;
use crate::counters::Counters;
use crate::edge::{Child, Edge};
use crate::graph::Graph;
use crate::node::{NodeId, Status};
use crate::orders::Sound;
use crate::select::{mean, statistics_of};
use crate::sync::Ordering;

/// One move of one role at the root.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MoveReport {
    /// The move.
    pub a_move: Move,
    /// Finished playouts that count for it. Under `uct+t` in a sequential position these are the visits of
    /// the position it leads to, from wherever it was reached.
    pub visits: u64,
    /// The mean of the role's goals over them; 0 if there are none.
    pub value: f64,
}

/// One role's moves at the root.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RoleReport {
    /// Best first: by visits and then value where moves are chosen by statistics, by value and then visits
    /// under `mc` and `mc-memory`.
    pub moves: Vec<MoveReport>,
}

/// The best way to the end that a playout of a single-role game has found, from the root on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BestLine {
    /// The goal at its end.
    pub value: u64,
    /// One joint move after the other, each of one move.
    pub joint_moves: Vec<Vec<Move>>,
}

/// What went wrong in playouts that were given up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Failures {
    /// How many there were in the last run.
    pub playouts: u64,
    /// The last error's text.
    pub last: Option<String>,
}

/// What a search has found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// In role order. A role has no moves if the root is terminal, or was not opened for lack of time.
    pub roles: Vec<RoleReport>,
    /// Whether the root is a terminal state, or one in which a role is stuck.
    pub is_terminal: bool,
    /// Finished playouts of the last run.
    pub playouts: u64,
    /// How long it took or is taking.
    pub seconds: f64,
    /// Nodes in the graph, also those above and beside the root.
    pub nodes: u64,
    /// Edges in the graph.
    pub edges: u64,
    /// Bytes of the graph, by chunks, with the assumed heap of states.
    pub bytes: u64,
    /// Whether the graph has met its cap.
    pub is_full: bool,
    /// Nodes that a playout passed on average, the root included.
    pub mean_depth: f64,
    /// Joint moves of a rollout on average.
    pub mean_rollout: f64,
    /// What happened in the last run.
    pub counters: Counters,
    /// In a game of one role, the best line known.
    pub best_line: Option<BestLine>,
    /// Playouts given up because the reasoner failed.
    pub errors: Failures,
}

impl Report {
    /// The move to play: the first in the role's list, except that in a game of one role the best line is
    /// followed if it ends at least as well as any move does on average.
    pub fn best(&self, role: Role) -> Option<Move> {
        let moves = &self.roles.get(role.idx())?.moves;
        if let ([_], Some(line)) = (&self.roles[..], &self.best_line) {
            let best_mean = moves.iter().map(|m| m.value).fold(0.0, f64::max);
            if line.value as f64 >= best_mean
                && let Some(&a_move) = line.joint_moves.first().and_then(|joint_move| joint_move.first())
            {
                return Some(a_move);
            }
        }
        moves.first().map(|m| m.a_move)
    }

    /// Finished playouts per second of the last run.
    pub fn playouts_per_second(&self) -> f64 {
        if self.seconds > 0.0 { self.playouts as f64 / self.seconds } else { 0.0 }
    }
}

impl RoleReport {
    /// Puts the best first; what is equal stays in the order of the rules.
    pub(crate) fn sort(&mut self, by_visits: bool) {
        self.moves.sort_by(|a, b| {
            let by_value = b.value.total_cmp(&a.value);
            let by_count = b.visits.cmp(&a.visits);
            if by_visits { by_count.then(by_value) } else { by_value.then(by_count) }
        });
    }
}

/// The moves of every role in a node, best first; none if the node is not open.
pub(crate) fn roles_of<S: Eq + Hash>(graph: &Graph<S>, id: NodeId, config: Config) -> Vec<RoleReport> {
    let mut roles = vec![RoleReport::default(); graph.n_roles];
    if graph.node(id).status::<Sound>() != Status::Open {
        return roles;
    }
    let opening = graph.node(id).opening();
    let edges = graph.edges_of(opening);
    for (role_idx, role) in roles.iter_mut().enumerate() {
        match opening.mover {
            Some(mover) if mover as usize == role_idx => {
                role.moves.extend(edges.iter().map(|edge| {
                    let child = if config.has_transpositions() { edge.child::<Sound>() } else { Child::None };
                    match child {
                        Child::Node(child) => report_of(edge.a_move(), statistics_of(graph, child, role_idx)),
                        Child::None | Child::Broken => report_edge(edge),
                    }
                }));
            }
            Some(_) => {
                let only = graph.only_move(opening, role_idx);
                role.moves.push(report_of(only, statistics_of(graph, id, role_idx)));
            }
            None => role.moves.extend(edges[graph.edge_range(opening, role_idx)].iter().map(report_edge)),
        }
        role.sort(config.is_guided());
    }
    roles
}

fn report_edge(edge: &Edge) -> MoveReport {
    let tally = edge.count.read::<Sound>();
    report_of(edge.a_move(), (tally, edge.sum.load(Ordering::Relaxed)))
}

fn report_of(a_move: Move, (tally, sum): (Tally, u64)) -> MoveReport {
    let value = if tally.visits == 0 { 0.0 } else { mean(sum, tally.visits) };
    MoveReport { a_move, visits: tally.visits, value }
}
