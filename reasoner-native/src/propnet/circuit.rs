//! A net laid out for evaluation: gates in the order in which they are computed, by what they are needed for.
//!
//! A *wire* is the place of a value: wire 0 is always false, then come the fluents, the moves role by role, each
//! role's padded to a multiple of [`MOVES_PADDED_TO`], and the gates. A *tap* is a wire or its complement. Gates of
//! one kind and number of inputs stand in *runs*, so that evaluating them takes no decision per gate.

use std::cmp::Reverse;

use crate::ground::GroundError;
use crate::net::{GateId, Gates, Goal, Kind, Net, Signal};
use gdl::components;
use reasoner::Value;
use rustc_hash::FxHashMap;

/// What the wires of a role's moves are padded to: moves are counted in blocks of so many.
pub(crate) const MOVES_PADDED_TO: usize = 8;

/// A wire or its complement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tap(u32);

impl Tap {
    /// What always holds: the complement of wire 0.
    pub(crate) const TRUE: Tap = Tap(1);

    pub(crate) fn wire(self) -> usize {
        (self.0 >> 1) as usize
    }

    pub(crate) fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }
}

/// Gates of one kind with equally many inputs.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    /// Whether they are disjunctions; otherwise conjunctions.
    pub(crate) is_or: bool,
    /// How many of the inputs come as they are; these come first.
    pub(crate) n_plain: usize,
    /// How many come complemented.
    pub(crate) n_negated: usize,
    pub(crate) n_gates: usize,
    /// The wire of the first gate; the others follow.
    pub(crate) first_wire: usize,
    /// Where the inputs of the first gate begin in [`Circuit::inputs`]; the others follow.
    pub(crate) first_input: usize,
}

/// Gates evaluated one after the other, or again and again.
#[derive(Debug, Clone)]
pub(crate) enum Block {
    Straight(Vec<Run>),
    /// From all wires of `values` false, the runs are evaluated and the values set to what is defined, until nothing
    /// changes: the least fixed point.
    Loop {
        runs: Vec<Run>,
        /// Wires with their definitions.
        values: Vec<(usize, Tap)>,
    },
}

/// The gates that some questions need beyond those of the cones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Cone {
    /// Legality and the end of the game.
    Legal,
    /// What goals and the next state have in common.
    Shared,
    /// Goals; needs Legal and Shared.
    Goal,
    /// What later matters of the next state; needs Legal and Shared.
    Next,
    /// The rest of the next state; needs all others, since goals may share gates with it.
    Rest,
}

impl Cone {
    pub(crate) const ALL: [Cone; 5] = [Cone::Legal, Cone::Shared, Cone::Goal, Cone::Next, Cone::Rest];
}

/// A goal of a role.
#[derive(Debug, Clone)]
pub(crate) struct GoalTap {
    pub(crate) role: usize,
    pub(crate) value: Value,
    pub(crate) tap: Tap,
}

/// A net to be evaluated.
#[derive(Debug, Clone)]
pub(crate) struct Circuit {
    pub(crate) n_wires: usize,
    /// Bases have the wires from 1 on.
    pub(crate) n_bases: usize,
    /// How many bases, from the first, legality, terminal states and goals depend on, now or later.
    pub(crate) n_relevant: usize,
    /// By base.
    pub(crate) next: Vec<Tap>,
    /// By role: the wire of its first move; the others follow.
    pub(crate) first_moves: Vec<usize>,
    /// By role, by move.
    pub(crate) legal: Vec<Vec<Tap>>,
    pub(crate) terminal: Tap,
    /// By role, the best first.
    pub(crate) goals: Vec<GoalTap>,
    /// In the order of [`Cone::ALL`].
    cones: Vec<Vec<Block>>,
    /// Wires of inputs of gates.
    pub(crate) inputs: Vec<u32>,
}

