//! Evaluating gates in lanes.

use super::circuit::{Block, Circuit, Cone, Run, Tap};
use super::kernel::{self, Places, Task};
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

    /// Evaluates the gates of a cone, whose inputs stand at these places.
    #[inline(always)]
    pub(super) fn evaluate(&mut self, circuit: &Circuit, inputs: &Places<L>, cone: Cone) {
        let blocks = circuit.cone(cone);
        if !blocks.is_empty() {
            kernel::with(Evaluation { wires: &mut self.0, inputs, blocks });
        }
    }
}

/// Blocks to be evaluated. This is compiled by itself, since it is large and needed at many places.
struct Evaluation<'a, L> {
    wires: &'a mut [L],
    inputs: &'a Places<L>,
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

#[cfg(test)]
mod tests {
    use super::super::circuit::Shape;
    use super::super::lanes::Lanes64;
    use super::*;

    #[test]
    #[should_panic(expected = "gates read wires of their circuit")]
    fn no_gate_reads_what_is_no_wire() {
        Places::<Lanes64>::of([0, 3].into_iter(), 3);
    }

    #[test]
    #[should_panic(expected = "the inputs have wires")]
    fn no_gate_is_evaluated_in_too_few_wires() {
        let shape = Shape { n_plain: 1, ..Shape::default() };
        let run = Run { shape, n_gates: 1, first_wire: 1, first_input: 0 };
        let inputs = Places::<Lanes64>::of([2].into_iter(), 3);
        kernel::evaluate_run(&mut [Lanes64::NONE; 2], &inputs, &run);
    }
}
