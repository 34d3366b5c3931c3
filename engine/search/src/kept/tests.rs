//! What is kept, on small graphs.

use reasoner::{Expansion, Move};

use super::*;
use crate::config::Config;
use crate::count::Tally;
use crate::counters::WorkerCounters;
use crate::graph::{Blocks, GraphKind, Sizes};
use crate::options::Options;
use crate::orders::Sound;

type Small = Graph<u32, Sound>;

/// A graph of `n` nodes, each with `n_moves` moves, which lead round: the last node's to the first again. Nodes and edges have eight
/// visits each that came to nothing.
fn round(options: &Options, n: u32, n_moves: usize) -> (Small, Vec<NodeId>) {
    let graph = Small::new(2, GraphKind::new(options, 2), Sizes::SMALL);
    let (mut blocks, counters) = (Blocks::default(), WorkerCounters::default());
    let moves = (0u32..).take(n_moves).map(Move).chain([Move(0)]).collect();
    let expansion = Expansion { moves, ends: vec![n_moves, n_moves + 1], ..Expansion::default() };
    let ids: Vec<_> =
        (0..n).map(|state| graph.node_of(&mut blocks, state, &counters).expect("room")).collect();
    for (i, &id) in ids.iter().enumerate() {
        assert!(graph.node(id).claim());
        graph.open(&mut blocks, id, &expansion, 0, &counters);
        let opening = graph.node(id).opening();
        for edge in (opening.first_edge..).take(n_moves) {
            graph.link(&mut blocks, id, edge, ids[(i + 1) % ids.len()], &counters);
            graph.edge(edge).count.add::<Sound>(8);
        }
        graph.node(id).count.add::<Sound>(8);
    }
    (graph, ids)
}

fn view(graph: &Small, id: NodeId) -> Viewpoint {
    let opening = graph.node(id).opening();
    let edges = opening.first_edge..opening.first_edge + opening.n_edges;
    Viewpoint { id, edges, role_idx: 0, is_simultaneous: false }
}

/// Moves of these means with eight visits each.
fn columns(means: &[u64]) -> Columns {
    let tally = Tally { visits: 8, in_flight: 0 };
    let mut columns = Columns::default();
    columns.fill(means, 1.0, |mean| Results::new(tally, 8 * mean));
    columns
}

/// Visits, what is in flight, and sums of all edges and nodes.
fn all_told(graph: &Small, ids: &[NodeId]) -> Vec<(u64, u64, u64)> {
    let edges = ids.iter().flat_map(|&id| graph.edges_in(view(graph, id).edges));
    let results = edges.map(crate::edge::Edge::results::<Sound>);
    let results = results.chain(ids.iter().flat_map(|&id| [0, 1].map(|role| graph.results(id, role))));
    results.map(|it| (it.tally.visits, it.tally.in_flight, it.sum)).collect()
}

/// The index of a move in its node.
fn move_of(kept: &Kept, spot: Spot) -> u32 {
    spot.0 - kept.nodes[kept.moves[spot.idx()].node_idx as usize].first_row
}

fn options(exploration: f64) -> Options {
    Options { exploration: Some(exploration), batch: Some(64), rollouts: Some(8), ..Options::default() }
}

/// Such a graph, where the first descent of a batch is at the first node.
fn begin(options: &Options, n: u32, n_moves: usize) -> (Small, Vec<NodeId>, Kept) {
    let (graph, ids) = round(options, n, n_moves);
    let mut kept = Kept::default();
    kept.begin_batch(&graph, ids[0], &Scheme::new(options, 100, 2, 1), 64);
    kept.begin_descent(true);
    (graph, ids, kept)
}

/// A descent comes to a node that is not kept, and leaves it by the first move.
fn note(kept: &mut Kept, graph: &Small, id: NodeId, means: &[u64]) {
    if kept.leave() {
        kept.note(graph, &view(graph, id), &columns(means), 8 * means.len() as u64, 0);
    }
}

