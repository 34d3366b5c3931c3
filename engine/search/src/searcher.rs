//! The search of one match: its graph, its workers, and the position it thinks about.

mod room;
mod root;
mod watch;

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

use reasoner::{Interrupt, Reasoner};

use self::room::Expectation;
use self::root::new_graph;
use self::watch::Watch;
use crate::best_line::BestLine;
use crate::config::{FinalMove, Unexplored};
use crate::counters::Counters;
use crate::error::SearchError;
use crate::graph::{Graph, RecordBytes};
use crate::history::History;
use crate::node::{NodeId, Status};
use crate::options::{Budget, Options};
use crate::orders::Sound;
use crate::reclaim::Scratch;
use crate::report::{self, Failures, Reclaims, Report, TableReport};
use crate::scheme::Scheme;
use crate::sync::{Arc, Mutex, channel};
use crate::verify::{GraphSummary, VerifyError};
use crate::worker::{Job, Making, Reply, Task, Tickets, Worker};

/// How much there is in a graph.
#[derive(Debug, Clone, Copy, Default)]
struct Holdings {
    n_nodes: u64,
    n_edges: u64,
}

/// Searches one game from the positions that a match passes through.
///
/// Threads and sessions are made once and kept from run to run; between runs they sleep.
#[derive(Debug)]
pub struct Searcher<R: Reasoner> {
    reasoner: Arc<R>,
    options: Options,
    scheme: Arc<Scheme>,
    /// What moves were worth, over the whole match.
    history: Option<Arc<History>>,
    seed: u64,
    // Change with the root.
    graph: Arc<Graph<R::State>>,
    root: Option<NodeId>,
    /// All roots that this graph has had.
    roots: Vec<NodeId>,
    best_line: Arc<BestLine<R::State>>,
    /// What the last run found in this graph.
    before: Holdings,
    /// What was taken from the graph during this run.
    taken: Holdings,
    /// Whether the root has moved since the graph was last cleared of what it does not lead to.
    has_left: bool,
    reclaims: Reclaims,
    /// How long the next one takes.
    expectation: Expectation,
    /// What reclaiming writes down.
    scratch: Scratch,
    /// How often tables grew, and how long it took.
    growths: (u64, Duration),
    /// How long reclaiming may hold the search up.
    max_pause: Duration,
    // Change with each run.
    /// Whether the run goes on in a full graph: reclaiming gave too little room, or there was no time for it.
    is_exhausted: bool,
    /// Whether the run goes on with tables that should be larger, for lack of time.
    is_cramped: bool,
    /// The number of the next playout.
    next_number: u64,
    seconds: f64,
    last_error: Arc<Mutex<Option<String>>>,
    /// Whether a worker panicked, so that the graph may hold traces of unfinished playouts.
    is_tainted: bool,
    // Fixed.
    interrupt: Interrupt,
    workers: Vec<Worker<R::State>>,
    replies: channel::Receiver<Reply>,
}

