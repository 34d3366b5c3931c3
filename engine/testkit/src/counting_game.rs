//! A game written out in Rust, with faults to order: do the checks find them, and only them?
//!
//! One role counts up by one or two from 0. At 3 or 4 the game ends; 3 wins.

use std::sync::Arc;
use std::time::Duration;

use gdl::Term;
use reasoner::{Fluent, GoalAnswer, Interrupt, Limits, Move, Reasoner, ReasonerError, Role, Session};
use serde_json::{Value, json};

use crate::{Agreement, Golden, Mismatch, Outcome, Thoroughness, check_golden, cross_check};
use crate::{hash_text, legal_hash, state_hash};

/// What the reasoner gets wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    Successor,
    Legal,
    Terminal,
    Goal,
    StateOf,
    Expand,
    /// It answers nothing until interrupted.
    Endless,
}

#[derive(Debug)]
struct Counting {
    roles: Vec<Term>,
    fault: Fault,
}

struct CountingSession {
    roles: Vec<Term>,
    fault: Fault,
    interrupt: Interrupt,
}

impl Counting {
    fn new(fault: Fault) -> Arc<Counting> {
        Arc::new(Counting { roles: vec![Term::Name("you".into())], fault })
    }
}

impl Reasoner for Counting {
    type State = u32;
    type Session = CountingSession;

    fn name(&self) -> &'static str {
        "counting"
    }

    fn roles(&self) -> &[Term] {
        &self.roles
    }

    fn session(self: &Arc<Self>, _: Limits, interrupt: &Interrupt) -> Result<CountingSession, ReasonerError> {
        Ok(CountingSession { roles: self.roles.clone(), fault: self.fault, interrupt: interrupt.clone() })
    }
}

impl Session for CountingSession {
    type State = u32;

    fn roles(&self) -> &[Term] {
        &self.roles
    }

    fn initial_state(&mut self) -> Result<u32, ReasonerError> {
        Ok(0)
    }

    fn state_of(&mut self, fluents: &[Term]) -> Result<u32, ReasonerError> {
        let n = fluents[0].args()[0].name().parse().expect("the argument of n is a number");
        Ok(if self.fault == Fault::StateOf { n + 1 } else { n })
    }

    fn is_terminal(&mut self, &state: &u32) -> Result<bool, ReasonerError> {
        if self.fault == Fault::Endless {
            while !self.interrupt.is_raised() {
                std::hint::spin_loop();
            }
            return Err(ReasonerError::Interrupted);
        }
        Ok(state >= if self.fault == Fault::Terminal { 4 } else { 3 })
    }

    fn legal_moves(&mut self, &state: &u32, _: Role, moves: &mut Vec<Move>) -> Result<(), ReasonerError> {
        moves.push(Move(1));
        if self.fault != Fault::Legal || state != 1 {
            moves.push(Move(2));
        }
        Ok(())
    }

    fn next_state(&mut self, state: &u32, joint_move: &[Move]) -> Result<u32, ReasonerError> {
        let wrong = self.fault == Fault::Successor && *state == 1;
        Ok(state + joint_move[0].0 + u32::from(wrong))
    }

    fn goals(&mut self, &state: &u32, goals: &mut Vec<GoalAnswer>) -> Result<(), ReasonerError> {
        let won = (state == 3) != (self.fault == Fault::Goal);
        goals.clear();
        goals.push(GoalAnswer::One(if won { 100 } else { 0 }));
        Ok(())
    }

    fn fluents(&mut self, state: &u32, fluents: &mut Vec<Fluent>) {
        fluents.push(Fluent(*state));
    }

    fn fluent_term(&mut self, fluent: Fluent) -> Term {
        Term::Compound("n".into(), vec![Term::Name(fluent.0.to_string().into())])
    }

    fn move_term(&mut self, a_move: Move) -> Term {
        Term::Compound("add".into(), vec![Term::Name(a_move.0.to_string().into())])
    }

    fn move_of(&mut self, term: &Term) -> Result<Move, ReasonerError> {
        Ok(Move(term.args()[0].name().parse().expect("the argument of add is a number")))
    }

    fn expand(&mut self, state: &u32, expansion: &mut reasoner::Expansion) -> Result<(), ReasonerError> {
        expansion.clear();
        expansion.terminal = self.is_terminal(state)?;
        if expansion.terminal {
            return self.goals(state, &mut expansion.goals);
        }
        self.legal_moves(state, Role(0), &mut expansion.moves)?;
        if self.fault == Fault::Expand {
            expansion.moves.pop();
        }
        expansion.ends.push(expansion.moves.len());
        Ok(())
    }
}

