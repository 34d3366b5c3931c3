//! The one door to SWI-Prolog: everything unsafe of this crate.
//!
//! In go texts of modules, predicates and words; out come solutions as words. A *word* is what SWI-Prolog
//! itself keeps for an atom or for a functor; a ground term is a sequence of words, each functor followed by
//! its arguments.
//!
//! What keeps safe code from crashing Prolog:
//! - Prolog is started once, by [`Engine::of_this_thread`], without its signal handlers.
//! - Every call needs an [`Engine`], which belongs to the thread that it was attached to (it is not `Send`)
//!   and is detached with its last clone. A thread without an engine cannot call.
//! - Term references never leave this module; each call opens a frame and discards it.
//! - A query is closed when its guard goes, also by a panic.
//! - What Prolog may have no room for (frames, references, queries, records) is an error before it is used.
//! - Predicates have few enough arguments, which [`translate::check`](crate::translate) sees to.
//! - [`Atom`]s and [`Record`]s are counted by Prolog. Their last owner gives them back where the thread has an
//!   engine, and otherwise leaves them.

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_int};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, RangeInclusive};
use std::ptr::null_mut;
use std::rc::{Rc, Weak};

use swipl::fli;

mod handles;
mod query;
mod start;

pub(crate) use handles::{Atom, Functor, Module, Predicate, PrologError, Record, Word};
pub(crate) use query::{Arg, Next, Solution};

use handles::has_engine;
use query::{Frame, Query, count, pending_exception, put_term, record_of};
use start::{Handles, run_text, start, unlimited};

/// Holds atoms and records, and drops them in a thread with an engine, attached for that if need be.
#[derive(Debug)]
pub(crate) struct Kept<T>(ManuallyDrop<T>);

impl<T> Kept<T> {
    /// Holds `value`.
    pub(crate) fn new(value: T) -> Kept<T> {
        Kept(ManuallyDrop::new(value))
    }
}

impl<T> Deref for Kept<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> Drop for Kept<T> {
    fn drop(&mut self) {
        // Without an engine, atoms and records leave themselves behind.
        let _engine = Engine::of_this_thread();
        // SAFETY: dropped here and nowhere else; `self` is not used again.
        unsafe { ManuallyDrop::drop(&mut self.0) }
    }
}

thread_local! {
    static ATTACHED: RefCell<Weak<Attached>> = const { RefCell::new(Weak::new()) };
}

#[derive(Debug)]
struct Attached {
    thread: c_int,
    stack_limit: Cell<u64>,
    unlimited: Record,
    handles: Handles,
    _not_send: PhantomData<*mut ()>,
}

impl Drop for Attached {
    fn drop(&mut self) {
        if has_engine() {
            // SAFETY: it was attached to this thread, which `Attached` cannot leave; no query is open, since
            // each is closed before its `Engine` can go.
            unsafe { fli::PL_thread_destroy_engine() };
        }
    }
}

/// This thread's engine. Clones are the same engine; the last one detaches it.
#[derive(Debug, Clone)]
pub(crate) struct Engine(Rc<Attached>);

impl Engine {
    /// Starts Prolog if it does not run yet and attaches an engine to this thread, or gives the one it has.
    ///
    /// # Errors
    /// If Prolog does not start or has no engine left.
    pub(crate) fn of_this_thread() -> Result<Engine, String> {
        // Where the thread ends, its variables may be gone before what is dropped with it.
        let attached = ATTACHED.try_with(|attached| {
            let mut attached = attached.borrow_mut();
            if let Some(attached) = attached.upgrade() {
                return Ok(Engine(attached));
            }
            start()?;
            // SAFETY: Prolog runs, and the thread has no engine; null asks for the defaults.
            let thread = unsafe { fli::PL_thread_attach_engine(null_mut()) };
            if thread <= 0 {
                return Err("SWI-Prolog has no engine for another thread".to_owned());
            }
            let handles = Handles::new();
            let unlimited = unlimited(&handles).map_err(|error| error.to_string())?;
            let engine = Rc::new(Attached {
                thread,
                stack_limit: Cell::new(0),
                unlimited,
                handles,
                _not_send: PhantomData,
            });
            *attached = Rc::downgrade(&engine);
            Ok(Engine(engine))
        });
        attached.unwrap_or_else(|_| Err("the thread ends".to_owned()))
    }