impl<R: Reasoner> Searcher<R> {
    /// Starts the workers, each with a session.
    ///
    /// # Errors
    /// If an option is out of its bounds, a thread cannot be had, or the reasoner gives no session.
    pub fn new(reasoner: Arc<R>, options: Options) -> Result<Searcher<R>, SearchError> {
        options.check()?;
        let interrupt = Interrupt::new();
        let (sender, replies) = channel::unbounded();
        let seed = options.seed.unwrap_or_else(|| RandomState::new().hash_one(Instant::now()));
        let scheme =
            Scheme::new(&options, reasoner.max_goal(), reasoner.n_roles(), reasoner.n_side_by_side());
        let history = match scheme.unexplored {
            Unexplored::Uniform => None,
            Unexplored::Gibbs { tau } => {
                let max_goal = f64::from(reasoner.max_goal());
                Some(Arc::new(History::new(scheme.valuation.full(), max_goal, tau, options.max_bytes)))
            }
        };
        let mut searcher = Searcher {
            graph: Arc::new(new_graph(&*reasoner, &options, history.as_deref(), None)),
            scheme: Arc::new(scheme),
            history,
            root: None,
            roots: Vec::new(),
            best_line: Arc::new(BestLine::new()),
            before: Holdings::default(),
            taken: Holdings::default(),
            has_left: false,
            is_exhausted: false,
            is_cramped: false,
            reclaims: Reclaims::default(),
            expectation: Expectation::default(),
            scratch: Scratch::default(),
            growths: (0, Duration::ZERO),
            max_pause: Duration::MAX,
            next_number: 0,
            seconds: 0.0,
            last_error: Arc::default(),
            is_tainted: false,
            interrupt,
            workers: Vec::with_capacity(options.threads),
            replies,
            reasoner,
            seed,
            options,
        };
        let options = &searcher.options;
        for worker_idx in 0..options.threads {
            let making = Making {
                reasoner: Arc::clone(&searcher.reasoner),
                limits: options.limits,
                interrupt: searcher.interrupt.clone(),
                core: options.pin.get(worker_idx % options.pin.len().max(1)).copied(),
                replies: sender.clone(),
            };
            searcher.workers.push(Worker::start(worker_idx, making)?);
        }
        drop(sender);
        for _ in 0..searcher.workers.len() {
            match searcher.replies.recv() {
                Ok(Reply::Ready(ready)) => ready.map_err(SearchError::Session)?,
                Ok(Reply::Panicked(text)) => return Err(SearchError::Panicked(text)),
                Ok(Reply::Done) | Err(_) => {
                    return Err(SearchError::Panicked("while its session was made".to_owned()));
                }
            }
        }
        Ok(searcher)
    }

    /// The reasoner that answers.
    pub fn reasoner(&self) -> &Arc<R> {
        &self.reasoner
    }

    /// What graphs may take that are begun from now on; the one at hand keeps its cap.
    pub fn set_max_bytes(&mut self, max_bytes: usize) {
        self.options.max_bytes = max_bytes;
    }

    /// The most visits that can be under way at once: a batch of each thread, with all rollouts of its leaves.
    pub fn max_in_flight(&self) -> u64 {
        self.options.threads as u64 * self.scheme.batch * self.scheme.weight()
    }

    /// The seed that all random choices follow from.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Searches until the budget is used up or `stop` is raised, and reports. `progress` is called about
    /// four times a second.
    ///
    /// A run ends within a few milliseconds of its deadline, as far as the reasoner's sessions heed their
    /// interrupt. Playouts that it cuts short leave no trace. At a terminal root it ends at once, and as soon as the best
    /// move at the root is proven ([`Budget::is_past_proofs`] goes on), or settled where the budget asks for that ([`Budget::settled_for`]).
    ///
    /// # Errors
    /// If there is no root, or a worker panicked.
    pub fn run(
        &mut self,
        budget: &Budget,
        stop: &Interrupt,
        progress: &mut dyn FnMut(&Report),
    ) -> Result<Report, SearchError> {
        let span = tracing::info_span!("search", config = %self.options.config, threads = self.workers.len());
        let _entered = span.enter();
        let started = Instant::now();
        if let (true, Some(root)) = (self.is_tainted, self.root) {
            let state = self.graph.state(root).clone();
            self.start_afresh(&state);
        }
        let root = self.root.ok_or(SearchError::NoRoot)?;
        let Report { nodes, edges, .. } = self.report();
        self.before = Holdings { n_nodes: nodes, n_edges: edges };
        self.taken = Holdings::default();
        self.interrupt.lower();
        *self.last_error.lock() = None;
        self.seconds = 0.0;
        self.workers.iter().for_each(|worker| worker.counters.reset());
        let tickets = Arc::new(Tickets::new(self.next_number, budget.playouts));
        let is_by_visits = self.graph.n_roles > 1 && self.scheme.final_move == FinalMove::Visits;
        let mut watch = Watch::new(budget, stop, started, is_by_visits, progress);
        let mut done = Ok(());
        if self.graph.node(root).status::<Sound>() == Status::Fresh {
            done = self.delegate(Task::OpenRoot, 1, root, &tickets, &mut watch);
        }
        if done.is_ok() {
            self.recall_proofs(root);
            done = self.search(root, &tickets, &mut watch);
        }
        self.next_number = tickets.next();
        self.seconds = started.elapsed().as_secs_f64();
        if let Err(text) = done {
            self.is_tainted = true;
            return Err(SearchError::Panicked(text));
        }
        let report = Report { is_settled: watch.is_settled(), ..self.report() };
        tracing::info!(
            playouts = report.playouts,
            nodes = report.nodes,
            failed = report.errors.playouts,
            settled = report.is_settled,
            seconds = report.seconds,
            "search done"
        );
        Ok(report)
    }

