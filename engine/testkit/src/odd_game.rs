//! A game with one hard condition, for tests of limits.
//!
//! In go a condition and what it needs, out comes a game of one step whose move `go` is legal in any case, and `odd`
//! where the condition holds. A reasoner that cannot answer the condition must say so and answer the rest.

use std::sync::Arc;

use gdl::{Description, ReadOptions, Rules, Term};
use reasoner::{Interrupt, Limits, Reasoner, ReasonerError, Role, Session};

/// Ten digits, and `all`, which holds for all 10^7 numbers of seven of them.
pub const EXPLOSION: &str = "(d 0) (d 1) (d 2) (d 3) (d 4) (d 5) (d 6) (d 7) (d 8) (d 9)
    (<= (all ?a ?b ?c ?e ?f ?g ?h) (d ?a) (d ?b) (d ?c) (d ?e) (d ?f) (d ?g) (d ?h) (true start))";

/// Finds none of the 10^7 answers of `all` good enough.
pub const EXPLODES: &str = "(all ?a ?b ?c ?e ?f ?g ?h) (d (k ?a ?b ?c ?e ?f ?g ?h))";

/// Counts up for ever, in deeper and deeper terms.
pub const COUNTS: &str = "(num 0) (<= (num (s ?x)) (num ?x))";

/// Never holds, after all of [`COUNTS`].
pub const COUNTED: &str = "(num ?n) (num (t ?n))";

/// Mutual recursion around two cycles joined by one edge: 0 -> 1 -> 2 -> 0, 2 -> 3 -> 4 -> 3.
const CYCLES: &str = "(e 0 1) (e 1 2) (e 2 0) (e 2 3) (e 3 4) (e 4 3) (e 5 0)
    (<= (reach ?x ?y) (e ?x ?y) (true start))
    (<= (reach ?x ?z) (beyond ?x ?y) (e ?y ?z))
    (<= (beyond ?x ?y) (reach ?x ?y))
    (<= both (reach 0 4) (reach 0 0) (not (reach 3 0)) (not (reach 4 5)) (reach 5 4))
    (<= (legal you (to ?x ?y)) (reach ?x ?y))";

/// The rules of the game.
///
/// # Panics
/// If `condition` and `clauses` make no rules.
pub fn odd_game(condition: &str, clauses: &str) -> Arc<Rules> {
    let text = format!(
        "(role you) (init start) (legal you go) (<= (legal you odd) {condition}) {clauses}
         (<= (next (made ?m)) (does you ?m)) (<= terminal (true (made ?m))) (goal you 100)"
    );
    let description = Description::read(&text, ReadOptions::default()).expect("the text is KIF");
    Arc::new(Rules::from_description(&description).expect("the statements are rules"))
}

/// The moves at the start, as sorted texts.
///
/// # Errors
/// As the session.
pub fn odd_moves<S: Session>(session: &mut S) -> Result<Vec<String>, ReasonerError> {
    let state = session.initial_state()?;
    let mut moves = Vec::new();
    session.legal_moves(&state, Role(0), &mut moves)?;
    let mut texts: Vec<_> = moves.into_iter().map(|a_move| session.move_term(a_move).to_string()).collect();
    texts.sort_unstable();
    Ok(texts)
}

/// Demands the answers that do not depend on the condition.
///
/// # Panics
/// If the session does not give them.
pub fn demand_rest<S: Session>(session: &mut S) {
    let state = session.initial_state().expect("the start is easy");
    assert_eq!(session.is_terminal(&state), Ok(false));
    let go = session.move_of(&Term::Name("go".into())).expect("the move is known");
    let next = session.next_state(&state, &[go]).expect("the move is easy");
    assert_eq!(session.is_terminal(&next), Ok(true));
}

/// Asks for the moves, which cannot be answered, then what can, twice; gives why the moves cannot be.
///
/// # Panics
/// If the moves are answered, the rest is not, or the second time differs from the first.
pub fn demand_error<R: Reasoner>(reasoner: &Arc<R>, limits: Limits) -> ReasonerError {
    let mut session = reasoner.session(limits, &Interrupt::new()).expect("a session is easy");
    let error = odd_moves(&mut session).expect_err("the condition is too hard");
    demand_rest(&mut session);
    assert_eq!(odd_moves(&mut session).as_ref(), Err(&error));
    demand_rest(&mut session);
    error
}

/// Demands that recursion on cycles reaches its least fixed point; gives the reasoner.
///
/// # Panics
/// If it does not.
pub fn demand_fixed_point<R: Reasoner>(make: impl FnOnce(Arc<Rules>) -> Result<R, ReasonerError>) -> Arc<R> {
    let reasoner = Arc::new(make(odd_game("both", CYCLES)).expect("the rules are rules"));
    let mut session = reasoner.session(Limits::default(), &Interrupt::new()).expect("a session is easy");
    let moves = odd_moves(&mut session).expect("the cycles are small");
    assert!(moves.contains(&"odd".to_owned()), "{moves:?}");
    // 0, 1 and 2 reach five nodes each, 3 and 4 two, 5 five.
    let n_pairs = moves.iter().filter(|text| text.starts_with("(to")).count();
    assert_eq!(n_pairs, 3 * 5 + 2 * 2 + 5);
    reasoner
}

/// Demands the same initial state whatever was asked before, though rules let it depend on the state.
///
/// # Panics
/// If it changes.
pub fn demand_same_start<R: Reasoner>(make: impl FnOnce(Arc<Rules>) -> Result<R, ReasonerError>) {
    let rules = odd_game("e", "(<= (init (after ?m)) (true (made ?m))) (<= (init (again ?f)) (true ?f))");
    let reasoner = Arc::new(make(rules).expect("the rules are rules"));
    let mut session = reasoner.session(Limits::default(), &Interrupt::new()).expect("a session is easy");
    let start = session.initial_state().expect("the start is easy");
    demand_rest(&mut session);
    assert_eq!(session.initial_state().as_ref(), Ok(&start));
    let mut fluents = Vec::new();
    session.fluents(&start, &mut fluents);
    assert_eq!(fluents.len(), 1, "nothing is true before the start");
}

/// Demands that a joint move with too few or too many moves is an error, after which the session answers.
///
/// # Panics
/// If it is not.
pub fn demand_joint_moves<S: Session>(session: &mut S) {
    let state = session.initial_state().expect("the start is easy");
    let n_roles = session.roles().len();
    let go = session.move_of(&Term::Name("go".into())).expect("the move is known");
    for given in [0, n_roles + 1, n_roles + 7] {
        let error = session.next_state(&state, &vec![go; given]);
        assert_eq!(error, Err(ReasonerError::JointMove { given, n_roles }));
    }
    demand_rest(session);
}
