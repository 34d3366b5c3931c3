//! A graph under a small cap: it gives its room back, keeps its laws, and the search goes on learning.

use std::time::{Duration, Instant};

use crate::common::runs::{is_slow, play, searcher};
use crate::common::{Game, Nim, Picks, take};
use daggerboard_search::{Budget, Config, Counters, Options, Report};
use reasoner::{Interrupt, Move, Role};

fn options(config: Config, threads: usize, max_bytes: usize) -> Options {
    Options {
        config,
        threads,
        max_bytes,
        seed: Some(5),
        state_heap_bytes: Some(0),
        solver: false,
        ..Options::default()
    }
}

/// The heaps after a move.
fn without(mut heaps: [u8; 4], Move(a_move): Move) -> [u8; 4] {
    let mut moves = (0..4).flat_map(|heap| (1..=9).map(move |n| (heap, n)));
    let (heap, n) = moves.find(|&(heap, n)| take(heap, n) == a_move).expect("a move of nim");
    heaps[heap] -= n;
    heaps
}

/// Several full graphs, each time with the laws.
fn fill<G: Game>(game: impl Fn() -> G, options: impl Fn(Config, usize) -> Options) {
    for config in Config::ALL.into_iter().filter(|&config| config != Config::Mc) {
        for threads in [1, 2, 16] {
            let options = options(config, threads);
            let max_bytes = options.max_bytes as u64;
            let mut searcher = searcher(game(), options);
            let mut last = Report::default();
            for _ in 0..4 {
                let report = play(&mut searcher, if is_slow(config) { 1_500 } else { 6_000 });
                let summary = searcher.verify(&Interrupt::new()).expect("it has just been verified");
                assert_eq!(
                    (summary.nodes, summary.edges),
                    (report.nodes, report.edges),
                    "{config}, {threads} threads"
                );
                assert!(report.bytes <= max_bytes, "{config}, {threads} threads: {} bytes", report.bytes);
                last = report;
            }
            let reclaims = last.reclaims;
            assert!(reclaims.times > 0 && reclaims.nodes > 0, "{config}, {threads} threads: {reclaims:?}");
            assert!(reclaims.longest_seconds > 0.0 && reclaims.seconds >= reclaims.longest_seconds);
        }
    }
}

#[test]
fn full_graphs_keep_their_laws_in_a_sequential_game() {
    fill(|| Nim([9, 9, 9, 9]), |config, threads| options(config, threads, 1 << 20));
}

#[test]
fn full_graphs_keep_their_laws_in_a_simultaneous_game() {
    fill(|| Picks { n_roles: 4, steps: 8, most: 4 }, |config, threads| options(config, threads, 1 << 20));
}

#[test]
fn full_graphs_keep_what_is_proven() {
    fill(
        || Nim([9, 9, 9, 9]),
        |config, threads| Options { solver: true, ..options(config, threads, 1 << 20) },
    );
}

#[test]
fn full_graphs_with_proof_numbers_keep_their_laws() {
    fill(
        || Nim([9, 9, 9, 9]),
        |config, threads| {
            let pn_bias = if matches!(config, Config::Mc | Config::McMemory) { 0.0 } else { 10.0 };
            Options { solver: true, pn_bias, ..options(config, threads, 1 << 20) }
        },
    );
}

#[test]
fn proof_numbers_move_with_their_nodes() {
    // A tree, in which all numbers are those of what is below.
    let leaning = Options { solver: true, pn_bias: 10.0, ..options(Config::Uct, 1, 4 << 20) };
    let mut searcher = searcher(Nim([7, 7, 7, 7]), leaning);
    while searcher.report().bytes <= (4 << 20) * 5 / 8 {
        play(&mut searcher, 50);
    }
    let best = searcher.report().best(Role(0)).expect("a move");
    searcher.set_root(&(without([7, 7, 7, 7], best), 1));
    searcher.tidy(&Interrupt::new());
    assert!(searcher.report().reclaims.nodes > 0);
    let summary = searcher.verify(&Interrupt::new()).expect("it keeps its laws");
    assert!(summary.open_nodes > 50, "{summary:?}");
    assert_eq!(summary.stale_proof_numbers, Some(0));
}

