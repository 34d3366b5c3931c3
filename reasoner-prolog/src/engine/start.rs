//! Starts Prolog, and what it is given before the first question.

use std::ffi::{CStr, CString, c_char, c_int};
use std::ptr::null_mut;
use std::sync::OnceLock;

use swipl::fli;

use super::handles::{Predicate, PrologError, Record};
use super::query::{Frame, Query, count, pending_exception, record_of};

/// Predicates of our own, in the module `user`.
const HELPERS: [&str; 7] = [
    "daggerboard_load(Id, Text) :- \
        setup_call_cleanup(nb_setval(daggerboard_problem, none), daggerboard_load_all(Id, Text), \
                           nb_delete(daggerboard_problem))",
    "daggerboard_load_all(Id, Text) :- \
        setup_call_cleanup(open_string(Text, S), load_files(Id, [stream(S), silent(true)]), close(S)), \
        nb_getval(daggerboard_problem, Problem), \
        ( Problem == none -> true ; throw(Problem) )",
    // A clause that is refused is a message, and the others are loaded.
    "message_hook(Problem, error, _) :- \
        nb_current(daggerboard_problem, Known), \
        ( Known == none -> nb_setval(daggerboard_problem, Problem) ; true )",
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

/// Predicates called again and again.
#[derive(Debug)]
pub(super) struct Handles {
    pub(super) retract: Predicate,
    pub(super) retract_all: Predicate,
    pub(super) abolish_tables: Predicate,
    pub(super) limit_inferences: Predicate,
    pub(super) unlimit_inferences: Predicate,
    pub(super) statistics: Predicate,
}

impl Handles {
    /// In a thread with an engine.
    pub(super) fn new() -> Handles {
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
            statistics: system(c"statistics", 2),
        }
    }
}

/// Starts Prolog, once per process.
pub(super) fn start() -> Result<(), String> {
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
pub(super) fn run_text(goal: &str) -> Result<(), PrologError> {
    let goal = CString::new(goal).map_err(|_| PrologError::Raised("a goal with a NUL".to_owned()))?;
    let frame = Frame::open()?;
    let term = frame.term()?;
    // SAFETY: the frame is open and the text ends with NUL; `call/1` has one argument.
    unsafe {
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

/// What the limit of inferences is in a thread that has none, in this version of Prolog.
pub(super) fn unlimited(handles: &Handles) -> Result<Record, PrologError> {
    let frame = Frame::open()?;
    let args = frame.terms(2)?;
    // SAFETY: the predicates have two arguments and one, made in the open frame. What `$inference_limit/2` gives as
    // the limit before is what `$inference_limit_false/1` wants.
    unsafe {
        fli::PL_put_int64(args, i64::MAX / 2);
        let record = {
            let query = Query::open(null_mut(), handles.limit_inferences.handle, args)?;
            query.next()?;
            record_of(args + 1)?
        };
        if fli::PL_recorded(record.0, args + 1) == 0 {
            return Err(pending_exception());
        }
        frame.call(null_mut(), handles.unlimit_inferences.handle, args + 1)?;
        Ok(record)
    }
}
