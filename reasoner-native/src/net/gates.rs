//! Gates: an and-inverter graph whose gates have any number of inputs.
//!
//! Equal gates are one (structural hashing), and every gate is simplified when it is made, also by what is known
//! of moves: each role makes exactly one.

use hashbrown::HashTable;

use crate::key_index::hash_all;

/// The output of a gate, or its complement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Signal(u32);

impl Signal {
    pub(crate) const FALSE: Signal = Signal(0);
    pub(crate) const TRUE: Signal = Signal(1);

    /// The output of a gate.
    pub(crate) fn of(gate: GateId) -> Signal {
        Signal(gate.0 << 1)
    }

    pub(crate) fn gate(self) -> GateId {
        GateId(self.0 >> 1)
    }

    /// A number below twice that of the gates: the gate's, doubled, one more for the complement.
    pub(super) fn idx(self) -> usize {
        self.0 as usize
    }

    /// The signal of a number.
    pub(crate) fn at(idx: usize) -> Signal {
        Signal(u32::try_from(idx).expect("signals are 32 bits"))
    }

    /// The number of the gate.
    pub fn gate_number(self) -> usize {
        self.gate().idx()
    }

    /// Whether it is the complement.
    pub fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    /// The complement if `is_negated`.
    pub(crate) fn negated_if(self, is_negated: bool) -> Signal {
        Signal(self.0 ^ u32::from(is_negated))
    }
}

impl std::ops::Not for Signal {
    type Output = Signal;

    fn not(self) -> Signal {
        Signal(self.0 ^ 1)
    }
}

/// A gate, by index in [`Gates`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct GateId(pub(crate) u32);

impl GateId {
    pub(crate) fn idx(self) -> usize {
        self.0 as usize
    }
}

/// What a gate is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The gate that is always false.
    False,
    /// A fluent of the state, by number.
    Base(u32),
    /// A move of a role, by number.
    Input(u32),
    /// All its inputs.
    And,
    /// A value that depends on itself; its definition stands elsewhere, and means the least fixed point.
    Cycle,
}

/// All gates of a net. Inputs of a gate have smaller numbers than it.
#[derive(Debug, Clone)]
pub(crate) struct Gates {
    kinds: Vec<Kind>,
    starts: Vec<u32>,
    inputs: Vec<Signal>,
    index: HashTable<u32>,
    /// The role of each input.
    role_of: Vec<u32>,
    /// The gates of each role's inputs.
    of_role: Vec<Vec<GateId>>,
}

impl Gates {
    pub(crate) fn new(n_roles: usize) -> Gates {
        Gates {
            kinds: vec![Kind::False],
            starts: vec![0, 0],
            inputs: Vec::new(),
            index: HashTable::new(),
            role_of: Vec::new(),
            of_role: vec![Vec::new(); n_roles],
        }
    }

    /// Makes room for so many Ands.
    pub(super) fn reserve(&mut self, n_gates: usize) {
        let Gates { index, starts, inputs, .. } = self;
        index.reserve(n_gates, |&gate| {
            hash_signals(&inputs[starts[gate as usize] as usize..starts[gate as usize + 1] as usize])
        });
    }

    pub(crate) fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Bytes of memory, roughly.
    pub(crate) fn bytes(&self) -> usize {
        self.kinds.capacity() * 12 + self.inputs.capacity() * 4 + self.index.capacity() * 5
    }

    /// All gates, each behind its inputs.
    pub(crate) fn ids(&self) -> impl Iterator<Item = GateId> + use<> {
        (0..u32::try_from(self.kinds.len()).expect("gates are 32 bits")).map(GateId)
    }

    pub(crate) fn kind(&self, gate: GateId) -> Kind {
        self.kinds[gate.idx()]
    }

    /// The inputs of an And, in ascending order; none of other gates.
    pub(crate) fn inputs(&self, gate: GateId) -> &[Signal] {
        &self.inputs[self.starts[gate.idx()] as usize..self.starts[gate.idx() + 1] as usize]
    }

    /// Whether a signal is the output of an And, not its complement.
    pub(crate) fn is_and(&self, signal: Signal) -> bool {
        !signal.is_negated() && self.kind(signal.gate()) == Kind::And
    }

    /// The gates of a role's moves.
    pub(crate) fn moves_of(&self, role: usize) -> &[GateId] {
        &self.of_role[role]
    }

    fn push(&mut self, kind: Kind) -> GateId {
        let id =
            GateId(u32::try_from(self.kinds.len()).expect("the budget of memory ends before 2^31 gates"));
        self.kinds.push(kind);
        self.starts
            .push(u32::try_from(self.inputs.len()).expect("the budget of memory ends before 2^32 inputs"));
        id
    }

