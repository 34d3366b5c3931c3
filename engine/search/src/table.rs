//! From a hash to an index, for any number of writers: open addressing, in a number of words that only changes while nobody
//! looks.

use crate::arena::{Chunks, Meter, u32_of, usize_of};
use crate::orders::Orders;
use crate::sync::{AtomicBool, AtomicU64, Ordering};
use crate::threads::for_each;

/// How far an item may lie from its first slot. At a load of three quarters, linear probing takes 9 probes
/// on average for a miss (Knuth, TAOCP 3, 6.4); beyond this the table counts as full.
const MAX_PROBES: usize = 512;

/// A table grows by this many bits.
const GROWTH_BITS: u32 = 2;

/// A table may begin with this many bits fewer than the largest it can become, for each costs one of the fingerprint.
const MAX_GROWTH_BITS: u32 = 12;

/// A hash table of indices. The keys lie elsewhere, under the index; the caller compares them.
///
/// A word is 0, or the fingerprint, how far it lies from its first slot, and the index (low half, never 0). Words only ever
/// change from 0 to their final value, so a probe that passed a word need not look back. Since a word tells its first slot,
/// what is gone can be taken out without the keys ([`Table::follow`]).
///
/// The first slot is the highest bits of the hash, the fingerprint those that follow. So a larger table can be filled
/// without the keys too ([`Table::grow`]), in order, at the price of the fingerprint's bits that slots then have. It pays to begin
/// small: most of a table for gigabytes would be touched for the first time by the first tenths of a second of a search.
///
/// # Orderings
/// A word is stored with [`Orders::INSERT`] after the key was written, and loaded with [`Orders::FIND`]
/// before the key is compared.
#[derive(Debug)]
pub(crate) struct Table {
    words: Chunks<AtomicU64>,
    /// There are 2^`bits` words.
    bits: u32,
    /// Where growing ends.
    max_bits: u32,
    /// The bits of a fingerprint that all words have.
    fingerprint: u64,
}

/// How a look-up went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// The key was there.
    There(u32),
    /// It was not, and the new index now stands for it.
    Inserted(u32),
    /// It was not, a new index was made, and another thread's came first: that one stands for it.
    Lost {
        /// Whose index stands for the key.
        winner: u32,
        /// The index made in vain.
        loser: u32,
    },
    /// It was not, and there is no room.
    Full,
}

/// What a look-up costs, and what it found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lookup {
    pub(crate) found: Found,
    /// Words looked at.
    pub(crate) n_probes: u64,
    /// Compare-and-swaps that met another thread's word.
    pub(crate) n_cas_failures: u64,
}

impl Table {
    /// A table of 2^`bits` words, or fewer if more can come when they are needed, up to 2^`max_bits`.
    pub(crate) fn new(bits: u32, max_bits: u32) -> Table {
        let max_bits = max_bits.min(32);
        let bits = bits.max(max_bits.saturating_sub(MAX_GROWTH_BITS)).min(max_bits);
        Table::in_chunks(bits, max_bits, chunk_bits_for(bits), FINGERPRINT)
    }

    fn in_chunks(bits: u32, max_bits: u32, chunk_bits: u32, fingerprint: u64) -> Table {
        Table { words: Chunks::new(1 << (bits - chunk_bits), chunk_bits, 0), bits, max_bits, fingerprint }
    }

    /// Words in it.
    pub(crate) fn n_slots(&self) -> usize {
        1 << self.bits
    }

    /// Words less one, which is a mask of them.
    fn mask(&self) -> usize {
        self.n_slots() - 1
    }

    /// Whether so many indices want more words: more than half would be taken.
    pub(crate) fn wants_more_for(&self, n: usize) -> bool {
        self.bits < self.max_bits && n > 1 << (self.bits - 1)
    }

