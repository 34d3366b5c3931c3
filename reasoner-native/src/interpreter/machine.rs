//! The machine that runs plans: top-down, with tables.
//!
//! A question is a call of a predicate with a key. Its answers are collected in a table, all of them before
//! the caller goes on (or one, where nothing is unbound). A call that leads to itself finds its own table
//! being filled, reads what is there and is noted as a reader; when a table grows, its readers are filled
//! again, until nothing grows: the least fixed point, computed for the calls that matter. Tables that
//! depend on each other are complete together, when the outermost of them is (Tarjan's components over
//! calls, as in SLG resolution: Chen and Warren 1996). Negation asks for a complete table, so it is
//! stratified call by call, which is finer than relation by relation.

use reasoner::{Interrupt, Limits, ReasonerError};

use super::facts::{Facts, columns_of};
use super::fluents::Fluents;
use super::program::{Accept, Mask, Operand, Out, Plan, PredicateId, Program, Step};
use super::tables::{Life, TableId, Tables};
use crate::terms::{LocalTerms, TermId};

/// Steps between two looks at the limits and the interrupt.
const TICKS: u32 = 4096;

/// How deep calls may nest; each level takes about a kilobyte of stack.
const MAX_CALL_DEPTH: u32 = 100_000;

/// Stack that must be left for the steps of one plan, and how much is added when it is not.
const RED_ZONE_BYTES: usize = 128 << 10;
const STACK_SEGMENT_BYTES: usize = 4 << 20;

/// What the machine runs; shared by all sessions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Code<'a> {
    pub(super) program: &'a Program,
    pub(super) facts: &'a [Facts],
    /// `name/arity` of each relation, for errors.
    pub(super) names: &'a [Box<str>],
}

/// Where the matches of a plan go.
#[derive(Clone, Copy)]
enum Sink<'a> {
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

/// One session's scratch memory.
#[derive(Debug)]
pub(super) struct Machine {
    pub(super) terms: LocalTerms,
    pub(super) fluents: Fluents,
    /// The roles' names, and the move of each where moves are known.
    roles: Vec<u32>,
    moves: Vec<u32>,
    lives: [Tables; 4],
    slots: Vec<u32>,
    slots_top: usize,
    /// Keys of calls under way.
    args: Vec<u32>,
    /// Tables not complete, in the order in which their filling began.
    open: Vec<TableId>,
    /// Tables being filled at this moment, innermost last.
    callers: Vec<TableId>,
    /// Tables to fill again, outermost components first.
    dirty: Vec<TableId>,
    depth: u32,
    ticks: u32,
    steps_left: u64,
    limits: Limits,
    interrupt: Interrupt,
}

type Found = Result<bool, ReasonerError>;

impl Machine {
    pub(super) fn new(
        terms: LocalTerms,
        program: &Program,
        roles: &[TermId],
        limits: Limits,
        interrupt: &Interrupt,
    ) -> Machine {
        Machine {
            terms,
            fluents: Fluents::new(&program.fluent_functors),
            roles: roles.iter().map(|role| role.0).collect(),
            moves: Vec::new(),
            lives: Default::default(),
            slots: Vec::new(),
            slots_top: 0,
            args: Vec::new(),
            open: Vec::new(),
            callers: Vec::new(),
            dirty: Vec::new(),
            depth: 0,
            ticks: TICKS,
            steps_left: limits.steps,
            limits,
            interrupt: interrupt.clone(),
        }
    }

    /// Replaces the state. `fluents` are in ascending order.
    pub(super) fn load_state(&mut self, fluents: &[u32]) {
        if let Some(&last) = fluents.last() {
            self.terms.know(TermId(last));
        }
        self.fluents.load(&self.terms, fluents);
        self.lives[Life::State as usize].clear();
        self.lives[Life::Moves as usize].clear();
        self.moves.clear();
    }

    /// Replaces the moves, one per role.
    pub(super) fn load_moves(&mut self, moves: impl Iterator<Item = u32> + Clone) {
        if !self.moves.iter().copied().eq(moves.clone()) {
            self.lives[Life::Moves as usize].clear();
            self.moves.clear();
            self.moves.extend(moves);
            for &a_move in &self.moves {
                self.terms.know(TermId(a_move));
            }
        }
    }

    /// Steps left of the limit, for one who shares a budget among questions.
    pub(super) fn steps_left(&self) -> u64 {
        self.steps_left
    }

    pub(super) fn bytes(&self) -> usize {
        self.lives.iter().map(Tables::bytes).sum::<usize>() + self.terms.bytes()
    }

    /// All answers to a question, in a row.
    ///
    /// # Errors
    /// When a limit is passed, the interrupt raised, or the rules have no meaning; the machine is then as
    /// if it had not been asked.
    pub(super) fn ask(
        &mut self,
        code: Code<'_>,
        question: PredicateId,
        key: &[u32],
    ) -> Result<TableId, ReasonerError> {
        self.steps_left = self.limits.steps;
        self.ticks = TICKS;
        if self.interrupt.is_raised() {
            return Err(ReasonerError::Interrupted);
        }
        self.args.clear();
        self.args.extend_from_slice(key);
        let answer = self.solve(code, question, 0);
        if answer.is_err() {
            self.give_up();
        }
        answer
    }

    /// The answers in a table, in a row.
    pub(super) fn words(&self, table: TableId) -> &[u32] {
        self.lives[table.life as usize].get(table.idx).words()
    }

