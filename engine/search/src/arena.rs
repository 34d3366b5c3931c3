//! Memory by index: chunks that come when needed and stay where they are.

use std::fmt;

use crate::sync::{AtomicBool, AtomicU32, AtomicU64, CachePadded, Mutex, OnceLock, Ordering};

/// Bytes used, against a cap.
///
/// Memory may be stale: taken out of use, and so not counted as used, but not yet given back, since that takes long where
/// millions of states own memory. Whoever takes memory gives as much of it back first, so that both together never pass
/// the cap.
///
/// # Orderings
/// `Relaxed`: counts only.
#[derive(Debug)]
pub(crate) struct Meter {
    used: CachePadded<AtomicU64>,
    has_stale: AtomicBool,
    stale: Mutex<Stale>,
    cap: u64,
    is_full: AtomicBool,
    was_full: AtomicBool,
}

/// What is no longer used, with the bytes that were charged for it.
#[derive(Default)]
struct Stale(Vec<(u64, Box<dyn Send>)>);

impl fmt::Debug for Stale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(bytes, _)| bytes)).finish()
    }
}

impl Meter {
    pub(crate) fn new(cap: u64) -> Meter {
        Meter {
            used: CachePadded::new(AtomicU64::new(0)),
            has_stale: AtomicBool::new(false),
            stale: Mutex::default(),
            cap,
            is_full: AtomicBool::new(false),
            was_full: AtomicBool::new(false),
        }
    }

    /// Takes `bytes` if they fit below the cap; otherwise the graph is full from now on.
    pub(crate) fn charge(&self, bytes: u64) -> bool {
        let before = self.used.fetch_add(bytes, Ordering::Relaxed);
        if before + bytes <= self.cap {
            self.give_back(bytes);
            return true;
        }
        self.refund(bytes);
        self.declare_full();
        false
    }

    fn refund(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// What was charged for is out of use; its memory is given back by and by.
    fn retire(&self, bytes: u64, memory: Box<dyn Send>) {
        self.refund(bytes);
        self.stale.lock().0.push((bytes, memory));
        self.has_stale.store(true, Ordering::Relaxed);
    }

    /// Gives at least so many bytes back of what is out of use, or all of it.
    fn give_back(&self, bytes: u64) {
        let mut given = 0;
        while given < bytes && self.has_stale.load(Ordering::Relaxed) {
            // Dropped without the lock: others give the next piece back meanwhile.
            let last = self.stale.lock().0.pop();
            match last {
                Some((bytes, _)) => given += bytes,
                None => self.has_stale.store(false, Ordering::Relaxed),
            }
        }
    }

    /// Takes `bytes` whether they fit or not: for what soon gives more back.
    fn charge_for_now(&self, bytes: u64) {
        self.used.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Nothing is added from now on.
    pub(crate) fn declare_full(&self) {
        self.is_full.store(true, Ordering::Relaxed);
        self.was_full.store(true, Ordering::Relaxed);
    }

    /// There is room again.
    pub(crate) fn reopen(&mut self) {
        self.is_full.store(false, Ordering::Relaxed);
    }

    /// Whether the cap was met at any time, so that playouts may have ended behind edges for lack of room.
    pub(crate) fn was_full(&self) -> bool {
        self.was_full.load(Ordering::Relaxed)
    }

    /// Whether the cap was met.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Relaxed)
    }

    /// Bytes used.
    pub(crate) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Bytes that may be used.
    pub(crate) fn cap(&self) -> u64 {
        self.cap
    }
}

/// Items under the indices from 0, in chunks of equal length, a power of two, made on demand.
#[derive(Debug)]
pub(crate) struct Chunks<T> {
    chunks: Box<[OnceLock<Box<[T]>>]>,
    /// By chunk, held by the thread that makes it: one charges for it, and the others wait. It is a byte each.
    making: Box<[Mutex<()>]>,
    chunk_bits: u32,
    /// What one item costs, with what it owns elsewhere.
    item_bytes: u64,
}

impl<T: Default> Chunks<T> {
    /// Room for `n_chunks` chunks of 2^`chunk_bits` items; `extra_bytes` is what an item owns elsewhere.
    pub(crate) fn new(n_chunks: usize, chunk_bits: u32, extra_bytes: u64) -> Chunks<T> {
        let chunks = (0..n_chunks).map(|_| OnceLock::new()).collect();
        let making = (0..n_chunks).map(|_| Mutex::new(())).collect();
        Chunks { chunks, making, chunk_bits, item_bytes: size_of::<T>() as u64 + extra_bytes }
    }

    /// What one item costs.
    pub(crate) fn item_bytes(&self) -> u64 {
        self.item_bytes
    }

    /// Items in a chunk.
    pub(crate) fn chunk_len(&self) -> usize {
        1 << self.chunk_bits
    }

    /// Items in all chunks that could be.
    pub(crate) fn capacity(&self) -> usize {
        self.chunks.len() << self.chunk_bits
    }

