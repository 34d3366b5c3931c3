//! How far each role is from a proven win, for searches that lean to where proofs are near.
//!
//! In go bounds, and who chooses where; out comes for each node and role how many leaves below it have to be proven a win
//! of that role, at the least, so that the node is one: the proof numbers of Allis, van der Meulen and van den Herik (1994,
//! "Proof-Number Search"), one for each role and no disproof numbers, as Kowalski, Soemers, Kosakowski and Winands have
//! them (2025, "Generalized Proof-Number Monte-Carlo Tree Search"). They prove nothing, bounds do; and they are a side
//! structure, which only those make and pay for who ask for it.

use std::hash::Hash;

use super::Solver;
use crate::arena::{Chunks, Meter};
use crate::backup::Path;
use crate::edge::{Child, Edge};
use crate::graph::Graph;
use crate::node::{NodeId, Opening, Status};
use crate::orders::Orders;
use crate::sync::{AtomicU32, Ordering};

/// The number of a role that has won.
const WON: u32 = 0;

/// The number where nothing is known: one proof is wanted, here.
const LEAF: u32 = 1;

/// The number of a role that cannot win, if the others are against it.
const NEVER: u32 = u32::MAX;

/// The largest number of leaves that is told apart.
const MOST: u32 = NEVER - 1;

/// What was last counted below each node.
///
/// # Orderings
/// `Relaxed`, and of two threads that count at the same time the one that stores last stays, whatever it had seen. A number
/// says nothing about anything else and only guides choices; each playout counts again along all of its path; and what bounds
/// say comes first, so that no proof is hidden by a number that is late.
#[derive(Debug)]
pub(crate) struct ProofNumbers {
    /// Numbers by node and role; 0 where nothing was counted.
    numbers: Chunks<AtomicU32>,
    /// Numbers of a node, a power of two, so that chunks match those of nodes.
    per_node: usize,
}

impl ProofNumbers {
    /// For as many nodes as there may be.
    pub(crate) fn new(n_node_chunks: usize, node_bits: u32, n_roles: usize) -> ProofNumbers {
        let per_node = n_roles.next_power_of_two();
        ProofNumbers { numbers: Chunks::new(n_node_chunks, node_bits + per_node.ilog2(), 0), per_node }
    }

    /// What a node's numbers cost.
    pub(crate) fn node_bytes(&self) -> u64 {
        self.per_node as u64 * self.numbers.item_bytes()
    }

    /// Makes room for a node's numbers; false if there is none.
    pub(crate) fn ensure(&self, id: NodeId, meter: &Meter) -> bool {
        self.numbers.ensure(id.idx() * self.per_node, meter)
    }

    /// Makes the numbers of a node those of a node below it, over what is gone by now.
    pub(crate) fn slide(&self, from: NodeId, to: NodeId, meter: &Meter) {
        self.numbers.slide(from.idx() * self.per_node, to.idx() * self.per_node, self.per_node, meter);
    }

    /// Forgets the numbers of all nodes from the index `end` on.
    pub(crate) fn truncate(&mut self, end: usize, meter: &Meter) {
        self.numbers.truncate(end * self.per_node, meter);
    }

    /// What was last counted for a role.
    pub(crate) fn counted(&self, id: NodeId, role_idx: usize) -> u32 {
        self.place(id, role_idx).load(Ordering::Relaxed).max(LEAF)
    }

    /// Notes what was counted for a role.
    pub(crate) fn note(&self, id: NodeId, role_idx: usize, number: u32) {
        let place = self.place(id, role_idx);
        // Most stay what they are, and storing takes the cache line from its owner.
        if place.load(Ordering::Relaxed) != number {
            place.store(number, Ordering::Relaxed);
        }
    }

    fn place(&self, id: NodeId, role_idx: usize) -> &AtomicU32 {
        self.numbers.at(id.idx() * self.per_node + role_idx)
    }
}

impl Solver {
    /// How far a role that has bounds is from a proven win at a node: what bounds say, or else what was last counted.
    pub(crate) fn proof_number<S: Eq + Hash, O: Orders>(
        &self,
        graph: &Graph<S, O>,
        id: NodeId,
        role_idx: usize,
    ) -> u32 {
        let counted = || graph.proof_numbers.as_ref().map_or(LEAF, |numbers| numbers.counted(id, role_idx));
        self.decided(graph, id, role_idx).unwrap_or_else(counted)
    }

