//! Frames and queries, and terms read and written in them.

use std::ffi::c_int;
use std::marker::PhantomData;
use std::ptr::null_mut;

use swipl::fli;

use super::handles::{Functor, PrologError, Record, Word};

/// How many names a term may have. Prolog's terms share what they repeat, so that a small one can be too long
/// for any memory when it is written out.
const MAX_WORDS: usize = 1 << 20;

/// What [`interrupt`](Engine::interrupt) throws in the other thread.
pub(super) const INTERRUPT: &str = "daggerboard_interrupt";

/// Term references and bindings made while it is open go with it.
pub(super) struct Frame(fli::PL_fid_t);

impl Frame {
    pub(super) fn open() -> Result<Frame, PrologError> {
        // SAFETY: only called in a thread with an engine: by methods of `Engine`, and while starting.
        match unsafe { fli::PL_open_foreign_frame() } {
            0 => Err(pending_exception()),
            frame => Ok(Frame(frame)),
        }
    }

    /// A new term reference.
    pub(super) fn term(&self) -> Result<fli::term_t, PrologError> {
        self.terms(1)
    }

    /// New consecutive term references; the first one.
    pub(super) fn terms(&self, n: usize) -> Result<fli::term_t, PrologError> {
        // SAFETY: a frame is open.
        unsafe { new_terms(n) }
    }

    /// Calls a predicate once.
    ///
    /// # Safety
    /// `args` must be as many consecutive references as the predicate has arguments.
    pub(super) unsafe fn call(
        &self,
        module: fli::module_t,
        predicate: fli::predicate_t,
        args: fli::term_t,
    ) -> Result<bool, PrologError> {
        // SAFETY: by the caller.
        let query = unsafe { Query::open(module, predicate, args) }?;
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
pub(super) struct Query(fli::qid_t);

impl Query {
    /// # Safety
    /// As for [`Frame::call`].
    pub(super) unsafe fn open(
        module: fli::module_t,
        predicate: fli::predicate_t,
        args: fli::term_t,
    ) -> Result<Query, PrologError> {
        let flags = (fli::PL_Q_NODEBUG | fli::PL_Q_CATCH_EXCEPTION) as c_int;
        // SAFETY: by the caller.
        match unsafe { fli::PL_open_query(module, flags, predicate, args) } {
            query if query as usize == 0 => Err(pending_exception()),
            query => Ok(Query(query)),
        }
    }

    /// Whether there is one more solution.
    pub(super) fn next(&self) -> Result<bool, PrologError> {
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

/// An argument of a question.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Arg<'a> {
    /// A variable.
    Free,
    /// A term.
    Term(&'a Record),
    /// A number; one beyond half of what Prolog can count is that half.
    Number(u64),
    /// The functor with these arguments; its name alone without any.
    Compound(Functor, &'a [&'a Record]),
}

impl Arg<'_> {
    /// Puts it into a term.
    ///
    /// # Safety
    /// `term` must be a valid term reference of this thread's engine, in an open frame.
    pub(super) unsafe fn put(self, term: fli::term_t) -> Result<(), PrologError> {
        // SAFETY: by the caller; records are valid while borrowed, and a compound gets as many arguments as its
        // functor has.
        let is_put = unsafe {
            match self {
                Arg::Free => true,
                Arg::Term(record) => fli::PL_recorded(record.0, term) != 0,
                Arg::Number(number) => {
                    const MOST: i64 = i64::MAX / 2;
                    fli::PL_put_int64(term, i64::try_from(number).unwrap_or(MOST).min(MOST)) != 0
                }
                Arg::Compound(functor, []) => fli::PL_put_atom(term, fli::PL_functor_name(functor.0)) != 0,
                Arg::Compound(functor, args) => {
                    assert_eq!(
                        fli::PL_functor_arity_sz(functor.0),
                        args.len(),
                        "the functor has the arguments"
                    );
                    let terms = new_terms(args.len())?;
                    (0..).zip(args).all(|(idx, arg)| fli::PL_recorded(arg.0, terms + idx) != 0)
                        && fli::PL_cons_functor_v(term, functor.0, terms) != 0
                }
            }
        };
        if is_put { Ok(()) } else { Err(pending_exception()) }
    }
}

/// One solution of a query.
pub(crate) struct Solution<'a> {
    pub(super) args: fli::term_t,
    pub(super) n_args: usize,
    pub(super) _query: PhantomData<&'a Query>,
}

impl Solution<'_> {
    /// Appends the words of an argument.
    ///
    /// # Errors
    /// If it has a variable, nests deeper than [`gdl::MAX_DEPTH`], or is too long.
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
            return Err(PrologError::Unbound);
        }
        if depth == gdl::MAX_DEPTH {
            return Err(PrologError::TooDeep);
        }
        if words.len() >= MAX_WORDS {
            return Err(PrologError::TooMuchMemory(format!("a term has more than {MAX_WORDS} names")));
        }
        words.push(Word(functor));
        let arg = new_terms(1)?;
        for arg_idx in 1..=fli::PL_functor_arity_sz(functor) {
            fli::_PL_get_arg_sz(arg_idx, term, arg);
            read_term(arg, words, depth + 1)?;
        }
        // References stay few, however long the term is.
        fli::PL_reset_term_refs(arg);
        Ok(())
    }
}

/// New consecutive term references; the first one.
///
/// # Safety
/// A frame or a query of this thread's engine must be open.
unsafe fn new_terms(n: usize) -> Result<fli::term_t, PrologError> {
    // SAFETY: by the caller.
    match unsafe { fli::PL_new_term_refs(count(n)) } {
        0 => Err(pending_exception()),
        terms => Ok(terms),
    }
}

/// Puts the next term of `words` into `term` and gives the rest.
///
/// # Safety
/// `term` must be a valid term reference of this thread's engine.
pub(super) unsafe fn put_term(term: fli::term_t, words: &[Word]) -> Result<&[Word], PrologError> {
    let (&first, mut rest) = words.split_first().expect("a term has a first word");
    // SAFETY: by the caller; words come from Prolog, and know whether they are atoms or functors.
    unsafe {
        if let Some(atom) = first.atom() {
            fli::PL_put_atom(term, atom);
            return Ok(rest);
        }
        let n_args = fli::PL_functor_arity_sz(first.0);
        let args = new_terms(n_args)?;
        for arg_idx in 0..n_args {
            rest = put_term(args + arg_idx as fli::term_t, rest)?;
        }
        if fli::PL_cons_functor_v(term, first.0, args) == 0 {
            return Err(pending_exception());
        }
        fli::PL_reset_term_refs(args);
        Ok(rest)
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

/// Keeps a term outside the stacks.
///
/// # Safety
/// `term` must be a valid term reference of this thread's engine.
pub(super) unsafe fn record_of(term: fli::term_t) -> Result<Record, PrologError> {
    // SAFETY: by the caller.
    match unsafe { fli::PL_record(term) } {
        record if record.is_null() => Err(pending_exception()),
        record => Ok(Record(record)),
    }
}

/// The exception of a call that failed outside a query.
pub(super) fn pending_exception() -> PrologError {
    // SAFETY: only called in a thread with an engine, after a call that failed.
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

/// A number of things as C counts them.
pub(super) fn count(n: usize) -> c_int {
    c_int::try_from(n).expect("a text of 64 MiB has fewer of anything")
}
