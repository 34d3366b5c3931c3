//! Keeps our side of one match at a time.
//!
//! In go messages with the moment they came, out come answers, always in time: the thinker works on a thread
//! of its own, and what it has not found when the clock ends is not waited for; a clerk on another knows a legal move
//! meanwhile. It does not know how the messages travel, so the game manager's own players are kept the same way.

mod bank;
mod clerk;
mod clock;
mod desk;
mod mind;
mod orders;
mod own_record;
mod seat;
mod succession;
#[cfg(test)]
mod succession_tests;
mod thinker;
#[cfg(test)]
mod thinker_tests;

use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gdl::ReadOptions;
use parking_lot::Mutex;
use reasoner::Interrupt;
use tracing::{debug, info, warn};

use crate::brain::Brain;
use crate::protocol::message::{Report, Request, Start, shortened};
use crate::protocol::server::Answer;
use clock::{Deadlines, Margin};
use desk::Desk;
pub use desk::ThoughtWith;
use orders::Orders;
use own_record::{Ending, OwnRecord};
use thinker::Job;

/// The stack of a thinker. Rules nest at most 1000 levels; demand-driven reasoners grow theirs as needed.
const THINKER_STACK_BYTES: usize = 32 << 20;

/// The part of the margin that is spent on waiting where no move is known; the answer has a way to go. Not measured.
const LAST_PART: u32 = 2;

/// How many PLAYs may wait for their moves at once. A manager has one under way, and another if it sends one
/// again; each holds a connection of the server, which needs some for INFO and ABORT.
const MAX_WAITING: usize = 16;

/// How a keeper plays.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The name in the answer to INFO.
    pub name: String,
    /// How names are read.
    pub reading: ReadOptions,
    /// How to think.
    pub brain: Brain,
    /// A match is freed when nothing is heard of it for its longest clock and this long.
    pub patience: Duration,
    /// The folder for a record of each match; none are left if there is no folder.
    pub records: Option<PathBuf>,
}

/// Keeps one match at a time.
#[derive(Debug)]
pub struct Keeper {
    settings: Settings,
    margin: Margin,
    current: Mutex<Option<Arc<Match>>>,
    /// The thinker of the match before, which may still be winding down.
    predecessor: Mutex<Option<JoinHandle<()>>>,
    /// Where the last match had its answers, whether or not it is over.
    last_desk: Mutex<Arc<Desk>>,
    /// Writes the record of the last match.
    writer: Mutex<Option<JoinHandle<()>>>,
}

/// A match that runs.
#[derive(Debug)]
struct Match {
    id: String,
    play_clock: Duration,
    /// How long nothing may be heard of it.
    patience: Duration,
    last_heard: Mutex<Instant>,
    /// How many connections wait for a move.
    n_waiting: Mutex<usize>,
    desk: Arc<Desk>,
    orders: Arc<Orders>,
    gone: Interrupt,
    /// Until the match is over, if it leaves a record.
    record: Mutex<Option<OwnRecord>>,
}

impl Answer for Keeper {
    fn answer(&self, message: &str, received: Instant) -> String {
        match Request::parse(message) {
            Ok(request) => self.handle(request, received),
            Err(error) => {
                warn!(%error, message = shortened(message), "a message that is none");
                "busy".to_owned()
            }
        }
    }
}

impl Keeper {
    /// A keeper without a match.
    pub fn new(settings: Settings) -> Keeper {
        Keeper {
            settings,
            margin: Margin::default(),
            current: Mutex::new(None),
            predecessor: Mutex::new(None),
            last_desk: Mutex::default(),
            writer: Mutex::default(),
        }
    }

    /// What the last match was thought about with, one reasoner after the other.
    pub fn reasoners(&self) -> Vec<ThoughtWith> {
        self.last_desk.lock().reasoners()
    }

