//! Stopping a query from another thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A flag that stops the sessions made with it: while it is raised, every query ends soon with
/// [`ReasonerError::Interrupted`](crate::ReasonerError::Interrupted). Clones are the same flag.
///
/// # Orderings
/// `Relaxed`: the flag carries no data, and being seen a little later does no harm.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// A flag of its own, not raised.
    pub fn new() -> Interrupt {
        Interrupt::default()
    }

    /// Stops what runs, and what is asked until [`Interrupt::lower`].
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Lets queries run again.
    pub fn lower(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// Whether the flag is raised.
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
