//! Rules that loop, explode or negate themselves end with an error, and the session answers the next
//! question; deep recursion and recursion on cycles end with the right answer.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use gdl::{Description, ReadOptions, Rules};
use reasoner::{Interrupt, Limits, Move, Reasoner, ReasonerError, Role, Session};
use reasoner_native::{Interpreter, InterpreterSession};

/// A game whose move `go` is legal in any case, and `odd` where `condition` holds.
fn session(condition: &str, clauses: &str, limits: Limits, interrupt: &Interrupt) -> InterpreterSession {
    let text = format!(
        "(role you) (init start) (legal you go) (<= (legal you odd) {condition}) {clauses}
         (<= (next (made ?m)) (does you ?m)) (<= terminal (true (made ?m))) (goal you 100)"
    );
    let description = Description::read(&text, ReadOptions::default()).unwrap();
    let rules = Rules::from_description(&description).unwrap();
    Arc::new(Interpreter::new(Arc::new(rules)).unwrap()).session(limits, interrupt).unwrap()
}

fn legal(session: &mut InterpreterSession) -> Result<Vec<String>, ReasonerError> {
    let state = session.initial_state()?;
    let mut moves = Vec::new();
    session.legal_moves(&state, Role(0), &mut moves)?;
    Ok(moves.into_iter().map(|a_move| session.move_term(a_move).to_string()).collect())
}

/// Asks what cannot be answered, then what can.
fn ends_with_an_error(condition: &str, clauses: &str, limits: Limits) -> ReasonerError {
    let mut session = session(condition, clauses, limits, &Interrupt::new());
    let error = legal(&mut session).unwrap_err();
    let state = session.initial_state().unwrap();
    assert!(!session.is_terminal(&state).unwrap());
    let go = session.move_of(&gdl::Term::Name("go".into())).unwrap();
    let next = session.next_state(&state, &[go]).unwrap();
    assert!(session.is_terminal(&next).unwrap());
    error
}

const EXPLOSION: &str = "(d 0) (d 1) (d 2) (d 3) (d 4) (d 5) (d 6) (d 7) (d 8) (d 9)
    (<= (all ?a ?b ?c ?e ?f ?g ?h) (d ?a) (d ?b) (d ?c) (d ?e) (d ?f) (d ?g) (d ?h) (true start))
    (<= (none ?a) (all ?a ?b ?c ?e ?f ?g ?h) (d ?h) (distinct ?a ?a) (all ?h ?g ?f ?e ?c ?b ?a))";

#[test]
fn terms_without_end_are_an_error() {
    let clauses = "(num 0) (<= (num (s ?x)) (num ?x))";
    let error = ends_with_an_error("(num ?n) (num (t ?n))", clauses, Limits::default());
    assert!(error.to_string().contains("nests deeper"), "{error}");
}

#[test]
fn explosions_end_at_the_limits() {
    let condition = "(all ?a ?b ?c ?e ?f ?g ?h) (d (k ?a ?b ?c ?e ?f ?g ?h))";
    let steps = ends_with_an_error(condition, EXPLOSION, Limits { steps: 100_000, ..Limits::default() });
    assert_eq!(steps, ReasonerError::TooManySteps(100_000));
    let bytes = ends_with_an_error(condition, EXPLOSION, Limits { bytes: 1 << 20, ..Limits::default() });
    assert_eq!(bytes, ReasonerError::TooMuchMemory(1 << 20));
}

#[test]
fn negation_of_itself_is_an_error() {
    let error = ends_with_an_error("p", "(<= p (not q) (true start)) (<= q (not p))", Limits::default());
    assert!(matches!(error, ReasonerError::NotStratified(_)), "{error}");
}

#[test]
fn an_interrupt_stops_every_question_until_it_is_lowered() {
    let interrupt = Interrupt::new();
    let mut session = session("(true start)", "", Limits::default(), &interrupt);
    assert_eq!(legal(&mut session).unwrap().len(), 2);
    interrupt.raise();
    assert_eq!(legal(&mut session), Err(ReasonerError::Interrupted));
    interrupt.lower();
    assert_eq!(legal(&mut session).unwrap().len(), 2);
}

#[test]
fn values_that_nobody_wants_are_not_enumerated() {
    // 10^7 matches of `all`, of which one is enough.
    let limits = Limits { steps: 100_000, ..Limits::default() };
    let mut session = session("(all ?a ?b ?c ?e ?f ?g ?h)", EXPLOSION, limits, &Interrupt::new());
    assert_eq!(legal(&mut session).unwrap(), ["go", "odd"]);
}

#[test]
fn deep_recursion_does_not_overflow_the_stack() {
    let chain: String = (0..20_000).map(|i| format!("(s {i} {})", i + 1)).collect();
    let clauses = format!("{chain} (<= (up ?x) (s ?x ?y) (up ?y)) (<= (up 20000) (true start))");
    let mut session = session("(up 0)", &clauses, Limits::default(), &Interrupt::new());
    assert_eq!(legal(&mut session).unwrap(), ["go", "odd"]);
}

#[test]
fn recursion_on_a_cycle_reaches_its_least_fixed_point() {
    // Mutual recursion around two cycles joined by one edge: 0 -> 1 -> 2 -> 0, 2 -> 3 -> 4 -> 3.
    let clauses = "(e 0 1) (e 1 2) (e 2 0) (e 2 3) (e 3 4) (e 4 3) (e 5 0)
        (<= (reach ?x ?y) (e ?x ?y) (true start))
        (<= (reach ?x ?z) (beyond ?x ?y) (e ?y ?z))
        (<= (beyond ?x ?y) (reach ?x ?y))
        (<= both (reach 0 4) (reach 0 0) (not (reach 3 0)) (not (reach 4 5)) (reach 5 4))
        (<= (legal you (to ?x ?y)) (reach ?x ?y))";
    let mut session = session("both", clauses, Limits::default(), &Interrupt::new());
    let moves = legal(&mut session).unwrap();
    assert!(moves.contains(&"odd".to_owned()));
    // 0, 1 and 2 reach five nodes each, 3 and 4 two, 5 five.
    assert_eq!(moves.iter().filter(|text| text.starts_with("(to")).count(), 3 * 5 + 2 * 2 + 5);
}

#[test]
fn sessions_in_many_threads_agree() {
    let mut first = session("(true start)", "", Limits::default(), &Interrupt::new());
    let expected = legal(&mut first).unwrap();
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