    /// Answers a message (section 4 of the protocol page).
    pub fn handle(&self, request: Request, received: Instant) -> String {
        let is_free = self.current.lock().is_none();
        match request {
            Request::Info => {
                let status = if is_free { "available" } else { "busy" };
                debug!(status, "INFO");
                format!("( ( name {} ) ( status {status} ) ( species alien ) )", self.settings.name)
            }
            Request::Ping => (if is_free { "ready" } else { "nil" }).to_owned(),
            Request::Preview => (if is_free { "ready" } else { "busy" }).to_owned(),
            Request::Start(start) => self.start(*start, received),
            Request::Play(report) => self.play(report, received),
            Request::Stop(report) => self.stop(&report),
            Request::Abort(id) => self.abort(&id),
        }
    }

    fn start(&self, start: Start, received: Instant) -> String {
        let deadlines = self.margin.deadlines(received, start.start_clock);
        let new = {
            let mut current = self.current.lock();
            if let Some(running) = &*current {
                info!(id = start.id, running = running.id, "START refused");
                return "busy".to_owned();
            }
            info!(id = start.id, role = %start.role, start_clock = ?start.start_clock, play_clock = ?start.play_clock, "START");
            let new = Arc::new(Match {
                id: start.id.clone(),
                play_clock: start.play_clock,
                patience: start.start_clock.max(start.play_clock) + self.settings.patience,
                last_heard: Mutex::new(received),
                n_waiting: Mutex::new(0),
                desk: Arc::default(),
                orders: Arc::default(),
                gone: Interrupt::new(),
                record: Mutex::new(self.settings.records.as_ref().map(|_| OwnRecord::new(&start, received))),
            });
            *self.last_desk.lock() = Arc::clone(&new.desk);
            *current = Some(Arc::clone(&new));
            new
        };
        let job = Job {
            start,
            reading: self.settings.reading,
            brain: self.settings.brain.clone(),
            deadlines,
            desk: Arc::clone(&new.desk),
            orders: Arc::clone(&new.orders),
            gone: new.gone.clone(),
        };
        if let Err(error) = self.spawn(job, deadlines) {
            warn!(%error, "no thread for the match");
            self.refuse(&new);
            return "busy".to_owned();
        }
        let picked = new.desk.wait(0, deadlines.answer);
        if picked.timed_out {
            self.margin.note(deadlines.answer);
        }
        match picked.closed {
            Some(_) => {
                self.refuse(&new);
                "busy".to_owned()
            }
            None => "ready".to_owned(),
        }
    }