    /// Makes it four times as large; nobody else may be looking. If there is no room, it stays as it is for ever.
    pub(crate) fn grow<O: Orders>(&mut self, meter: &Meter, n_threads: usize) {
        let bits = (self.bits + GROWTH_BITS).min(self.max_bits);
        let by = bits - self.bits;
        let fingerprint = (self.fingerprint << by) & FINGERPRINT;
        let mut grown = Table::in_chunks(bits, self.max_bits, chunk_bits_for(bits), fingerprint);
        let has_room = AtomicBool::new(true);
        for_each(self.n_slots() / self.words.chunk_len(), n_threads, |chunk_idx| {
            let first = chunk_idx * self.words.chunk_len();
            for (offset, word) in self.words.chunk(chunk_idx).iter().enumerate() {
                let held = word.load(Ordering::Relaxed);
                if held == 0 || !has_room.load(Ordering::Relaxed) {
                    continue;
                }
                let home = (first + offset).wrapping_sub(distance_of(held)) & self.mask();
                let known = held & FINGERPRINT;
                let place = (
                    home << by | usize_of(known.rotate_left(by)) & ((1 << by) - 1),
                    (known << by) & FINGERPRINT,
                );
                let found =
                    grown.find_or_insert_at::<O>(place, meter, |_| false, || Some(index_of(held))).found;
                if !matches!(found, Found::Inserted(_)) {
                    has_room.store(false, Ordering::Relaxed);
                }
            }
        });
        if has_room.load(Ordering::Relaxed) {
            std::mem::swap(self, &mut grown);
        } else {
            self.max_bits = self.bits;
        }
        grown.words.truncate(0, meter);
    }

    /// The index that a look-up of this hash is likely to compare first, by the first word that it reads.
    pub(crate) fn likely<O: Orders>(&self, hash: u64) -> Option<u32> {
        let (home, fingerprint) = self.place(hash);
        let held = self.words.get(home)?.load(O::FIND);
        (held != 0 && held & TAG == fingerprint | distance(0)).then(|| index_of(held))
    }

    /// The index of the key with this hash for which `is_equal` holds; otherwise `make` makes one.
    pub(crate) fn find_or_insert<O: Orders>(
        &self,
        hash: u64,
        meter: &Meter,
        is_equal: impl Fn(u32) -> bool,
        make: impl FnOnce() -> Option<u32>,
    ) -> Lookup {
        self.find_or_insert_at::<O>(self.place(hash), meter, is_equal, make)
    }

    fn find_or_insert_at<O: Orders>(
        &self,
        (home, fingerprint): (usize, u64),
        meter: &Meter,
        is_equal: impl Fn(u32) -> bool,
        make: impl FnOnce() -> Option<u32>,
    ) -> Lookup {
        let mask = self.mask();
        let mut make = Some(make);
        let mut made = None;
        let mut n_cas_failures = 0;
        for n_probes in 1..=MAX_PROBES.min(mask + 1) {
            let answer = |found| Lookup { found, n_probes: n_probes as u64, n_cas_failures };
            let slot = (home + n_probes - 1) & mask;
            let tag = fingerprint | distance(n_probes - 1);
            if !self.words.ensure(slot, meter) {
                return answer(self.give_up(made));
            }
            let word = self.words.at(slot);
            let mut held = word.load(O::FIND);
            if held == 0 {
                let Some(index) = made.or_else(|| make.take().and_then(|make| make())) else {
                    return answer(Found::Full);
                };
                made = Some(index);
                match word.compare_exchange(0, tag | u64::from(index), O::INSERT, O::FIND) {
                    Ok(_) => return answer(Found::Inserted(index)),
                    Err(others) => {
                        held = others;
                        n_cas_failures += 1;
                    }
                }
            }
            if held & TAG == tag && is_equal(index_of(held)) {
                let winner = index_of(held);
                let found = made.map_or(Found::There(winner), |loser| Found::Lost { winner, loser });
                return Lookup { found, n_probes: n_probes as u64, n_cas_failures };
            }
        }
        meter.declare_full();
        let n_probes = MAX_PROBES.min(mask + 1) as u64;
        Lookup { found: self.give_up(made), n_probes, n_cas_failures }
    }

