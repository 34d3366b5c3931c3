//! What is proven is so: values against those of an exhaustive solver, and what a search makes of them.
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "goals are small")]

use std::collections::HashMap;
use std::sync::Arc;

use crate::common::boards::{InARow, Matrix, SmallHex};
use crate::common::exhaustive::{Values, values};
use crate::common::graphs::{Drawn, Layers};
use crate::common::runs::{play, searcher};
use crate::common::{self, Broken, Game, Nim, Picks, Rust, take};
use daggerboard_search::{Aim, Budget, Config, Options, Report, Searcher, Simultaneous};
use reasoner::{Interrupt, Move, Role};

const THREADS: [usize; 3] = [1, 2, 16];

fn options(config: Config, threads: usize) -> Options {
    Options {
        config,
        threads,
        seed: Some(1),
        solver: true,
        max_bytes: 256 << 20,
        state_heap_bytes: Some(0),
        ..Options::default()
    }
}

/// What a report says of the root, in whole goals.
fn told(report: &Report) -> Values {
    let of_role = |proven: Option<daggerboard_search::Proven>| {
        proven.map_or((0, 100), |proven| (proven.least.round() as u32, proven.most.round() as u32))
    };
    report.roles.iter().map(|role| of_role(role.proven)).collect()
}

fn exact<G: Game>(game: &G) -> Values {
    values(game, &game.initial(), &mut HashMap::new())
}

/// Searches until the root is solved; its values must be those of the exhaustive solver, and the move to play one that
/// has them.
fn solves<G: Game>(game: impl Fn() -> G, config: Config, most_playouts: u64) {
    solves_with(game, |threads| options(config, threads), most_playouts);
}

fn solves_with<G: Game>(game: impl Fn() -> G, options: impl Fn(usize) -> Options, most_playouts: u64) {
    let rules = game();
    let truth = exact(&rules);
    for threads in THREADS {
        let options = options(threads);
        let config = options.config;
        let mut searcher = searcher(game(), options);
        let report = play(&mut searcher, most_playouts);
        assert!(report.is_solved, "{rules:?}, {config}, {threads} threads: {:?} of {truth:?}", told(&report));
        assert!(report.playouts < most_playouts, "a solved root ends the run");
        let choosing = report.roles.iter().position(|role| role.moves.len() > 1).expect("a choice");
        assert_eq!(told(&report)[choosing], truth[choosing], "{rules:?}, {config}, {threads} threads");
        for (told, truth) in told(&report).into_iter().zip(&truth) {
            assert!(told.0 <= truth.0 && told.1 >= truth.1, "{rules:?}: {told:?} is not around {truth:?}");
        }
        let joint_move: Vec<u32> =
            Role::all(rules.n_roles()).map(|role| report.best(role).expect("a move").0).collect();
        let after = values(&rules, &rules.next(&rules.initial(), &joint_move), &mut HashMap::new());
        assert!(after[choosing].1 >= truth[choosing].0, "{rules:?}: {joint_move:?} gives it away");
    }
}

const CONFIGS: [Config; 3] = [Config::UctT, Config::Uct, Config::Credited];

#[test]
fn tic_tac_toe_is_even() {
    let game = || InARow { width: 3, height: 3, length: 3, do_drop: false };
    assert_eq!(exact(&game()), [(50, 50), (50, 50)]);
    solves(game, Config::UctT, 1_000_000);
}

#[test]
fn a_small_connect_four_is_solved() {
    for config in CONFIGS {
        solves(|| InARow { width: 4, height: 3, length: 3, do_drop: true }, config, 1_000_000);
    }
    // One thread needs a million playouts; 16 threads beside other tests have needed more than two.
    solves(|| InARow { width: 4, height: 4, length: 4, do_drop: true }, Config::UctT, 4_000_000);
}

#[test]
fn nim_is_solved() {
    for config in CONFIGS {
        for heaps in [[1, 2, 3, 0], [1, 2, 4, 0], [2, 3, 3, 1]] {
            solves(|| Nim(heaps), config, 1_000_000);
        }
    }
}

#[test]
fn hex_is_won_by_who_begins() {
    assert_eq!(exact(&SmallHex(3)), [(100, 100), (0, 0)]);
    for config in CONFIGS {
        solves(|| SmallHex(3), config, 1_000_000);
    }
}