fn chosen(kept: &mut Kept, id: NodeId) -> Option<u32> {
    kept.pass(id, None).map(|spot| move_of(kept, spot))
}

#[test]
fn what_is_sent_on_its_way_makes_a_move_less_of_a_choice() {
    let (graph, ids, mut kept) = begin(&options(40.0), 2, 3);
    assert_eq!(kept.pass(ids[0], None), None, "nothing is kept yet");
    note(&mut kept, &graph, ids[0], &[50, 50, 50]);
    let moves: Vec<_> = (0..5).map(|_| chosen(&mut kept, ids[0])).collect();
    assert_eq!(moves, [1, 2, 0, 1, 2].map(Some));
    kept.flush(&graph);
    assert_eq!(kept.pass(ids[0], None), None, "a term later");
}

#[test]
fn bounds_are_those_of_ucb1() {
    let (means, exploration) = ([30, 55, 52], 10.0);
    let (graph, ids, mut kept) = begin(&options(exploration), 2, 3);
    note(&mut kept, &graph, ids[0], &means);
    let mut totals = [16.0, 8.0, 8.0];
    for _ in 0..50 {
        let n_parent: f64 = totals.iter().sum();
        let bound = |idx: usize| means[idx] as f64 + exploration * (n_parent.ln() / totals[idx]).sqrt();
        let best = (0..3).max_by(|&a, &b| bound(a).total_cmp(&bound(b))).expect("moves");
        let spot = kept.pass(ids[0], None).expect("it is kept");
        let chosen = move_of(&kept, spot) as usize;
        assert!(bound(best) - bound(chosen) < crate::select::TIE, "{chosen} and not {best} of {totals:?}");
        totals[chosen] += 8.0;
    }
}

#[test]
fn what_is_gathered_is_what_was_passed() {
    let (graph, ids, mut kept) = begin(&options(1.0), 3, 2);
    note(&mut kept, &graph, ids[0], &[1, 90]);
    note(&mut kept, &graph, ids[1], &[80, 2]);
    let before = all_told(&graph, &ids);
    let mut passed = Vec::new();
    for values in [[100, 300], [0, 500], [700, 0]] {
        let first = kept.pass(ids[0], None).expect("it is kept");
        let edge = view(&graph, ids[0]).edges.start + 1;
        assert_eq!(kept.step(first), KeptStep { role: 0, edge, child: ids[1] });
        let second = kept.pass(ids[1], Some(first)).expect("it is kept");
        assert_eq!((kept.step(second).child, move_of(&kept, second)), (ids[2], 0));
        assert_eq!(kept.pass(ids[2], Some(second)), None);
        passed.extend([(first, values), (second, values)]);
    }
    passed.iter().for_each(|(spot, values)| kept.add(*spot, values, values));
    assert_eq!(all_told(&graph, &ids), before, "nothing is told before the end");
    kept.flush(&graph);
    let told = |id: NodeId, move_idx: u32| {
        let edge = graph.edge(view(&graph, id).edges.start + move_idx);
        let results = [edge.results::<Sound>(), graph.results(id, 0), graph.results(id, 1)];
        results.map(|it| (it.tally.visits, it.tally.in_flight, it.sum))
    };
    let all = [(32, 0, 800), (32, 0, 800), (32, 0, 800)];
    assert_eq!([told(ids[0], 1), told(ids[1], 0)], [all, all]);
    assert_eq!(told(ids[0], 0)[0], (8, 0, 0), "not passed");
    assert_eq!(kept.flush(&graph), 0, "it is added once");
}

