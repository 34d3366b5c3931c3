//! The state that a session has loaded, laid out for look-ups.
//!
//! Fluents recur from state to state, so indexes are kept over all fluents ever loaded and nothing is
//! built per state: a look-up walks the fluents with the key and skips those that are not true now.

use rustc_hash::FxHashMap;

use super::facts::columns_of;
use super::program::FluentFunctor;
use crate::key_index::KeyIndex;
use crate::terms::{LocalTerms, TermId};

/// No functor that a plan looks up.
const NO_FUNCTOR: u32 = u32::MAX;
/// Not looked at yet.
const UNKNOWN: u32 = u32::MAX - 1;

/// True fluents of one functor.
#[derive(Debug, Clone, Default)]
pub(super) struct OfFunctor {
    /// Those true now.
    pub(super) now: Vec<u32>,
    /// All ever true, one index per mask of the functor.
    pub(super) ever: Vec<KeyIndex>,
}

/// The true fluents, by number and by functor.
#[derive(Debug, Clone, Default)]
pub(super) struct Fluents {
    /// One bit per term.
    bits: Vec<u64>,
    /// In ascending order.
    pub(super) all: Vec<u32>,
    pub(super) by_functor: Vec<OfFunctor>,
    functor_of: Vec<u32>,
    functors: Vec<FluentFunctor>,
    by_name: FxHashMap<(u32, u32), u32>,
}

impl Fluents {
    pub(super) fn new(functors: &[FluentFunctor]) -> Fluents {
        let of_functor = |functor: &FluentFunctor| OfFunctor {
            now: Vec::new(),
            ever: functor.masks.iter().map(|mask| KeyIndex::new(mask.count_ones() as usize)).collect(),
        };
        Fluents {
            by_functor: functors.iter().map(of_functor).collect(),
            by_name: (0..).zip(functors).map(|(idx, f)| ((f.functor.0, f.n_args), idx)).collect(),
            functors: functors.to_vec(),
            ..Fluents::default()
        }
    }

    pub(super) fn is_true(&self, term: u32) -> bool {
        self.bits.get(term as usize / 64).is_some_and(|word| word >> (term % 64) & 1 == 1)
    }

    /// Replaces the state; `terms` knows every fluent.
    pub(super) fn load(&mut self, terms: &LocalTerms, fluents: &[u32]) {
        for &fluent in &self.all {
            self.bits[fluent as usize / 64] = 0;
        }
        self.by_functor.iter_mut().for_each(|of_functor| of_functor.now.clear());
        self.all.clear();
        self.all.extend_from_slice(fluents);
        if self.functor_of.len() < terms.len() {
            self.functor_of.resize(terms.len(), UNKNOWN);
            self.bits.resize(terms.len() / 64 + 1, 0);
        }
        for &fluent in fluents {
            self.bits[fluent as usize / 64] |= 1 << (fluent % 64);
            let mut functor = self.functor_of[fluent as usize];
            if functor == UNKNOWN {
                functor = self.meet(terms, fluent);
            }
            if functor != NO_FUNCTOR {
                self.by_functor[functor as usize].now.push(fluent);
            }
        }
    }

    /// Enters a fluent that was never loaded into the indexes, and returns its functor.
    fn meet(&mut self, terms: &LocalTerms, fluent: u32) -> u32 {
        let args = terms.args(TermId(fluent));
        let n_args = u32::try_from(args.len()).expect("arguments are bounded by the text");
        let name = (terms.functor(TermId(fluent)).0, n_args);
        let functor = self.by_name.get(&name).copied().unwrap_or(NO_FUNCTOR);
        self.functor_of[fluent as usize] = functor;
        if functor != NO_FUNCTOR {
            let masks = &self.functors[functor as usize].masks;
            for (index, &mask) in self.by_functor[functor as usize].ever.iter_mut().zip(masks) {
                let key: Vec<u32> = columns_of(mask).map(|column| args[column]).collect();
                index.insert(&key, fluent);
            }
        }
        functor
    }
}
