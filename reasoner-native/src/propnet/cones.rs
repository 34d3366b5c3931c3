//! Which gates are needed for what, and in which order they can be computed.

use gdl::components;
use rustc_hash::FxHashMap;

use super::circuit::Cone;
use crate::ground::GroundError;
use crate::net::{GateId, Gates, Kind, Net, Signal};

/// Gates that depend on each other, or one gate.
#[derive(Debug, Clone)]
pub(super) struct Group {
    /// Longest way to it from what is given.
    pub(super) level: u32,
    pub(super) gates: Vec<GateId>,
    pub(super) is_loop: bool,
}

/// The groups of gates of each cone, each behind what it needs.
pub(super) fn groups_by_cone(net: &Net, n_relevant: usize) -> Result<Vec<Vec<Group>>, GroundError> {
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

pub(super) type Definitions = FxHashMap<GateId, Signal>;

pub(super) fn definitions(net: &Net) -> Definitions {
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