    /// Makes playouts until the run is over, with pauses in which tables grow, or room is made in a full graph.
    fn search(
        &mut self,
        mut root: NodeId,
        tickets: &Arc<Tickets>,
        watch: &mut Watch<'_>,
    ) -> Result<(), String> {
        self.is_exhausted = false;
        self.is_cramped = false;
        watch.begin_playouts();
        self.delegate(Task::Search, self.workers.len(), root, tickets, watch)?;
        while tickets.take_wish() && !watch.is_over(Instant::now()) {
            let paused = Instant::now();
            // Whoever has no time for a pause goes on with what there is.
            self.is_cramped = !self.has_time(watch, self.time_to_grow()) || !self.grow_tables();
            if self.graph.meter.is_full() {
                self.is_exhausted = !self.has_time_to_reclaim(watch) || !self.make_room(watch.stop);
            }
            root = self.root.unwrap_or(root);
            watch.note_pause(paused.elapsed());
            self.delegate(Task::Resume, self.workers.len(), root, tickets, watch)?;
        }
        Ok(())
    }

    /// Takes into the root what was proven of its children by other ways.
    fn recall_proofs(&self, root: NodeId) {
        if let Some(solver) = &self.scheme.solver {
            solver.refresh(&self.graph, root, &mut Vec::new());
        }
    }

    /// Gives the first `n_workers` a task, and waits until they have done it or the watch says that it is
    /// over. An error is a panic's text.
    fn delegate(
        &mut self,
        task: Task,
        n_workers: usize,
        root: NodeId,
        tickets: &Arc<Tickets>,
        watch: &mut Watch<'_>,
    ) -> Result<(), String> {
        let mut panicked = None;
        let mut n_running = 0usize;
        // Before the jobs, so that a run whose time is over begins nothing.
        if watch.is_over(Instant::now()) {
            self.interrupt.raise();
        }
        for worker in &self.workers[..n_workers] {
            let job = Job {
                task,
                graph: Arc::clone(&self.graph),
                root,
                scheme: Arc::clone(&self.scheme),
                history: self.history.clone(),
                seed: self.seed,
                best_line: Arc::clone(&self.best_line),
                tickets: Arc::clone(tickets),
                work: watch.budget.work,
                stops_when_full: !self.is_exhausted,
                stops_for_tables: !self.is_cramped,
                stops_when_decided: !watch.budget.is_past_proofs,
                // One that counts no playouts ends by a stop at the latest, which may come any moment.
                is_timed: watch.budget.deadline.is_some()
                    || watch.budget.work.is_some()
                    || watch.budget.playouts.is_none(),
                last_error: Arc::clone(&self.last_error),
            };
            if worker.give(job) {
                n_running += 1;
            } else {
                panicked = Some("its thread is gone".to_owned());
            }
        }
        while n_running > 0 {
            let now = Instant::now();
            self.look_at_choice(root, watch, now);
            self.scratch.prepare(&self.graph);
            if panicked.is_some() || watch.is_over(now) {
                self.interrupt.raise();
            } else if watch.takes_progress(now) {
                self.seconds = watch.started.elapsed().as_secs_f64();
                (watch.progress)(&self.report());
            }
            match self.replies.recv_timeout(watch.patience(now)) {
                Ok(Reply::Panicked(text)) => {
                    panicked = Some(text);
                    n_running -= 1;
                }
                Ok(Reply::Done | Reply::Ready(_)) => n_running -= 1,
                Err(channel::RecvTimeoutError::Timeout) => {}
                Err(channel::RecvTimeoutError::Disconnected) => {
                    panicked = Some("all threads are gone".to_owned());
                    n_running = 0;
                }
            }
        }
        panicked.map_or(Ok(()), Err)
    }

