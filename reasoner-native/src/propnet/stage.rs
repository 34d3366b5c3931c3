//! A circuit made ready for lanes of one width.

use super::choose::Chooser;
use super::circuit::Circuit;
use super::kernel::{Changes, Places};
use super::lanes::Lanes;

/// What evaluating a circuit in lanes needs beside it.
#[derive(Debug)]
pub(super) struct Stage<L> {
    /// The inputs of gates, as in the circuit.
    pub(super) inputs: Places<L>,
    pub(super) choosers: Vec<Chooser<L>>,
    pub(super) changes: Changes<L>,
}

impl<L: Lanes> Stage<L> {
    /// That of a circuit; `of_goals` are the bases that goals depend on, there or in other circuits of its course.
    pub(super) fn new(circuit: &Circuit, of_goals: &[bool]) -> Stage<L> {
        Stage {
            inputs: Places::of(circuit.inputs.iter().map(|&wire| wire as usize), circuit.n_wires),
            choosers: Chooser::all_of(circuit),
            changes: Changes::of(circuit, of_goals),
        }
    }
}
