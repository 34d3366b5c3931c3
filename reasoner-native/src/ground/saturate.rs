//! Everything that could ever be true: the relaxed rules, evaluated bottom up.
//!
//! Predicates that depend on no state are evaluated exactly, group by group. For the others the question is what may
//! hold in some state: `true` is what `init` or `next` may give, `does` what may be legal, and a negated atom may
//! always be missing. Every match of a clause is kept as a ground rule.

use gdl::{RelationId, Rules, components};

use super::clause::{AtomPattern, Clause, Condition, Functor, Pattern, functor_of};
use super::database::{AtomId, Database, PredicateId};
use super::demand::Demanding;
use super::join::{Instances, Meter, run};
use super::plan::{Plan, Purpose, Truth, plan};
use super::{Ended, GroundError, Stop};
use crate::terms::TermId;

/// The predicates that the game's keywords stand for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Keywords {
    pub(super) truth: PredicateId,
    pub(super) does: PredicateId,
    pub(super) next: PredicateId,
    pub(super) legal: PredicateId,
    pub(super) goal: PredicateId,
    pub(super) terminal: PredicateId,
}

/// What saturation leaves.
#[derive(Debug)]
pub(super) struct Saturated {
    pub(super) database: Database,
    pub(super) keywords: Keywords,
    /// The ground rules of open predicates, but for `true` and `does`.
    pub(super) instances: Instances,
}

/// Evaluates a program from the fluents of the initial state.
///
/// # Errors
/// If the meter ends it, or the rules have no meaning.
pub(super) fn saturate(
    rules: &Rules,
    demanding: Demanding,
    mut database: Database,
    initial: &[TermId],
    meter: &mut impl Meter,
) -> Result<Saturated, Ended> {
    let mut keyword = |relation| database.predicate(functor_of(rules, relation));
    let keywords = Keywords {
        truth: keyword(RelationId::TRUE),
        does: keyword(RelationId::DOES),
        next: keyword(RelationId::NEXT),
        legal: keyword(RelationId::LEGAL),
        goal: keyword(RelationId::GOAL),
        terminal: keyword(RelationId::TERMINAL),
    };
    for role in rules.roles() {
        // `role` may have no clause that a question leads to.
        let symbol = rules.symbols().find(role.name()).expect("a role is a name of the rules");
        let term = database.terms.intern(symbol, &[]);
        let predicate = database.predicate(functor_of(rules, RelationId::ROLE));
        let atom = database.atoms.intern(predicate, &[term.0]);
        database.add(predicate, atom);
    }
    let Demanding { program, demands, .. } = demanding;
    let mut clauses = program.clauses;
    clauses.extend(bridges(rules));
    let demands: Vec<PredicateId> = demands.into_iter().map(|demand| database.predicate(demand)).collect();
    let mut saturation = Saturation::new(rules, database, clauses, keywords, &demands, meter);
    for &fluent in initial {
        let atom = saturation.database.atoms.intern(keywords.truth, &[fluent.0]);
        saturation.database.add(keywords.truth, atom);
    }
    saturation.run()?;
    Ok(Saturated { database: saturation.database, keywords, instances: saturation.instances })
}

/// What `next` gives may be true, and what is legal may be done by a role.
fn bridges(rules: &Rules) -> [Clause; 2] {
    let atom = |relation, vars: &[u32]| {
        let args = vars.iter().map(|&var| Pattern::Var(var)).collect();
        AtomPattern { functor: functor_of(rules, relation), args }
    };
    let holds = |relation, vars: &[u32]| Condition::Holds(atom(relation, vars));
    [
        Clause { head: atom(RelationId::TRUE, &[0]), body: vec![holds(RelationId::NEXT, &[0])], n_vars: 1 },
        Clause {
            head: atom(RelationId::DOES, &[0, 1]),
            body: vec![holds(RelationId::LEGAL, &[0, 1]), holds(RelationId::ROLE, &[0])],
            n_vars: 2,
        },
    ]
}

struct Saturation<'a, M> {
    rules: &'a Rules,
    database: Database,
    clauses: Vec<Clause>,
    /// By predicate.
    truths: Vec<Truth>,
    /// Groups of predicates that depend on each other, in an order in which each stands behind what it needs.
    groups: Vec<Vec<PredicateId>>,
    /// The clauses of each predicate.
    clauses_of: Vec<Vec<usize>>,
    leaves: [PredicateId; 2],
    /// Predicates that are asked for whole, and so cannot be evaluated on demand.
    answers: [PredicateId; 6],
    instances: Instances,
    meter: &'a mut M,
}