    /// Whether a table has an answer.
    pub(super) fn is_yes(&self, table: TableId) -> bool {
        !self.lives[table.life as usize].get(table.idx).is_empty()
    }

    /// Forgets every table: some are half filled.
    fn give_up(&mut self) {
        self.lives.iter_mut().for_each(Tables::shrink);
        self.open.clear();
        self.callers.clear();
        self.dirty.clear();
        self.args.clear();
        self.slots_top = 0;
        self.depth = 0;
        self.moves.clear();
    }

    #[inline]
    fn tick(&mut self) -> Result<(), ReasonerError> {
        self.ticks -= 1;
        if self.ticks == 0 { self.look_at_limits() } else { Ok(()) }
    }

    #[cold]
    fn look_at_limits(&mut self) -> Result<(), ReasonerError> {
        self.ticks = TICKS;
        self.steps_left = self.steps_left.saturating_sub(u64::from(TICKS));
        if self.interrupt.is_raised() {
            Err(ReasonerError::Interrupted)
        } else if self.steps_left == 0 {
            Err(ReasonerError::TooManySteps(self.limits.steps))
        } else if self.bytes() as u64 > self.limits.bytes {
            Err(ReasonerError::TooMuchMemory(self.limits.bytes))
        } else {
            Ok(())
        }
    }

    /// The table of a call whose key is the end of `args`; complete, unless the call is part of a cycle
    /// that is being evaluated.
    fn solve(
        &mut self,
        code: Code<'_>,
        predicate: PredicateId,
        key_start: usize,
    ) -> Result<TableId, ReasonerError> {
        let info = &code.program.predicates[predicate.0 as usize];
        let life = match info.dependence {
            gdl::Dependence::Static => Life::Session,
            gdl::Dependence::State => Life::State,
            gdl::Dependence::Moves => Life::Moves,
        };
        let tables = &mut self.lives[life as usize];
        if let Some(idx) = tables.find(predicate, &self.args[key_start..]) {
            let id = TableId { life, idx };
            let table = tables.get(idx);
            if !table.complete {
                let order = table.order;
                self.note_reader(id, order);
            }
            return Ok(id);
        }
        let idx = tables.add(predicate, &self.args[key_start..], info.n_outs);
        let id = TableId { life, idx };
        let order = u32::try_from(self.open.len()).expect("memory limits come before 2^32 tables");
        let table = tables.get_mut(idx);
        (table.order, table.low) = (order, order);
        self.open.push(id);
        self.fill(code, id)?;
        let low = self.table(id).low;
        if low < order {
            self.note_reader(id, low);
            return Ok(id);
        }
        // The outermost call of its component: fill again what has become dirty, until nothing grows.
        while let Some(&last) = self.dirty.last() {
            if self.table(last).order < order {
                break;
            }
            self.dirty.pop();
            if std::mem::replace(&mut self.table_mut(last).dirty, false) {
                self.fill(code, last)?;
            }
        }
        for at in order as usize..self.open.len() {
            let member = self.open[at];
            let table = self.table_mut(member);
            table.complete = true;
            table.readers.clear();
        }
        self.open.truncate(order as usize);
        Ok(id)
    }

    fn table(&self, id: TableId) -> &super::tables::Table {
        self.lives[id.life as usize].get(id.idx)
    }

    fn table_mut(&mut self, id: TableId) -> &mut super::tables::Table {
        self.lives[id.life as usize].get_mut(id.idx)
    }

    /// Notes that the table being filled depends on `id`, which is not complete, and so on a table of order
    /// `low`.
    fn note_reader(&mut self, id: TableId, low: u32) {
        let Some(&caller) = self.callers.last() else { return };
        let reader = self.table_mut(caller);
        reader.low = reader.low.min(low);
        let table = self.table_mut(id);
        if !table.readers.contains(&caller) {
            table.readers.push(caller);
        }
    }

    /// Runs the plans of a table's call and adds what they answer.
    fn fill(&mut self, code: Code<'_>, id: TableId) -> Result<(), ReasonerError> {
        let predicate = &code.program.predicates[self.table(id).predicate as usize];
        self.callers.push(id);
        self.depth += 1;
        if self.depth > MAX_CALL_DEPTH {
            return Err(ReasonerError::Engine(format!(
                "calls nest deeper than {MAX_CALL_DEPTH} levels; the rules may recurse without end"
            )));
        }
        let key_start = self.args.len();
        let Machine { lives, args, .. } = self;
        args.extend_from_slice(lives[id.life as usize].key(id.idx));
        for plan in &predicate.plans {
            if self.run_plan(code, plan, key_start, Sink::Answer(id, plan))? {
                break;
            }
        }
        self.args.truncate(key_start);
        self.depth -= 1;
        self.callers.pop();
        Ok(())
    }

    /// Runs one plan with the key at `key_start`; true if a first match was all that was wanted.
    fn run_plan(&mut self, code: Code<'_>, plan: &Plan, key_start: usize, sink: Sink<'_>) -> Found {
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
                    return Err(ReasonerError::Engine(format!(
                        "a term nests deeper than {} levels; the rules may build terms without end",
                        gdl::MAX_DEPTH
                    )));
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
        let table = self.lives[id.life as usize].get_mut(id.idx);
        let is_new = table.insert(&self.args[start..]);
        self.args.truncate(start);
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
