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
//! - [`Atom`]s and [`Record`]s are counted by Prolog. Their last owner gives them back where the thread has an
//!   engine, and otherwise leaves them.

use std::cell::{Cell, RefCell};
use std::ffi::{CStr, CString, c_char, c_int};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr::null_mut;
use std::rc::{Rc, Weak};
use std::sync::OnceLock;

use swipl::fli;

mod handles;
mod query;

pub(crate) use handles::{Atom, Functor, Module, Predicate, PrologError, Record, Word};
pub(crate) use query::{Arg, Next, Solution};

use handles::has_engine;
use query::{Frame, Query, count, pending_exception, put_term};

/// Predicates of our own, in the module `user`.
const HELPERS: [&str; 6] = [
    "daggerboard_load(Id, Text) :- \
        setup_call_cleanup(open_string(Text, S), load_files(Id, [stream(S), silent(true)]), close(S))",
    // Unloading leaves tables on, which would answer for the next rules in this module.
    "daggerboard_unload(Module) :- \
        forall((predicate_property(Module:Head, tabled), \\+ predicate_property(Module:Head, imported_from(_))), \
               (functor(Head, Name, Arity), untable(Module:Name/Arity))), \
        unload_file(Module)",
    // Prolog's own collecting thread would outlive all sessions. Tables of ever deeper terms slow down without
    // making inferences, so that no other limit ends them in time; published games nest a few levels.
    "daggerboard_set_up :- set_prolog_gc_thread(false), \
        set_prolog_flag(max_table_answer_size, 2000), set_prolog_flag(max_table_answer_size_action, error), \
        set_prolog_flag(max_table_subgoal_size, 2000), set_prolog_flag(max_table_subgoal_size_action, error)",
    // By count of inferences, which is the same in every run, not by time.
    "daggerboard_answers(Module, Head) :- \
        catch(call_with_inference_limit(findall(Head, Module:Head, Found), 100000, Result), _, fail), \
        Result \\== inference_limit_exceeded, ground(Found), \
        sort(Found, Answers), '$member'(Head, Answers)",
    "daggerboard_interrupt(Thread, _) :- thread_signal(Thread, throw(daggerboard_interrupt))",
    "daggerboard_limit(Thread, Steps) :- thread_signal(Thread, ignore('$inference_limit'(Steps, _)))",
];

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

/// Predicates called again and again.
#[derive(Debug)]
struct Handles {
    retract: Predicate,
    retract_all: Predicate,
    abolish_tables: Predicate,
    limit_inferences: Predicate,
    unlimit_inferences: Predicate,
}

