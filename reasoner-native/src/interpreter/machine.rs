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

use super::facts::Facts;
use super::fluents::Fluents;
use super::program::{PredicateId, Program};
use super::steps::Sink;
use super::tables::{Life, Table, TableId, Tables};
use crate::terms::{LocalTerms, TermId};

/// Steps between two looks at the limits and the interrupt.
const TICKS: u32 = 4096;

/// How deep calls may nest; each level takes about a kilobyte of stack.
const MAX_CALL_DEPTH: u32 = 100_000;

/// What the machine runs; shared by all sessions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Code<'a> {
    pub(super) program: &'a Program,
    pub(super) facts: &'a [Facts],
    /// `name/arity` of each relation, for errors.
    pub(super) names: &'a [Box<str>],
}

/// One session's scratch memory.
#[derive(Debug)]
pub(super) struct Machine {
    pub(super) terms: LocalTerms,
    pub(super) fluents: Fluents,
    /// The roles' names, and the move of each where moves are known.
    pub(super) roles: Vec<u32>,
    pub(super) moves: Vec<u32>,
    pub(super) lives: [Tables; 4],
    pub(super) slots: Vec<u32>,
    pub(super) slots_top: usize,
    /// Keys of calls under way.
    pub(super) args: Vec<u32>,
    /// Tables not complete, in the order in which their filling began.
    open: Vec<TableId>,
    /// Tables being filled at this moment, innermost last.
    callers: Vec<TableId>,
    /// Tables to fill again, outermost components first.
    pub(super) dirty: Vec<TableId>,
    depth: u32,
    ticks: u32,
    steps_left: u64,
    limits: Limits,
    interrupt: Interrupt,
}

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
    pub(super) fn tick(&mut self) -> Result<(), ReasonerError> {
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
    pub(super) fn solve(
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

    pub(super) fn table(&self, id: TableId) -> &Table {
        self.lives[id.life as usize].get(id.idx)
    }

    pub(super) fn table_mut(&mut self, id: TableId) -> &mut Table {
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
}
