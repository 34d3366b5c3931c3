//! Terms as numbers, shared by all sessions of a reasoner.
//!
//! In go Prolog's words or text-level terms, out come numbers that stand for the same term in all sessions,
//! with what Prolog needs to assert them. One locked store holds all; each session keeps a lagging copy
//! ([`LocalTerms`]), so that nothing is locked unless a term is new.

use std::sync::Arc;

use gdl::{Rules, Symbol, Term};
use parking_lot::Mutex;
use reasoner::ReasonerError;
use rustc_hash::FxHashMap;

use crate::engine::{Atom, Engine, Functor, PrologError, Record, Word};
use crate::translate::{self, FluentName};

/// A term, by its number in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TermId(pub(crate) u32);

impl TermId {
    /// # Panics
    /// Where 2^32 terms are more than any memory holds.
    fn of_idx(idx: usize) -> TermId {
        TermId(u32::try_from(idx).expect("fewer terms than 2^32"))
    }

    pub(crate) fn idx(self) -> usize {
        self.0 as usize
    }
}

/// A term with what is needed of it.
#[derive(Debug)]
pub(crate) struct Entry {
    /// As text.
    pub(crate) term: Term,
    /// As Prolog's words.
    pub(crate) words: Box<[Word]>,
    /// As a Prolog term.
    pub(crate) data: Record,
    /// The fact that says that it is true.
    pub(crate) fact: Record,
}

/// All terms met so far, and the names they are made of.
#[derive(Debug)]
pub(crate) struct SharedTerms {
    rules: Arc<Rules>,
    /// By symbol.
    atoms: Vec<Atom>,
    symbols: FxHashMap<Word, Symbol>,
    fluents: FxHashMap<FluentName, Word>,
    other_fluent: Functor,
    /// Keeps the names of the fluents' predicates.
    _predicates: Vec<Atom>,
    store: Mutex<Store>,
    /// Copies whose sessions are gone, for the next ones.
    spare: Mutex<Vec<LocalTerms>>,
}

#[derive(Debug, Default)]
struct Store {
    entries: Vec<Arc<Entry>>,
    index: FxHashMap<Box<[Word]>, TermId>,
}

impl SharedTerms {
    /// Registers all names of the rules with Prolog.
    pub(crate) fn new(engine: &Engine, rules: &Arc<Rules>) -> SharedTerms {
        let atoms: Vec<Atom> =
            rules.symbols().iter().map(|(_, name)| engine.atom(&translate::data_name(name))).collect();
        let symbols =
            rules.symbols().iter().map(|(symbol, _)| (atoms[symbol.idx()].word(), symbol)).collect();
        let mut predicates = Vec::new();
        let mut fluents = FxHashMap::default();
        for (name, arity) in translate::fluent_names(rules) {
            let predicate = engine.atom(&translate::fluent_predicate(rules.symbols().name(name)));
            let word = if arity == 0 { predicate.word() } else { engine.functor(&predicate, arity).word() };
            fluents.insert((name, arity), word);
            predicates.push(predicate);
        }
        let other_fluent = engine.functor(&engine.atom(translate::OTHER_FLUENT), 1);
        let rules = Arc::clone(rules);
        SharedTerms {
            rules,
            atoms,
            symbols,
            fluents,
            other_fluent,
            _predicates: predicates,
            store: Mutex::default(),
            spare: Mutex::default(),
        }
    }

    /// A copy for a session, with what earlier sessions put into it.
    pub(crate) fn local(&self) -> LocalTerms {
        self.spare.lock().pop().unwrap_or_default()
    }

    /// Takes back the copy of a session that is gone.
    pub(crate) fn give_back(&self, local: LocalTerms) {
        self.spare.lock().push(local);
    }

    /// The atom of a symbol.
    fn atom(&self, symbol: Symbol) -> &Atom {
        &self.atoms[symbol.idx()]
    }

    /// A term of a message. Names that the rules do not have are compared without case.
    pub(crate) fn words_of(&self, engine: &Engine, term: &Term, words: &mut Vec<Word>) -> Option<()> {
        let symbol = self.rules.symbols().find_in_any_case(term.name())?;
        let n_args = term.args().len();
        if n_args == 0 {
            words.push(self.atom(symbol).word());
            return Some(());
        }
        let functor = engine.functor(self.atom(symbol), n_args).word();
        words.push(functor);
        term.args().iter().try_for_each(|arg| self.words_of(engine, arg, words))
    }

