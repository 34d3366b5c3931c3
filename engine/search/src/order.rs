//! The order of a role's moves, best first: what is proven before what was counted.

use std::hash::Hash;

use crate::config::FinalMove;
use crate::graph::Graph;
use crate::node::NodeId;
use crate::report::{MoveReport, Proven, RoleReport};
use crate::scheme::Scheme;
use crate::solver::{Interval, Solver, verdicts};

/// What is proven of a node for a role, if anything is.
pub(crate) fn proven_of<S: Eq + Hash>(
    graph: &Graph<S>,
    scheme: &Scheme,
    solver: &Solver,
    (id, role_idx): (NodeId, usize),
) -> Option<Proven> {
    let word = graph.bounds(id);
    let steps = solver.layout.distance(word);
    told(scheme, solver, solver.layout.interval(word, role_idx), steps)
}

/// Bounds in goal points; none if they say nothing.
fn told(scheme: &Scheme, solver: &Solver, interval: Interval, steps: Option<u64>) -> Option<Proven> {
    let points = |rank| scheme.valuation.points(scheme.valuation.of_rank(rank) as f64);
    let is_news = interval.lo > 0 || interval.hi < solver.layout.most;
    is_news.then(|| Proven {
        least: points(interval.lo),
        most: points(interval.hi),
        steps: steps.filter(|_| interval.is_exact()),
    })
}

impl RoleReport {
    /// Adds what is proven of the node and of each move, which stand in the order of the node's edges.
    pub(crate) fn add_proofs<S: Eq + Hash>(
        &mut self,
        graph: &Graph<S>,
        scheme: &Scheme,
        solver: &Solver,
        at: (NodeId, usize),
    ) {
        self.proven = proven_of(graph, scheme, solver, at);
        let verdicts = verdicts(solver, graph, at.0, at.1).unwrap_or_default();
        for (a_move, verdict) in self.moves.iter_mut().zip(verdicts) {
            a_move.proven = told(scheme, solver, verdict.interval, verdict.distance);
        }
    }

    /// Puts the best first; what is equal stays in the order of the rules.
    pub(crate) fn sort(&mut self, scheme: &Scheme) {
        self.sort_by_rule(scheme.final_move);
        if self.moves.iter().all(|it| it.proven.is_none()) {
            return;
        }
        let full = scheme.valuation.points(scheme.valuation.full() as f64);
        let bounds = |it: &MoveReport| it.proven.map_or((0.0, full), |proven| (proven.least, proven.most));
        let least = self.moves.iter().map(|it| bounds(it).0).fold(0.0, f64::max);
        let most = self.moves.iter().map(|it| bounds(it).1).fold(0.0, f64::max);
        // Where roles choose at once, what the others can do bounds the role beyond what its own moves say.
        let most = self.proven.map_or(most, |proven| most.min(proven.most));
        let class = |it: &MoveReport| match bounds(it) {
            (lo, _) if lo >= most => 0,
            (_, hi) if hi < least => 2,
            _ => 1,
        };
        let is_good = 2.0 * most > full;
        let steps = |it: &MoveReport| {
            let steps = it.proven.and_then(|proven| proven.steps).map(u64::cast_signed);
            steps.map_or(i64::MAX, |steps| if is_good { steps } else { -steps })
        };
        self.moves.sort_by_key(|it| (class(it), if class(it) == 0 { steps(it) } else { 0 }));
        // Bounds know of no discount, so a discounted mean is compared with none.
        if scheme.valuation.discount == 1.0 && self.moves.first().is_some_and(|first| class(first) == 1) {
            let n_open = self.moves.iter().take_while(|it| class(it) == 1).count();
            prefer_a_known_value(&mut self.moves[..n_open], least);
        }
    }

    fn sort_by_rule(&mut self, rule: FinalMove) {
        self.moves.sort_by(|a, b| {
            let by_value = b.value.total_cmp(&a.value);
            let by_count = b.visits.cmp(&a.visits);
            match rule {
                FinalMove::Visits => by_count.then(by_value),
                FinalMove::Mean => by_value.then(by_count),
                FinalMove::Top => {
                    let worth = |it: &MoveReport| it.top.unwrap_or(f64::NEG_INFINITY);
                    worth(b).total_cmp(&worth(a)).then(by_value).then(by_count)
                }
            }
        });
    }
}

/// Among moves of which none is decided, one whose value is known, which is then `least`, comes before all others if that is
/// no worse than the mean of the first of them, and otherwise behind them. Visits are no measure of it: nobody explores what
/// is known.
fn prefer_a_known_value(moves: &mut [MoveReport], least: f64) {
    let is_known = |it: &MoveReport| it.proven.is_some_and(|proven| proven.value().is_some());
    let first_open = moves.iter().find(|it| !is_known(it));
    let is_preferred = first_open.is_none_or(|open| open.value <= least);
    moves.sort_by_key(|it| is_known(it) != is_preferred);
}