#[test]
fn a_game_of_three_roles_is_solved() {
    for seed in 0..6 {
        let game = || Layers { seed, n_roles: 3, n_layers: 6, width: 6, n_moves: 3 };
        for config in CONFIGS {
            solves(game, config, 1_000_000);
        }
    }
}

/// Four roles fill the word. Of five the first four are bounded, and the last never knows its best move.
#[test]
fn the_roles_that_have_a_place_are_bounded() {
    let game = |n_roles| Layers { seed: 3, n_roles, n_layers: 5, width: 4, n_moves: 3 };
    solves(|| game(4), Config::UctT, 1_000_000);
    let mut five = searcher(game(5), options(Config::UctT, 2));
    let report = play(&mut five, 20_000);
    for (told, truth) in told(&report).into_iter().zip(exact(&game(5))) {
        assert!(told.0 <= truth.0 && told.1 >= truth.1, "{told:?} is not around {truth:?}");
    }
    assert_eq!(told(&report)[4], (0, 100));
}

#[test]
fn a_bias_by_proof_numbers_changes_no_value() {
    for pn_bias in [5.0, 50.0, 1000.0] {
        for config in CONFIGS {
            let leaning = |threads| Options { pn_bias, ..options(config, threads) };
            solves_with(|| Nim([1, 2, 4, 0]), leaning, 1_000_000);
            solves_with(|| SmallHex(3), leaning, 1_000_000);
            solves_with(|| InARow { width: 4, height: 3, length: 3, do_drop: true }, leaning, 1_000_000);
            solves_with(
                || Layers { seed: 2, n_roles: 3, n_layers: 6, width: 6, n_moves: 3 },
                leaning,
                1_000_000,
            );
            solves_with(|| Picks { n_roles: 2, steps: 2, most: 2 }, leaning, 1_000_000);
        }
    }
}

#[test]
fn of_even_moves_the_one_with_the_nearer_proof_is_preferred() {
    // Behind the first move the other role has twelve moves, behind the second two. All of them lead to a long corridor of
    // the first role's with an even end, so that means are alike, numbers stay and nothing is proven soon.
    const CORRIDOR: usize = 3;
    const END: usize = 15;
    let game = || {
        let mut places = vec![(0, vec![1, 2]), (1, vec![CORRIDOR; 12]), (1, vec![CORRIDOR; 2])];
        places.extend((CORRIDOR..END).map(|place| (0, vec![place + 1; 2])));
        places.push((0, vec![]));
        Drawn { n_roles: 2, places, goals: |_, _| 50 }
    };
    let visits = |pn_bias| {
        let leaning = Options { pn_bias, ..options(Config::Uct, 1) };
        let report = play(&mut searcher(game(), leaning), 60);
        let of_move =
            |a_move| report.roles[0].moves.iter().find(|it| it.a_move == a_move).map(|it| it.visits);
        [Move(0), Move(1)].map(|a_move| of_move(a_move).expect("it is legal"))
    };
    let (without, with) = (visits(0.0), visits(40.0));
    assert!(without[0].abs_diff(without[1]) <= 1, "{without:?}");
    assert!(with[1] > 2 * with[0], "{with:?}");
}

#[test]
fn proof_numbers_are_those_of_what_is_below() {
    for (config, is_tree) in [(Config::Uct, true), (Config::UctT, false), (Config::Credited, false)] {
        let leaning = Options { pn_bias: 10.0, ..options(config, 1) };
        let mut searcher = searcher(Nim([3, 4, 5, 6]), leaning);
        play(&mut searcher, 3_000);
        let stale = |searcher: &Searcher<Rust<Nim>>| {
            let summary = searcher.verify(&Interrupt::new()).expect("it has just been verified");
            (summary.stale_proof_numbers.expect("they are counted"), summary.open_nodes)
        };
        // In a graph others learn of a change when they come by.
        let (n_stale, n_open) = stale(&searcher);
        assert!(if is_tree { n_stale == 0 } else { n_stale < n_open / 2 }, "{config}: {n_stale} of {n_open}");
    }
    let mut off = searcher(Nim([1, 2, 0, 0]), options(Config::UctT, 1));
    play(&mut off, 100);
    assert_eq!(off.verify(&Interrupt::new()).expect("it keeps its laws").stale_proof_numbers, None);
}

