//! Clauses as plans: one condition after the other, each looked up by what is bound so far.

use super::clause::{AtomPattern, Clause, Condition, Pattern};
use super::database::{Database, FunctorAt, IndexId, Path, PredicateId, Shape};
use crate::terms::TermId;

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
pub(super) enum Step {
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
pub(super) struct Row {
    pub(super) binds: Vec<(Path, u32)>,
    /// Variables that occur again.
    pub(super) checks: Vec<(Path, u32)>,
    /// Whether ground rules name the atom.
    pub(super) named: bool,
}

/// A word of a key.
#[derive(Debug, Clone, Copy)]
pub(super) enum Word {
    Constant(TermId),
    Var(u32),
}

/// A clause as steps.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) head: PredicateId,
    /// The predicate whose recent atoms start it; none for a plan that is run once.
    pub(super) recent: Option<PredicateId>,
    pub(super) head_atom: AtomPattern,
    pub(super) steps: Vec<Step>,
    /// Negated open atoms.
    pub(super) negated: Vec<(PredicateId, AtomPattern)>,
    pub(super) n_vars: usize,
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