    /// A new fluent.
    pub(crate) fn base(&mut self, base: usize) -> GateId {
        self.push(Kind::Base(u32::try_from(base).expect("fluents are 32 bits")))
    }

    /// A new move of a role. All moves come before the first And, and each role must have one.
    pub(crate) fn input(&mut self, role: usize) -> GateId {
        let gate = self.push(Kind::Input(u32::try_from(self.role_of.len()).expect("moves are 32 bits")));
        self.role_of.push(u32::try_from(role).expect("roles are 32 bits"));
        self.of_role[role].push(gate);
        gate
    }

    /// A new value that depends on itself.
    pub(crate) fn cycle(&mut self) -> GateId {
        self.push(Kind::Cycle)
    }

    /// The disjunction; uses up `signals`.
    pub(crate) fn or(&mut self, signals: &mut Vec<Signal>) -> Signal {
        signals.iter_mut().for_each(|signal| *signal = !*signal);
        !self.and(signals)
    }

    /// The conjunction; uses up `signals`.
    pub(crate) fn and(&mut self, signals: &mut Vec<Signal>) -> Signal {
        signals.sort_unstable();
        signals.dedup();
        if signals.first() == Some(&Signal::FALSE) {
            return Signal::FALSE;
        }
        signals.retain(|&signal| signal != Signal::TRUE);
        if has_contradiction(signals) || !self.use_one_move_each(signals) {
            return Signal::FALSE;
        }
        match signals[..] {
            [] => Signal::TRUE,
            [only] => only,
            _ => Signal::of(self.and_gate(signals)),
        }
    }

    /// The gate of two or more signals in ascending order.
    fn and_gate(&mut self, signals: &[Signal]) -> GateId {
        let hash = hash_signals;
        let same = |&gate: &u32| self.inputs(GateId(gate)) == signals;
        if let Some(&known) = self.index.find(hash(signals), same) {
            return GateId(known);
        }
        self.inputs.extend_from_slice(signals);
        let gate = self.push(Kind::And);
        let Gates { index, starts, inputs, .. } = self;
        index.insert_unique(hash(signals), gate.0, |&other| {
            hash(&inputs[starts[other as usize] as usize..starts[other as usize + 1] as usize])
        });
        gate
    }

    /// The role whose move a signal is about.
    pub(super) fn role_of(&self, signal: Signal) -> Option<usize> {
        match self.kind(signal.gate()) {
            Kind::Input(input) => Some(self.role_of[input as usize] as usize),
            _ => None,
        }
    }

    /// Simplifies a conjunction by "each role makes exactly one move"; false if it contradicts that.
    fn use_one_move_each(&mut self, signals: &mut Vec<Signal>) -> bool {
        if !signals.iter().any(|&signal| self.role_of(signal).is_some()) {
            return true;
        }
        for role in 0..self.of_role.len() {
            let n_moves = self.of_role[role].len();
            let of_role: Vec<Signal> =
                signals.iter().copied().filter(|&signal| self.role_of(signal) == Some(role)).collect();
            let n_negated = of_role.iter().filter(|signal| signal.is_negated()).count();
            match (of_role.len() - n_negated, n_negated) {
                (0, 0) => {}
                (0, negated) if negated == n_moves => return false,
                // Rather one of the few others than none of the many.
                (0, negated) if 2 * negated > n_moves => {
                    let others = self.of_role[role].iter().map(|&gate| Signal::of(gate));
                    let mut others: Vec<Signal> =
                        others.filter(|&other| !of_role.contains(&!other)).collect();
                    signals.retain(|signal| !of_role.contains(signal));
                    let one_of_them = self.or(&mut others);
                    if let Err(place) = signals.binary_search(&one_of_them) {
                        signals.insert(place, one_of_them);
                    }
                }
                (0, _) => {}
                (1, _) if n_moves == 1 => signals.retain(|signal| !of_role.contains(signal)),
                (1, 0) => {}
                (1, _) => signals.retain(|signal| !(signal.is_negated() && of_role.contains(signal))),
                _ => return false,
            }
        }
        true
    }
}

fn hash_signals(signals: &[Signal]) -> u64 {
    hash_all(0, signals.iter().map(|signal| signal.0))
}

/// Whether a signal and its complement, which are neighbours, are both there.
fn has_contradiction(signals: &[Signal]) -> bool {
    signals.windows(2).any(|pair| pair[0] == !pair[1])
}