#[test]
fn simultaneous_games_are_solved_where_pure_moves_decide_them() {
    for config in [Config::UctT, Config::Uct, Config::Credited] {
        for n_roles in [2, 3] {
            solves(|| Picks { n_roles, steps: 2, most: 2 }, config, 1_000_000);
        }
        // 50 is the least of its row and the most of its column.
        solves(|| Matrix { rows: vec![vec![50, 60], vec![40, 90]], sum: 100 }, config, 100_000);
    }
    assert_eq!(exact(&Matrix { rows: vec![vec![50, 60], vec![40, 90]], sum: 100 }), [(50, 50), (50, 50)]);
}

#[test]
fn of_matching_pennies_nothing_is_proven() {
    for simultaneous in [Simultaneous::Ucb1, Simultaneous::RegretMatching] {
        for threads in THREADS {
            let game = Matrix { rows: vec![vec![100, 0], vec![0, 100]], sum: 100 };
            let mut searcher = searcher(game, Options { simultaneous, ..options(Config::UctT, threads) });
            let report = play(&mut searcher, 5_000);
            assert_eq!(told(&report), [(0, 100), (0, 100)]);
            assert!(!report.is_solved && report.playouts == 5_000);
        }
    }
}

#[test]
fn more_joint_moves_than_are_looked_through_are_not_bounded() {
    let row = || vec![40; 40];
    let game = Matrix { rows: (0..40).map(|_| row()).collect(), sum: 100 };
    let mut searcher = searcher(game, options(Config::UctT, 2));
    assert_eq!(told(&play(&mut searcher, 20_000)), [(0, 100), (0, 100)]);
}

#[test]
fn the_shortest_win_and_the_longest_loss_are_played() {
    // From the root 9, the end, is two moves away, or four.
    let places = || {
        let mut places = vec![(0, vec![1, 2]), (1, vec![9]), (1, vec![3]), (0, vec![4]), (1, vec![9])];
        places.resize(10, (0, vec![]));
        places
    };
    for config in CONFIGS {
        let loss = Drawn {
            n_roles: 2,
            places: places(),
            goals: |place, role| 100 * u32::from(place == 9 && role == 1),
        };
        let report = play(&mut searcher(loss, options(config, 1)), 10_000);
        assert!(report.is_solved);
        assert_eq!(report.best(Role(0)), Some(Move(1)), "{config}: the loss in four moves");
        let steps: Vec<_> =
            report.roles[0].moves.iter().map(|it| it.proven.and_then(|it| it.steps)).collect();
        assert_eq!(steps, [Some(4), Some(2)], "{config}");
        let win = Drawn {
            n_roles: 2,
            places: places(),
            goals: |place, role| 100 * u32::from(place == 9 && role == 0),
        };
        let report = play(&mut searcher(win, options(config, 1)), 10_000);
        assert_eq!(report.best(Role(0)), Some(Move(0)), "{config}: the win in two moves");
    }
}

#[test]
fn a_known_value_is_preferred_to_a_worse_mean() {
    // A sure 50, or a way on that the other role makes worth nothing three times of four.
    let game = || {
        let mut places = vec![(0, vec![1, 2]), (0, vec![]), (1, (3..7).collect())];
        places.resize(7, (0, vec![]));
        Drawn {
            n_roles: 2,
            places,
            goals: |place, role| match (place, role) {
                (1, 0) => 50,
                (3, 0) => 100,
                (_, 0) => 0,
                _ => 50,
            },
        }
    };
    // The other role does not care, so the worst of it counts.
    for config in CONFIGS {
        let report = play(&mut searcher(game(), options(config, 1)), 1000);
        assert!(report.is_solved, "{config}");
        assert_eq!(report.best(Role(0)), Some(Move(0)));
        assert_eq!(told(&report)[0], (50, 50));
    }
}

