//! Which move a playout tries: UCB1 over what the configuration knows of each, unexplored moves first.
//!
//! In goes a node seen from a role that chooses there; out comes the index of an edge. What is known of an edge is an
//! [`Account`] ([`accounts`]); regret matching, which knows something else, has a place of its own ([`regret`]).

mod accounts;
mod columns;
mod leaning;
mod regret;

use accounts::Recall;
pub(crate) use accounts::{Account, Standing};
pub(crate) use columns::{Columns, numerator, results_of};
use columns::{Comparison, first_of_best};
use leaning::Leaning;
pub(crate) use regret::{Regrets, choose_by_regret};

use std::hash::Hash;
use std::ops::Range;

use reasoner::{Dice, Interrupt};

use crate::config::{InFlight, Unexplored};
use crate::graph::Graph;
use crate::history::History;
use crate::kept::Kept;
use crate::node::NodeId;
use crate::orders::Orders;
use crate::scheme::Scheme;
use crate::solver::Solver;

/// Bounds that differ by less, in goal points, are equal but for rounding: what is exact under one rule and rounded
/// under another leads to the same choice.
pub(crate) const TIE: f64 = 1e-4;

/// One in so many playouts whose best move is known tries the best of the others: a value that is known teaches nothing, and
/// whether another move is better would never be found out.
const LOOK_BEYOND: usize = 4;

/// A node seen from a role that chooses in it.
#[derive(Debug, Clone)]
pub(crate) struct Viewpoint {
    pub(crate) id: NodeId,
    /// The role's edges, by id.
    pub(crate) edges: Range<u32>,
    pub(crate) role_idx: usize,
    /// Whether other roles choose at the same time, so that the edges lead to no single node.
    pub(crate) is_simultaneous: bool,
}

/// Chooses moves, with memory of its own for the accounts of one node.
#[derive(Debug, Default)]
pub(crate) struct Selector {
    accounts: Vec<Account>,
    /// By account: the upper confidence bound.
    bounds: Vec<f64>,
    recall: Recall,
    comparison: Comparison,
    leaning: Leaning,
    /// What is proven of each move's child.
    words: Vec<u64>,
}

impl Selector {
    /// With an interrupt that ends long computations.
    pub(crate) fn new(interrupt: Interrupt) -> Selector {
        Selector { recall: Recall::new(interrupt), ..Selector::default() }
    }

    /// A descent begins: what earlier ones computed holds no longer.
    pub(crate) fn begin_descent(&mut self) {
        self.recall.clear();
    }

    /// The index of the move to try; none if no edge leads anywhere.
    pub(crate) fn choose<S: Eq + Hash, O: Orders>(
        &mut self,
        graph: &Graph<S, O>,
        scheme: &Scheme,
        history: Option<&History>,
        view: &Viewpoint,
        dice: &mut Dice,
        kept: &mut Kept,
    ) -> Option<usize> {
        if scheme.has_columns
            && let Some(chosen) = self.comparison.choose(graph, scheme, view, dice, kept)
        {
            return Some(chosen);
        }
        self.gather(graph, scheme, view);
        let n_unexplored = self.accounts.iter().filter(|it| it.standing == Standing::Unexplored).count();
        if n_unexplored > 0 {
            return Some(self.choose_unexplored(graph, scheme, history, view, n_unexplored, dice));
        }
        self.leaning.bias(graph, scheme, view, &mut self.accounts);
        let first_guess = mean_of(graph, scheme, view);
        let best = self.choose_by_bound(scheme, first_guess, |_| true)?;
        if self.accounts[best].standing != Standing::Proven {
            return Some(best);
        }
        let open = self.choose_by_bound(scheme, first_guess, |standing| standing != Standing::Proven);
        Some(open.filter(|_| dice.below(LOOK_BEYOND) == 0).unwrap_or(best))
    }

    /// What is known of each of a role's moves.
    pub(crate) fn gather<S: Eq + Hash, O: Orders>(
        &mut self,
        graph: &Graph<S, O>,
        scheme: &Scheme,
        view: &Viewpoint,
    ) -> &[Account] {
        accounts::gather(graph, scheme, view, &mut self.recall, &mut self.accounts);
        if let (Some(solver), false) = (&scheme.solver, view.is_simultaneous) {
            self.judge(graph, scheme, solver, view);
        }
        &self.accounts
    }

