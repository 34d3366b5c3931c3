//! One thread with a seed and a number of playouts is reproducible bit for bit.

use std::fmt::Write;
use std::sync::Arc;

use crate::common::{Dial, Game, Nim, Picks, Rust};
use daggerboard_search::{Budget, Config, Counters, Options, Report, Searcher, TableReport};
use reasoner::Interrupt;

fn search<G: Game>(reasoner: &Arc<Rust<G>>, config: Config, seed: u64, playouts: &[u64]) -> Report {
    search_with(reasoner, Options { config, seed: Some(seed), solver: false, ..Options::default() }, playouts)
}

fn search_with<G: Game>(reasoner: &Arc<Rust<G>>, options: Options, playouts: &[u64]) -> Report {
    let options = Options { max_bytes: 64 << 20, ..options };
    let mut searcher = Searcher::new(Arc::clone(reasoner), options).expect("options are in bounds");
    searcher.set_root(&reasoner.initial());
    let mut last = None;
    for &n in playouts {
        let budget = Budget { playouts: Some(n), ..Budget::default() };
        last = Some(searcher.run(&budget, &Interrupt::new(), &mut |_| ()).expect("it runs"));
    }
    // Without what a clock said.
    let report = last.expect("a run");
    let counters =
        Counters { descent_ns: 0, expansion_ns: 0, rollout_ns: 0, backup_ns: 0, ..report.counters };
    let table = TableReport { growth_seconds: 0.0, ..report.table };
    Report { seconds: 0.0, table, counters, ..report }
}

/// All of a report that does not depend on the clock.
fn text(name: &str, config: Config, report: &Report) -> String {
    let mut text = format!("{name} {config}: {} nodes, {} edges\n", report.nodes, report.edges);
    for (role_idx, role) in report.roles.iter().enumerate() {
        for m in &role.moves {
            let _ = writeln!(text, "  {role_idx} {:7} {:6} {:.6}", m.a_move.0, m.visits, m.value);
        }
    }
    if let Some(line) = &report.best_line {
        let moves: Vec<u32> = line.joint_moves.iter().map(|joint_move| joint_move[0].0).collect();
        let _ = writeln!(text, "  line {} {moves:?}", line.value);
    }
    text
}

#[test]
fn equal_seeds_give_equal_reports() {
    // These choose uniformly, and a bias for them is refused.
    for config in Config::ALL.into_iter().filter(|it| !matches!(it, Config::Mc | Config::McMemory)) {
        let reasoner = Rust::new(Nim([3, 4, 5, 6]));
        let first = search(&reasoner, config, 7, &[3000]);
        assert_eq!(first, search(&reasoner, config, 7, &[3000]), "{config}");
        assert_ne!(first, search(&reasoner, config, 8, &[3000]), "{config}");
        // Playouts are numbered through, so that it does not matter where runs end.
        let in_parts = search(&reasoner, config, 7, &[1000, 500, 1500]);
        assert_eq!(first.roles, in_parts.roles, "{config}");
        assert_eq!((first.nodes, first.edges), (in_parts.nodes, in_parts.edges), "{config}");
    }
}

#[test]
fn equal_seeds_prove_the_same() {
    for config in Config::ALL {
        let reasoner = Rust::new(Picks { n_roles: 3, steps: 3, most: 2 });
        let options = || Options { config, seed: Some(7), ..Options::default() };
        let first = search_with(&reasoner, options(), &[3000]);
        assert_eq!(first, search_with(&reasoner, options(), &[3000]), "{config}");
        let reasoner = Rust::new(Nim([3, 4, 5, 6]));
        let first = search_with(&reasoner, options(), &[3000]);
        assert_eq!(first, search_with(&reasoner, options(), &[3000]), "{config}");
        assert_eq!(first.roles, search_with(&reasoner, options(), &[1000, 500, 1500]).roles, "{config}");
    }
}

#[test]
fn equal_seeds_lean_to_the_same_proofs() {
    // These choose uniformly, and a bias for them is refused.
    for config in Config::ALL.into_iter().filter(|it| !matches!(it, Config::Mc | Config::McMemory)) {
        let reasoner = Rust::new(Nim([3, 4, 5, 6]));
        let leaning =
            |pn_bias| Options { config, seed: Some(7), solver: true, pn_bias, ..Options::default() };
        let first = search_with(&reasoner, leaning(10.0), &[3000]);
        assert_eq!(first, search_with(&reasoner, leaning(10.0), &[3000]), "{config}");
        assert_eq!(first.roles, search_with(&reasoner, leaning(10.0), &[1000, 500, 1500]).roles, "{config}");
        let upright = search_with(&reasoner, leaning(0.0), &[3000]);
        assert_ne!(first.roles, upright.roles, "{config}");
    }
}

#[test]
fn the_reports_are_those_of_the_golden_file() {
    let mut actual = String::new();
    for config in Config::ALL {
        let nim = search(&Rust::new(Nim([1, 2, 3, 0])), config, 42, &[2000]);
        actual += &text("nim", config, &nim);
        let picks = search(&Rust::new(Picks { n_roles: 3, steps: 3, most: 2 }), config, 42, &[2000]);
        actual += &text("picks", config, &picks);
        let dial = search(&Rust::new(Dial { digits: 5 }), config, 42, &[300]);
        actual += &text("dial", config, &dial);
    }
    // Rewritten on request, so that a wanted change shows as a diff.
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/golden/reports.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, &actual).expect("the golden file is writable");
    }
    let golden = std::fs::read_to_string(path).expect("the golden file is there");
    assert_eq!(actual, golden, "run with UPDATE_GOLDEN=1 if the change is wanted");
}