#[test]
fn an_aim_is_what_is_bounded() {
    // Of 60 to 50 and 50 to 0 the difference is larger in the second.
    let game = || Drawn {
        n_roles: 2,
        places: vec![(0, vec![1, 2]), (0, vec![]), (0, vec![])],
        goals: |place, role| [[0, 0], [60, 50], [50, 0]][place][role],
    };
    for (aim, best) in [(Aim::Own, 0), (Aim::Difference, 1), (Aim::OwnThenOther, 0)] {
        let report = play(&mut searcher(game(), Options { aim, ..options(Config::UctT, 1) }), 100);
        assert!(report.is_solved, "{aim}");
        assert_eq!(report.best(Role(0)), Some(Move(best)), "{aim}");
    }
}

#[test]
fn bounds_are_of_undiscounted_goals() {
    for config in CONFIGS {
        let discounted = Options { discount: 0.9, ..options(config, 2) };
        let report = play(&mut searcher(Nim([1, 2, 4, 0]), discounted), 1_000_000);
        assert!(report.is_solved);
        assert_eq!((report.best(Role(0)), told(&report)[0]), (Some(Move(take(2, 1))), (100, 100)));
    }
}

#[test]
fn what_was_proven_is_known_when_the_match_goes_on() {
    let reasoner = Rust::new(Nim([1, 2, 4, 0]));
    let mut searcher = Searcher::new(Arc::clone(&reasoner), options(Config::UctT, 2)).expect("in bounds");
    let mut state = reasoner.initial();
    searcher.set_root(&state);
    assert!(play(&mut searcher, 1_000_000).is_solved);
    while !reasoner.game.is_terminal(&state) {
        let mover = usize::from(state.1);
        let mut legal = Vec::new();
        reasoner.game.legal(&state, mover, &mut legal);
        // The loser makes any move; the winner's next one is known, or found.
        let report = play(&mut searcher, 100_000);
        let best = if mover == 0 { report.best(Role(0)).expect("a move").0 } else { legal[0] };
        let joint_move = if mover == 0 { [best, common::NOOP] } else { [common::NOOP, best] };
        state = reasoner.game.next(&state, &joint_move);
        searcher.set_root(&state);
    }
    assert_eq!(reasoner.game.goal(&state, 0), 100);
}

#[test]
fn a_run_goes_on_past_a_proof_where_that_is_wanted() {
    let mut searcher = searcher(Nim([1, 2, 4, 0]), options(Config::UctT, 2));
    assert!(play(&mut searcher, 1_000_000).playouts < 1_000_000);
    let budget = Budget { playouts: Some(1_000), is_past_proofs: true, ..Budget::default() };
    let report = searcher.run(&budget, &Interrupt::new(), &mut |_| ()).expect("there is a root");
    assert!(report.is_solved && report.playouts == 1_000);
}

#[test]
fn a_broken_game_proves_nothing_wrong() {
    for threads in THREADS {
        let report = play(&mut searcher(Broken, options(Config::UctT, threads)), 5_000);
        // 5 and 7 are won, whatever the reasoner does elsewhere.
        assert!(report.is_solved && matches!(report.best(Role(0)), Some(Move(5 | 7))));
    }
}

#[test]
fn baselines_and_those_who_do_not_want_it_prove_nothing() {
    let off = Options { solver: false, ..options(Config::UctT, 1) };
    for options in [off, options(Config::Mc, 1), options(Config::McMemory, 1)] {
        let report = play(&mut searcher(Nim([1, 2, 0, 0]), options), 1000);
        assert!(!report.is_solved && report.playouts == 1000);
        assert_eq!(told(&report), [(0, 100), (0, 100)]);
    }
}

/// Many threads on few nodes, under every configuration, until the root is solved or memory is full.
#[test]
fn many_threads_keep_the_laws_of_bounds() {
    for config in Config::ALL {
        for (heaps, max_bytes) in [([2, 3, 4, 1], 64 << 20), ([9, 9, 9, 9], 2 << 20)] {
            let is_guided = !matches!(config, Config::Mc | Config::McMemory);
            for &pn_bias in if is_guided { &[0.0, 10.0][..] } else { &[0.0] } {
                let many = Options { max_bytes, pn_bias, ..options(config, 64) };
                let mut searcher = searcher(Nim(heaps), many);
                (0..4).for_each(|_| drop(play(&mut searcher, 500)));
            }
        }
    }
}
