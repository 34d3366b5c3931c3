//! From clauses to plans.
//!
//! In go the rules and what is known of their relations, out comes a [`Program`] with every predicate that
//! the questions can lead to. Literals keep the author's order, except that a test is moved to the first
//! place where all its variables are bound, and a look-up with at most one match likewise. (Ordering by most
//! bound arguments first was tried on Prolog and exploded on checkers.)

use gdl::{Atom, Literal, RelationId, Rule, RuleTerm, Rules, Symbol};
use rustc_hash::FxHashMap;

use super::facts::{Facts, FactsId};
use super::program::{
    Accept, FluentFunctor, Mask, Operand, Out, Plan, Predicate, PredicateId, Program, Slot, Step,
};
use crate::terms::{TermId, Terms};

/// What the compiler knows of a relation.
#[derive(Debug, Clone, Default)]
pub(super) struct RelationInfo {
    /// Its ground facts or, if complete, all its true atoms.
    pub(super) table: Option<FactsId>,
    /// Whether the table has all its true atoms.
    pub(super) complete: bool,
    /// Whether it can depend on itself.
    pub(super) recursive: bool,
}

/// What the compiler reads and extends.
pub(super) struct Known<'a> {
    pub(super) rules: &'a Rules,
    pub(super) terms: &'a mut Terms,
    pub(super) facts: &'a mut Vec<Facts>,
    pub(super) relations: &'a [RelationInfo],
    /// The initial state, where it is known: fluents as term numbers.
    pub(super) initial: &'a [TermId],
}

/// Compiles `questions` and all that they lead to. The questions are the first predicates of the program, in
/// their order.
pub(super) fn compile(known: &mut Known<'_>, questions: &[(RelationId, Mask)]) -> Program {
    let mut compiler = Compiler {
        known,
        program: Program::default(),
        predicates: FxHashMap::default(),
        functors: FxHashMap::default(),
    };
    for &(relation, mask) in questions {
        compiler.predicate(relation, mask, 0);
    }
    // Compiling a predicate may append further ones.
    let mut next = 0;
    while next < compiler.program.predicates.len() {
        compiler.compile_predicate(next, questions.len());
        next += 1;
    }
    compiler.program
}

struct Compiler<'a, 'b> {
    known: &'a mut Known<'b>,
    program: Program,
    predicates: FxHashMap<(RelationId, Mask, Mask), PredicateId>,
    functors: FxHashMap<(Symbol, u32), u32>,
}

/// A clause being compiled: which variables are bound, and the steps so far. Variables are the first slots,
/// in their own order; temporary slots follow.
struct Clause {
    bound: Vec<bool>,
    /// Variables that something after the literal at hand uses.
    needed: Vec<bool>,
    n_slots: u32,
    steps: Vec<Step>,
}

impl Clause {
    fn new(n_variables: usize) -> Clause {
        let n_slots = u32::try_from(n_variables).expect("fewer variables than bytes of text");
        Clause {
            bound: vec![false; n_variables],
            needed: vec![false; n_variables],
            n_slots,
            steps: Vec::new(),
        }
    }

    fn is_bound(&self, term: &RuleTerm) -> bool {
        let mut all = true;
        term.for_each_var(&mut |var| all &= self.bound[var as usize]);
        all
    }

    /// Whether a value accepted so is never looked at again.
    fn is_idle(&self, accept: &Accept) -> bool {
        matches!(accept, Accept::Bind(var) if !self.needed[*var as usize])
    }

    /// Whether accepting so binds nothing that is looked at again.
    fn binds_nothing(&self, accept: &Accept) -> bool {
        match accept {
            Accept::Bind(var) => !self.needed[*var as usize],
            Accept::Same(_) => true,
            Accept::Compound(_, parts) => parts.iter().all(|part| self.binds_nothing(part)),
        }
    }

    fn mask_of(&self, args: &[RuleTerm]) -> Mask {
        args.iter().take(64).enumerate().map(|(idx, arg)| Mask::from(self.is_bound(arg)) << idx).sum()
    }
}

pub(super) fn narrow(n: usize) -> u32 {
    u32::try_from(n).expect("sizes are bounded by the text")
}

/// Whether a position belongs to a mask.
fn is_in(mask: Mask, idx: usize) -> bool {
    idx < 64 && mask >> idx & 1 == 1
}

/// The mask of `n` positions, all bound.
fn full_mask(n: usize) -> Mask {
    if n >= 64 { Mask::MAX } else { (1 << n) - 1 }
}

