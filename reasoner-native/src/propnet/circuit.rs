//! A net laid out for evaluation: gates in the order in which they are computed, by what they are needed for.
//!
//! A *wire* is the place of a value: wire 0 is always false, then come the fluents, the moves role by role, each
//! role's padded to a multiple of [`MOVES_PADDED_TO`], and the gates. A *tap* is a wire or its complement. Gates of
//! one shape stand in *runs*, so that evaluating them takes no decision per gate.

use std::cmp::Reverse;

use super::cones::groups_by_cone;
use super::layout::Layout;
use crate::ground::GroundError;
use crate::net::{Goal, Net};
use reasoner::Value;

/// What the wires of a role's moves are padded to: moves are counted in blocks of so many.
pub(crate) const MOVES_PADDED_TO: usize = 8;

/// A wire or its complement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tap(u32);

impl Tap {
    /// A wire, or its complement.
    pub(super) fn of(wire: u32, is_negated: bool) -> Tap {
        Tap(wire << 1 | u32::from(is_negated))
    }

    /// What always holds: the complement of wire 0.
    pub(crate) const TRUE: Tap = Tap(1);

    /// What never holds: wire 0.
    pub(crate) const FALSE: Tap = Tap(0);

    pub(crate) fn wire(self) -> usize {
        (self.0 >> 1) as usize
    }

    pub(crate) fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }
}

/// What gates of one run have in common.
///
/// The inputs of a gate are, in this order, wires that come as they are, wires that come complemented, and *parts*: small
/// gates of the other kind that nothing else needs, so that they need no wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct Shape {
    /// Whether they are disjunctions; otherwise conjunctions.
    pub(crate) is_or: bool,
    pub(crate) n_plain: usize,
    pub(crate) n_negated: usize,
    /// How many parts of each of [`PARTS`].
    pub(crate) n_parts: [usize; PARTS.len()],
}

/// How many wires of a part come as they are, and how many complemented.
pub(crate) const PARTS: [(usize, usize); 4] = [(2, 0), (1, 1), (3, 0), (2, 1)];

impl Shape {
    /// Wires that a gate reads.
    pub(crate) fn n_read(&self) -> usize {
        let of_parts =
            self.n_parts.iter().zip(PARTS).map(|(n, (n_plain, n_negated))| n * (n_plain + n_negated));
        self.n_plain + self.n_negated + of_parts.sum::<usize>()
    }

    /// Gates that this stands for, and their inputs, had parts wires of their own.
    fn size(&self) -> (usize, usize) {
        let n_parts: usize = self.n_parts.iter().sum();
        (1 + n_parts, self.n_read() + n_parts)
    }
}

/// Gates of one shape.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) shape: Shape,
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
    /// By base: whether goals depend on it, in the same state.
    pub(crate) is_of_goals: Vec<bool>,
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

    /// Gates in a cone, and the inputs of all of them; parts count as gates.
    pub(crate) fn size(&self, cone: Cone) -> (usize, usize) {
        self.runs(cone).fold((0, 0), |(gates, inputs), run| {
            let of_each = run.shape.size();
            (gates + run.n_gates * of_each.0, inputs + run.n_gates * of_each.1)
        })
    }

    /// Wires that evaluating a cone reads and writes.
    pub(crate) fn work(&self, cone: Cone) -> usize {
        self.runs(cone).map(|run| run.n_gates * (run.shape.n_read() + 1)).sum()
    }

    fn runs(&self, cone: Cone) -> impl Iterator<Item = &Run> {
        self.cone(cone).iter().flat_map(|block| match block {
            Block::Straight(runs) | Block::Loop { runs, .. } => runs,
        })
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
        let mut layout = Layout::new(net, &groups);
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
        let reached = net.reached(net.goals.iter().map(|goal| goal.holds.gate()).collect(), false);
        Ok(Circuit {
            n_wires: layout.n_wires,
            n_bases: net.bases.len(),
            n_relevant,
            next: net.bases.iter().map(|base| layout.tap(base.next)).collect(),
            legal: (0..net.n_roles).map(legal_of).collect(),
            terminal: layout.tap(net.terminal),
            goals,
            is_of_goals: net.bases.iter().map(|base| reached[base.gate.idx()]).collect(),
            first_moves,
            cones,
            inputs: layout.inputs,
        })
    }
}
