//! Single-player Monte-Carlo tree search (Schadd, Winands, Tak and Uiterwijk 2012, section 4).
//!
//! A tree with mean, sum of squares and top value in each node; selection by formula 1, with the top value's weight
//! added to the mean; nodes visited less than T times choose as rollouts do: the rollout begins there, and the nodes that it
//! passes get its value as well; one node more for each playout. The search begins again with other seeds so many times in a
//! run. Where the reasoner plays many rollouts side by side, a leaf gets several, each of them a visit, and a node visited less
//! than T times chooses uniformly, which is what such rollouts do.

use reasoner::{Lot, MAX_ROLLOUT_STEPS, Move, Reasoner, Uniform, Value};

use crate::solver::{Ending, Halt, Solver};
use crate::work::{Stand, Work};

/// The parameters, by the paper's names.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpMctsOptions {
    /// The constant C of exploration, in goal points.
    pub c: f64,
    /// The constant D of the deviation, in squares of goal points.
    pub d: f64,
    /// The weight W of the top value.
    pub w: f64,
    /// The threshold T of visits below which moves are chosen as in rollouts.
    pub t: u32,
    /// Searches in one run.
    pub restarts: u32,
    /// What the move to play has most of.
    pub final_move: FinalRule,
    /// When to think.
    pub time: TimeControl,
}

impl Default for SpMctsOptions {
    /// W and T are the paper's, for C and D there is no carrying over from SameGame's points: of C = 1, 8, 20 and 60 the first was best
    /// on the twenty puzzles of Méhat and Cazenave 2010 (`engine/single/EXPERIMENTS.md`).
    fn default() -> SpMctsOptions {
        SpMctsOptions {
            c: 1.0,
            d: 1.0,
            w: 0.02,
            t: 10,
            restarts: 10,
            final_move: FinalRule::Top,
            time: TimeControl::Move,
        }
    }
}

/// The three rules of section 4.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinalRule {
    /// The first move of the best line.
    Top,
    /// The child with the highest mean.
    Mean,
    /// The child with the most visits.
    Visits,
}

/// The two ways of section 6.4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeControl {
    /// At every move.
    Move,
    /// Only before the first one; then the best line is played.
    Game,
}

/// Rollouts from each leaf on a reasoner that plays many side by side.
const ROLLOUTS: usize = 16;
const NONE: u32 = u32::MAX;

/// Repeats searches.
#[derive(Debug)]
pub(crate) struct SpMcts {
    options: SpMctsOptions,
}

#[derive(Debug, Clone)]
struct Node<S> {
    a_move: Move,
    /// None until the node is reached.
    state: Option<S>,
    visits: f64,
    sum: f64,
    sum_of_squares: f64,
    top: Value,
    stage: Stage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Not expanded yet.
    Leaf,
    /// Its children's places.
    Open {
        first: u32,
        n: u32,
    },
    End(Value),
}

impl<S> Node<S> {
    fn new(a_move: Move, state: Option<S>) -> Node<S> {
        Node { a_move, state, visits: 0.0, sum: 0.0, sum_of_squares: 0.0, top: 0, stage: Stage::Leaf }
    }

    fn mean(&self) -> f64 {
        if self.visits > 0.0 { self.sum / self.visits } else { 0.0 }
    }

    fn add(&mut self, value: Value) {
        let result = f64::from(value);
        self.visits += 1.0;
        self.sum += result;
        self.sum_of_squares += result * result;
        self.top = self.top.max(value);
    }

    /// Formula 1, with W times the top value; above everything before the first visit.
    fn worth(&self, parent_visits: f64, options: &SpMctsOptions) -> f64 {
        if self.visits == 0.0 {
            return f64::INFINITY;
        }
        let (n, mean) = (self.visits, self.mean());
        let deviation = ((self.sum_of_squares - n * mean * mean).max(0.0) + options.d) / n;
        mean + options.w * f64::from(self.top)
            + options.c * (parent_visits.ln() / n).sqrt()
            + deviation.sqrt()
    }
}

/// One search.
struct Tree<S> {
    nodes: Vec<Node<S>>,
    /// Bytes that the states own.
    heap: usize,
    path: Vec<u32>,
}

impl<S: Clone> Tree<S> {
    fn new(root: S) -> Tree<S> {
        Tree { nodes: vec![Node::new(Move(0), Some(root))], heap: 0, path: Vec::new() }
    }

