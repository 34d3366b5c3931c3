//! Runs plans: every match of a clause's conditions becomes a ground rule.

use super::clause::{AtomPattern, Pattern};
use super::database::{AtomId, Atoms, Database, PredicateId, has_functors, term_at};
use super::plan::{Plan, Row, Step, Word};
use super::{GroundError, Stop};
use crate::terms::{TermId, Terms};

/// Ground rules one after the other, in a flat list: the head, how many atoms hold, how many do not, then these.
pub(super) type Instances = Vec<u32>;

/// What running a plan may cost.
pub(super) trait Meter {
    /// A run begins, of a predicate that is needed whole, or could be evaluated on demand.
    fn begin(&mut self, is_needed_whole: bool);

    /// Atoms of a predicate beyond which it had better be evaluated on demand.
    fn max_atoms(&self) -> usize;

    /// Called now and then with the work done since the last call, the bytes that all takes now, and
    /// the words of ground rules.
    ///
    /// # Errors
    /// If it is enough.
    fn spend(&mut self, work: u64, bytes: usize, n_words: usize) -> Result<(), Stop>;
}

/// Runs a plan: appends the ground rules of all its matches.
pub(super) fn run(
    database: &mut Database,
    plan: &Plan,
    instances: &mut Instances,
    meter: &mut impl Meter,
) -> Result<(), Stop> {
    let mut run = Run {
        plan,
        values: vec![0; plan.n_vars],
        named: Vec::with_capacity(plan.steps.len()),
        instances,
        work: 0,
        meter,
    };
    run.step(database, 0)?;
    run.spend(database)
}

/// Work between two looks at the meter.
const WORK_AT_ONCE: u64 = 1 << 14;

struct Run<'a, M> {
    plan: &'a Plan,
    values: Vec<u32>,
    named: Vec<u32>,
    instances: &'a mut Instances,
    work: u64,
    meter: &'a mut M,
}

impl<M: Meter> Run<'_, M> {
    fn step(&mut self, database: &mut Database, step_idx: usize) -> Result<(), Stop> {
        let plan = self.plan;
        let Some(step) = plan.steps.get(step_idx) else { return self.emit(database) };
        self.work += 1;
        if self.work > WORK_AT_ONCE {
            self.spend(database)?;
        }
        match step {
            Step::Distinct(a, b) => {
                let (a, b) = (
                    build(&mut database.terms, a, &self.values),
                    build(&mut database.terms, b, &self.values),
                );
                if a != b { self.step(database, step_idx + 1) } else { Ok(()) }
            }
            Step::Absent { predicate, atom } => {
                let found = find(&database.terms, &database.atoms, *predicate, atom, &self.values);
                match found.and_then(|atom| database.position(atom)) {
                    None => self.step(database, step_idx + 1),
                    Some(_) => Ok(()),
                }
            }
            Step::Member { predicate, atom, only_stable, named } => {
                let Some(atom) = find(&database.terms, &database.atoms, *predicate, atom, &self.values)
                else {
                    return Ok(());
                };
                let end = end_of(database, *predicate, *only_stable);
                match database.position(atom) {
                    Some(position) if position < end => self.with(database, step_idx, atom, *named),
                    _ => Ok(()),
                }
            }
            Step::Recent { predicate, functors, constants, row } => {
                let of_predicate = &database.predicates[predicate.idx()];
                for position in of_predicate.n_stable..of_predicate.n_known {
                    let atom = database.predicates[predicate.idx()].atoms[position];
                    let (atoms, terms) = (&database.atoms, &database.terms);
                    let matches = has_functors(atoms, terms, atom, functors)
                        && constants.iter().all(|(path, term)| term_at(atoms, terms, atom, path) == term.0);
                    if matches && self.bind(atoms, terms, row, atom) {
                        self.with(database, step_idx, atom, row.named)?;
                    }
                }
                Ok(())
            }
            Step::LookUp { predicate, index, key, row, only_stable } => {
                let end = end_of(database, *predicate, *only_stable);
                let mut words = [0; MAX_KEY];
                let words: &[u32] = if key.len() <= MAX_KEY {
                    for (word, of_key) in words.iter_mut().zip(key) {
                        *word = self.word(*of_key);
                    }
                    &words[..key.len()]
                } else {
                    &key.iter().map(|&word| self.word(word)).collect::<Vec<u32>>()
                };
                let n_positions = database.index_of(*index).positions(words).len();
                // Indexes do not change while a plan runs; the borrow must end for atoms to be made.
                for idx in 0..n_positions {
                    let position = database.index_of(*index).positions(words)[idx] as usize;
                    if position >= end {
                        break;
                    }
                    let atom = database.predicates[predicate.idx()].atoms[position];
                    if self.bind(&database.atoms, &database.terms, row, atom) {
                        self.with(database, step_idx, atom, row.named)?;
                    }
                }
                Ok(())
            }
        }
    }

    fn spend(&mut self, database: &Database) -> Result<(), Stop> {
        let work = std::mem::take(&mut self.work);
        let n_words = self.instances.len();
        self.meter.spend(work, database.bytes() + n_words * 4, n_words)
    }

    fn word(&self, word: Word) -> u32 {
        match word {
            Word::Constant(term) => term.0,
            Word::Var(var) => self.values[var as usize],
        }
    }

    /// Goes on with an atom matched.
    fn with(
        &mut self,
        database: &mut Database,
        step_idx: usize,
        atom: AtomId,
        named: bool,
    ) -> Result<(), Stop> {
        if !named {
            return self.step(database, step_idx + 1);
        }
        self.named.push(atom.0);
        let result = self.step(database, step_idx + 1);
        self.named.pop();
        result
    }

    /// Binds variables to the terms of an atom; false if one that occurs again has another value.
    fn bind(&mut self, atoms: &Atoms, terms: &Terms, row: &Row, atom: AtomId) -> bool {
        for (path, var) in &row.binds {
            self.values[*var as usize] = term_at(atoms, terms, atom, path);
        }
        row.checks.iter().all(|(path, var)| self.values[*var as usize] == term_at(atoms, terms, atom, path))
    }

    fn emit(&mut self, database: &mut Database) -> Result<(), Stop> {
        let Database { terms, atoms, .. } = database;
        let count = |n: usize| u32::try_from(n).expect("conditions are bounded by the text");
        let head = intern(terms, atoms, self.plan.head, &self.plan.head_atom, &self.values);
        self.instances.extend([head.0, count(self.named.len()), count(self.plan.negated.len())]);
        self.instances.extend_from_slice(&self.named);
        for (predicate, atom) in &self.plan.negated {
            self.instances.push(intern(terms, atoms, *predicate, atom, &self.values).0);
        }
        let is_too_deep = |&&arg: &&u32| terms.depth(TermId(arg)) > MAX_TERM_DEPTH;
        match atoms.args(head).iter().find(is_too_deep) {
            Some(_) => Err(Stop::Failed(GroundError::TooDeep { at: None })),
            None => Ok(()),
        }
    }
}

