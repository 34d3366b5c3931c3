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
//! - Term references never leave this file; each call opens a frame and discards it.
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

/// How deep the arguments of a term may nest.
const MAX_DEPTH: usize = 500;

/// What [`interrupt`](Engine::interrupt) throws in the other thread.
const INTERRUPT: &str = "daggerboard_interrupt";

/// Predicates of our own, in the module `user`.
const HELPERS: [&str; 5] = [
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
    "daggerboard_interrupt(Thread, _) :- thread_signal(Thread, throw(daggerboard_interrupt))",
    "daggerboard_limit(Thread, Steps) :- thread_signal(Thread, ignore('$inference_limit'(Steps, _)))",
];

/// Why Prolog did not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PrologError {
    /// By [`Engine::interrupt`].
    #[error("interrupted")]
    Interrupted,
    /// More inferences than the limit.
    #[error("too many inferences")]
    TooManySteps,
    /// A stack or the space for tables is full.
    #[error("out of memory: {0}")]
    TooMuchMemory(String),
    /// A variable is not bound where a ground term is expected.
    #[error("a variable is not bound in {0}")]
    Unbound(String),
    /// Any other exception, as text.
    #[error("SWI-Prolog: {0}")]
    Raised(String),
}

/// An atom or a functor, as Prolog keeps it; the highest bit, which Prolog leaves free, is set for atoms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Word(usize);

impl Word {
    const IS_ATOM: usize = 1 << (usize::BITS - 1);

    fn of_atom(atom: fli::atom_t) -> Word {
        debug_assert!(atom & Word::IS_ATOM == 0, "the highest bit is free");
        Word(atom | Word::IS_ATOM)
    }

    /// The atom, if it is one.
    fn atom(self) -> Option<fli::atom_t> {
        (self.0 & Word::IS_ATOM != 0).then_some(self.0 & !Word::IS_ATOM)
    }
}

/// A name that Prolog keeps as long as this exists.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Atom(fli::atom_t);

impl Atom {
    /// As part of a term.
    pub(crate) fn word(&self) -> Word {
        Word::of_atom(self.0)
    }
}

impl Drop for Atom {
    fn drop(&mut self) {
        if has_engine() {
            // SAFETY: `Engine::atom` got a reference to this atom, which is given back once; the thread has an
            // engine.
            unsafe { fli::PL_unregister_atom(self.0) }
        }
    }
}

/// A name with a number of arguments. Prolog never forgets one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Functor(fli::functor_t);

impl Functor {
    /// As part of a term.
    pub(crate) fn word(self) -> Word {
        Word(self.0)
    }
}

/// A module by its handle. Prolog never forgets one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Module(fli::module_t);

// SAFETY: the handle is an address that stays valid, and is only passed back to Prolog, which locks.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}

/// A predicate by its handle, and its arity. Prolog never forgets one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Predicate {
    handle: fli::predicate_t,
    arity: c_int,
}

// SAFETY: as for `Module`.
unsafe impl Send for Predicate {}
// SAFETY: as for `Module`.
unsafe impl Sync for Predicate {}

/// A ground term outside all stacks, readable from every thread.
#[derive(Debug)]
pub(crate) struct Record(fli::record_t);

// SAFETY: a record is a block of memory that is only read until it is erased.
unsafe impl Send for Record {}
// SAFETY: as above.
unsafe impl Sync for Record {}

impl Drop for Record {
    fn drop(&mut self) {
        if has_engine() {
            // SAFETY: this is its only owner, and the thread has an engine.
            unsafe { fli::PL_erase(self.0) }
        }
    }
}

/// Whether Prolog runs and this thread has an engine.
fn has_engine() -> bool {
    // SAFETY: both may be called at any time; the second only after the start.
    unsafe { fli::PL_is_initialised(null_mut(), null_mut()) != 0 && fli::PL_thread_self() > 0 }
}

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

