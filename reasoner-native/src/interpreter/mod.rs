//! The interpreter: any rules, on demand, without grounding.
//!
//! In go [`gdl::Rules`]; out come answers by top-down evaluation with tables (see `machine`). Relations that
//! are the same in every state are evaluated once if a budget allows, otherwise on demand like all others.
//! Recursion, mutual recursion and cycles are evaluated to their least fixed point; `not` and `distinct` wait
//! for their variables.
//!
//! What it deliberately does not do: enumerate what could ever be true. A game whose grounding explodes is
//! played like any other.

mod compile;
mod facts;
mod fluents;
mod machine;
mod program;
mod session;
mod steps;
mod tables;

use std::sync::Arc;

use gdl::{Dependence, Recursion, RelationId, RuleTerm, Rules, Term};
use reasoner::{Interrupt, Limits, Reasoner, ReasonerError};

use compile::{Known, RelationInfo, narrow};
use facts::{Facts, FactsId};
use machine::{Code, Machine};
use program::{Mask, PredicateId, Program};
use tables::TableId;

use crate::terms::{LocalTerms, SharedTerms, TermId, Terms};

pub use session::{FactSet, InterpreterSession};

/// What evaluating one static relation in advance may cost: some ten milliseconds.
const MATERIALISE_LIMITS: Limits = Limits { steps: 1_000_000, bytes: 64 << 20 };

/// What evaluating all static relations in advance may cost.
const MATERIALISE_STEPS: u64 = 10_000_000;

/// The questions of every program, in the order of their predicates: the relation and its bound arguments.
const QUESTIONS: [(RelationId, Mask); 5] = [
    (RelationId::TERMINAL, 0),
    (RelationId::LEGAL, 1),
    (RelationId::NEXT, 0),
    (RelationId::GOAL, 1),
    (RelationId::INIT, 0),
];
const TERMINAL: PredicateId = PredicateId(0);
const LEGAL: PredicateId = PredicateId(1);
const NEXT: PredicateId = PredicateId(2);
const GOAL: PredicateId = PredicateId(3);
const INIT: PredicateId = PredicateId(4);

/// The rules of one game, interpreted.
#[derive(Debug)]
pub struct Interpreter {
    rules: Arc<Rules>,
    role_ids: Vec<TermId>,
    program: Program,
    facts: Vec<Facts>,
    /// `name/arity` of each relation.
    names: Vec<Box<str>>,
    terms: Arc<SharedTerms>,
}

impl Interpreter {
    /// Prepares rules for being asked; takes milliseconds, at most about a second.
    ///
    /// # Errors
    /// None today: what cannot be evaluated is told when it is asked.
    pub fn new(rules: Arc<Rules>) -> Result<Interpreter, ReasonerError> {
        Interpreter::until(rules, &Interrupt::new())
    }

    /// As [`Interpreter::new`], as long as `interrupt` is not raised.
    ///
    /// # Errors
    /// [`ReasonerError::Interrupted`].
    pub fn until(rules: Arc<Rules>, interrupt: &Interrupt) -> Result<Interpreter, ReasonerError> {
        let mut terms = Terms::default();
        let mut facts = Vec::new();
        let recursion = Recursion::of(&rules);
        let mut relations = relation_tables(&rules, &mut terms, &mut facts);
        for (id, info) in (0..).map(RelationId).zip(&mut relations) {
            info.recursive = recursion.is_recursive(id);
        }
        let role_ids: Vec<TermId> = rules.relations()[RelationId::ROLE.idx()]
            .facts
            .iter()
            .map(|&fact| terms.intern_rule_term(&rules.facts()[fact as usize].args[0]))
            .fold(Vec::new(), |mut ids, id| {
                if !ids.contains(&id) {
                    ids.push(id);
                }
                ids
            });
        let names: Vec<Box<str>> = (0..)
            .take(rules.relations().len())
            .map(|id| rules.relation_name(RelationId(id)).into())
            .collect();
        let mut steps_left = MATERIALISE_STEPS;
        for relation in recursion.order() {
            if !relations[relation.idx()].complete && is_static(&rules, relation) {
                let limits = Limits { steps: MATERIALISE_LIMITS.steps.min(steps_left), ..MATERIALISE_LIMITS };
                let mut known = Known {
                    rules: &rules,
                    terms: &mut terms,
                    facts: &mut facts,
                    relations: &relations,
                    initial: &[],
                };
                let (table, steps) = materialise(&mut known, &names, relation, limits, interrupt);
                if interrupt.is_raised() {
                    return Err(ReasonerError::Interrupted);
                }
                steps_left = steps_left.saturating_sub(steps);
                if let Some(table) = table {
                    relations[relation.idx()].table = Some(FactsId(narrow(facts.len())));
                    relations[relation.idx()].complete = true;
                    facts.push(table);
                }
            }
        }
        let init = &relations[RelationId::INIT.idx()];
        let initial: Vec<TermId> = match init.table {
            Some(table) if init.complete => {
                let table = &facts[table.0 as usize];
                (0..table.n_rows()).map(|row_idx| TermId(table.row(row_idx)[0])).collect()
            }
            _ => Vec::new(),
        };
        let mut known = Known {
            rules: &rules,
            terms: &mut terms,
            facts: &mut facts,
            relations: &relations,
            initial: &initial,
        };
        let program = compile::compile(&mut known, &QUESTIONS);
        Ok(Interpreter { rules, role_ids, program, facts, names, terms: Arc::new(SharedTerms::new(terms)) })
    }

