//! Which move a playout tries: UCB1, unexplored moves first.

use reasoner::Dice;

use crate::count::Tally;
use crate::edge::{Child, Edge};
use crate::graph::Graph;
use crate::node::NodeId;
use crate::orders::Orders;
use crate::sync::Ordering;

/// What selection knows of one move.
#[derive(Debug, Clone, Copy)]
struct Account {
    /// Playouts that count for it.
    tally: Tally,
    /// The sum of the choosing role's goals over the visits.
    sum: u64,
    standing: Standing,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// Nobody went there, or is on the way.
    Unexplored,
    Explored,
    /// The reasoner does not know where it leads.
    Broken,
}

/// Chooses moves, with memory of its own for the accounts of one node.
#[derive(Debug)]
pub(crate) struct Selector {
    accounts: Vec<Account>,
    /// C, in goal points.
    exploration: f64,
}

/// A node seen from the role that chooses in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Viewpoint {
    /// Playouts through the node before this one.
    pub(crate) node: Tally,
    /// The sum of the role's goals over their visits.
    pub(crate) sum: u64,
    /// The role.
    pub(crate) role_idx: usize,
}

impl Selector {
    /// With this C, in goal points.
    pub(crate) fn new(exploration: f64) -> Selector {
        Selector { accounts: Vec::new(), exploration }
    }

    /// The index of the move to try by the statistics of the edges themselves: the rule of `uct`, and of
    /// every simultaneous position. None if no edge leads anywhere.
    ///
    /// Decoupled: each role of a simultaneous position chooses as if it were alone.
    pub(crate) fn choose_by_edges<O: Orders>(
        &mut self,
        edges: &[Edge],
        view: Viewpoint,
        dice: &mut Dice,
    ) -> Option<usize> {
        self.accounts.clear();
        self.accounts.extend(edges.iter().map(account_of_edge::<O>));
        self.choose(view.node.total(), view, dice)
    }

    /// The index of the move to try by the statistics of the children, whichever way they were reached: the
    /// rule of `uct+t`. The parent's visits are the sum of theirs, so that a child well known from elsewhere
    /// leaves the playouts to its siblings (Méhat and Cazenave 2010, section 3.2).
    pub(crate) fn choose_by_children<S: Eq + std::hash::Hash, O: Orders>(
        &mut self,
        graph: &Graph<S, O>,
        edges: &[Edge],
        view: Viewpoint,
        dice: &mut Dice,
    ) -> Option<usize> {
        self.accounts.clear();
        self.accounts.extend(edges.iter().map(|edge| account_of_child(graph, edge, view.role_idx)));
        let n_parent = self.accounts.iter().map(|account| account.tally.total()).sum();
        self.choose(n_parent, view, dice)
    }

    /// UCB1 with what is in flight in its exploration term (Liu et al. 2020, WU-UCT, eq. 4):
    /// Q + C sqrt(ln(N + O) / (n + o)). Ties go to the earlier move.
    fn choose(&self, n_parent: u64, view: Viewpoint, dice: &mut Dice) -> Option<usize> {
        let n_unexplored = self.accounts.iter().filter(|a| a.standing == Standing::Unexplored).count();
        if n_unexplored > 0 {
            let chosen = if n_unexplored == 1 { 0 } else { dice.below(n_unexplored) };
            let mut unexplored =
                self.accounts.iter().enumerate().filter(|(_, a)| a.standing == Standing::Unexplored);
            return unexplored.nth(chosen).map(|(idx, _)| idx);
        }
        let numerator = self.exploration * (n_parent.max(1) as f64).ln().sqrt();
        // A move whose first playouts are under way counts as good as its node is.
        let first_guess = if view.node.visits == 0 { 0.0 } else { mean(view.sum, view.node.visits) };
        let mut best = None;
        let mut best_bound = f64::NEG_INFINITY;
        for (idx, account) in self.accounts.iter().enumerate() {
            if account.standing == Standing::Broken {
                continue;
            }
            let Tally { visits, .. } = account.tally;
            let q = if visits == 0 { first_guess } else { mean(account.sum, visits) };
            let bound = q + numerator / (account.tally.total().max(1) as f64).sqrt();
            if bound > best_bound {
                best_bound = bound;
                best = Some(idx);
            }
        }
        best
    }
}

fn account_of_edge<O: Orders>(edge: &Edge) -> Account {
    let tally = edge.count.read::<O>();
    let standing = match tally.total() {
        // Only an edge without visits can be broken, so the others need not be asked.
        0 if edge.child::<O>() == Child::Broken => Standing::Broken,
        0 => Standing::Unexplored,
        _ => Standing::Explored,
    };
    Account { tally, sum: edge.sum.load(Ordering::Relaxed), standing }
}

fn account_of_child<S: Eq + std::hash::Hash, O: Orders>(
    graph: &Graph<S, O>,
    edge: &Edge,
    role_idx: usize,
) -> Account {
    let account = account_of_edge::<O>(edge);
    match edge.child::<O>() {
        Child::Node(id) => {
            let (tally, sum) = statistics_of::<S, O>(graph, id, role_idx);
            // The standing stays the edge's: an edge is unexplored until it was followed, however well its
            // child is known.
            Account { tally, sum, ..account }
        }
        Child::None | Child::Broken => account,
    }
}

/// A node's visits, and the sum of a role's goals over them.
pub(crate) fn statistics_of<S: Eq + std::hash::Hash, O: Orders>(
    graph: &Graph<S, O>,
    id: NodeId,
    role_idx: usize,
) -> (Tally, u64) {
    let tally = graph.node(id).count.read::<O>();
    (tally, graph.sum(id, role_idx).load(Ordering::Relaxed))
}

/// A mean goal.
pub(crate) fn mean(sum: u64, visits: u64) -> f64 {
    sum as f64 / visits as f64
}