impl Compiler<'_, '_> {
    fn predicate(&mut self, relation: RelationId, mask: Mask, dropped: Mask) -> PredicateId {
        let n_next = narrow(self.program.predicates.len());
        *self.predicates.entry((relation, mask, dropped)).or_insert_with(|| {
            let info = self.known.rules.relation(relation);
            self.program.predicates.push(Predicate {
                relation,
                mask,
                dropped,
                dependence: info.dependence,
                tabled: true,
                n_outs: info.arity - mask.count_ones() - dropped.count_ones(),
                plans: Vec::new(),
            });
            PredicateId(n_next)
        })
    }

    fn compile_predicate(&mut self, predicate_idx: usize, n_questions: usize) {
        let Predicate { relation, mask, dropped, .. } = self.program.predicates[predicate_idx];
        let info = self.known.relations[relation.idx()].clone();
        let mut plans = Vec::new();
        plans.extend(info.table.map(|table| self.table_plan(table, relation, mask, dropped)));
        if !info.complete {
            for &rule in &self.known.rules.relation(relation).rules {
                plans.extend(self.compile_rule(rule as usize, mask, dropped));
            }
        }
        let calls = |steps: &[Step]| steps.iter().any(leads_to_call);
        let predicate = &mut self.program.predicates[predicate_idx];
        predicate.tabled =
            predicate_idx < n_questions || info.recursive || plans.iter().any(|plan| calls(&plan.steps));
        predicate.plans = plans;
    }

    /// The facts of a relation that also has clauses, or that is asked for as a question.
    fn table_plan(&mut self, table: FactsId, relation: RelationId, mask: Mask, dropped: Mask) -> Plan {
        let arity = self.known.rules.relation(relation).arity;
        let bound: Vec<u32> = (0..arity).filter(|&i| is_in(mask, i as usize)).collect();
        let free: Vec<u32> = (0..arity).filter(|&i| !is_in(mask | dropped, i as usize)).collect();
        Plan {
            heads: bound.iter().map(|&i| Accept::Bind(i)).collect(),
            steps: Box::new([Step::Facts {
                facts: table,
                index: (mask != 0).then(|| self.known.facts[table.0 as usize].index_on(mask)),
                key: bound.iter().map(|&i| Operand::Slot(i)).collect(),
                outs: free.iter().map(|&i| (i, Accept::Bind(i))).collect(),
                once: free.is_empty(),
            }]),
            answer: free.iter().map(|&i| Operand::Slot(i)).collect(),
            n_slots: arity,
        }
    }

    /// The plan of a clause, or none if a variable of its head is bound by nothing.
    fn compile_rule(&mut self, rule_idx: usize, mask: Mask, dropped: Mask) -> Option<Plan> {
        let rules = self.known.rules;
        let rule = &rules.rules()[rule_idx];
        let mut clause = Clause::new(rule.variables.len());
        let args = || rule.head.args.iter().enumerate();
        let bound_args = args().filter(|&(i, _)| is_in(mask, i));
        let wanted_args: Vec<_> = args().filter(|&(i, _)| !is_in(mask | dropped, i)).collect();
        let heads = bound_args.map(|(_, arg)| self.accept(&mut clause, arg)).collect();
        self.compile_body(&mut clause, rule, &wanted_args);
        let mut answer = Vec::new();
        for (_, arg) in wanted_args {
            if !clause.is_bound(arg) {
                let text = rules.rule_text(rule);
                tracing::warn!(rule = %text, "a variable of the head is never bound; the rule is left out");
                return None;
            }
            answer.push(self.operand(&mut clause, arg));
        }
        Some(Plan { heads, steps: clause.steps.into(), answer: answer.into(), n_slots: clause.n_slots })
    }

    fn compile_body(&mut self, clause: &mut Clause, rule: &Rule, wanted: &[(usize, &RuleTerm)]) {
        let mut left: Vec<&Literal> = rule.body.iter().collect();
        while !left.is_empty() {
            let best = self.next_literal(clause, &left);
            let literal = left.remove(best);
            clause.needed.fill(false);
            let needed = &mut clause.needed;
            left.iter().for_each(|later| later.for_each_var(&mut |var| needed[var as usize] = true));
            wanted.iter().for_each(|(_, arg)| arg.for_each_var(&mut |var| needed[var as usize] = true));
            self.compile_literal(clause, literal);
        }
    }

