//! A run ends early when a choice is settled, and only then.

use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::common::runs::searcher;
use crate::common::{self, Dial, Game, Nim, Wide};
use daggerboard_search::{Budget, Config, FinalMove, Options, Report, Settling, WorkLimit};
use reasoner::{Interrupt, Move, Role};

thread_local! {
    static LOOKS: Cell<u64> = const { Cell::new(0) };
}

/// A measure without a clock: each look at it is a microsecond of work.
fn worked() -> Duration {
    LOOKS.set(LOOKS.get() + 1);
    Duration::from_micros(LOOKS.get())
}

/// A limit that lasts for some tenths of a second at the least, so that the choice is looked at many times.
const LIMIT: Duration = Duration::from_millis(30);

/// Only a choice that cannot change any more ends the run.
const NEVER_CLEAR: f64 = 2.0;

fn options(config: Config, threads: usize) -> Options {
    Options {
        config,
        threads,
        seed: Some(1),
        max_bytes: 64 << 20,
        state_heap_bytes: Some(0),
        ..Options::default()
    }
}

/// One of three moves wins.
const CLEAR: Wide = Wide { width: 3, lucky: 1 };

/// None of four moves does.
const UNCLEAR: Wide = Wide { width: 4, lucky: 9 };

/// Searches for the choice of a role until it is settled or the work is done.
fn search<G: Game>(game: G, options: Options, role: Role, clear_from: f64) -> Report {
    let mut searcher = searcher(game, options);
    let budget = Budget {
        work: Some(WorkLimit { worked, limit: LIMIT }),
        settled_for: Some(Settling { role, clear_from }),
        ..Budget::default()
    };
    let report = searcher.run(&budget, &Interrupt::new(), &mut |_| ()).expect("there is a root");
    searcher.verify(&Interrupt::new()).expect("the graph is sound");
    report
}

/// The part of the limit that was worked.
fn part(report: &Report) -> f64 {
    report.counters.work_ns as f64 / LIMIT.as_nanos() as f64
}

#[test]
fn a_choice_that_cannot_change_ends_the_run_and_no_sooner() {
    for config in [Config::Uct, Config::UctT, Config::Credited] {
        for threads in [1, 2] {
            // On a busy machine, who looks at the work may be kept waiting until all of it is done.
            let reports = (0..5).map(|_| search(CLEAR, options(config, threads), Role(0), NEVER_CLEAR));
            let Some(report) = reports.into_iter().find(|report| report.is_settled) else {
                panic!("{config} with {threads} threads is never settled")
            };
            assert_eq!(report.best(Role(0)), Some(Move(1)), "{config}");
            // With less than half of the visits made, the others could make up any lead.
            assert!((0.5..1.0).contains(&part(&report)), "{config}: {}", part(&report));
        }
    }
}

#[test]
fn a_clear_choice_ends_the_run_from_the_moment_on_that_was_asked_for() {
    let report = search(CLEAR, options(Config::UctT, 1), Role(0), 0.25);
    assert!(report.is_settled && report.best(Role(0)) == Some(Move(1)), "{report:#?}");
    assert!((0.25..0.5).contains(&part(&report)), "{}", part(&report));
}

#[test]
fn an_unclear_choice_has_all_the_work_and_no_more() {
    for threads in [1, 2] {
        let report = search(UNCLEAR, options(Config::UctT, threads), Role(0), 0.1);
        assert!(!report.is_settled, "{report:#?}");
        // One look finds that it is over, and another tells how long it was.
        let most = LIMIT + Duration::from_micros(1);
        let work = Duration::from_nanos(report.counters.work_ns);
        assert!((LIMIT..=most).contains(&work), "{work:?}");
    }
}

#[test]
fn an_unclear_choice_ends_with_the_deadline() {
    let mut searcher = searcher(UNCLEAR, options(Config::UctT, 1));
    let budget = Budget {
        deadline: Some(Instant::now() + Duration::from_millis(100)),
        settled_for: Some(Settling { role: Role(0), clear_from: 0.1 }),
        ..Budget::default()
    };
    let report = searcher.run(&budget, &Interrupt::new(), &mut |_| ()).expect("there is a root");
    assert!(!report.is_settled && report.playouts > 0, "{report:#?}");
}

#[test]
fn a_deadline_is_a_limit_as_work_is() {
    let mut searcher = searcher(CLEAR, options(Config::UctT, 1));
    let budget = Budget {
        deadline: Some(Instant::now() + Duration::from_secs(2)),
        settled_for: Some(Settling { role: Role(0), clear_from: 0.1 }),
        ..Budget::default()
    };
    let report = searcher.run(&budget, &Interrupt::new(), &mut |_| ()).expect("there is a root");
    assert!(report.is_settled && report.best(Role(0)) == Some(Move(1)), "{report:#?}");
}

#[test]
fn a_single_move_is_settled_without_any_limit() {
    let mut searcher = searcher(Nim([9, 9, 9, 9]), options(Config::UctT, 2));
    let settled_for = Some(Settling { role: Role(1), clear_from: NEVER_CLEAR });
    let budget = Budget { settled_for, ..Budget::default() };
    let report = searcher.run(&budget, &Interrupt::new(), &mut |_| ()).expect("there is a root");
    assert!(report.is_settled, "{report:#?}");
    assert_eq!(report.best(Role(1)), Some(Move(common::NOOP)));
}

#[test]
fn nothing_is_settled_where_visits_do_not_decide() {
    let by_mean = Options { final_move: Some(FinalMove::Mean), ..options(Config::UctT, 1) };
    for report in [
        search(CLEAR, by_mean, Role(0), 0.0),
        search(CLEAR, options(Config::Mc, 1), Role(0), 0.0),
        // The best line of a single role may get better to the end.
        search(Dial { digits: 3 }, options(Config::UctT, 1), Role(0), 0.0),
    ] {
        assert!(!report.is_settled && part(&report) >= 1.0, "{report:#?}");
    }
}

#[test]
fn counted_playouts_are_made_whatever_is_settled() {
    let run = |settled_for: Option<Settling>| {
        let mut searcher = searcher(CLEAR, options(Config::UctT, 1));
        let budget = Budget { playouts: Some(300_000), settled_for, ..Budget::default() };
        searcher.run(&budget, &Interrupt::new(), &mut |_| ()).expect("there is a root")
    };
    let plain = run(None);
    let asked = run(Some(Settling { role: Role(0), clear_from: 0.0 }));
    assert!(!asked.is_settled && asked.playouts == 300_000, "{asked:#?}");
    assert_eq!((plain.roles, plain.nodes), (asked.roles, asked.nodes));
}