impl<'a, M: Meter> Saturation<'a, M> {
    fn new(
        rules: &'a Rules,
        mut database: Database,
        clauses: Vec<Clause>,
        keywords: Keywords,
        demands: &[PredicateId],
        meter: &'a mut M,
    ) -> Self {
        let Keywords { truth, does, next, legal, goal, terminal } = keywords;
        let leaves = [truth, does];
        let answers = [truth, does, next, legal, goal, terminal];
        let mut predicates_of = |clause: &Clause| {
            let body = clause
                .body
                .iter()
                .map(|condition| condition.atom().map(|atom| database.predicate(atom.functor)));
            let body: Vec<Option<PredicateId>> = body.collect();
            (database.predicate(clause.head.functor), body)
        };
        let heads_and_bodies: Vec<_> = clauses.iter().map(&mut predicates_of).collect();
        let n_predicates = database.n_predicates();
        let mut clauses_of = vec![Vec::new(); n_predicates];
        for (clause_idx, (head, _)) in heads_and_bodies.iter().enumerate() {
            clauses_of[head.idx()].push(clause_idx);
        }
        let truths = truths(n_predicates, &answers, demands, &heads_and_bodies);
        let mut edges = vec![Vec::new(); n_predicates];
        for (clause, (head, body)) in clauses.iter().zip(&heads_and_bodies) {
            for (condition, predicate) in clause.body.iter().zip(body) {
                let Some(predicate) = predicate else { continue };
                // A negated open atom may always be missing: nothing waits for it.
                if truths[predicate.idx()] == Truth::Known || matches!(condition, Condition::Holds(_)) {
                    edges[head.idx()].push(predicate.idx());
                }
            }
        }
        let component = components(&edges);
        let n_groups = component.iter().max().map_or(0, |&last| last + 1);
        let mut groups = vec![Vec::new(); n_groups];
        for (predicate, &group) in (0..).map(PredicateId).zip(&component) {
            groups[group].push(predicate);
        }
        Saturation {
            rules,
            database,
            clauses,
            truths,
            groups,
            clauses_of,
            leaves,
            answers,
            instances: Vec::new(),
            meter,
        }
    }

    fn run(&mut self) -> Result<(), Ended> {
        for group in std::mem::take(&mut self.groups) {
            self.saturate_group(&group)?;
        }
        Ok(())
    }

    fn saturate_group(&mut self, group: &[PredicateId]) -> Result<(), Ended> {
        let clauses: Vec<usize> =
            group.iter().flat_map(|predicate| &self.clauses_of[predicate.idx()]).copied().collect();
        let mut grows = vec![false; self.database.n_predicates()];
        group.iter().for_each(|predicate| grows[predicate.idx()] = true);
        // Each clause with the places of the conditions that grow with the group.
        let mut recursive = Vec::new();
        for clause_idx in clauses {
            let places = self.growing_places(clause_idx, &grows)?;
            match places.is_empty() {
                true => self.run_once(clause_idx, &grows)?,
                false => recursive.push((clause_idx, places)),
            }
        }
        let mut plans: Vec<Plan> = Vec::new();
        let mut n_atoms_planned = 0;
        while self.next_round(group) {
            // With more atoms, another order of the conditions may be better.
            if plans.is_empty() || self.database.atoms.len() > 4 * n_atoms_planned {
                plans = self.plans(&recursive, &grows);
                n_atoms_planned = self.database.atoms.len();
            }
            for plan in &plans {
                let starts =
                    plan.recent.is_some_and(|recent| self.database.predicates[recent.idx()].has_recent());
                if starts {
                    self.run_plan(plan)?;
                }
            }
        }
        Ok(())
    }

    /// Where a clause has atoms of the group that must hold.
    fn growing_places(&mut self, clause_idx: usize, grows: &[bool]) -> Result<Vec<usize>, Ended> {
        let mut places = Vec::new();
        for (place, condition) in self.clauses[clause_idx].body.iter().enumerate() {
            let Some(atom) = condition.atom() else { continue };
            let predicate = self.database.predicate(atom.functor);
            match condition {
                Condition::Holds(_) if grows[predicate.idx()] => places.push(place),
                Condition::Not(_)
                    if grows[predicate.idx()] && self.truths[predicate.idx()] == Truth::Known =>
                {
                    return Err(GroundError::NotStratified(atom.functor.text(self.rules)).into());
                }
                _ => {}
            }
        }
        Ok(places)
    }