/// Levels of nesting beyond which terms are taken to grow without end; those of published games have some tens.
const MAX_TERM_DEPTH: usize = 500;

/// Words of a key, or of an atom, that are kept without a list.
const MAX_KEY: usize = 16;

/// Where the atoms end that a condition may take.
fn end_of(database: &Database, predicate: PredicateId, only_stable: bool) -> usize {
    let predicate = &database.predicates[predicate.idx()];
    if only_stable { predicate.n_stable } else { predicate.n_known }
}

fn build(terms: &mut Terms, pattern: &Pattern, values: &[u32]) -> u32 {
    match pattern {
        Pattern::Var(var) => values[*var as usize],
        Pattern::Ground(term) => term.0,
        Pattern::Compound(name, args) => {
            let args: Vec<u32> = args.iter().map(|arg| build(terms, arg, values)).collect();
            terms.intern(*name, &args).0
        }
    }
}

/// The term of a pattern, if it was ever made.
fn find_term(terms: &Terms, pattern: &Pattern, values: &[u32]) -> Option<u32> {
    match pattern {
        Pattern::Var(var) => Some(values[*var as usize]),
        Pattern::Ground(term) => Some(term.0),
        Pattern::Compound(name, args) => {
            let args: Option<Vec<u32>> = args.iter().map(|arg| find_term(terms, arg, values)).collect();
            terms.find(*name, &args?).map(|term| term.0)
        }
    }
}

fn find(
    terms: &Terms,
    atoms: &Atoms,
    predicate: PredicateId,
    atom: &AtomPattern,
    values: &[u32],
) -> Option<AtomId> {
    let mut args = [0; MAX_KEY];
    if atom.args.len() > MAX_KEY {
        let args: Option<Vec<u32>> = atom.args.iter().map(|arg| find_term(terms, arg, values)).collect();
        return atoms.find(predicate, &args?);
    }
    for (place, arg) in args.iter_mut().zip(&atom.args) {
        *place = find_term(terms, arg, values)?;
    }
    atoms.find(predicate, &args[..atom.args.len()])
}

fn intern(
    terms: &mut Terms,
    atoms: &mut Atoms,
    predicate: PredicateId,
    atom: &AtomPattern,
    values: &[u32],
) -> AtomId {
    let mut args = [0; MAX_KEY];
    if atom.args.len() > MAX_KEY {
        let args: Vec<u32> = atom.args.iter().map(|arg| build(terms, arg, values)).collect();
        return atoms.intern(predicate, &args);
    }
    for (place, arg) in args.iter_mut().zip(&atom.args) {
        *place = build(terms, arg, values);
    }
    atoms.intern(predicate, &args[..atom.args.len()])
}
