//! The propnet as a [`Session`].

use std::sync::Arc;

use gdl::Term;
use reasoner::{
    Expansion, Fluent, GoalAnswer, Interrupt, Lot, MAX_ROLLOUT_STEPS, Move, Policy, Reasoner, ReasonerError,
    Role, RolloutEnd, Rollouts, Session, Tally, Value,
};

use super::Propnet;
use super::circuit::{Circuit, Cone};
use super::lanes::Lanes;
use super::ledger::{Batch, Ledger, Series};
use super::rollout::{Circuits, RollOut, STEPS_AT_ONCE};
use super::scalar::Scalar;
use super::sliced::Sliced;
use super::state::BitState;
use super::width::{BatchWidths, InLanes, SeriesWidths};

/// Below so many rollouts, lanes are not worth their filling.
const MIN_BATCH: usize = 4;

/// Rollouts of a series in lanes at once. Steps are 32 bits: were all games as long as can be, 64 lanes played them in a
/// tenth of those.
const MAX_SERIES: u32 = 1 << 20;
const _: () = assert!(MAX_SERIES as u64 * MAX_ROLLOUT_STEPS as u64 / 64 < u32::MAX as u64 / 10);

/// One thread's hold on a [`Propnet`].
#[derive(Debug)]
pub struct PropnetSession {
    propnet: Arc<Propnet>,
    interrupt: Interrupt,
    scalar: Scalar,
    batches: BatchWidths,
    series: SeriesWidths,
    goals: Vec<Value>,
    lengths: Vec<u32>,
    /// Of the moves made in some states, state by state.
    move_wires: Vec<usize>,
}

/// Rollouts; whether they were finished before the interrupt was raised.
struct RollingOut<'a, B> {
    circuits: Circuits<'a>,
    ledger: B,
    interrupt: &'a Interrupt,
}

impl InLanes for RollingOut<'_, Batch<'_>> {
    type Output = bool;

    #[inline(always)]
    fn run<L: Lanes>(self, sliced: &mut Sliced<L>) -> bool {
        self.roll_out(sliced)
    }
}

impl InLanes for RollingOut<'_, Series<'_>> {
    type Output = bool;

    #[inline(always)]
    fn run<L: Lanes>(self, sliced: &mut Sliced<L>) -> bool {
        self.roll_out(sliced)
    }
}

impl<B> RollingOut<'_, B> {
    #[inline(always)]
    fn roll_out<L: Lanes>(self, sliced: &mut Sliced<L>) -> bool
    where
        B: Ledger<L>,
    {
        let RollingOut { circuits, ledger, interrupt } = self;
        RollOut { circuits, sliced, ledger, interrupt }.run()
    }
}

struct Expanding<'a> {
    propnet: &'a Propnet,
    states: &'a [BitState],
    expansions: &'a mut [Expansion],
}

impl InLanes for Expanding<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, sliced: &mut Sliced<L>) {
        let Propnet { circuit, moves, .. } = self.propnet;
        for (states, expansions) in self.states.chunks(L::N).zip(self.expansions.chunks_mut(L::N)) {
            sliced.expand(circuit, &moves.of_role, states, expansions);
        }
    }
}

struct Advancing<'a> {
    circuit: &'a Circuit,
    states: &'a [BitState],
    /// By state, one for each role.
    move_wires: &'a [usize],
    next: &'a mut Vec<BitState>,
}

impl InLanes for Advancing<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, sliced: &mut Sliced<L>) {
        let n_each = self.move_wires.len() / self.states.len();
        for (states, wires) in self.states.chunks(L::N).zip(self.move_wires.chunks(L::N * n_each)) {
            sliced.advance(self.circuit, states, wires, self.next);
        }
    }
}

impl PropnetSession {
    pub(super) fn new(propnet: Arc<Propnet>, interrupt: &Interrupt) -> PropnetSession {
        PropnetSession {
            scalar: Scalar::new(&propnet.circuit),
            batches: BatchWidths::of(&propnet),
            series: SeriesWidths::of(&propnet),
            interrupt: interrupt.clone(),
            goals: Vec::new(),
            lengths: Vec::new(),
            move_wires: Vec::new(),
            propnet,
        }
    }

    /// Evaluates legality and the end of the game in a state.
    fn load(&mut self, state: &BitState) {
        self.scalar.load(&self.propnet.circuit, state);
        self.scalar.evaluate(&self.propnet.circuit, Cone::Legal);
    }

