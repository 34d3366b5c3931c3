//! Every system on games whose best lines are known, on the interpreter and on the propnet.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::time::{Duration, Instant};

use common::{interpreter, options, outsiders, play, playouts, propnet, search, search_with, shipped};
use reasoner::{Interrupt, Limits, Reasoner, Session};
use search::Budget;
use single::{Report, Searcher, SingleError, System};

/// Three steps, each to one of three sides: only left, right, middle is worth 70, everything else 10 for each left.
const THREE_STEPS: &str = "
    (role r) (init (step 0)) (side left) (side middle) (side right) (succ 0 1) (succ 1 2) (succ 2 3)
    (<= (legal r ?s) (side ?s))
    (<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))
    (<= (next (went ?n ?s)) (true (step ?n)) (does r ?s))
    (<= (next (went ?n ?s)) (true (went ?n ?s)))
    (<= terminal (true (step 3)))
    (<= best (true (went 0 left)) (true (went 1 right)) (true (went 2 middle)))
    (<= (goal r 70) best)
    (<= (goal r 10) (not best) (true (went 0 left)))
    (<= (goal r 0) (not best) (not (true (went 0 left))))";

const SYSTEMS: [&str; 12] = [
    "nested(1)",
    "nested(2)",
    "max1",
    "max2",
    "sat",
    "nrpa(2)",
    "beam(2)",
    "exhaustive",
    "ida",
    "meida",
    "sp-mcts",
    "portfolio",
];

#[test]
fn every_system_finds_the_best_line_of_a_small_game() {
    let interpreter = interpreter(THREE_STEPS);
    let propnet = propnet(&interpreter);
    let outsiders = outsiders(&interpreter);
    for system in SYSTEMS {
        let report = search_with(&outsiders, &interpreter, system, &options(1), &playouts(30_000));
        let line = report.best.unwrap();
        assert_eq!((line.value, line.moves.len()), (70, 3), "{system}");
        assert_eq!(play(&interpreter, &line.moves), Some(70), "{system}");
        assert_eq!(report.a_move, Some(line.moves[0]), "{system}");
        let report = search_with(&outsiders, &propnet, system, &options(2), &playouts(30_000));
        let line = report.best.unwrap();
        assert_eq!(play(&propnet, &line.moves), Some(70), "{system} on the propnet");
    }
}

#[test]
fn what_has_seen_everything_has_proved_the_optimum() {
    let interpreter = interpreter(THREE_STEPS);
    for system in ["exhaustive", "ida", "meida", "beam(100)", "sat", "portfolio"] {
        let report =
            search_with(&outsiders(&interpreter), &interpreter, system, &options(1), &playouts(100_000));
        assert!(report.proved, "{system}");
        assert!(report.playouts < 100_000, "{system} goes on after its proof");
    }
    for system in ["nested(2)", "nrpa(2)", "sp-mcts"] {
        let report = search(&interpreter, system, &options(1), &playouts(30_000));
        assert!(!report.proved, "{system} has seen nothing but samples");
    }
}

#[test]
fn the_largest_goal_ends_the_search() {
    let rules = shipped("hanoi");
    let hanoi = propnet(&rules);
    for system in ["exhaustive", "sat", "portfolio"] {
        let report = search_with(&outsiders(&rules), &hanoi, system, &options(2), &playouts(100_000_000));
        assert_eq!(report.best.map(|line| line.value), Some(100), "{system}");
        assert!(report.proved, "{system}");
    }
}

#[test]
fn one_thread_with_a_seed_and_playouts_gives_the_same_report_every_time() {
    let tour = shipped("knights-tour");
    let outsiders = outsiders(&tour);
    for system in ["nested(1)", "nrpa", "beam(8)", "sp-mcts", "max1", "sat", "portfolio"] {
        let run = |_| search_with(&outsiders, &tour, system, &options(1), &playouts(20_000));
        let mut reports: Vec<Report> = (0..3).map(run).collect();
        for report in &mut reports {
            report.time = Duration::ZERO;
            report.found.iter_mut().for_each(|found| found.after = Duration::ZERO);
            report.parts.iter_mut().for_each(|part| part.used.time = Duration::ZERO);
        }
        assert!(reports.iter().all(|report| *report == reports[0]), "{system}: {reports:?}");
    }
}

