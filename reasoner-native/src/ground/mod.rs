//! Grounding: every instance of every rule that could ever matter.
//!
//! In go [`Rules`] and the fluents of the initial state, out come [`GroundRules`]. Clauses are lowered ([`clause`]),
//! split where that makes them narrower ([`decompose`], after [`unfold`]), rewritten where a predicate would be too large
//! ([`demand`]), and evaluated bottom up with all negated atoms that depend
//! on the state taken as possible ([`saturate`], by the plans of [`plan`], run by [`join`] over [`database`]).
//!
//! What it deliberately does not do: simplify. The network of gates that is made of the ground rules does that.

mod clause;
mod database;
mod decompose;
mod demand;
mod join;
mod plan;
mod progress;
mod saturate;
#[cfg(test)]
mod testing;
mod unfold;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Instant;

use gdl::{Position, RelationId, Rules, Term};
use reasoner::Interrupt;

use crate::terms::{TermId, Terms};
use clause::Functor;
pub(crate) use database::{AtomId, Atoms};
use database::{Database, PredicateId};
use join::Meter;
pub use progress::{Progress, Stage, Watch};
pub(crate) use saturate::Instance;
use saturate::{Keywords, Saturated};

/// Why rules have no ground rules.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GroundError {
    /// The interrupt was raised.
    #[error("interrupted")]
    Interrupted,
    /// The time is over.
    #[error("the time for grounding is over{}", .at.as_ref().map(|at| format!(", in {at}")).unwrap_or_default())]
    OutOfTime {
        /// The relation that was being evaluated.
        at: Option<String>,
    },
    /// The work is done.
    #[error("grounding needs more steps than it may take{}", .at.as_ref().map(|at| format!(", in {at}")).unwrap_or_default())]
    TooMuchWork {
        /// The relation that was being evaluated.
        at: Option<String>,
    },
    /// Terms that nest ever deeper.
    #[error("terms grow without end{}", .at.as_ref().map(|at| format!(", in {at}")).unwrap_or_default())]
    TooDeep {
        /// The relation that was being evaluated.
        at: Option<String>,
    },
    /// The memory is used up.
    #[error("grounding needs more than {bytes} bytes{}", .at.as_ref().map(|at| format!(", in {at}")).unwrap_or_default())]
    OutOfMemory {
        /// The limit.
        bytes: usize,
        /// The relation that was being evaluated.
        at: Option<String>,
    },
    /// A variable of a rule that nothing binds.
    #[error("the variable {variable} of the rule at {position} is never bound")]
    Unbound {
        /// Its name.
        variable: String,
        /// Where the rule begins.
        position: Position,
    },
    /// A relation that is too large even where only what is asked for is evaluated.
    #[error("{0} is too large, even on demand")]
    TooLarge(String),
    /// A negation of something that depends on itself.
    #[error("{0} depends on its own negation; the rules have no meaning there")]
    NotStratified(String),
}

/// What grounding may use.
#[derive(Debug, Clone)]
pub struct Budget {
    /// When to give up.
    pub deadline: Option<Instant>,
    /// Bytes of memory, roughly.
    pub bytes: usize,
    /// Words of ground rules, of split clauses if that makes fewer. What they come to as whole ones may be tried
    /// beyond that, within bounds of its own.
    pub words: usize,
    /// Steps of joins that are left, of all attempts together: unlike time, the same on every machine. Clones share
    /// it.
    pub work: Rc<Cell<u64>>,
    /// Ends it at once.
    pub interrupt: Interrupt,
    /// Who wants to know where the work is.
    pub watch: Option<Watch>,
}

impl Default for Budget {
    /// No end of time, and 4 GiB.
    fn default() -> Budget {
        Budget {
            deadline: None,
            bytes: 4 << 30,
            words: usize::MAX,
            work: Rc::new(Cell::new(u64::MAX)),
            interrupt: Interrupt::new(),
            watch: None,
        }
    }
}

impl Budget {
    /// A stage begins.
    pub(crate) fn enter(&self, stage: Stage) {
        self.watch.iter().for_each(|watch| watch.enter(stage));
    }

    /// Whether it is not used up.
    ///
    /// # Errors
    /// What is used up, or [`GroundError::Interrupted`].
    pub(crate) fn check(&self, bytes: usize) -> Result<(), GroundError> {
        if self.interrupt.is_raised() {
            return Err(GroundError::Interrupted);
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(GroundError::OutOfTime { at: None });
        }
        self.watch.iter().for_each(|watch| watch.note(|progress| progress.bytes = bytes));
        match bytes > self.bytes {
            true => Err(GroundError::OutOfMemory { bytes: self.bytes, at: None }),
            false => Ok(()),
        }
    }
}