    /// The root as it stands, with the counters of the last run.
    pub fn report(&self) -> Report {
        let mut counters = Counters::default();
        for worker in &self.workers {
            worker.counters.add_to(&mut counters);
        }
        let per = |sum: u64, n: u64| if n == 0 { 0.0 } else { sum as f64 / n as f64 };
        let mut roles = Vec::new();
        let mut is_terminal = false;
        let mut is_solved = false;
        if let Some(root) = self.root {
            roles = report::roles_of(&self.graph, &self.scheme, root);
            is_terminal = self.graph.node(root).status::<Sound>() == Status::Terminal;
            let solver = self.scheme.solver.as_ref();
            is_solved = solver.is_some_and(|solver| solver.is_decided(&self.graph, root));
        }
        let best_line = self.best_line.get().map(|(value, moves)| report::BestLine {
            value,
            joint_moves: moves.into_iter().map(|a_move| vec![a_move]).collect(),
        });
        Report {
            roles,
            is_terminal,
            is_solved,
            is_settled: false,
            playouts: counters.playouts,
            visits_per_playout: self.scheme.weight(),
            seconds: self.seconds,
            nodes: (self.before.n_nodes + counters.nodes_made)
                .saturating_sub(counters.duplicates + self.taken.n_nodes),
            edges: (self.before.n_edges + counters.edges_made).saturating_sub(self.taken.n_edges),
            table: self.table_report(),
            bytes: self.graph.meter.used() + self.history.as_ref().map_or(0, |history| history.bytes()),
            is_full: self.graph.meter.is_full(),
            reclaims: self.reclaims,
            mean_depth: per(counters.depth_sum, counters.playouts),
            mean_rollout: per(counters.rollout_steps, counters.playouts),
            errors: Failures { playouts: counters.failed_playouts, last: self.last_error.lock().clone() },
            counters,
            best_line,
        }
    }

    fn table_report(&self) -> TableReport {
        let (growths, took) = self.growths;
        let (n_slots, n_nodes) = (self.graph.state_table.n_slots(), self.graph.nodes.end().saturating_sub(1));
        let n_used = if self.graph.has_transpositions { n_nodes } else { 0 };
        TableReport {
            slots: n_slots as u64,
            fill: n_used as f64 / n_slots as f64,
            growths,
            growth_seconds: took.as_secs_f64(),
        }
    }

    /// What nodes and edges cost under these options.
    pub fn record_bytes(&self) -> RecordBytes {
        self.graph.record_bytes()
    }

    /// Checks the conservation laws of the graph at rest; see [`GraphSummary`].
    ///
    /// # Errors
    /// If a law is broken, or `stop` is raised before all of the graph was seen.
    pub fn verify(&self, stop: &Interrupt) -> Result<GraphSummary, VerifyError> {
        self.graph.verify(&self.scheme, &self.roots, stop)
    }
}

impl<R: Reasoner> Drop for Searcher<R> {
    fn drop(&mut self) {
        self.interrupt.raise();
        self.workers.iter_mut().for_each(Worker::dismiss);
        self.workers.iter_mut().for_each(Worker::join);
    }
}
