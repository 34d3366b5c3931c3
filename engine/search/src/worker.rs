//! A thread that owns a session and searches when it is told to.
//!
//! Sessions need not be `Send`, so each lives and dies on its worker's thread, and is kept from run to run.

use std::any::Any;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::{self, JoinHandle};

use reasoner::{Interrupt, Limits, Reasoner, ReasonerError};

use crate::SearchError;
use crate::best_line::BestLine;
use crate::counters::WorkerCounters;
use crate::graph::Graph;
use crate::history::History;
use crate::node::{NodeId, Status};
use crate::options::WorkLimit;
use crate::orders::Sound;
use crate::playout::{Setting, Walker};
use crate::scheme::Scheme;
use crate::sync::{Arc, AtomicBool, AtomicU64, CachePadded, Mutex, Ordering, channel};
use crate::work::{Pace, Stopwatch};

/// Numbers taken at a time: the counter's cache line travels between cores that much less often.
const TICKET_BLOCK: u64 = 16;

/// The numbers of a run's playouts: each is made once, by whoever takes it.
///
/// # Orderings
/// `Relaxed`: uniqueness is all it gives.
#[derive(Debug)]
pub(crate) struct Tickets {
    next: CachePadded<AtomicU64>,
    end: u64,
    wants_room: AtomicBool,
}

impl Tickets {
    /// The numbers from `start` on, `n` of them or without end.
    pub(crate) fn new(start: u64, n: Option<u64>) -> Tickets {
        Tickets {
            next: CachePadded::new(AtomicU64::new(start)),
            end: n.map_or(u64::MAX, |n| start.saturating_add(n)),
            wants_room: AtomicBool::new(false),
        }
    }

    /// Some numbers not taken yet; none are left if it is empty.
    fn take(&self, n: u64) -> Range<u64> {
        // Each worker overshoots by at most one block.
        let first = self.next.fetch_add(n, Ordering::Relaxed);
        first.min(self.end)..first.saturating_add(n).min(self.end)
    }

    /// Asks for room in the graph, on behalf of a worker that stops for it.
    fn ask_for_room(&self) {
        self.wants_room.store(true, Ordering::Relaxed);
    }

    /// Whether some worker has stopped for lack of room since the last call.
    pub(crate) fn take_wish(&self) -> bool {
        self.wants_room.swap(false, Ordering::Relaxed)
    }

    /// The first number not taken.
    pub(crate) fn next(&self) -> u64 {
        self.next.load(Ordering::Relaxed).min(self.end)
    }
}

/// A part of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    /// Open the root, for one worker while the others wait: they could only roll out from it meanwhile.
    OpenRoot,
    /// Make playouts.
    Search,
    /// Make more of them in the same run, after a pause: work counts from where it began.
    Resume,
}

/// What one run asks of a worker.
#[derive(Debug)]
pub(crate) struct Job<S> {
    pub(crate) task: Task,
    pub(crate) graph: Arc<Graph<S>>,
    pub(crate) root: NodeId,
    pub(crate) scheme: Arc<Scheme>,
    pub(crate) history: Option<Arc<History>>,
    pub(crate) seed: u64,
    pub(crate) best_line: Arc<BestLine<S>>,
    pub(crate) tickets: Arc<Tickets>,
    pub(crate) work: Option<WorkLimit>,
    /// Whether to stop as soon as the graph is full, so that room can be made.
    pub(crate) stops_when_full: bool,
    /// Whether to stop as soon as a table is too small, so that it can grow.
    pub(crate) stops_for_tables: bool,
    /// Whether to stop as soon as the choice at the root is proven.
    pub(crate) stops_when_decided: bool,
    /// Whether the run ends at some moment, known or not, so that no batch may take long.
    pub(crate) is_timed: bool,
    /// The text of the last error.
    pub(crate) last_error: Arc<Mutex<Option<String>>>,
}

/// What a worker says.
#[derive(Debug)]
pub(crate) enum Reply {
    /// Its session is there, or not.
    Ready(Result<(), ReasonerError>),
    /// It has done its job.
    Done,
    /// It panicked, and dropped its session.
    Panicked(String),
}

/// What a worker is made with.
#[derive(Debug)]
pub(crate) struct Making<R> {
    pub(crate) reasoner: Arc<R>,
    pub(crate) limits: Limits,
    pub(crate) interrupt: Interrupt,
    /// The core to pin to.
    pub(crate) core: Option<usize>,
    pub(crate) replies: channel::Sender<Reply>,
}

/// The searcher's end of a worker.
#[derive(Debug)]
pub(crate) struct Worker<S> {
    jobs: Option<channel::Sender<Job<S>>>,
    thread: Option<JoinHandle<()>>,
    pub(crate) counters: Arc<CachePadded<WorkerCounters>>,
}

impl<S: Send + Sync + 'static> Worker<S> {
    /// Starts the thread, which answers [`Reply::Ready`].
    ///
    /// # Errors
    /// If there is no thread to have.
    pub(crate) fn start<R: Reasoner<State = S>>(
        worker_idx: usize,
        making: Making<R>,
    ) -> Result<Worker<S>, SearchError> {
        let (sender, receiver) = channel::unbounded();
        let counters = Arc::new(CachePadded::new(WorkerCounters::default()));
        let theirs = Arc::clone(&counters);
        let thread = thread::Builder::new()
            .name(format!("search-{worker_idx}"))
            .spawn(move || work(&making, &receiver, &theirs))
            .map_err(SearchError::Spawn)?;
        Ok(Worker { jobs: Some(sender), thread: Some(thread), counters })
    }

    /// Gives it a part in a run; false if the thread is gone.
    pub(crate) fn give(&self, job: Job<S>) -> bool {
        self.jobs.as_ref().is_some_and(|jobs| jobs.send(job).is_ok())
    }

    /// Tells it that there will be no more jobs.
    pub(crate) fn dismiss(&mut self) {
        self.jobs = None;
    }

    /// Waits until it is gone.
    pub(crate) fn join(&mut self) {
        if let Some(thread) = self.thread.take() {
            // Its panics were caught and reported; nothing is left to say.
            let _ = thread.join();
        }
    }
}

