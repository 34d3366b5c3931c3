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
    /// Where its value stands in the states of rollouts that begin.
    at_begin: Place,
}

/// Lanes whose next state is not what the circuit says.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Exceptions<'a, L> {
    /// Those in which goals stay as they are.
    pub(in super::super) over: L,
    /// Those that get another state.
    pub(in super::super) begins: L,
    /// By base: that state.
    pub(in super::super) states: &'a [L],
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
            let [at_wire, from, at_begin] = [wire, tap.wire(), base].map(Place::of::<L>);
            let change = Change { base: at_wire, from, at_begin };
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
        match (exceptions.over.any(), exceptions.begins.any()) {
            (false, false) => self.apply_except::<false, false>(wires, exceptions),
            (false, true) => self.apply_except::<false, true>(wires, exceptions),
            (true, false) => self.apply_except::<true, false>(wires, exceptions),
            (true, true) => self.apply_except::<true, true>(wires, exceptions),
        }
    }

    #[inline(always)]
    fn apply_except<const HAS_OVER: bool, const HAS_BEGINS: bool>(
        &mut self,
        wires: &mut Wires<L>,
        exceptions: &Exceptions<'_, L>,
    ) {
        let &Exceptions { over, begins, states } = exceptions;
        for (tap, value) in &mut self.shifts {
            *value = wires.tap(*tap);
        }
        assert!(self.n_wires <= wires.all().len(), "the wires are those of the circuit");
        assert!(self.n_bases <= states.len(), "there is a state for all bases");
        let wires = wires.all_mut().as_mut_ptr();
        let setting = Setting { wires, states: states.as_ptr(), over, begins };
        // SAFETY: bases and what they become have wires of the circuit, of which there are enough, and bases have
        // states.
        unsafe {
            for change in &self.plain.of_goals {
                setting.set::<HAS_OVER, HAS_BEGINS>(change, *at(wires, change.from));
            }
            for change in &self.plain.others {
                setting.set::<false, HAS_BEGINS>(change, *at(wires, change.from));
            }
            for change in &self.negated.of_goals {
                setting.set::<HAS_OVER, HAS_BEGINS>(change, (*at(wires, change.from)).not());
            }
            for change in &self.negated.others {
                setting.set::<false, HAS_BEGINS>(change, (*at(wires, change.from)).not());
            }
            for (change, &(_, new)) in self.shifted.iter().zip(&self.shifts) {
                setting.set::<HAS_OVER, HAS_BEGINS>(change, new);
            }
            if HAS_BEGINS {
                for change in &self.kept {
                    setting.set::<HAS_OVER, HAS_BEGINS>(change, *at(wires, change.from));
                }
            }
        }
    }
}

/// Where bases are set, and in which lanes otherwise than by the circuit.
struct Setting<L> {
    wires: *mut L,
    states: *const L,
    over: L,
    begins: L,
}

impl<L: Lanes> Setting<L> {
    /// Sets a base.
    ///
    /// # Safety
    /// The places of the change are those of wires behind `wires` and of a state behind `states`.
    #[inline(always)]
    unsafe fn set<const HAS_OVER: bool, const HAS_BEGINS: bool>(&self, change: &Change, mut value: L) {
        // SAFETY: as promised.
        unsafe {
            let base = at(self.wires, change.base);
            if HAS_OVER {
                value = self.over.pick(*base, value);
            }
            if HAS_BEGINS {
                value = self.begins.pick(*at(self.states.cast_mut(), change.at_begin), value);
            }
            *base = value;
        }
    }
}
