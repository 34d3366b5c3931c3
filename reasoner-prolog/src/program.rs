//! Programs loaded into Prolog, and what a thread has loaded into one of them.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use gdl::{RelationId, Rules};
use parking_lot::Mutex;
use reasoner::Limits;

use crate::engine::{
    Arg, Engine, Functor, Kept, Module, Next, Predicate, PrologError, Record, Solution, Word,
};
use crate::state::FactSet;
use crate::terms::{LocalTerms, SharedTerms, TermId};
use crate::translate::{self, Choices};

/// Numbers of modules in use. A module that a program no longer needs serves the next one: Prolog never
/// forgets a module, and some 20 kB would stay behind with each.
static IN_USE: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

/// The rules as a module of Prolog, shared by all threads.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) choices: Choices,
    slot: usize,
    module: Module,
    /// Of the moves of all roles.
    moves: Functor,
    pub(crate) init: Predicate,
    pub(crate) terminal: Predicate,
    pub(crate) legal: Predicate,
    pub(crate) next: Predicate,
    pub(crate) goal: Predicate,
    /// Terms that match every fact of a state.
    patterns: Kept<Vec<Record>>,
}

impl Program {
    /// Translates and loads.
    ///
    /// # Errors
    /// If Prolog refuses the text, which would be an error of the translation.
    pub(crate) fn load(engine: &Engine, rules: &Rules, choices: Choices) -> Result<Program, PrologError> {
        engine.limit_memory(Limits::default().bytes)?;
        let mut patterns: Vec<Record> = translate::fluent_names(rules)
            .into_iter()
            .map(|(name, arity)| {
                let predicate = translate::fluent_predicate(rules.symbols().name(name));
                engine.pattern(&engine.atom(&predicate), arity)
            })
            .collect::<Result<_, _>>()?;
        patterns.push(engine.pattern(&engine.atom(translate::OTHER_FLUENT), 1)?);
        let slot = take_slot();
        let name = module_name(slot);
        let module = engine.module(&name);
        let predicate = |relation: RelationId| predicate(engine, rules, module, relation);
        let text = translate::program(rules, &name, &choices);
        let program = Program {
            choices,
            slot,
            module,
            moves: engine.functor(&engine.atom(translate::MOVES), rules.roles().len()),
            init: predicate(RelationId::INIT),
            terminal: predicate(RelationId::TERMINAL),
            legal: predicate(RelationId::LEGAL),
            next: predicate(RelationId::NEXT),
            goal: predicate(RelationId::GOAL),
            patterns: Kept::new(patterns),
        };
        engine.load(&name, &text)?;
        Ok(program)
    }

    /// The predicate of a relation.
    pub(crate) fn predicate(&self, engine: &Engine, rules: &Rules, relation: RelationId) -> Predicate {
        predicate(engine, rules, self.module, relation)
    }

    /// Whether answers come from tables, which a new state makes void.
    fn has_tables(&self) -> bool {
        !self.choices.tabled.is_empty()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let unloaded = Engine::of_this_thread()
            .and_then(|engine| engine.unload(&module_name(self.slot)).map_err(|error| error.to_string()));
        match unloaded {
            Ok(()) => _ = IN_USE.lock().remove(&self.slot),
            // What cannot be unloaded stays in use.
            Err(error) => tracing::warn!(%error, "a Prolog module stays loaded"),
        }
    }
}

fn predicate(engine: &Engine, rules: &Rules, module: Module, relation: RelationId) -> Predicate {
    engine.predicate(
        module,
        &translate::relation_predicate(rules, relation),
        translate::arity(rules, relation),
    )
}

fn take_slot() -> usize {
    let mut in_use = IN_USE.lock();
    let slot = (0..).find(|slot| !in_use.contains(slot)).expect("there is always a next number");
    in_use.insert(slot);
    slot
}

fn module_name(slot: usize) -> String {
    format!("daggerboard_{slot}")
}

/// How the facts of the last state become those of the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Update {
    /// Only the difference is retracted and asserted (Ary 2018, section 5.2).
    Difference,
    /// Everything is retracted and asserted.
    Everything,
}

/// What one thread has loaded into a program. All sessions of the thread share it, as they share the engine.
#[derive(Debug)]
pub(crate) struct Hold {
    pub(crate) program: Arc<Program>,
    pub(crate) engine: Engine,
    pub(crate) terms: Arc<Kept<SharedTerms>>,
    pub(crate) local: LocalTerms,
    /// The state whose facts are asserted; unknown after an error.
    loaded: Option<FactSet>,
    words: Vec<Word>,
}

thread_local! {
    static HOLDS: RefCell<Vec<Weak<RefCell<Hold>>>> = const { RefCell::new(Vec::new()) };
}