#[test]
fn tidying_takes_nothing_from_below_the_root() {
    for config in Config::ALL.into_iter().filter(|&config| config != Config::Mc) {
        for threads in [1, 2] {
            let mut searcher = searcher(Nim([7, 7, 7, 7]), options(config, threads, 2 << 20));
            let mut playouts = 0;
            while searcher.report().bytes <= (2 << 20) * 5 / 8 && playouts < 100_000 {
                playouts += 50;
                play(&mut searcher, 50);
            }
            let report = searcher.report();
            assert_eq!(report.reclaims.times, 0, "{config}: it was not full");
            // What is visited most is known best, whatever the order of threads.
            let best = report.best(Role(0)).expect("a move");
            searcher.set_root(&(without([7, 7, 7, 7], best), 1));
            let before = searcher.report();
            searcher.tidy(&Interrupt::new());
            let after = searcher.report();
            assert_eq!(before.roles, after.roles, "{config}");
            assert!(
                after.nodes < before.nodes && after.edges < before.edges,
                "{config}: {:?}",
                after.reclaims
            );
            assert_eq!(after.reclaims.nodes, before.nodes - after.nodes, "{config}");
            assert!(after.bytes < before.bytes, "{config}");
            let summary =
                searcher.verify(&Interrupt::new()).unwrap_or_else(|error| panic!("{config}: {error}"));
            assert_eq!((summary.nodes, summary.edges), (after.nodes, after.edges), "{config}");
            play(&mut searcher, 500);
        }
    }
}

#[test]
fn tidying_that_is_stopped_changes_nothing() {
    let mut searcher = searcher(Nim([9, 9, 9, 9]), options(Config::UctT, 1, 2 << 20));
    while searcher.report().bytes <= (2 << 20) * 5 / 8 {
        play(&mut searcher, 500);
    }
    searcher.set_root(&([8, 9, 9, 9], 1));
    let before = searcher.report();
    let stop = Interrupt::new();
    stop.raise();
    searcher.tidy(&stop);
    assert_eq!(before, searcher.report());
}

/// What a graph that is so full, in eighths, holds before and after it should be tidied, but without time for that.
fn tidied_in_no_time(eighths: u64) -> [Report; 2] {
    let mut searcher = searcher(Nim([9, 9, 9, 9]), options(Config::UctT, 1, 2 << 20));
    while searcher.report().bytes <= (2 << 20) / 8 * eighths {
        play(&mut searcher, 100);
    }
    searcher.set_max_pause(Duration::ZERO);
    searcher.set_root(&([8, 9, 9, 9], 1));
    let before = searcher.report();
    searcher.tidy(&Interrupt::new());
    let after = searcher.report();
    assert!(play(&mut searcher, 500).best(Role(1)).is_some());
    [before, after]
}

#[test]
fn a_graph_that_takes_too_long_to_tidy_stays_while_it_has_room_and_then_begins_anew() {
    let [before, after] = tidied_in_no_time(5);
    assert_eq!(before, after);
    let [_, after] = tidied_in_no_time(6);
    assert_eq!((after.nodes, after.reclaims.times), (1, 0));
}

#[test]
fn a_run_without_time_for_a_pause_leaves_it_to_the_next() {
    let mut searcher = searcher(Nim([9, 9, 9, 9]), options(Config::UctT, 2, 1 << 20));
    searcher.set_max_pause(Duration::ZERO);
    let report = play(&mut searcher, 6_000);
    assert!(report.is_full && report.reclaims.times == 0, "{:?}", report.reclaims);
    // From the same root, as on the opponents' time.
    searcher.set_max_pause(Duration::MAX);
    assert!(play(&mut searcher, 500).reclaims.times > 0);
}

/// Two roles take turns, each with so many moves to positions that nothing else leads to.
#[derive(Debug)]
struct Fan(u32);

impl Game for Fan {
    type State = (u32, [u32; 3]);

    fn n_roles(&self) -> usize {
        2
    }