    /// Which literal to evaluate next: one that can only cut down, else the author's next.
    fn next_literal(&mut self, clause: &Clause, left: &[&Literal]) -> usize {
        let is_ready = |literal: &Literal| {
            let mut ready = true;
            literal.for_each_var(&mut |var| ready &= clause.bound[var as usize]);
            ready
        };
        let mut call = None;
        for (idx, literal) in left.iter().enumerate() {
            match literal {
                Literal::Distinct(..) | Literal::Equal(..) if is_ready(literal) => return idx,
                Literal::Not(atom) if is_ready(literal) => match self.is_call(atom) {
                    true => call = call.or(Some(idx)),
                    false => return idx,
                },
                Literal::Holds(atom) if !self.is_call(atom) && self.fan_out(clause, atom) <= 1.0 => {
                    return idx;
                }
                _ => {}
            }
        }
        if let Some(idx) = call {
            return idx;
        }
        let positive = left.iter().position(|literal| matches!(literal, Literal::Holds(_)));
        let binder = || left.iter().position(|literal| matches!(literal, Literal::Equal(..)));
        // What is left otherwise has variables that nothing binds.
        positive.or_else(binder).unwrap_or(0)
    }

    fn is_call(&self, atom: &Atom) -> bool {
        !matches!(atom.relation, RelationId::TRUE | RelationId::DOES)
            && !self.known.relations[atom.relation.idx()].complete
    }

    /// How many matches a look-up is likely to have.
    fn fan_out(&mut self, clause: &Clause, atom: &Atom) -> f64 {
        match (atom.relation, &*atom.args) {
            (RelationId::DOES, _) => 1.0,
            (RelationId::TRUE, [RuleTerm::Compound(functor, args)]) => {
                let mask = clause.mask_of(args);
                if mask == full_mask(args.len()) {
                    return 1.0;
                }
                let columns: Vec<usize> = super::facts::columns_of(mask).collect();
                let terms = &*self.known.terms;
                let mut groups: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
                let of_functor = self.known.initial.iter().filter(|&&fluent| {
                    terms.functor(fluent) == *functor && terms.n_args(fluent) == args.len()
                });
                for &fluent in of_functor {
                    let key = columns.iter().map(|&column| terms.args(fluent)[column]).collect();
                    *groups.entry(key).or_default() += 1;
                }
                let n_rows: u32 = groups.values().sum();
                // Without an initial example anything may come.
                if n_rows == 0 { 8.0 } else { f64::from(n_rows) / groups.len() as f64 }
            }
            (RelationId::TRUE, [arg]) => {
                if clause.is_bound(arg) {
                    1.0
                } else {
                    100.0
                }
            }
            (relation, args) => match self.known.relations[relation.idx()].table {
                Some(table) => self.known.facts[table.0 as usize].fan_out(clause.mask_of(args)),
                None => 0.0,
            },
        }
    }

    fn compile_literal(&mut self, clause: &mut Clause, literal: &Literal) {
        match literal {
            Literal::Holds(atom) => self.compile_atom(clause, atom),
            Literal::Not(atom) => {
                let bound = clause.bound.clone();
                let needed = std::mem::replace(&mut clause.needed, vec![false; bound.len()]);
                let outer = std::mem::take(&mut clause.steps);
                self.compile_atom(clause, atom);
                let inner = std::mem::replace(&mut clause.steps, outer);
                (clause.bound, clause.needed) = (bound, needed);
                clause.steps.push(Step::Not(inner.into()));
            }
            Literal::Distinct(a, b) => {
                // With a variable that nothing binds, some value of it differs.
                if clause.is_bound(a) && clause.is_bound(b) {
                    let (a, b) = (self.operand(clause, a), self.operand(clause, b));
                    clause.steps.push(Step::Distinct(a, b));
                }
            }
            Literal::Equal(a, b) => {
                let (known, other) = if clause.is_bound(a) { (a, b) } else { (b, a) };
                if clause.is_bound(other) && clause.is_bound(known) {
                    let (a, b) = (self.operand(clause, a), self.operand(clause, b));
                    clause.steps.push(Step::Equal(a, b));
                } else if clause.is_bound(known) {
                    let known = self.operand(clause, known);
                    let accept = self.accept(clause, other);
                    clause.steps.push(Step::Take(known, accept));
                }
            }
        }
    }

