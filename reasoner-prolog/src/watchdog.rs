//! Hands interrupts and limits to Prolog: a query that runs does not look at an [`Interrupt`] by itself, and
//! Prolog's count of inferences against a limit costs a tenth to a fifth of all time.
//!
//! One thread per reasoner looks every few milliseconds at the sessions that ask. Where the interrupt is raised, it
//! makes Prolog throw in that session's thread; where a question is as old as two looks, it sets the limit of
//! inferences there, so that only long questions pay for it. It sleeps while there is no session and ends with
//! the reasoner.

use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use reasoner::Interrupt;

use crate::engine::{Engine, PrologError};

/// How often interrupts are looked at.
const POLL: Duration = Duration::from_millis(3);

/// The look at which a question gets its limit: the first may fall into its first microsecond.
const LOOKS_BEFORE_LIMIT: u32 = 2;

/// One session as the watchdog sees it.
#[derive(Debug)]
pub(crate) struct Watched {
    thread: i32,
    interrupt: Interrupt,
    state: Mutex<State>,
}

/// A signal is only sent while a question is open, with the lock held: it cannot hit a later one.
#[derive(Debug, Default)]
struct State {
    /// The inferences that the open question may take; none while no question is open.
    steps: Option<u64>,
    /// Looks of the watchdog at the open question.
    n_looks: u32,
    is_limited: bool,
    is_interrupted: bool,
}

impl Watched {
    /// Does the work of one question; it ends with [`PrologError::Interrupted`] if the interrupt is raised, and
    /// with [`PrologError::TooManySteps`] after that many inferences and what Prolog makes in some milliseconds.
    pub(crate) fn ask<T, E: From<PrologError>>(
        &self,
        engine: &Engine,
        steps: u64,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        if self.interrupt.is_raised() {
            return Err(PrologError::Interrupted.into());
        }
        self.state.lock().steps = Some(steps);
        let over = Over { watched: self, engine };
        let answer = work();
        drop(over);
        answer
    }
}

/// Ends a question when it goes, also by a panic.
struct Over<'a> {
    watched: &'a Watched,
    engine: &'a Engine,
}

impl Drop for Over<'_> {
    fn drop(&mut self) {
        let state = std::mem::take(&mut *self.watched.state.lock());
        if state.is_interrupted || state.is_limited {
            self.engine.calm();
        }
    }
}

/// The thread and what it looks at.
#[derive(Debug)]
pub(crate) struct Watchdog {
    pen: Arc<Pen>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Pen {
    watched: Mutex<Sessions>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Sessions {
    all: Vec<Weak<Watched>>,
    is_over: bool,
}

impl Watchdog {
    /// Starts the thread.
    ///
    /// # Errors
    /// If the system has no thread or Prolog no engine left.
    pub(crate) fn start() -> Result<Watchdog, String> {
        let pen = Arc::new(Pen::default());
        let (ready, is_ready) = std::sync::mpsc::channel();
        let thread = std::thread::Builder::new()
            .name("prolog watchdog".to_owned())
            .spawn({
                let pen = Arc::clone(&pen);
                move || match Engine::of_this_thread() {
                    Ok(engine) => {
                        _ = ready.send(Ok(()));
                        watch(&engine, &pen);
                    }
                    Err(error) => _ = ready.send(Err(error)),
                }
            })
            .map_err(|error| format!("a thread that watches SWI-Prolog cannot start: {error}"))?;
        is_ready.recv().map_err(|_| "the thread that watches SWI-Prolog ended".to_owned())??;
        Ok(Watchdog { pen, thread: Some(thread) })
    }

    /// Watches this thread until the answer is dropped.
    pub(crate) fn watch(&self, engine: &Engine, interrupt: &Interrupt) -> Arc<Watched> {
        let watched = Arc::new(Watched {
            thread: engine.thread(),
            interrupt: interrupt.clone(),
            state: Mutex::default(),
        });
        self.pen.watched.lock().all.push(Arc::downgrade(&watched));
        self.pen.changed.notify_one();
        watched
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.pen.watched.lock().is_over = true;
        self.pen.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            // It does not panic; if it did, there is nobody to tell.
            _ = thread.join();
        }
    }
}

fn watch(engine: &Engine, pen: &Pen) {
    let mut sessions = pen.watched.lock();
    while !sessions.is_over {
        sessions.all.retain(|watched| watched.strong_count() > 0);
        for watched in sessions.all.iter().filter_map(Weak::upgrade) {
            let mut state = watched.state.lock();
            let Some(steps) = state.steps else { continue };
            state.n_looks += 1;
            if watched.interrupt.is_raised() && !state.is_interrupted {
                state.is_interrupted = engine.interrupt(watched.thread).is_ok();
            } else if state.n_looks >= LOOKS_BEFORE_LIMIT && !state.is_limited {
                state.is_limited = engine.limit_inferences(watched.thread, steps).is_ok();
            }
        }
        if sessions.all.is_empty() {
            pen.changed.wait(&mut sessions);
        } else {
            pen.changed.wait_for(&mut sessions, POLL);
        }
    }
}