/// How rules are grounded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Manner {
    /// Whether clauses are split where that makes them narrower.
    pub(crate) is_decomposed: bool,
    /// Atoms of one predicate beyond which it is evaluated on demand.
    pub(crate) max_atoms: usize,
}

/// All ground rules, and the atoms that they speak of.
#[derive(Debug)]
pub(crate) struct GroundRules {
    pub(crate) terms: Terms,
    pub(crate) atoms: Atoms,
    /// See [`join::Instances`].
    instances: Vec<u32>,
    /// The `true` atoms that may hold.
    pub(crate) bases: Vec<AtomId>,
    /// The fluents that hold at the beginning.
    pub(crate) initial: Vec<TermId>,
    /// The `does` atoms that may hold.
    pub(crate) inputs: Vec<AtomId>,
    /// The `goal` atoms that may hold.
    pub(crate) goals: Vec<AtomId>,
    /// Relations that were evaluated on demand, as text.
    pub(crate) on_demand: Vec<String>,
    keywords: Keywords,
    /// By predicate.
    functors: Vec<Functor>,
}

impl GroundRules {
    fn of(saturated: Saturated, initial: &[TermId], on_demand: Vec<String>) -> GroundRules {
        let Saturated { database, keywords, instances } = saturated;
        let atoms_of = |predicate: PredicateId| database.predicates[predicate.idx()].atoms.clone();
        GroundRules {
            bases: atoms_of(keywords.truth),
            inputs: atoms_of(keywords.does),
            goals: atoms_of(keywords.goal),
            functors: database.predicates.iter().map(|predicate| predicate.functor).collect(),
            initial: initial.to_vec(),
            on_demand,
            keywords,
            instances,
            terms: database.terms,
            atoms: database.atoms,
        }
    }

    /// The ground rules one after the other.
    pub(crate) fn instances(&self) -> impl Iterator<Item = Instance<'_>> {
        let mut next = 0;
        std::iter::from_fn(move || {
            let instance = Instance::at(&self.instances, next)?;
            next = instance.end;
            Some(instance)
        })
    }

    /// Words that the ground rules take.
    pub(crate) fn n_words(&self) -> usize {
        self.instances.len()
    }

    /// The ground rule at a place.
    pub(crate) fn instance_at(&self, place: usize) -> Instance<'_> {
        Instance::at(&self.instances, place).expect("a ground rule begins there")
    }

    /// An atom as text, for messages.
    pub(crate) fn atom_text(&self, atom: AtomId, rules: &Rules) -> String {
        let functor = self.functors[self.atoms.predicate(atom).idx()];
        let args = self.atoms.args(atom).iter().map(|&arg| self.terms.to_term(rules, TermId(arg)));
        match functor.name.idx() < rules.symbols().len() {
            true => Term::Compound(rules.symbols().name(functor.name).into(), args.collect()).to_string(),
            false => functor.text(rules),
        }
    }

    /// The `next` atom of a fluent.
    pub(crate) fn next(&self, fluent: TermId) -> Option<AtomId> {
        self.atoms.find(self.keywords.next, &[fluent.0])
    }

    /// The `legal` atom of a role and its move.
    pub(crate) fn legal(&self, role: TermId, a_move: TermId) -> Option<AtomId> {
        self.atoms.find(self.keywords.legal, &[role.0, a_move.0])
    }

    /// The `terminal` atom.
    pub(crate) fn terminal(&self) -> Option<AtomId> {
        self.atoms.find(self.keywords.terminal, &[])
    }
}

/// Why a run of a plan stopped.
#[derive(Debug)]
enum Stop {
    /// It took more work than a predicate is worth that can be evaluated on demand.
    TooMuch,
    Failed(GroundError),
}

/// Why saturation ended before its time.
#[derive(Debug)]
enum Ended {
    /// A predicate is too large to be evaluated whole.
    TooMuch(Functor),
    Failed(GroundError),
}

impl From<GroundError> for Ended {
    fn from(error: GroundError) -> Ended {
        Ended::Failed(error)
    }
}

