//! Atoms that may hold, by predicate, with the indexes that joins look them up in.
//!
//! The atoms of a predicate are numbered in the order in which they were found. As in semi-naive evaluation
//! (Abiteboul, Hull and Vianu 1995, section 13.1), they are in three stretches: *stable*, *recent*, and those *to
//! add* in the next round.

use gdl::Symbol;
use hashbrown::HashTable;
use rustc_hash::FxHashMap;

use super::clause::Functor;
use crate::key_index::{KeyIndex, hash_words};
use crate::terms::{TermId, Terms};

/// A predicate, by index in [`Database`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PredicateId(pub(crate) u32);

impl PredicateId {
    pub(crate) fn idx(self) -> usize {
        self.0 as usize
    }
}

/// A ground atom, by index in [`Atoms`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct AtomId(pub(crate) u32);

impl AtomId {
    pub(crate) fn idx(self) -> usize {
        self.0 as usize
    }
}

/// Ground atoms by number, whether they may hold or are only spoken of.
#[derive(Debug, Clone, Default)]
pub(crate) struct Atoms {
    predicates: Vec<PredicateId>,
    starts: Vec<u32>,
    args: Vec<u32>,
    index: HashTable<u32>,
}

impl Atoms {
    pub(crate) fn len(&self) -> usize {
        self.predicates.len()
    }

    pub(super) fn predicate(&self, atom: AtomId) -> PredicateId {
        self.predicates[atom.idx()]
    }

    pub(crate) fn args(&self, atom: AtomId) -> &[u32] {
        let end = self.starts.get(atom.idx() + 1).map_or(self.args.len(), |&end| end as usize);
        &self.args[self.starts[atom.idx()] as usize..end]
    }

    pub(super) fn find(&self, predicate: PredicateId, args: &[u32]) -> Option<AtomId> {
        let same = |&id: &u32| self.predicates[id as usize] == predicate && self.args(AtomId(id)) == args;
        self.index.find(hash_words(predicate.0, args), same).map(|&id| AtomId(id))
    }

    /// The number of an atom, new if it has none yet.
    pub(super) fn intern(&mut self, predicate: PredicateId, args: &[u32]) -> AtomId {
        if let Some(known) = self.find(predicate, args) {
            return known;
        }
        let narrow = |n: usize| u32::try_from(n).expect("the budget of memory ends before 2^32 words");
        let id = narrow(self.predicates.len());
        self.predicates.push(predicate);
        self.starts.push(narrow(self.args.len()));
        self.args.extend_from_slice(args);
        let Atoms { predicates, starts, args: all, index } = self;
        index.insert_unique(hash_words(predicate.0, args), id, |&other| {
            let other = other as usize;
            let end = starts.get(other + 1).map_or(all.len(), |&end| end as usize);
            hash_words(predicates[other].0, &all[starts[other] as usize..end])
        });
        AtomId(id)
    }

    fn bytes(&self) -> usize {
        self.predicates.capacity() * 8 + self.args.capacity() * 4 + self.index.capacity() * 5
    }
}

/// Where in an atom a term stands: the argument, then the argument of that, and so on.
pub(super) type Path = Box<[u8]>;

/// The term at a path that is known to be there.
pub(super) fn term_at(atoms: &Atoms, terms: &Terms, atom: AtomId, path: &[u8]) -> u32 {
    let mut term = atoms.args(atom)[usize::from(path[0])];
    for &arg in &path[1..] {
        term = terms.args(TermId(term))[usize::from(arg)];
    }
    term
}

/// A function that must stand at a place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FunctorAt {
    pub(super) path: Path,
    pub(super) name: Symbol,
    pub(super) arity: u32,
}

/// Whether an atom has these functions; a path leads through those before it.
pub(super) fn has_functors(atoms: &Atoms, terms: &Terms, atom: AtomId, functors: &[FunctorAt]) -> bool {
    functors.iter().all(|functor| {
        let term = TermId(term_at(atoms, terms, atom, &functor.path));
        terms.functor(term) == functor.name && terms.n_args(term) == functor.arity as usize
    })
}

/// Which atoms an index has, and by which of their terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shape {
    /// Outer ones first.
    pub(super) functors: Vec<FunctorAt>,
    /// In ascending order.
    pub(super) keys: Vec<Path>,
}

/// An index, by number in [`Database`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IndexId(u32);

#[derive(Debug)]
pub(super) struct Index {
    predicate: PredicateId,
    shape: Shape,
    n_indexed: usize,
    by_key: KeyIndex,
    /// All of them, if there is no key.
    all: Vec<u32>,
}

impl Index {
    /// The positions, in ascending order, of the atoms with a key.
    pub(super) fn positions(&self, key: &[u32]) -> &[u32] {
        if key.is_empty() { &self.all } else { self.by_key.get(key) }
    }

    /// How many atoms a key has on average.
    fn fan_out(&self) -> f64 {
        let n_groups = if self.shape.keys.is_empty() { 1 } else { self.by_key.n_groups().max(1) };
        let n_atoms = if self.shape.keys.is_empty() { self.all.len() } else { self.n_indexed };
        n_atoms as f64 / n_groups as f64
    }
}

