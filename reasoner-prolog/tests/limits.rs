//! Rules that loop, explode or overflow end with an error within the limit, and the session answers the next
//! question; recursion that plain resolution does not survive ends with the right answer.

#![cfg(feature = "prolog")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::time::Duration;

use gdl::{Description, ReadOptions, Rules, Term};
use reasoner::{Interrupt, Limits, Reasoner, ReasonerError, Role, Session};
use reasoner_prolog::{Prolog, PrologSession, Update};

/// A game whose move `go` is legal in any case, and `odd` where `condition` holds.
fn prolog(condition: &str, clauses: &str) -> Arc<Prolog> {
    let text = format!(
        "(role you) (init start) (legal you go) (<= (legal you odd) {condition}) {clauses}
         (<= (next (made ?m)) (does you ?m)) (<= terminal (true (made ?m))) (goal you 100)"
    );
    let description = Description::read(&text, ReadOptions::default()).unwrap();
    let rules = Rules::from_description(&description).unwrap();
    Arc::new(Prolog::new(Arc::new(rules), Update::Difference).unwrap())
}

fn legal(session: &mut PrologSession) -> Result<Vec<String>, ReasonerError> {
    let state = session.initial_state()?;
    let mut moves = Vec::new();
    session.legal_moves(&state, Role(0), &mut moves)?;
    let mut texts: Vec<_> = moves.into_iter().map(|a_move| session.move_term(a_move).to_string()).collect();
    texts.sort_unstable();
    Ok(texts)
}

/// What can be asked is answered.
fn answers(session: &mut PrologSession) {
    let state = session.initial_state().unwrap();
    assert!(!session.is_terminal(&state).unwrap());
    let go = session.move_of(&Term::Name("go".into())).unwrap();
    let next = session.next_state(&state, &[go]).unwrap();
    assert!(session.is_terminal(&next).unwrap());
}

/// Asks what cannot be answered, then what can, twice.
fn ends_with_an_error(condition: &str, clauses: &str, limits: Limits) -> ReasonerError {
    let prolog = prolog(condition, clauses);
    let mut session = prolog.session(limits, &Interrupt::new()).unwrap();
    let error = legal(&mut session).unwrap_err();
    answers(&mut session);
    assert_eq!(legal(&mut session).unwrap_err(), error);
    answers(&mut session);
    error
}

const EXPLOSION: &str = "(d 0) (d 1) (d 2) (d 3) (d 4) (d 5) (d 6) (d 7) (d 8) (d 9)
    (<= (all ?a ?b ?c ?e ?f ?g ?h) (d ?a) (d ?b) (d ?c) (d ?e) (d ?f) (d ?g) (d ?h) (true start))";
/// Finds none of the 10^7 matches of `all` good enough.
const EXPLODES: &str = "(all ?a ?b ?c ?e ?f ?g ?h) (d (k ?a ?b ?c ?e ?f ?g ?h))";
/// Counts up for ever, in deeper and deeper terms.
const COUNTS: &str = "(num 0) (<= (num (s ?x)) (num ?x))";

#[test]
fn terms_without_end_are_an_error() {
    let limits = Limits { bytes: 64 << 20, steps: 20_000_000 };
    let error = ends_with_an_error("(num ?n) (num (t ?n))", COUNTS, limits);
    let is_limit = matches!(error, ReasonerError::TooMuchMemory(_) | ReasonerError::TooManySteps(_));
    assert!(is_limit, "{error}");
}

#[test]
fn explosions_end_at_the_limits() {
    let steps = ends_with_an_error(EXPLODES, EXPLOSION, Limits { steps: 100_000, ..Limits::default() });
    assert_eq!(steps, ReasonerError::TooManySteps(100_000));
}

#[test]
fn deep_recursion_overflows_without_harm() {
    let chain: String = (0..20_000).map(|i| format!("(s {i} {})", i + 1)).collect();
    // The last condition keeps a frame for each step.
    let clauses = format!("{chain} (<= (up ?x) (s ?x ?y) (up ?y) (s ?x ?y)) (<= (up 20000) (true start))");
    let enough = prolog("(up 0)", &clauses);
    let mut session = enough.session(Limits::default(), &Interrupt::new()).unwrap();
    assert_eq!(legal(&mut session).unwrap(), ["go", "odd"]);
    let error = ends_with_an_error("(up 0)", &clauses, Limits { bytes: 1 << 20, ..Limits::default() });
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
            assert_eq!(legal(&mut session), Err(ReasonerError::Interrupted));
        });
        assert_eq!(legal(&mut session), Err(ReasonerError::Interrupted));
        interrupt.lower();
        answers(&mut session);
    }
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
    let prolog = prolog("both", clauses);
    let mut session = prolog.session(Limits::default(), &Interrupt::new()).unwrap();
    let moves = legal(&mut session).unwrap();
    assert!(moves.contains(&"odd".to_owned()));
    // 0, 1 and 2 reach five nodes each, 3 and 4 two, 5 five.
    assert_eq!(moves.iter().filter(|text| text.starts_with("(to")).count(), 3 * 5 + 2 * 2 + 5);
    let mut tabled = prolog.tabled();
    tabled.sort_unstable();
    assert_eq!(tabled, ["beyond/2", "reach/2"]);
}

#[test]
fn only_the_recursion_that_needs_tables_gets_them() {
    let clauses = "(e 0 1) (e 1 0) (s 0 1) (s 1 2) (s 2 3)
        (<= (reach ?x ?y) (e ?x ?y)) (<= (reach ?x ?z) (reach ?x ?y) (e ?y ?z))
        (<= (up ?x) (s ?x ?y) (up ?y)) (<= (up 3) (true start))";
    let prolog = prolog("(up 0) (reach 0 0) (not (reach 0 2))", clauses);
    let mut session = prolog.session(Limits::default(), &Interrupt::new()).unwrap();
    assert_eq!(legal(&mut session).unwrap(), ["go", "odd"]);
    assert_eq!(prolog.tabled(), ["reach/2"]);
}
