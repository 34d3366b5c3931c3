//! Clauses as plans: one literal after the other, each looked up by what is bound so far.

use super::clause::{AtomPattern, Clause, Condition, Pattern};
use super::database::{
    AtomId, Atoms, Database, FunctorAt, IndexId, Path, PredicateId, Shape, has_functors, term_at,
};
use super::{GroundError, Stop};
use crate::terms::{TermId, Terms};

/// How conditions on a predicate are evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Truth {
    /// All its atoms are known: it is tested, also when negated, and leaves no trace in ground rules.
    Known,
    /// Its atoms may hold or not, depending on the state: ground rules name them; its negation may always hold.
    Open,
    /// Its atoms are what may be asked of other predicates, depending on the state: ground rules leave them out.
    Demand,
}

/// A step of a plan.
#[derive(Debug, Clone)]
enum Step {
    /// For every recent atom.
    Recent {
        predicate: PredicateId,
        functors: Vec<FunctorAt>,
        constants: Vec<(Path, TermId)>,
        row: Row,
    },
    /// For every atom with a key.
    LookUp {
        predicate: PredicateId,
        index: IndexId,
        key: Vec<Word>,
        row: Row,
        only_stable: bool,
    },
    /// If the atom is there; all its variables are bound.
    Member {
        predicate: PredicateId,
        atom: AtomPattern,
        only_stable: bool,
        named: bool,
    },
    /// If the atom is not there; all its variables are bound.
    Absent {
        predicate: PredicateId,
        atom: AtomPattern,
    },
    Distinct(Pattern, Pattern),
}

/// What is done with a matching atom.
#[derive(Debug, Clone)]
struct Row {
    binds: Vec<(Path, u32)>,
    /// Variables that occur again.
    checks: Vec<(Path, u32)>,
    /// Whether ground rules name the atom.
    named: bool,
}

#[derive(Debug, Clone, Copy)]
enum Word {
    Constant(TermId),
    Var(u32),
}

/// A clause as steps.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) head: PredicateId,
    /// The predicate whose recent atoms start it; none for a plan that is run once.
    pub(super) recent: Option<PredicateId>,
    head_atom: AtomPattern,
    steps: Vec<Step>,
    /// Negated open atoms.
    negated: Vec<(PredicateId, AtomPattern)>,
    n_vars: usize,
}

/// What a plan is made for.
pub(super) struct Purpose<'a> {
    /// By predicate.
    pub(super) truths: &'a [Truth],
    /// Whether a predicate still grows; by predicate.
    pub(super) grows: &'a [bool],
    /// The condition that takes recent atoms only, in semi-naive evaluation.
    pub(super) recent: Option<usize>,
}

/// Makes a plan. The order of conditions is greedy: tests as soon as they can be made, then the condition
/// with the fewest atoms per key.
pub(super) fn plan(database: &mut Database, clause: &Clause, purpose: &Purpose<'_>) -> Plan {
    let mut planner = Planner {
        predicates: clause
            .body
            .iter()
            .map(|condition| condition.atom().map(|atom| database.predicate(atom.functor)))
            .collect(),
        database,
        clause,
        purpose,
        done: vec![false; clause.body.len()],
        bound: vec![false; clause.n_vars as usize],
        steps: Vec::new(),
        negated: Vec::new(),
    };
    planner.negated();
    if let Some(recent) = purpose.recent {
        planner.recent(recent);
    }
    loop {
        planner.tests();
        let Some(next) = planner.cheapest() else { break };
        planner.look_up(next);
    }
    let Planner { steps, negated, predicates, .. } = planner;
    Plan {
        head: database.predicate(clause.head.functor),
        recent: purpose.recent.and_then(|idx| predicates[idx]),
        head_atom: clause.head.clone(),
        steps,
        negated,
        n_vars: clause.n_vars as usize,
    }
}

struct Planner<'a> {
    database: &'a mut Database,
    clause: &'a Clause,
    purpose: &'a Purpose<'a>,
    predicates: Vec<Option<PredicateId>>,
    done: Vec<bool>,
    bound: Vec<bool>,
    steps: Vec<Step>,
    negated: Vec<(PredicateId, AtomPattern)>,
}

/// The parts of an atom's pattern by place.
#[derive(Debug, Default)]
struct Parts {
    functors: Vec<FunctorAt>,
    constants: Vec<(Path, TermId)>,
    vars: Vec<(Path, u32)>,
}

impl Parts {
    fn of(atom: &AtomPattern) -> Parts {
        let mut parts = Parts::default();
        for (arg, pattern) in (0..).zip(&atom.args) {
            parts.add(&mut vec![arg], pattern);
        }
        parts
    }

    fn add(&mut self, path: &mut Vec<u8>, pattern: &Pattern) {
        match pattern {
            Pattern::Var(var) => self.vars.push((path.as_slice().into(), *var)),
            Pattern::Ground(term) => self.constants.push((path.as_slice().into(), *term)),
            Pattern::Compound(name, args) => {
                let arity = u32::try_from(args.len()).expect("arguments are bounded by the text");
                self.functors.push(FunctorAt { path: path.as_slice().into(), name: *name, arity });
                for (arg, pattern) in (0..).zip(args) {
                    path.push(arg);
                    self.add(path, pattern);
                    path.pop();
                }
            }
        }
    }
}

