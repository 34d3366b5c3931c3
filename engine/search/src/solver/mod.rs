//! The solver: what is proven of each node's values, whatever the playouts say.
//!
//! In go the goals of terminal nodes, out come bounds on the values of all nodes above them, role by role, which only ever
//! tighten ([`bounds`]). It follows what Winands, Björnsson and Saito (2008, "Monte-Carlo Tree Search Solver") do for wins
//! and losses, and Cazenave and Saffidine (2010, "Score Bounded Monte-Carlo Tree Search") for any goals of two roles,
//! with every role maximising its own (`GRAPH.md` has the rules and why they hold). It makes no playouts and opens no
//! nodes, and does not know a value's discount: bounds are of undiscounted goals.

pub(crate) mod bounds;
mod joint;
mod proof_numbers;
mod verdict;

use std::hash::Hash;

pub(crate) use self::bounds::{BoundsLayout, Interval};
pub(crate) use self::proof_numbers::ProofNumbers;
pub(crate) use self::verdict::verdicts;
use crate::backup::Path;
use crate::edge::Child;
use crate::graph::Graph;
use crate::node::{NodeId, Opening, Status};
use crate::options::Options;
use crate::orders::Orders;
use crate::sync::Ordering;
use crate::valuation::Valuation;

/// What proofs go by in one game.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Solver {
    pub(crate) layout: BoundsLayout,
    /// What the ranks of two roles always sum up to, where that is known of the game.
    sum: Option<u64>,
    /// The least rank that is a win.
    least_win: u64,
    /// Whether a known value is worth the same here as where the game ends, so that descents may end at it.
    pub(crate) ends_descents: bool,
}

impl Solver {
    /// For a search with these options; none if it is not to prove anything, keeps no graph, is one of the baselines, or the
    /// goals are too many to be bounded.
    pub(crate) fn new(options: &Options, valuation: &Valuation, n_roles: usize) -> Option<Solver> {
        let is_wanted = options.solver && options.config.is_guided();
        let layout = BoundsLayout::new(n_roles, valuation.most()).filter(|_| is_wanted)?;
        Some(Solver {
            layout,
            sum: valuation.sum_of_two(),
            least_win: valuation.least_win(),
            ends_descents: valuation.discount == 1.0,
        })
    }

    /// The word of an end with these ranks.
    pub(crate) fn of_end(&self, ranks: &[u64]) -> u64 {
        let exact = |&rank: &u64| Interval { lo: rank, hi: rank };
        let word = ranks
            .iter()
            .enumerate()
            .fold(0, |word, (role_idx, rank)| self.layout.with(word, role_idx, exact(rank)));
        self.layout.with_distance(word, 0)
    }

    /// Whether the game's value is known at a node, for whoever chooses there, and what has it: nothing that could still be
    /// found would change the choice. A node stays proven when a child that proves it is forgotten; then the move is to
    /// be found again.
    pub(crate) fn is_decided<S: Eq + Hash, O: Orders>(&self, graph: &Graph<S, O>, id: NodeId) -> bool {
        let is_exact = |word: u64| match graph.node(id).opening().mover {
            Some(mover) => self.layout.interval(word, mover as usize).is_exact(),
            None => self.layout.is_exact(word),
        };
        let word = graph.bounds(id);
        word != 0
            && graph.node(id).status::<O>() == Status::Open
            && is_exact(word)
            && is_exact(self.prove(graph, id, &mut Vec::new()))
    }

    /// What the bounds below a node prove of it; 0 if nothing.
    pub(crate) fn prove<S: Eq + Hash, O: Orders>(
        &self,
        graph: &Graph<S, O>,
        id: NodeId,
        words: &mut Vec<u64>,
    ) -> u64 {
        if graph.node(id).status::<O>() != Status::Open {
            return 0;
        }
        let opening = graph.node(id).opening();
        match opening.mover {
            Some(mover) => {
                self.gather(graph, opening, words);
                self.of_choice(words, mover as usize)
            }
            None => self.of_joint_moves(graph, id, opening),
        }
    }

