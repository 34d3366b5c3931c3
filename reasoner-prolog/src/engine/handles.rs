//! What Prolog gives to hold on to, and why it did not answer.

use std::ffi::c_int;
use std::ptr::null_mut;

use swipl::fli;

/// Why Prolog did not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PrologError {
    /// By [`Engine::interrupt`].
    #[error("interrupted")]
    Interrupted,
    /// More inferences than the limit.
    #[error("too many inferences")]
    TooManySteps,
    /// A term nests deeper than [`gdl::MAX_DEPTH`].
    #[error("a term nests too deeply")]
    TooDeep,
    /// A stack or the space for tables is full.
    #[error("out of memory: {0}")]
    TooMuchMemory(String),
    /// A variable is not bound where a ground term is expected.
    #[error("an answer has a variable that no condition of its rule binds")]
    Unbound,
    /// Any other exception, as text.
    #[error("SWI-Prolog: {0}")]
    Raised(String),
}

/// An atom or a functor, as Prolog keeps it; the highest bit, which Prolog leaves free, is set for atoms.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Word(pub(super) usize);

impl Word {
    const IS_ATOM: usize = 1 << (usize::BITS - 1);

    pub(super) fn of_atom(atom: fli::atom_t) -> Word {
        debug_assert!(atom & Word::IS_ATOM == 0, "the highest bit is free");
        Word(atom | Word::IS_ATOM)
    }

    /// The atom, if it is one.
    pub(super) fn atom(self) -> Option<fli::atom_t> {
        (self.0 & Word::IS_ATOM != 0).then_some(self.0 & !Word::IS_ATOM)
    }
}

/// A name that Prolog keeps as long as this exists.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Atom(pub(super) fli::atom_t);

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
pub(crate) struct Functor(pub(super) fli::functor_t);

impl Functor {
    /// As part of a term.
    pub(crate) fn word(self) -> Word {
        Word(self.0)
    }
}

/// A module by its handle. Prolog never forgets one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Module(pub(super) fli::module_t);

// SAFETY: the handle is an address that stays valid, and is only passed back to Prolog, which locks.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}

/// A predicate by its handle, and its arity. Prolog never forgets one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Predicate {
    pub(super) handle: fli::predicate_t,
    pub(super) arity: c_int,
}

impl Predicate {
    /// How many arguments it has.
    pub(crate) fn n_args(self) -> usize {
        self.arity as usize
    }
}

// SAFETY: as for `Module`.
unsafe impl Send for Predicate {}
// SAFETY: as for `Module`.
unsafe impl Sync for Predicate {}

/// A ground term outside all stacks, readable from every thread.
#[derive(Debug)]
pub(crate) struct Record(pub(super) fli::record_t);

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
pub(super) fn has_engine() -> bool {
    // SAFETY: both may be called at any time; the second only after the start.
    unsafe { fli::PL_is_initialised(null_mut(), null_mut()) != 0 && fli::PL_thread_self() > 0 }
}
