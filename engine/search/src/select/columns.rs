//! UCB1 where counts and sums stand ready on edges or children: the same choice as by accounts, in columns of numbers
//! that vector instructions take, without what only other configurations need.

use std::hash::Hash;

use reasoner::Dice;

use super::{TIE, Viewpoint, mean_of, next_in_turn};
use crate::edge::{Child, Edge};
use crate::graph::Graph;
use crate::kept::{Columns, Kept};
use crate::orders::Orders;
use crate::results::Results;
use crate::scheme::Scheme;

/// Compares moves, with memory of its own.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    unexplored: Vec<usize>,
    columns: Columns,
    bounds: Vec<f64>,
}

impl Comparison {
    /// The index of the move to try; none if an edge leads nowhere, which accounts know how to treat.
    pub(super) fn choose<S: Eq + Hash, O: Orders>(
        &mut self,
        graph: &Graph<S, O>,
        scheme: &Scheme,
        view: &Viewpoint,
        dice: &mut Dice,
        kept: &mut Kept,
    ) -> Option<usize> {
        let can_keep = kept.leave();
        let edges = graph.edges_in(view.edges.clone());
        let is_unexplored =
            |edge: &Edge| edge.count.read::<O>().total() == 0 && edge.child::<O>() != Child::Broken;
        if let Some(turn) = next_in_turn(graph, view, |idx| is_unexplored(&edges[idx])) {
            return Some(turn);
        }
        self.unexplored.clear();
        for (idx, edge) in edges.iter().enumerate() {
            if edge.count.read::<O>().total() > 0 {
                continue;
            }
            if edge.child::<O>() == Child::Broken {
                return None;
            }
            self.unexplored.push(idx);
        }
        match self.unexplored[..] {
            [] => {}
            [only] => return Some(only),
            _ => return Some(self.unexplored[dice.below(self.unexplored.len())]),
        }
        let by_children = !view.is_simultaneous && scheme.config.is_by_children(scheme.payoffs);
        match by_children {
            true => self.columns.fill(edges.iter().map(|edge| of_child(graph, edge, view.role_idx))),
            false => self.columns.fill(edges.iter().map(Edge::results::<O>)),
        }
        let discount = if by_children { scheme.valuation.discount } else { 1.0 };
        let points = scheme.valuation.points(1.0) * discount;
        let has_guess = self.columns.visits.iter().fold(false, |any, &visits| any | (visits == 0.0));
        // Moves whose first playouts are under way count as good as their node is.
        let guess = if has_guess { mean_of(graph, scheme, view) } else { 0.0 };
        let chosen = self.best(scheme.exploration, points, guess);
        if can_keep {
            let Columns { sums, visits, .. } = &self.columns;
            let mean =
                |idx: usize| if visits[idx] == 0.0 { guess } else { points * (sums[idx] / visits[idx]) };
            kept.note(graph, view, &self.columns, mean, chosen);
        }
        Some(chosen)
    }

    /// The move with the highest bound, the earlier one of equals: see [`Selector::choose_by_bound`]. A unit of the sums is
    /// worth so many points; moves without visits are worth the guess.
    ///
    /// [`Selector::choose_by_bound`]: super::Selector::choose_by_bound
    fn best(&mut self, exploration: f64, points: f64, guess: f64) -> usize {
        let Columns { sums, visits, totals, n_parent } = &self.columns;
        let numerator = exploration * ((*n_parent).max(1) as f64).ln().sqrt();
        self.bounds.resize(sums.len(), 0.0);
        let rows = sums.iter().zip(visits).zip(totals);
        for (((&sum, &visits), &total), bound) in rows.zip(&mut self.bounds) {
            let mean = if visits == 0.0 { guess } else { points * (sum / visits) };
            *bound = mean + numerator / total.max(1.0).sqrt();
        }
        first_of_best(&self.bounds)
    }
}

impl Columns {
    /// Fills the columns.
    #[inline]
    fn fill(&mut self, rows: impl ExactSizeIterator<Item = Results>) {
        let n_rows = rows.len();
        for column in [&mut self.sums, &mut self.visits, &mut self.totals] {
            column.resize(n_rows, 0.0);
        }
        let columns = self.sums.iter_mut().zip(&mut self.visits).zip(&mut self.totals);
        self.n_parent = 0;
        for (Results { tally, sum }, ((to_sum, to_visits), to_total)) in rows.zip(columns) {
            // Signed numbers are converted in one instruction, and none of these is that large.
            *to_sum = sum.cast_signed() as f64;
            *to_visits = tally.visits.cast_signed() as f64;
            *to_total = tally.total().cast_signed() as f64;
            self.n_parent += tally.total();
        }
    }
}

/// The first bound that is the greatest but for a [`TIE`]: without a decision for each, which nobody could foresee.
pub(crate) fn first_of_best(bounds: &[f64]) -> usize {
    let mut greatest = [f64::NEG_INFINITY; 4];
    let (fours, rest) = bounds.as_chunks::<4>();
    let greater = |a: f64, b: f64| if a > b { a } else { b };
    for four in fours {
        greatest = std::array::from_fn(|i| greater(four[i], greatest[i]));
    }
    let greatest = rest.iter().chain(&greatest).fold(f64::NEG_INFINITY, |a, &b| greater(b, a));
    bounds.iter().position(|&bound| bound >= greatest - TIE).unwrap_or(0)
}

