//! Nets for tests: fluents, moves, and signals of them that are asked for.

use super::{Base, Gates, Goal, Input, Kind, Net, Signal, Size};
use crate::terms::TermId;

/// Fluents and moves, by role, to make gates of.
pub(super) struct Given {
    pub(super) gates: Gates,
    pub(super) bases: Vec<Signal>,
    pub(super) moves: Vec<Vec<Signal>>,
}

impl Given {
    pub(super) fn and(&mut self, signals: &[Signal]) -> Signal {
        self.gates.and(&mut signals.to_vec())
    }

    pub(super) fn or(&mut self, signals: &[Signal]) -> Signal {
        self.gates.or(&mut signals.to_vec())
    }
}

/// A net whose goals are the signals that `make` gives, one for each value.
pub(super) fn net(n_bases: usize, n_moves: &[usize], make: impl FnOnce(&mut Given) -> Vec<Signal>) -> Net {
    let mut gates = Gates::new(n_moves.len());
    let bases: Vec<Signal> = (0..n_bases).map(|base| Signal::of(gates.base(base))).collect();
    let moves = n_moves.iter().enumerate();
    let moves: Vec<Vec<Signal>> =
        moves.map(|(role, &n)| (0..n).map(|_| Signal::of(gates.input(role))).collect()).collect();
    let mut given = Given { gates, bases, moves };
    let asked = make(&mut given);
    let Given { gates, bases, moves } = given;
    let term = |idx: usize| TermId(u32::try_from(idx).unwrap());
    let base = |(idx, &base): (usize, &Signal)| Base {
        fluent: term(idx),
        gate: base.gate(),
        next: !base,
        is_initial: false,
    };
    let of_role = moves.iter().enumerate().flat_map(|(role, moves)| {
        moves.iter().enumerate().map(move |(idx, a_move)| Input {
            role,
            a_move: term(idx),
            gate: a_move.gate(),
            legal: Signal::TRUE,
        })
    });
    Net {
        n_roles: n_moves.len(),
        bases: bases.iter().enumerate().map(base).collect(),
        constants: Vec::new(),
        inputs: of_role.collect(),
        terminal: Signal::FALSE,
        goals: (0..).zip(asked).map(|(value, holds)| Goal { role: 0, value, holds }).collect(),
        cycles: Vec::new(),
        keeps_bases: false,
        gates,
    }
}

impl Net {
    /// The goals in a state, given as bits by fluent, under one move for each role.
    fn goals_in(&self, state: u32, moves: &[usize]) -> Vec<bool> {
        let mut values = vec![false; self.gates.len()];
        let holds = |values: &[bool], signal: Signal| values[signal.gate().idx()] != signal.is_negated();
        for gate in self.gates.ids() {
            values[gate.idx()] = match self.gates.kind(gate) {
                Kind::Base(base) => state >> self.bases[base as usize].fluent.0 & 1 == 1,
                Kind::Input(input) => {
                    let input = &self.inputs[input as usize];
                    moves[input.role] == input.a_move.0 as usize
                }
                Kind::And => self.gates.inputs(gate).iter().all(|&signal| holds(&values, signal)),
                Kind::False | Kind::Cycle => false,
            };
        }
        self.goals.iter().map(|goal| holds(&values, goal.holds)).collect()
    }

    /// What its gates cost.
    pub(super) fn work(&self) -> usize {
        let Size { gates, gate_inputs, .. } = self.size();
        gates + gate_inputs
    }

    /// Demands that another net has the same goals in all states under all moves of two roles.
    pub(super) fn demand_equal(&self, other: &Net, n_moves: [usize; 2]) {
        for state in 0..1 << self.bases.len() {
            for moves in 0..n_moves[0] * n_moves[1] {
                let moves = [moves % n_moves[0], moves / n_moves[0]];
                let (expected, got) = (self.goals_in(state, &moves), other.goals_in(state, &moves));
                assert_eq!(got, expected, "in state {state:b} under {moves:?}");
            }
        }
    }
}
