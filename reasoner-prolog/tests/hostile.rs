//! Rules and callers that nobody should write: answered, or refused with an error, and never a crash of Prolog or of
//! the process.

#![cfg(feature = "prolog")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::cell::RefCell;
use std::fmt::Write;
use std::sync::Arc;

use gdl::{Description, ReadOptions, Rules};
use reasoner::{Interrupt, Limits, Reasoner, ReasonerError, Rollouts, Session};
use reasoner_prolog::{Prolog, PrologSession, Update};
use testkit::odd_game::{EXPLODES, EXPLOSION, demand_error, demand_rest, odd_game, odd_moves};

fn load(text: &str) -> Result<Arc<Prolog>, ReasonerError> {
    let description = Description::read(text, ReadOptions::default()).unwrap();
    Prolog::new(Arc::new(Rules::from_description(&description).unwrap()), Update::Difference).map(Arc::new)
}

fn session(prolog: &Arc<Prolog>) -> PrologSession {
    prolog.session(Limits::default(), &Interrupt::new()).unwrap()
}

/// `c0 c1 c2 ...`
fn list(name: &str, n: usize) -> String {
    (0..n).fold(String::new(), |mut text, idx| {
        _ = write!(text, " {name}{idx}");
        text
    })
}

/// A game that ends when a fluent of `n` arguments is true, which is asked before it is.
fn wide(n: usize) -> String {
    let constants = list("c", n);
    format!(
        "(role you) (init a) (legal you go) (<= (next (b {constants})) (does you go))
         (<= terminal (true (b {constants}))) (goal you 100)"
    )
}

#[test]
fn more_arguments_than_prolog_survives_are_refused() {
    // With 400, Prolog writes past its stack as soon as it finds no fact; 1025 are more than it takes.
    for n in [121, 400, 1000, 1024, 1025, 70_000] {
        for text in
            [wide(n), format!("{} (big{}) (<= (next x) (big{}))", wide(1), list("c", n), list("?v", n))]
        {
            let error = load(&text).unwrap_err();
            assert!(matches!(&error, ReasonerError::NotGrounded(_)), "{n}: {error}");
            assert!(error.to_string().contains("more than the 120 arguments"), "{n}: {error}");
        }
    }
    for n in [0, 1, 100, 120] {
        let prolog = load(&wide(n)).unwrap();
        let mut session = session(&prolog);
        let root = session.initial_state().unwrap();
        for seed in 0..200 {
            session.rollouts(std::slice::from_ref(&root), &[seed], &mut Rollouts::default()).unwrap();
        }
    }
}

#[test]
fn a_move_may_have_any_number_of_arguments() {
    let (constants, variables) = (list("c", 5000), list("?v", 5000));
    let text = format!(
        "(role you) (init (at a)) (<= (legal you (go {constants})) (true (at a)))
         (<= (next (at (b {variables}))) (does you (go {variables})))
         (<= terminal (true (at (b {constants})))) (goal you 100)"
    );
    let prolog = load(&text).unwrap();
    let mut session = session(&prolog);
    let root = session.initial_state().unwrap();
    let mut ends = Rollouts::default();
    session.rollouts(&[root], &[1], &mut ends).unwrap();
    assert_eq!(ends.goals(0), [100]);
}

/// `big n` holds for a term that is written with 2^n names, of which Prolog keeps one copy each.
fn doubling(condition: &str) -> String {
    let numbers: String = (0..60).map(|n| format!("(succ {n} {})", n + 1)).collect();
    format!(
        "{numbers} (zero 0) (<= (big 0 z) {condition})
         (<= (big ?n (f ?x ?x)) (succ ?m ?n) (big ?m ?x))"
    )
}

#[test]
fn terms_that_are_too_long_to_write_out_are_an_error() {
    let many = |error: ReasonerError| assert!(matches!(error, ReasonerError::TooMuchMemory(_)), "{error}");
    for condition in ["(zero 0)", "(true start)"] {
        let clauses = format!("{} (<= (legal you ?x) (big 60 ?x))", doubling(condition));
        many(demand_error(
            &Arc::new(Prolog::new(odd_game("e", &clauses), Update::Difference).unwrap()),
            Limits::default(),
        ));
        // As long as nobody wants to see them, they do no harm.
        let clauses = format!(
            "{} (<= e (big 60 ?x) (big 60 ?y) (not (other ?x ?y))) (<= (other ?x ?y) (distinct ?x ?y))",
            doubling(condition)
        );
        let prolog = Arc::new(Prolog::new(odd_game("e", &clauses), Update::Difference).unwrap());
        assert_eq!(odd_moves(&mut session(&prolog)).unwrap(), ["go", "odd"]);
    }
}

#[test]
fn states_that_double_in_every_step_end_with_an_error() {
    let prolog = load(
        "(role you) (init (n z)) (legal you go) (<= (next (n (f ?x ?x))) (true (n ?x)) (does you go))
         (<= terminal (true end)) (goal you 0)",
    )
    .unwrap();
    let mut session = session(&prolog);
    let mut state = session.initial_state().unwrap();
    let go = session.move_of(&gdl::Term::Name("go".into())).unwrap();
    let error = loop {
        match session.next_state(&state, &[go]) {
            Ok(next) => state = next,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, ReasonerError::TooMuchMemory(_)), "{error}");
    assert_eq!(session.is_terminal(&state), Ok(false));
}