impl Circuit {
    /// The cones that the whole next state needs beyond Legal, in the order in which they are evaluated.
    pub(crate) fn cones_of_next(&self) -> &'static [Cone] {
        match self.n_relevant == self.n_bases {
            true => &[Cone::Shared, Cone::Next],
            false => &[Cone::Shared, Cone::Goal, Cone::Next, Cone::Rest],
        }
    }

    /// The blocks of a cone.
    pub(crate) fn cone(&self, cone: Cone) -> &[Block] {
        &self.cones[cone as usize]
    }

    /// Bytes of memory, roughly.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.inputs[..]) + size_of_val(&self.next[..]) + self.n_wires
    }

    /// Gates in a cone, and the inputs of all of them.
    pub(crate) fn size(&self, cone: Cone) -> (usize, usize) {
        let runs = || {
            self.cone(cone).iter().flat_map(|block| match block {
                Block::Straight(runs) | Block::Loop { runs, .. } => runs,
            })
        };
        let n_inputs = |run: &Run| run.n_gates * (run.n_plain + run.n_negated);
        (runs().map(|run| run.n_gates).sum(), runs().map(n_inputs).sum())
    }

    /// Groups of gates that depend on themselves.
    pub(crate) fn n_loops(&self) -> usize {
        self.cones.iter().flatten().filter(|block| matches!(block, Block::Loop { .. })).count()
    }

    /// The wire of a base.
    pub(crate) fn base_wire(&self, base: usize) -> usize {
        1 + base
    }

    /// Lays a net out. The bases that matter must come first.
    ///
    /// # Errors
    /// [`GroundError::NotStratified`] if a value depends on its own negation.
    pub(crate) fn of(net: &Net, n_relevant: usize) -> Result<Circuit, GroundError> {
        let groups = groups_by_cone(net, n_relevant)?;
        let mut layout = Layout {
            gates: &net.gates,
            polarities: polarities(net, &groups),
            wires: vec![0; net.gates.len()],
            n_wires: 1,
            inputs: Vec::new(),
            definitions: definitions(net),
        };
        for base in &net.bases {
            layout.place(base.gate);
        }
        let mut first_moves = Vec::new();
        for role in 0..net.n_roles {
            first_moves.push(layout.n_wires);
            for input in net.inputs.iter().filter(|input| input.role == role) {
                layout.place(input.gate);
            }
            let n_moves = layout.n_wires - first_moves[role];
            layout.n_wires = first_moves[role] + n_moves.next_multiple_of(MOVES_PADDED_TO);
        }
        let cones = groups.iter().map(|groups| layout.cone(groups)).collect();
        let legal_of = |role: usize| {
            let inputs = net.inputs.iter().filter(|input| input.role == role);
            inputs.map(|input| layout.tap(input.legal)).collect()
        };
        let goal = |goal: &Goal| GoalTap { role: goal.role, value: goal.value, tap: layout.tap(goal.holds) };
        let mut goals: Vec<GoalTap> = net.goals.iter().map(goal).collect();
        goals.sort_by_key(|goal| (goal.role, Reverse(goal.value)));
        Ok(Circuit {
            n_wires: layout.n_wires,
            n_bases: net.bases.len(),
            n_relevant,
            next: net.bases.iter().map(|base| layout.tap(base.next)).collect(),
            legal: (0..net.n_roles).map(legal_of).collect(),
            terminal: layout.tap(net.terminal),
            goals,
            first_moves,
            cones,
            inputs: layout.inputs,
        })
    }
}

/// Gates that depend on each other, or one gate.
#[derive(Debug, Clone)]
struct Group {
    /// Longest way to it from what is given.
    level: u32,
    gates: Vec<GateId>,
    is_loop: bool,
}

/// The groups of gates of each cone, each behind what it needs.
fn groups_by_cone(net: &Net, n_relevant: usize) -> Result<Vec<Vec<Group>>, GroundError> {
    let cone_of = cones_of(net, n_relevant);
    let definitions = definitions(net);
    let mut levels = vec![0; net.gates.len()];
    let mut cones = vec![Vec::new(); Cone::ALL.len()];
    for mut group in groups(net, &definitions)? {
        let Some(cone) = cone_of[group.gates[0].idx()] else { continue };
        let inputs = group.gates.iter().flat_map(|&gate| inputs_of(&net.gates, &definitions, gate));
        group.level = inputs.map(|signal| levels[signal.gate().idx()]).max().unwrap_or(0) + 1;
        group.gates.iter().for_each(|gate| levels[gate.idx()] = group.level);
        cones[cone as usize].push(group);
    }
    Ok(cones)
}

type Definitions = FxHashMap<GateId, Signal>;

fn definitions(net: &Net) -> Definitions {
    net.cycles.iter().map(|cycle| (cycle.gate, cycle.definition)).collect()
}