    /// Takes what is proven into the accounts of a sequential node's moves, and tightens the node's own bounds by it. A
    /// value that is known needs no exploration; what is proven worse than another move is not tried (Cazenave and
    /// Saffidine 2010).
    fn judge<S: Eq + Hash, O: Orders>(
        &mut self,
        graph: &Graph<S, O>,
        scheme: &Scheme,
        solver: &Solver,
        view: &Viewpoint,
    ) {
        let layout = solver.layout;
        solver.gather(graph, graph.node(view.id).opening(), &mut self.words);
        let proven = solver.of_choice(&self.words, view.role_idx);
        if proven == 0 {
            return;
        }
        graph.tighten(view.id, layout, proven);
        let least = layout.interval(proven, view.role_idx).lo;
        for (account, &word) in self.accounts.iter_mut().zip(&self.words) {
            let interval = layout.interval(word, view.role_idx);
            let points = |rank| scheme.valuation.points(scheme.valuation.of_rank(rank) as f64);
            if interval.hi < least {
                account.standing = Standing::Refuted;
            }
            // Bounds know of no discount, so they tell nothing of a discounted mean.
            if word == 0 || !solver.ends_descents {
                continue;
            }
            if interval.is_exact() {
                account.mean = Some(points(interval.lo));
                if account.standing != Standing::Refuted {
                    account.standing = Standing::Proven;
                }
            } else {
                account.mean = account.mean.map(|mean| mean.clamp(points(interval.lo), points(interval.hi)));
            }
        }
    }

    fn choose_unexplored<S: Eq + Hash, O: Orders>(
        &self,
        graph: &Graph<S, O>,
        scheme: &Scheme,
        history: Option<&History>,
        view: &Viewpoint,
        n_unexplored: usize,
        dice: &mut Dice,
    ) -> usize {
        let is_unexplored = |idx: usize| self.accounts[idx].standing == Standing::Unexplored;
        if scheme.unexplored == Unexplored::Uniform
            && let Some(turn) = next_in_turn(graph, view, is_unexplored)
        {
            return turn;
        }
        let unexplored = || {
            let all = self.accounts.iter().enumerate();
            all.filter(|(_, it)| it.standing == Standing::Unexplored).map(|(idx, _)| idx)
        };
        let chosen = match (scheme.unexplored, history) {
            _ if n_unexplored == 1 => 0,
            (Unexplored::Gibbs { .. }, Some(history)) => {
                let edges = graph.edges_in(view.edges.clone());
                history.choose(view.role_idx, unexplored().map(|idx| edges[idx].a_move()), dice.unit())
            }
            _ => dice.below(n_unexplored),
        };
        unexplored().nth(chosen).unwrap_or(0)
    }

    /// UCB1 with what is in flight in its exploration term (Liu et al. 2020, WU-UCT, eq. 4):
    /// Q + C sqrt(ln(N + O) / (n + o)). Of equal bounds the earlier move's counts. A virtual loss counts in Q too.
    ///
    /// A bias is added to every bound; moves of some standing are left out.
    fn choose_by_bound(
        &mut self,
        scheme: &Scheme,
        first_guess: f64,
        may_have: impl Fn(Standing) -> bool,
    ) -> Option<usize> {
        let loss = match scheme.in_flight {
            InFlight::Count => None,
            InFlight::VirtualLoss(weight) => Some(weight),
        };
        let pending = |account: &Account| account.in_flight * loss.unwrap_or(1.0);
        let n_parent: f64 = self.accounts.iter().map(|account| account.origin + pending(account)).sum();
        let numerator = numerator(scheme.exploration, n_parent);
        let bound = |account: &Account| {
            let visits = account.visits + pending(account);
            // A move whose first playouts are under way counts as good as its node is.
            let mut q = account.mean.unwrap_or(first_guess);
            if loss.is_some() && visits > 0.0 {
                q *= account.visits / visits;
            }
            match account.standing {
                Standing::Broken | Standing::Refuted => f64::NEG_INFINITY,
                standing if !may_have(standing) => f64::NEG_INFINITY,
                Standing::Proven => q + account.bias,
                _ => q + account.bias + numerator / visits.max(1.0).sqrt(),
            }
        };
        // All bounds first: square roots and divisions that wait for no comparison overlap.
        self.bounds.clear();
        self.bounds.extend(self.accounts.iter().map(bound));
        let best = first_of_best(&self.bounds);
        self.bounds.get(best).filter(|&&bound| bound > f64::NEG_INFINITY).map(|_| best)
    }
}

/// The index of the next unexplored move of a sequential node; none if all that are unexplored have had their turn: they were tried and given
/// up.
fn next_in_turn<S: Eq + Hash, O: Orders>(
    graph: &Graph<S, O>,
    view: &Viewpoint,
    is_unexplored: impl Fn(usize) -> bool,
) -> Option<usize> {
    let node = graph.node(view.id);
    let mut turns = std::iter::from_fn(|| if view.is_simultaneous { None } else { node.take_turn() });
    turns.find(|&turn| is_unexplored(turn))
}

/// The mean of a node in goal points, 0 if nothing is known.
fn mean_of<S: Eq + Hash, O: Orders>(graph: &Graph<S, O>, scheme: &Scheme, view: &Viewpoint) -> f64 {
    graph.results(view.id, view.role_idx).mean(&scheme.valuation).unwrap_or(0.0)
}
