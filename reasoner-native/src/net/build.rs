//! From ground rules to gates: an atom is the disjunction of the bodies of its rules.

use gdl::Rules;
use reasoner::Value;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Base, Cycle, Gates, Goal, Input, Net, Signal};
use crate::ground::{AtomId, GroundError, GroundRules};
use crate::terms::TermId;

/// Makes the gates of everything that can be asked; goals above `max_goal` are none.
///
/// # Errors
/// [`GroundError::NotStratified`] if an atom depends on its own negation.
pub(crate) fn build(
    rules: &Rules,
    ground: &GroundRules,
    roles: &[TermId],
    max_goal: Value,
) -> Result<Net, GroundError> {
    let mut builder = Builder {
        bodies: Bodies::of(ground),
        signals: vec![State::Unseen; ground.atoms.len()],
        gates: Gates::new(roles.len()),
        cycles: Vec::new(),
        cycle_of: FxHashMap::default(),
    };
    let initial: FxHashSet<TermId> = ground.initial.iter().copied().collect();
    let mut bases = Vec::new();
    for (base_idx, atom) in by_text(rules, ground, &ground.bases, 0).into_iter().enumerate() {
        let gate = builder.gates.base(base_idx);
        builder.signals[atom.idx()] = State::Done(Signal::of(gate));
        let fluent = TermId(ground.atoms.args(atom)[0]);
        bases.push(Base { fluent, gate, next: Signal::FALSE, is_initial: initial.contains(&fluent) });
    }
    let mut inputs = Vec::new();
    let moves = by_text(rules, ground, &ground.inputs, 1);
    for (role, &name) in roles.iter().enumerate() {
        for &atom in moves.iter().filter(|&&atom| ground.atoms.args(atom)[0] == name.0) {
            let gate = builder.gates.input(role);
            builder.signals[atom.idx()] = State::Done(Signal::of(gate));
            let a_move = TermId(ground.atoms.args(atom)[1]);
            inputs.push(Input { role, a_move, gate, legal: Signal::FALSE });
        }
    }
    for base in &mut bases {
        base.next = builder.signal(ground.next(base.fluent), rules)?;
    }
    for input in &mut inputs {
        input.legal = builder.signal(ground.legal(roles[input.role], input.a_move), rules)?;
    }
    let terminal = builder.signal(ground.terminal(), rules)?;
    let mut goals = Vec::new();
    for &atom in &ground.goals {
        let &[name, value] = ground.atoms.args(atom) else { continue };
        let role = roles.iter().position(|role| role.0 == name);
        let value = value_of(rules, ground, TermId(value)).filter(|&value| value <= max_goal);
        if let (Some(role), Some(value)) = (role, value) {
            goals.push(Goal { role, value, holds: builder.signal(Some(atom), rules)? });
        }
    }
    let Builder { gates, cycles, .. } = builder;
    Ok(Net {
        gates,
        n_roles: roles.len(),
        bases,
        constants: Vec::new(),
        inputs,
        terminal,
        goals,
        cycles,
        keeps_bases: false,
    })
}

/// Atoms in the order of the text of one argument: an order that does not depend on how they were found.
fn by_text(rules: &Rules, ground: &GroundRules, atoms: &[AtomId], arg: usize) -> Vec<AtomId> {
    let mut atoms = atoms.to_vec();
    let text = |atom: &AtomId| ground.terms.to_term(rules, TermId(ground.atoms.args(*atom)[arg])).to_string();
    atoms.sort_by_cached_key(text);
    atoms
}

/// The number that a term names.
fn value_of(rules: &Rules, ground: &GroundRules, term: TermId) -> Option<Value> {
    let is_name = ground.terms.n_args(term) == 0;
    rules.symbols().name(ground.terms.functor(term)).parse().ok().filter(|_| is_name)
}

/// The ground rules by head.
struct Bodies<'a> {
    ground: &'a GroundRules,
    /// Where the rules of each atom begin in `rules`, and where the last end.
    starts: Vec<u32>,
    /// Places of rules.
    places: Vec<u32>,
}

