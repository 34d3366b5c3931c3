//! Atoms for tests.

use gdl::Symbol;

use super::clause::{AtomPattern, Condition, Pattern};

/// An atom over variables.
pub(super) fn atom(name: u32, vars: &[u32]) -> AtomPattern {
    AtomPattern::new(Symbol(name), vars.iter().map(|&var| Pattern::Var(var)).collect())
}

/// That it holds.
pub(super) fn holds(name: u32, vars: &[u32]) -> Condition {
    Condition::Holds(atom(name, vars))
}