    /// Expands a state in which a role may have no move.
    fn expand_any(&mut self, state: &BitState, expansion: &mut Expansion) {
        expansion.clear();
        self.load(state);
        let Self { propnet, scalar, .. } = self;
        if scalar.tap(propnet.circuit.terminal) {
            expansion.terminal = true;
            return scalar.goals(&propnet.circuit, &mut expansion.goals);
        }
        for (role, numbers) in propnet.moves.of_role.iter().enumerate() {
            let legal = scalar.legal(&propnet.circuit, role);
            expansion.moves.extend(legal.map(|input| Move(numbers[input])));
            expansion.ends.push(expansion.moves.len());
        }
    }

    /// Finds the wires of moves; false if one has none.
    fn has_wires(&mut self, joint_moves: &[Move]) -> bool {
        let n_roles = self.propnet.n_roles();
        for joint_move in joint_moves.chunks_exact(n_roles) {
            for (role, &a_move) in joint_move.iter().enumerate() {
                let Ok(input) = self.propnet.moves.of_role[role].binary_search(&a_move.0) else {
                    return false;
                };
                self.move_wires.push(self.propnet.circuit.first_moves[role] + input);
            }
        }
        true
    }

    /// The number of a role's move among its own.
    fn input(&self, role: usize, a_move: Move) -> Result<usize, ReasonerError> {
        let moves = &self.propnet.moves.of_role[role];
        moves.binary_search(&a_move.0).map_err(|_| ReasonerError::Unknown {
            what: "move",
            term: format!("{} of role {}", self.term_of_move(a_move), self.roles()[role]),
        })
    }

    fn term_of_move(&self, a_move: Move) -> Term {
        self.propnet.terms.to_term(&self.propnet.rules, self.propnet.moves.terms[a_move.0 as usize])
    }
}

impl Session for PropnetSession {
    type State = BitState;

    fn roles(&self) -> &[Term] {
        self.propnet.rules.roles()
    }

    fn initial_state(&mut self) -> Result<BitState, ReasonerError> {
        Ok(self.propnet.initial.clone())
    }

    fn state_of(&mut self, fluents: &[Term]) -> Result<BitState, ReasonerError> {
        let Propnet { rules, terms, bases, constants, .. } = &*self.propnet;
        let (mut held, mut missing) = (Vec::new(), constants.clone());
        for fluent in fluents {
            let unknown = || ReasonerError::Unknown { what: "fluent", term: fluent.to_string() };
            let term = terms.find_term(rules, fluent).ok_or_else(unknown)?;
            match bases.get(&term) {
                Some(&base) => held.push(base),
                None if constants.contains(&term) => _ = missing.remove(&term),
                None => return Err(unknown()),
            }
        }
        if let Some(&term) = missing.iter().min() {
            let term = terms.to_term(rules, term);
            return Err(ReasonerError::Engine(format!(
                "{term} holds in every reachable state; the propnet knows no other states"
            )));
        }
        Ok(BitState::of(bases.len(), held.into_iter()))
    }

    fn is_terminal(&mut self, state: &BitState) -> Result<bool, ReasonerError> {
        self.load(state);
        Ok(self.scalar.tap(self.propnet.circuit.terminal))
    }

    fn legal_moves(
        &mut self,
        state: &BitState,
        role: Role,
        moves: &mut Vec<Move>,
    ) -> Result<(), ReasonerError> {
        self.load(state);
        let numbers = &self.propnet.moves.of_role[role.idx()];
        moves.extend(self.scalar.legal(&self.propnet.circuit, role.idx()).map(|input| Move(numbers[input])));
        Ok(())
    }

    fn next_state(&mut self, state: &BitState, joint_move: &[Move]) -> Result<BitState, ReasonerError> {
        ReasonerError::check_joint_move(joint_move.len(), self.propnet.n_roles())?;
        let mut inputs = Vec::with_capacity(joint_move.len());
        for (role, &a_move) in joint_move.iter().enumerate() {
            inputs.push(self.input(role, a_move)?);
        }
        self.load(state);
        let Self { propnet, scalar, .. } = self;
        let circuit = &propnet.circuit;
        inputs.iter().enumerate().for_each(|(role, &input)| scalar.set_move(circuit, role, input, true));
        circuit.cones_of_next().iter().for_each(|&cone| scalar.evaluate(circuit, cone));
        let next = scalar.next(circuit).enumerate().filter(|&(_, holds)| holds).map(|(base, _)| base);
        let next = BitState::of(circuit.n_bases, next);
        inputs.iter().enumerate().for_each(|(role, &input)| scalar.set_move(circuit, role, input, false));
        Ok(next)
    }

