//! Model checks of the hand-overs between threads: publish, insert, expand, backup and credit.
//!
//! Each is one function over its orderings. With [`Sound`] loom finds nothing wrong in any interleaving of
//! two threads and any reordering that the memory model allows; with one ordering weakened it must find the
//! failure that the ordering is there for. `ci/loom` runs them.

use std::collections::BTreeSet;

use loom::thread;
use reasoner::{Expansion, Move};

use crate::backup::{Ending, Hot, Passed, Path};
use crate::counters::WorkerCounters;
use crate::credit::Credit;
use crate::edge::Child;
use crate::graph::{Blocks, Graph, GraphKind, Opened, Sizes};
use crate::kept::Kept;
use crate::node::{NodeId, Status};
use crate::options::Options;
use crate::orders::{Orders, Sound};
use crate::scheme::Scheme;
use crate::solver::{BoundsLayout, Interval};
use crate::sync::{Arc, Mutex, Ordering};

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
weakened!(WeakCredit, CREDIT);

/// Writes bounds over what others have proven meanwhile.
struct PlainBounds;

impl Orders for PlainBounds {
    fn joins_bounds() -> bool {
        false
    }
}

/// Runs a model with as many forced switches of threads as loom's authors recommend, and gives every outcome
/// that some execution had: a model that never met the race it is about would show nothing.
fn model<T: Ord + Send + 'static>(test: impl Fn() -> T + Sync + Send + 'static) -> BTreeSet<T> {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    let outcomes = Arc::new(Mutex::new(BTreeSet::new()));
    let seen = Arc::clone(&outcomes);
    builder.check(move || {
        let outcome = test();
        seen.lock().insert(outcome);
    });
    std::mem::take(&mut *outcomes.lock())
}

type Small<O> = Graph<u32, O>;

/// A graph of a few nodes, so that a model can make thousands of them, with all memory there that the
/// threads will ask for. The root's state is 0.
fn small_graph<O: Orders>(has_transpositions: bool) -> (Arc<Small<O>>, NodeId) {
    let (_, kind) = scheme_of("uct");
    small_graph_of(GraphKind { has_transpositions, ..kind }, 1)
}

/// A configuration's rules, and what it wants of a graph.
fn scheme_of(name: &str) -> (Scheme, GraphKind) {
    let options = Options { config: name.parse().expect("a name"), ..Options::default() };
    (Scheme::new(&options, 100, 1, 1), GraphKind::new(&options, 1))
}

/// With 2^`edge_bits` edges in a chunk: threads that add to the same arena need chunks of their own, since loom knows
/// nothing of how chunks are made, nor of the lock that is held meanwhile.
fn small_graph_of<O: Orders>(kind: GraphKind, edge_bits: u32) -> (Arc<Small<O>>, NodeId) {
    let sizes = Sizes {
        node_bits: 1,
        edge_bits,
        first_table_bits: 1,
        table_bits: 1,
        cap: 1 << 12,
        state_heap_bytes: 0,
    };
    let graph = Small::<O>::new(1, kind, sizes);
    let root = graph.node_of(&mut Blocks::default(), 0, &WorkerCounters::default());
    (Arc::new(graph), root.expect("there is room for a root"))
}

/// The moves 5 and 6 of the only role.
fn two_moves() -> Expansion {
    Expansion { moves: vec![Move(5), Move(6)], ends: vec![2], ..Expansion::default() }
}

/// A child that was linked to an edge has its state for whoever follows the edge.
///
/// The outcome: whether the child was seen before the writer was done.
fn publish<O: Orders>() -> BTreeSet<bool> {
    model(|| {
        let (graph, root) = small_graph::<O>(false);
        let counters = WorkerCounters::default();
        assert!(graph.node(root).claim());
        assert_eq!(graph.open(&mut Blocks::default(), root, &two_moves(), 0, &counters), Opened::Open);
        let first_edge = graph.node(root).opening().first_edge;
        let theirs = Arc::clone(&graph);
        let writer = thread::spawn(move || {
            let counters = WorkerCounters::default();
            let child = theirs.node_of(&mut Blocks::default(), 7, &counters).expect("there is room");
            theirs.link(&mut Blocks::default(), root, first_edge, child, &counters)
        });
        let early = graph.edge(first_edge).child::<O>();
        if let Child::Node(child) = early {
            assert_eq!(*graph.state(child), 7);
        }
        let child = writer.join().expect("the writer is done");
        assert_eq!(graph.edge(first_edge).child::<O>(), Child::Node(child));
        early != Child::None
    })
}

