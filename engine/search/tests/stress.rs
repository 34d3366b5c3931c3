//! Many threads on few nodes, then the conservation laws.

#[allow(dead_code, reason = "a part of the games will do")]
#[path = "it/common/mod.rs"]
mod common;

use common::runs::is_slow;
use common::{Broken, Game, Nim, Picks, Rust};
use daggerboard_search::{Budget, Config, Options, Searcher};
use reasoner::Interrupt;

const N_THREADS: usize = 64;

fn stress<G: Game>(game: impl Fn() -> G, max_bytes: usize, playouts: u64) {
    for config in Config::ALL {
        let playouts = if is_slow(config) { playouts / 10 } else { playouts };
        let reasoner = Rust::new(game());
        let root = reasoner.initial();
        // A solved root would end the runs: tests/it/solver.rs has the solver.
        let options = Options {
            config,
            threads: N_THREADS,
            max_bytes,
            state_heap_bytes: Some(0),
            solver: false,
            ..Options::default()
        };
        let mut searcher = Searcher::new(reasoner, options).expect("options are in bounds");
        searcher.set_root(&root);
        // Several runs, so that threads start together several times, when the graph is new and later.
        for _ in 0..8 {
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