    /// Replaces `words` by those of the children of a sequential node, in the order of its edges; 0 where there is none.
    pub(crate) fn gather<S: Eq + Hash, O: Orders>(
        &self,
        graph: &Graph<S, O>,
        opening: Opening,
        words: &mut Vec<u64>,
    ) {
        words.clear();
        words.extend(graph.edges_of(opening).iter().map(|edge| match edge.child::<O>() {
            Child::Node(child) => graph.bounds(child),
            Child::None | Child::Broken => 0,
        }));
    }

    /// What is proven where one role chooses among children with these words. It takes the best for itself, and of equally
    /// good ones, as every other role must fear, the one that is worst for that other.
    pub(crate) fn of_choice(&self, words: &[u64], mover: usize) -> u64 {
        let layout = self.layout;
        if words.iter().all(|&word| word == 0) {
            return 0;
        }
        let of_mover = |word: &u64| layout.interval(*word, mover);
        let best = Interval {
            lo: words.iter().map(|word| of_mover(word).lo).max().unwrap_or(0),
            hi: words.iter().map(|word| of_mover(word).hi).max().unwrap_or(layout.most),
        };
        let candidates = || words.iter().filter(|word| of_mover(word).hi >= best.lo);
        // As good as any: it may be chosen, so no other role has more than there.
        let certain = || words.iter().filter(|word| of_mover(word).lo >= best.hi);
        let mut proven = layout.with(0, mover, best);
        for role_idx in (0..layout.n_bounded).filter(|&role_idx| role_idx != mover) {
            let lo = candidates().map(|&word| layout.interval(word, role_idx).lo).min();
            let least = certain().map(|&word| layout.interval(word, role_idx).hi).min();
            let hi = least.or_else(|| candidates().map(|&word| layout.interval(word, role_idx).hi).max());
            let interval = Interval { lo: lo.unwrap_or(0), hi: hi.unwrap_or(layout.most) };
            proven = layout.with(proven, role_idx, interval);
        }
        proven = self.balance(proven, self.sum);
        let distances = certain().filter_map(|&word| layout.distance(word));
        let distance = if self.is_good(best.lo) { distances.min() } else { distances.max() };
        distance.map_or(proven, |distance| layout.with_distance(proven, distance + 1))
    }

    /// Whether a value is worth having soon; others are put off, as someone may err.
    pub(crate) fn is_good(&self, rank: u64) -> bool {
        2 * rank > self.layout.most
    }

    /// Bounds each of two roles by the other, where their ranks sum up to `sum`.
    fn balance(&self, word: u64, sum: Option<u64>) -> u64 {
        let (Some(sum), 2) = (sum, self.layout.n_bounded) else { return word };
        let [one, other] = [0, 1].map(|role_idx| self.layout.interval(word, role_idx));
        let against = |it: Interval| Interval {
            lo: sum.saturating_sub(it.hi),
            hi: sum.saturating_sub(it.lo).min(self.layout.most),
        };
        let balanced = self.layout.with(self.layout.with(0, 0, against(other)), 1, against(one));
        self.layout.join(word, balanced)
    }

    /// Tightens a node's bounds by those below; whether that changed them.
    pub(crate) fn refresh<S: Eq + Hash, O: Orders>(
        &self,
        graph: &Graph<S, O>,
        id: NodeId,
        words: &mut Vec<u64>,
    ) -> bool {
        let proven = self.prove(graph, id, words);
        proven != 0 && graph.tighten(id, self.layout, proven)
    }