    fn compile_atom(&mut self, clause: &mut Clause, atom: &Atom) {
        match (atom.relation, &*atom.args) {
            (RelationId::TRUE, [RuleTerm::Compound(functor, args)])
                if !args.iter().all(RuleTerm::is_ground) =>
            {
                let (mask, key, outs) = self.split(clause, args);
                clause.steps.push(if outs.is_empty() {
                    Step::Fluent { functor: *functor, key }
                } else {
                    let functor = self.fluent_functor(*functor, narrow(args.len()));
                    let index = (mask != 0).then(|| self.fluent_index(functor, mask));
                    let once = outs.iter().all(|(_, accept)| clause.binds_nothing(accept));
                    Step::Fluents { functor, index, mask, key, outs, once }
                });
            }
            (RelationId::TRUE, [arg]) => {
                let step = if clause.is_bound(arg) {
                    Step::WholeFluent { term: self.operand(clause, arg) }
                } else {
                    let accept = self.accept(clause, arg);
                    let once = clause.binds_nothing(&accept);
                    Step::AnyFluent { accept, once }
                };
                clause.steps.push(step);
            }
            (RelationId::DOES, [role, a_move]) => {
                let role = self.accept(clause, role);
                let a_move = self.accept(clause, a_move);
                let once = clause.binds_nothing(&role) && clause.binds_nothing(&a_move);
                clause.steps.push(Step::Does { role, a_move, once });
            }
            (relation, args) => {
                let (mask, key, mut outs) = self.split(clause, args);
                let once = outs.iter().all(|(_, accept)| clause.binds_nothing(accept));
                let info = &self.known.relations[relation.idx()];
                clause.steps.push(match (info.complete, info.table) {
                    (true, Some(facts)) => {
                        let index = (mask != 0).then(|| self.known.facts[facts.0 as usize].index_on(mask));
                        Step::Facts { facts, index, key, outs, once }
                    }
                    _ => {
                        // A variable that occurs twice in the atom is looked at by its second occurrence.
                        let is_repeated = |var| outs.iter().any(|(_, accept)| accept.looks_at(var));
                        let is_dropped = |(column, accept): &&Out| match accept {
                            Accept::Bind(var) => *column < 64 && clause.is_idle(accept) && !is_repeated(*var),
                            _ => false,
                        };
                        let dropped = outs.iter().filter(is_dropped).map(|(column, _)| 1 << column).sum();
                        let wanted = |(column, _): &Out| !is_in(dropped, *column as usize);
                        outs = outs.into_iter().filter(wanted).collect();
                        Step::Call { predicate: self.predicate(relation, mask, dropped), key, outs, once }
                    }
                });
            }
        }
    }

    /// Arguments that are known, as a key, and the others.
    fn split(&mut self, clause: &mut Clause, args: &[RuleTerm]) -> (Mask, Box<[Operand]>, Box<[Out]>) {
        let mask = clause.mask_of(args);
        let mut key = Vec::new();
        for (_, arg) in args.iter().enumerate().filter(|&(idx, _)| is_in(mask, idx)) {
            key.push(self.operand(clause, arg));
        }
        let mut outs = Vec::new();
        for (idx, arg) in args.iter().enumerate().filter(|&(idx, _)| !is_in(mask, idx)) {
            outs.push((narrow(idx), self.accept(clause, arg)));
        }
        (mask, key.into(), outs.into())
    }

    fn fluent_functor(&mut self, functor: Symbol, n_args: u32) -> u32 {
        let functors = &mut self.program.fluent_functors;
        *self.functors.entry((functor, n_args)).or_insert_with(|| {
            functors.push(FluentFunctor { functor, n_args, masks: Vec::new() });
            narrow(functors.len() - 1)
        })
    }

    fn fluent_index(&mut self, functor: u32, mask: Mask) -> u32 {
        let masks = &mut self.program.fluent_functors[functor as usize].masks;
        narrow(masks.iter().position(|&other| other == mask).unwrap_or_else(|| {
            masks.push(mask);
            masks.len() - 1
        }))
    }

    /// What to do with a value that the term must match; binds the term's variables.
    fn accept(&mut self, clause: &mut Clause, term: &RuleTerm) -> Accept {
        match term {
            RuleTerm::Var(var) if !std::mem::replace(&mut clause.bound[*var as usize], true) => {
                Accept::Bind(*var)
            }
            RuleTerm::Compound(functor, args) if !term.is_ground() => {
                // Taking a term apart is cheaper than putting one together to compare.
                Accept::Compound(*functor, args.iter().map(|arg| self.accept(clause, arg)).collect())
            }
            RuleTerm::Var(var) => Accept::Same(Operand::Slot(*var)),
            _ => Accept::Same(Operand::Constant(self.known.terms.intern_rule_term(term))),
        }
    }

    /// A term whose variables are bound, as a value.
    fn operand(&mut self, clause: &mut Clause, term: &RuleTerm) -> Operand {
        match term {
            RuleTerm::Var(var) => Operand::Slot(*var),
            RuleTerm::Compound(functor, args) if !term.is_ground() => {
                let args = args.iter().map(|arg| self.operand(clause, arg)).collect();
                let slot: Slot = clause.n_slots;
                clause.n_slots += 1;
                clause.steps.push(Step::Build { slot, functor: *functor, args });
                Operand::Slot(slot)
            }
            _ => Operand::Constant(self.known.terms.intern_rule_term(term)),
        }
    }
}

fn leads_to_call(step: &Step) -> bool {
    match step {
        Step::Call { .. } => true,
        Step::Not(inner) => inner.iter().any(leads_to_call),
        _ => false,
    }
}