/// The atoms of one predicate.
#[derive(Debug)]
pub(super) struct Predicate {
    pub(super) functor: Functor,
    /// In the order in which they were found.
    pub(super) atoms: Vec<AtomId>,
    /// Before this, atoms are stable; from here to `n_known`, recent.
    pub(super) n_stable: usize,
    /// From here on, atoms are to be added.
    pub(super) n_known: usize,
    indexes: Vec<IndexId>,
}

impl Predicate {
    pub(super) fn has_recent(&self) -> bool {
        self.n_stable < self.n_known
    }
}

/// No place among the atoms of its predicate.
const NOWHERE: u32 = u32::MAX;

/// All atoms that may hold.
#[derive(Debug, Default)]
pub(super) struct Database {
    pub(super) terms: Terms,
    pub(super) atoms: Atoms,
    pub(super) predicates: Vec<Predicate>,
    pub(super) indexes: Vec<Index>,
    by_functor: FxHashMap<Functor, PredicateId>,
    /// For each atom, where it stands among those of its predicate.
    positions: Vec<u32>,
}

impl Database {
    pub(super) fn new(terms: Terms) -> Database {
        Database { terms, ..Database::default() }
    }

    /// The predicate of a functor, new if it has none yet.
    pub(super) fn predicate(&mut self, functor: Functor) -> PredicateId {
        let Database { predicates, by_functor, .. } = self;
        *by_functor.entry(functor).or_insert_with(|| {
            predicates.push(Predicate {
                functor,
                atoms: Vec::new(),
                n_stable: 0,
                n_known: 0,
                indexes: Vec::new(),
            });
            PredicateId(u32::try_from(predicates.len() - 1).expect("predicates are bounded by the text"))
        })
    }

    pub(super) fn n_predicates(&self) -> usize {
        self.predicates.len()
    }

    /// Where an atom stands among those of its predicate.
    pub(super) fn position(&self, atom: AtomId) -> Option<usize> {
        self.positions
            .get(atom.idx())
            .filter(|&&position| position != NOWHERE)
            .map(|&position| position as usize)
    }

    /// Notes that an atom may hold, from the next round on.
    pub(super) fn add(&mut self, predicate: PredicateId, atom: AtomId) {
        if self.positions.len() <= atom.idx() {
            self.positions.resize(self.atoms.len(), NOWHERE);
        }
        let position = &mut self.positions[atom.idx()];
        if *position == NOWHERE {
            let atoms = &mut self.predicates[predicate.idx()].atoms;
            *position = u32::try_from(atoms.len()).expect("atoms are 32 bits");
            atoms.push(atom);
        }
    }

    /// Makes recent atoms stable and those to be added recent; whether there are any of these.
    pub(super) fn next_round(&mut self, predicate: PredicateId) -> bool {
        let of_predicate = &mut self.predicates[predicate.idx()];
        of_predicate.n_stable = of_predicate.n_known;
        of_predicate.n_known = of_predicate.atoms.len();
        let has_recent = of_predicate.has_recent();
        if has_recent {
            for idx in 0..self.predicates[predicate.idx()].indexes.len() {
                self.update(self.predicates[predicate.idx()].indexes[idx]);
            }
        }
        has_recent
    }

    /// The index of a shape, made if there is none yet.
    pub(super) fn index(&mut self, predicate: PredicateId, shape: &Shape) -> IndexId {
        let known = self.predicates[predicate.idx()].indexes.iter();
        if let Some(&known) = known.clone().find(|&&id| self.indexes[id.0 as usize].shape == *shape) {
            return known;
        }
        let id = IndexId(u32::try_from(self.indexes.len()).expect("indexes are bounded by the text"));
        self.indexes.push(Index {
            predicate,
            by_key: KeyIndex::new(shape.keys.len()),
            shape: shape.clone(),
            n_indexed: 0,
            all: Vec::new(),
        });
        self.predicates[predicate.idx()].indexes.push(id);
        self.update(id);
        id
    }

    pub(super) fn index_of(&self, id: IndexId) -> &Index {
        &self.indexes[id.0 as usize]
    }

    /// How many atoms a key of a shape has on average.
    pub(super) fn fan_out(&mut self, predicate: PredicateId, shape: &Shape) -> f64 {
        let id = self.index(predicate, shape);
        self.indexes[id.0 as usize].fan_out()
    }

    /// Enters the known atoms that an index does not have yet.
    fn update(&mut self, id: IndexId) {
        let Database { terms, atoms, predicates, indexes, .. } = self;
        let index = &mut indexes[id.0 as usize];
        let of_predicate = &predicates[index.predicate.idx()];
        let mut key = Vec::new();
        for position in index.n_indexed..of_predicate.n_known {
            let atom = of_predicate.atoms[position];
            if !has_functors(atoms, terms, atom, &index.shape.functors) {
                continue;
            }
            let position = u32::try_from(position).expect("atoms are 32 bits");
            if index.shape.keys.is_empty() {
                index.all.push(position);
                continue;
            }
            key.clear();
            key.extend(index.shape.keys.iter().map(|path| term_at(atoms, terms, atom, path)));
            index.by_key.insert(&key, position);
        }
        index.n_indexed = of_predicate.n_known;
    }

    /// Bytes of the atoms, roughly.
    pub(super) fn bytes(&self) -> usize {
        let positions: usize = self.indexes.iter().map(|index| index.n_indexed * 12).sum();
        self.terms.bytes() + self.atoms.bytes() + self.positions.capacity() * 8 + positions
    }
}