    fn initial(&self) -> Self::State {
        (0, [0; 3])
    }

    fn is_terminal(&self, &(step, _): &Self::State) -> bool {
        step == 3
    }

    fn legal(&self, &(step, _): &Self::State, role: usize, moves: &mut Vec<u32>) {
        moves.extend(0..if role == step as usize % 2 { self.0 } else { 1 });
    }

    fn next(&self, &(step, mut made): &Self::State, joint_move: &[u32]) -> Self::State {
        made[step as usize] = joint_move[step as usize % 2];
        (step + 1, made)
    }

    fn goal(&self, (_, made): &Self::State, role: usize) -> u32 {
        if made.iter().sum::<u32>() as usize % 2 == role { 100 } else { 0 }
    }
}

#[test]
fn a_graph_that_the_roots_children_fill_is_not_reclaimed_for_ever() {
    // States own as much as they may: the graph is full before the root has met all its children.
    let options = Options { state_heap_bytes: Some(1 << 12), ..options(Config::UctT, 2, 1 << 20) };
    let mut searcher = searcher(Fan(200), options);
    // If reclaiming were tried again and again, no playout would be made, so there is another end.
    let deadline = Some(Instant::now() + Duration::from_secs(20));
    let budget = Budget { playouts: Some(3_000), deadline, ..Budget::default() };
    let report = searcher.run(&budget, &Interrupt::new(), &mut |_| ()).expect("there is a root");
    assert_eq!(report.reclaims.times, 1, "{:?}", report.reclaims);
    assert!(report.is_full && report.playouts == 3_000, "{} playouts", report.playouts);
    searcher.verify(&Interrupt::new()).expect("its laws hold");
}

/// A [`Fan`] in which the first role has a quarter of the wins, and a first move after which the other can have a draw.
#[derive(Debug)]
struct Truce(Fan);

impl Truce {
    fn is_offered(&(step, made): &(u32, [u32; 3])) -> bool {
        step > 0 && made[0] == 0
    }
}

impl Game for Truce {
    type State = (u32, [u32; 3]);

    fn n_roles(&self) -> usize {
        2
    }

    fn initial(&self) -> Self::State {
        self.0.initial()
    }

    fn is_terminal(&self, state: &Self::State) -> bool {
        state.0 == 2 && Truce::is_offered(state) || self.0.is_terminal(state)
    }

    fn legal(&self, state: &Self::State, role: usize, moves: &mut Vec<u32>) {
        self.0.legal(state, role, moves);
    }

    fn next(&self, state: &Self::State, joint_move: &[u32]) -> Self::State {
        self.0.next(state, joint_move)
    }

    fn goal(&self, state: &Self::State, role: usize) -> u32 {
        let of_first = match state {
            // The answers but one make peace.
            (_, made) if Truce::is_offered(state) => {
                if made[1] == 0 {
                    100
                } else {
                    50
                }
            }
            (_, made) => {
                if made.iter().sum::<u32>() % 4 == 0 {
                    100
                } else {
                    0
                }
            }
        };
        if role == 0 { of_first } else { 100 - of_first }
    }
}

#[test]
fn a_proof_whose_moves_are_forgotten_is_found_again() {
    let options =
        Options { state_heap_bytes: Some(1 << 10), solver: true, ..options(Config::UctT, 1, 1 << 20) };
    let mut searcher = searcher(Truce(Fan(40)), options);
    while searcher.report().reclaims.times < 2 {
        let report = play(&mut searcher, 1_000);
        assert!(
            !report.is_solved && report.roles[0].moves[0].a_move == Move(0),
            "the draw is known: {report:?}"
        );
    }
    searcher.set_root(&(1, [0; 3]));
    let kept = searcher.report();
    assert!(kept.roles[1].proven.is_some(), "the position is not forgotten");
    assert!(!kept.is_solved && kept.roles[1].moves.iter().any(|it| it.proven.is_none()), "its moves are");
    let found = play(&mut searcher, 1_000);
    assert!(found.is_solved && found.playouts < 1_000);
    assert!(found.best(Role(1)).is_some_and(|best| best != Move(0)), "{:?}", found.roles[1]);
}

