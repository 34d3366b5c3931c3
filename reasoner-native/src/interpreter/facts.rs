//! Relations that are the same in every state, as tables with indexes.

use super::program::Mask;
use crate::key_index::KeyIndex;

/// A table, by index in [`AllFacts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct FactsId(pub(super) u32);

/// The rows of one relation, with an index per binding pattern that a plan looks up.
#[derive(Debug, Clone, Default)]
pub(super) struct Facts {
    n_columns: usize,
    n_rows: usize,
    cells: Vec<u32>,
    masks: Vec<Mask>,
    indexes: Vec<KeyIndex>,
}

impl Facts {
    pub(super) fn new(n_columns: usize) -> Facts {
        Facts { n_columns, ..Facts::default() }
    }

    pub(super) fn n_rows(&self) -> usize {
        self.n_rows
    }

    pub(super) fn push(&mut self, row: &[u32]) {
        debug_assert!(self.masks.is_empty(), "rows come before indexes");
        debug_assert_eq!(row.len(), self.n_columns);
        self.cells.extend_from_slice(row);
        self.n_rows += 1;
    }

    pub(super) fn row(&self, row_idx: usize) -> &[u32] {
        &self.cells[row_idx * self.n_columns..][..self.n_columns]
    }

    /// The index over the columns of `mask` (not 0), made if there is none yet. A row that is there twice
    /// counts once in an index over all columns.
    pub(super) fn index_on(&mut self, mask: Mask) -> u32 {
        let known = self.masks.iter().position(|&other| other == mask);
        let idx = known.unwrap_or_else(|| {
            let mut index = KeyIndex::new(mask.count_ones() as usize);
            let mut key = Vec::new();
            for row_idx in 0..self.n_rows {
                key.clear();
                key.extend(columns_of(mask).map(|column| self.row(row_idx)[column]));
                let is_copy = key.len() == self.n_columns && !index.get(&key).is_empty();
                if !is_copy {
                    index.insert(
                        &key,
                        u32::try_from(row_idx).expect("facts are bounded by the text or a budget"),
                    );
                }
            }
            self.masks.push(mask);
            self.indexes.push(index);
            self.indexes.len() - 1
        });
        u32::try_from(idx).expect("there are fewer binding patterns than literals")
    }

    /// The rows with a key in an index.
    pub(super) fn rows_of(&self, index: u32, key: &[u32]) -> &[u32] {
        self.indexes[index as usize].get(key)
    }

    /// How many rows a key of the mask has on average; all of them for the empty mask.
    pub(super) fn fan_out(&mut self, mask: Mask) -> f64 {
        if mask == 0 {
            return self.n_rows as f64;
        }
        let index = self.index_on(mask);
        self.n_rows as f64 / self.indexes[index as usize].n_groups().max(1) as f64
    }

    pub(super) fn bytes(&self) -> usize {
        (self.cells.len() + self.n_rows * self.indexes.len() * 3) * 4
    }
}

/// The positions of a mask in ascending order.
pub(super) fn columns_of(mask: Mask) -> impl Iterator<Item = usize> {
    (0..64).filter(move |column| mask >> column & 1 == 1)
}
