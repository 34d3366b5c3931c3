//! Rules that loop, explode or negate themselves end with an error, and the session answers the next
//! question; deep recursion and recursion on cycles end with the right answer.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use gdl::{Description, ReadOptions, Rules};
use reasoner::{Interrupt, Limits, Move, Reasoner, ReasonerError, Role, Session};
use reasoner_native::{Interpreter, InterpreterSession};
use testkit::odd_game::{
    COUNTED, COUNTS, EXPLODES, EXPLOSION, demand_error, demand_fixed_point, demand_joint_moves,
    demand_same_start, odd_game, odd_moves,
};

fn interpreter(condition: &str, clauses: &str) -> Arc<Interpreter> {
    Arc::new(Interpreter::new(odd_game(condition, clauses)).unwrap())
}

fn session(condition: &str, clauses: &str) -> InterpreterSession {
    interpreter(condition, clauses).session(Limits::default(), &Interrupt::new()).unwrap()
}

#[test]
fn terms_without_end_are_an_error() {
    let error = demand_error(&interpreter(COUNTED, COUNTS), Limits::default());
    assert_eq!(error, ReasonerError::TooDeep(gdl::MAX_DEPTH));
}

#[test]
fn explosions_end_at_the_limits() {
    let interpreter = interpreter(EXPLODES, EXPLOSION);
    let steps = demand_error(&interpreter, Limits { steps: 100_000, ..Limits::default() });
    assert_eq!(steps, ReasonerError::TooManySteps(100_000));
    let bytes = demand_error(&interpreter, Limits { bytes: 1 << 20, ..Limits::default() });
    assert_eq!(bytes, ReasonerError::TooMuchMemory(1 << 20));
}

#[test]
fn the_initial_state_does_not_depend_on_what_was_asked_before() {
    demand_same_start(Interpreter::new);
}

#[test]
fn joint_moves_of_the_wrong_length_are_an_error() {
    demand_joint_moves(&mut session("d", ""));
}

#[test]
fn negation_of_itself_is_an_error() {
    let error =
        demand_error(&interpreter("p", "(<= p (not q) (true start)) (<= q (not p))"), Limits::default());
    assert!(matches!(error, ReasonerError::NotStratified(_)), "{error}");
}

#[test]
fn an_interrupt_stops_every_question_until_it_is_lowered() {
    let interrupt = Interrupt::new();
    let mut session = interpreter("(true start)", "").session(Limits::default(), &interrupt).unwrap();
    assert_eq!(odd_moves(&mut session).unwrap().len(), 2);
    interrupt.raise();
    assert_eq!(odd_moves(&mut session), Err(ReasonerError::Interrupted));
    interrupt.lower();
    assert_eq!(odd_moves(&mut session).unwrap().len(), 2);
}

#[test]
fn values_that_nobody_wants_are_not_enumerated() {
    // 10^7 matches of `all`, of which one is enough.
    let limits = Limits { steps: 100_000, ..Limits::default() };
    let interpreter = interpreter("(all ?a ?b ?c ?e ?f ?g ?h)", EXPLOSION);
    let mut session = interpreter.session(limits, &Interrupt::new()).unwrap();
    assert_eq!(odd_moves(&mut session).unwrap(), ["go", "odd"]);
}

#[test]
fn deep_recursion_does_not_overflow_the_stack() {
    let chain: String = (0..20_000).map(|i| format!("(s {i} {})", i + 1)).collect();
    let clauses = format!("{chain} (<= (up ?x) (s ?x ?y) (up ?y)) (<= (up 20000) (true start))");
    let mut session = session("(up 0)", &clauses);
    assert_eq!(odd_moves(&mut session).unwrap(), ["go", "odd"]);
}

#[test]
fn recursion_on_a_cycle_reaches_its_least_fixed_point() {
    demand_fixed_point(Interpreter::new);
}

#[test]
fn sessions_in_many_threads_agree() {
    let mut first = session("(true start)", "");
    let expected = odd_moves(&mut first).unwrap();
    let rules = Rules::from_description(
        &Description::read(
            "(role you) (init (n 0)) (<= (legal you (add ?k)) (true (n ?x)) (one ?k)) (one a) (one b)
             (<= (next (n (f ?x ?k))) (true (n ?x)) (does you (add ?k)))
             (<= terminal (true (n (f (f (f (f ?x ?a) ?b) ?c) ?d)))) (goal you 100)",
            ReadOptions::default(),
        )
        .unwrap(),
    )
    .unwrap();
    assert_eq!(expected, ["go", "odd"]);
    let interpreter = Arc::new(Interpreter::new(Arc::new(rules)).unwrap());
    // Every thread meets new terms in its own order; numbers must mean the same terms everywhere.
    let walk = |seed: usize| {
        let mut session = interpreter.session(Limits::default(), &Interrupt::new()).unwrap();
        let mut seen = Vec::new();
        for path in 0..16usize {
            let mut state = session.initial_state().unwrap();
            for step in 0..4 {
                let mut moves: Vec<Move> = Vec::new();
                session.legal_moves(&state, Role(0), &mut moves).unwrap();
                let choice = (path ^ seed) >> step & 1;
                state = session.next_state(&state, &[moves[choice]]).unwrap();
            }
            seen.push(state);
        }
        seen.sort_by_key(|state| format!("{state:?}"));
        seen
    };
    std::thread::scope(|scope| {
        let walks: Vec<_> = (0..8).map(|seed| scope.spawn(move || walk(seed))).collect();
        let walks: Vec<_> = walks.into_iter().map(|walk| walk.join().unwrap()).collect();
        assert!(walks.windows(2).all(|pair| pair[0] == pair[1]));
    });
}