#[test]
fn a_child_is_found_by_its_move_whenever_it_is_kept() {
    let options = options(1.0);
    for n_moves in [1, 3, 4, 5, 8, 9] {
        let (graph, ids, mut kept) = begin(&options, 2, n_moves);
        let means: Vec<u64> = (0..n_moves as u64).collect();
        note(&mut kept, &graph, ids[0], &means);
        let spot = kept.pass(ids[0], None).expect("it is kept");
        assert_eq!(move_of(&kept, spot) as usize, n_moves - 1);
        assert_eq!(kept.pass(ids[1], Some(spot)), None, "the child is not kept yet");
        note(&mut kept, &graph, ids[1], &means);
        for _ in 0..2 {
            let below = kept.pass(ids[1], Some(spot)).expect("now it is");
            assert_eq!((move_of(&kept, below) as usize, kept.step(below).child), (n_moves - 1, ids[0]));
        }
        kept.flush(&graph);
    }
}

#[test]
fn a_node_is_kept_once() {
    let (graph, ids, mut kept) = begin(&options(1.0), 1, 2);
    note(&mut kept, &graph, ids[0], &[1, 90]);
    note(&mut kept, &graph, ids[0], &[90, 1]);
    assert_eq!(chosen(&mut kept, ids[0]), Some(1), "as the first descent found it");
    assert!(!kept.leave(), "a way that comes back leads on among others");
}

#[test]
fn what_lies_behind_a_node_that_is_not_kept_is_not() {
    let (graph, ids, mut kept) = begin(&options(1.0), 5, 2);
    let visit = |kept: &mut Kept, id| note(kept, &graph, id, &[1, 2]);
    graph.node(ids[2]).failures.fetch_add(1, Ordering::Relaxed);
    ids[..4].iter().for_each(|&id| visit(&mut kept, id));
    let is_kept: Vec<_> = ids[..4].iter().map(|&id| kept.pass(id, None).is_some()).collect();
    assert_eq!(is_kept, [true, true, false, false]);
    kept.begin_descent(false);
    visit(&mut kept, ids[4]);
    assert_eq!(kept.pass(ids[4], None), None, "nor where a descent goes on that had to ask");
}

#[test]
fn what_is_finished_in_a_term_makes_a_move_more_or_less_of_a_choice() {
    for (config, discount) in [(Config::Uct, 0.5), (Config::UctT, 1.0), (Config::UctT, 0.5)] {
        let options = Options { config, discount, ..options(0.0) };
        let scheme = Scheme::new(&options, 100, 2, 1);
        let (graph, ids, mut kept) = begin(&options, 2, 2);
        let unit = scheme.valuation.full() / 100;
        for edge in graph.edges_in(view(&graph, ids[0]).edges) {
            edge.sum.store(8 * 60 * unit, Ordering::Relaxed);
        }
        graph.sum(ids[1], 0).store(8 * 60 * unit, Ordering::Relaxed);
        let mut columns = Columns::default();
        columns.fill(&[61, 60], scheme.points_of_unit(scheme.children_tell), |mean| {
            Results::new(Tally { visits: 8, in_flight: 0 }, 8 * mean * unit)
        });
        kept.leave();
        kept.note(&graph, &view(&graph, ids[0]), &columns, 16, 0);
        let mut play_out = |at_child: u64| {
            let spot = kept.pass(ids[0], None).expect("it is kept");
            let at_node = if discount == 1.0 { at_child } else { at_child / 2 };
            kept.add(spot, &[8 * at_node * unit, 0], &[8 * at_child * unit, 0]);
            move_of(&kept, spot)
        };
        // Values at the edge are discounted once more than those at its child.
        let told = |mean: u64| if scheme.children_tell || discount == 1.0 { mean } else { 2 * mean };
        // 60 and 50 are 55, 60 and 40 are 50, and 60, 50 and 100 are 70.
        let chosen = [50, 40, 100, 0].map(|mean| play_out(told(mean)));
        assert_eq!(chosen, [0, 1, 0, 0], "{config}, {discount}");
    }
}