impl Handles {
    /// In a thread with an engine.
    fn new() -> Handles {
        let system = |name: &CStr, arity: c_int| {
            // SAFETY: both texts end with NUL; the thread has an engine.
            let handle = unsafe { fli::PL_predicate(name.as_ptr(), arity, c"system".as_ptr()) };
            Predicate { handle, arity }
        };
        Handles {
            retract: system(c"retract", 1),
            retract_all: system(c"retractall", 1),
            abolish_tables: system(c"abolish_all_tables", 0),
            limit_inferences: system(c"$inference_limit", 2),
            unlimit_inferences: system(c"$inference_limit_false", 1),
        }
    }
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

/// Starts Prolog, once per process.
fn start() -> Result<(), String> {
    static STARTED: OnceLock<Result<(), String>> = OnceLock::new();
    STARTED
        .get_or_init(|| {
            let args = [
                c"daggerboard",
                c"--quiet",
                c"--no-signals",
                c"--no-packs",
                c"-f",
                c"none",
                c"-F",
                c"none",
                c"--no-tty",
                c"--stack-limit=256m",
            ];
            let mut argv: Vec<*mut c_char> = args.iter().map(|arg| arg.as_ptr().cast_mut()).collect();
            argv.push(null_mut());
            // SAFETY: `argv` ends with a null pointer; Prolog copies the texts and does not write to them. The
            // `OnceLock` lets one thread in.
            let is_up = unsafe { fli::PL_initialise(count(args.len()), argv.as_mut_ptr()) } != 0;
            if !is_up {
                return Err("SWI-Prolog does not start".to_owned());
            }
            let set_up = HELPERS
                .iter()
                .try_for_each(|clause| run_text(&format!("assertz(({clause}))")))
                .and_then(|()| run_text("daggerboard_set_up"));
            // SAFETY: leaves the main engine, so that this thread, too, attaches one of its own.
            unsafe { fli::PL_set_engine(null_mut(), null_mut()) };
            set_up.map_err(|error| format!("setting up SWI-Prolog: {error}"))
        })
        .clone()
}

/// Runs a goal given as text, in a thread with an engine.
fn run_text(goal: &str) -> Result<(), PrologError> {
    let goal = CString::new(goal).map_err(|_| PrologError::Raised("a goal with a NUL".to_owned()))?;
    let frame = Frame::open();
    // SAFETY: the frame is open and the text ends with NUL; `call/1` has one argument.
    unsafe {
        let term = fli::PL_new_term_ref();
        if fli::PL_chars_to_term(goal.as_ptr(), term) == 0 {
            return Err(PrologError::Raised("a goal that cannot be read".to_owned()));
        }
        let call = fli::PL_predicate(c"call".as_ptr(), 1, c"system".as_ptr());
        match frame.call(null_mut(), call, term)? {
            true => Ok(()),
            false => Err(PrologError::Raised("a goal failed".to_owned())),
        }
    }
}

impl Engine {
    /// Starts Prolog if it does not run yet and attaches an engine to this thread, or gives the one it has.
    ///
    /// # Errors
    /// If Prolog does not start or has no engine left.
    pub(crate) fn of_this_thread() -> Result<Engine, String> {
        ATTACHED.with_borrow_mut(|attached| {
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
        })
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

    /// Limits each of this thread's stacks, and its tables, to some bytes.
    pub(crate) fn limit_memory(&self, bytes: u64) -> Result<(), PrologError> {
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
        let frame = Frame::open();
        let flags = (fli::PL_STRING | fli::REP_UTF8) as c_int;
        // SAFETY: lengths are those of the texts; `daggerboard_load/2` has two arguments, made in the open frame.
        unsafe {
            let args = fli::PL_new_term_refs(2);
            let atom = self.atom(id);
            fli::PL_put_atom(args, atom.0);
            if fli::PL_put_chars(args + 1, flags, text.len(), text.as_ptr().cast()) == 0 {
                return Err(PrologError::TooMuchMemory("the text of the rules".to_owned()));
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
    pub(crate) fn pattern(&self, name: &Atom, arity: usize) -> Record {
        let _frame = Frame::open();
        // SAFETY: the reference is made in the open frame; atom and functor are valid.
        unsafe {
            let term = fli::PL_new_term_ref();
            match arity {
                0 => _ = fli::PL_put_atom(term, name.0),
                _ => _ = fli::PL_put_functor(term, self.functor(name, arity).0),
            }
            Record(fli::PL_record(term))
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

    /// The predicate of a module and a term that gives all answers to the term, each once; none if they are not
    /// ground or take a hundred thousand inferences.
    pub(crate) fn all_answers(&self) -> Predicate {
        // SAFETY: both texts end with NUL; the thread has an engine.
        let handle = unsafe { fli::PL_predicate(c"daggerboard_answers".as_ptr(), 2, c"user".as_ptr()) };
        Predicate { handle, arity: 2 }
    }

    /// Keeps a term outside the stacks.
    ///
    /// # Panics
    /// If `words` are not one term.
    pub(crate) fn record(&self, words: &[Word]) -> Result<Record, PrologError> {
        let _frame = Frame::open();
        // SAFETY: the reference is made in the open frame.
        unsafe {
            let term = fli::PL_new_term_ref();
            let rest = put_term(term, words)?;
            assert!(rest.is_empty(), "the words are one term");
            Ok(Record(fli::PL_record(term)))
        }
    }

    /// Adds facts to a module, in this thread.
    pub(crate) fn assert<'a>(
        &self,
        module: Module,
        facts: impl IntoIterator<Item = &'a Record>,
    ) -> Result<(), PrologError> {
        let _frame = Frame::open();
        // SAFETY: the reference is made in the open frame; records are valid while borrowed.
        unsafe {
            let term = fli::PL_new_term_ref();
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
        let frame = Frame::open();
        // SAFETY: the reference is made in the open frame; records are valid while borrowed; the predicate has
        // one argument.
        unsafe {
            let term = fli::PL_new_term_ref();
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
        let frame = Frame::open();
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
        let _frame = Frame::open();
        // SAFETY: as many references as the predicate has arguments, made in the open frame.
        let (query, args) = unsafe {
            let args = fli::PL_new_term_refs(predicate.arity);
            for (arg_idx, arg) in (0..).zip(given) {
                arg.put(args + arg_idx)?;
            }
            (Query::open(null_mut(), predicate.handle, args), args)
        };
        while query.next()? {
            let solution = Solution { args, n_args: predicate.arity as usize, _query: PhantomData };
            if visit(&solution)? == Next::Enough {
                break;
            }
        }
        Ok(())
    }

    /// Forgets signals, limits and exceptions that came too late for the query they were meant for.
    pub(crate) fn calm(&self) {
        // SAFETY: the thread has an engine and no query is open.
        unsafe {
            fli::PL_handle_signals();
            fli::PL_clear_exception();
        }
        let frame = Frame::open();
        // SAFETY: the predicate has one argument, made in the open frame. It resets, and fails.
        unsafe {
            let unlimited = fli::PL_new_term_ref();
            if fli::PL_recorded(self.0.unlimited.0, unlimited) != 0 {
                _ = frame.call(null_mut(), self.0.handles.unlimit_inferences.handle, unlimited);
            }
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
        let frame = Frame::open();
        // SAFETY: both helpers have two arguments, made in the open frame.
        unsafe {
            let args = fli::PL_new_term_refs(2);
            fli::PL_put_int64(args, i64::from(thread));
            fli::PL_put_int64(args + 1, i64::try_from(number).unwrap_or(i64::MAX).min(i64::MAX / 2));
            let predicate = fli::PL_predicate(helper.as_ptr(), 2, c"user".as_ptr());
            frame.call(null_mut(), predicate, args)?;
        }
        Ok(())
    }
}

/// What the limit of inferences is in a thread that has none, in this version of Prolog.
fn unlimited(handles: &Handles) -> Result<Record, PrologError> {
    let frame = Frame::open();
    // SAFETY: the predicates have two arguments and one, made in the open frame. What `$inference_limit/2` gives as
    // the limit before is what `$inference_limit_false/1` wants.
    unsafe {
        let args = fli::PL_new_term_refs(2);
        fli::PL_put_int64(args, i64::MAX / 2);
        let record = {
            let query = Query::open(null_mut(), handles.limit_inferences.handle, args);
            query.next()?;
            Record(fli::PL_record(args + 1))
        };
        if fli::PL_recorded(record.0, args + 1) == 0 {
            return Err(pending_exception());
        }
        frame.call(null_mut(), handles.unlimit_inferences.handle, args + 1)?;
        Ok(record)
    }
}
