//! What rules came to.

use std::time::Duration;

use super::Propnet;
use super::circuit::{Circuit, Cone};
use super::width::lanes_of;
use reasoner::Reasoner;

/// How large a set of gates is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GateCount {
    /// What needs it.
    pub name: &'static str,
    /// Gates.
    pub gates: usize,
    /// Inputs of all gates.
    pub inputs: usize,
}

/// What rules came to as a propositional network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetReport {
    /// Fluents that change.
    pub fluents: usize,
    /// Those of them that legality, the end of the game or goals depend on, now or later.
    pub relevant_fluents: usize,
    /// Fluents that hold in every state.
    pub constant_fluents: usize,
    /// Moves of each role that may be legal.
    pub moves: Vec<usize>,
    /// Words that the ground rules took, of 4 bytes.
    pub ground_words: usize,
    /// Whether clauses were split into narrower ones.
    pub is_split: bool,
    /// Relations that were evaluated on demand, as `name/arity`.
    pub on_demand: Vec<String>,
    /// The net before it was simplified.
    pub raw: GateCount,
    /// The gates of each cone that are in none before it.
    pub cones: Vec<GateCount>,
    /// What a step of a rollout evaluates, by phase of the clock: one phase if nothing changes by itself.
    pub phases: Vec<GateCount>,
    /// Groups of gates that depend on themselves.
    pub loops: usize,
    /// States that rollouts evaluate side by side.
    pub lanes: usize,
    /// Memory that all sessions share, roughly.
    pub bytes: usize,
    /// Time of grounding the rules that were kept.
    pub ground_time: Duration,
    /// Time of making their net.
    pub net_time: Duration,
}

impl Propnet {
    /// What the rules came to.
    pub fn report(&self) -> NetReport {
        let Propnet { circuit, course, making, .. } = self;
        let name = |cone| match cone {
            Cone::Legal => "legal and terminal",
            Cone::Shared => "goal and next",
            Cone::Goal => "goal",
            Cone::Next => "next",
            Cone::Rest => "fluents that matter for nothing",
        };
        let cones = Cone::ALL.map(|cone| {
            let (gates, inputs) = circuit.size(cone);
            GateCount { name: name(cone), gates, inputs }
        });
        let of_step = |circuit: &Circuit| {
            let sizes = [Cone::Legal, Cone::Shared, Cone::Next].map(|cone| circuit.size(cone));
            let gates = sizes.iter().map(|size| size.0).sum();
            GateCount { name: "step", gates, inputs: sizes.iter().map(|size| size.1).sum() }
        };
        NetReport {
            fluents: circuit.n_bases,
            relevant_fluents: circuit.n_relevant,
            constant_fluents: self.constants.len(),
            moves: circuit.legal.iter().map(Vec::len).collect(),
            ground_words: making.ground_words,
            is_split: making.is_decomposed,
            on_demand: making.on_demand.clone(),
            raw: GateCount {
                name: "before simplifying",
                gates: making.raw.gates,
                inputs: making.raw.gate_inputs,
            },
            cones: cones.into(),
            phases: course.phases.iter().map(of_step).collect(),
            loops: circuit.n_loops(),
            lanes: lanes_of(self),
            bytes: self.bytes(),
            ground_time: making.ground_time,
            net_time: making.net_time,
        }
    }
}
