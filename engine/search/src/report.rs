//! What a search has found, for whoever plays by it or watches it.

use std::hash::Hash;

use reasoner::{Move, Role};

use crate::counters::Counters;
use crate::graph::Graph;
use crate::node::{NodeId, Status};
use crate::order::proven_of;
use crate::orders::Sound;
use crate::scheme::Scheme;
use crate::select::{Account, Selector, Viewpoint};
use crate::sync::Ordering;

/// One move of one role at the root.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MoveReport {
    /// The move.
    pub a_move: Move,
    /// Finished playouts that count for it in selection. Under `uct+t` in a sequential position these are the visits of
    /// the position it leads to, from wherever it was reached; under `ucd` they are adapted to the depth of the
    /// child's.
    pub visits: u64,
    /// The mean that selection compares, in goal points; 0 if there is none. With another aim than the own goal, that
    /// aim on the same scale.
    pub value: f64,
    /// The best value of a playout through it, where the final move goes by it.
    pub top: Option<f64>,
    /// What is proven of it, if anything is. In a position where several roles choose: whatever the others do.
    pub proven: Option<Proven>,
}

/// What is proven of a value, whatever playouts say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Proven {
    /// It is at least this, in goal points without a discount. With another aim than the own goal, that aim on the same
    /// scale.
    pub least: f64,
    /// It is at most this.
    pub most: f64,
    /// Joint moves to the end along the proof, where the value is known.
    pub steps: Option<u64>,
}

impl Proven {
    /// The value, if it is known.
    pub fn value(&self) -> Option<f64> {
        (self.least >= self.most).then_some(self.least)
    }
}

/// One role's moves at the root.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RoleReport {
    /// What is proven of the position for the role, if anything is.
    pub proven: Option<Proven>,
    /// Best first. A proven best comes before all others, the shortest way to a good end first and the longest to a bad
    /// one; what is proven worse than another comes last. All others by the rule of the final move: visits, then value,
    /// where moves are chosen by statistics, and the other way round under `mc` and `mc-memory`, unless the options say
    /// otherwise.
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

/// What was reclaimed of the graphs of a search, since it was made.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Reclaims {
    /// How often.
    pub times: u64,
    /// Nodes whose room was given back.
    pub nodes: u64,
    /// Bytes given back.
    pub bytes: u64,
    /// Nodes that the last time left.
    pub live_nodes: u64,
    /// How long the last time took.
    pub last_seconds: f64,
    /// How long the longest one took.
    pub longest_seconds: f64,
    /// How long all took together.
    pub seconds: f64,
}

/// The table that finds positions, as it stands.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TableReport {
    /// Places in it.
    pub slots: u64,
    /// The part of them that is taken.
    pub fill: f64,
    /// How often tables were made larger, since the search was made.
    pub growths: u64,
    /// How long that took together; all threads wait meanwhile.
    pub growth_seconds: f64,
}

/// What a search has found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// In role order. A role has no moves if the root is terminal, or was not opened for lack of time.
    pub roles: Vec<RoleReport>,
    /// Whether the root is a terminal state, or one in which a role is stuck.
    pub is_terminal: bool,
    /// Whether the best move of every role that has a choice is proven, which ends a run unless its budget goes
    /// past proofs.
    pub is_solved: bool,
    /// Whether the run ended because the choice was settled that its budget names.
    pub is_settled: bool,
    /// Finished playouts of the last run.
    pub playouts: u64,
    /// What each counts as: one visit for each rollout from its end.
    pub visits_per_playout: u64,
    /// How long it took or is taking.
    pub seconds: f64,
    /// Nodes in the graph, also those above and beside the root.
    pub nodes: u64,
    /// Edges in the graph.
    pub edges: u64,
    /// How full the table of positions is; empty where equal positions are not one node.
    pub table: TableReport,
    /// Bytes of the graph, by chunks, with the assumed heap of states.
    pub bytes: u64,
    /// Whether the graph has met its cap, and nothing is added to it for now.
    pub is_full: bool,
    /// What was reclaimed.
    pub reclaims: Reclaims,
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
        let is_solved = self.is_solved && moves.first().is_some_and(|first| first.proven.is_some());
        if let ([_], Some(line), false) = (&self.roles[..], &self.best_line, is_solved) {
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

/// The moves of every role in a node, best first; none if the node is not open.
pub(crate) fn roles_of<S: Eq + Hash>(graph: &Graph<S>, scheme: &Scheme, id: NodeId) -> Vec<RoleReport> {
    let mut selector = Selector::default();
    (0..graph.n_roles).map(|role_idx| role_of(graph, scheme, &mut selector, (id, role_idx))).collect()
}

/// The moves of one role in a node, best first; none if the node is not open.
pub(crate) fn role_of<S: Eq + Hash>(
    graph: &Graph<S>,
    scheme: &Scheme,
    selector: &mut Selector,
    (id, role_idx): (NodeId, usize),
) -> RoleReport {
    let mut role = RoleReport::default();
    if graph.node(id).status::<Sound>() != Status::Open {
        return role;
    }
    let opening = graph.node(id).opening();
    if opening.mover.is_some_and(|mover| mover as usize != role_idx) {
        role.moves.push(report_node(graph, scheme, id, graph.only_move(opening, role_idx), role_idx));
        role.proven =
            scheme.solver.as_ref().and_then(|solver| proven_of(graph, scheme, solver, (id, role_idx)));
        return role;
    }
    let edges = graph.edges_of_role(id, role_idx);
    let view = Viewpoint { id, edges: edges.clone(), role_idx, is_simultaneous: opening.mover.is_none() };
    let accounts = selector.gather(graph, scheme, &view);
    let reports = accounts.iter().zip(edges).map(|(account, edge)| report_edge(graph, scheme, account, edge));
    role.moves.extend(reports);
    if let Some(solver) = &scheme.solver {
        role.add_proofs(graph, scheme, solver, (id, role_idx));
    }
    role.sort(scheme);
    role
}

/// The only move of a role that has no choice: all that is known of the node.
fn report_node<S: Eq + Hash>(
    graph: &Graph<S>,
    scheme: &Scheme,
    id: NodeId,
    a_move: Move,
    role_idx: usize,
) -> MoveReport {
    let results = graph.results(id, role_idx);
    let value = results.mean(&scheme.valuation).unwrap_or(0.0);
    MoveReport { a_move, visits: results.tally.visits, value, top: None, proven: None }
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts, and beyond 2^64 the most there is"
)]
fn report_edge<S: Eq + Hash>(graph: &Graph<S>, scheme: &Scheme, account: &Account, edge: u32) -> MoveReport {
    let part = graph.layout.top;
    let top = (part.len > 0).then(|| graph.word(edge, part.first).load(Ordering::Relaxed));
    MoveReport {
        a_move: graph.edge(edge).a_move(),
        visits: account.visits.round() as u64,
        value: account.mean.unwrap_or(0.0),
        top: top.filter(|&top| top > 0).map(|top| scheme.valuation.points((top - 1) as f64)),
        proven: None,
    }
}