    /// The index of a key, if it is there.
    pub(crate) fn find<O: Orders>(&self, hash: u64, is_equal: impl Fn(u32) -> bool) -> Option<u32> {
        let (home, fingerprint) = self.place(hash);
        for step in 0..MAX_PROBES.min(self.n_slots()) {
            let held = self.words.get((home + step) & self.mask())?.load(O::FIND);
            if held == 0 {
                return None;
            }
            if held & TAG == fingerprint | distance(step) && is_equal(index_of(held)) {
                return Some(index_of(held));
            }
        }
        None
    }

    /// Forgets all indices; nobody else may be looking.
    pub(crate) fn clear(&mut self) {
        self.words.for_each(|word| word.store(0, Ordering::Relaxed));
    }

    /// Puts an index in whose key is known to be absent; false if there is no room.
    pub(crate) fn insert<O: Orders>(&self, hash: u64, meter: &Meter, index: u32) -> bool {
        let lookup = self.find_or_insert::<O>(hash, meter, |_| false, || Some(index));
        matches!(lookup.found, Found::Inserted(_))
    }

    /// An index that was made but found no place still names something: `Lost` to nobody.
    fn give_up(&self, made: Option<u32>) -> Found {
        made.map_or(Found::Full, |loser| Found::Lost { winner: 0, loser })
    }

    /// The table in parts that can follow side by side: none crosses a run of words that are not 0. There is one that holds
    /// all of a table in which no word is 0.
    pub(crate) fn parts(&self, n_parts: usize) -> Vec<Part> {
        let len = self.n_slots();
        let is_free = |slot: usize| {
            self.words.get(slot & self.mask()).is_none_or(|word| word.load(Ordering::Relaxed) == 0)
        };
        let mut starts: Vec<usize> = Vec::new();
        for from in (0..n_parts).map(|part_idx| len / n_parts.max(1) * part_idx) {
            let start = (from..len).find(|&slot| is_free(slot));
            starts.extend(start.filter(|start| starts.last() != Some(start)));
        }
        let Some(&first) = starts.first() else { return vec![Part { slots: 0..len, is_full: true }] };
        starts.push(first + len);
        starts.windows(2).map(|pair| Part { slots: pair[0]..pair[1], is_full: false }).collect()
    }

    /// Gives indices their new numbers, and takes those out whose number is 0, as that of 0 is; nobody else may be looking. What stays
    /// keeps its first slot and goes no further from it.
    pub(crate) fn follow(&self, part: &Part, forward: impl Fn(u32) -> u32) {
        if part.is_full {
            let words: Vec<(usize, u64)> = (0..=self.mask())
                .map(|slot| (slot, self.words.at(slot).swap(0, Ordering::Relaxed)))
                .collect();
            for (slot, held) in words {
                self.settle(slot + self.n_slots(), held, forward(index_of(held)));
            }
            return;
        }
        let chunk_len = self.words.chunk_len();
        let mut slot = part.slots.start;
        while slot < part.slots.end {
            let within = slot & (chunk_len - 1);
            let n = (chunk_len - within).min(part.slots.end - slot);
            let words = self.words.chunk((slot & self.mask()) / chunk_len);
            for (offset, word) in words.iter().skip(within).take(n).enumerate() {
                // No branch depends on whether the slot is free: only what stays is seldom enough to be foretold.
                let held = word.load(Ordering::Relaxed);
                word.store(0, Ordering::Relaxed);
                self.settle(slot + offset, held, forward(index_of(held)));
            }
            slot += n;
        }
    }

    /// Puts a word that lay in `slot`, and was taken out, into the first free slot from its own first one on, under a new index. That
    /// is `slot` at the latest, unless no word was 0.
    #[inline]
    fn settle(&self, slot: usize, held: u64, index: u32) {
        if index == 0 {
            return;
        }
        let home = slot - distance_of(held);
        for step in 0..MAX_PROBES.min(self.n_slots()) {
            let word = self.words.at((home + step) & self.mask());
            if word.load(Ordering::Relaxed) == 0 {
                word.store(held & FINGERPRINT | distance(step) | u64::from(index), Ordering::Relaxed);
                return;
            }
        }
    }

