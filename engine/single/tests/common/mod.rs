//! Games and searches of the tests.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(dead_code, reason = "each test file uses some")]

use std::sync::Arc;

use gdl::{Description, ReadOptions, Rules};
use reasoner::{Interrupt, Limits, Reasoner, Session};
use reasoner_native::{Evaluation, Interpreter, Propnet};
use sat::Netlist;
use search::{Budget, Options};
use single::{Outsiders, Report, Searcher};

pub fn interpreter(text: &str) -> Arc<Interpreter> {
    let description = Description::read(text, ReadOptions::default()).unwrap();
    Arc::new(Interpreter::new(Arc::new(Rules::from_description(&description).unwrap())).unwrap())
}

pub fn shipped(name: &str) -> Arc<Interpreter> {
    interpreter(games::find(name).unwrap().text)
}

pub fn propnet(interpreter: &Arc<Interpreter>) -> Arc<Propnet> {
    let budget = reasoner_native::Budget::default();
    Arc::new(Propnet::new(interpreter, &budget, Evaluation::Sliced).unwrap())
}

pub fn options(threads: usize) -> Options {
    Options { threads, seed: Some(7), max_bytes: 64 << 20, ..Options::default() }
}

pub fn playouts(playouts: u64) -> Budget {
    Budget { playouts: Some(playouts), ..Budget::default() }
}

pub fn search<R: Reasoner>(reasoner: &Arc<R>, system: &str, options: &Options, budget: &Budget) -> Report {
    search_with(&Outsiders::default(), reasoner, system, options, budget)
}

/// What else there is for the rules of an interpreter.
pub fn outsiders(interpreter: &Interpreter) -> Outsiders {
    let (for_states, for_plans) = (Arc::clone(interpreter.rules()), Arc::clone(interpreter.rules()));
    Outsiders::new(
        move |interrupt| Interpreter::until(Arc::clone(&for_states), interrupt),
        move |interrupt| {
            let interpreter = Arc::new(Interpreter::until(Arc::clone(&for_plans), interrupt)?);
            Netlist::new(&interpreter, &reasoner_native::Budget::default())
        },
    )
}

pub fn search_with<R: Reasoner>(
    outsiders: &Outsiders,
    reasoner: &Arc<R>,
    system: &str,
    options: &Options,
    budget: &Budget,
) -> Report {
    let system = system.parse().unwrap();
    let mut searcher = Searcher::with_outsiders(reasoner, system, options, outsiders).unwrap();
    let mut session = reasoner.session(Limits::default(), &Interrupt::new()).unwrap();
    searcher.set_root(&session.initial_state().unwrap());
    searcher.run(budget, &Interrupt::new(), &mut |_| {}).unwrap()
}

/// The goal at the end of a line, played from the initial state.
pub fn play<R: Reasoner>(reasoner: &Arc<R>, moves: &[reasoner::Move]) -> Option<u32> {
    let mut session = reasoner.session(Limits::default(), &Interrupt::new()).unwrap();
    let mut state = session.initial_state().unwrap();
    for &a_move in moves {
        let mut legal = Vec::new();
        session.legal_moves(&state, reasoner::Role(0), &mut legal).unwrap();
        assert!(legal.contains(&a_move), "an illegal move in the line");
        state = session.next_state(&state, &[a_move]).unwrap();
    }
    let mut goals = Vec::new();
    session.goals(&state, &mut goals).unwrap();
    session.is_terminal(&state).unwrap().then(|| goals[0].at_end().unwrap())
}