#[test]
fn a_match_that_plays_the_best_line_never_ends_below_it() {
    let tour = shipped("knights-tour");
    for system in ["portfolio", "nested(1)", "max1", "sp-mcts"] {
        let mut searcher = Searcher::new(&tour, system.parse().unwrap(), &options(1)).unwrap();
        let mut session = tour.session(Limits::default(), &Interrupt::new()).unwrap();
        let mut state = session.initial_state().unwrap();
        let mut least = 0;
        let mut moves = Vec::new();
        while !session.is_terminal(&state).unwrap() {
            searcher.set_root(&state);
            let report = searcher.run(&playouts(3000), &Interrupt::new(), &mut |_| {}).unwrap();
            let value = report.best.as_ref().unwrap().value;
            assert!(value >= least, "{system}: {value} after {least}");
            least = value;
            moves.push(report.a_move.unwrap());
            state = session.next_state(&state, &[*moves.last().unwrap()]).unwrap();
        }
        assert_eq!(play(&tour, &moves), Some(least), "{system}");
    }
}

#[test]
fn the_portfolio_tells_who_found_what() {
    let tour = shipped("knights-tour");
    let report = search(&tour, "portfolio", &options(1), &playouts(100_000));
    let gains: u32 = report.parts.iter().map(|part| part.used.gains).sum();
    assert_eq!(gains as usize, report.found.len());
    assert!(report.found.windows(2).all(|pair| pair[0].value < pair[1].value));
    for found in &report.found {
        let part = report.parts.iter().find(|part| part.name == found.by).unwrap();
        assert!(part.used.gains > 0, "{found:?}: {part:?}");
    }
}

#[test]
fn a_stop_and_a_deadline_end_a_run() {
    let tour = shipped("knights-tour");
    let stop = Interrupt::new();
    stop.raise();
    let mut searcher = Searcher::new(&tour, System::Portfolio, &options(2)).unwrap();
    let mut session = tour.session(Limits::default(), &Interrupt::new()).unwrap();
    assert!(matches!(searcher.run(&playouts(1), &stop, &mut |_| {}), Err(SingleError::NoRoot)));
    searcher.set_root(&session.initial_state().unwrap());
    searcher.run(&Budget::default(), &stop, &mut |_| {}).unwrap();
    let deadline = Some(Instant::now() + Duration::from_millis(50));
    let budget = Budget { deadline, ..Budget::default() };
    let report = searcher.run(&budget, &Interrupt::new(), &mut |_| {}).unwrap();
    assert!(report.best.is_some());
}

/// No end: two states in turn by one move, or by two that are the same.
const ENDLESS: [&str; 2] = ["(legal a go)", "(legal a go) (legal a stay)"];

#[test]
fn rules_that_never_end_hold_no_system_up() {
    for moves in ENDLESS {
        let rules = format!(
            "(role a) (init (x 1)) {moves} (<= (next (x 2)) (true (x 1))) (<= (next (x 1)) (true (x 2)))
             (<= terminal (true (x 3))) (goal a 50)"
        );
        let interpreter = interpreter(&rules);
        for system in SYSTEMS {
            let budget =
                Budget { deadline: Some(Instant::now() + Duration::from_millis(100)), ..Budget::default() };
            let report = search_with(&outsiders(&interpreter), &interpreter, system, &options(1), &budget);
            assert!(report.best.is_none(), "{system}");
        }
    }
}

#[test]
fn games_of_several_roles_are_refused() {
    let error = Searcher::new(&shipped("tic-tac-toe"), System::Portfolio, &options(1)).unwrap_err();
    assert_eq!(error.to_string(), "portfolio plays games of one role, and this one has 2");
    let error = Searcher::new(&shipped("hanoi"), System::Sat, &options(1)).unwrap_err();
    assert_eq!(error.to_string(), "sat works from the rules of a game, and this one has none");
}
