//! Many threads on few nodes, then the conservation laws.

#[allow(dead_code, reason = "a part of the games will do")]
#[path = "it/common/mod.rs"]
mod common;

use common::runs::is_slow;
use common::{Broken, Game, Nim, Picks, Rust};
use daggerboard_search::{Budget, Config, Options, Report, Searcher};
use reasoner::{Interrupt, ReasonerError};

const N_THREADS: usize = 64;

fn stress<G: Game>(game: impl Fn() -> G, max_bytes: usize, playouts: u64) {
    for config in Config::ALL {
        let playouts = if is_slow(config) { playouts / 10 } else { playouts };
        let options = Options { config, threads: N_THREADS, max_bytes, ..Options::default() };
        run_again_and_again(game(), options, playouts);
    }
}

/// Several runs, so that threads start together several times, when the graph is new and later; what each of them told.
fn run_again_and_again<G: Game>(game: G, options: Options, playouts: u64) -> Vec<Report> {
    let reasoner = Rust::new(game);
    let root = reasoner.initial();
    let config = options.config;
    // A solved root would end the runs: tests/it/solver.rs has the solver.
    let options = Options { state_heap_bytes: Some(0), solver: false, ..options };
    let mut searcher = Searcher::new(reasoner, options).expect("options are in bounds");
    searcher.set_root(&root);
    let run = |_| {
        let budget = Budget { playouts: Some(playouts), ..Budget::default() };
        let report = searcher.run(&budget, &Interrupt::new(), &mut |_| ()).expect("it runs");
        assert_eq!(report.playouts + report.errors.playouts, playouts, "{config}");
        match searcher.verify(&Interrupt::new()) {
            Ok(summary) => {
                assert_eq!(summary.nodes, report.nodes, "{config}");
                assert_eq!(summary.edges, report.edges, "{config}");
            }
            Err(error) => panic!("{config}: {error:#?}"),
        }
        report
    };
    (0..8).map(run).collect()
}

/// Nim whose reasoner fails at some positions far from the start.
#[derive(Debug)]
struct Stumbling(Nim);

impl Game for Stumbling {
    type State = <Nim as Game>::State;

    fn n_roles(&self) -> usize {
        self.0.n_roles()
    }

    fn initial(&self) -> Self::State {
        self.0.initial()
    }

    fn is_terminal(&self, state: &Self::State) -> bool {
        self.0.is_terminal(state)
    }

    fn legal(&self, state: &Self::State, role: usize, moves: &mut Vec<u32>) {
        self.0.legal(state, role, moves);
    }

    fn next(&self, state: &Self::State, joint_move: &[u32]) -> Self::State {
        self.0.next(state, joint_move)
    }

    fn goal(&self, state: &Self::State, role: usize) -> u32 {
        self.0.goal(state, role)
    }

    fn ask(&self, (heaps, _): &Self::State, _: &Interrupt) -> Result<(), ReasonerError> {
        match heaps {
            [1, 2, 0, _] => Err(ReasonerError::TooManySteps(1)),
            _ => Ok(()),
        }
    }
}

#[test]
fn many_threads_keep_the_laws_in_a_sequential_game() {
    stress(|| Nim([3, 4, 5, 3]), 64 << 20, 20_000);
}

#[test]
fn many_threads_keep_the_laws_in_a_simultaneous_game() {
    stress(|| Picks { n_roles: 3, steps: 4, most: 2 }, 64 << 20, 20_000);
}

#[test]
fn many_threads_keep_the_laws_in_a_full_graph() {
    stress(|| Nim([9, 9, 9, 9]), 2 << 20, 20_000);
    stress(|| Picks { n_roles: 4, steps: 8, most: 4 }, 2 << 20, 20_000);
}

#[test]
fn many_threads_keep_the_laws_in_a_broken_game() {
    stress(|| Broken, 8 << 20, 5_000);
}

#[test]
fn threads_that_keep_nodes_for_several_batches_keep_the_laws() {
    for config in [Config::Uct, Config::UctT, Config::UpdateDescent] {
        for discount in [1.0, 0.99] {
            let keeping = |max_bytes| Options {
                config,
                discount,
                threads: 4,
                batch: Some(16),
                rollouts: Some(2),
                max_bytes,
                ..Options::default()
            };
            run_again_and_again(Nim([3, 4, 5, 3]), keeping(64 << 20), 20_000);
            let full = run_again_and_again(Nim([9, 9, 9, 9]), keeping(2 << 20), 20_000);
            assert!(full.iter().any(|report| report.reclaims.times > 0), "{config}");
            let failing = run_again_and_again(Stumbling(Nim([3, 4, 5, 3])), keeping(64 << 20), 20_000);
            assert!(failing.iter().any(|report| report.counters.flushes > 0), "{config}");
            assert!(failing.iter().any(|report| report.errors.playouts > 0), "{config}");
        }
    }
}
