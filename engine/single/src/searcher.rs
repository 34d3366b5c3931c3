//! The search of one match of a game of one role: its solvers, and the line they look for.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use reasoner::{Dice, Interrupt, Move, Reasoner, ReasonerError};
use search::{Budget, MIN_BYTES, Options, SearchError};

use crate::best::Best;
use crate::outsider::Outsiders;
use crate::report::{Part, Report};
use crate::roster::Roster;
use crate::system::System;
use crate::turns::{Turns, Used};
use crate::work::{Clock, play_through};
use crate::worker::{Job, Making, Reply, Worker};

/// Why there is no search.
#[derive(Debug, thiserror::Error)]
pub enum SingleError {
    /// The game has another number of roles.
    #[error("{system} plays games of one role, and this one has {n_roles}")]
    Roles {
        /// What was asked for.
        system: String,
        /// How many roles there are.
        n_roles: usize,
    },
    /// The game has no rulesheet, or its rules are not at hand.
    #[error("{0} works from the rules of a game, and this one has none")]
    NoRules(String),
    /// An option is out of its bounds.
    #[error(transparent)]
    Options(#[from] SearchError),
    /// The operating system gave no thread.
    #[error("a thread could not be started: {0}")]
    Spawn(#[from] std::io::Error),
    /// A run without a root.
    #[error("there is no position to search; call set_root first")]
    NoRoot,
}

/// How often a run looks at the clock and the stop flag.
const POLL: Duration = Duration::from_millis(1);
/// How often a run reports.
const PROGRESS: Duration = Duration::from_millis(250);
/// How long solvers may take to see that a run is over, before the question that keeps them is ended.
const GRACE: Duration = Duration::from_millis(10);

/// Searches one game of one role from the states that a match passes through.
///
/// Threads and sessions are made once; between runs they sleep. The best line is kept from run to run, and the match that
/// plays it loses nothing, whatever later runs find.
#[derive(Debug)]
pub struct Searcher<R: Reasoner> {
    system: System,
    roster: Roster,
    names: Vec<String>,
    seed: u64,
    best: Arc<Best<R::State>>,
    root: Option<R::State>,
    clock: Arc<Mutex<Clock>>,
    // Change with the root.
    turns: Option<Arc<Turns>>,
    /// What solvers had in turns that are over.
    used: Vec<Used>,
    /// What is known of each solver: nothing while it works.
    outcomes: Vec<Option<bool>>,
    last_error: Option<String>,
    n_roots: u64,
    // Fixed.
    interrupt: Interrupt,
    pause: Interrupt,
    workers: Vec<Worker<R::State>>,
    replies: Receiver<Reply>,
}

impl<R: Reasoner> Searcher<R> {
    /// Starts the solvers of a system, as many at once as the options have threads. Of the options' rules of selection and
    /// backup only searches of the shared graph make use, and of its cores only one that is alone.
    ///
    /// # Errors
    /// If the game has several roles, an option is out of its bounds, or a thread cannot be had.
    pub fn new(reasoner: &Arc<R>, system: System, options: &Options) -> Result<Searcher<R>, SingleError> {
        Searcher::with_outsiders(reasoner, system, options, &Outsiders::default())
    }

    /// As [`Searcher::new`], with the help of solvers that know the rules by themselves.
    ///
    /// # Errors
    /// As there, and if the system cannot do without one that is not there.
    pub fn with_outsiders(
        reasoner: &Arc<R>,
        system: System,
        options: &Options,
        outsiders: &Outsiders,
    ) -> Result<Searcher<R>, SingleError> {
        let n_roles = reasoner.n_roles();
        if n_roles != 1 {
            return Err(SingleError::Roles { system: system.to_string(), n_roles });
        }
        options.check()?;
        if system == System::Sat && outsiders.sat.is_none() {
            return Err(SingleError::NoRules(system.to_string()));
        }
        let roster = Roster::new(system, options.threads, outsiders);
        let names: Vec<String> = roster.members.iter().map(System::to_string).collect();
        let (interrupt, pause) = (Interrupt::new(), Interrupt::new());
        let (sender, replies) = channel();
        let n_shares: usize = roster.members.iter().map(System::shares).sum();
        let mut workers = Vec::new();
        for (seat, &member) in roster.members.iter().enumerate() {
            workers.push(Worker::start(Making {
                seat,
                member,
                name: names[seat].clone(),
                reasoner: Arc::clone(reasoner),
                options: Options {
                    max_bytes: (options.max_bytes / n_shares.max(1) * member.shares()).max(MIN_BYTES),
                    ..options.clone()
                },
                outsiders: outsiders.clone(),
                is_alone: roster.members.len() == 1,
                interrupt: interrupt.clone(),
                pause: pause.clone(),
                replies: sender.clone(),
            })?);
        }
        let clock = Clock { n_runs: 0, before: Duration::ZERO, began: Instant::now(), deadline: None };
        Ok(Searcher {
            system,
            outcomes: vec![None; roster.members.len()],
            roster,
            names,
            seed: options.seed.unwrap_or_else(|| RandomState::new().hash_one(Instant::now())),
            best: Arc::new(Best::new(reasoner.max_goal())),
            root: None,
            clock: Arc::new(Mutex::new(clock)),
            turns: None,
            used: Vec::new(),
            last_error: None,
            n_roots: 0,
            interrupt,
            pause,
            workers,
            replies,
        })
    }

    /// The system.
    pub fn system(&self) -> System {
        self.system
    }

    /// The seed that all random choices follow from.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Moves to another state. The best line is kept as far as it passes through there.
    pub fn set_root(&mut self, state: &R::State) {
        if self.root.as_ref() == Some(state) {
            return;
        }
        self.end_turns();
        self.best.follow(state);
        self.root = Some(state.clone());
    }

    /// Takes over a line that somebody else has found, if it is better than the best; false if it does not come to an end
    /// from the root.
    ///
    /// # Errors
    /// As every question.
    pub fn adopt(&mut self, session: &mut R::Session, moves: &[Move]) -> Result<bool, ReasonerError> {
        let Some(root) = &self.root else { return Ok(false) };
        let Some((line, states)) = play_through(session, root, moves)? else { return Ok(false) };
        let after = self.clock.lock().before;
        self.best.offer(line, states, after, "another one");
        Ok(true)
    }

    /// Searches until the budget is used up, `stop` is raised, the best line cannot be bettered, or no solver goes on.
    /// `progress` is called about four times a second.
    ///
    /// # Errors
    /// If there is no root.
    pub fn run(
        &mut self,
        budget: &Budget,
        stop: &Interrupt,
        progress: &mut dyn FnMut(&Report),
    ) -> Result<Report, SingleError> {
        let root = self.root.clone().ok_or(SingleError::NoRoot)?;
        let began = Instant::now();
        {
            let mut clock = self.clock.lock();
            clock.began = began;
            clock.deadline = budget.deadline;
        }
        if !self.is_settled() {
            self.interrupt.lower();
            self.pause.lower();
            let turns = match self.turns.take() {
                Some(turns) => turns,
                None => self.begin(&root),
            };
            turns.resume(budget);
            self.turns = Some(Arc::clone(&turns));
            self.wait(&turns, budget, stop, began, progress);
            if !self.roster.is_resumed || self.is_settled() {
                self.end_turns();
            }
        }
        let report = self.report();
        let mut clock = self.clock.lock();
        clock.before += began.elapsed();
        clock.n_runs += 1;
        tracing::info!(
            system = %self.system,
            best = report.best.as_ref().map(|line| line.value),
            proved = report.proved,
            playouts = report.playouts,
            "search of one role done"
        );
        Ok(report)
    }

    /// Whether there is nothing more to find.
    fn is_settled(&self) -> bool {
        self.best.is_optimal() || self.best.is_hopeless()
    }

    /// Gives the solvers the root.
    fn begin(&mut self, root: &R::State) -> Arc<Turns> {
        let Roster { n_at_once, has_rewards, .. } = self.roster;
        let turns = Arc::new(Turns::new(&self.roster.weights(), n_at_once, has_rewards));
        self.outcomes.fill(None);
        self.used.clear();
        for (seat, worker) in self.workers.iter().enumerate() {
            let job = Job {
                root: root.clone(),
                best: Arc::clone(&self.best),
                turns: Arc::clone(&turns),
                clock: Arc::clone(&self.clock),
                seed: Dice::child_seed(self.seed, self.n_roots),
            };
            if !worker.give(job) {
                turns.leave(seat);
                self.outcomes[seat] = Some(true);
            }
        }
        self.n_roots += 1;
        turns
    }

    /// Waits for the end of a run, and until all solvers rest.
    fn wait(
        &mut self,
        turns: &Turns,
        budget: &Budget,
        stop: &Interrupt,
        began: Instant,
        progress: &mut dyn FnMut(&Report),
    ) {
        let mut next_progress = began + PROGRESS;
        let mut ended: Option<Instant> = None;
        while !(turns.is_quiet() && turns.finished().all(|seat| self.outcomes[seat].is_some())) {
            self.collect(POLL);
            let now = Instant::now();
            let is_over = stop.is_raised()
                || budget.deadline.is_some_and(|deadline| deadline <= now)
                || self.is_settled()
                || turns.has_stopped()
                || self.outcomes.iter().all(Option::is_some);
            if is_over && ended.is_none() {
                turns.pause();
                self.pause.raise();
                ended = Some(now);
            }
            if ended.is_some_and(|ended| ended + GRACE <= now) {
                self.interrupt.raise();
            }
            if next_progress <= now && ended.is_none() {
                next_progress = now + PROGRESS;
                progress(&self.report());
            }
        }
    }

    /// Takes in what solvers have replied.
    fn collect(&mut self, patience: Duration) {
        let mut patience = Some(patience);
        loop {
            let reply = match patience.take() {
                Some(patience) => self.replies.recv_timeout(patience).ok(),
                None => self.replies.try_recv().ok(),
            };
            let Some(reply) = reply else { return };
            self.outcomes[reply.seat] = Some(reply.is_done);
            self.last_error = reply.error.or(self.last_error.take());
        }
    }

    /// Ends the solvers' work at the root, and waits for it.
    fn end_turns(&mut self) {
        let Some(turns) = self.turns.take() else { return };
        turns.end();
        self.interrupt.raise();
        self.pause.raise();
        while self.outcomes.iter().any(Option::is_none) {
            self.collect(POLL);
        }
        self.used = turns.used();
    }

    /// What has been found.
    pub fn report(&self) -> Report {
        let used = self.turns.as_ref().map_or_else(|| self.used.clone(), |turns| turns.used());
        let parts = self.names.iter().zip(&self.outcomes).enumerate().map(|(seat, (name, outcome))| Part {
            name: name.clone(),
            used: used.get(seat).copied().unwrap_or_default(),
            is_done: *outcome == Some(true),
        });
        let (best, proved) = self.best.get();
        let first = best.as_ref().and_then(|line| line.moves.first().copied());
        Report {
            a_move: self.best.preferred().or(first),
            best,
            proved,
            proved_by: self.best.proved_by(),
            is_hopeless: self.best.is_hopeless(),
            playouts: used.iter().map(|used| used.playouts).sum(),
            time: self.clock.lock().began.elapsed(),
            parts: parts.collect(),
            found: self.best.found(),
            last_error: self.last_error.clone(),
        }
    }
}

impl<R: Reasoner> Drop for Searcher<R> {
    fn drop(&mut self) {
        self.end_turns();
        self.workers.iter_mut().for_each(Worker::dismiss);
    }
}
