//! The steps of plans, run one behind the other.
//!
//! Each step passes every match on to the rest of the plan; at the end a match becomes an answer. What a call
//! leads to, and when its table is complete, is for [`super::machine`].

use reasoner::ReasonerError;

use super::facts::columns_of;
use super::machine::{Code, Machine};
use super::program::{Accept, Mask, Operand, Out, Plan, PredicateId, Step};
use super::tables::{Life, TableId};
use crate::terms::TermId;

/// Stack that must be left for the steps of one plan, and how much is added when it is not.
const RED_ZONE_BYTES: usize = 128 << 10;
const STACK_SEGMENT_BYTES: usize = 4 << 20;

/// Where the matches of a plan go.
#[derive(Clone, Copy)]
pub(super) enum Sink<'a> {
    /// Only whether there is one matters.
    Exists,
    /// The answer of each goes into a table.
    Answer(TableId, &'a Plan),
}

/// The parts of [`Step::Fluents`], with its key in place.
struct FluentLookUp<'a> {
    functor: usize,
    index: Option<u32>,
    mask: Mask,
    key_start: usize,
    outs: &'a [Out],
    once: bool,
}

/// Whether the sink wants no more.
type Found = Result<bool, ReasonerError>;

impl Machine {
    /// Runs one plan with the key at `key_start`; true if a first match was all that was wanted.
    pub(super) fn run_plan(
        &mut self,
        code: Code<'_>,
        plan: &Plan,
        key_start: usize,
        sink: Sink<'_>,
    ) -> Found {
        let base = self.slots_top;
        self.slots_top += plan.n_slots as usize;
        if self.slots.len() < self.slots_top {
            self.slots.resize(self.slots_top * 2, 0);
        }
        let mut matches = true;
        for (idx, accept) in plan.heads.iter().enumerate() {
            let value = self.args[key_start + idx];
            if !self.accept(base, accept, value) {
                matches = false;
                break;
            }
        }
        let found = match matches {
            false => Ok(false),
            // Each step takes some hundred bytes of stack.
            true => stacker::maybe_grow(
                RED_ZONE_BYTES + plan.steps.len() * 1024,
                STACK_SEGMENT_BYTES + plan.steps.len() * 2048,
                || self.run(code, &plan.steps, base, sink),
            ),
        };
        self.slots_top = base;
        found
    }

    #[inline]
    fn value(&self, base: usize, operand: Operand) -> u32 {
        match operand {
            Operand::Constant(term) => term.0,
            Operand::Slot(slot) => self.slots[base + slot as usize],
        }
    }

    #[inline]
    fn accept(&mut self, base: usize, accept: &Accept, value: u32) -> bool {
        match accept {
            Accept::Bind(slot) => {
                self.slots[base + *slot as usize] = value;
                true
            }
            Accept::Same(operand) => self.value(base, *operand) == value,
            Accept::Compound(functor, parts) => {
                let term = TermId(value);
                self.terms.functor(term) == *functor
                    && self.terms.n_args(term) == parts.len()
                    && parts.iter().enumerate().all(|(idx, part)| {
                        let arg = self.terms.args(term)[idx];
                        self.accept(base, part, arg)
                    })
            }
        }
    }

    #[inline]
    fn accept_row(&mut self, base: usize, outs: &[Out], row: &[u32]) -> bool {
        outs.iter().all(|(column, accept)| self.accept(base, accept, row[*column as usize]))
    }

    #[inline]
    fn accept_fluent(&mut self, base: usize, outs: &[Out], fluent: u32) -> bool {
        outs.iter().all(|(column, accept)| {
            let value = self.terms.args(TermId(fluent))[*column as usize];
            self.accept(base, accept, value)
        })
    }

    /// Puts the values of a key at the end of `args` and returns where it begins.
    #[inline]
    fn push_key(&mut self, base: usize, key: &[Operand]) -> usize {
        let start = self.args.len();
        for &operand in key {
            let value = self.value(base, operand);
            self.args.push(value);
        }
        start
    }