    /// Prolog's number of this thread.
    pub(crate) fn thread(&self) -> c_int {
        self.0.thread
    }

    /// Whether something else holds on to the engine.
    pub(crate) fn is_shared(&self) -> bool {
        Rc::strong_count(&self.0) > 1
    }

    /// The version of the running Prolog, such as `9.0.4`.
    pub(crate) fn version(&self) -> String {
        // SAFETY: a query of a number, allowed at any time.
        let version = unsafe { fli::PL_query(fli::PL_QUERY_VERSION as c_int) };
        format!("{}.{}.{}", version / 10_000, version / 100 % 100, version % 100)
    }

    /// Runs a goal given as text.
    pub(crate) fn run(&self, goal: &str) -> Result<(), PrologError> {
        run_text(goal)
    }

    /// Limits each of this thread's stacks, and its tables, to some bytes, but to no less than Prolog itself needs and
    /// no more than it can count.
    pub(crate) fn limit_memory(&self, bytes: u64) -> Result<(), PrologError> {
        const POSSIBLE: RangeInclusive<u64> = 1 << 20..=1 << 46;
        let bytes = bytes.clamp(*POSSIBLE.start(), *POSSIBLE.end());
        if self.0.stack_limit.get() != bytes {
            self.run(&format!(
                "(set_prolog_flag(stack_limit, {bytes}), set_prolog_flag(table_space, {bytes}))"
            ))?;
            self.0.stack_limit.set(bytes);
        }
        Ok(())
    }

    /// Forgets what was loaded as `id` into the module of this name.
    pub(crate) fn unload(&self, id: &str) -> Result<(), PrologError> {
        self.run(&format!("daggerboard_unload({id})"))
    }

    /// Loads the text of a module, in place of what was loaded as `id` before.
    pub(crate) fn load(&self, id: &str, text: &str) -> Result<(), PrologError> {
        let frame = Frame::open()?;
        let args = frame.terms(2)?;
        let flags = (fli::PL_STRING | fli::REP_UTF8) as c_int;
        // SAFETY: lengths are those of the texts; `daggerboard_load/2` has two arguments, made in the open frame.
        unsafe {
            let atom = self.atom(id);
            fli::PL_put_atom(args, atom.0);
            if fli::PL_put_chars(args + 1, flags, text.len(), text.as_ptr().cast()) == 0 {
                return Err(pending_exception());
            }
            let load = fli::PL_predicate(c"daggerboard_load".as_ptr(), 2, c"user".as_ptr());
            match frame.call(null_mut(), load, args)? {
                true => Ok(()),
                false => Err(PrologError::Raised("the rules cannot be loaded".to_owned())),
            }
        }
    }

    /// The atom of a name.
    pub(crate) fn atom(&self, name: &str) -> Atom {
        // SAFETY: the length is that of the text, which is UTF-8.
        Atom(unsafe { fli::PL_new_atom_mbchars(fli::REP_UTF8 as c_int, name.len(), name.as_ptr().cast()) })
    }

    /// A functor.
    pub(crate) fn functor(&self, name: &Atom, arity: usize) -> Functor {
        // SAFETY: the atom is registered.
        Functor(unsafe { fli::PL_new_functor_sz(name.0, arity) })
    }

    /// The name and the arity of a word; the arity of an atom is 0.
    pub(crate) fn name_and_arity(&self, word: Word) -> (Word, usize) {
        match word.atom() {
            Some(_) => (word, 0),
            // SAFETY: the word is a functor, which Prolog never forgets.
            None => unsafe {
                (Word::of_atom(fli::PL_functor_name(word.0)), fli::PL_functor_arity_sz(word.0))
            },
        }
    }

    /// The term of a name with `arity` different variables as arguments.
    pub(crate) fn pattern(&self, name: &Atom, arity: usize) -> Result<Record, PrologError> {
        let frame = Frame::open()?;
        let term = frame.term()?;
        // SAFETY: the reference is made in the open frame; atom and functor are valid.
        unsafe {
            let is_put = match arity {
                0 => fli::PL_put_atom(term, name.0),
                _ => fli::PL_put_functor(term, self.functor(name, arity).0),
            };
            if is_put == 0 { Err(pending_exception()) } else { record_of(term) }
        }
    }