    fn goals(&mut self, state: &BitState, goals: &mut Vec<GoalAnswer>) -> Result<(), ReasonerError> {
        self.load(state);
        self.scalar.goals(&self.propnet.circuit, goals);
        Ok(())
    }

    fn expand(&mut self, state: &BitState, expansion: &mut Expansion) -> Result<(), ReasonerError> {
        self.expand_any(state, expansion);
        let stuck = Role::all(self.propnet.n_roles()).find(|&role| expansion.moves_of(role).is_empty());
        match stuck.filter(|_| !expansion.terminal) {
            Some(role) => Err(ReasonerError::NotPlayable { role: self.roles()[role.idx()].to_string() }),
            None => Ok(()),
        }
    }

    fn expand_all(
        &mut self,
        states: &[BitState],
        expansions: &mut Vec<Expansion>,
    ) -> Result<(), ReasonerError> {
        expansions.resize_with(states.len(), Expansion::default);
        if states.len() < MIN_BATCH || self.batches.is_scalar() {
            for (state, expansion) in states.iter().zip(expansions) {
                self.expand_any(state, expansion);
            }
            return Ok(());
        }
        let propnet = &*self.propnet;
        let width = self.batches.for_batch(states.len());
        width.with(propnet, Expanding { propnet, states, expansions });
        Ok(())
    }

    fn next_states(
        &mut self,
        states: &[BitState],
        joint_moves: &[Move],
        next: &mut Vec<BitState>,
    ) -> Result<(), ReasonerError> {
        let n_roles = self.propnet.n_roles();
        assert_eq!(joint_moves.len(), states.len() * n_roles, "one move for each role of each state");
        next.clear();
        self.move_wires.clear();
        let has_lanes = states.len() >= MIN_BATCH && !self.batches.is_scalar();
        if !has_lanes || !self.has_wires(joint_moves) {
            for (state, joint_move) in states.iter().zip(joint_moves.chunks_exact(n_roles)) {
                next.push(self.next_state(state, joint_move)?);
            }
            return Ok(());
        }
        let Self { propnet, batches, move_wires, .. } = self;
        let advancing = Advancing { circuit: &propnet.circuit, states, move_wires, next };
        batches.for_batch(states.len()).with(propnet, advancing);
        Ok(())
    }

