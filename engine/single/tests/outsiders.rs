//! Solvers that know the rules by themselves, in a search by another reasoner.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::time::{Duration, Instant};

use common::{interpreter, options, outsiders, play, playouts, propnet, search, search_with, shipped};
use reasoner::{Interrupt, Limits, Reasoner, Session};
use search::Budget;
use single::Searcher;

/// A lock of three dials of 30 marks, in one fluent of three places, and one more for the time: 135,000 fluents of which two
/// hold, and one combination of those that are reached in time is worth more than the others.
fn lock() -> String {
    let mut text = "
        (role r) (init (dials 0 0 0)) (init (time 0))
        (<= (legal r (turn ?d)) (dial ?d)) (dial a) (dial b) (dial c)
        (<= (next (dials ?n ?b ?c)) (does r (turn a)) (true (dials ?a ?b ?c)) (after ?a ?n))
        (<= (next (dials ?a ?n ?c)) (does r (turn b)) (true (dials ?a ?b ?c)) (after ?b ?n))
        (<= (next (dials ?a ?b ?n)) (does r (turn c)) (true (dials ?a ?b ?c)) (after ?c ?n))
        (<= (next (time ?n)) (true (time ?t)) (after ?t ?n))
        (<= terminal (true (time 12)))
        (<= (goal r 90) (true (dials 1 9 2)))
        (<= (goal r 20) (true (dials ?a ?b ?c)) (not (true (dials 1 9 2))))"
        .to_owned();
    (0..30).for_each(|mark| text.push_str(&format!("(after {mark} {})", (mark + 1) % 30)));
    text
}

#[test]
fn where_states_are_large_another_reasoner_sees_them_all() {
    let interpreter = interpreter(&lock());
    let propnet = propnet(&interpreter);
    let mut session = propnet.session(Limits::default(), &Interrupt::new()).unwrap();
    assert!(propnet.heap_bytes(&session.initial_state().unwrap()) > 1024, "the case at hand");
    let alone = search(&interpreter, "exhaustive", &options(1), &playouts(1_000_000));
    let helped =
        search_with(&outsiders(&interpreter), &propnet, "exhaustive", &options(1), &playouts(1_000_000));
    assert!(alone.proved && helped.proved);
    assert_eq!(helped.playouts, alone.playouts, "each state once");
    let line = helped.best.unwrap();
    assert_eq!((line.value, play(&propnet, &line.moves)), (90, Some(90)));
}

#[test]
fn the_portfolio_counts_on_the_constraint_solver_where_it_has_the_rules() {
    let tour = shipped("lights-out");
    let names = |outsiders: &single::Outsiders| -> Vec<String> {
        let report = search_with(outsiders, &tour, "portfolio", &options(1), &playouts(100));
        report.parts.into_iter().map(|part| part.name).collect()
    };
    assert!(names(&outsiders(&tour)).contains(&"sat".to_owned()));
    assert!(!names(&single::Outsiders::default()).contains(&"sat".to_owned()));
}

#[test]
fn the_constraint_solver_goes_on_where_it_was_and_follows_the_match() {
    let lights = shipped("lights-out");
    let mut searcher =
        Searcher::with_outsiders(&lights, "sat".parse().unwrap(), &options(1), &outsiders(&lights)).unwrap();
    let mut session = lights.session(Limits::default(), &Interrupt::new()).unwrap();
    let mut state = session.initial_state().unwrap();
    searcher.set_root(&state);
    let n_runs = (1..200)
        .find(|_| searcher.run(&playouts(100), &Interrupt::new(), &mut |_| {}).unwrap().proved)
        .expect("a proof");
    assert!(n_runs > 1, "it was paused on its way");
    let mut value = None;
    while !session.is_terminal(&state).unwrap() {
        searcher.set_root(&state);
        let report = searcher.run(&playouts(100), &Interrupt::new(), &mut |_| {}).unwrap();
        value = report.best.as_ref().map(|line| line.value);
        state = session.next_state(&state, &[report.a_move.unwrap()]).unwrap();
    }
    assert_eq!(value, Some(100));
}

#[test]
fn a_stop_ends_the_constraint_solver() {
    let tour = shipped("knights-tour");
    let mut searcher =
        Searcher::with_outsiders(&tour, "sat".parse().unwrap(), &options(1), &outsiders(&tour)).unwrap();
    let mut session = tour.session(Limits::default(), &Interrupt::new()).unwrap();
    searcher.set_root(&session.initial_state().unwrap());
    let stop = Interrupt::new();
    stop.raise();
    let report = searcher.run(&Budget::default(), &stop, &mut |_| {}).unwrap();
    assert!(!report.proved);
    let deadline = Some(Instant::now() + Duration::from_millis(50));
    let report =
        searcher.run(&Budget { deadline, ..Budget::default() }, &Interrupt::new(), &mut |_| {}).unwrap();
    assert!(report.last_error.is_none(), "{:?}", report.last_error);
}
