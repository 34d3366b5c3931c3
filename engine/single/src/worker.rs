//! A solver's thread.
//!
//! It has a session of its own, since sessions do not travel, and waits for roots. A panic in a reasoner costs the solver
//! and its session, which are made anew for the next root.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use parking_lot::Mutex;
use reasoner::{Dice, Expansion, Interrupt, Reasoner, Rollouts};
use search::Options;

use crate::best::Best;
use crate::outsider::Outsiders;
use crate::roster;
use crate::solver::{Ending, Halt, Solver};
use crate::system::System;
use crate::turns::Turns;
use crate::work::{Clock, Work};

/// Searches recurse as deep as games are long.
const STACK_BYTES: usize = 64 << 20;

/// What a worker works at.
#[derive(Debug)]
pub(crate) struct Job<S> {
    pub(crate) root: S,
    pub(crate) best: Arc<Best<S>>,
    pub(crate) turns: Arc<Turns>,
    pub(crate) clock: Arc<Mutex<Clock>>,
    pub(crate) seed: u64,
}

/// How it went.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) seat: usize,
    /// Whether nothing more is to be had from this root.
    pub(crate) is_done: bool,
    pub(crate) error: Option<String>,
}

/// What a worker is made from.
#[derive(Debug, Clone)]
pub(crate) struct Making<R: Reasoner> {
    pub(crate) seat: usize,
    pub(crate) member: System,
    pub(crate) name: String,
    pub(crate) reasoner: Arc<R>,
    pub(crate) options: Options,
    pub(crate) outsiders: Outsiders,
    /// Whether it has no colleagues.
    pub(crate) is_alone: bool,
    /// Ends questions.
    pub(crate) interrupt: Interrupt,
    /// Ends the turns of searches that have threads of their own.
    pub(crate) pause: Interrupt,
    pub(crate) replies: Sender<Reply>,
}

/// A thread that waits for roots.
#[derive(Debug)]
pub(crate) struct Worker<S> {
    jobs: Option<Sender<Job<S>>>,
    thread: Option<JoinHandle<()>>,
}

impl<S: Send + 'static> Worker<S> {
    pub(crate) fn start<R: Reasoner<State = S>>(making: Making<R>) -> std::io::Result<Worker<S>>
    where
        S: Sync,
    {
        let (jobs, received) = channel();
        let thread = std::thread::Builder::new()
            .name(format!("single-{}", making.seat))
            .stack_size(STACK_BYTES)
            .spawn(move || work(&making, &received))?;
        Ok(Worker { jobs: Some(jobs), thread: Some(thread) })
    }

    /// Gives it a root; false if its thread is gone.
    pub(crate) fn give(&self, job: Job<S>) -> bool {
        self.jobs.as_ref().is_some_and(|jobs| jobs.send(job).is_ok())
    }

    /// Lets it go, once it is done.
    pub(crate) fn dismiss(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // A panic was told already.
            let _ = thread.join();
        }
    }
}

/// A solver and its session.
struct Hands<R: Reasoner> {
    solver: Box<dyn Solver<R>>,
    session: R::Session,
}

fn hands<R: Reasoner>(making: &Making<R>) -> Result<Hands<R>, String> {
    let session = making.reasoner.session(making.options.limits, &making.interrupt);
    let session = session.map_err(|error| error.to_string())?;
    let solver = roster::solver(making).map_err(|error| error.to_string())?;
    Ok(Hands { session, solver })
}

fn work<R: Reasoner>(making: &Making<R>, jobs: &Receiver<Job<R::State>>) {
    let mut kept: Option<Hands<R>> = None;
    while let Ok(job) = jobs.recv() {
        let tried = catch_unwind(AssertUnwindSafe(|| {
            let mut used = match kept.take() {
                Some(used) => used,
                None => hands(making)?,
            };
            let solved = solve(making, &job, &mut used);
            kept = Some(used);
            Ok(solved)
        }));
        let (is_done, error) = match tried {
            Ok(Ok(Ok(Ending::Proved | Ending::GaveUp))) => (true, None),
            Ok(Ok(Err(Halt::Over))) => (false, None),
            Ok(Ok(Err(Halt::Failed(error)))) => (true, Some(error.to_string())),
            Ok(Err(error)) => (true, Some(error)),
            Err(_) => (true, Some(format!("{} panicked", making.name))),
        };
        // Others wait for all to have come.
        job.turns.leave(making.seat);
        if making.replies.send(Reply { seat: making.seat, is_done, error }).is_err() {
            return;
        }
    }
}

fn solve<R: Reasoner>(making: &Making<R>, job: &Job<R::State>, hands: &mut Hands<R>) -> Result<Ending, Halt> {
    let Some(turn) = job.turns.first(making.seat) else { return Err(Halt::Over) };
    let mut work = Work {
        reasoner: &*making.reasoner,
        session: &mut hands.session,
        root: &job.root,
        interrupt: &making.interrupt,
        max_goal: making.reasoner.max_goal(),
        max_bytes: making.options.max_bytes,
        best: &job.best,
        clock: &job.clock,
        turn,
        name: &making.name,
        seed: Dice::child_seed(job.seed, making.seat as u64),
        n_seeds: 0,
        ends: Rollouts::default(),
        seeds: Vec::new(),
        expansion: Expansion::default(),
    };
    let ending = hands.solver.solve(&mut work)?;
    if ending == Ending::Proved {
        job.best.prove(&making.name);
        work.turn.end_all();
    }
    Ok(ending)
}