    /// Runs `steps` from the first on; true if the sink wants no more.
    fn run(&mut self, code: Code<'_>, steps: &[Step], base: usize, sink: Sink<'_>) -> Found {
        let Some((step, rest)) = steps.split_first() else { return self.finish(base, sink) };
        match step {
            Step::Facts { facts, index, key, outs, once } => {
                let facts = &code.facts[facts.0 as usize];
                let Some(index) = index else {
                    for row_idx in 0..facts.n_rows() {
                        self.tick()?;
                        if self.accept_row(base, outs, facts.row(row_idx)) {
                            let found = self.run(code, rest, base, sink)?;
                            if found || *once {
                                return Ok(found);
                            }
                        }
                    }
                    return Ok(false);
                };
                let start = self.push_key(base, key);
                let rows = facts.rows_of(*index, &self.args[start..]);
                self.args.truncate(start);
                for &row_idx in rows {
                    self.tick()?;
                    if self.accept_row(base, outs, facts.row(row_idx as usize)) {
                        let found = self.run(code, rest, base, sink)?;
                        if found || *once {
                            return Ok(found);
                        }
                    }
                }
                Ok(false)
            }
            Step::Fluents { functor, index, mask, key, outs, once } => {
                let start = self.push_key(base, key);
                let look_up = FluentLookUp {
                    functor: *functor as usize,
                    index: *index,
                    mask: *mask,
                    key_start: start,
                    outs,
                    once: *once,
                };
                let found = self.run_fluents(code, look_up, rest, base, sink);
                self.args.truncate(start);
                found
            }
            Step::Fluent { functor, key } => {
                let start = self.push_key(base, key);
                let term = self.terms.find(*functor, &self.args[start..]);
                self.args.truncate(start);
                let is_true = term.is_some_and(|term| self.fluents.is_true(term.0));
                if is_true { self.run(code, rest, base, sink) } else { Ok(false) }
            }
            Step::WholeFluent { term } => {
                let is_true = self.fluents.is_true(self.value(base, *term));
                if is_true { self.run(code, rest, base, sink) } else { Ok(false) }
            }
            Step::AnyFluent { accept, once } => {
                for idx in 0..self.fluents.all.len() {
                    self.tick()?;
                    let fluent = self.fluents.all[idx];
                    if self.accept(base, accept, fluent) {
                        let found = self.run(code, rest, base, sink)?;
                        if found || *once {
                            return Ok(found);
                        }
                    }
                }
                Ok(false)
            }
            Step::Does { role, a_move, once } => {
                for idx in 0..self.moves.len() {
                    self.tick()?;
                    let (role_name, made) = (self.roles[idx], self.moves[idx]);
                    if self.accept(base, role, role_name) && self.accept(base, a_move, made) {
                        let found = self.run(code, rest, base, sink)?;
                        if found || *once {
                            return Ok(found);
                        }
                    }
                }
                Ok(false)
            }
            Step::Call { predicate, key, outs, once } => {
                self.call(code, *predicate, (key, outs, *once), rest, base, sink)
            }
            Step::Not(inner) => {
                self.tick()?;
                if self.run(code, inner, base, Sink::Exists)? {
                    return Ok(false);
                }
                self.run(code, rest, base, sink)
            }
            Step::Distinct(a, b) => {
                if self.value(base, *a) == self.value(base, *b) {
                    return Ok(false);
                }
                self.run(code, rest, base, sink)
            }
            Step::Equal(a, b) => {
                if self.value(base, *a) != self.value(base, *b) {
                    return Ok(false);
                }
                self.run(code, rest, base, sink)
            }
            Step::Take(operand, accept) => {
                let value = self.value(base, *operand);
                if self.accept(base, accept, value) { self.run(code, rest, base, sink) } else { Ok(false) }
            }
            Step::Build { slot, functor, args } => {
                self.tick()?;
                let start = self.push_key(base, args);
                let term = self.terms.intern(*functor, &self.args[start..]);
                self.args.truncate(start);
                if self.terms.depth(term) > gdl::MAX_DEPTH {
                    return Err(ReasonerError::TooDeep(gdl::MAX_DEPTH));
                }
                self.slots[base + *slot as usize] = term.0;
                self.run(code, rest, base, sink)
            }
        }
    }