/// The golden file of the game, by hand: 0, 1, 3.
fn golden_json() -> Value {
    let at = |n: u32| hash_text(&format!("(n {n})"));
    let legal = legal_hash(&[vec!["(add 1)", "(add 2)"]]);
    json!({
        "game": "counting", "status": "ok", "cpu_s": 0.0, "roles": ["you"],
        "init": ["(n 0)"], "init_hash": state_hash(&["(n 0)"]), "init_terminal": false,
        "init_goals": ["GoalDefinitionException: 0 values: "],
        "init_legal": {"you": ["(add 1)", "(add 2)"]}, "init_legal_hash": legal,
        "traces": [{
            "steps": [
                {"h": at(0), "n": [2], "l": legal, "m": ["(add 1)"]},
                {"h": at(1), "n": [2], "l": legal, "m": ["(add 2)"]},
            ],
            "final_h": at(3), "final_n": 1, "terminal": true, "goals": [100],
        }],
        // After one move 1 or 2; after two 2, 3, 3 or 4; from 2 on to 3 or 4.
        "perft": [2, 4, 5], "distinct": [2, 3, 2], "distinct_terminal": [0, 2, 2],
    })
}

fn check(fault: Fault, golden: &Value) -> Outcome {
    let golden = serde_json::from_value::<Golden>(golden.clone()).unwrap();
    let budget = match fault {
        Fault::Endless => Duration::from_millis(1),
        _ => Duration::from_secs(3600),
    };
    check_golden(&Counting::new(fault), &golden, Thoroughness { budget, ..Thoroughness::WHOLE })
}

fn difference(outcome: Outcome) -> String {
    match outcome.agreement {
        Agreement::Differs(what) => what,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_right_reasoner_agrees() {
    let outcome = check(Fault::None, &golden_json());
    assert_eq!(outcome.agreement, Agreement::Agree);
    assert_eq!((outcome.done.n_traces, outcome.done.n_levels), (1, 3));
}

#[test]
fn every_fault_of_a_reasoner_is_found_where_it_shows_first() {
    for (fault, place) in [
        (Fault::Successor, "the end of trace 0: the state hash"),
        (Fault::Legal, "trace 0 step 1: the number of legal moves is [1], expected [2]"),
        (Fault::Terminal, "the end of trace 0: terminal is false"),
        (Fault::Goal, "the end of trace 0: the list of goals is [One(0)], expected [One(100)]"),
        (Fault::StateOf, "trace 0 step 0: state_of"),
        (Fault::Expand, "trace 0 step 0: expand's list of moves"),
    ] {
        let what = difference(check(fault, &golden_json()));
        assert!(what.starts_with(place), "{fault:?}: {what}");
    }
}

#[test]
fn every_field_of_a_golden_file_is_compared() {
    let wrong_hash = json!("0000000000000000");
    for (pointer, value) in [
        ("/roles/0", json!("me")),
        ("/init/0", json!("(n 1)")),
        ("/init_hash", wrong_hash.clone()),
        ("/init_terminal", json!(true)),
        ("/init_legal/you", json!(["(add 1)"])),
        ("/init_legal_hash", wrong_hash.clone()),
        ("/traces/0/steps/1/h", wrong_hash.clone()),
        ("/traces/0/steps/1/n/0", json!(3)),
        ("/traces/0/steps/1/l", wrong_hash.clone()),
        ("/traces/0/steps/1/m/0", json!("(add 3)")),
        ("/traces/0/final_h", wrong_hash.clone()),
        ("/traces/0/final_n", json!(2)),
        ("/traces/0/terminal", json!(false)),
        ("/traces/0/goals/0", json!(99)),
        ("/traces/0/goals/0", json!("GoalDefinitionException: 2 values: 0,100")),
        ("/perft/2", json!(6)),
        ("/distinct/1", json!(4)),
        ("/distinct_terminal/2", json!(1)),
    ] {
        let mut golden = golden_json();
        *golden.pointer_mut(pointer).unwrap() = value;
        let outcome = check(Fault::None, &golden);
        assert!(matches!(outcome.agreement, Agreement::Differs(_)), "{pointer}: {outcome:?}");
    }
}

#[test]
fn goals_before_the_end_are_not_demanded() {
    let mut golden = golden_json();
    golden["init_goals"] = json!([50]);
    assert_eq!(check(Fault::None, &golden).agreement, Agreement::Agree);
}

#[test]
fn a_trace_that_the_reference_did_not_finish_is_replayed_as_far_as_it_goes() {
    let mut golden = golden_json();
    golden["traces"][0] = json!({
        "steps": golden["traces"][0]["steps"], "capped": true, "cap_reason": "hard time-out",
    });
    assert_eq!(check(Fault::None, &golden).agreement, Agreement::Agree);
}

#[test]
fn a_reasoner_that_does_not_answer_is_slow() {
    let outcome = check(Fault::Endless, &golden_json());
    assert_eq!(outcome.agreement, Agreement::Slow("initial state".into()));
}

#[test]
fn equal_reasoners_cross_check_and_different_ones_do_not() {
    let right = Counting::new(Fault::None);
    assert!(cross_check(&right, &Counting::new(Fault::None), 1, 100).unwrap() > 100);
    for fault in [Fault::Successor, Fault::Legal, Fault::Terminal, Fault::Goal] {
        let answer = cross_check(&right, &Counting::new(fault), 1, 100);
        assert!(matches!(answer, Err(Mismatch::Differs(_))), "{fault:?}");
    }
}