/// Grounds rules. `terms` are the terms known before, with which `initial`, the fluents of the initial state, are
/// made.
///
/// Predicates are evaluated whole; one with more than `max_atoms` is evaluated on demand in the next attempt.
///
/// # Errors
/// If the budget is used up, a predicate is too large also on demand, or the rules have no meaning. Nothing stays
/// behind.
pub(crate) fn ground(
    rules: &Rules,
    mut terms: Terms,
    initial: &[TermId],
    manner: Manner,
    budget: &Budget,
) -> Result<GroundRules, GroundError> {
    let mut program = clause::program(rules, &mut terms)?;
    if manner.is_decomposed {
        program = decompose::decompose(unfold::unfold(program));
    }
    let mut demanded = BTreeSet::new();
    let mut meter = Metered::new(budget, manner.max_atoms);
    loop {
        let demanding = demand::on_demand(&program, &demanded);
        let origins = demanding.origins.clone();
        let database = Database::new(terms.clone());
        match saturate::saturate(rules, demanding, database, initial, &mut meter) {
            Ok(saturated) => {
                let on_demand = demanded.iter().map(|functor| functor.text(rules)).collect();
                return Ok(GroundRules::of(saturated, initial, on_demand));
            }
            Err(Ended::Failed(error)) => return Err(error),
            Err(Ended::TooMuch(functor)) => {
                let functor = origins.get(&functor).copied().unwrap_or(functor);
                tracing::debug!(relation = functor.text(rules), ?manner, "too large");
                if !demanded.insert(functor) && !demand_callers(rules, &program, functor, &mut demanded) {
                    return Err(GroundError::TooLarge(functor.text(rules)));
                }
            }
        }
    }
}

/// Demands the predicates that ask for one that is too large even on demand: they ask without binding enough.
/// Whether there are any.
fn demand_callers(
    rules: &Rules,
    program: &clause::Program,
    functor: Functor,
    demanded: &mut BTreeSet<Functor>,
) -> bool {
    let keywords = [RelationId::NEXT, RelationId::LEGAL, RelationId::GOAL, RelationId::TERMINAL];
    let keywords = keywords.map(|relation| clause::functor_of(rules, relation));
    let n_before = demanded.len();
    for clause in &program.clauses {
        let asks = clause.body.iter().any(|it| it.atom().is_some_and(|atom| atom.functor == functor));
        if asks && !keywords.contains(&clause.head.functor) {
            demanded.insert(clause.head.functor);
        }
    }
    demanded.len() > n_before
}

/// A budget as joins look at it.
struct Metered<'a> {
    budget: &'a Budget,
    max_atoms: usize,
    /// What the run of a plan may still cost.
    work_of_run: Option<u64>,
}

/// Steps of one run of a plan, for each atom of the limit, beyond which its predicate had better be evaluated on
/// demand.
const WORK_PER_ATOM: u64 = 100;

impl<'a> Metered<'a> {
    fn new(budget: &'a Budget, max_atoms: usize) -> Metered<'a> {
        Metered { budget, max_atoms, work_of_run: None }
    }
}

impl Meter for Metered<'_> {
    fn begin(&mut self, is_needed_whole: bool) {
        self.work_of_run = (!is_needed_whole).then_some(self.max_atoms as u64 * WORK_PER_ATOM);
    }

    fn max_atoms(&self) -> usize {
        self.max_atoms
    }

    fn spend(&mut self, work: u64, bytes: usize, n_words: usize) -> Result<(), Stop> {
        if n_words > self.budget.words {
            let bytes = self.budget.words.saturating_mul(4);
            return Err(Stop::Failed(GroundError::OutOfMemory { bytes, at: None }));
        }
        self.budget.check(bytes).map_err(Stop::Failed)?;
        let Some(left) = self.budget.work.get().checked_sub(work) else {
            return Err(Stop::Failed(GroundError::TooMuchWork { at: None }));
        };
        self.budget.work.set(left);
        let note =
            |progress: &mut Progress| (progress.steps, progress.words) = (progress.steps + work, n_words);
        self.budget.watch.iter().for_each(|watch| watch.note(note));
        if let Some(left) = &mut self.work_of_run {
            *left = left.checked_sub(work).ok_or(Stop::TooMuch)?;
        }
        Ok(())
    }
}

impl GroundError {
    /// Says where it happened.
    fn in_relation(self, functor: Functor, rules: &Rules) -> GroundError {
        let at = Some(functor.text(rules));
        match self {
            GroundError::OutOfTime { at: None } => GroundError::OutOfTime { at },
            GroundError::OutOfMemory { bytes, at: None } => GroundError::OutOfMemory { bytes, at },
            GroundError::TooDeep { at: None } => GroundError::TooDeep { at },
            GroundError::TooMuchWork { at: None } => GroundError::TooMuchWork { at },
            other => other,
        }
    }
}
