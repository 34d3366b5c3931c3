//! Nets for tests.

use std::sync::Arc;

use gdl::{Description, ReadOptions, Rules};
use reasoner_native::{Budget, Interpreter, Netlist};

use crate::solver::Limits;
use crate::unrolling::Truth;

/// Without limits, but for memory that no test takes.
pub(crate) const FREE: Limits<'static> = Limits { bytes: 1 << 30, go_on: &|| true };

/// The net of a rulesheet.
pub(crate) fn of_text(text: &str) -> Netlist {
    let description = Description::read(text, ReadOptions::default()).expect("rules");
    let rules = Rules::from_description(&description).expect("rules");
    let interpreter = Arc::new(Interpreter::new(Arc::new(rules)).expect("rules"));
    Netlist::new(&interpreter, &Budget::default()).expect("a circuit")
}

/// The net of a shipped game.
pub(crate) fn shipped(name: &str) -> Netlist {
    of_text(games::find(name).expect("a shipped game").text)
}

/// The fluents of the initial state.
pub(crate) fn start(netlist: &Netlist) -> Vec<Truth> {
    netlist.fluents().iter().map(|fluent| Truth::Known(fluent.is_initial)).collect()
}

/// A walk between three places that never ends.
pub(crate) const ENDLESS: &str = "(role one) (init (at 0)) (way 0 1) (way 1 2) (way 2 0) (way 0 2)
    (<= (legal one (go ?to)) (true (at ?from)) (way ?from ?to))
    (<= (next (at ?to)) (does one (go ?to)))
    (<= terminal (true (at 0)) (true (at 9)))
    (<= (goal one 100) (true (at 2)))
    (<= (goal one 0) (not (true (at 2))))";