    /// A module, made if need be.
    pub(crate) fn module(&self, name: &str) -> Module {
        // SAFETY: the atom is registered.
        Module(unsafe { fli::PL_new_module(self.atom(name).0) })
    }

    /// A predicate of a module, made if need be.
    pub(crate) fn predicate(&self, module: Module, name: &str, arity: usize) -> Predicate {
        let functor = self.functor(&self.atom(name), arity);
        // SAFETY: both are valid.
        Predicate { handle: unsafe { fli::PL_pred(functor.0, module.0) }, arity: count(arity) }
    }

    /// The inferences that this thread made so far.
    pub(crate) fn inferences(&self) -> Result<u64, PrologError> {
        let frame = Frame::open()?;
        let args = frame.terms(2)?;
        let mut n = 0;
        // SAFETY: `statistics/2` has two arguments, made in the open frame.
        unsafe {
            fli::PL_put_atom(args, self.atom("inferences").0);
            let query = Query::open(null_mut(), self.0.handles.statistics.handle, args)?;
            let is_told = query.next()? && fli::PL_get_int64(args + 1, &raw mut n) != 0;
            assert!(is_told, "inferences are counted");
        }
        Ok(n.unsigned_abs())
    }

    /// Keeps a term outside the stacks.
    ///
    /// # Panics
    /// If `words` are not one term.
    pub(crate) fn record(&self, words: &[Word]) -> Result<Record, PrologError> {
        let frame = Frame::open()?;
        let term = frame.term()?;
        // SAFETY: the reference is made in the open frame.
        unsafe {
            let rest = put_term(term, words)?;
            assert!(rest.is_empty(), "the words are one term");
            record_of(term)
        }
    }

