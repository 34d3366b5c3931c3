//! UCB1 where counts and sums stand ready on edges or children: the same choice as by accounts, in columns of numbers
//! that vector instructions take, without what only other configurations need.

use std::hash::Hash;
use std::ops::Range;

use reasoner::Dice;

use super::{TIE, Viewpoint, mean_of, next_in_turn};
use crate::edge::{Child, Edge};
use crate::graph::Graph;
use crate::kept::Kept;
use crate::orders::Orders;
use crate::results::Results;
use crate::scheme::Scheme;

/// Compares moves, with memory of its own.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    unexplored: Vec<usize>,
    columns: Columns,
}

/// What is known of a role's moves in a node, a row for each, in columns of so many rows that one instruction takes several. Behind the
/// last move are rows that no choice falls on.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    rows: Vec<Lanes>,
    bounds: Vec<[f64; LANES]>,
}

/// Rows that are computed at a time: two instructions' worth on any x86-64 processor.
const LANES: usize = 4;

/// Some rows, a column for each number.
#[derive(Debug, Clone, Copy)]
struct Lanes {
    /// What is thought of the moves, in goal points.
    means: [f64; LANES],
    /// One by the square root of their playouts, those in flight among them.
    widths: [f64; LANES],
    /// Their playouts, finished and in flight.
    totals: [f64; LANES],
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
        let can_be_tried =
            |idx: usize| is_unexplored::<O>(&edges[idx]) && edges[idx].child::<O>() != Child::Broken;
        if let Some(turn) = next_in_turn(graph, view, can_be_tried) {
            return Some(turn);
        }
        // Simultaneous nodes give no turns, and most of their first visits go to what is unexplored.
        if view.is_simultaneous && self.note_unexplored::<O>(edges)? {
            return Some(self.draw(dice));
        }
        let by_children = !view.is_simultaneous && scheme.children_tell;
        let points = scheme.points_of_unit(by_children);
        let mut n_unexplored = 0;
        let n_parent = self.columns.fill(edges, points, |edge| {
            n_unexplored += usize::from(is_unexplored::<O>(edge));
            results_of(graph, edge, view.role_idx, by_children)
        });
        if n_unexplored > 0 && self.note_unexplored::<O>(edges)? {
            return Some(self.draw(dice));
        }
        // Moves whose first playouts are under way count as good as their node is.
        self.columns.fill_open(|| mean_of(graph, scheme, view));
        let numerator = numerator(scheme.exploration, n_parent as f64);
        let chosen = self.columns.best(0..edges.len(), numerator);
        if can_keep {
            kept.note(graph, view, &self.columns, n_parent, chosen);
        }
        Some(chosen)
    }

    /// Notes which edges are unexplored; whether any is, and none if one of them leads nowhere.
    fn note_unexplored<O: Orders>(&mut self, edges: &[Edge]) -> Option<bool> {
        self.unexplored.clear();
        for (idx, edge) in edges.iter().enumerate().filter(|(_, edge)| is_unexplored::<O>(edge)) {
            if edge.child::<O>() == Child::Broken {
                return None;
            }
            self.unexplored.push(idx);
        }
        Some(!self.unexplored.is_empty())
    }

    /// One of those that were noted.
    fn draw(&self, dice: &mut Dice) -> usize {
        match self.unexplored[..] {
            [only] => only,
            _ => self.unexplored[dice.below(self.unexplored.len())],
        }
    }
}

/// Whether no playout has chosen the edge, nor is on its way.
fn is_unexplored<O: Orders>(edge: &Edge) -> bool {
    edge.count.read::<O>().total() == 0
}

impl Columns {
    /// Fills the columns with what is known of each item; a unit of the sums is worth so many points. The sum of the totals.
    #[inline]
    pub(crate) fn fill<T>(&mut self, items: &[T], points: f64, mut known: impl FnMut(&T) -> Results) -> u64 {
        self.rows.clear();
        self.rows.reserve(items.len().div_ceil(LANES));
        let mut n_parent = 0;
        let mut known = |item: &T| {
            let results = known(item);
            n_parent += results.tally.total();
            results
        };
        let (whole, rest) = items.as_chunks::<LANES>();
        // No `extend`: its loop would not be in line, and what is counted would lie in memory.
        for items in whole {
            self.rows.push(Lanes::of(std::array::from_fn(|i| known(&items[i])), points));
        }
        if !rest.is_empty() {
            let rows = std::array::from_fn(|i| rest.get(i).map_or(Results::NONE, &mut known));
            let mut lanes = Lanes::of(rows, points);
            lanes.means[rest.len()..].fill(f64::NEG_INFINITY);
            self.rows.push(lanes);
        }
        n_parent
    }