    /// After a playout: what is proven of its last node goes up its path, as far as it changes anything. What other ways
    /// lead to these nodes learn of it when a descent comes by.
    pub(crate) fn go_up<S: Eq + Hash, O: Orders>(
        &self,
        graph: &Graph<S, O>,
        path: &Path,
        words: &mut Vec<u64>,
    ) {
        let Some((&last, above)) = path.nodes.split_last() else { return };
        if graph.bounds(last) == 0 {
            return;
        }
        for &id in above.iter().rev() {
            if !self.refresh(graph, id, words) {
                return;
            }
        }
    }
}

impl<S: Eq + Hash, O: Orders> Graph<S, O> {
    /// What is proven of a node: a word as [`BoundsLayout`] has it.
    pub(crate) fn bounds(&self, id: NodeId) -> u64 {
        self.node(id).bounds.load(Ordering::Relaxed)
    }

    /// Adds what was proven of a node; whether that was news.
    ///
    /// # Orderings
    /// `Relaxed`: every word is true by itself, whatever else a thread has seen, and nothing is found through it. That
    /// it only tightens is the work of the compare-and-swap ([`Orders::joins_bounds`]). GRAPH.md argues it.
    pub(crate) fn tighten(&self, id: NodeId, layout: BoundsLayout, proven: u64) -> bool {
        let word = &self.node(id).bounds;
        let mut held = word.load(Ordering::Relaxed);
        loop {
            let joined = layout.join(held, proven);
            if joined == held {
                return false;
            }
            if !O::joins_bounds() {
                word.store(joined, Ordering::Relaxed);
                return true;
            }
            match word.compare_exchange_weak(held, joined, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(others) => held = others,
            }
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    fn solver(n_roles: usize, sum: Option<u64>) -> Solver {
        let layout = BoundsLayout::new(n_roles, 100).expect("there is room");
        Solver { layout, sum, least_win: 100, ends_descents: true }
    }

    fn intervals(solver: &Solver, word: u64) -> Vec<(u64, u64)> {
        let all = (0..solver.layout.n_bounded).map(|role_idx| solver.layout.interval(word, role_idx));
        all.map(|it| (it.lo, it.hi)).collect()
    }

    #[test]
    fn a_win_is_a_win_though_nothing_else_was_looked_at() {
        let solver = solver(2, None);
        let won = solver.of_choice(&[0, solver.of_end(&[100, 0]), 0], 0);
        assert_eq!(intervals(&solver, won), [(100, 100), (0, 0)]);
        assert_eq!(solver.layout.distance(won), Some(1));
    }

    #[test]
    fn a_loss_needs_all_moves_and_takes_the_longest() {
        let solver = solver(2, None);
        let near = solver.of_end(&[100, 0]);
        let far = solver.of_choice(&[near], 0);
        assert_eq!(intervals(&solver, solver.of_choice(&[near, 0], 1)), [(0, 100), (0, 100)]);
        let lost = solver.of_choice(&[near, far], 1);
        assert_eq!(intervals(&solver, lost), [(100, 100), (0, 0)]);
        assert_eq!(solver.layout.distance(lost), Some(2));
        assert_eq!(solver.layout.distance(solver.of_choice(&[near, far], 0)), Some(1), "a win is taken soon");
    }

    #[test]
    fn of_equal_moves_the_others_must_fear_the_worst() {
        let solver = solver(3, None);
        let ends = [[60, 20, 90], [60, 40, 10], [10, 0, 0]].map(|ranks| solver.of_end(&ranks));
        assert_eq!(intervals(&solver, solver.of_choice(&ends, 0)), [(60, 60), (20, 20), (10, 10)]);
        // What is not yet known to be worse may be chosen.
        let open = solver.of_choice(&[ends[0], 0], 0);
        assert_eq!(intervals(&solver, open), [(60, 100), (0, 100), (0, 100)]);
    }

    #[test]
    fn a_sum_bounds_each_role_by_the_other() {
        let solver = solver(2, Some(100));
        let half = solver.of_choice(&[solver.of_end(&[30, 70]), 0], 0);
        assert_eq!(intervals(&solver, half), [(30, 100), (0, 70)]);
    }
}