    /// The same, counted anew from what is known below the node. Whoever chooses needs one of its moves to be a win, and
    /// has the least of their numbers; another role needs all of them, and has the sum. A move that was not made is a leaf. A
    /// position where several choose is a leaf too, until bounds decide it: what a role can force there hangs on all joint
    /// moves, most of which were never made. Where bounds have not followed yet, what is won below counts as one leaf.
    pub(crate) fn count_leaves<S: Eq + Hash, O: Orders>(
        &self,
        graph: &Graph<S, O>,
        id: NodeId,
        role_idx: usize,
    ) -> u32 {
        if let Some(decided) = self.decided(graph, id, role_idx) {
            return decided;
        }
        if graph.node(id).status::<O>() != Status::Open {
            return LEAF;
        }
        let opening = graph.node(id).opening();
        let Some(mover) = opening.mover else { return LEAF };
        let behind = graph.edges_of(opening).iter().map(|edge| self.number_behind(graph, edge, role_idx));
        let number =
            if mover as usize == role_idx { behind.min().unwrap_or(LEAF) } else { behind.fold(0, add) };
        number.max(LEAF)
    }

    /// Replaces `numbers` by those of a role behind the moves of a sequential node, in the order of its edges.
    pub(crate) fn gather_proof_numbers<S: Eq + Hash, O: Orders>(
        &self,
        graph: &Graph<S, O>,
        opening: Opening,
        role_idx: usize,
        numbers: &mut Vec<u32>,
    ) {
        numbers.clear();
        let edges = graph.edges_of(opening);
        numbers.extend(edges.iter().map(|edge| self.number_behind(graph, edge, role_idx)));
    }

    /// After a playout, when bounds have gone up: counts again along its path, if anybody wants to know. Along all of it, and not
    /// only as far as numbers change: so what changed by other ways, and what was lost to another thread, is made good.
    pub(crate) fn renew_proof_numbers<S: Eq + Hash, O: Orders>(&self, graph: &Graph<S, O>, path: &Path) {
        let Some(numbers) = &graph.proof_numbers else { return };
        for &id in path.nodes.iter().rev() {
            for role_idx in 0..self.layout.n_bounded {
                numbers.note(id, role_idx, self.count_leaves(graph, id, role_idx));
            }
        }
    }

    fn number_behind<S: Eq + Hash, O: Orders>(
        &self,
        graph: &Graph<S, O>,
        edge: &Edge,
        role_idx: usize,
    ) -> u32 {
        match edge.child::<O>() {
            Child::Node(child) => self.proof_number(graph, child, role_idx),
            Child::None | Child::Broken => LEAF,
        }
    }

    /// The number of a role of which bounds say whether it wins.
    fn decided<S: Eq + Hash, O: Orders>(
        &self,
        graph: &Graph<S, O>,
        id: NodeId,
        role_idx: usize,
    ) -> Option<u32> {
        let interval = self.layout.interval(graph.bounds(id), role_idx);
        match interval {
            _ if interval.lo >= self.least_win => Some(WON),
            _ if interval.hi < self.least_win => Some(NEVER),
            _ => None,
        }
    }
}

