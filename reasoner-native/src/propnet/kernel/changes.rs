//! How the states of all lanes become the next ones.

use super::super::circuit::{Circuit, Tap};
use super::super::evaluate::Wires;
use super::super::lanes::Lanes;
use super::{Place, at};

/// How the state becomes the next one.
#[derive(Debug)]
pub(in super::super) struct Changes<L> {
    /// Bases that become what other wires are.
    plain: Split,
    /// Bases that become the complements of other wires.
    negated: Split,
    /// Bases that become what other bases were.
    shifted: Vec<Change>,
    /// What the latter become, and the memory for it.
    shifts: Vec<(Tap, L)>,
    /// Bases that stay what they are.
    kept: Vec<Change>,
    n_wires: usize,
    n_bases: usize,
}

/// Changes of bases that goals depend on, and of others.
#[derive(Debug, Default)]
struct Split {
    of_goals: Vec<Change>,
    /// After the end, nobody asks for these.
    others: Vec<Change>,
}

impl Split {
    fn push(&mut self, change: Change, is_of_goals: bool) {
        let changes = if is_of_goals { &mut self.of_goals } else { &mut self.others };
        changes.push(change);
    }
}

/// What a base becomes.
#[derive(Debug, Clone, Copy)]
struct Change {
    base: Place,
    from: Place,
    /// Its number, by which the states of rollouts that begin have its value.
    base_idx: u32,
}

/// Lanes whose next state is not what the circuit says.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Exceptions<'a, L> {
    /// Those in which goals stay as they are.
    pub(in super::super) over: L,
    /// Those that get another state.
    pub(in super::super) begins: L,
    /// That state.
    pub(in super::super) at_begin: AtBegin<'a, L>,
}

/// The states in which rollouts begin, by base.
#[derive(Debug, Clone, Copy)]
pub(in super::super) enum AtBegin<'a, L> {
    /// Each lane has its own.
    Each(&'a [L]),
    /// All lanes have the same, of which 64 tell: little memory, which stays in the first cache.
    Everywhere(&'a [u64]),
}

impl<L: Lanes> AtBegin<'_, L> {
    fn n_bases(&self) -> usize {
        match self {
            AtBegin::Each(states) => states.len(),
            AtBegin::Everywhere(states) => states.len(),
        }
    }

    /// Sets all lanes of all bases.
    pub(in super::super) fn copy_to(&self, bases: &mut [L]) {
        match self {
            AtBegin::Each(states) => bases[..states.len()].copy_from_slice(states),
            AtBegin::Everywhere(states) => {
                bases.iter_mut().zip(*states).for_each(|(base, &word)| *base = L::repeated(word));
            }
        }
    }
}

impl<L: Lanes> Changes<L> {
    /// Those of a circuit, with the bases that goals depend on, in whatever circuit they will be evaluated.
    pub(in super::super) fn of(circuit: &Circuit, of_goals: &[bool]) -> Changes<L> {
        let mut changes = Changes {
            plain: Split::default(),
            negated: Split::default(),
            shifted: Vec::new(),
            shifts: Vec::new(),
            kept: Vec::new(),
            n_wires: circuit.n_wires,
            n_bases: circuit.n_relevant,
        };
        let bases = circuit.base_wire(0)..circuit.base_wire(circuit.n_relevant);
        for (base, &tap) in circuit.next[..circuit.n_relevant].iter().enumerate() {
            let wire = circuit.base_wire(base);
            assert!(wire.max(tap.wire()) < circuit.n_wires, "bases and taps are wires of the circuit");
            let [at_wire, from] = [wire, tap.wire()].map(Place::of::<L>);
            let base_idx = u32::try_from(base).expect("bases have wires, which are bounded by a budget");
            let change = Change { base: at_wire, from, base_idx };
            match () {
                () if tap.wire() == wire && !tap.is_negated() => changes.kept.push(change),
                () if bases.contains(&tap.wire()) && tap.wire() != wire => {
                    changes.shifted.push(change);
                    changes.shifts.push((tap, L::NONE));
                }
                () if tap.is_negated() => changes.negated.push(change, of_goals[base]),
                () => changes.plain.push(change, of_goals[base]),
            }
        }
        changes
    }

