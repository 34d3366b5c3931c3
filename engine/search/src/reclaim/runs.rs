//! Where runs of items go that stay: edges, and words of side records.
//!
//! In goes, from all threads and in any order, which runs stay; out comes the new place of each, as low as it can be, in the order in
//! which they lie. Two bits for each item and a word for 32 of them: a list of runs would have to be sorted, and there
//! are as many as nodes.

use super::fates::{Marks, PER_WORD, bits_of};
use super::prepare;
use crate::arena::{Places, u32_of};

/// Items whose bits lie in one word.
const ITEMS: usize = PER_WORD / 2;

/// The bits of items that stay: of each item the lower one.
const STAYS: u64 = u64::MAX / 3;

/// The bits of items with which runs begin: of each item the higher one.
const STARTS: u64 = STAYS << 1;

/// Runs that stay, as threads come to them: both bits of each item, so that a run takes one addition to a word that others add to.
#[derive(Debug, Default)]
pub(super) struct Runs(Marks);

/// What is known of 32 items.
#[derive(Debug, Clone, Copy, Default)]
struct Word {
    bits: u64,
    /// The new place of the first of them that stays.
    first: u32,
    /// Leaps before it.
    n_leaps: u32,
}

/// Places that are left out since a run would cross the end of a chunk.
#[derive(Debug, Clone, Copy)]
struct Leap {
    /// The run's old place.
    from: u32,
    /// How many places.
    n: u32,
}

/// The new places of runs that stay.
#[derive(Debug, Default)]
pub(super) struct RunPlaces {
    words: Vec<Word>,
    leaps: Vec<Leap>,
    /// As before the first was taken.
    places: Places,
    end: usize,
}

impl Runs {
    /// Takes memory for an arena of so many items; see [`prepare`].
    pub(super) fn prepare(&mut self, n_items: usize, bytes_left: &mut usize) {
        self.0.prepare(2 * n_items, bytes_left);
    }

    /// Begins with none, in an arena of so many items.
    pub(super) fn begin(&mut self, n_items: usize) {
        self.0.begin(2 * n_items);
    }

    /// The run of `n` items from `first` on stays.
    pub(super) fn add(&self, first: u32, n: usize) {
        let (mut at, end) = (first as usize, first as usize + n);
        let mut start = 1 << 1;
        while at < end {
            let n_here = (ITEMS - at % ITEMS).min(end - at);
            let stay = STAYS >> (PER_WORD - 2 * n_here);
            self.0.add_all(at / ITEMS, (stay | start) << (2 * (at % ITEMS)));
            at += n_here;
            start = 0;
        }
    }
}

impl Word {
    /// Where runs begin, of the 32 items.
    fn starts(self) -> impl Iterator<Item = usize> {
        bits_of(self.bits & STARTS).map(|bit| bit / 2)
    }

    /// How many items in a row, from `at` on, stay and belong to a run that began before them.
    fn n_going_on(self, at: usize) -> usize {
        let bits = if at < ITEMS { self.bits >> (2 * at) } else { 0 };
        (bits ^ STAYS).trailing_zeros() as usize / 2
    }
}

impl RunPlaces {
    /// Takes memory for an arena of so many items; see [`prepare`].
    pub(super) fn prepare(&mut self, n_items: usize, bytes_left: &mut usize) {
        prepare(&mut self.words, n_items.div_ceil(ITEMS), bytes_left);
    }

    /// Begins with these runs, which are to lie from `places` on, and takes all memory that this takes.
    pub(super) fn begin(&mut self, runs: &Runs, places: Places) {
        let words =
            (0..runs.0.n_words()).map(|word_idx| Word { bits: runs.0.word(word_idx), first: 0, n_leaps: 0 });
        self.words.clear();
        self.words.extend(words);
        self.leaps.clear();
        // At most one to the beginning of each chunk.
        self.leaps.reserve((self.words.len() * ITEMS).div_ceil(places.chunk_len()));
        self.places = places;
    }