/// A number of things as C counts them.
fn count(n: usize) -> c_int {
    c_int::try_from(n).expect("a text of 64 MiB has fewer of anything")
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

/// Term references and bindings made while it is open go with it.
struct Frame(fli::PL_fid_t);

impl Frame {
    fn open() -> Frame {
        // SAFETY: only called in a thread with an engine: by methods of `Engine`, and while starting.
        Frame(unsafe { fli::PL_open_foreign_frame() })
    }

    /// Calls a predicate once.
    ///
    /// # Safety
    /// `args` must be as many consecutive references as the predicate has arguments.
    unsafe fn call(
        &self,
        module: fli::module_t,
        predicate: fli::predicate_t,
        args: fli::term_t,
    ) -> Result<bool, PrologError> {
        // SAFETY: by the caller.
        let query = unsafe { Query::open(module, predicate, args) };
        query.next()
    }
}

impl Drop for Frame {
    fn drop(&mut self) {
        // SAFETY: opened by `open` and discarded once, in the reverse order of opening.
        unsafe { fli::PL_discard_foreign_frame(self.0) }
    }
}

/// An open query; closed when it goes.
struct Query(fli::qid_t);

impl Query {
    /// # Safety
    /// As for [`Frame::call`].
    unsafe fn open(module: fli::module_t, predicate: fli::predicate_t, args: fli::term_t) -> Query {
        let flags = (fli::PL_Q_NODEBUG | fli::PL_Q_CATCH_EXCEPTION) as c_int;
        // SAFETY: by the caller.
        Query(unsafe { fli::PL_open_query(module, flags, predicate, args) })
    }

    /// Whether there is one more solution.
    fn next(&self) -> Result<bool, PrologError> {
        // SAFETY: the query is open, and it is the innermost one: queries are nested by scopes.
        unsafe {
            if fli::PL_next_solution(self.0) != 0 {
                return Ok(true);
            }
            match fli::PL_exception(self.0) {
                0 => Ok(false),
                exception => Err(classify(exception)),
            }
        }
    }
}

impl Drop for Query {
    fn drop(&mut self) {
        // SAFETY: opened by `open` and closed once. Bindings may go: answers were read before.
        unsafe { fli::PL_close_query(self.0) };
    }
}

/// The kind of an exception.
///
/// # Safety
/// `exception` must be a valid term reference of this thread's engine.
unsafe fn classify(exception: fli::term_t) -> PrologError {
    // SAFETY: by the caller.
    let text = unsafe { text_of(exception) };
    match text.as_str() {
        "inference_limit_exceeded" => PrologError::TooManySteps,
        INTERRUPT => PrologError::Interrupted,
        _ if text.contains("resource_error(") => PrologError::TooMuchMemory(text),
        _ => PrologError::Raised(text),
    }
}

/// A term as Prolog writes it, cut to a readable length.
///
/// # Safety
/// `term` must be a valid term reference of this thread's engine.
unsafe fn text_of(term: fli::term_t) -> String {
    const MAX_CHARS: usize = 400;
    let (mut length, mut chars) = (0, null_mut());
    let flags = fli::CVT_WRITE | fli::BUF_DISCARDABLE | fli::REP_UTF8;
    // SAFETY: by the caller; Prolog keeps the text until the next call, and it is copied before.
    unsafe {
        if fli::PL_get_nchars(term, &raw mut length, &raw mut chars, flags) == 0 {
            return "an exception that cannot be written".to_owned();
        }
        String::from_utf8_lossy(std::slice::from_raw_parts(chars.cast::<u8>(), length))
            .chars()
            .take(MAX_CHARS)
            .collect()
    }
}

/// One solution of a query.
pub(crate) struct Solution<'a> {
    args: fli::term_t,
    n_args: usize,
    _query: PhantomData<&'a Query>,
}

impl Solution<'_> {
    /// Appends the words of an argument.
    ///
    /// # Errors
    /// If it has a variable or nests too deeply.
    ///
    /// # Panics
    /// If there is no such argument.
    pub(crate) fn read(&self, arg_idx: usize, words: &mut Vec<Word>) -> Result<(), PrologError> {
        assert!(arg_idx < self.n_args, "the predicate has the argument");
        let arg = self.args + arg_idx as fli::term_t;
        // SAFETY: references from `args` to `args + n_args` belong to the open query.
        unsafe { read_term(arg, words, 0) }
    }
}