    /// Rows, with those that no choice falls on.
    pub(crate) fn n_rows(&self) -> usize {
        self.rows.len() * LANES
    }

    /// Sets what is thought of moves without finished playouts.
    fn fill_open(&mut self, guess: impl FnOnce() -> f64) {
        // No quotient with a visit is that, and no row behind the last move.
        let is_open = |mean: f64| mean.is_nan() || mean == f64::INFINITY;
        let has_open = |any, lanes: &Lanes| lanes.means.iter().fold(any, |any, &mean| any | is_open(mean));
        if self.rows.iter().fold(false, has_open) {
            let guess = guess();
            let means = self.rows.iter_mut().flat_map(|lanes| &mut lanes.means);
            means.filter(|mean| is_open(**mean)).for_each(|mean| *mean = guess);
        }
    }

    /// The row among those of a node with the highest bound, counted from the first of them, the earlier one of equals: see
    /// [`Selector::choose_by_bound`].
    ///
    /// [`Selector::choose_by_bound`]: super::Selector::choose_by_bound
    #[inline]
    pub(crate) fn best(&mut self, rows: Range<usize>, numerator: f64) -> usize {
        let bounds_of =
            |Lanes { means, widths, .. }: &Lanes| std::array::from_fn(|i| means[i] + numerator * widths[i]);
        self.bounds.clear();
        self.bounds.extend(self.rows[rows.start / LANES..rows.end.div_ceil(LANES)].iter().map(bounds_of));
        first_of_best(self.bounds.as_flattened())
    }

    /// Puts the rows of others behind its own.
    pub(crate) fn append(&mut self, others: &Columns) {
        self.rows.extend_from_slice(&others.rows);
    }

    /// So many playouts more are under way by the move of this row, or fewer.
    #[inline]
    pub(crate) fn add_in_flight(&mut self, row: usize, change: i64) {
        let Lanes { widths, totals, .. } = &mut self.rows[row / LANES];
        let total = &mut totals[row % LANES];
        *total += change as f64;
        widths[row % LANES] = width(*total);
    }

    /// The move of this row came to so much; a unit is worth so many points.
    #[inline]
    pub(crate) fn set_mean(&mut self, row: usize, results: Results, points: f64) {
        self.rows[row / LANES].means[row % LANES] = mean(results, points);
    }

    /// Forgets all rows.
    pub(crate) fn clear(&mut self) {
        self.rows.clear();
    }
}

impl Lanes {
    /// Of these results; means that are not finite where there are no visits.
    #[inline]
    fn of(results: [Results; LANES], points: f64) -> Lanes {
        let totals = results.map(|it| it.tally.total().cast_signed() as f64);
        let means = results.map(|it| mean(it, points));
        Lanes { means, widths: totals.map(width), totals }
    }
}

/// The mean, where a unit is worth so many points; not finite without visits.
#[inline]
fn mean(results: Results, points: f64) -> f64 {
    // Signed numbers are converted in one instruction, and none of these is that large.
    points * (results.sum.cast_signed() as f64 / results.tally.visits.cast_signed() as f64)
}

/// C times the square root of the logarithm of a node's playouts.
pub(crate) fn numerator(exploration: f64, n_parent: f64) -> f64 {
    exploration * n_parent.max(1.0).ln().sqrt()
}

/// One by the square root of so many playouts.
fn width(total: f64) -> f64 {
    1.0 / total.max(1.0).sqrt()
}

/// The first bound that is the greatest but for a [`TIE`]. Which is the greatest is found without a decision for each; where the first
/// lies is left to one that processors foresee often enough, and go on.
pub(super) fn first_of_best(bounds: &[f64]) -> usize {
    let mut greatest = [f64::NEG_INFINITY; LANES];
    let (lanes, rest) = bounds.as_chunks::<LANES>();
    let greater = |a: f64, b: f64| if a > b { a } else { b };
    for lanes in lanes {
        greatest = std::array::from_fn(|i| greater(lanes[i], greatest[i]));
    }
    let greatest = rest.iter().chain(&greatest).fold(f64::NEG_INFINITY, |a, &b| greater(b, a));
    bounds.iter().position(|&bound| bound >= greatest - TIE).unwrap_or(0)
}

/// What a move came to for a role: its child's results, where children tell and there is one.
#[inline]
pub(crate) fn results_of<S: Eq + Hash, O: Orders>(
    graph: &Graph<S, O>,
    edge: &Edge,
    role_idx: usize,
    by_children: bool,
) -> Results {
    match if by_children { edge.child::<O>() } else { Child::None } {
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
                let n_moves = 1 + u32::try_from(dice.below(30)).expect("small");
                let n_unlinked = if round % 3 == 0 { (1 + round % 2).min(n_moves) } else { 0 };
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
