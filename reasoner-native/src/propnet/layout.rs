//! Laying gates out: which wire each has, and in which runs they are computed.

use std::collections::{BTreeMap, VecDeque};

use rustc_hash::FxHashMap;

use super::circuit::{Block, PARTS, Run, Shape, Tap};
use super::cones::{Definitions, Group, definitions};
use crate::net::{GateId, Gates, Kind, Net, Signal};

/// The layout as far as it has come.
pub(super) struct Layout<'a> {
    gates: &'a Gates,
    definitions: Definitions,
    /// By gate: whether it is computed complemented.
    is_complemented: Vec<bool>,
    /// By gate: whether it is a part of the gate that needs it.
    is_part: Vec<bool>,
    /// By gate.
    wires: Vec<u32>,
    pub(super) n_wires: usize,
    /// Wires of inputs of gates.
    pub(super) inputs: Vec<u32>,
}

impl<'a> Layout<'a> {
    /// With no wire but that of what is always false.
    pub(super) fn new(net: &'a Net, cones: &[Vec<Group>]) -> Layout<'a> {
        let uses = uses(net, cones);
        let mut layout = Layout {
            gates: &net.gates,
            definitions: definitions(net),
            is_complemented: polarities(net, uses.clone()),
            is_part: vec![false; net.gates.len()],
            wires: vec![0; net.gates.len()],
            n_wires: 1,
            inputs: Vec::new(),
        };
        layout.find_parts(&uses);
        layout
    }

    /// Gives a gate the next wire.
    pub(super) fn place(&mut self, gate: GateId) {
        self.wires[gate.idx()] = u32::try_from(self.n_wires).expect("wires are bounded by a budget");
        self.n_wires += 1;
    }

    /// Where a signal of a gate that has a wire is found.
    pub(super) fn tap(&self, signal: Signal) -> Tap {
        let gate = signal.gate().idx();
        Tap::of(self.wires[gate], signal.is_negated() != self.is_complemented[gate])
    }

    /// Straight gates, and each loop behind the gates of the levels below it.
    pub(super) fn cone(&mut self, groups: &[Group]) -> Vec<Block> {
        let mut groups: Vec<&Group> = groups.iter().collect();
        groups.sort_by_key(|group| (group.level, group.is_loop));
        let mut blocks = Vec::new();
        let mut straight: Vec<GateId> = Vec::new();
        for group in groups {
            if group.is_loop {
                self.straight(&mut straight, &mut blocks);
                blocks.push(self.loop_block(group));
            } else {
                straight.push(group.gates[0]);
            }
        }
        self.straight(&mut straight, &mut blocks);
        blocks
    }

    fn straight(&mut self, gates: &mut Vec<GateId>, blocks: &mut Vec<Block>) {
        if !gates.is_empty() {
            let runs = self.runs(gates);
            blocks.push(Block::Straight(runs));
            gates.clear();
        }
    }

    /// Within a loop, the values are given.
    fn loop_block(&mut self, group: &Group) -> Block {
        let (values, ands): (Vec<GateId>, Vec<GateId>) =
            group.gates.iter().partition(|&&gate| self.gates.kind(gate) == Kind::Cycle);
        values.iter().for_each(|&value| self.place(value));
        let runs = self.runs(&ands);
        let values =
            values.iter().map(|value| (self.wires[value.idx()] as usize, self.tap(self.definitions[value])));
        Block::Loop { runs, values: values.collect() }
    }

    /// Finds the gates that can be parts: small ones, used once, and that by a gate which is no part itself.
    fn find_parts(&mut self, uses: &[[i32; 2]]) {
        for idx in (0..self.gates.len()).rev() {
            let gate = GateId(u32::try_from(idx).expect("gates are 32 bits"));
            // A gate that is not evaluated makes nothing a part.
            let is_used = uses[idx] != [0, 0];
            if !is_used || self.is_part[idx] || self.gates.kind(gate) != Kind::And {
                continue;
            }
            for &input in self.gates.inputs(gate) {
                let of_input = uses[input.gate().idx()];
                let is_small = self.gates.kind(input.gate()) == Kind::And
                    && input.is_negated()
                    && of_input[0] + of_input[1] == 1
                    && self.part(gate, input).is_some();
                self.is_part[input.gate().idx()] |= is_small;
            }
        }
    }

    /// The kind of part that an input of a gate would be.
    fn part(&self, gate: GateId, input: Signal) -> Option<usize> {
        let inputs = self.gates.inputs(input.gate());
        let n_negated = inputs.iter().filter(|&&literal| self.is_read_negated(gate, !literal)).count();
        PARTS.iter().position(|&part| part == (inputs.len() - n_negated, n_negated))
    }

    /// Whether a gate reads the wire of an input complemented.
    fn is_read_negated(&self, gate: GateId, input: Signal) -> bool {
        (input.is_negated() != self.is_complemented[input.gate().idx()]) != self.is_complemented[gate.idx()]
    }

    /// Places gates and gathers them into runs, which are as long as is easily had: gates of one shape for as long as
    /// their inputs are there, then those of the shape that has most of them.
    fn runs(&mut self, gates: &[GateId]) -> Vec<Run> {
        let mut ready = Ready::of(self, gates);
        let mut runs: Vec<Run> = Vec::new();
        while let Some(shape) = ready.most() {
            let mut run = Run { shape, n_gates: 0, first_wire: self.n_wires, first_input: self.inputs.len() };
            while let Some(gate) = ready.next(shape) {
                self.read(gate);
                self.place(gate);
                run.n_gates += 1;
            }
            runs.push(run);
        }
        runs
    }

    fn shape(&self, gate: GateId) -> Shape {
        let mut shape = Shape { is_or: self.is_complemented[gate.idx()], ..Shape::default() };
        for &input in self.gates.inputs(gate) {
            match () {
                () if self.is_part[input.gate().idx()] => {
                    shape.n_parts[self.part(gate, input).expect("parts are of a kind")] += 1;
                }
                () if self.is_read_negated(gate, input) => shape.n_negated += 1,
                () => shape.n_plain += 1,
            }
        }
        shape
    }

    /// Notes the wires of a gate's inputs, in the order of [`Shape`].
    fn read(&mut self, gate: GateId) {
        let mut inputs: Vec<(usize, usize, bool, u32)> = Vec::new();
        for (place, &input) in self.gates.inputs(gate).iter().enumerate() {
            let mut read = |kind, place, literal: Signal| {
                let wire = self.wires[literal.gate().idx()];
                inputs.push((kind, place, self.is_read_negated(gate, literal), wire));
            };
            if self.is_part[input.gate().idx()] {
                let kind = self.part(gate, input).expect("parts are of a kind");
                let literals = self.gates.inputs(input.gate());
                literals.iter().for_each(|&literal| read(1 + kind, place, !literal));
            } else {
                read(0, 0, input);
            }
        }
        inputs.sort_unstable();
        self.inputs.extend(inputs.iter().map(|&(.., wire)| wire));
    }

    /// Calls `visit` for every gate that a gate reads.
    fn for_each_read(&self, gate: GateId, mut visit: impl FnMut(GateId)) {
        for &input in self.gates.inputs(gate) {
            match self.is_part[input.gate().idx()] {
                true => self.gates.inputs(input.gate()).iter().for_each(|literal| visit(literal.gate())),
                false => visit(input.gate()),
            }
        }
    }
}

/// Gates whose inputs are there, by shape.
struct Ready {
    ready: BTreeMap<Shape, VecDeque<GateId>>,
    waiting: FxHashMap<GateId, Waiting>,
}

/// A gate that is not placed.
struct Waiting {
    shape: Shape,
    /// Inputs that are not there.
    n_missing: usize,
    /// Gates that read it, once for each time.
    readers: Vec<GateId>,
}

impl Ready {
    fn of(layout: &Layout<'_>, gates: &[GateId]) -> Ready {
        let gates = || gates.iter().copied().filter(|gate| !layout.is_part[gate.idx()]);
        let waiting = |gate| (gate, Waiting { shape: layout.shape(gate), n_missing: 0, readers: Vec::new() });
        let mut waiting: FxHashMap<GateId, Waiting> = gates().map(waiting).collect();
        for gate in gates() {
            let mut n_missing = 0;
            layout.for_each_read(gate, |read| {
                if let Some(read) = waiting.get_mut(&read) {
                    read.readers.push(gate);
                    n_missing += 1;
                }
            });
            waiting.get_mut(&gate).expect("all gates wait").n_missing = n_missing;
        }
        let mut ready: BTreeMap<Shape, VecDeque<GateId>> = BTreeMap::new();
        for gate in gates().filter(|gate| waiting[gate].n_missing == 0) {
            ready.entry(waiting[&gate].shape).or_default().push_back(gate);
        }
        Ready { ready, waiting }
    }

