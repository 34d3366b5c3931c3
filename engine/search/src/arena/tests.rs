//! Chunks, arenas and their meter.

use super::*;

#[test]
fn runs_never_cross_a_chunk_and_never_overlap() {
    let meter = Meter::new(1 << 20);
    let arena = Arena::<AtomicU64>::new(64, 4, 8);
    let mut blocks = [Block::default(); 3];
    let mut seen = std::collections::HashSet::new();
    for i in 0..90 {
        let n = 1 + i % 5;
        let first = arena.reserve(&mut blocks[i % 3], n, &meter).expect("there is room") as usize;
        assert!(first > 0);
        assert_eq!(arena.items.slice(first, n).len(), n);
        assert!((first..first + n).all(|idx| seen.insert(idx)), "run {first}+{n}");
    }
}

#[test]
fn a_run_as_long_as_a_chunk_has_a_place() {
    let meter = Meter::new(1 << 20);
    let arena = Arena::<AtomicU64>::new(3, 4, 8);
    let take = |n| arena.reserve(&mut Block::default(), n, &meter);
    assert_eq!([take(16), take(16), take(1)], [Some(16), Some(32), None]);
    assert!(meter.is_full());
}

#[test]
fn the_meter_says_no_at_the_cap() {
    let meter = Meter::new(300);
    let arena = Arena::<AtomicU64>::new(64, 4, 16);
    let mut block = Block::default();
    let n = (0..1000).take_while(|_| arena.reserve(&mut block, 1, &meter).is_some()).count();
    assert_eq!(n, 32, "two chunks of 16 words of 8 bytes");
    assert!(meter.is_full());
    assert_eq!(meter.used(), 256);
}

/// Tells when it is dropped.
#[derive(Default)]
struct Tally(Option<std::sync::Arc<AtomicU64>>);

impl Drop for Tally {
    fn drop(&mut self) {
        if let Some(n_dropped) = &self.0 {
            n_dropped.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[test]
fn what_is_out_of_use_is_given_back_before_as_much_is_taken() {
    let chunk_bytes = 4 * size_of::<Tally>() as u64;
    let meter = Meter::new(4 * chunk_bytes);
    let n_dropped = std::sync::Arc::new(AtomicU64::new(0));
    let mut items = Chunks::<Tally>::new(8, 2, 0);
    for idx in 0..16 {
        assert!(items.ensure(idx, &meter));
        let chunk = items.chunks[idx >> 2].get_mut().expect("it is there");
        chunk[idx & 3] = Tally(Some(n_dropped.clone()));
    }
    (0..5).for_each(|to| items.exchange(11 + to, to, &meter));
    items.truncate(5, &meter);
    assert_eq!(n_dropped.load(Ordering::Relaxed), 3, "only what lies beside the last that stays");
    assert_eq!(meter.used(), 2 * chunk_bytes);
    assert!(items.ensure(8, &meter));
    assert_eq!(n_dropped.load(Ordering::Relaxed), 7);
    assert!(items.ensure(12, &meter) && !items.ensure(16, &meter));
    assert_eq!(n_dropped.load(Ordering::Relaxed), 11, "the cap's worth is in use");
}

/// Takes its time to begin.
struct Slow;

impl Default for Slow {
    fn default() -> Slow {
        std::thread::sleep(std::time::Duration::from_millis(50));
        Slow
    }
}

#[test]
fn a_chunk_that_many_threads_want_at_once_is_charged_once() {
    let chunk_bytes = 1000;
    let meter = Meter::new(3 * chunk_bytes);
    let items = Chunks::<Slow>::new(4, 0, chunk_bytes);
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| assert!(items.ensure(0, &meter), "there is room for it"));
        }
    });
    assert_eq!((meter.used(), meter.was_full()), (chunk_bytes, false));
    assert!((1..3).all(|idx| items.ensure(idx, &meter)) && !items.ensure(3, &meter));
    assert_eq!((meter.used(), meter.is_full()), (3 * chunk_bytes, true));
}

#[test]
fn a_run_longer_than_a_chunk_is_refused() {
    let meter = Meter::new(1 << 20);
    let arena = Arena::<AtomicU64>::new(64, 4, 16);
    assert_eq!(arena.reserve(&mut Block::default(), 17, &meter), None);
    assert!(!meter.is_full(), "others still fit");
}