#[inline]
fn of_child<S: Eq + Hash, O: Orders>(graph: &Graph<S, O>, edge: &Edge, role_idx: usize) -> Results {
    match edge.child::<O>() {
        Child::Node(child) => graph.results(child, role_idx),
        Child::None | Child::Broken => edge.results::<O>(),
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use reasoner::{Expansion, Interrupt, Move};

    use super::*;
    use crate::config::Config;
    use crate::counters::WorkerCounters;
    use crate::graph::{Blocks, GraphKind, Sizes};
    use crate::options::Options;
    use crate::orders::Sound;
    use crate::select::Selector;
    use crate::sync::Ordering;

    type Star = Graph<u32, Sound>;

    /// A node with so many moves, of which all but the last `n_unlinked` lead to children; numbers from the dice are
    /// on both edges and children.
    fn star(options: &Options, n_moves: u32, n_unlinked: u32, dice: &mut Dice) -> (Star, Viewpoint) {
        let graph = Star::new(2, GraphKind::new(options, 2), Sizes::SMALL);
        let (mut blocks, counters) = (Blocks::default(), WorkerCounters::default());
        let id = graph.node_of(&mut blocks, 0, &counters).expect("there is room");
        let moves = (0..n_moves).map(Move).chain([Move(0)]).collect();
        let expansion =
            Expansion { moves, ends: vec![n_moves as usize, n_moves as usize + 1], ..Expansion::default() };
        assert!(graph.node(id).claim());
        graph.open(&mut blocks, id, &expansion, 0, &counters);
        let opening = graph.node(id).opening();
        let edges = opening.first_edge..opening.first_edge + opening.n_edges;
        graph.node(id).count.add::<Sound>(8);
        graph.sum(id, 0).store(8 * dice.below(1 << 20) as u64, Ordering::Relaxed);
        for edge in edges.clone().take((n_moves - n_unlinked) as usize) {
            let child = graph.node_of(&mut blocks, edge, &counters).expect("there is room");
            graph.link(&mut blocks, id, edge, child, &counters);
            for (count, sum) in [
                (&graph.edge(edge).count, &graph.edge(edge).sum),
                (&graph.node(child).count, graph.sum(child, 0)),
            ] {
                let visits = [0, 1, 8, 50][dice.below(4)];
                count.add::<Sound>(visits);
                count.enter(8 * dice.below(3) as u64 + u64::from(visits == 0));
                sum.store(visits * dice.below(1 << 24) as u64, Ordering::Relaxed);
            }
        }
        (graph, Viewpoint { id, edges, role_idx: 0, is_simultaneous: false })
    }

    #[test]
    fn columns_and_accounts_choose_the_same() {
        let mut dice = Dice::new(7);
        for config in [Config::Uct, Config::UctT, Config::UpdateDescent] {
            for round in 0..600 {
                let options = Options { config, discount: 0.99, ..Options::default() };
                let scheme = Scheme::new(&options, 100, 2, 1);
                assert!(scheme.has_columns);
                let by_accounts = Scheme { has_columns: false, ..scheme.clone() };
                let n_moves = 2 + u32::try_from(dice.below(30)).expect("small");
                let n_unlinked = if round % 3 == 0 { 1 + round % 2 } else { 0 };
                let seed = dice.bits();
                let chosen = [&scheme, &by_accounts].map(|scheme| {
                    let mut dice = Dice::new(seed);
                    let (graph, view) = star(&options, n_moves, n_unlinked, &mut dice);
                    if round % 2 == 0 {
                        // All have had their turns.
                        while graph.node(view.id).take_turn().is_some() {}
                    }
                    let mut selector = Selector::new(Interrupt::new());
                    selector.choose(&graph, scheme, None, &view, &mut dice, &mut Kept::default())
                });
                assert_eq!(chosen[0], chosen[1], "{config}, round {round}");
            }
        }
    }

    #[test]
    fn only_what_nothing_else_bears_on_is_compared_in_columns() {
        let has = |options: Options| Scheme::new(&options, 100, 2, 1).has_columns;
        assert!(has(Options::default()));
        assert!(!has(Options { solver: true, ..Options::default() }));
        assert!(!has(Options { in_flight: crate::config::InFlight::VirtualLoss(1.0), ..Options::default() }));
        assert!(!has(Options { config: Config::Credited, ..Options::default() }));
    }

    #[test]
    fn the_first_of_equal_bounds_is_the_best() {
        assert_eq!(first_of_best(&[1.0, 3.0, 3.0, 2.0, 0.0, 3.0]), 1);
        assert_eq!(first_of_best(&[1.0, 2.99995, 3.0, 2.0, 0.0, 3.0]), 1, "but for a tie");
        assert_eq!(first_of_best(&[5.0]), 0);
        assert_eq!(first_of_best(&[0.0, 1.0, 2.0, 3.0, 4.0]), 4);
    }
}