/// What a gate is computed from.
fn inputs_of<'a>(
    gates: &'a Gates,
    definitions: &'a Definitions,
    gate: GateId,
) -> impl Iterator<Item = Signal> + use<'a> {
    gates.inputs(gate).iter().chain(definitions.get(&gate)).copied()
}

/// The cone that a gate belongs to; none if nothing needs it.
fn cones_of(net: &Net, n_relevant: usize) -> Vec<Option<Cone>> {
    let gates_of =
        |signals: &mut dyn Iterator<Item = Signal>| net.reached(signals.map(Signal::gate).collect(), false);
    let legal = gates_of(&mut net.inputs.iter().map(|input| input.legal).chain([net.terminal]));
    let goal = gates_of(&mut net.goals.iter().map(|goal| goal.holds));
    let next = gates_of(&mut net.bases[..n_relevant].iter().map(|base| base.next));
    let rest = gates_of(&mut net.bases[n_relevant..].iter().map(|base| base.next));
    let cone_of = |gate: usize| match () {
        () if legal[gate] => Some(Cone::Legal),
        () if goal[gate] && next[gate] => Some(Cone::Shared),
        () if goal[gate] => Some(Cone::Goal),
        () if next[gate] => Some(Cone::Next),
        () if rest[gate] => Some(Cone::Rest),
        () => None,
    };
    (0..net.gates.len()).map(cone_of).collect()
}

/// All Ands and cycles, in groups of those that depend on each other, each behind what it needs.
fn groups(net: &Net, definitions: &Definitions) -> Result<Vec<Group>, GroundError> {
    let gates = &net.gates;
    let single = |gate| Group { level: 0, gates: vec![gate], is_loop: false };
    if net.cycles.is_empty() {
        return Ok(gates.ids().filter(|&gate| gates.kind(gate) == Kind::And).map(single).collect());
    }
    let edges_of =
        |gate: GateId| inputs_of(gates, definitions, gate).map(|signal| signal.gate().idx()).collect();
    let edges: Vec<Vec<usize>> = gates.ids().map(edges_of).collect();
    let component = components(&edges);
    let n_groups = component.iter().max().map_or(0, |&last| last + 1);
    let mut groups = vec![Group { level: 0, gates: Vec::new(), is_loop: false }; n_groups];
    for gate in gates.ids().filter(|&gate| matches!(gates.kind(gate), Kind::And | Kind::Cycle)) {
        groups[component[gate.idx()]].gates.push(gate);
    }
    groups.retain(|group| !group.gates.is_empty());
    for group in &mut groups {
        group.is_loop = group.gates.iter().any(|&gate| gates.kind(gate) == Kind::Cycle);
        if group.is_loop && !is_monotone(gates, definitions, group, &component) {
            return Err(GroundError::NotStratified("a relation".to_owned()));
        }
    }
    Ok(groups)
}

/// Whether no value of a group depends on its own negation: every gate of it can be given a sign such that values
/// are positive and signals within the group agree with the signs at both ends.
fn is_monotone(gates: &Gates, definitions: &Definitions, group: &Group, component: &[usize]) -> bool {
    let own = component[group.gates[0].idx()];
    let mut is_negative: FxHashMap<GateId, bool> = FxHashMap::default();
    let mut open: Vec<GateId> =
        group.gates.iter().copied().filter(|&gate| gates.kind(gate) == Kind::Cycle).collect();
    open.iter().for_each(|&gate| _ = is_negative.insert(gate, false));
    while let Some(gate) = open.pop() {
        let sign = is_negative[&gate];
        for signal in inputs_of(gates, definitions, gate) {
            let to = signal.gate();
            if component[to.idx()] != own {
                continue;
            }
            let wanted = sign != signal.is_negated();
            match is_negative.insert(to, wanted) {
                None => open.push(to),
                Some(known) if known != wanted => return false,
                Some(_) => {}
            }
        }
    }
    true
}

/// For each gate, whether it is computed complemented, as the disjunction of complements, where that saves
/// complements.
fn polarities(net: &Net, cones: &[Vec<Group>]) -> Vec<bool> {
    let gates = &net.gates;
    let mut uses = vec![[0i32; 2]; gates.len()];
    for &gate in cones.iter().flatten().flat_map(|group| &group.gates) {
        for signal in gates.inputs(gate) {
            uses[signal.gate().idx()][usize::from(signal.is_negated())] += 1;
        }
    }
    net.for_each_root(|signal| uses[signal.gate().idx()][usize::from(signal.is_negated())] += 1);
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

struct Layout<'a> {
    gates: &'a Gates,
    polarities: Vec<bool>,
    /// By gate.
    wires: Vec<u32>,
    n_wires: usize,
    inputs: Vec<u32>,
    definitions: Definitions,
}

