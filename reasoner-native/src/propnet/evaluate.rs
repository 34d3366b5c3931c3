//! Evaluating gates in lanes.

use super::circuit::{Block, Circuit, Cone, Run, Tap};
use super::kernel::{self, Place, Task};
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

    /// Evaluates the gates of a cone, whose inputs are at these places.
    #[inline(always)]
    pub(super) fn evaluate(&mut self, circuit: &Circuit, inputs: &[Place], cone: Cone) {
        let blocks = circuit.cone(cone);
        if !blocks.is_empty() {
            kernel::with(Evaluation { wires: &mut self.0, inputs, blocks });
        }
    }
}

/// Blocks to be evaluated. This is compiled by itself, since it is large and needed at many places.
struct Evaluation<'a, L> {
    wires: &'a mut [L],
    inputs: &'a [Place],
    blocks: &'a [Block],
}

impl<L: Lanes> Task for Evaluation<'_, L> {
    type Lanes = L;
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        for block in self.blocks {
            match block {
                Block::Straight(runs) => self.straight(runs),
                Block::Loop { runs, values } => self.fixed_point(runs, values),
            }
        }
    }
}

impl<L: Lanes> Evaluation<'_, L> {
    #[inline(always)]
    fn straight(&mut self, runs: &[Run]) {
        for run in runs {
            kernel::evaluate_run(self.wires, self.inputs, run);
        }
    }

    /// Values only grow, so that there are at most as many rounds as values, and one more.
    #[inline(always)]
    fn fixed_point(&mut self, runs: &[Run], values: &[(usize, Tap)]) {
        for &(wire, _) in values {
            self.wires[wire] = L::NONE;
        }
        let mut is_changed = true;
        while is_changed {
            self.straight(runs);
            is_changed = false;
            for &(wire, definition) in values {
                let value = self.wires[definition.wire()].not_if(definition.is_negated());
                is_changed |= value != self.wires[wire];
                self.wires[wire] = value;
            }
        }
    }
}