/// Two threads that link a child to the same edge agree on one, and it has its state for both.
///
/// The outcome: whether this thread's child, and whether the other's, was given up.
fn publish_both<O: Orders>() -> BTreeSet<(bool, bool)> {
    model(|| {
        let (graph, root) = small_graph::<O>(false);
        let counters = WorkerCounters::default();
        assert!(graph.node(root).claim());
        assert_eq!(graph.open(&mut Blocks::default(), root, &two_moves(), 0, &counters), Opened::Open);
        let first_edge = graph.node(root).opening().first_edge;
        let link = move |graph: &Small<O>, counters: &WorkerCounters| {
            let child = graph.node_of(&mut Blocks::default(), 7, counters).expect("there is room");
            let winner = graph.link(&mut Blocks::default(), root, first_edge, child, counters);
            assert_eq!(*graph.state(winner), 7);
            (winner, winner != child)
        };
        let theirs = Arc::clone(&graph);
        let writer = thread::spawn(move || link(&theirs, &WorkerCounters::default()));
        let (mine, has_lost) = link(&graph, &counters);
        let (other, other_has_lost) = writer.join().expect("the writer is done");
        assert_eq!(other, mine);
        (has_lost, other_has_lost)
    })
}

/// Two threads that come to the same new state agree on one node, and the other is dead.
///
/// The outcome: how many nodes were made in vain by this thread, and how many by the other.
fn insert<O: Orders>() -> BTreeSet<(u64, u64)> {
    model(|| {
        let (graph, _) = small_graph::<O>(true);
        let come = |graph: &Small<O>| {
            let counters = WorkerCounters::default();
            let id = graph.node_of(&mut Blocks::default(), 7, &counters).expect("there is room");
            assert_eq!(*graph.state(id), 7);
            (id, counters.duplicates.get())
        };
        let theirs = Arc::clone(&graph);
        let other = thread::spawn(move || come(&theirs));
        let (mine, n_mine) = come(&graph);
        let (others, n_others) = other.join().expect("the other is done");
        assert_eq!(others, mine);
        let alive = (1..graph.nodes.end())
            .map(|idx| NodeId(crate::arena::u32_of(idx)))
            .filter(|&id| graph.state_if_any(id) == Some(&7) && graph.node(id).status::<O>() != Status::Dead);
        assert_eq!(alive.collect::<Vec<_>>(), [mine]);
        (n_mine, n_others)
    })
}

/// Of two threads that want to open a node one does; whoever sees it open, also behind a turn that the other took, sees its edges.
///
/// The outcome: whether this thread claimed it, and whether the loser saw it open.
fn expand<O: Orders>() -> BTreeSet<(bool, bool)> {
    model(|| {
        let (graph, root) = small_graph::<O>(false);
        let visit = move |graph: &Small<O>| {
            let has_claimed = graph.node(root).claim();
            if has_claimed {
                let opened =
                    graph.open(&mut Blocks::default(), root, &two_moves(), 0, &WorkerCounters::default());
                assert_eq!(opened, Opened::Open);
            }
            let is_open = graph.node(root).status::<O>() == Status::Open;
            if is_open {
                let opening = graph.node(root).opening();
                assert_eq!((opening.mover, opening.n_edges), (Some(0), 2));
                let moves: Vec<_> = graph.edges_of(opening).iter().map(|edge| edge.a_move().0).collect();
                assert_eq!(moves, [5, 6]);
            }
            let turn = if is_open { graph.node(root).take_turn() } else { None };
            (has_claimed, is_open, turn)
        };
        let theirs = Arc::clone(&graph);
        let other = thread::spawn(move || visit(&theirs));
        let mine = visit(&graph);
        let others = other.join().expect("the other is done");
        assert!(mine.0 != others.0, "one of two claims holds");
        assert!(mine.2 != others.2 || mine.2.is_none(), "a move has one turn");
        assert_eq!(graph.node(root).status::<O>(), Status::Open);
        (mine.0, if mine.0 { others.1 } else { mine.1 })
    })
}