    /// Makes the next state the state.
    #[inline(always)]
    pub(in super::super) fn apply(&mut self, wires: &mut Wires<L>, exceptions: &Exceptions<'_, L>) {
        assert!(self.n_bases <= exceptions.at_begin.n_bases(), "there is a state for all bases");
        let begins = exceptions.begins;
        match exceptions.at_begin {
            _ if !begins.any() => self.apply_with(wires, exceptions.over, Nowhere),
            AtBegin::Each(states) => {
                self.apply_with(wires, exceptions.over, Each { begins, states: states.as_ptr() })
            }
            AtBegin::Everywhere(states) => {
                self.apply_with(wires, exceptions.over, Everywhere { begins, states: states.as_ptr() });
            }
        }
    }

    #[inline(always)]
    fn apply_with<B: Beginning<L>>(&mut self, wires: &mut Wires<L>, over: L, beginning: B) {
        match over.any() {
            true => self.apply_except::<B, true>(wires, over, beginning),
            false => self.apply_except::<B, false>(wires, over, beginning),
        }
    }

    #[inline(always)]
    fn apply_except<B: Beginning<L>, const HAS_OVER: bool>(
        &mut self,
        wires: &mut Wires<L>,
        over: L,
        beginning: B,
    ) {
        for (tap, value) in &mut self.shifts {
            *value = wires.tap(*tap);
        }
        assert!(self.n_wires <= wires.all().len(), "the wires are those of the circuit");
        let wires = wires.all_mut().as_mut_ptr();
        let setting = Setting { wires, over, beginning };
        // SAFETY: bases and what they become have wires of the circuit, of which there are enough, and bases have
        // states.
        unsafe {
            for change in &self.plain.of_goals {
                setting.set::<HAS_OVER>(change, *at(wires, change.from));
            }
            for change in &self.plain.others {
                setting.set::<false>(change, *at(wires, change.from));
            }
            for change in &self.negated.of_goals {
                setting.set::<HAS_OVER>(change, (*at(wires, change.from)).not());
            }
            for change in &self.negated.others {
                setting.set::<false>(change, (*at(wires, change.from)).not());
            }
            for (change, &(_, new)) in self.shifted.iter().zip(&self.shifts) {
                setting.set::<HAS_OVER>(change, new);
            }
            if B::IS_ANYWHERE {
                for change in &self.kept {
                    setting.set::<HAS_OVER>(change, *at(wires, change.from));
                }
            }
        }
    }
}

/// Which lanes get another state.
trait Beginning<L>: Copy {
    /// Whether any does.
    const IS_ANYWHERE: bool = true;

    /// The value of a base, in these lanes that of their states, elsewhere the one given.
    ///
    /// # Safety
    /// The states have the base.
    unsafe fn pick(self, base_idx: u32, value: L) -> L;
}

#[derive(Clone, Copy)]
struct Nowhere;

#[derive(Clone, Copy)]
struct Each<L> {
    begins: L,
    states: *const L,
}

#[derive(Clone, Copy)]
struct Everywhere<L> {
    begins: L,
    states: *const u64,
}

impl<L: Lanes> Beginning<L> for Nowhere {
    const IS_ANYWHERE: bool = false;

    #[inline(always)]
    unsafe fn pick(self, _: u32, value: L) -> L {
        value
    }
}

impl<L: Lanes> Beginning<L> for Each<L> {
    #[inline(always)]
    unsafe fn pick(self, base_idx: u32, value: L) -> L {
        // SAFETY: as promised.
        self.begins.pick(unsafe { *self.states.add(base_idx as usize) }, value)
    }
}

impl<L: Lanes> Beginning<L> for Everywhere<L> {
    #[inline(always)]
    unsafe fn pick(self, base_idx: u32, value: L) -> L {
        // SAFETY: as promised.
        self.begins.pick(L::repeated(unsafe { *self.states.add(base_idx as usize) }), value)
    }
}

/// Where bases are set, and in which lanes otherwise than by the circuit.
struct Setting<L, B> {
    wires: *mut L,
    over: L,
    beginning: B,
}

impl<L: Lanes, B: Beginning<L>> Setting<L, B> {
    /// Sets a base.
    ///
    /// # Safety
    /// The places of the change are those of wires behind `wires`, and states where rollouts begin have the base.
    #[inline(always)]
    unsafe fn set<const HAS_OVER: bool>(&self, change: &Change, mut value: L) {
        // SAFETY: as promised.
        unsafe {
            let base = at(self.wires, change.base);
            if HAS_OVER {
                value = self.over.pick(*base, value);
            }
            *base = self.beginning.pick(change.base_idx, value);
        }
    }
}