impl<'a> Bodies<'a> {
    fn of(ground: &'a GroundRules) -> Bodies<'a> {
        let narrow = |n: usize| u32::try_from(n).expect("ground rules are bounded by a budget");
        let mut starts = vec![0u32; ground.atoms.len() + 1];
        ground.instances().for_each(|instance| starts[instance.head.idx() + 1] += 1);
        for idx in 1..starts.len() {
            starts[idx] += starts[idx - 1];
        }
        let mut free = starts.clone();
        let mut places = vec![0; starts.last().map_or(0, |&n| n as usize)];
        let mut place = 0;
        for instance in ground.instances() {
            let slot = &mut free[instance.head.idx()];
            places[*slot as usize] = narrow(place);
            *slot += 1;
            place = instance.end;
        }
        Bodies { ground, starts, places }
    }

    /// The rules of an atom: their places.
    fn places(&self, atom: AtomId) -> std::ops::Range<u32> {
        self.starts[atom.idx()]..self.starts[atom.idx() + 1]
    }
}

/// How far an atom is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Unseen,
    /// Being made: whoever needs it now is part of a cycle.
    Open,
    Done(Signal),
}

struct Builder<'a> {
    bodies: Bodies<'a>,
    /// By atom.
    signals: Vec<State>,
    gates: Gates,
    cycles: Vec<Cycle>,
    cycle_of: FxHashMap<AtomId, Signal>,
}

/// An atom being made.
struct Frame {
    atom: AtomId,
    /// The rules not looked at yet.
    rules: std::ops::Range<u32>,
    /// Bodies that are made.
    bodies: Vec<Signal>,
}

impl Builder<'_> {
    /// The signal of an atom; depth first, on a stack of our own.
    fn signal(&mut self, atom: Option<AtomId>, rules: &Rules) -> Result<Signal, GroundError> {
        let Some(atom) = atom else { return Ok(Signal::FALSE) };
        let mut frames = Vec::new();
        self.open(atom, &mut frames);
        while let Some(frame) = frames.last_mut() {
            let Some(rule) = frame.rules.clone().next() else {
                let Frame { atom, mut bodies, .. } = frames.pop().expect("there is a frame");
                self.close(atom, &mut bodies);
                continue;
            };
            match self.body(rule, rules)? {
                Body::Needs(needed) => self.open(needed, &mut frames),
                Body::Is(signal) => {
                    frame.rules.start += 1;
                    frame.bodies.push(signal);
                    if signal == Signal::TRUE {
                        frame.rules.start = frame.rules.end;
                    }
                }
            }
        }
        let State::Done(signal) = self.signals[atom.idx()] else { unreachable!("all frames are closed") };
        Ok(signal)
    }

    fn open(&mut self, atom: AtomId, frames: &mut Vec<Frame>) {
        if self.signals[atom.idx()] == State::Unseen {
            self.signals[atom.idx()] = State::Open;
            frames.push(Frame { atom, rules: self.bodies.places(atom), bodies: Vec::new() });
        }
    }

    fn close(&mut self, atom: AtomId, bodies: &mut Vec<Signal>) {
        let signal = self.gates.or(bodies);
        let signal = match self.cycle_of.get(&atom) {
            Some(&cycle) => {
                self.cycles.push(Cycle { gate: cycle.gate(), definition: signal });
                cycle
            }
            None => signal,
        };
        self.signals[atom.idx()] = State::Done(signal);
    }

    /// The conjunction of a rule's body, or an atom that must be made before.
    fn body(&mut self, rule: u32, rules: &Rules) -> Result<Body, GroundError> {
        let ground = self.bodies.ground;
        let instance = ground.instance_at(self.bodies.places[rule as usize] as usize);
        let mut signals = Vec::with_capacity(instance.holds.len() + instance.negated.len());
        let holds = instance.holds.iter().map(|&atom| (AtomId(atom), false));
        let negated = instance.negated.iter().map(|&atom| (AtomId(atom), true));
        for (atom, is_negated) in holds.chain(negated) {
            match self.signals[atom.idx()] {
                State::Unseen => return Ok(Body::Needs(atom)),
                State::Open if is_negated => {
                    return Err(GroundError::NotStratified(ground.atom_text(atom, rules)));
                }
                State::Open => {
                    let gates = &mut self.gates;
                    let cycle = self.cycle_of.entry(atom).or_insert_with(|| Signal::of(gates.cycle()));
                    signals.push(*cycle);
                }
                State::Done(signal) => {
                    let signal = signal.negated_if(is_negated);
                    if signal == Signal::FALSE {
                        return Ok(Body::Is(Signal::FALSE));
                    }
                    signals.push(signal);
                }
            }
        }
        Ok(Body::Is(self.gates.and(&mut signals)))
    }
}

enum Body {
    Needs(AtomId),
    Is(Signal),
}