#[test]
fn one_thread_is_reproducible_across_reclaiming() {
    for config in Config::ALL {
        let run = || {
            let mut searcher = searcher(Nim([9, 9, 9, 9]), options(config, 1, 1 << 20));
            let n = if is_slow(config) { 4_000 } else { 12_000 };
            let first = play(&mut searcher, n);
            searcher.set_root(&([8, 9, 9, 9], 1));
            searcher.tidy(&Interrupt::new());
            let second = play(&mut searcher, n);
            [first, second].map(|report| {
                let Report { roles, nodes, edges, bytes, counters, reclaims, .. } = report;
                let counters =
                    Counters { descent_ns: 0, expansion_ns: 0, rollout_ns: 0, backup_ns: 0, ..counters };
                (roles, (nodes, edges, bytes), counters, (reclaims.times, reclaims.nodes))
            })
        };
        assert_eq!(run(), run(), "{config}");
    }
}

#[test]
fn a_capped_search_goes_on_to_a_move_that_a_large_graph_finds() {
    // The winning moves leave heaps whose sum is 0 (Bouton 1901): three of a kind become two and two.
    let of_most = |n: u8| [take(0, n - 1), take(1, n - 1), take(2, n - 1)];
    for (config, heaps, winning) in
        [(Config::UctT, [8, 8, 8, 1], of_most(8)), (Config::Credited, [7, 7, 7, 1], of_most(7))]
    {
        let is_winning =
            |report: &Report| report.best(Role(0)).is_some_and(|Move(best)| winning.contains(&best));
        let mut large = searcher(Nim(heaps), options(config, 1, 1 << 30));
        let report = play(&mut large, 100_000);
        assert!(is_winning(&report) && report.reclaims.times == 0, "{config}: {:?}", report.best(Role(0)));
        // What is forgotten is a matter of chance, so one seed tells little.
        let finds = |seed| {
            let options = Options { seed: Some(seed), ..options(config, 1, 1 << 20) };
            let report = play(&mut searcher(Nim(heaps), options), 100_000);
            assert!(report.reclaims.times > 0, "{config}: {:?}", report.reclaims);
            is_winning(&report)
        };
        assert!((0..5).filter(|&seed| finds(seed)).count() >= 4, "{config}");
    }
}

#[test]
fn a_long_match_under_the_smallest_cap_always_has_a_move() {
    for config in Config::ALL {
        let mut searcher = searcher(Nim([9, 9, 9, 9]), options(config, 2, 1 << 20));
        let mut heaps = [9, 9, 9, 9];
        let mut role = 0;
        while heaps.iter().any(|&heap| heap > 0) {
            let report = play(&mut searcher, 1_000);
            assert!(report.bytes <= 1 << 20, "{config}: {} bytes", report.bytes);
            heaps = without(heaps, report.best(Role(role)).expect("a move"));
            role = 1 - role;
            searcher.set_root(&(heaps, u8::try_from(role).expect("one of two")));
            searcher.tidy(&Interrupt::new());
        }
    }
}

#[test]
fn a_node_costs_what_its_state_owns() {
    let node_bytes = |state_heap_bytes, max_bytes| {
        let options = Options { state_heap_bytes, ..options(Config::UctT, 1, max_bytes) };
        searcher(Nim([9, 9, 9, 9]), options).record_bytes().node
    };
    let plain = node_bytes(Some(0), 1 << 30);
    assert_eq!(node_bytes(Some(1000), 1 << 30), plain + 1000);
    // Four bytes for each of two roles.
    let leaning = Options { solver: true, pn_bias: 10.0, ..options(Config::UctT, 1, 1 << 30) };
    assert_eq!(searcher(Nim([9, 9, 9, 9]), leaning).record_bytes().node, plain + 8);
    assert!(node_bytes(None, 1 << 30) > plain, "what a reasoner does not tell is not nothing");
    assert_eq!(
        node_bytes(Some(1 << 20), 1 << 20),
        plain + (1 << 12),
        "a small graph still has room for nodes"
    );
}