impl Hold {
    /// This thread's hold on a program.
    ///
    /// # Errors
    /// If the thread ends.
    pub(crate) fn of(
        program: &Arc<Program>,
        engine: &Engine,
        terms: &Arc<Kept<SharedTerms>>,
    ) -> Result<Rc<RefCell<Hold>>, PrologError> {
        let hold = HOLDS.try_with(|holds| {
            let mut holds = holds.borrow_mut();
            holds.retain(|hold| hold.strong_count() > 0);
            let known = holds.iter().filter_map(Weak::upgrade);
            if let Some(hold) = known.into_iter().find(|hold| Arc::ptr_eq(&hold.borrow().program, program)) {
                return hold;
            }
            let hold = Rc::new(RefCell::new(Hold {
                program: Arc::clone(program),
                engine: engine.clone(),
                terms: Arc::clone(terms),
                local: terms.local(),
                loaded: None,
                words: Vec::new(),
            }));
            holds.push(Rc::downgrade(&hold));
            hold
        });
        hold.map_err(|_| PrologError::Raised("the thread ends".to_owned()))
    }

    /// Makes the facts those of a state.
    pub(crate) fn load(&mut self, state: &FactSet, update: Update) -> Result<(), PrologError> {
        match self.loaded.take() {
            Some(loaded) if loaded.is_same(state) => {
                self.loaded = Some(loaded);
                return Ok(());
            }
            Some(loaded) if update == Update::Difference => self.replace(&loaded, state)?,
            _ => {
                self.engine.retract_all(self.program.module, self.program.patterns.iter())?;
                self.assert_all(state.ids())?;
            }
        }
        self.loaded = Some(state.clone());
        if self.program.has_tables() {
            self.engine.abolish_tables()?;
        }
        Ok(())
    }

    /// Retracts what only the old state has and asserts what only the new one has. Both are in ascending order.
    fn replace(&mut self, old: &FactSet, new: &FactSet) -> Result<(), PrologError> {
        let (mut gone, mut come) = (Vec::new(), Vec::new());
        let (mut olds, mut news) = (old.ids().iter().peekable(), new.ids().iter().peekable());
        loop {
            match (olds.peek(), news.peek()) {
                (Some(old), Some(new)) if old == new => {
                    olds.next();
                    news.next();
                }
                (Some(old), new) if new.is_none_or(|new| *old < new) => gone.extend(olds.next()),
                (_, Some(_)) => come.extend(news.next().copied()),
                _ => break,
            }
        }
        self.local.know(&self.terms, old.ids());
        let facts = gone.iter().map(|&&id| self.local.known(id)).map(|entry| &entry.fact);
        self.engine.retract(self.program.module, facts)?;
        self.assert_all(&come)
    }

    fn assert_all(&mut self, ids: &[TermId]) -> Result<(), PrologError> {
        self.local.know(&self.terms, ids);
        let facts = ids.iter().map(|&id| &self.local.known(id).fact);
        self.engine.assert(self.program.module, facts)
    }

    /// Replaces `ids` by the numbers of all different terms that are the answer in a solution, in ascending order.
    ///
    /// The predicate's arguments are the role, if there is one, the answer, and the moves, if it takes them; without
    /// any, nobody has moved.
    pub(crate) fn ask(
        &mut self,
        predicate: Predicate,
        role: Option<TermId>,
        moves: &[TermId],
        ids: &mut Vec<TermId>,
    ) -> Result<(), PrologError> {
        ids.clear();
        let Hold { engine, terms, local, words, program, .. } = self;
        let mut entry = |id: TermId| Arc::clone(local.entry(terms, id));
        let role = role.map(&mut entry);
        let moves: Vec<_> = moves.iter().copied().map(entry).collect();
        let moves: Vec<&Record> = moves.iter().map(|a_move| &a_move.data).collect();
        let first = role.as_ref().map_or(Arg::Free, |role| Arg::Term(&role.data));
        let args = [first, Arg::Free, Arg::Compound(program.moves, &moves)];
        let answer_idx = usize::from(role.is_some());
        let args = &args[1 - answer_idx..][..predicate.n_args()];
        engine.ask(predicate, args, |solution: &Solution<'_>| {
            words.clear();
            solution.read(answer_idx, words)?;
            ids.push(local.intern(terms, engine, words)?);
            Ok::<Next, PrologError>(Next::More)
        })?;
        ids.sort_unstable();
        ids.dedup();
        Ok(())
    }

    /// Whether there is a solution.
    pub(crate) fn holds(&mut self, predicate: Predicate) -> Result<bool, PrologError> {
        let mut holds = false;
        self.engine.ask(
            predicate,
            &[Arg::Compound(self.program.moves, &[])][..predicate.n_args()],
            |_| {
                holds = true;
                Ok::<Next, PrologError>(Next::Enough)
            },
        )?;
        Ok(holds)
    }

    /// After an error it is not known what is loaded.
    pub(crate) fn forget(&mut self) {
        self.loaded = None;
        if self.program.has_tables() {
            // A table that the error left half filled must not answer; if this fails, the next load says so.
            _ = self.engine.abolish_tables();
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.terms.give_back(std::mem::take(&mut self.local));
        // Facts go with the engine; if that stays, they must not.
        if self.engine.is_shared() {
            let module = self.program.module;
            let gone = self.engine.retract_all(module, self.program.patterns.iter());
            if let Err(error) = gone {
                tracing::warn!(%error, "facts of a state stay behind");
            }
        }
    }
}