fn work<R: Reasoner>(making: &Making<R>, jobs: &channel::Receiver<Job<R::State>>, counters: &WorkerCounters) {
    if let Some(id) = making.core {
        // The core is there; if the system refuses it all the same, the worker stays where it is.
        if !core_affinity::set_for_current(core_affinity::CoreId { id }) {
            tracing::warn!(core = id, "a worker could not be pinned");
        }
    }
    let mut walker = None;
    let mut stopwatch = None;
    // A worker that dies without a word would be waited for.
    let made = catch_unwind(AssertUnwindSafe(|| make_walker(making)));
    let ready = match made {
        Ok(made) => Reply::Ready(made.map(|made| walker = Some(made))),
        Err(panic) => Reply::Panicked(text_of(panic.as_ref())),
    };
    // A searcher that is gone needs no reply, here and below.
    if making.replies.send(ready).is_err() {
        return;
    }
    for job in jobs {
        let done = catch_unwind(AssertUnwindSafe(|| {
            search(making, &mut walker, &mut stopwatch, &job, counters);
        }));
        // The graph must be the searcher's alone when it hears of the end.
        drop(job);
        let reply = match done {
            Ok(()) => Reply::Done,
            Err(panic) => {
                walker = None;
                Reply::Panicked(text_of(panic.as_ref()))
            }
        };
        if making.replies.send(reply).is_err() {
            return;
        }
    }
}

fn make_walker<R: Reasoner>(making: &Making<R>) -> Result<Walker<R>, ReasonerError> {
    let session = making.reasoner.session(making.limits, &making.interrupt)?;
    Ok(Walker::new(session, making.interrupt.clone()))
}

/// A worker's part in a run.
fn search<R: Reasoner>(
    making: &Making<R>,
    walker: &mut Option<Walker<R>>,
    stopwatch: &mut Option<Stopwatch>,
    job: &Job<R::State>,
    counters: &WorkerCounters,
) {
    let note = |error: &ReasonerError| *job.last_error.lock() = Some(error.to_string());
    let walker = match walker {
        Some(walker) => walker,
        None => match make_walker(making) {
            Ok(made) => walker.insert(made),
            Err(error) => return note(&error),
        },
    };
    walker.leave_graph();
    let setting = Setting {
        graph: &job.graph,
        root: job.root,
        scheme: &job.scheme,
        history: job.history.as_deref(),
        seed: job.seed,
        max_goal: making.reasoner.max_goal(),
        best_line: &job.best_line,
        counters,
    };
    if job.task == Task::OpenRoot {
        match walker.open_root(setting) {
            Ok(()) | Err(ReasonerError::Interrupted) => {}
            Err(error) => note(&error),
        }
        return;
    }
    if job.graph.node(job.root).status::<Sound>() == Status::Terminal {
        return;
    }
    if job.task == Task::Search {
        *stopwatch = job.work.map(Stopwatch::start);
    }
    make_playouts(making, walker, stopwatch.as_mut(), job, setting);
    walker.flush(setting);
    if let Some(stopwatch) = stopwatch {
        stopwatch.look(&counters.work_ns);
    }
}

/// Makes playouts until there are no more to be made.
fn make_playouts<R: Reasoner>(
    making: &Making<R>,
    walker: &mut Walker<R>,
    mut stopwatch: Option<&mut Stopwatch>,
    job: &Job<R::State>,
    setting: Setting<'_, R::State>,
) {
    let note = |error: &ReasonerError| *job.last_error.lock() = Some(error.to_string());
    let counters = setting.counters;
    let solver = job.scheme.solver.as_ref().filter(|_| job.stops_when_decided);
    let mut numbers = 0..0;
    let mut pace = Pace::new(job.scheme.batch, job.is_timed);
    while !making.interrupt.is_raised()
        && !stopwatch.as_mut().is_some_and(|stopwatch| stopwatch.is_over(&counters.work_ns))
    {
        if solver.is_some_and(|solver| solver.is_decided(&job.graph, job.root)) {
            return;
        }
        if numbers.is_empty() {
            if job.stops_when_full && job.graph.meter.is_full()
                || job.stops_for_tables && job.graph.wants_larger_tables()
            {
                job.tickets.ask_for_room();
                return;
            }
            numbers = job.tickets.take(TICKET_BLOCK.max(job.scheme.batch));
        }
        if numbers.is_empty() {
            return;
        }
        let end = numbers.end.min(numbers.start.saturating_add(pace.batch));
        let (started, n_leaves) = (pace.begin(), end - numbers.start);
        let batch = std::mem::replace(&mut numbers.start, end)..end;
        walker.play_out(setting, batch, &mut |error| match error {
            ReasonerError::Interrupted => counters.interrupted_playouts.add(1),
            error => {
                counters.failed_playouts.add(1);
                note(error);
            }
        });
        pace.end(started, n_leaves);
    }
}

fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}
