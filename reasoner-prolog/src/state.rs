//! States as sets of numbers.

use std::sync::Arc;

use crate::terms::TermId;

/// A state: the numbers of its true fluents, in ascending order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FactSet(Arc<[TermId]>);

impl FactSet {
    pub(crate) fn new(mut ids: Vec<TermId>) -> FactSet {
        ids.sort_unstable();
        ids.dedup();
        FactSet(ids.into())
    }

    /// Of numbers in ascending order, each once.
    pub(crate) fn of_sorted(ids: &[TermId]) -> FactSet {
        debug_assert!(ids.is_sorted());
        FactSet(ids.into())
    }

    pub(crate) fn ids(&self) -> &[TermId] {
        &self.0
    }

    /// Bytes on the heap: what it holds, behind two counts.
    pub(crate) fn heap_bytes(&self) -> usize {
        size_of_val(&*self.0) + 2 * size_of::<usize>()
    }

    /// Equality that looks at the address first.
    pub(crate) fn is_same(&self, other: &FactSet) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self == other
    }
}