#[test]
fn terms_nest_as_deeply_as_text_may() {
    let deep = |n: usize| format!("{}z{}", "(s ".repeat(n), ")".repeat(n));
    let n = gdl::MAX_DEPTH - 10;
    for clauses in [
        format!("(<= (deep {}) (true start)) (<= (legal you ?x) (deep ?x))", deep(n)),
        // A relation that could be listed.
        format!("(one 1) (<= (deep {}) (one 1)) (<= (legal you ?x) (deep ?x))", deep(n)),
    ] {
        let prolog = Arc::new(Prolog::new(odd_game("e", &clauses), Update::Difference).unwrap());
        assert_eq!(odd_moves(&mut session(&prolog)).unwrap(), [deep(n), "go".to_owned()]);
    }
}

#[test]
fn there_may_be_thousands_of_roles() {
    let n_roles = 20_000;
    let rules = (0..n_roles).fold(String::new(), |mut text, idx| {
        _ = write!(text, "(role r{idx}) (<= (next (by {idx})) (does r{idx} go)) ");
        text
    });
    let text = format!(
        "{rules} (init start) (<= (legal ?r go) (role ?r)) (<= (next (moved ?r)) (does ?r go))
         (<= terminal (true (by 0))) (<= (goal ?r 50) (role ?r))"
    );
    let prolog = load(&text).unwrap();
    let mut session = session(&prolog);
    let root = session.initial_state().unwrap();
    let go = session.move_of(&gdl::Term::Name("go".into())).unwrap();
    let next = session.next_state(&root, &vec![go; n_roles]).unwrap();
    let mut fluents = Vec::new();
    session.fluents(&next, &mut fluents);
    assert_eq!(fluents.len(), 2 * n_roles);
    assert_eq!(session.is_terminal(&next), Ok(true));
}

#[test]
fn set_up_ends_however_many_relations_there_are() {
    // Each takes all the inferences that listing one relation may take.
    let relations: String = (0..3000)
        .map(|idx| format!("(<= (s{idx} ?x) (d ?x) (d ?y) (d ?z) (d ?u) (d ?v) (d ?w) (d q)) (<= (legal you ?x) (true x) (s{idx} ?x))"))
        .collect();
    let loops: String = (0..300).fold(String::new(), |mut text, idx| {
        _ = write!(text, "(<= (l{idx} ?x) (l{idx} ?x)) (<= (l{idx} 1) (true start)) ");
        text
    });
    let all: String = (0..300).map(|idx| format!("(l{idx} 1)")).collect();
    let prolog = Arc::new(
        Prolog::new(odd_game(&all, &format!("{EXPLOSION} {relations} {loops}")), Update::Difference).unwrap(),
    );
    assert_eq!(odd_moves(&mut session(&prolog)).unwrap(), ["go", "odd"]);
    assert_eq!(prolog.tabled().len(), 300, "all at once");
}

#[test]
fn limits_of_one_session_are_not_those_of_what_follows() {
    let small = Arc::new(Prolog::new(odd_game("e", ""), Update::Difference).unwrap());
    for bytes in [0, 1, 1 << 20, u64::MAX] {
        let mut limited = small.session(Limits { bytes, steps: u64::MAX }, &Interrupt::new()).unwrap();
        assert_eq!(odd_moves(&mut limited).unwrap(), ["go"]);
        demand_rest(&mut limited);
        // Rules of some megabytes, loaded by the same thread.
        let facts: String = (0..100_000).map(|n| format!("(fact {n} {})", n + 1)).collect();
        let large = Arc::new(Prolog::new(odd_game("(fact 7 8)", &facts), Update::Difference).unwrap());
        assert_eq!(odd_moves(&mut session(&large)).unwrap(), ["go", "odd"]);
        demand_rest(&mut limited);
    }
    let explodes = Arc::new(Prolog::new(odd_game(EXPLODES, EXPLOSION), Update::Difference).unwrap());
    for steps in [0, 1] {
        let mut limited = explodes.session(Limits { steps, ..Limits::default() }, &Interrupt::new()).unwrap();
        assert_eq!(odd_moves(&mut limited), Err(ReasonerError::TooManySteps(steps)));
        demand_rest(&mut session(&explodes));
    }
}

thread_local! {
    /// Dropped when the thread ends, after Prolog's own variables of the thread.
    static LEFT: RefCell<Vec<(PrologSession, Arc<Prolog>)>> = const { RefCell::new(Vec::new()) };
}

#[test]
fn sessions_may_end_with_their_thread() {
    for _ in 0..20 {
        let ended = std::thread::spawn(|| {
            LEFT.with_borrow_mut(|left| {
                let prolog = load(&wide(3)).unwrap();
                let mut session = session(&prolog);
                session.initial_state().unwrap();
                left.push((session, prolog));
            });
        });
        ended.join().unwrap();
    }
    demand_rest(&mut session(&Arc::new(Prolog::new(odd_game("e", ""), Update::Difference).unwrap())));
}
