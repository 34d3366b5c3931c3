//! Answers found so far, by call.

use hashbrown::HashTable;

use super::program::PredicateId;
use crate::key_index::hash_words;

/// How long the answers of a call stay valid: one set of tables each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Life {
    /// For ever.
    Session,
    /// Until the state changes.
    State,
    /// Until the state or the moves change.
    Moves,
    /// Until the caller has read them.
    Call,
}

/// A table of answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TableId {
    pub(super) life: Life,
    pub(super) idx: u32,
}

/// Beyond this many answers a table looks for copies by hash. Below, comparing is cheaper.
const MAX_UNHASHED: usize = 8;

/// The answers of one call.
#[derive(Debug, Clone, Default)]
pub(super) struct Table {
    pub(super) predicate: u32,
    key_start: u32,
    key_len: u32,
    /// Words per answer.
    n_outs: u32,
    answers: Vec<u32>,
    n_answers: u32,
    index: HashTable<u32>,
    /// Whether all answers are there.
    pub(super) complete: bool,
    /// The place among the tables that are being filled, counted from the outermost.
    pub(super) order: u32,
    /// The smallest order of a table that this one was seen to depend on.
    pub(super) low: u32,
    /// Whether a table that this one reads has grown since this one was last filled.
    pub(super) dirty: bool,
    /// The tables to fill again when this one grows.
    pub(super) readers: Vec<TableId>,
}

impl Table {
    fn reset(&mut self, predicate: PredicateId, n_outs: u32) {
        self.predicate = predicate.0;
        self.n_outs = n_outs;
        self.answers.clear();
        self.n_answers = 0;
        self.index.clear();
        self.complete = false;
        self.dirty = false;
        self.readers.clear();
    }

    pub(super) fn len(&self) -> u32 {
        self.n_answers
    }

    pub(super) fn is_empty(&self) -> bool {
        self.n_answers == 0
    }

    pub(super) fn answer(&self, answer_idx: u32) -> &[u32] {
        let n_outs = self.n_outs as usize;
        &self.answers[answer_idx as usize * n_outs..][..n_outs]
    }

    /// All answers in a row.
    pub(super) fn words(&self) -> &[u32] {
        &self.answers
    }

    /// Adds an answer, unless it is there.
    fn insert(&mut self, answer: &[u32]) -> bool {
        let n_outs = self.n_outs as usize;
        if n_outs == 0 {
            return std::mem::replace(&mut self.n_answers, 1) == 0;
        }
        let n = self.n_answers as usize;
        if n <= MAX_UNHASHED {
            let is_known = match answer {
                [word] => self.answers.contains(word),
                _ => self.answers.chunks_exact(n_outs).any(|known| known == answer),
            };
            if is_known {
                return false;
            }
        }
        if n >= MAX_UNHASHED {
            let Table { index, answers, .. } = self;
            let row = |idx: u32| &answers[idx as usize * n_outs..][..n_outs];
            if n == MAX_UNHASHED {
                for idx in 0..self.n_answers {
                    index.insert_unique(hash_words(0, row(idx)), idx, |&other| hash_words(0, row(other)));
                }
            } else if index.find(hash_words(0, answer), |&idx| row(idx) == answer).is_some() {
                return false;
            }
            index.insert_unique(hash_words(0, answer), self.n_answers, |&other| hash_words(0, row(other)));
        }
        self.answers.extend_from_slice(answer);
        self.n_answers += 1;
        true
    }
}

/// The tables of one [`Life`], by predicate and key. Clearing keeps the memory for the next state.
#[derive(Debug, Clone, Default)]
pub(super) struct Tables {
    tables: Vec<Table>,
    n_used: usize,
    keys: Vec<u32>,
    index: HashTable<u32>,
    /// Words of the answers of the tables in use.
    n_answer_words: usize,
}

impl Tables {
    pub(super) fn clear(&mut self) {
        self.n_used = 0;
        self.n_answer_words = 0;
        self.keys.clear();
        self.index.clear();
    }

    pub(super) fn get(&self, idx: u32) -> &Table {
        &self.tables[idx as usize]
    }

