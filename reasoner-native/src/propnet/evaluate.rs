//! Evaluating gates in lanes.

use super::circuit::{Block, Circuit, Cone, Run, Tap};
use super::kernel::{self, Place};
use super::lanes::Lanes;

/// The values of all wires, in lanes.
#[derive(Debug)]
pub(super) struct Wires<L>(Vec<L>);

impl<L: Lanes> Wires<L> {
    /// All false, in every lane.
    pub(super) fn new(n_wires: usize) -> Wires<L> {
        Wires(vec![L::NONE; n_wires])
    }

    /// The value of a tap.
    #[inline(always)]
    pub(super) fn tap(&self, tap: Tap) -> L {
        self.0[tap.wire()].not_if(tap.is_negated())
    }

    /// All of them.
    #[inline(always)]
    pub(super) fn all(&self) -> &[L] {
        &self.0
    }

    /// All of them.
    #[inline(always)]
    pub(super) fn all_mut(&mut self) -> &mut [L] {
        &mut self.0
    }

    /// The wires from `first` on.
    #[inline(always)]
    pub(super) fn range_mut(&mut self, first: usize, n: usize) -> &mut [L] {
        &mut self.0[first..first + n]
    }

    /// Evaluates the gates of a cone.
    #[inline(always)]
    pub(super) fn evaluate(&mut self, circuit: &Circuit, inputs: &[Place], cone: Cone) {
        for block in circuit.cone(cone) {
            match block {
                Block::Straight(runs) => self.straight(inputs, runs),
                Block::Loop { runs, values } => self.fixed_point(inputs, runs, values),
            }
        }
    }

    #[inline(always)]
    fn straight(&mut self, inputs: &[Place], runs: &[Run]) {
        for run in runs {
            kernel::evaluate_run(&mut self.0, inputs, run);
        }
    }

    /// Values only grow, so that there are at most as many rounds as values, and one more.
    fn fixed_point(&mut self, inputs: &[Place], runs: &[Run], values: &[(usize, Tap)]) {
        values.iter().for_each(|&(wire, _)| self.0[wire] = L::NONE);
        let mut is_changed = true;
        while is_changed {
            self.straight(inputs, runs);
            is_changed = false;
            for &(wire, definition) in values {
                let value = self.tap(definition);
                is_changed |= value != self.0[wire];
                self.0[wire] = value;
            }
        }
    }
}