    /// The number of a term, new if it has none yet.
    fn intern(&self, engine: &Engine, words: &[Word]) -> Result<TermId, PrologError> {
        let mut store = self.store.lock();
        if let Some(&known) = store.index.get(words) {
            return Ok(known);
        }
        let (first, args) = words.split_first().expect("a term has a first word");
        let data = engine.record(words)?;
        let fact: Vec<Word> = match self.fluents.get(&self.name_of(engine, *first)?) {
            Some(&predicate) => std::iter::once(predicate).chain(args.iter().copied()).collect(),
            None => std::iter::once(self.other_fluent.word()).chain(words.iter().copied()).collect(),
        };
        let fact = engine.record(&fact)?;
        let mut rest = words;
        let term = self.term(engine, &mut rest)?;
        let id = TermId::of_idx(store.entries.len());
        store.entries.push(Arc::new(Entry { term, words: words.into(), data, fact }));
        store.index.insert(words.into(), id);
        Ok(id)
    }

    /// Reads the next term of `words`.
    ///
    /// # Errors
    /// If it has a name that the rules do not have.
    pub(crate) fn term(&self, engine: &Engine, words: &mut &[Word]) -> Result<Term, PrologError> {
        let (&first, rest) = words.split_first().expect("the words are one term");
        *words = rest;
        Ok(match self.name_of(engine, first)? {
            (symbol, 0) => self.rules.name_term(symbol),
            (symbol, arity) => Term::Compound(
                self.rules.symbols().name(symbol).into(),
                (0..arity).map(|_| self.term(engine, words)).collect::<Result<_, _>>()?,
            ),
        })
    }

    /// The name and the number of arguments of a word.
    fn name_of(&self, engine: &Engine, word: Word) -> Result<FluentName, PrologError> {
        let (name, arity) = engine.name_and_arity(word);
        let symbol = self.symbols.get(&name).ok_or_else(|| {
            PrologError::Raised("an answer with a name that the rules do not have".to_owned())
        })?;
        Ok((*symbol, arity))
    }
}

/// A session's lagging copy of the store.
#[derive(Debug, Default)]
pub(crate) struct LocalTerms {
    entries: Vec<Arc<Entry>>,
    index: FxHashMap<Box<[Word]>, TermId>,
}

impl LocalTerms {
    /// The number of a term.
    pub(crate) fn intern(
        &mut self,
        shared: &SharedTerms,
        engine: &Engine,
        words: &[Word],
    ) -> Result<TermId, PrologError> {
        if let Some(&known) = self.index.get(words) {
            return Ok(known);
        }
        let id = shared.intern(engine, words)?;
        self.catch_up(shared);
        Ok(id)
    }

    /// The entry of a term that some session met.
    ///
    /// # Panics
    /// If the number belongs to another reasoner.
    pub(crate) fn entry(&mut self, shared: &SharedTerms, id: TermId) -> &Arc<Entry> {
        self.know(shared, &[id]);
        &self.entries[id.idx()]
    }

    /// Makes sure that terms are [known](LocalTerms::known).
    pub(crate) fn know(&mut self, shared: &SharedTerms, ids: &[TermId]) {
        if ids.iter().max().is_some_and(|id| id.idx() >= self.entries.len()) {
            self.catch_up(shared);
        }
    }

    /// The entry of a term that the copy has.
    ///
    /// # Panics
    /// If it has not.
    pub(crate) fn known(&self, id: TermId) -> &Entry {
        &self.entries[id.idx()]
    }

    fn catch_up(&mut self, shared: &SharedTerms) {
        let store = shared.store.lock();
        for entry in &store.entries[self.entries.len()..] {
            self.index.insert(entry.words.clone(), TermId::of_idx(self.entries.len()));
            self.entries.push(Arc::clone(entry));
        }
    }
}

/// A term of a message by its number.
///
/// # Errors
/// [`ReasonerError::Unknown`] if a name does not occur in the rules.
pub(crate) fn intern_term(
    local: &mut LocalTerms,
    shared: &SharedTerms,
    engine: &Engine,
    term: &Term,
    what: &'static str,
) -> Result<TermId, ReasonerError> {
    let mut words = Vec::new();
    shared
        .words_of(engine, term, &mut words)
        .ok_or_else(|| ReasonerError::Unknown { what, term: term.to_string() })?;
    local.intern(shared, engine, &words).map_err(|error| ReasonerError::Engine(error.to_string()))
}