    /// Adds facts to a module, in this thread.
    pub(crate) fn assert<'a>(
        &self,
        module: Module,
        facts: impl IntoIterator<Item = &'a Record>,
    ) -> Result<(), PrologError> {
        let frame = Frame::open()?;
        let term = frame.term()?;
        // SAFETY: the reference is made in the open frame; records are valid while borrowed.
        unsafe {
            for fact in facts {
                let is_added = fli::PL_recorded(fact.0, term) != 0
                    && fli::PL_assert(term, module.0, fli::PL_ASSERTZ as c_int) != 0;
                if !is_added {
                    return Err(pending_exception());
                }
            }
        }
        Ok(())
    }

    /// Removes one matching fact of a module for each term, in this thread.
    pub(crate) fn retract<'a>(
        &self,
        module: Module,
        facts: impl IntoIterator<Item = &'a Record>,
    ) -> Result<(), PrologError> {
        self.call_each(module, self.0.handles.retract, facts)
    }

    /// Removes all matching facts of a module for each term, in this thread.
    pub(crate) fn retract_all<'a>(
        &self,
        module: Module,
        patterns: impl IntoIterator<Item = &'a Record>,
    ) -> Result<(), PrologError> {
        self.call_each(module, self.0.handles.retract_all, patterns)
    }

    fn call_each<'a>(
        &self,
        module: Module,
        predicate: Predicate,
        terms: impl IntoIterator<Item = &'a Record>,
    ) -> Result<(), PrologError> {
        debug_assert_eq!(predicate.arity, 1);
        let frame = Frame::open()?;
        let term = frame.term()?;
        // SAFETY: the reference is made in the open frame; records are valid while borrowed; the predicate has
        // one argument.
        unsafe {
            for record in terms {
                if fli::PL_recorded(record.0, term) == 0 {
                    return Err(pending_exception());
                }
                frame.call(module.0, predicate.handle, term)?;
            }
        }
        Ok(())
    }

    /// Forgets the answers of all tables of this thread.
    pub(crate) fn abolish_tables(&self) -> Result<(), PrologError> {
        let frame = Frame::open()?;
        // SAFETY: the predicate has no argument.
        unsafe { frame.call(null_mut(), self.0.handles.abolish_tables.handle, 0) }.map(|_| ())
    }

    /// Asks a predicate for all solutions. `visit` gets each; its error ends the query.
    ///
    /// # Panics
    /// If the predicate has another number of arguments.
    pub(crate) fn ask<E: From<PrologError>>(
        &self,
        predicate: Predicate,
        given: &[Arg<'_>],
        mut visit: impl FnMut(&Solution<'_>) -> Result<Next, E>,
    ) -> Result<(), E> {
        assert_eq!(given.len(), predicate.n_args(), "the predicate has the arguments");
        let frame = Frame::open()?;
        let args = frame.terms(predicate.n_args())?;
        // SAFETY: as many references as the predicate has arguments, made in the open frame.
        let query = unsafe {
            for (arg_idx, arg) in (0..).zip(given) {
                arg.put(args + arg_idx)?;
            }
            Query::open(null_mut(), predicate.handle, args)?
        };
        while query.next()? {
            let solution = Solution { args, n_args: predicate.n_args(), _query: PhantomData };
            if visit(&solution)? == Next::Enough {
                break;
            }
        }
        Ok(())
    }

    /// Asks as [`ask`](Engine::ask) does, with at most `steps` inferences for all solutions together. What is asked this
    /// way ends at the same place in every run.
    pub(crate) fn ask_within<E: From<PrologError>>(
        &self,
        steps: u64,
        predicate: Predicate,
        given: &[Arg<'_>],
        visit: impl FnMut(&Solution<'_>) -> Result<Next, E>,
    ) -> Result<(), E> {
        {
            let frame = Frame::open()?;
            let args = frame.terms(2)?;
            // SAFETY: the predicate has two arguments, made in the open frame.
            unsafe {
                Arg::Number(steps).put(args)?;
                frame.call(null_mut(), self.0.handles.limit_inferences.handle, args)?;
            }
        }
        let answer = self.ask(predicate, given, visit);
        self.calm();
        answer
    }

    /// Forgets signals, limits and exceptions that came too late for the query they were meant for.
    pub(crate) fn calm(&self) {
        // SAFETY: the thread has an engine and no query is open.
        unsafe {
            fli::PL_handle_signals();
            fli::PL_clear_exception();
        }
        if let Err(error) = self.unlimit() {
            tracing::warn!(%error, "an earlier limit of inferences stays");
        }
    }

    fn unlimit(&self) -> Result<(), PrologError> {
        let frame = Frame::open()?;
        let unlimited = frame.term()?;
        // SAFETY: the predicate has one argument, made in the open frame. It resets, and fails.
        unsafe {
            if fli::PL_recorded(self.0.unlimited.0, unlimited) == 0 {
                return Err(pending_exception());
            }
            frame.call(null_mut(), self.0.handles.unlimit_inferences.handle, unlimited).map(|_| ())
        }
    }

    /// Ends what another thread asks with [`PrologError::Interrupted`]. If it asks nothing, its next query ends
    /// so, unless it is [calmed](Engine::calm) before.
    pub(crate) fn interrupt(&self, thread: c_int) -> Result<(), PrologError> {
        self.signal(c"daggerboard_interrupt", thread, 0)
    }

    /// Ends what another thread asks with [`PrologError::TooManySteps`] after some more inferences, all its
    /// queries together until it is [calmed](Engine::calm).
    pub(crate) fn limit_inferences(&self, thread: c_int, steps: u64) -> Result<(), PrologError> {
        self.signal(c"daggerboard_limit", thread, steps)
    }

    fn signal(&self, helper: &CStr, thread: c_int, number: u64) -> Result<(), PrologError> {
        let frame = Frame::open()?;
        let args = frame.terms(2)?;
        // SAFETY: both helpers have two arguments, made in the open frame.
        unsafe {
            Arg::Number(u64::from(thread.unsigned_abs())).put(args)?;
            Arg::Number(number).put(args + 1)?;
            let predicate = fli::PL_predicate(helper.as_ptr(), 2, c"user".as_ptr());
            frame.call(null_mut(), predicate, args)?;
        }
        Ok(())
    }
}