    fn rollout_with(
        &mut self,
        state: &BitState,
        seed: u64,
        policy: &mut impl Policy,
        mut played: Option<&mut Vec<Move>>,
    ) -> Result<RolloutEnd, ReasonerError> {
        let Self { propnet, scalar, interrupt, .. } = self;
        let circuit = &propnet.circuit;
        let (mut inputs, mut moves, mut made) = (Vec::new(), Vec::new(), Vec::new());
        let (mut length, mut n_choices) = (0, 0u32);
        scalar.load(circuit, state);
        let terminal = 'steps: loop {
            scalar.evaluate(circuit, Cone::Legal);
            let terminal = scalar.tap(circuit.terminal);
            if terminal || length == MAX_ROLLOUT_STEPS {
                break terminal;
            }
            if length % STEPS_AT_ONCE == 0 && interrupt.is_raised() {
                return Err(ReasonerError::Interrupted);
            }
            made.clear();
            for (role, numbers) in Role::all(propnet.n_roles()).zip(&propnet.moves.of_role) {
                inputs.clear();
                inputs.extend(scalar.legal(circuit, role.idx()));
                if inputs.is_empty() {
                    break 'steps false;
                }
                moves.clear();
                moves.extend(inputs.iter().map(|&input| Move(numbers[input])));
                let choice = policy.choose(role, &moves, Lot::new(seed, n_choices));
                n_choices = n_choices.wrapping_add(1);
                made.push((inputs[choice], moves[choice]));
            }
            if let Some(played) = played.as_deref_mut() {
                played.extend(made.iter().map(|&(_, a_move)| a_move));
            }
            for (role, &(input, _)) in made.iter().enumerate() {
                scalar.set_move(circuit, role, input, true);
            }
            scalar.evaluate(circuit, Cone::Shared);
            scalar.evaluate(circuit, Cone::Next);
            scalar.advance(circuit);
            for (role, &(input, _)) in made.iter().enumerate() {
                scalar.set_move(circuit, role, input, false);
            }
            length += 1;
        };
        let mut goals = Vec::new();
        scalar.goals(circuit, &mut goals);
        let goals = goals.iter().map(|goal| goal.at_end().unwrap_or(0)).collect();
        Ok(RolloutEnd { length, goals, terminal })
    }

    fn fluents(&mut self, state: &BitState, fluents: &mut Vec<Fluent>) {
        let n_bases = self.propnet.circuit.n_bases;
        let holds = |&fluent: &usize| fluent >= n_bases || state.has(fluent);
        let fluent = |fluent: usize| Fluent(u32::try_from(fluent).expect("fluents are 32 bits"));
        fluents.extend((0..self.propnet.fluents.len()).filter(holds).map(fluent));
    }

    fn fluent_term(&mut self, fluent: Fluent) -> Term {
        self.propnet.terms.to_term(&self.propnet.rules, self.propnet.fluents[fluent.0 as usize])
    }

    fn move_term(&mut self, a_move: Move) -> Term {
        self.term_of_move(a_move)
    }

    fn move_of(&mut self, term: &Term) -> Result<Move, ReasonerError> {
        let Propnet { rules, terms, moves, .. } = &*self.propnet;
        let number = terms.find_term(rules, term).and_then(|term| moves.numbers.get(&term));
        number
            .map(|&number| Move(number))
            .ok_or_else(|| ReasonerError::Unknown { what: "move", term: term.to_string() })
    }

    fn rollouts(
        &mut self,
        states: &[BitState],
        seeds: &[u64],
        ends: &mut Rollouts,
    ) -> Result<(), ReasonerError> {
        let n_each = Rollouts::n_each(states.len(), seeds.len());
        let n_roles = self.propnet.n_roles();
        ends.clear(n_roles);
        if seeds.len() < MIN_BATCH || self.batches.is_scalar() {
            for (state, seeds) in states.iter().zip(seeds.chunks(n_each)) {
                for &seed in seeds {
                    ends.push(&self.rollout_with(state, seed, &mut reasoner::Uniform, None)?);
                }
            }
            return Ok(());
        }
        self.goals.clear();
        self.goals.resize(seeds.len() * n_roles, 0);
        self.lengths.clear();
        self.lengths.resize(seeds.len(), 0);
        let Self { propnet, batches, interrupt, goals, lengths, .. } = self;
        let phases: Option<Vec<usize>> = states.iter().map(|state| propnet.course.phase_of(state)).collect();
        let circuits = propnet.circuits(phases.is_some());
        let phases = phases.unwrap_or_else(|| vec![0; states.len()]);
        let n_phases = circuits.phases.len();
        let ledger = Batch::new(states, phases.into_iter(), n_phases, seeds, (goals, lengths));
        let rolling_out = RollingOut { circuits, ledger, interrupt };
        let is_finished = batches.for_batch(seeds.len()).with(propnet, rolling_out);
        if !is_finished {
            return Err(ReasonerError::Interrupted);
        }
        for (rollout, &length) in self.lengths.iter().enumerate() {
            ends.push_parts(&self.goals[rollout * n_roles..][..n_roles], length);
        }
        Ok(())
    }

    fn tally(
        &mut self,
        state: &BitState,
        seed: u64,
        n_rollouts: u32,
        tally: &mut Tally,
    ) -> Result<(), ReasonerError> {
        if (n_rollouts as usize) < MIN_BATCH || self.batches.is_scalar() {
            for rollout in 0..n_rollouts {
                let seed = Lot::seed_in_series(seed, rollout);
                tally.add(&self.rollout_with(state, seed, &mut reasoner::Uniform, None)?);
            }
            return Ok(());
        }
        let Self { propnet, series, interrupt, .. } = self;
        let phase = propnet.course.phase_of(state);
        let circuits = propnet.circuits(phase.is_some());
        let phase = phase.unwrap_or(0);
        let mut n_begun = 0;
        while n_begun < n_rollouts {
            let n_left = n_rollouts - n_begun;
            let is_trial = series.are_on_trial() && n_left >= SeriesWidths::TRIAL;
            let end = n_begun + n_left.min(if is_trial { SeriesWidths::TRIAL } else { MAX_SERIES });
            let ledger = Series { state, phase, seed, n_rollouts: end, tally, n_begun, n_playing: 0 };
            let rolling_out = RollingOut { circuits, ledger, interrupt };
            let is_finished = match is_trial {
                true => series.try_with(propnet, rolling_out),
                false => series.best().with(propnet, rolling_out),
            };
            if !is_finished {
                return Err(ReasonerError::Interrupted);
            }
            n_begun = end;
        }
        Ok(())
    }
}