    /// Starts the thinker, once its predecessor has let go of its memory or a quarter of the time is over.
    fn spawn(&self, job: Job, deadlines: Deadlines) -> std::io::Result<()> {
        let mut slot = self.predecessor.lock();
        let predecessor = slot.take();
        let patience = deadlines.search.saturating_duration_since(Instant::now()) / 4;
        let thread = std::thread::Builder::new().name("thinker".into()).stack_size(THINKER_STACK_BYTES);
        *slot = Some(thread.spawn(move || {
            let until = Instant::now() + patience;
            if let Some(predecessor) = predecessor {
                while !predecessor.is_finished() && Instant::now() < until {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
            thinker::run(&job);
        })?);
        Ok(())
    }

    fn play(&self, report: Report, received: Instant) -> String {
        let Some(running) = self.running(&report.id) else { return "busy".to_owned() };
        {
            let mut n_waiting = running.n_waiting.lock();
            if *n_waiting == MAX_WAITING {
                warn!(id = running.id, "more PLAYs than any manager sends");
                return "busy".to_owned();
            }
            *n_waiting += 1;
        }
        *running.last_heard.lock() = received;
        running.record.lock().iter_mut().for_each(|record| record.report(report.joint_move.as_ref()));
        let deadlines = self.margin.deadlines(received, running.play_clock);
        let turn = running.orders.give(report, deadlines);
        let mut picked = running.desk.wait(turn, deadlines.answer);
        if picked.timed_out {
            self.margin.note(deadlines.answer);
        }
        if picked.timed_out && picked.answer.is_none() {
            // Without any move, part of the margin is better spent on waiting for one.
            let margin = (received + running.play_clock).saturating_duration_since(deadlines.answer);
            picked = running.desk.wait_for_any(turn, deadlines.answer + margin / LAST_PART);
        }
        *running.n_waiting.lock() -= 1;
        running.record.lock().iter_mut().for_each(|record| record.answer(received.elapsed()));
        if picked.answer.is_none() {
            warn!(id = running.id, turn, "no legal move is known");
            // What was legal before may still be; `nil` never is.
            picked.answer = running.desk.guess(turn);
        } else if picked.is_stand_in {
            warn!(
                id = running.id,
                turn, "the search is not at this turn yet; the answer is the first legal move"
            );
        }
        let answer = picked.answer.map_or_else(|| "nil".to_owned(), |answer| answer.to_string());
        info!(id = running.id, turn, answer, seconds = received.elapsed().as_secs_f64(), "PLAY");
        answer
    }

    fn stop(&self, report: &Report) -> String {
        let Some(running) = self.running(&report.id) else { return "busy".to_owned() };
        info!(id = report.id, "STOP");
        running.record.lock().iter_mut().for_each(|record| record.report(report.joint_move.as_ref()));
        self.free(&running, true);
        "done".to_owned()
    }

    fn abort(&self, id: &str) -> String {
        let Some(running) = self.running(id) else { return "busy".to_owned() };
        info!(id, "ABORT");
        self.free(&running, false);
        "aborted".to_owned()
    }

    fn running(&self, id: &str) -> Option<Arc<Match>> {
        self.current.lock().as_ref().filter(|running| running.id == id).cloned()
    }

    /// Lets go of a match that did not begin.
    fn refuse(&self, refused: &Arc<Match>) {
        refused.record.lock().take();
        self.free(refused, false);
    }

    /// Lets go of a match, if it is still the current one. Whether the manager said that it was over.
    fn free(&self, over: &Arc<Match>, is_stopped: bool) {
        over.gone.raise();
        over.orders.close();
        over.desk.end();
        let mut current = self.current.lock();
        if current.as_ref().is_some_and(|running| Arc::ptr_eq(running, over)) {
            *current = None;
        }
        drop(current);
        let record = over.record.lock().take();
        if let (Some(record), Some(folder)) = (record, self.settings.records.clone()) {
            let ending = Ending {
                name: self.settings.name.clone(),
                reading: self.settings.reading,
                is_stopped,
                thought_with: over.desk.reasoners(),
            };
            let write = move || match record.write(ending, &folder, &Interrupt::new()) {
                Ok(path) => info!(path = %path.display(), "a record"),
                Err(failure) => warn!(%failure, "no record of the match"),
            };
            let thread = std::thread::Builder::new().name("record".into()).stack_size(THINKER_STACK_BYTES);
            match thread.spawn(write) {
                Ok(writer) => *self.writer.lock() = Some(writer),
                Err(error) => warn!(%error, "no thread for the record of the match"),
            }
        }
    }

    /// Lets go of whatever match there is, and waits a moment for its thinker and its record.
    pub fn shut_down(&self) {
        let running = self.current.lock().clone();
        if let Some(running) = running {
            info!(id = running.id, "given up");
            self.free(&running, false);
        }
        wait_for(self.predecessor.lock().take(), THINKER_PATIENCE);
        wait_for(self.writer.lock().take(), WRITER_PATIENCE);
    }

    /// Frees a match that nobody has spoken of for too long; to be called now and then. Dresden's manager
    /// never sends ABORT, and every manager can die (section 6).
    pub fn watch(&self) {
        let running = self.current.lock().clone();
        if let Some(running) = running
            && running.last_heard.lock().elapsed() > running.patience
        {
            warn!(id = running.id, "nothing is heard of the match any more; it is given up");
            self.free(&running, false);
        }
    }
}

/// How long the end of the process waits for a thinker: its questions heed their interrupt.
const THINKER_PATIENCE: Duration = Duration::from_secs(1);

/// How long it waits for a record, whose states are played again; the slowest published games take longer.
const WRITER_PATIENCE: Duration = Duration::from_secs(10);

fn wait_for(thread: Option<JoinHandle<()>>, patience: Duration) {
    let until = Instant::now() + patience;
    while thread.as_ref().is_some_and(|thread| !thread.is_finished()) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(1));
    }
}