    fn plans(&mut self, recursive: &[(usize, Vec<usize>)], grows: &[bool]) -> Vec<Plan> {
        let mut plans = Vec::new();
        for (clause_idx, places) in recursive {
            for &place in places {
                let purpose = Purpose { truths: &self.truths, grows, recent: Some(place) };
                plans.push(plan(&mut self.database, &self.clauses[*clause_idx], &purpose));
            }
        }
        plans
    }

    fn run_once(&mut self, clause_idx: usize, grows: &[bool]) -> Result<(), Ended> {
        let purpose = Purpose { truths: &self.truths, grows, recent: None };
        let plan = plan(&mut self.database, &self.clauses[clause_idx], &purpose);
        self.run_plan(&plan)
    }

    /// Makes the next round of a whole group; whether anything is recent.
    fn next_round(&mut self, group: &[PredicateId]) -> bool {
        let mut has_recent = false;
        for &predicate in group {
            has_recent |= self.database.next_round(predicate);
        }
        has_recent
    }

    fn run_plan(&mut self, plan: &Plan) -> Result<(), Ended> {
        let start = self.instances.len();
        let functor = self.database.predicates[plan.head.idx()].functor;
        self.meter.begin(self.answers.contains(&plan.head));
        run(&mut self.database, plan, &mut self.instances, self.meter).map_err(|stop| match stop {
            Stop::TooMuch => Ended::TooMuch(functor),
            Stop::Failed(error) => Ended::Failed(error.in_relation(functor, self.rules)),
        })?;
        let mut rest = start;
        while let Some(instance) = Instance::at(&self.instances, rest) {
            rest = instance.end;
            self.database.add(plan.head, instance.head);
        }
        let n_atoms = self.database.predicates[plan.head.idx()].atoms.len();
        if n_atoms > self.meter.max_atoms() && !self.answers.contains(&plan.head) {
            return Err(Ended::TooMuch(functor));
        }
        let is_kept = self.truths[plan.head.idx()] == Truth::Open && !self.leaves.contains(&plan.head);
        if !is_kept {
            self.instances.truncate(start);
        }
        Ok(())
    }
}

/// Which predicates depend on the leaves. Answers of questions are open, too, even where they depend on nothing.
fn truths(
    n_predicates: usize,
    answers: &[PredicateId],
    demands: &[PredicateId],
    heads_and_bodies: &[(PredicateId, Vec<Option<PredicateId>>)],
) -> Vec<Truth> {
    let mut truths = vec![Truth::Known; n_predicates];
    answers.iter().for_each(|answer| truths[answer.idx()] = Truth::Open);
    loop {
        let mut is_changed = false;
        for (head, body) in heads_and_bodies {
            let is_open = body.iter().flatten().any(|predicate| truths[predicate.idx()] != Truth::Known);
            if is_open && truths[head.idx()] == Truth::Known {
                truths[head.idx()] = if demands.contains(head) { Truth::Demand } else { Truth::Open };
                is_changed = true;
            }
        }
        if !is_changed {
            return truths;
        }
    }
}

/// One ground rule.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Instance<'a> {
    pub(crate) head: AtomId,
    /// The atoms that must hold, by number.
    pub(crate) holds: &'a [u32],
    /// The atoms that must not.
    pub(crate) negated: &'a [u32],
    /// Where the next one begins.
    pub(crate) end: usize,
}

impl Instance<'_> {
    /// The ground rule that begins at a place.
    pub(super) fn at(instances: &[u32], start: usize) -> Option<Instance<'_>> {
        let [head, n_holds, n_negated] = *instances.get(start..start + 3)? else { return None };
        let (n_holds, n_negated) = (n_holds as usize, n_negated as usize);
        let end = start + 3 + n_holds + n_negated;
        let (holds, negated) = instances[start + 3..end].split_at(n_holds);
        Some(Instance { head: AtomId(head), holds, negated, end })
    }
}

impl Functor {
    /// `name/arity`, for messages; auxiliary predicates have no name.
    pub(super) fn text(self, rules: &Rules) -> String {
        match self.name.idx() < rules.symbols().len() {
            true => format!("{}/{}", rules.symbols().name(self.name), self.arity),
            false => format!("an auxiliary relation of {} arguments", self.arity),
        }
    }
}