    /// The shape of which most gates are ready.
    fn most(&self) -> Option<Shape> {
        let most = self.ready.iter().max_by_key(|(_, gates)| gates.len());
        most.filter(|(_, gates)| !gates.is_empty()).map(|(&shape, _)| shape)
    }

    /// A gate of this shape; those that waited for it become ready.
    fn next(&mut self, shape: Shape) -> Option<GateId> {
        let gate = self.ready.get_mut(&shape)?.pop_front()?;
        let readers = std::mem::take(&mut self.waiting.get_mut(&gate)?.readers);
        for reader in readers {
            let waiting = self.waiting.get_mut(&reader)?;
            waiting.n_missing -= 1;
            if waiting.n_missing == 0 {
                self.ready.entry(waiting.shape).or_default().push_back(reader);
            }
        }
        Some(gate)
    }
}

/// How often what is evaluated uses each gate as it is, and complemented.
fn uses(net: &Net, cones: &[Vec<Group>]) -> Vec<[i32; 2]> {
    let mut uses = vec![[0; 2]; net.gates.len()];
    let mut is_evaluated = vec![false; net.gates.len()];
    for gate in cones.iter().flatten().flat_map(|group| &group.gates) {
        is_evaluated[gate.idx()] = true;
    }
    net.for_each_use(&is_evaluated, |signal| {
        uses[signal.gate().idx()][usize::from(signal.is_negated())] += 1;
    });
    uses
}

/// For each gate, whether it is computed complemented, as the disjunction of complements, where that saves
/// complements.
fn polarities(net: &Net, mut uses: Vec<[i32; 2]>) -> Vec<bool> {
    let gates = &net.gates;
    // Complements of legality are formed one by one when moves are counted.
    for input in &net.inputs {
        uses[input.legal.gate().idx()][usize::from(input.legal.is_negated())] += 2;
    }
    let mut is_complemented = vec![false; gates.len()];
    for gate in gates.ids().filter(|&gate| gates.kind(gate) == Kind::And) {
        let inputs = gates.inputs(gate);
        let n_negated = inputs
            .iter()
            .filter(|signal| signal.is_negated() != is_complemented[signal.gate().idx()])
            .count();
        let count = |n: usize| i32::try_from(n).unwrap_or(i32::MAX / 4);
        let [used_plain, used_negated] = uses[gate.idx()];
        is_complemented[gate.idx()] =
            count(inputs.len() - n_negated) + used_plain < count(n_negated) + used_negated;
    }
    is_complemented
}