/// Whoever reads a count sees the values of all playouts that it counts; a playout taken back leaves no
/// trace; and in the end the sums are exact.
///
/// The outcome: the visits that this thread saw after its own, and what was in flight then.
fn backup<O: Orders>() -> BTreeSet<(u64, u64)> {
    model(|| {
        let (graph, root) = small_graph::<O>(false);
        let play_out = move |graph: &Small<O>, value: Option<u64>| {
            let mut path = Path::default();
            path.begin(1, false);
            path.enter_node(graph.node(root), root);
            match value {
                Some(value) => {
                    let (scheme, _) = scheme_of("uct");
                    path.back_up(
                        graph,
                        &scheme,
                        &Ending { values: &[value], best: &[value], is_at_node: true },
                        &mut Hot::default(),
                        &mut Kept::default(),
                    );
                }
                None => path.cancel(graph, &mut Kept::default()),
            }
        };
        let theirs = Arc::clone(&graph);
        let other = thread::spawn(move || {
            play_out(&theirs, Some(100));
            play_out(&theirs, None);
        });
        play_out(&graph, Some(100));
        let early = graph.node(root).count.read::<O>();
        let tally = early;
        let sum = graph.sum(root, 0).load(Ordering::Relaxed);
        assert!(sum >= 100 * tally.visits, "{sum} in {} visits", tally.visits);
        other.join().expect("the other is done");
        let tally = graph.node(root).count.read::<O>();
        assert_eq!((tally.visits, tally.in_flight), (2, 0));
        assert_eq!(graph.sum(root, 0).load(Ordering::Relaxed), 200);
        assert_eq!(graph.node(root).own.load(Ordering::Relaxed), 2);
        (early.visits, early.in_flight)
    })
}

/// Whatever the interleaving of two playouts through an edge, in the end its credit is what its child is worth.
///
/// The outcome: the credit's playouts that this thread saw after its own.
fn credit<O: Orders>() -> BTreeSet<u64> {
    model(|| {
        let (scheme, kind) = scheme_of("credited");
        let (graph, root) = small_graph_of::<O>(kind, 1);
        let counters = WorkerCounters::default();
        assert!(graph.node(root).claim());
        assert_eq!(graph.open(&mut Blocks::default(), root, &two_moves(), 0, &counters), Opened::Open);
        let edge = graph.node(root).opening().first_edge;
        let child = graph.node_of(&mut Blocks::default(), 7, &counters).expect("there is room");
        graph.link(&mut Blocks::default(), root, edge, child, &counters);
        let play_out = move |graph: &Small<O>, scheme: &Scheme, value: u64| {
            let mut path = Path::default();
            path.begin(1, false);
            path.enter_node(graph.node(root), root);
            path.leave_node(false);
            path.enter_edge(graph.edge(edge), Passed { edge, role: 0, chance: None, is_counted: true });
            path.enter_node(graph.node(child), child);
            path.back_up(
                graph,
                scheme,
                &Ending { values: &[value], best: &[value], is_at_node: true },
                &mut Hot::default(),
                &mut Kept::default(),
            );
        };
        let credit_of = move |graph: &Small<O>| {
            Credit::of(graph.word(edge, graph.layout.credits.first).load(Ordering::Relaxed))
        };
        let theirs = Arc::clone(&graph);
        let their_scheme = scheme.clone();
        let other = thread::spawn(move || play_out(&theirs, &their_scheme, 1000));
        play_out(&graph, &scheme, 0);
        let early = credit_of(&graph).n;
        other.join().expect("the other is done");
        assert_eq!(credit_of(&graph), Credit { n: 2, q: 500 });
        assert_eq!(graph.sum(root, 0).load(Ordering::Relaxed), 1000);
        early
    })
}

