//! Random interleavings of many threads that back up under `credited`, by shuttle.
//!
//! In a tree at rest every edge's credit is what its child is worth, whatever the order in which threads came.
//! `ci/loom` runs these too.

use reasoner::{Dice, Expansion, Move};
use shuttle::thread;

use crate::backup::{Ending, Hot, Passed, Path};
use crate::counters::WorkerCounters;
use crate::edge::Child;
use crate::graph::{Blocks, Graph, GraphKind, Opened, Sizes};
use crate::kept::Kept;
use crate::node::{NodeId, Status};
use crate::options::Options;
use crate::orders::{Orders, Sound};
use crate::scheme::Scheme;
use crate::sync::{Arc, Ordering};

/// Takes every credit for the newest: the plain swap that GRAPH.md warns of.
struct PlainSwap;

impl Orders for PlainSwap {
    fn takes_credit(_: u64, _: u64) -> bool {
        true
    }
}

const N_MOVES: u32 = 2;
const DEPTH: usize = 3;
const PLAYOUTS_OF_A_THREAD: usize = 2;
const N_ROLES: usize = 2;

type Tree<O> = Graph<u32, O>;

fn scheme_and_tree<O: Orders>() -> (Scheme, Arc<Tree<O>>, NodeId) {
    let options = Options { config: crate::Config::Credited, ..Options::default() };
    let kind = GraphKind { has_transpositions: false, ..GraphKind::new(&options, N_ROLES) };
    let sizes = Sizes {
        node_bits: 5,
        edge_bits: 5,
        first_table_bits: 4,
        table_bits: 4,
        cap: 1 << 20,
        state_heap_bytes: 0,
    };
    let graph = Tree::<O>::new(N_ROLES, kind, sizes);
    let root = grow(&graph, &mut Blocks::default(), 0);
    (Scheme::new(&options, 100, N_ROLES, 1), Arc::new(graph), root)
}

/// A complete tree; the roles choose by turns.
fn grow<O: Orders>(graph: &Tree<O>, blocks: &mut Blocks, depth: usize) -> NodeId {
    let counters = WorkerCounters::default();
    let id = graph.node_of(blocks, 0, &counters).expect("there is room");
    if depth == DEPTH {
        return id;
    }
    let mut expansion = Expansion::default();
    for role_idx in 0..N_ROLES {
        let n_moves = if role_idx == depth % N_ROLES { N_MOVES } else { 1 };
        expansion.moves.extend((0..n_moves).map(Move));
        expansion.ends.push(expansion.moves.len());
    }
    assert!(graph.node(id).claim());
    assert_eq!(graph.open(blocks, id, &expansion, 0, &counters), Opened::Open);
    let opening = graph.node(id).opening();
    for edge in opening.first_edge..opening.first_edge + opening.n_edges {
        let child = grow(graph, blocks, depth + 1);
        graph.link(blocks, id, edge, child, &counters);
    }
    id
}

/// Goes down by random edges and backs random values up.
fn play_out<O: Orders>(graph: &Tree<O>, scheme: &Scheme, root: NodeId, number: u64) {
    let mut dice = Dice::new(number);
    let mut path = Path::default();
    path.begin(1, false);
    let mut id = root;
    path.enter_node(graph.node(id), id);
    while graph.node(id).status::<O>() == Status::Open {
        let opening = graph.node(id).opening();
        let edge = opening.first_edge + crate::arena::u32_of(dice.below(opening.n_edges as usize));
        path.leave_node(false);
        path.enter_edge(
            graph.edge(edge),
            Passed { edge, role: opening.mover.unwrap_or(0), chance: None, is_counted: true },
        );
        let Child::Node(child) = graph.edge(edge).child::<O>() else { panic!("the tree is complete") };
        id = child;
        path.enter_node(graph.node(id), id);
    }
    let won = scheme.valuation.of_goal(100) * u64::from(dice.below(2) == 0);
    let values = [won, scheme.valuation.of_goal(100) - won];
    path.back_up(
        graph,
        scheme,
        &Ending { values: &values, best: &values, is_at_node: true },
        &mut Hot::default(),
        &mut Kept::default(),
    );
}

fn sums<O: Orders>(graph: &Tree<O>) -> Vec<u64> {
    let ids = (1..graph.nodes.end()).map(|idx| NodeId(crate::arena::u32_of(idx)));
    let made = ids.filter(|&id| graph.state_if_any(id).is_some());
    made.flat_map(|id| (0..N_ROLES).map(move |role_idx| (id, role_idx)))
        .map(|(id, role_idx)| graph.sum(id, role_idx).load(Ordering::Relaxed))
        .collect()
}

/// The tree after threads have come in any order is the tree after they have come one after the other.
fn order_does_not_matter<O: Orders>(n_threads: usize, n_schedules: usize) {
    let body = move || {
        let (scheme, shared, root) = scheme_and_tree::<O>();
        let (_, alone, lonely_root) = scheme_and_tree::<O>();
        let scheme = Arc::new(scheme);
        let numbers =
            move |thread_idx: usize| (0..PLAYOUTS_OF_A_THREAD).map(move |i| (thread_idx * 1000 + i) as u64);
        let threads: Vec<_> = (0..n_threads)
            .map(|thread_idx| {
                let (graph, scheme) = (Arc::clone(&shared), Arc::clone(&scheme));
                thread::spawn(move || {
                    numbers(thread_idx).for_each(|number| play_out(&graph, &scheme, root, number));
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().expect("it ends"));
        (0..n_threads).flat_map(numbers).for_each(|number| play_out(&alone, &scheme, lonely_root, number));
        assert_eq!(sums(&shared), sums(&alone), "{n_threads} threads");
    };
    shuttle::check_random(body, n_schedules);
}

#[test]
fn shuttle_credit_does_not_depend_on_the_order_of_threads() {
    for (n_threads, n_schedules) in
        [(2, 9000), (3, 5000), (4, 2500), (8, 1000), (16, 400), (32, 150), (64, 60)]
    {
        order_does_not_matter::<Sound>(n_threads, n_schedules);
    }
}

#[test]
#[should_panic(expected = "threads")]
fn shuttle_credit_fails_with_a_plain_swap() {
    order_does_not_matter::<PlainSwap>(8, 200);
}