    /// The rules.
    pub fn rules(&self) -> &Arc<Rules> {
        &self.rules
    }

    fn code(&self) -> Code<'_> {
        Code { program: &self.program, facts: &self.facts, names: &self.names }
    }
}

impl Reasoner for Interpreter {
    type State = FactSet;
    type Session = InterpreterSession;

    fn name(&self) -> &'static str {
        "interpreter"
    }

    fn roles(&self) -> &[Term] {
        self.rules.roles()
    }

    fn session(
        self: &Arc<Self>,
        limits: Limits,
        interrupt: &Interrupt,
    ) -> Result<InterpreterSession, ReasonerError> {
        let machine =
            Machine::new(LocalTerms::of(&self.terms), &self.program, &self.role_ids, limits, interrupt);
        Ok(InterpreterSession::new(self.clone(), machine))
    }

    fn bytes(&self) -> usize {
        self.facts.iter().map(Facts::bytes).sum::<usize>() + self.terms.bytes()
    }

    fn heap_bytes(&self, state: &FactSet) -> usize {
        state.heap_bytes()
    }
}

/// Whether answers can be found before the game starts.
fn is_static(rules: &Rules, relation: RelationId) -> bool {
    rules.relation(relation).dependence == Dependence::Static
        && !matches!(relation, RelationId::TRUE | RelationId::DOES)
}

/// The ground facts of every relation as tables; complete where there are no clauses.
fn relation_tables(rules: &Rules, terms: &mut Terms, facts: &mut Vec<Facts>) -> Vec<RelationInfo> {
    let mut infos = Vec::new();
    for relation in rules.relations() {
        let complete = relation.rules.is_empty();
        let mut info = RelationInfo { complete, ..RelationInfo::default() };
        if complete || !relation.facts.is_empty() {
            let mut table = Facts::new(relation.arity as usize);
            for &fact in &relation.facts {
                let intern = |arg: &RuleTerm| terms.intern_rule_term(arg).0;
                let row: Vec<u32> = rules.facts()[fact as usize].args.iter().map(intern).collect();
                table.push(&row);
            }
            info.table = Some(FactsId(narrow(facts.len())));
            facts.push(table);
        }
        infos.push(info);
    }
    infos
}

/// All true atoms of a static relation, if `limits` and `interrupt` allow, and the steps it took.
fn materialise(
    known: &mut Known<'_>,
    names: &[Box<str>],
    relation: RelationId,
    limits: Limits,
    interrupt: &Interrupt,
) -> (Option<Facts>, u64) {
    let program = compile::compile(known, &[(relation, 0)]);
    let local = LocalTerms::alone(std::mem::take(known.terms));
    let mut machine = Machine::new(local, &program, &[], limits, interrupt);
    let answer = machine.ask(Code { program: &program, facts: known.facts, names }, PredicateId(0), &[]);
    let table = answer.ok().map(|id: TableId| {
        let arity = known.rules.relation(relation).arity as usize;
        let mut table = Facts::new(arity);
        match arity {
            0 if machine.is_yes(id) => table.push(&[]),
            0 => {}
            _ => machine.words(id).chunks_exact(arity).for_each(|row| table.push(row)),
        }
        table
    });
    let steps = limits.steps - machine.steps_left();
    *known.terms = machine.terms.into_terms();
    (table, steps)
}
