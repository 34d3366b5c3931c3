//! One state at a time: the plain evaluation that everything else must agree with.

use reasoner::GoalAnswer;

use super::circuit::{Block, Circuit, Cone, PARTS, Run, Shape, Tap};
use super::state::BitState;

/// The values of all wires in one state.
#[derive(Debug)]
pub(super) struct Scalar {
    values: Vec<bool>,
    /// The next state, before it becomes the state.
    next: Vec<bool>,
}

impl Scalar {
    pub(super) fn new(circuit: &Circuit) -> Scalar {
        Scalar { values: vec![false; circuit.n_wires], next: Vec::with_capacity(circuit.n_bases) }
    }

    pub(super) fn load(&mut self, circuit: &Circuit, state: &BitState) {
        for base in 0..circuit.n_bases {
            self.values[circuit.base_wire(base)] = state.has(base);
        }
    }

    /// The value of a tap.
    pub(super) fn tap(&self, tap: Tap) -> bool {
        self.values[tap.wire()] != tap.is_negated()
    }

    pub(super) fn evaluate(&mut self, circuit: &Circuit, cone: Cone) {
        for block in circuit.cone(cone) {
            match block {
                Block::Straight(runs) => self.straight(circuit, runs),
                Block::Loop { runs, values } => self.fixed_point(circuit, runs, values),
            }
        }
    }

    fn straight(&mut self, circuit: &Circuit, runs: &[Run]) {
        for run in runs {
            let inputs = circuit.inputs[run.first_input..].chunks_exact(run.shape.n_read()).take(run.n_gates);
            for (gate, inputs) in inputs.enumerate() {
                self.values[run.first_wire + gate] = self.gate(&run.shape, inputs);
            }
        }
    }

    /// The value of a gate that reads these wires.
    fn gate(&self, shape: &Shape, inputs: &[u32]) -> bool {
        let value = |&wire: &u32| self.values[wire as usize];
        let disjunction =
            |plain: &[u32], negated: &[u32]| plain.iter().any(value) || !negated.iter().all(value);
        let conjunction =
            |plain: &[u32], negated: &[u32]| plain.iter().all(value) && !negated.iter().any(value);
        let (plain, rest) = inputs.split_at(shape.n_plain);
        let (negated, mut rest) = rest.split_at(shape.n_negated);
        let outer = if shape.is_or { disjunction(plain, negated) } else { conjunction(plain, negated) };
        if outer == shape.is_or {
            return outer;
        }
        for (&n_parts, (n_plain, n_negated)) in shape.n_parts.iter().zip(PARTS) {
            let (parts, others) = rest.split_at(n_parts * (n_plain + n_negated));
            rest = others;
            for part in parts.chunks_exact(n_plain + n_negated) {
                let (plain, negated) = part.split_at(n_plain);
                let part =
                    if shape.is_or { conjunction(plain, negated) } else { disjunction(plain, negated) };
                if part == shape.is_or {
                    return part;
                }
            }
        }
        outer
    }

    fn fixed_point(&mut self, circuit: &Circuit, runs: &[Run], values: &[(usize, Tap)]) {
        values.iter().for_each(|&(wire, _)| self.values[wire] = false);
        let mut is_changed = true;
        while is_changed {
            self.straight(circuit, runs);
            is_changed = false;
            for &(wire, definition) in values {
                let value = self.tap(definition);
                is_changed |= value != self.values[wire];
                self.values[wire] = value;
            }
        }
    }

    /// Makes a role's move; none of its others.
    pub(super) fn set_move(&mut self, circuit: &Circuit, role: usize, a_move: usize, is_made: bool) {
        self.values[circuit.first_moves[role] + a_move] = is_made;
    }

    /// The legal moves of a role.
    pub(super) fn legal<'a>(&'a self, circuit: &'a Circuit, role: usize) -> impl Iterator<Item = usize> + 'a {
        (0..).zip(&circuit.legal[role]).filter(|&(_, &tap)| self.tap(tap)).map(|(a_move, _)| a_move)
    }

    /// Evaluates the goals of the state whose legality is evaluated: one answer per role.
    pub(super) fn goals(&mut self, circuit: &Circuit, goals: &mut Vec<GoalAnswer>) {
        self.evaluate(circuit, Cone::Shared);
        self.evaluate(circuit, Cone::Goal);
        goals.clear();
        goals.resize(circuit.legal.len(), GoalAnswer::None);
        for goal in circuit.goals.iter().filter(|goal| self.tap(goal.tap)) {
            goals[goal.role] = goals[goal.role].with(goal.value);
        }
    }

    /// Whether each base holds in the next state.
    pub(super) fn next<'a>(&'a self, circuit: &'a Circuit) -> impl Iterator<Item = bool> + 'a {
        circuit.next.iter().map(|&tap| self.tap(tap))
    }

    /// Makes the next state, of the bases that matter, the state.
    pub(super) fn advance(&mut self, circuit: &Circuit) {
        let mut next = std::mem::take(&mut self.next);
        next.clear();
        next.extend(circuit.next[..circuit.n_relevant].iter().map(|&tap| self.tap(tap)));
        for (base, &value) in next.iter().enumerate() {
            self.values[circuit.base_wire(base)] = value;
        }
        self.next = next;
    }
}