impl Layout<'_> {
    fn place(&mut self, gate: GateId) {
        self.wires[gate.idx()] = u32::try_from(self.n_wires).expect("wires are bounded by a budget");
        self.n_wires += 1;
    }

    fn tap(&self, signal: Signal) -> Tap {
        let gate = signal.gate().idx();
        let is_negated = signal.is_negated() != self.polarities[gate];
        Tap(self.wires[gate] << 1 | u32::from(is_negated))
    }

    /// Straight gates level by level, and each loop behind the gates of the levels below it.
    fn cone(&mut self, groups: &[Group]) -> Vec<Block> {
        let mut groups: Vec<&Group> = groups.iter().collect();
        groups.sort_by_key(|group| (group.level, group.is_loop));
        let mut blocks = Vec::new();
        let mut straight: Vec<(u32, GateId)> = Vec::new();
        for group in groups {
            if group.is_loop {
                self.straight(&mut straight, &mut blocks);
                blocks.push(self.loop_block(group));
            } else {
                straight.push((group.level, group.gates[0]));
            }
        }
        self.straight(&mut straight, &mut blocks);
        blocks
    }

    fn straight(&mut self, gates: &mut Vec<(u32, GateId)>, blocks: &mut Vec<Block>) {
        if !gates.is_empty() {
            let runs = self.runs(gates);
            blocks.push(Block::Straight(runs));
            gates.clear();
        }
    }

    fn loop_block(&mut self, group: &Group) -> Block {
        let is_value = |gate: &&GateId| self.gates.kind(**gate) == Kind::Cycle;
        let values: Vec<GateId> = group.gates.iter().filter(is_value).copied().collect();
        values.iter().for_each(|&value| self.place(value));
        // Within a loop, the values are given; gates have larger numbers than their inputs.
        let mut levels: FxHashMap<GateId, u32> = FxHashMap::default();
        let mut ands: Vec<(u32, GateId)> = Vec::new();
        for &gate in group.gates.iter().filter(|&&gate| self.gates.kind(gate) == Kind::And) {
            let inner = self.gates.inputs(gate).iter().filter_map(|signal| levels.get(&signal.gate()));
            let level = inner.max().map_or(0, |&level| level + 1);
            levels.insert(gate, level);
            ands.push((level, gate));
        }
        let runs = self.runs(&mut ands);
        let values =
            values.iter().map(|value| (self.wires[value.idx()] as usize, self.tap(self.definitions[value])));
        Block::Loop { runs, values: values.collect() }
    }

    /// Places gates and gathers them into runs; within a level, those of one kind stand together.
    fn runs(&mut self, gates: &mut [(u32, GateId)]) -> Vec<Run> {
        let shape = |layout: &Self, gate: GateId| {
            let is_or = layout.polarities[gate.idx()];
            let inputs = layout.gates.inputs(gate);
            let is_negated = |signal: &&Signal| signal.is_negated() != layout.polarities[signal.gate().idx()];
            let n_negated = inputs.iter().filter(is_negated).count();
            let n_negated = if is_or { inputs.len() - n_negated } else { n_negated };
            (is_or, inputs.len() - n_negated, n_negated)
        };
        gates.sort_by_cached_key(|&(level, gate)| (level, shape(self, gate), gate));
        let mut runs: Vec<Run> = Vec::new();
        for &(_, gate) in &*gates {
            let (is_or, n_plain, n_negated) = shape(self, gate);
            let (first_wire, first_input) = (self.n_wires, self.inputs.len());
            self.place(gate);
            let mut taps: Vec<Tap> = self.gates.inputs(gate).iter().map(|&signal| self.tap(signal)).collect();
            taps.sort_by_key(|tap| (tap.is_negated() != is_or, tap.wire()));
            self.inputs.extend(taps.iter().map(|tap| tap.0 >> 1));
            match runs.last_mut() {
                Some(run) if (run.is_or, run.n_plain, run.n_negated) == (is_or, n_plain, n_negated) => {
                    run.n_gates += 1;
                }
                _ => runs.push(Run { is_or, n_plain, n_negated, n_gates: 1, first_wire, first_input }),
            }
        }
        runs
    }
}
