//! Rules that loop, explode or overflow end with an error within the limit, and the session answers the next
//! question; recursion that plain resolution does not survive ends with the right answer.

#![cfg(feature = "prolog")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::time::Duration;

use reasoner::{Interrupt, Limits, Reasoner, ReasonerError};
use reasoner_prolog::{Prolog, Update};
use testkit::odd_game::{
    COUNTED, COUNTS, EXPLODES, EXPLOSION, demand_error, demand_fixed_point, demand_joint_moves, demand_rest,
    demand_same_start, odd_game, odd_moves,
};

fn prolog(condition: &str, clauses: &str) -> Arc<Prolog> {
    Arc::new(Prolog::new(odd_game(condition, clauses), Update::Difference).unwrap())
}

#[test]
fn terms_without_end_are_an_error() {
    let limits = Limits { bytes: 64 << 20, steps: 20_000_000 };
    let error = demand_error(&prolog(COUNTED, COUNTS), limits);
    let is_limit = matches!(error, ReasonerError::TooMuchMemory(_) | ReasonerError::TooManySteps(_));
    assert!(is_limit, "{error}");
    // Where the terms are answers.
    let error = demand_error(&prolog("(num x)", &format!("{COUNTS} (<= (legal you ?n) (num ?n))")), limits);
    assert_eq!(error, ReasonerError::TooDeep(gdl::MAX_DEPTH));
}

#[test]
fn explosions_end_at_the_limits() {
    let steps = demand_error(&prolog(EXPLODES, EXPLOSION), Limits { steps: 100_000, ..Limits::default() });
    assert_eq!(steps, ReasonerError::TooManySteps(100_000));
}

#[test]
fn deep_recursion_overflows_without_harm() {
    let chain: String = (0..20_000).map(|i| format!("(s {i} {})", i + 1)).collect();
    // The last condition keeps a frame for each step.
    let clauses = format!("{chain} (<= (up ?x) (s ?x ?y) (up ?y) (s ?x ?y)) (<= (up 20000) (true start))");
    let enough = prolog("(up 0)", &clauses);
    let mut session = enough.session(Limits::default(), &Interrupt::new()).unwrap();
    assert_eq!(odd_moves(&mut session).unwrap(), ["go", "odd"]);
    let error = demand_error(&enough, Limits { bytes: 1 << 20, ..Limits::default() });
    assert_eq!(error, ReasonerError::TooMuchMemory(1 << 20));
}

#[test]
fn an_interrupt_stops_a_question_that_runs_and_every_one_until_it_is_lowered() {
    let prolog = prolog(EXPLODES, EXPLOSION);
    let interrupt = Interrupt::new();
    let mut session = prolog.session(Limits::default(), &interrupt).unwrap();
    for _ in 0..3 {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // While the question runs; sooner would be as good.
                std::thread::sleep(Duration::from_millis(50));
                interrupt.raise();
            });
            assert_eq!(odd_moves(&mut session), Err(ReasonerError::Interrupted));
        });
        assert_eq!(odd_moves(&mut session), Err(ReasonerError::Interrupted));
        interrupt.lower();
        demand_rest(&mut session);
    }
}

#[test]
fn recursion_on_a_cycle_reaches_its_least_fixed_point() {
    let prolog = demand_fixed_point(|rules| Prolog::new(rules, Update::Difference));
    let mut tabled = prolog.tabled();
    tabled.sort_unstable();
    assert_eq!(tabled, ["beyond/2", "reach/2"]);
}

#[test]
fn the_initial_state_does_not_depend_on_what_was_asked_before() {
    demand_same_start(|rules| Prolog::new(rules, Update::Difference));
}

#[test]
fn joint_moves_of_the_wrong_length_are_an_error() {
    demand_joint_moves(&mut prolog("d", "").session(Limits::default(), &Interrupt::new()).unwrap());
}

#[test]
fn only_the_recursion_that_needs_tables_gets_them() {
    let clauses = "(e 0 1) (e 1 0) (s 0 1) (s 1 2) (s 2 3)
        (<= (reach ?x ?y) (e ?x ?y)) (<= (reach ?x ?z) (reach ?x ?y) (e ?y ?z))
        (<= (up ?x) (s ?x ?y) (up ?y)) (<= (up 3) (true start))";
    let prolog = prolog("(up 0) (reach 0 0) (not (reach 0 2))", clauses);
    let mut session = prolog.session(Limits::default(), &Interrupt::new()).unwrap();
    assert_eq!(odd_moves(&mut session).unwrap(), ["go", "odd"]);
    assert_eq!(prolog.tabled(), ["reach/2"]);
}
