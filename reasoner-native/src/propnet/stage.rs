//! A circuit made ready for lanes of one width.

use super::choose::Chooser;
use super::circuit::Circuit;
use super::kernel::{Changes, Place};
use super::lanes::Lanes;

/// What evaluating a circuit in lanes needs beside it.
#[derive(Debug)]
pub(super) struct Stage<L> {
    /// The inputs of gates, as in the circuit.
    pub(super) inputs: Vec<Place>,
    pub(super) choosers: Vec<Chooser<L>>,
    pub(super) changes: Changes<L>,
}

impl<L: Lanes> Stage<L> {
    pub(super) fn new(circuit: &Circuit) -> Stage<L> {
        Stage {
            inputs: circuit.inputs.iter().map(|&wire| Place::of::<L>(wire as usize)).collect(),
            choosers: Chooser::all_of(circuit),
            changes: Changes::of(circuit),
        }
    }
}