/// Two threads that make ways into one node at the same time are both in its list, with where they come from.
///
/// The outcome: how many ways this thread saw before the other was done.
fn link_parents<O: Orders>() -> BTreeSet<usize> {
    model(|| {
        let (_, kind) = scheme_of("update-all");
        let (graph, root) = small_graph_of::<O>(kind, 3);
        let counters = WorkerCounters::default();
        assert!(graph.node(root).claim());
        assert_eq!(graph.open(&mut Blocks::default(), root, &two_moves(), 0, &counters), Opened::Open);
        let edge = graph.node(root).opening().first_edge;
        let child = graph.node_of(&mut Blocks::default(), 7, &counters).expect("there is room");
        let ways = move |graph: &Small<O>| {
            let parents = graph.parents.as_ref().expect("the configuration asks for them");
            let ways: Vec<_> = parents.of(graph, child).collect();
            assert!(ways.iter().all(|&(origin, _)| origin == root), "a way from nowhere: {ways:?}");
            ways.len()
        };
        let theirs = Arc::clone(&graph);
        let other = thread::spawn(move || {
            theirs.link(&mut Blocks::default(), root, edge + 1, child, &WorkerCounters::default());
        });
        graph.link(&mut Blocks::default(), root, edge, child, &counters);
        let early = ways(&graph);
        other.join().expect("the other is done");
        assert_eq!(ways(&graph), 2);
        early
    })
}

/// What two threads prove of a node is there in the end, and nobody ever sees bounds get looser.
///
/// The outcome: what this thread saw of the other's proof after its own.
fn tighten<O: Orders>() -> BTreeSet<(u64, u64)> {
    model(|| {
        let (graph, root) = small_graph::<O>(false);
        let layout = BoundsLayout::new(1, 100).expect("there is room");
        let with = move |lo, hi| layout.with(0, 0, Interval { lo, hi });
        let theirs = Arc::clone(&graph);
        let other = thread::spawn(move || {
            theirs.tighten(root, layout, with(50, 100));
            theirs.tighten(root, layout, with(50, 60));
        });
        let mut last = graph.bounds(root);
        let mut look = |graph: &Small<O>| {
            let word = graph.bounds(root);
            assert!(layout.follows(last, word));
            last = word;
            layout.interval(word, 0)
        };
        graph.tighten(root, layout, with(40, 90));
        let early = look(&graph);
        look(&graph);
        other.join().expect("the other is done");
        assert_eq!(look(&graph), Interval { lo: 50, hi: 60 });
        (early.lo, early.hi)
    })
}

#[test]
fn loom_bounds_only_tighten() {
    assert_eq!(tighten::<Sound>(), BTreeSet::from([(40, 90), (50, 90), (50, 60)]));
}

#[test]
#[should_panic(expected = "assertion")]
fn loom_bounds_fail_with_a_plain_store() {
    tighten::<PlainBounds>();
}

#[test]
fn loom_publish_hands_over_the_state() {
    assert_eq!(publish::<Sound>(), BTreeSet::from([false, true]));
}

#[test]
fn loom_publish_by_two_agrees_on_one_child() {
    assert_eq!(publish_both::<Sound>(), BTreeSet::from([(false, true), (true, false)]));
}

#[test]
fn loom_insert_makes_one_node_of_a_state() {
    assert_eq!(insert::<Sound>(), BTreeSet::from([(0, 0), (0, 1), (1, 0)]));
}

#[test]
fn loom_expand_hands_over_the_edges() {
    let all = [(false, false), (false, true), (true, false), (true, true)];
    assert_eq!(expand::<Sound>(), BTreeSet::from(all));
}

#[test]
fn loom_backup_counts_only_values_that_are_there() {
    assert_eq!(backup::<Sound>(), BTreeSet::from([(1, 0), (1, 1), (2, 0), (2, 1)]));
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

#[test]
fn loom_credit_comes_to_what_the_child_is_worth() {
    assert_eq!(credit::<Sound>(), BTreeSet::from([1, 2]));
}

#[test]
#[should_panic(expected = "assertion")]
fn loom_credit_fails_with_a_relaxed_count() {
    credit::<WeakCredit>();
}

#[test]
fn loom_parents_are_all_in_the_list() {
    assert_eq!(link_parents::<Sound>(), BTreeSet::from([1, 2]));
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_parents_fail_with_a_relaxed_store() {
    link_parents::<WeakInsert>();
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_parents_fail_with_a_relaxed_load() {
    link_parents::<WeakFind>();
}