    /// Bytes that all of it takes.
    fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node<S>>() + self.heap
    }

    /// The state of a node that was reached.
    fn state(&self, at: u32, root: &S) -> S {
        self.nodes[at as usize].state.as_ref().unwrap_or(root).clone()
    }

    /// The moves of the path.
    fn moves(&self, moves: &mut Vec<Move>) {
        moves.extend(self.path[1..].iter().map(|&at| self.nodes[at as usize].a_move));
    }

    fn add(&mut self, value: Value) {
        for &at in &self.path {
            self.nodes[at as usize].add(value);
        }
    }

    /// The child to go to.
    fn select(&self, at: u32, first: u32, n: u32, options: &SpMctsOptions, lot: Lot) -> u32 {
        let parent = &self.nodes[at as usize];
        let chosen = u32::try_from(lot.below(n as usize)).unwrap_or(0);
        if parent.visits < f64::from(options.t) {
            return first + chosen;
        }
        // From a random child on, so that of equals each comes first as often.
        let ring = (0..n).map(|idx| first + (chosen + idx) % n);
        let worths = ring.map(|child| (self.nodes[child as usize].worth(parent.visits, options), child));
        worths.fold((f64::NEG_INFINITY, first), |best, it| if it.0 > best.0 { it } else { best }).1
    }

    /// The child that a move leads to, of a node that is open.
    fn child(&self, at: u32, a_move: Move) -> Option<u32> {
        let Stage::Open { first, n } = self.nodes[at as usize].stage else { return None };
        (first..first + n).find(|&child| self.nodes[child as usize].a_move == a_move)
    }

    /// The root's child by a rule that is not that of the best line.
    fn final_move(&self, rule: FinalRule) -> Option<Move> {
        let Stage::Open { first, n } = self.nodes[0].stage else { return None };
        let most = |node: &&Node<S>| match rule {
            FinalRule::Mean => node.mean(),
            FinalRule::Visits => node.visits,
            FinalRule::Top => f64::from(node.top),
        };
        let children = &self.nodes[first as usize..(first + n) as usize];
        let best = children.iter().max_by(|a, b| most(a).total_cmp(&most(b)));
        best.map(|node| node.a_move)
    }
}

impl SpMcts {
    pub(crate) fn new(options: SpMctsOptions) -> SpMcts {
        SpMcts { options }
    }

    /// One playout.
    fn playout<R: Reasoner>(&self, work: &mut Work<'_, R>, tree: &mut Tree<R::State>) -> Result<(), Halt> {
        tree.path.clear();
        tree.path.push(0);
        let mut at = 0;
        let mut n_lots = 0;
        let seed = work.next_seed();
        let n_side_by_side = work.n_side_by_side();
        loop {
            let node = &tree.nodes[at as usize];
            match node.stage {
                // A node is opened when it is met again.
                Stage::Leaf if node.visits > 0.0 || at == 0 => open(work, tree, at)?,
                Stage::Open { .. } if n_side_by_side == 1 && node.visits < f64::from(self.options.t) => break,
                Stage::Open { first, n } => {
                    let child = tree.select(at, first, n, &self.options, Lot::new(seed, n_lots));
                    n_lots += 1;
                    at = reach(work, tree, at, child)?;
                }
                Stage::Leaf | Stage::End(_) => break,
            }
        }
        if let Stage::End(value) = tree.nodes[at as usize].stage {
            work.note(1);
            offer(work, tree, value, &[])?;
            tree.add(value);
            return work.go_on(0);
        }
        if n_side_by_side == 1 {
            return roll_out(work, tree, at);
        }
        let n = ROLLOUTS.min(n_side_by_side);
        let states = vec![tree.state(at, work.root); n];
        work.roll_out(&states, |_, moves| tree.moves(moves))?;
        for idx in 0..n {
            tree.add(work.ends.goals(idx)[0]);
        }
        Ok(())
    }
}

/// Makes one rollout from the last node of the path; its value is added to the path, and to the nodes behind that it passes.
fn roll_out<R: Reasoner>(work: &mut Work<'_, R>, tree: &mut Tree<R::State>, mut at: u32) -> Result<(), Halt> {
    let state = tree.state(at, work.root);
    let mut played = Vec::new();
    let end = work.roll_out_with(&state, &mut Uniform, &mut played)?;
    work.note(1);
    let value = end.goals[0];
    if end.length < MAX_ROLLOUT_STEPS {
        offer(work, tree, value, &played)?;
    }
    for &a_move in &played {
        // Up to the first node that was not in the tree.
        if tree.nodes[at as usize].visits == 0.0 {
            break;
        }
        if tree.nodes[at as usize].stage == Stage::Leaf {
            open(work, tree, at)?;
        }
        let Some(child) = tree.child(at, a_move) else { break };
        at = reach(work, tree, at, child)?;
    }
    tree.add(value);
    work.go_on(0)
}