    pub(super) fn get_mut(&mut self, idx: u32) -> &mut Table {
        &mut self.tables[idx as usize]
    }

    /// Adds an answer to a table, unless it is there.
    pub(super) fn insert(&mut self, idx: u32, answer: &[u32]) -> bool {
        let is_new = self.tables[idx as usize].insert(answer);
        self.n_answer_words += if is_new { answer.len() } else { 0 };
        is_new
    }

    pub(super) fn key(&self, idx: u32) -> &[u32] {
        let table = &self.tables[idx as usize];
        &self.keys[table.key_start as usize..][..table.key_len as usize]
    }

    pub(super) fn find(&self, predicate: PredicateId, key: &[u32]) -> Option<u32> {
        let same = |&idx: &u32| self.tables[idx as usize].predicate == predicate.0 && self.key(idx) == key;
        self.index.find(hash_words(predicate.0, key), same).copied()
    }

    /// A new table for a call that has none.
    pub(super) fn add(&mut self, predicate: PredicateId, key: &[u32], n_outs: u32) -> u32 {
        let idx = self.take(predicate, n_outs);
        let narrow = |n: usize| u32::try_from(n).expect("memory limits come before 2^32 words");
        let table = &mut self.tables[idx as usize];
        table.key_start = narrow(self.keys.len());
        table.key_len = narrow(key.len());
        self.keys.extend_from_slice(key);
        let Tables { tables, keys, index, .. } = self;
        index.insert_unique(hash_words(predicate.0, key), idx, |&other| {
            let table = &tables[other as usize];
            hash_words(table.predicate, &keys[table.key_start as usize..][..table.key_len as usize])
        });
        idx
    }

    /// A new table that no call will find.
    pub(super) fn take(&mut self, predicate: PredicateId, n_outs: u32) -> u32 {
        if self.n_used == self.tables.len() {
            self.tables.push(Table::default());
        }
        self.tables[self.n_used].reset(predicate, n_outs);
        self.n_used += 1;
        u32::try_from(self.n_used - 1).expect("memory limits come before 2^32 tables")
    }

    /// Gives back the table taken last.
    pub(super) fn give_back(&mut self) {
        self.n_used -= 1;
        self.n_answer_words -= self.tables[self.n_used].answers.len();
    }

    /// Gives back memory beyond what most states need: after a state that exploded.
    pub(super) fn shrink(&mut self) {
        *self = Tables::default();
    }

    /// Bytes in use, without looking at every table: each answer with its place in a hash table, and the
    /// tables ever made.
    pub(super) fn bytes(&self) -> usize {
        self.n_answer_words * 9
            + self.tables.capacity() * size_of::<Table>()
            + self.keys.capacity() * 4
            + self.index.capacity() * 5
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_kept_once() {
        let mut tables = Tables::default();
        for n_outs in 0..3 {
            let idx = tables.add(PredicateId(n_outs), &[7], n_outs);
            let n_new = (0..100u32).filter(|i| tables.insert(idx, &vec![i % 30; n_outs as usize])).count();
            assert_eq!(n_new, if n_outs == 0 { 1 } else { 30 });
            assert_eq!(tables.get(idx).len() as usize, n_new);
        }
        assert_eq!(tables.n_answer_words, 30 + 2 * 30);
        assert_eq!(tables.find(PredicateId(1), &[7]), Some(1));
        assert_eq!(tables.find(PredicateId(1), &[8]), None);
        tables.clear();
        assert_eq!(tables.find(PredicateId(1), &[7]), None);
    }

    #[test]
    fn what_is_given_back_or_cleared_is_not_counted() {
        let mut tables = Tables::default();
        let fill = |tables: &mut Tables| {
            let idx = tables.take(PredicateId(0), 2);
            (0..1000).for_each(|i| assert!(tables.insert(idx, &[i, i])));
        };
        fill(&mut tables);
        let bytes = tables.bytes();
        for _ in 0..100 {
            tables.give_back();
            fill(&mut tables);
        }
        assert_eq!(tables.bytes(), bytes);
        tables.clear();
        assert_eq!(tables.n_answer_words, 0);
    }
}