/// So many leaves together; only what has an infinite part is infinite.
fn add(sum: u32, number: u32) -> u32 {
    if sum == NEVER || number == NEVER { NEVER } else { sum.saturating_add(number).min(MOST) }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use reasoner::{Expansion, Interrupt, Move};

    use super::*;
    use crate::config::Aim;
    use crate::counters::WorkerCounters;
    use crate::graph::{Blocks, GraphKind, Opened, Sizes};
    use crate::options::Options;
    use crate::orders::Sound;
    use crate::reclaim::{Extent, Scratch};
    use crate::scheme::Scheme;

    const N_ROLES: usize = 2;

    /// A small graph made by hand; states are numbered.
    struct Sketch {
        graph: Graph<u32, Sound>,
        solver: Solver,
        blocks: Blocks,
        counters: WorkerCounters,
        next: u32,
    }

    impl Sketch {
        fn new(aim: Aim) -> Sketch {
            let options = Options { solver: true, pn_bias: 1.0, aim, ..Options::default() };
            Sketch {
                graph: Graph::new(N_ROLES, GraphKind::new(&options, N_ROLES), Sizes::SMALL),
                solver: Scheme::new(&options, 100, N_ROLES, 1).solver.expect("goals fit"),
                blocks: Blocks::default(),
                counters: WorkerCounters::default(),
                next: 0,
            }
        }

        fn leaf(&mut self) -> NodeId {
            self.next += 1;
            self.graph.node_of(&mut self.blocks, self.next, &self.counters).expect("there is room")
        }

        fn end(&mut self, ranks: [u64; N_ROLES]) -> NodeId {
            let id = self.leaf();
            self.graph.tighten(id, self.solver.layout, self.solver.of_end(&ranks));
            id
        }

        /// A node with so many moves of each role, the first of which lead to these nodes.
        fn open(&mut self, n_moves: [u32; N_ROLES], children: &[NodeId]) -> NodeId {
            let id = self.leaf();
            let moves: Vec<Move> = n_moves.iter().flat_map(|&n| (0..n).map(Move)).collect();
            let ends = vec![n_moves[0] as usize, moves.len()];
            assert!(self.graph.node(id).claim());
            let opened = self.graph.open(
                &mut self.blocks,
                id,
                &Expansion { moves, ends, ..Expansion::default() },
                0,
                &self.counters,
            );
            assert_eq!(opened, Opened::Open);
            let first = self.graph.node(id).opening().first_edge;
            for (edge, &child) in (first..).zip(children) {
                self.graph.link(&mut self.blocks, id, edge, child, &self.counters);
            }
            id
        }

        /// Ends a playout at the last of these nodes.
        fn pass(&self, nodes: &[NodeId]) {
            let mut path = Path::default();
            path.nodes.extend_from_slice(nodes);
            self.solver.go_up(&self.graph, &path, &mut Vec::new());
            self.solver.renew_proof_numbers(&self.graph, &path);
        }

        fn numbers(&self, id: NodeId) -> [u32; N_ROLES] {
            [0, 1].map(|role_idx| self.solver.proof_number(&self.graph, id, role_idx))
        }
    }

    #[test]
    fn a_leaf_wants_one_proof() {
        let mut sketch = Sketch::new(Aim::Own);
        let leaf = sketch.leaf();
        sketch.pass(&[leaf]);
        assert_eq!(sketch.numbers(leaf), [1, 1]);
    }

    #[test]
    fn who_chooses_needs_one_move_and_another_needs_all() {
        let mut sketch = Sketch::new(Aim::Own);
        // Of the second role, with three moves and with two.
        let (three, two) = (sketch.open([1, 3], &[]), sketch.open([1, 2], &[]));
        sketch.pass(&[three]);
        sketch.pass(&[two]);
        assert_eq!([sketch.numbers(three), sketch.numbers(two)], [[3, 1], [2, 1]]);
        let root = sketch.open([2, 1], &[three, two]);
        sketch.pass(&[root, three]);
        assert_eq!(sketch.numbers(root), [2, 2]);
        // A move that was not made is a leaf.
        let wider = sketch.open([3, 1], &[three, two]);
        sketch.pass(&[wider]);
        assert_eq!(sketch.numbers(wider), [1, 3]);
    }

    #[test]
    fn a_proven_win_is_0_and_what_is_proven_no_win_infinite() {
        let mut sketch = Sketch::new(Aim::Own);
        let ends = [[100, 0], [0, 100], [50, 50], [99, 100]].map(|ranks| sketch.end(ranks));
        let numbers = ends.map(|id| sketch.numbers(id));
        assert_eq!(numbers, [[WON, NEVER], [NEVER, WON], [NEVER, NEVER], [NEVER, WON]]);
        let [win, loss, even, _] = ends;
        let won = sketch.open([3, 1], &[loss, win]);
        sketch.pass(&[won, win]);
        assert_eq!(sketch.numbers(won), [WON, NEVER]);
        // A lost move is no proof that is near, and for the other role one less to make.
        let open = sketch.open([3, 1], &[loss]);
        sketch.pass(&[open, loss]);
        assert_eq!(sketch.numbers(open), [1, 2]);
        // The other role can be denied its win, though that is no bound on what it has.
        let denied = sketch.open([3, 1], &[even]);
        sketch.pass(&[denied, even]);
        assert_eq!(sketch.numbers(denied), [1, NEVER]);
        assert_eq!(sketch.solver.layout.interval(sketch.graph.bounds(denied), 1).hi, 100);
        let lost = sketch.open([2, 1], &[loss, even]);
        sketch.pass(&[lost, even]);
        assert_eq!(sketch.numbers(lost), [NEVER, NEVER]);
    }

    #[test]
    fn a_win_is_the_highest_goal_whatever_the_aim() {
        for (aim, ranks, is_win) in [
            (Aim::Difference, [200, 0], true),
            (Aim::Difference, [199, 1], false),
            // 100 to the other's 100, and 99 to nothing.
            (Aim::OwnThenOther, [100 * 101, 100 * 101], true),
            (Aim::OwnThenOther, [100 * 101 - 1, 0], false),
        ] {
            let mut sketch = Sketch::new(aim);
            let end = sketch.end(ranks);
            assert_eq!(sketch.numbers(end)[0], if is_win { WON } else { NEVER }, "{aim}, {ranks:?}");
        }
    }

    #[test]
    fn numbers_go_up_all_of_a_path() {
        let mut sketch = Sketch::new(Aim::Own);
        let below = sketch.open([1, 4], &[]);
        let middle = sketch.open([1, 2], &[below]);
        let root = sketch.open([1, 3], &[middle]);
        sketch.pass(&[root, middle, below]);
        assert_eq!([root, middle, below].map(|id| sketch.numbers(id)), [[7, 1], [5, 1], [4, 1]]);
    }

    #[test]
    fn what_was_counted_never_hides_a_proof() {
        let mut sketch = Sketch::new(Aim::Own);
        let won = sketch.end([100, 0]);
        let numbers = sketch.graph.proof_numbers.as_ref().expect("they were asked for");
        numbers.note(won, 0, 7);
        numbers.note(won, 1, 7);
        assert_eq!(sketch.numbers(won), [WON, NEVER]);
    }

    #[test]
    fn many_leaves_are_less_than_infinitely_many() {
        let mut sketch = Sketch::new(Aim::Own);
        let (one, other) = (sketch.leaf(), sketch.leaf());
        let parent = sketch.open([2, 1], &[one, other]);
        let numbers = sketch.graph.proof_numbers.as_ref().expect("they were asked for");
        numbers.note(one, 1, MOST - 1);
        numbers.note(other, 1, 5);
        sketch.pass(&[parent]);
        assert_eq!(sketch.numbers(parent), [1, MOST]);
        assert_eq!([add(NEVER, 1), add(1, NEVER), add(MOST, MOST)], [NEVER, NEVER, MOST]);
    }

    #[test]
    fn reclaiming_keeps_numbers_with_their_nodes() {
        let mut sketch = Sketch::new(Aim::Own);
        let parents: Vec<NodeId> = (0..40)
            .map(|_| {
                let leaves: Vec<NodeId> = (0..5).map(|_| sketch.leaf()).collect();
                sketch.open([1, 5], &leaves)
            })
            .collect();
        let every_second: Vec<NodeId> = parents.into_iter().step_by(2).collect();
        let mut root = sketch.open([20, 1], &every_second);
        let mut roots = vec![root];
        let number = |state: u32, role_idx: usize| if role_idx == 0 { 1000 + state } else { 5000 - state };
        let ids = |graph: &Graph<u32, Sound>| -> Vec<NodeId> {
            let all = (1..graph.nodes.end()).map(|idx| NodeId(crate::arena::u32_of(idx)));
            all.filter(|&id| graph.state_if_any(id).is_some()).collect()
        };
        let numbers = sketch.graph.proof_numbers.as_ref().expect("they were asked for");
        for id in ids(&sketch.graph) {
            (0..N_ROLES)
                .for_each(|role_idx| numbers.note(id, role_idx, number(*sketch.graph.state(id), role_idx)));
        }
        let (extent, stop, mut scratch) = (Extent::Unreachable, Interrupt::new(), Scratch::default());
        let done = sketch.graph.reclaim(&mut root, &mut roots, extent, 1, &stop, &mut scratch);
        assert_eq!(done.map(|done| done.n_nodes), Some(1 + 20 + 20 * 5));
        for id in ids(&sketch.graph) {
            let state = *sketch.graph.state(id);
            assert_eq!(sketch.numbers(id), [0, 1].map(|role_idx| number(state, role_idx)), "state {state}");
        }
        sketch.blocks = Blocks::default();
        let new = sketch.leaf();
        assert_eq!(sketch.numbers(new), [LEAF, LEAF], "nothing is left of what is gone");
    }

    #[test]
    fn where_several_choose_only_bounds_tell() {
        let mut sketch = Sketch::new(Aim::Own);
        let open = sketch.open([2, 3], &[]);
        sketch.pass(&[open]);
        assert_eq!(sketch.numbers(open), [1, 1]);
        sketch.graph.tighten(open, sketch.solver.layout, sketch.solver.of_end(&[0, 100]));
        sketch.pass(&[open]);
        assert_eq!(sketch.numbers(open), [NEVER, WON]);
    }
}