/// # Safety
/// `term` must be a valid term reference of this thread's engine.
unsafe fn read_term(term: fli::term_t, words: &mut Vec<Word>, depth: usize) -> Result<(), PrologError> {
    // SAFETY: by the caller; new references live until the enclosing frame or solution goes.
    unsafe {
        let mut atom = 0;
        if fli::PL_get_atom(term, &raw mut atom) != 0 {
            words.push(Word::of_atom(atom));
            return Ok(());
        }
        let mut functor = 0;
        if fli::PL_get_functor(term, &raw mut functor) == 0 {
            return Err(PrologError::Unbound(text_of(term)));
        }
        if depth == MAX_DEPTH {
            return Err(PrologError::TooMuchMemory(format!("a term nests deeper than {MAX_DEPTH}")));
        }
        words.push(Word(functor));
        let arg = fli::PL_new_term_ref();
        for arg_idx in 1..=fli::PL_functor_arity_sz(functor) {
            fli::_PL_get_arg_sz(arg_idx, term, arg);
            read_term(arg, words, depth + 1)?;
        }
        Ok(())
    }
}

/// Puts the next term of `words` into `term` and gives the rest.
///
/// # Safety
/// `term` must be a valid term reference of this thread's engine.
unsafe fn put_term(term: fli::term_t, words: &[Word]) -> Result<&[Word], PrologError> {
    let out_of_memory = || PrologError::TooMuchMemory("the stack is full".to_owned());
    let (&first, mut rest) = words.split_first().expect("a term has a first word");
    // SAFETY: by the caller; words come from Prolog, and know whether they are atoms or functors.
    unsafe {
        if let Some(atom) = first.atom() {
            fli::PL_put_atom(term, atom);
            return Ok(rest);
        }
        let n_args = fli::PL_functor_arity_sz(first.0);
        let args = fli::PL_new_term_refs(count(n_args));
        for arg_idx in 0..n_args {
            rest = put_term(args + arg_idx as fli::term_t, rest)?;
        }
        if fli::PL_cons_functor_v(term, first.0, args) == 0 {
            return Err(out_of_memory());
        }
        Ok(rest)
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

    /// Adds a fact of two arguments to a module, in this thread.
    pub(crate) fn assert_pair(
        &self,
        module: Module,
        functor: Functor,
        pair: [&Record; 2],
    ) -> Result<(), PrologError> {
        let _frame = Frame::open();
        // SAFETY: references are made in the open frame; records are valid while borrowed.
        unsafe {
            let args = fli::PL_new_term_refs(2);
            let term = fli::PL_new_term_ref();
            let is_added = fli::PL_recorded(pair[0].0, args) != 0
                && fli::PL_recorded(pair[1].0, args + 1) != 0
                && fli::PL_functor_arity_sz(functor.0) == 2
                && fli::PL_cons_functor_v(term, functor.0, args) != 0
                && fli::PL_assert(term, module.0, fli::PL_ASSERTZ as c_int) != 0;
            if is_added { Ok(()) } else { Err(pending_exception()) }
        }
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

    /// Asks a predicate for all solutions, its first arguments bound, the others free. `visit` gets each; its
    /// error ends the query.
    pub(crate) fn ask<E: From<PrologError>>(
        &self,
        predicate: Predicate,
        bound: &[&Record],
        mut visit: impl FnMut(&Solution<'_>) -> Result<Next, E>,
    ) -> Result<(), E> {
        assert!(bound.len() <= predicate.arity as usize, "the predicate has the arguments");
        let _frame = Frame::open();
        // SAFETY: as many references as the predicate has arguments; records are valid while borrowed.
        let (query, args) = unsafe {
            let args = fli::PL_new_term_refs(predicate.arity);
            for (arg_idx, record) in (0..).zip(bound) {
                if fli::PL_recorded(record.0, args + arg_idx) == 0 {
                    return Err(pending_exception().into());
                }
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

/// What a visitor of solutions wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// The next solution.
    More,
    /// No more solutions.
    Enough,
}

/// The exception of a call that failed outside a query.
fn pending_exception() -> PrologError {
    // SAFETY: only called by methods of `Engine`, in an open frame.
    unsafe {
        match fli::pl_default_exception() {
            0 => PrologError::Raised("a call failed".to_owned()),
            exception => {
                let error = classify(exception);
                fli::PL_clear_exception();
                error
            }
        }
    }
}
