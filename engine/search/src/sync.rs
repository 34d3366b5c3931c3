//! The one door to atomics and locks: the real ones, loom's under `cfg(loom)`, or shuttle's under `cfg(shuttle)`.
//!
//! No other file of this crate names `std::sync::atomic`, `parking_lot` or `crossbeam`, so that the model
//! checkers see every operation that threads could disagree about.

#[cfg(not(any(loom, shuttle)))]
pub(crate) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

#[cfg(shuttle)]
pub(crate) use shuttle::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

// Reference counts carry no data of ours, and chunk initialisation blocks by design: both stay real.
pub(crate) use std::sync::{Arc, OnceLock};

pub(crate) use crossbeam::channel;
pub(crate) use crossbeam::utils::CachePadded;

/// A lock without poisoning, for what is rare: a better line, an error's text, a chunk that is made. It is real under the model
/// checkers too, so threads of a model must not meet at one.
#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(parking_lot::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Mutex<T> {
        Mutex(parking_lot::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> parking_lot::MutexGuard<'_, T> {
        self.0.lock()
    }
}

/// A place that is written once, by the thread that made it, before its id is published.
///
/// # Orderings
/// Readers hold an id that was published with `Release` and read with `Acquire`; they rely on that and on
/// nothing inside the slot. So under loom the slot is deliberately `Relaxed`: a missing ordering outside
/// shows as an empty slot.
#[cfg(not(loom))]
#[derive(Debug)]
pub(crate) struct Slot<T>(OnceLock<T>);

#[cfg(not(loom))]
impl<T> Default for Slot<T> {
    fn default() -> Slot<T> {
        Slot(OnceLock::new())
    }
}

#[cfg(not(loom))]
impl<T> Slot<T> {
    /// Fills the slot; a second value is dropped.
    pub(crate) fn set(&self, value: T) {
        let was_empty = self.0.set(value).is_ok();
        debug_assert!(was_empty, "a slot is written once");
    }

    /// What is in it.
    pub(crate) fn get(&self) -> Option<&T> {
        self.0.get()
    }
}

#[cfg(loom)]
#[derive(Debug)]
pub(crate) struct Slot<T> {
    value: OnceLock<T>,
    is_set: AtomicBool,
}

#[cfg(loom)]
impl<T> Default for Slot<T> {
    fn default() -> Slot<T> {
        Slot { value: OnceLock::new(), is_set: AtomicBool::new(false) }
    }
}

#[cfg(loom)]
impl<T> Slot<T> {
    pub(crate) fn set(&self, value: T) {
        assert!(self.value.set(value).is_ok(), "a slot is written once");
        self.is_set.store(true, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> Option<&T> {
        if self.is_set.load(Ordering::Relaxed) { self.value.get() } else { None }
    }
}
