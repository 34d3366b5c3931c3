//! What is made when it is first wanted, and kept.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use reasoner::{Interrupt, ReasonerError};

/// How it is made, unless it is interrupted.
type Make<T> = Box<dyn Fn(&Interrupt) -> Result<T, ReasonerError> + Send + Sync>;

/// Made once, for all threads. Why it cannot be made is kept too; an interrupt is no reason.
pub(crate) struct Lazily<T> {
    make: Make<T>,
    made: Mutex<Option<Result<Arc<T>, ReasonerError>>>,
}

impl<T> Lazily<T> {
    pub(crate) fn new(
        make: impl Fn(&Interrupt) -> Result<T, ReasonerError> + Send + Sync + 'static,
    ) -> Lazily<T> {
        Lazily { make: Box::new(make), made: Mutex::new(None) }
    }

    /// It, or why there is none. Whoever comes while it is made waits.
    pub(crate) fn get(&self, interrupt: &Interrupt) -> Result<Arc<T>, ReasonerError> {
        let mut made = self.made.lock();
        if let Some(made) = &*made {
            return made.clone();
        }
        let result = (self.make)(interrupt).map(Arc::new);
        if result.as_ref().err() != Some(&ReasonerError::Interrupted) {
            *made = Some(result.clone());
        }
        result
    }
}

impl<T> fmt::Debug for Lazily<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lazily").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn it_is_made_once_and_again_only_after_an_interrupt() {
        let n_made = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&n_made);
        let lazily = Lazily::new(move |interrupt: &Interrupt| {
            let number = counted.fetch_add(1, Ordering::Relaxed);
            if interrupt.is_raised() { Err(ReasonerError::Interrupted) } else { Ok(number) }
        });
        let interrupt = Interrupt::new();
        interrupt.raise();
        assert_eq!(lazily.get(&interrupt), Err(ReasonerError::Interrupted));
        interrupt.lower();
        assert_eq!((lazily.get(&interrupt), lazily.get(&interrupt)), (Ok(Arc::new(1)), Ok(Arc::new(1))));
        assert_eq!(n_made.load(Ordering::Relaxed), 2);
    }
}
