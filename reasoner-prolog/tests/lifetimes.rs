//! Reasoners and sessions come and go, in many threads, and leave nothing behind.

#![cfg(feature = "prolog")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::Arc;

use gdl::{Description, ReadOptions, Rules, Term};
use reasoner::{Dice, GoalAnswer, Interrupt, Limits, Move, Reasoner, Role, Session};
use reasoner_prolog::{Prolog, PrologSession, Update};

fn prolog(text: &str) -> Arc<Prolog> {
    let description = Description::read(text, ReadOptions::default()).unwrap();
    let rules = Rules::from_description(&description).unwrap();
    Arc::new(Prolog::new(Arc::new(rules), Update::Difference).unwrap())
}

fn session(prolog: &Arc<Prolog>) -> PrologSession {
    prolog.session(Limits::default(), &Interrupt::new()).unwrap()
}

/// A game of four steps in which `path` says that the end is near.
fn steps(path: &str) -> String {
    format!(
        "(role you) (init (at 0)) (s 0 1) (s 1 2) (s 2 3) (s 3 4) (legal you go) (legal you stay)
         (<= (next (at ?y)) (true (at ?x)) (s ?x ?y) (does you go))
         (<= (next (at ?x)) (true (at ?x)) (does you stay))
         {path} (<= terminal (path 4)) (goal you 100)"
    )
}

/// Left recursion from where the role is: needs tables.
const LOOPS: &str = "(<= (path ?x) (true (at ?x))) (<= (path ?y) (path ?x) (s ?y ?x) (distinct ?x ?x))
    (<= (path ?x) (path ?x))";
/// The same relation without recursion.
const PLAIN: &str = "(<= (path ?x) (true (at ?x)))";

/// Steps until the end, by always going.
fn length(session: &mut PrologSession) -> u32 {
    let go = session.move_of(&Term::Name("go".into())).unwrap();
    let mut state = session.initial_state().unwrap();
    let mut n_steps = 0;
    while !session.is_terminal(&state).unwrap() {
        state = session.next_state(&state, &[go]).unwrap();
        n_steps += 1;
        assert!(n_steps < 100, "the end is never seen");
    }
    n_steps
}

#[test]
fn tables_of_earlier_rules_answer_nothing() {
    for _ in 0..3 {
        let looping = prolog(&steps(LOOPS));
        assert_eq!(length(&mut session(&looping)), 4);
        assert_eq!(looping.tabled(), ["path/1"]);
        drop(looping);
        let plain = prolog(&steps(PLAIN));
        assert_eq!(length(&mut session(&plain)), 4);
        assert_eq!(plain.tabled(), [""; 0]);
    }
}

#[test]
fn sessions_of_one_thread_share_their_facts_without_harm() {
    let prolog = prolog(&steps(PLAIN));
    let (mut a, mut b) = (session(&prolog), session(&prolog));
    let go = a.move_of(&Term::Name("go".into())).unwrap();
    let start = a.initial_state().unwrap();
    let mut far = start.clone();
    for _ in 0..4 {
        far = a.next_state(&far, &[go]).unwrap();
    }
    for _ in 0..3 {
        assert!(!a.is_terminal(&start).unwrap());
        assert!(b.is_terminal(&far).unwrap());
        assert_eq!(b.next_state(&start, &[go]).unwrap(), a.next_state(&start, &[go]).unwrap());
    }
    drop(a);
    assert!(!b.is_terminal(&start).unwrap());
}

/// Plays random games; gives the fluents of their ends as texts.
fn walk(prolog: &Arc<Prolog>, seed: u64, n_games: u64) -> Vec<String> {
    let mut session = session(prolog);
    let mut ends = Vec::new();
    for game in 0..n_games {
        let mut dice = Dice::new(Dice::child_seed(seed, game));
        let mut state = session.initial_state().unwrap();
        while !session.is_terminal(&state).unwrap() {
            let mut moves: Vec<Move> = Vec::new();
            session.legal_moves(&state, Role(0), &mut moves).unwrap();
            let mut moves: Vec<_> = moves.iter().map(|&it| (session.move_term(it).to_string(), it)).collect();
            moves.sort_unstable();
            state = session.next_state(&state, &[moves[dice.below(moves.len())].1]).unwrap();
        }
        let mut goals = Vec::new();
        session.goals(&state, &mut goals).unwrap();
        assert_eq!(goals, [GoalAnswer::One(100)]);
        let mut fluents = Vec::new();
        session.fluents(&state, &mut fluents);
        let mut texts: Vec<_> = fluents.iter().map(|&it| session.fluent_term(it).to_string()).collect();
        texts.sort_unstable();
        ends.push(texts.join(" "));
    }
    ends
}

#[test]
fn threads_agree() {
    // The moves made are part of the state, so that the ends differ.
    let text = "(role you) (init (made 0)) (legal you a) (legal you b)
        (<= (next (made (f ?x ?m))) (true (made ?x)) (does you ?m))
        (<= terminal (true (made (f (f (f (f (f 0 ?a) ?b) ?c) ?d) ?e)))) (goal you 100)";
    let prolog = prolog(text);
    let expected = walk(&prolog, 7, 20);
    for n_threads in [2, 16] {
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..n_threads).map(|_| scope.spawn(|| walk(&prolog, 7, 20))).collect();
            for thread in threads {
                assert_eq!(thread.join().unwrap(), expected);
            }
        });
    }
}

#[test]
fn answers_that_no_state_changes_become_facts() {
    let rules = |way: &str| {
        format!(
            "(role you) (init (at 0)) (s 0 1) (s 1 2) (s 2 0) {way} (<= (loop ?x) (loop ?x)) (<= (loop ?x) (s ?x ?y))
             (<= (pair ?x ?y) (s ?x ?a) (s ?y ?b)) (<= (free ?x ?y) (s ?x ?z))
             (<= (legal you (go ?y)) (true (at ?x)) (way ?x ?y) (pair ?x ?y) (loop ?x) (free ?x 7))
             (<= (next (at ?y)) (does you (go ?y))) (<= terminal (true (at 2))) (goal you 100)"
        )
    };
    // One way forward, then one back: what was listed for the first rules must not answer for the second.
    for (way, expected) in [("(<= (way ?x ?y) (s ?x ?y))", "1"), ("(<= (way ?x ?y) (s ?y ?x))", "2")] {
        let prolog = prolog(&rules(way));
        let mut session = session(&prolog);
        let state = session.initial_state().unwrap();
        let mut moves = Vec::new();
        session.legal_moves(&state, Role(0), &mut moves).unwrap();
        let texts: Vec<_> = moves.iter().map(|&it| session.move_term(it).to_string()).collect();
        assert_eq!(texts, [format!("(go {expected})")]);
        let n_answers: Vec<_> = prolog.choices().listed.values().map(Vec::len).collect();
        assert_eq!(n_answers, [3, 9], "way and pair, but neither what loops nor what has variables");
    }
}
