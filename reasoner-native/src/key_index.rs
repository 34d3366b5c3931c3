//! Items grouped by a key of a few words, for joins.

use hashbrown::HashTable;

/// Mixes words into a hash whose high and low bits are both good, as `hashbrown` needs.
/// (The multiplier is that of FxHash; the final fold brings the high bits down.)
pub(crate) fn hash_words(seed: u32, words: &[u32]) -> u64 {
    hash_all(seed, words.iter().copied())
}

/// As [`hash_words`], of words that are not in a list.
pub(crate) fn hash_all(seed: u32, words: impl Iterator<Item = u32>) -> u64 {
    const MULTIPLIER: u64 = 0x517c_c1b7_2722_0a95;
    let mut hash = u64::from(seed).wrapping_add(1).wrapping_mul(MULTIPLIER);
    for word in words {
        hash = (hash.rotate_left(23) ^ u64::from(word)).wrapping_mul(MULTIPLIER);
    }
    hash ^ (hash >> 29)
}

/// Lists of items by key; all keys have the same number of words, at least one.
#[derive(Debug, Clone, Default)]
pub(crate) struct KeyIndex {
    n_words: usize,
    keys: Vec<u32>,
    groups: Vec<Vec<u32>>,
    /// Group by the word, plus one, where keys have a single word: words are term numbers, which are dense.
    dense: Vec<u32>,
    table: HashTable<u32>,
}

impl KeyIndex {
    pub(crate) fn new(n_words: usize) -> KeyIndex {
        KeyIndex { n_words, ..KeyIndex::default() }
    }

    fn key_of(&self, group: u32) -> &[u32] {
        &self.keys[group as usize * self.n_words..][..self.n_words]
    }

    /// The group of a key, for walking it by index while other things change.
    pub(crate) fn group(&self, key: &[u32]) -> Option<u32> {
        if let [word] = key {
            return self.dense.get(*word as usize).and_then(|&group| group.checked_sub(1));
        }
        self.table.find(hash_words(0, key), |&group| self.key_of(group) == key).copied()
    }

    /// The items of a key, in the order of insertion.
    pub(crate) fn get(&self, key: &[u32]) -> &[u32] {
        self.group(key).map_or(&[], |group| &self.groups[group as usize])
    }

    /// The items of a group, in the order of insertion.
    pub(crate) fn items(&self, group: u32) -> &[u32] {
        &self.groups[group as usize]
    }

    /// How many keys there are.
    pub(crate) fn n_groups(&self) -> usize {
        self.groups.len()
    }

    pub(crate) fn insert(&mut self, key: &[u32], item: u32) {
        debug_assert_eq!(key.len(), self.n_words);
        if let Some(group) = self.group(key) {
            self.groups[group as usize].push(item);
            return;
        }
        let group = u32::try_from(self.groups.len()).expect("memory ends before 2^32 keys");
        self.groups.push(vec![item]);
        self.keys.extend_from_slice(key);
        if let [word] = key {
            if self.dense.len() <= *word as usize {
                self.dense.resize(*word as usize + 1, 0);
            }
            self.dense[*word as usize] = group + 1;
            return;
        }
        let KeyIndex { n_words, keys, table, .. } = self;
        table.insert_unique(hash_words(0, key), group, |&other| {
            hash_words(0, &keys[other as usize * *n_words..][..*n_words])
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_found_by_key() {
        for n_words in 1..4u32 {
            let mut index = KeyIndex::new(n_words as usize);
            let key = |i: u32| (0..n_words).map(|word| i * (word + 1) % 17).collect::<Vec<_>>();
            (0..200).for_each(|i| index.insert(&key(i), i));
            assert_eq!(index.n_groups(), 17);
            assert!(index.get(&key(3)).iter().all(|item| item % 17 == 3));
            assert_eq!(index.get(&key(3)).len(), 12);
            assert!(index.get(&vec![99; n_words as usize]).is_empty());
        }
    }
}
