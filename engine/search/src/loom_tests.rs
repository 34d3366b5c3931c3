//! Model checks of the four hand-overs: publish, insert, expand and backup.
//!
//! Each is one function over its orderings. With [`Sound`] loom finds nothing wrong in any interleaving of
//! two threads and any reordering that the memory model allows; with one ordering weakened it must find the
//! failure that the ordering is there for. `ci/loom` runs them.

use loom::thread;
use reasoner::{Expansion, Move};

use crate::backup::Path;
use crate::counters::WorkerCounters;
use crate::edge::Child;
use crate::graph::{Blocks, Graph, Opened, Sizes};
use crate::node::{NodeId, Status};
use crate::orders::{Orders, Sound};
use crate::sync::{Arc, Ordering};

/// Orderings that are sound but for one constant.
macro_rules! weakened {
    ($name:ident, $constant:ident) => {
        struct $name;

        impl Orders for $name {
            const $constant: Ordering = Ordering::Relaxed;
        }
    };
}

weakened!(WeakPublish, PUBLISH);
weakened!(WeakFollow, FOLLOW);
weakened!(WeakInsert, INSERT);
weakened!(WeakFind, FIND);
weakened!(WeakOpen, OPEN);
weakened!(WeakEnter, ENTER);
weakened!(WeakCount, COUNT);
weakened!(WeakWeigh, WEIGH);

/// Runs a model with as many forced switches of threads as loom's authors recommend.
fn model(test: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(test);
}

type Small<O> = Graph<u32, O>;

/// A graph of a few nodes, so that a model can make thousands of them, with all memory there that the
/// threads will ask for. The root's state is 0.
fn small_graph<O: Orders>(has_transpositions: bool) -> (Arc<Small<O>>, NodeId) {
    let sizes = Sizes { node_bits: 1, edge_bits: 1, table_bits: 1, cap: 1 << 12, state_heap_bytes: 0 };
    let graph = Small::<O>::new(1, has_transpositions, sizes);
    let root = graph.node_of(&mut Blocks::default(), 0, &WorkerCounters::default());
    (Arc::new(graph), root.expect("there is room for a root"))
}

/// The moves 5 and 6 of the only role.
fn two_moves() -> Expansion {
    Expansion { moves: vec![Move(5), Move(6)], ends: vec![2], ..Expansion::default() }
}

/// A child that was linked to an edge has its state for whoever follows the edge.
fn publish<O: Orders>() {
    model(|| {
        let (graph, root) = small_graph::<O>(false);
        let counters = WorkerCounters::default();
        assert!(graph.node(root).claim());
        assert_eq!(graph.open(&mut Blocks::default(), root, &two_moves(), &counters), Opened::Open);
        let first_edge = graph.node(root).opening().first_edge;
        let theirs = Arc::clone(&graph);
        let writer = thread::spawn(move || {
            let counters = WorkerCounters::default();
            let child = theirs.node_of(&mut Blocks::default(), 7, &counters).expect("there is room");
            theirs.link(theirs.edge(first_edge), child, &counters)
        });
        if let Child::Node(child) = graph.edge(first_edge).child::<O>() {
            assert_eq!(*graph.state(child), 7);
        }
        let child = writer.join().expect("the writer is done");
        assert_eq!(graph.edge(first_edge).child::<O>(), Child::Node(child));
    });
}

/// Two threads that link a child to the same edge agree on one, and it has its state for both.
fn publish_both<O: Orders>() {
    model(|| {
        let (graph, root) = small_graph::<O>(false);
        let counters = WorkerCounters::default();
        assert!(graph.node(root).claim());
        assert_eq!(graph.open(&mut Blocks::default(), root, &two_moves(), &counters), Opened::Open);
        let first_edge = graph.node(root).opening().first_edge;
        let link = move |graph: &Small<O>, counters: &WorkerCounters| {
            let child = graph.node_of(&mut Blocks::default(), 7, counters).expect("there is room");
            let winner = graph.link(graph.edge(first_edge), child, counters);
            assert_eq!(*graph.state(winner), 7);
            winner
        };
        let theirs = Arc::clone(&graph);
        let writer = thread::spawn(move || link(&theirs, &WorkerCounters::default()));
        let mine = link(&graph, &counters);
        assert_eq!(writer.join().expect("the writer is done"), mine);
    });
}

/// Two threads that come to the same new state agree on one node, and the other is dead.
fn insert<O: Orders>() {
    model(|| {
        let (graph, _) = small_graph::<O>(true);
        let come = |graph: &Small<O>| {
            let id = graph.node_of(&mut Blocks::default(), 7, &WorkerCounters::default());
            let id = id.expect("there is room");
            assert_eq!(*graph.state(id), 7);
            id
        };
        let theirs = Arc::clone(&graph);
        let other = thread::spawn(move || come(&theirs));
        let mine = come(&graph);
        assert_eq!(other.join().expect("the other is done"), mine);
        let alive = (1..graph.nodes.end())
            .map(|idx| NodeId(crate::arena::u32_of(idx)))
            .filter(|&id| graph.state_if_any(id) == Some(&7) && graph.node(id).status::<O>() != Status::Dead);
        assert_eq!(alive.collect::<Vec<_>>(), [mine]);
    });
}