    /// Gives each run its place.
    pub(super) fn place(&mut self) {
        let mut places = self.places;
        // Where the last run ends.
        let mut end = 0;
        for word_idx in 0..self.words.len() {
            let first_here = word_idx * ITEMS;
            let n_of_last = usize::saturating_sub(end, first_here);
            self.words[word_idx].first = u32_of(places.end() - n_of_last);
            self.words[word_idx].n_leaps = u32_of(self.leaps.len());
            for at in self.words[word_idx].starts() {
                let (expected, n) = (places.end(), self.len_of_run(word_idx, at));
                let to = places.take(n);
                if to != expected {
                    self.leaps.push(Leap { from: u32_of(first_here + at), n: u32_of(to - expected) });
                }
                end = first_here + at + n;
            }
        }
        self.end = places.end();
    }

    /// The new place of a run that stays.
    #[inline]
    pub(super) fn of(&self, first: u32) -> u32 {
        let Word { bits, first: to, n_leaps } = self.words[first as usize / ITEMS];
        let n_below = (bits & STAYS & ((1 << (2 * (first as usize % ITEMS))) - 1)).count_ones();
        let leaps = self.leaps[n_leaps as usize..].iter().take_while(|leap| leap.from <= first);
        to + n_below + leaps.map(|leap| leap.n).sum::<u32>()
    }

    /// Gives each run to `each` in the order in which they lie: its old place, its new one, and how many items it has.
    pub(super) fn for_each(&self, mut each: impl FnMut(usize, usize, usize)) {
        let mut places = self.places;
        for (word_idx, word) in self.words.iter().enumerate() {
            for at in word.starts() {
                let n = self.len_of_run(word_idx, at);
                each(word_idx * ITEMS + at, places.take(n), n);
            }
        }
    }

    /// All new places lie below.
    pub(super) fn end(&self) -> usize {
        self.end
    }

    /// How many items the run has that begins there.
    fn len_of_run(&self, word_idx: usize, at: usize) -> usize {
        let mut n = 1 + self.words[word_idx].n_going_on(at + 1);
        let mut rest = self.words[word_idx + 1..].iter();
        let mut is_whole = at + n == ITEMS;
        while is_whole && let Some(word) = rest.next() {
            let n_here = word.n_going_on(0);
            n += n_here;
            is_whole = n_here == ITEMS;
        }
        n
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use reasoner::Dice;

    use super::*;
    use crate::arena::Arena;
    use crate::sync::AtomicU64;

    /// Runs in chunks of `chunk_len`, some of which go: where they begin and how long they are.
    fn random_runs(dice: &mut Dice, n_items: usize, chunk_len: usize) -> Vec<(usize, usize)> {
        let mut at = 8;
        let mut runs = Vec::new();
        while at < n_items {
            let most = (chunk_len - at % chunk_len).min(if dice.below(20) == 0 { chunk_len } else { 9 });
            let n = 1 + dice.below(most);
            if dice.below(4) > 0 && at + n <= n_items {
                runs.push((at, n));
            }
            at += n + [0, 0, 0, 3][dice.below(4)];
        }
        runs
    }

    #[test]
    fn runs_get_the_places_that_they_would_take_one_after_the_other() {
        let mut dice = Dice::new(5);
        let (mut them, mut places) = (Runs::default(), RunPlaces::default());
        for chunk_bits in [3, 5, 7, 9] {
            for n_items in [0, 8, 70, 1000, 5000] {
                let runs = random_runs(&mut dice, n_items, 1 << chunk_bits);
                let arena = Arena::<AtomicU64>::new(1024, chunk_bits, 8);
                them.begin(n_items);
                // In any order.
                runs.iter().rev().for_each(|&(first, n)| them.add(u32_of(first), n));
                places.begin(&them, arena.places());
                places.place();
                let mut taken = arena.places();
                let wanted: Vec<_> = runs.iter().map(|&(first, n)| (first, taken.take(n), n)).collect();
                let mut given = Vec::new();
                places.for_each(|first, to, n| given.push((first, to, n)));
                assert_eq!(given, wanted, "chunks of {} items", 1 << chunk_bits);
                assert_eq!(places.end(), taken.end());
                for (first, to, _) in wanted {
                    assert!(to <= first && places.of(u32_of(first)) as usize == to);
                }
            }
        }
    }
}