    /// Makes the chunk of `idx` be there, at the meter's expense; false if it cannot be.
    pub(crate) fn ensure(&self, idx: usize, meter: &Meter) -> bool {
        let chunk_idx = idx >> self.chunk_bits;
        let Some(chunk) = self.chunks.get(chunk_idx) else {
            meter.declare_full();
            return false;
        };
        chunk.get().is_some() || self.make(chunk_idx, meter)
    }

    /// Makes a chunk that was not there; false if there is no room for it.
    #[cold]
    fn make(&self, chunk_idx: usize, meter: &Meter) -> bool {
        let _making = self.making[chunk_idx].lock();
        let chunk = &self.chunks[chunk_idx];
        // Another thread may have made it meanwhile.
        let is_there = chunk.get().is_some() || meter.charge(self.chunk_bytes());
        if is_there {
            chunk.get_or_init(|| self.new_chunk());
        }
        is_there
    }

    fn new_chunk(&self) -> Box<[T]> {
        (0..self.chunk_len()).map(|_| T::default()).collect()
    }

    /// What a chunk costs.
    fn chunk_bytes(&self) -> u64 {
        self.item_bytes << self.chunk_bits
    }

    /// The item, if its chunk is there.
    pub(crate) fn get(&self, idx: usize) -> Option<&T> {
        let chunk = self.chunks.get(idx >> self.chunk_bits)?.get()?;
        Some(&chunk[idx & (self.chunk_len() - 1)])
    }

    /// The item.
    ///
    /// # Panics
    /// If its chunk is not there: ids are given out only after it is.
    pub(crate) fn at(&self, idx: usize) -> &T {
        match self.get(idx) {
            Some(item) => item,
            None => panic!("item {idx} lies in no chunk: ids come from reserve"),
        }
    }

    /// Gives every item to `each` that lies in a chunk that is there.
    pub(crate) fn for_each(&self, each: impl FnMut(&T)) {
        self.chunks.iter().filter_map(OnceLock::get).flat_map(|chunk| chunk.iter()).for_each(each);
    }

    /// The items of a chunk, by its number; none if nobody had use for it yet.
    pub(crate) fn chunk(&self, chunk_idx: usize) -> &[T] {
        self.chunks.get(chunk_idx).and_then(OnceLock::get).map_or(&[], |chunk| chunk)
    }

    /// Makes a place be there, whether its chunk fits or not: for what slides down, and below it there may be a chunk that
    /// nobody had use for yet.
    fn ensure_for_now(&self, idx: usize, meter: &Meter) {
        self.chunks[idx >> self.chunk_bits].get_or_init(|| {
            meter.charge_for_now(self.chunk_bytes());
            self.new_chunk()
        });
    }

    /// Copies a run of `n` items to a place below it, each item over what is gone by now. Both lie in one chunk.
    pub(crate) fn slide(&self, from: usize, to: usize, n: usize, meter: &Meter)
    where
        T: Overwrite,
    {
        if from == to || n == 0 {
            return;
        }
        self.ensure_for_now(to, meter);
        for (place, item) in self.slice(to, n).iter().zip(self.slice(from, n)) {
            place.overwrite(item);
        }
    }

    /// Exchanges an item with one at a place below it.
    pub(crate) fn exchange(&mut self, from: usize, to: usize, meter: &Meter) {
        if from == to {
            return;
        }
        self.ensure_for_now(to, meter);
        let (low, high) = (to >> self.chunk_bits, from >> self.chunk_bits);
        let within = self.chunk_len() - 1;
        let chunks = &mut self.chunks;
        if low == high {
            if let Some(chunk) = chunks[low].get_mut() {
                chunk.swap(from & within, to & within);
            }
        } else if let Ok([low, high]) = chunks.get_disjoint_mut([low, high])
            && let (Some(low), Some(high)) = (low.get_mut(), high.get_mut())
        {
            std::mem::swap(&mut low[to & within], &mut high[from & within]);
        }
    }

    /// Makes all items from `end` on as new; chunks that hold nothing else are given back by and by.
    pub(crate) fn truncate(&mut self, end: usize, meter: &Meter)
    where
        T: Send + 'static,
    {
        let bytes = self.chunk_bytes();
        let n_kept = end.div_ceil(self.chunk_len());
        let within = self.chunk_len() - 1;
        if end & within != 0
            && let Some(last) = self.chunks.get_mut(end >> self.chunk_bits).and_then(OnceLock::get_mut)
        {
            last[end & within..].fill_with(T::default);
        }
        for chunk in self.chunks.iter_mut().skip(n_kept).filter_map(OnceLock::take) {
            meter.retire(bytes, Box::new(chunk));
        }
    }