/// Of two threads that want to open a node one does; whoever sees it open sees its edges.
fn expand<O: Orders>() {
    model(|| {
        let (graph, root) = small_graph::<O>(false);
        let visit = move |graph: &Small<O>| {
            let has_claimed = graph.node(root).claim();
            if has_claimed {
                let opened =
                    graph.open(&mut Blocks::default(), root, &two_moves(), &WorkerCounters::default());
                assert_eq!(opened, Opened::Open);
            }
            if graph.node(root).status::<O>() == Status::Open {
                let opening = graph.node(root).opening();
                assert_eq!((opening.mover, opening.n_edges), (Some(0), 2));
                let moves: Vec<_> = graph.edges_of(opening).iter().map(|edge| edge.a_move().0).collect();
                assert_eq!(moves, [5, 6]);
            }
            has_claimed
        };
        let theirs = Arc::clone(&graph);
        let other = thread::spawn(move || visit(&theirs));
        let mine = visit(&graph);
        assert!(mine != other.join().expect("the other is done"), "one of two claims holds");
        assert_eq!(graph.node(root).status::<O>(), Status::Open);
    });
}

/// Whoever reads a count sees the values of all playouts that it counts; a playout taken back leaves no
/// trace; and in the end the sums are exact.
fn backup<O: Orders>() {
    model(|| {
        let (graph, root) = small_graph::<O>(false);
        let play_out = move |graph: &Small<O>, value: Option<u64>| {
            let mut path = Path::default();
            path.clear();
            path.enter_node(graph, root);
            match value {
                Some(value) => path.back_up(graph, &[value], true),
                None => path.cancel(graph),
            }
        };
        let theirs = Arc::clone(&graph);
        let other = thread::spawn(move || {
            play_out(&theirs, Some(100));
            play_out(&theirs, None);
        });
        play_out(&graph, Some(100));
        let tally = graph.node(root).count.read::<O>();
        let sum = graph.sum(root, 0).load(Ordering::Relaxed);
        assert!(sum >= 100 * tally.visits, "{sum} in {} visits", tally.visits);
        other.join().expect("the other is done");
        let tally = graph.node(root).count.read::<O>();
        assert_eq!((tally.visits, tally.in_flight), (2, 0));
        assert_eq!(graph.sum(root, 0).load(Ordering::Relaxed), 200);
        assert_eq!(graph.node(root).own.load(Ordering::Relaxed), 2);
    });
}

#[test]
fn loom_publish_hands_over_the_state() {
    publish::<Sound>();
}

#[test]
fn loom_publish_by_two_agrees_on_one_child() {
    publish_both::<Sound>();
}

#[test]
fn loom_insert_makes_one_node_of_a_state() {
    insert::<Sound>();
}

#[test]
fn loom_expand_hands_over_the_edges() {
    expand::<Sound>();
}

#[test]
fn loom_backup_counts_only_values_that_are_there() {
    backup::<Sound>();
}

#[test]
#[should_panic(expected = "before its state was there")]
fn loom_publish_fails_with_a_relaxed_store() {
    publish::<WeakPublish>();
}

#[test]
#[should_panic(expected = "before its state was there")]
fn loom_publish_fails_with_a_relaxed_load() {
    publish::<WeakFollow>();
}

#[test]
#[should_panic(expected = "before its state was there")]
fn loom_publish_by_two_fails_with_a_relaxed_store() {
    publish_both::<WeakPublish>();
}

#[test]
#[should_panic(expected = "before its state was there")]
fn loom_publish_by_two_fails_with_a_relaxed_load() {
    publish_both::<WeakFollow>();
}

#[test]
#[should_panic(expected = "before its state was there")]
fn loom_insert_fails_with_a_relaxed_store() {
    insert::<WeakInsert>();
}

#[test]
#[should_panic(expected = "before its state was there")]
fn loom_insert_fails_with_a_relaxed_load() {
    insert::<WeakFind>();
}

#[test]
#[should_panic(expected = "assertion")]
fn loom_expand_fails_with_a_relaxed_store() {
    expand::<WeakOpen>();
}

#[test]
#[should_panic(expected = "assertion")]
fn loom_expand_fails_with_a_relaxed_load() {
    expand::<WeakEnter>();
}

#[test]
#[should_panic(expected = "100 in 2 visits")]
fn loom_backup_fails_with_a_relaxed_count() {
    backup::<WeakCount>();
}

#[test]
#[should_panic(expected = "100 in 2 visits")]
fn loom_backup_fails_with_a_relaxed_look() {
    backup::<WeakWeigh>();
}