    /// The first slot, and the fingerprint.
    fn place(&self, hash: u64) -> (usize, u64) {
        (usize_of(hash.rotate_left(self.bits)) & self.mask(), (hash << self.bits) & self.fingerprint)
    }
}

/// Items of a chunk of a table: a page's at least, so that a graph that begins costs little, and enough chunks for all threads
/// that fill a larger one.
fn chunk_bits_for(bits: u32) -> u32 {
    bits.saturating_sub(6).clamp(9, 15).min(bits)
}

/// Some neighbouring slots of a table, counted on beyond its end.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    slots: std::ops::Range<usize>,
    is_full: bool,
}

/// Bits that hold how far a word lies from its first slot.
const DISTANCE_BITS: u32 = MAX_PROBES.ilog2();
const TAG: u64 = !0 << 32;
const FINGERPRINT: u64 = TAG << DISTANCE_BITS;

const _: () = assert!(MAX_PROBES.is_power_of_two());

fn distance(n_slots: usize) -> u64 {
    (n_slots as u64) << 32
}

fn distance_of(word: u64) -> usize {
    usize_of((word & TAG & !FINGERPRINT) >> 32)
}

fn index_of(word: u64) -> u32 {
    u32_of(usize_of(word & !TAG))
}

/// Spreads a hash over all 64 bits (SplitMix64's finaliser), since the hasher of states need not.
pub(crate) fn spread(hash: u64) -> u64 {
    reasoner::Dice::child_seed(hash, 0)
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::orders::Sound;

    fn put(table: &Table, meter: &Meter, keys: &[u64], key: u64, hash: u64, index: u32) -> Found {
        table.find_or_insert::<Sound>(hash, meter, |at| keys[at as usize] == key, || Some(index)).found
    }

    #[test]
    fn equal_fingerprints_are_told_apart_by_the_keys() {
        let meter = Meter::new(1 << 20);
        let table = Table::in_chunks(4, 4, 2, FINGERPRINT);
        let keys = [0, 70, 71, 72];
        for index in 1..4u32 {
            let key = keys[index as usize];
            assert_eq!(put(&table, &meter, &keys, key, 5, index), Found::Inserted(index));
        }
        for index in 1..4u32 {
            let key = keys[index as usize];
            assert_eq!(put(&table, &meter, &keys, key, 5, 9), Found::There(index));
            assert_eq!(table.find::<Sound>(5, |at| keys[at as usize] == key), Some(index));
        }
        assert_eq!(table.find::<Sound>(5, |_| false), None);
    }

    /// Puts keys in, leaves out those that `forward` does, and looks for all.
    fn follow(bits: u32, hashes: &[u64], n_parts: usize, forward: impl Fn(u32) -> Option<u32>) {
        let meter = Meter::new(1 << 20);
        let table = Table::in_chunks(bits, bits, 3, FINGERPRINT);
        let keys: Vec<u64> = (0..=hashes.len() as u64).collect();
        for (index, &hash) in (1..).zip(hashes) {
            assert_eq!(put(&table, &meter, &keys, u64::from(index), hash, index), Found::Inserted(index));
        }
        for part in table.parts(n_parts) {
            table.follow(&part, |index| if index == 0 { 0 } else { forward(index).unwrap_or(0) });
        }
        for (index, &hash) in (1..).zip(hashes) {
            let new = forward(index);
            let found = table.find::<Sound>(hash, |at| Some(at) == new);
            assert_eq!(found, new, "{index} of {} in {n_parts} parts", hashes.len());
        }
        let mut n_words = 0;
        table.words.for_each(|word| n_words += usize::from(word.load(Ordering::Relaxed) != 0));
        assert_eq!(n_words, (1..).zip(hashes).filter(|&(index, _)| forward(index).is_some()).count());
    }

    #[test]
    fn what_stays_is_found_under_its_new_index_when_the_rest_is_taken_out() {
        // Runs that go over the end of the table, and that lie in several parts.
        let crowded =
            |n: u64| (0..n).map(|i| (spread(i) >> 7) | (((i * i + 120) % 128) << 57)).collect::<Vec<u64>>();
        let even = |n: u64| (0..n).map(spread).collect::<Vec<u64>>();
        for n in [0, 1, 60, 100, 127, 128] {
            for n_parts in [1, 2, 7] {
                for hashes in [crowded(n), even(n)] {
                    follow(7, &hashes, n_parts, |index| (index % 3 != 0).then_some(index + 1000));
                    follow(7, &hashes, n_parts, Some);
                    follow(7, &hashes, n_parts, |_| None);
                }
            }
        }
    }

    #[test]
    fn what_is_in_a_table_is_in_the_larger_one_that_it_becomes() {
        // The last ones crowd at the end, so that runs go over it.
        let hashes: Vec<u64> = (0..50).map(spread).chain((50..64).map(|i| !(spread(i) >> 3))).collect();
        for n_threads in [1, 2, 7] {
            let meter = Meter::new(1 << 20);
            let mut table = Table::in_chunks(6, 9, 3, FINGERPRINT);
            let keys: Vec<u64> = (0..=hashes.len() as u64).collect();
            for (n_before, (index, &hash)) in (1..).zip(&hashes).enumerate() {
                assert_eq!(
                    table.wants_more_for(n_before),
                    table.bits == 6 && n_before > 32 || n_before > 128
                );
                assert_eq!(put(&table, &meter, &keys, u64::from(index), hash, index), Found::Inserted(index));
            }
            for bits in [8, 9, 9] {
                table.grow::<Sound>(&meter, n_threads);
                assert_eq!(table.bits, bits);
                for (index, &hash) in (1..).zip(&hashes) {
                    let key = u64::from(index);
                    assert_eq!(put(&table, &meter, &keys, key, hash, 99), Found::There(index), "{bits} bits");
                    assert_eq!(table.find::<Sound>(hash, |_| false), None);
                }
                // Its words still tell their first slots.
                for part in table.parts(3) {
                    table.follow(&part, |index| index);
                }
            }
            assert!(!table.wants_more_for(1000));
            assert_eq!(meter.used(), 8 << 9, "the smaller ones are given back");
        }
    }

    #[test]
    fn a_table_without_room_to_grow_stays_as_it_is() {
        let meter = Meter::new(16 * 8 + 63 * 8);
        let mut table = Table::in_chunks(4, 10, 2, FINGERPRINT);
        let keys: Vec<u64> = (0..=8).collect();
        for index in 1..9u32 {
            let key = u64::from(index);
            assert_eq!(put(&table, &meter, &keys, key, spread(key), index), Found::Inserted(index));
        }
        assert!(table.wants_more_for(9));
        table.grow::<Sound>(&meter, 2);
        assert!(!table.wants_more_for(9) && meter.was_full());
        assert_eq!(meter.used(), 16 * 8);
        for index in 1..9u32 {
            let key = u64::from(index);
            assert_eq!(put(&table, &meter, &keys, key, spread(key), 99), Found::There(index));
        }
    }

    #[test]
    fn what_is_likely_is_what_a_look_up_finds_first() {
        let (table, meter) = (Table::new(6, 6), Meter::new(1 << 20));
        let hash = spread(7);
        assert_eq!(table.likely::<Sound>(hash), None, "nothing is there");
        assert!(table.insert::<Sound>(hash, &meter, 5));
        assert_eq!(table.likely::<Sound>(hash), Some(5));
        assert_eq!(table.likely::<Sound>(hash ^ FINGERPRINT >> 6), None, "another fingerprint");
    }

    #[test]
    fn a_full_table_says_so() {
        let meter = Meter::new(1 << 20);
        let table = Table::new(2, 2);
        let keys = [0, 1, 2, 3, 4];
        for index in 1..5u32 {
            assert_eq!(
                put(&table, &meter, &keys, u64::from(index), u64::from(index), index),
                Found::Inserted(index)
            );
        }
        assert_eq!(put(&table, &meter, &keys, 77, 77, 9), Found::Full);
        assert_eq!(put(&table, &meter, &keys, 2, 2, 9), Found::There(2));
    }
}