/// Offers the line that goes along the path and then so, if it is better than the best.
fn offer<R: Reasoner>(
    work: &mut Work<'_, R>,
    tree: &Tree<R::State>,
    value: Value,
    played: &[Move],
) -> Result<(), Halt> {
    if work.best.would_take(value) {
        let mut moves = Vec::new();
        tree.moves(&mut moves);
        moves.extend(played);
        work.offer(&moves)?;
    }
    Ok(())
}

/// Goes on to a child, whose state is made if it was not reached before.
fn reach<R: Reasoner>(
    work: &mut Work<'_, R>,
    tree: &mut Tree<R::State>,
    at: u32,
    child: u32,
) -> Result<u32, Halt> {
    if tree.nodes[child as usize].state.is_none() {
        let a_move = tree.nodes[child as usize].a_move;
        let next = work.next(&tree.state(at, work.root), a_move)?;
        tree.heap += work.reasoner.heap_bytes(&next);
        tree.nodes[child as usize].state = Some(next);
    }
    tree.path.push(child);
    Ok(child)
}

/// Adds a node's children, without states.
fn open<R: Reasoner>(work: &mut Work<'_, R>, tree: &mut Tree<R::State>, at: u32) -> Result<(), Halt> {
    tree.nodes[at as usize].stage = match work.expand(&tree.state(at, work.root))? {
        Stand::End(value) => Stage::End(value),
        Stand::Open => {
            let first = u32::try_from(tree.nodes.len()).unwrap_or(NONE);
            tree.nodes.extend(work.expansion.moves.iter().map(|&a_move| Node::new(a_move, None)));
            let n = u32::try_from(work.expansion.moves.len()).unwrap_or(NONE);
            Stage::Open { first, n }
        }
    };
    Ok(())
}

impl<R: Reasoner> Solver<R> for SpMcts {
    fn solve(&mut self, work: &mut Work<'_, R>) -> Result<Ending, Halt> {
        let is_late = work.run_idx() > 0 && self.options.time == TimeControl::Game;
        if is_late && work.best.value().is_some() {
            return Ok(Ending::GaveUp);
        }
        let mut tree = Tree::new(work.root.clone());
        let mut n_searches = 1;
        loop {
            self.playout(work, &mut tree)?;
            if self.options.final_move != FinalRule::Top
                && let Some(a_move) = tree.final_move(self.options.final_move)
            {
                work.best.prefer(a_move);
            }
            let part = f64::from(n_searches) / f64::from(self.options.restarts);
            let is_due =
                n_searches < self.options.restarts && work.part_over().is_some_and(|over| over >= part);
            if matches!(tree.nodes[0].stage, Stage::End(_)) {
                return Ok(Ending::GaveUp);
            }
            // A tree that is full begins again too.
            if is_due || tree.bytes() > work.max_bytes || tree.nodes.len() > NONE as usize / 2 {
                n_searches += 1;
                tree = Tree::new(work.root.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worth_of_a_node_is_formula_one() {
        let options = SpMctsOptions { c: 0.5, d: 10.0, w: 0.02, ..SpMctsOptions::default() };
        let mut node = Node::<()>::new(Move(1), None);
        assert_eq!(node.worth(5.0, &options), f64::INFINITY);
        [10, 40, 40].into_iter().for_each(|value| node.add(value));
        let (n, mean) = (3.0f64, 30.0f64);
        let squares = 100.0 + 1600.0 + 1600.0;
        let expected = mean
            + 0.02 * 40.0
            + 0.5 * (20f64.ln() / n).sqrt()
            + ((squares - n * mean * mean + 10.0) / n).sqrt();
        assert!((node.worth(20.0, &options) - expected).abs() < 1e-12);
    }

    #[test]
    fn the_final_move_has_most_of_what_the_rule_says() {
        let mut tree = Tree::new(());
        tree.nodes[0].stage = Stage::Open { first: 1, n: 3 };
        for (child, values) in [(1, &[0, 90][..]), (2, &[60, 60]), (3, &[10, 10, 10])] {
            tree.nodes.push(Node::new(Move(child), Some(())));
            values.iter().for_each(|&value| tree.nodes[child as usize].add(value));
        }
        let chosen = |rule| tree.final_move(rule);
        assert_eq!(chosen(FinalRule::Top), Some(Move(1)));
        assert_eq!(chosen(FinalRule::Mean), Some(Move(2)));
        assert_eq!(chosen(FinalRule::Visits), Some(Move(3)));
    }
}