    fn run_fluents(
        &mut self,
        code: Code<'_>,
        look_up: FluentLookUp<'_>,
        rest: &[Step],
        base: usize,
        sink: Sink<'_>,
    ) -> Found {
        let FluentLookUp { functor, index, mask, key_start, outs, once } = look_up;
        let n_now = self.fluents.by_functor[functor].now.len();
        if n_now == 0 {
            return Ok(false);
        }
        if let Some(index) = index {
            let index = index as usize;
            let ever = &self.fluents.by_functor[functor].ever[index];
            let Some(group) = ever.group(&self.args[key_start..]) else { return Ok(false) };
            let n_ever = ever.items(group).len();
            if n_ever <= n_now * 2 {
                for idx in 0..n_ever {
                    let fluent = self.fluents.by_functor[functor].ever[index].items(group)[idx];
                    self.tick()?;
                    if self.fluents.is_true(fluent) && self.accept_fluent(base, outs, fluent) {
                        let found = self.run(code, rest, base, sink)?;
                        if found || once {
                            return Ok(found);
                        }
                    }
                }
                return Ok(false);
            }
        }
        for idx in 0..n_now {
            self.tick()?;
            let fluent = self.fluents.by_functor[functor].now[idx];
            let row = self.terms.args(TermId(fluent));
            let mut key = self.args[key_start..].iter();
            if columns_of(mask).all(|column| key.next() == Some(&row[column]))
                && self.accept_fluent(base, outs, fluent)
            {
                let found = self.run(code, rest, base, sink)?;
                if found || once {
                    return Ok(found);
                }
            }
        }
        Ok(false)
    }

    fn call(
        &mut self,
        code: Code<'_>,
        predicate: PredicateId,
        (key, outs, once): (&[Operand], &[Out], bool),
        rest: &[Step],
        base: usize,
        sink: Sink<'_>,
    ) -> Found {
        self.tick()?;
        let info = &code.program.predicates[predicate.0 as usize];
        let start = self.push_key(base, key);
        if !info.tabled && info.n_outs == 0 {
            let mut found = false;
            for plan in &info.plans {
                found = self.run_plan(code, plan, start, Sink::Exists)?;
                if found {
                    break;
                }
            }
            self.args.truncate(start);
            return if found { self.run(code, rest, base, sink) } else { Ok(false) };
        }
        let id = match info.tabled {
            true => self.solve(code, predicate, start)?,
            false => {
                let id = TableId {
                    life: Life::Call,
                    idx: self.lives[Life::Call as usize].take(predicate, info.n_outs),
                };
                for plan in &info.plans {
                    self.run_plan(code, plan, start, Sink::Answer(id, plan))?;
                }
                id
            }
        };
        self.args.truncate(start);
        let found = self.run_answers(code, id, (outs, once), rest, base, sink)?;
        if !info.tabled {
            self.lives[Life::Call as usize].give_back();
        } else if !found && matches!(sink, Sink::Exists) && !self.table(id).complete {
            // Under a negation, "none" needs a complete table.
            return Err(ReasonerError::NotStratified(code.names[info.relation.idx()].to_string()));
        }
        Ok(found)
    }

    fn run_answers(
        &mut self,
        code: Code<'_>,
        id: TableId,
        (outs, once): (&[Out], bool),
        rest: &[Step],
        base: usize,
        sink: Sink<'_>,
    ) -> Found {
        let mut idx = 0;
        // A table that is being filled can grow while it is read.
        while idx < self.table(id).len() {
            self.tick()?;
            let accepted = outs.iter().enumerate().all(|(out_idx, (_, accept))| {
                let value = self.table(id).answer(idx)[out_idx];
                self.accept(base, accept, value)
            });
            if accepted {
                let found = self.run(code, rest, base, sink)?;
                if found || once {
                    return Ok(found);
                }
            }
            idx += 1;
        }
        Ok(false)
    }

    /// A match: all steps succeeded.
    fn finish(&mut self, base: usize, sink: Sink<'_>) -> Found {
        let Sink::Answer(id, plan) = sink else { return Ok(true) };
        let start = self.push_key(base, &plan.answer);
        let tables = &mut self.lives[id.life as usize];
        let is_new = tables.insert(id.idx, &self.args[start..]);
        self.args.truncate(start);
        let table = tables.get_mut(id.idx);
        if is_new && !table.readers.is_empty() {
            let readers = std::mem::take(&mut table.readers);
            for &reader in &readers {
                if !std::mem::replace(&mut self.table_mut(reader).dirty, true) {
                    self.dirty.push(reader);
                }
            }
            self.table_mut(id).readers = readers;
        }
        // A yes needs no second match.
        Ok(plan.answer.is_empty())
    }
}