    /// `n` items from `first`, which lie in one chunk.
    ///
    /// # Panics
    /// If they do not.
    pub(crate) fn slice(&self, first: usize, n: usize) -> &[T] {
        match self.chunks[first >> self.chunk_bits].get() {
            Some(chunk) => &chunk[first & (self.chunk_len() - 1)..][..n],
            None => panic!("item {first} lies in no chunk: ids come from reserve"),
        }
    }
}

/// What can be copied into a place that others may refer to, while nobody else is there.
pub(crate) trait Overwrite {
    /// Makes `self` hold what `other` holds.
    fn overwrite(&self, other: &Self);
}

impl Overwrite for AtomicU64 {
    fn overwrite(&self, other: &AtomicU64) {
        self.store(other.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

impl Overwrite for AtomicU32 {
    fn overwrite(&self, other: &AtomicU32) {
        self.store(other.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

/// Chunks whose items are given out in order; index 0 names none.
#[derive(Debug)]
pub(crate) struct Arena<T> {
    pub(crate) items: Chunks<T>,
    /// Everything below is given out. `Relaxed`: uniqueness is all it gives.
    next: CachePadded<AtomicU64>,
    /// Items that a thread takes at a time.
    block_len: usize,
}

/// Gives runs of items their places, each as low as it can be: never above where it was, if they come in order.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Places {
    next: usize,
    chunk_len: usize,
}

impl Places {
    /// The place of the next run of `n`, at most a chunk's length.
    pub(crate) fn take(&mut self, n: usize) -> usize {
        // A chunk's length is a power of two.
        if (self.next & (self.chunk_len - 1)) + n > self.chunk_len {
            self.next = self.next.next_multiple_of(self.chunk_len);
        }
        let first = self.next;
        self.next += n;
        first
    }

    /// Every place given lies below.
    pub(crate) fn end(&self) -> usize {
        self.next
    }

    /// Items in a chunk.
    pub(crate) fn chunk_len(&self) -> usize {
        self.chunk_len
    }
}

/// The items that one thread may still use without asking others.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Block {
    next: usize,
    end: usize,
}

impl<T: Default> Arena<T> {
    pub(crate) fn new(n_chunks: usize, chunk_bits: u32, block_len: usize) -> Arena<T> {
        let items = Chunks::new(n_chunks, chunk_bits, 0);
        let block_len = block_len.min(items.chunk_len());
        // The first block is left out as a whole, so that blocks stay aligned to chunks.
        Arena { items, next: CachePadded::new(AtomicU64::new(block_len as u64)), block_len }
    }

    /// The first index of `n` unused neighbours in one chunk; none if there is no memory for them, or they
    /// are more than a chunk.
    pub(crate) fn reserve(&self, block: &mut Block, n: usize, meter: &Meter) -> Option<u32> {
        if block.end - block.next < n {
            // A long run gets a block of its own; what is left of the current one stays for shorter ones.
            if n > self.block_len / 4 {
                return Some(u32_of(self.claim(n, meter)?));
            }
            let first = self.claim(self.block_len, meter)?;
            *block = Block { next: first, end: first + self.block_len };
        }
        let first = block.next;
        block.next += n;
        Some(u32_of(first))
    }

    fn claim(&self, n: usize, meter: &Meter) -> Option<usize> {
        let chunk_len = self.items.chunk_len();
        if n > chunk_len {
            return None;
        }
        let taken_from = |next: u64| {
            let mut places = Places { next: usize_of(next), chunk_len };
            (places.take(n), places.end())
        };
        let capacity = self.items.capacity();
        let next = self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |next| {
            let (_, end) = taken_from(next);
            (end <= capacity).then_some(end as u64)
        });
        match next.map(|next| taken_from(next).0) {
            Ok(first) => self.items.ensure(first, meter).then_some(first),
            Err(_) => {
                meter.declare_full();
                None
            }
        }
    }

    /// Where items may lie that slide down, from the first on.
    pub(crate) fn places(&self) -> Places {
        Places { next: self.block_len, chunk_len: self.items.chunk_len() }
    }

    /// Begins to give out indices at `end` again, now that everything lies below, and gives back what is not needed.
    pub(crate) fn end_at(&mut self, end: usize, meter: &Meter)
    where
        T: Send + 'static,
    {
        self.items.truncate(end, meter);
        let next = end.next_multiple_of(self.block_len);
        self.next.store(next as u64, Ordering::Relaxed);
    }

    /// Every index given out is below; some below may never have been used.
    pub(crate) fn end(&self) -> usize {
        usize_of(self.next.load(Ordering::Relaxed)).min(self.items.capacity())
    }
}

/// Ids are 32 bits wide: an arena's capacity is limited to that when it is made.
#[allow(clippy::cast_possible_truncation, reason = "capacities are at most 2^32")]
pub(crate) fn u32_of(idx: usize) -> u32 {
    debug_assert!(u32::try_from(idx).is_ok());
    idx as u32
}

/// Counters that index memory fit the address space.
#[allow(clippy::cast_possible_truncation, reason = "usize has 64 bits wherever the engine runs")]
pub(crate) fn usize_of(word: u64) -> usize {
    word as usize
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