impl Planner<'_> {
    fn truth(&self, idx: usize) -> Truth {
        self.predicates[idx].map_or(Truth::Known, |predicate| self.purpose.truths[predicate.idx()])
    }

    /// Takes negated open atoms out: they are named, not tested.
    fn negated(&mut self) {
        for (idx, condition) in self.clause.body.iter().enumerate() {
            if let (Condition::Not(atom), Some(predicate), Truth::Open) =
                (condition, self.predicates[idx], self.truth(idx))
            {
                self.negated.push((predicate, atom.clone()));
                self.done[idx] = true;
            }
        }
    }

    /// In semi-naive evaluation, conditions before the recent one take stable atoms only.
    fn only_stable(&self, idx: usize) -> bool {
        let grows = self.predicates[idx].is_some_and(|predicate| self.purpose.grows[predicate.idx()]);
        grows && self.purpose.recent.is_some_and(|recent| idx < recent)
    }

    /// Adds all tests whose variables are bound.
    fn tests(&mut self) {
        for (idx, condition) in self.clause.body.iter().enumerate() {
            let mut all_bound = true;
            condition.for_each_var(&mut |var| all_bound &= self.bound[var as usize]);
            if self.done[idx] || !all_bound {
                continue;
            }
            self.done[idx] = true;
            let step = match (condition, self.predicates[idx]) {
                (Condition::Distinct(a, b), _) => Step::Distinct(a.clone(), b.clone()),
                (Condition::Not(atom), Some(predicate)) => Step::Absent { predicate, atom: atom.clone() },
                (Condition::Holds(atom), Some(predicate)) => Step::Member {
                    predicate,
                    atom: atom.clone(),
                    only_stable: self.only_stable(idx),
                    named: self.truth(idx) == Truth::Open,
                },
                (_, None) => unreachable!("an atom has a predicate"),
            };
            self.steps.push(step);
        }
    }

    /// Splits variables into those bound here and those that must agree.
    fn row(&mut self, vars: Vec<(Path, u32)>, named: bool) -> Row {
        let mut row = Row { binds: Vec::new(), checks: Vec::new(), named };
        for (path, var) in vars {
            match std::mem::replace(&mut self.bound[var as usize], true) {
                true => row.checks.push((path, var)),
                false => row.binds.push((path, var)),
            }
        }
        row
    }

    fn recent(&mut self, idx: usize) {
        let (Condition::Holds(atom), Some(predicate)) = (&self.clause.body[idx], self.predicates[idx]) else {
            unreachable!("only atoms that hold can be recent")
        };
        let parts = Parts::of(atom);
        let named = self.truth(idx) == Truth::Open;
        let row = self.row(parts.vars, named);
        self.done[idx] = true;
        self.steps.push(Step::Recent {
            predicate,
            functors: parts.functors,
            constants: parts.constants,
            row,
        });
    }

    /// The shape by which a condition would be looked up now.
    fn shape(&self, parts: &Parts) -> Shape {
        let bound = parts.vars.iter().filter(|(_, var)| self.bound[*var as usize]).map(|(path, _)| path);
        let mut keys: Vec<Path> =
            parts.constants.iter().map(|(path, _)| path).chain(bound).cloned().collect();
        keys.sort();
        Shape { functors: parts.functors.clone(), keys }
    }

    fn cheapest(&mut self) -> Option<usize> {
        let mut best: Option<(f64, usize)> = None;
        for idx in 0..self.clause.body.len() {
            let (false, Condition::Holds(atom), Some(predicate)) =
                (self.done[idx], &self.clause.body[idx], self.predicates[idx])
            else {
                continue;
            };
            let shape = self.shape(&Parts::of(atom));
            let free = atom.vars().iter().filter(|&&var| !self.bound[var as usize]).count();
            let cost = self.cost(predicate, &shape, free);
            if best.is_none_or(|(least, _)| cost < least) {
                best = Some((cost, idx));
            }
        }
        best.map(|(_, idx)| idx)
    }

    /// How many atoms a look-up is expected to give.
    fn cost(&mut self, predicate: PredicateId, shape: &Shape, n_free: usize) -> f64 {
        /// A guess for a predicate of which nothing is known yet: values of a free variable.
        const VALUES: f64 = 6.0;
        /// What a scan without any key is worse than its first atoms tell.
        const NO_KEY: f64 = 4.0;
        let n_known = self.database.predicates[predicate.idx()].n_known;
        let grows = self.purpose.grows[predicate.idx()];
        let n_free = i32::try_from(n_free).expect("variables are bounded by the text");
        match (n_known, grows) {
            (0, false) => 0.0,
            (0, true) => VALUES.powi(n_free) * if shape.keys.is_empty() { 100.0 } else { 1.0 },
            _ => {
                let scan = if shape.keys.is_empty() { NO_KEY } else { 1.0 };
                let fan_out = self.database.fan_out(predicate, shape) * scan;
                // What is known of a predicate that grows is only its beginning.
                if grows { fan_out.max(VALUES.powi(n_free - 1)) } else { fan_out }
            }
        }
    }

    fn look_up(&mut self, idx: usize) {
        let (Condition::Holds(atom), Some(predicate)) = (&self.clause.body[idx], self.predicates[idx]) else {
            unreachable!("only atoms that hold are looked up")
        };
        let parts = Parts::of(atom);
        let shape = self.shape(&parts);
        let mut key: Vec<(Path, Word)> =
            parts.constants.into_iter().map(|(path, term)| (path, Word::Constant(term))).collect();
        let (bound, free): (Vec<_>, Vec<_>) =
            parts.vars.into_iter().partition(|(_, var)| self.bound[*var as usize]);
        key.extend(bound.into_iter().map(|(path, var)| (path, Word::Var(var))));
        key.sort_by(|(a, _), (b, _)| a.cmp(b));
        let only_stable = self.only_stable(idx);
        let named = self.truth(idx) == Truth::Open;
        let row = self.row(free, named);
        self.done[idx] = true;
        let index = self.database.index(predicate, &shape);
        let key = key.into_iter().map(|(_, word)| word).collect();
        self.steps.push(Step::LookUp { predicate, index, key, row, only_stable });
    }
}

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