#[test]
fn a_playout_that_is_taken_back_leaves_no_trace() {
    let (graph, ids, mut kept) = begin(&options(40.0), 2, 3);
    note(&mut kept, &graph, ids[0], &[50, 50, 50]);
    let mut come_and_go = || {
        let spot = kept.pass(ids[0], None).expect("it is kept");
        kept.cancel(spot);
        (spot, kept.nodes[0].n_parent, format!("{:?}", kept.columns))
    };
    let first = come_and_go();
    assert_eq!(first.1, 8 * 3 + 8, "the first descent's is left");
    assert_eq!(come_and_go(), first);
}

#[test]
fn a_term_is_some_batches_of_a_long_search_and_one_of_a_short_one() {
    let batches_of = |n_leaves: u64, threads, n_in_batch: u64| {
        let options = Options { threads, ..options(1.0) };
        let scheme = Scheme::new(&options, 100, 2, 1);
        let (graph, ids) = round(&options, 2, 2);
        graph.node(ids[0]).count.add::<Sound>(8 * (n_leaves - 1));
        let mut kept = Kept::default();
        for n_batches in 1.. {
            kept.begin_batch(&graph, ids[0], &scheme, n_in_batch);
            if n_batches == 1 {
                kept.begin_descent(true);
                note(&mut kept, &graph, ids[0], &[1, 2]);
            }
            let spot = kept.pass(ids[0], None).expect("it is kept");
            kept.add(spot, &[0, 0], &[0, 0]);
            assert!(n_batches * n_in_batch <= most_untold(&scheme, 8 * n_leaves));
            if kept.end_batch(&graph) > 0 {
                assert_eq!(kept.pass(ids[0], None), None, "the term is over");
                return n_batches;
            }
        }
        unreachable!("terms end")
    };
    assert_eq!(batches_of(2, 1, 64), 1);
    assert_eq!(batches_of(64 * 128, 1, 64), 2);
    assert_eq!(batches_of(64 * 128, 2, 64), 1, "two threads share");
    assert_eq!(batches_of(1 << 30, 1, 64), LONGEST_TERM / 64);
    assert_eq!(batches_of(1 << 30, 16, 64), LONGEST_TERM / 64);
    assert_eq!(batches_of(1 << 30, 16, 60), 9, "some rest of a batch is in it");
}

#[test]
fn where_nothing_is_kept_a_batch_is_untold() {
    let of = |options: &Options| most_untold(&Scheme::new(options, 100, 2, 1), 1 << 40);
    assert_eq!(of(&options(1.0)), 64 + LONGEST_TERM);
    assert_eq!(of(&Options { hot_levels: Some(0), ..options(1.0) }), 64);
    assert_eq!(of(&Options { batch: Some(1), ..options(1.0) }), 1);
}

/// Whether the root is kept, after a change, that a descent of such batches comes by.
fn keeps_root(batch: u32, change: impl Fn(&Small, NodeId)) -> bool {
    let options = Options { batch: Some(batch), ..options(1.0) };
    let (graph, ids, mut kept) = begin(&options, 2, 2);
    change(&graph, ids[0]);
    note(&mut kept, &graph, ids[0], &[1, 2]);
    kept.pass(ids[0], None).is_some()
}

#[test]
fn only_what_later_descents_need_not_look_at_is_kept() {
    assert!(keeps_root(2, |_, _| ()));
    assert!(!keeps_root(1, |_, _| ()), "one leaf at a time is asked for");
    let leads_nowhere = |graph: &Small, id| graph.edge(view(graph, id).edges.start).relink(NodeId(0));
    assert!(!keeps_root(2, leads_nowhere));
    let has_first_under_way = |graph: &Small, id| {
        let Child::Node(child) = graph.edges_in(view(graph, id).edges)[0].child::<Sound>() else {
            unreachable!("it is linked")
        };
        graph.node(child).count.retract(8);
        graph.node(child).count.enter(8);
    };
    assert!(!keeps_root(2, has_first_under_way));
    let has_failed = |graph: &Small, id| {
        graph.node(id).failures.fetch_add(1, Ordering::Relaxed);
    };
    assert!(!keeps_root(2, has_failed));
}
