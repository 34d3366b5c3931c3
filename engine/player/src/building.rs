//! A reasoner that is built on a thread of its own, beside whatever goes on meanwhile.
//!
//! In goes the work of building, out comes a reasoner, or why there is none; a panic is a reason. It does not say
//! what may be spent: the work knows that, and ends when its interrupt is raised.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

use core_affinity::CoreId;
use reasoner::{Interrupt, ReasonerError};

/// The stack of the thread: rules nest at most 1000 levels.
const STACK_BYTES: usize = 32 << 20;

/// How often a stop is looked for.
const POLL: Duration = Duration::from_millis(10);

/// A reasoner that is being built. Dropping it ends the work, and waits until its thread is gone.
#[derive(Debug)]
pub struct Building<R> {
    /// Ends the work.
    cancel: Interrupt,
    built: Receiver<Result<R, ReasonerError>>,
    thread: Option<JoinHandle<()>>,
}

impl<R: Send + 'static> Building<R> {
    /// Begins to build, on a core if one is given. `cancel` has to end `build`; `when_done` is called on the same thread,
    /// once the result can be taken.
    ///
    /// # Errors
    /// If there is no thread to be had.
    pub fn begin(
        cancel: Interrupt,
        core: Option<usize>,
        build: impl FnOnce() -> Result<R, ReasonerError> + Send + 'static,
        when_done: impl FnOnce() + Send + 'static,
    ) -> Result<Building<R>, ReasonerError> {
        let (sender, built) = mpsc::sync_channel(1);
        let span = tracing::Span::current();
        let work = move || {
            let _entered = span.entered();
            if core.is_some_and(|id| !core_affinity::set_for_current(CoreId { id })) {
                tracing::warn!(core, "the thread that builds could not be pinned");
            }
            let panicked = |_| Err(ReasonerError::Engine("building the reasoner panicked".to_owned()));
            let result = catch_unwind(AssertUnwindSafe(build)).unwrap_or_else(panicked);
            // Whoever does not want it any more has dropped the other end.
            let _ = sender.send(result);
            when_done();
        };
        let thread = std::thread::Builder::new().name("build".to_owned()).stack_size(STACK_BYTES).spawn(work);
        let thread =
            thread.map_err(|error| ReasonerError::Engine(format!("no thread to build on: {error}")))?;
        Ok(Building { cancel, built, thread: Some(thread) })
    }

    /// Takes the result, if it is there and was not taken.
    pub fn take(&self) -> Option<Result<Arc<R>, ReasonerError>> {
        self.built.try_recv().ok().map(|result| result.map(Arc::new))
    }

    /// Waits for the result; `stop` ends the work.
    ///
    /// # Errors
    /// As the work, and if the result was taken.
    pub fn wait(&self, stop: &Interrupt) -> Result<Arc<R>, ReasonerError> {
        loop {
            match self.built.recv_timeout(POLL) {
                Ok(result) => return result.map(Arc::new),
                Err(RecvTimeoutError::Timeout) if stop.is_raised() => self.cancel.raise(),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(ReasonerError::Engine("what was built is taken".to_owned()));
                }
            }
        }
    }
}

impl<R> Drop for Building<R> {
    fn drop(&mut self) {
        self.cancel.raise();
        if let Some(thread) = self.thread.take() {
            // Its panics were caught; nothing is left to say.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn what_is_built_is_announced_and_taken_once() {
        let (sender, announced) = mpsc::channel();
        let building =
            Building::begin(Interrupt::new(), None, || Ok(7), move || sender.send(()).unwrap()).unwrap();
        announced.recv().unwrap();
        assert_eq!(building.take(), Some(Ok(Arc::new(7))));
        assert_eq!(building.take(), None);
    }

    #[test]
    fn a_panic_is_a_reason() {
        let building = Building::<u32>::begin(Interrupt::new(), None, || panic!("oh"), || {}).unwrap();
        let error = building.wait(&Interrupt::new()).unwrap_err();
        assert!(error.to_string().contains("panicked"), "{error}");
    }

    #[test]
    fn whoever_lets_go_of_it_ends_the_work_and_waits_for_its_thread() {
        let cancel = Interrupt::new();
        let is_over = Arc::new(AtomicBool::new(false));
        let (theirs, noted) = (cancel.clone(), Arc::clone(&is_over));
        let build = move || {
            while !theirs.is_raised() {
                std::thread::yield_now();
            }
            noted.store(true, Ordering::Relaxed);
            Err::<u32, _>(ReasonerError::Interrupted)
        };
        drop(Building::begin(cancel, None, build, || {}).unwrap());
        assert!(is_over.load(Ordering::Relaxed));
    }

    #[test]
    fn who_waits_can_stop_it() {
        let cancel = Interrupt::new();
        let theirs = cancel.clone();
        let build = move || {
            while !theirs.is_raised() {
                std::thread::yield_now();
            }
            Err::<u32, _>(ReasonerError::Interrupted)
        };
        let stop = Interrupt::new();
        stop.raise();
        let building = Building::begin(cancel, None, build, || {}).unwrap();
        assert_eq!(building.wait(&stop), Err(ReasonerError::Interrupted));
    }
}
