//! The processes of our players: one for each player that sits in a match, kept from match to match.
//!
//! They speak the protocol over loopback like any player elsewhere, so that whatever becomes of one costs its match
//! only. What is not in the protocol, a seed and cores for each match, goes down their standard input, whose end
//! tells them that the tournament is gone. A process that died or hangs is started anew for the next match.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Error, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use gdl::{CaseReading, ReadOptions};
use reasoner::Interrupt;
use serde::{Deserialize, Serialize};

use super::folder::Folder;
use crate::failure::Failure;
use crate::protocol::client::Address;

/// The hidden command that is such a process; see `commands/tournament_player.rs`.
pub const COMMAND: &str = "tournament-player";
/// What it says once it is ready for the match.
pub const READY: &str = "ready";

/// A process that dies while it is started may have been killed by somebody; so many in a row are no accident.
const MAX_STARTS: usize = 3;
/// How long it may take to say that it is there, or ready. It needs milliseconds, and a second to give up a match.
const READY_TIME: Duration = Duration::from_secs(10);
/// How often a stop by the user is looked for meanwhile.
const POLL: Duration = Duration::from_millis(50);

/// What a player of ours has to know of its next match, and the protocol does not say.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Orders {
    /// What its choices follow from.
    pub seed: u64,
    /// The cores for its threads; none if it may run anywhere.
    pub pin: Vec<usize>,
    /// Playouts per move in this game, in place of its own number.
    pub playouts: Option<u64>,
    /// Seconds of processor time per move in this game, in place of its own.
    pub cpu: Option<f64>,
    /// Whether names that differ only by case are one name; none if the rulesheet decides.
    pub ignore_case: Option<bool>,
}

impl Orders {
    /// How names are read.
    pub fn reading(&self) -> ReadOptions {
        let case = match self.ignore_case {
            None => CaseReading::Auto,
            Some(true) => CaseReading::Ignored,
            Some(false) => CaseReading::Exact,
        };
        ReadOptions { case }
    }
}

/// The processes for one match at a time.
#[derive(Debug)]
pub struct Stable<'a> {
    folder: &'a Folder,
    /// A part of the names of logs.
    slot_idx: usize,
    /// Raised when the user wants to stop.
    stop: &'a Interrupt,
    /// By the player's name, and the how manieth of its seats in the match it is.
    processes: HashMap<(String, usize), Process>,
}

#[derive(Debug)]
struct Process {
    child: Child,
    orders: ChildStdin,
    answers: Receiver<std::io::Result<String>>,
    address: Address,
}

impl<'a> Stable<'a> {
    /// Without a process yet.
    pub fn new(folder: &'a Folder, slot_idx: usize, stop: &'a Interrupt) -> Stable<'a> {
        Stable { folder, slot_idx, stop, processes: HashMap::new() }
    }

    /// Where the player of that name and description is reached for the next match.
    ///
    /// # Errors
    /// If its process cannot be started, or the user stops meanwhile.
    pub fn address(
        &mut self,
        name: &str,
        spec: &str,
        copy_idx: usize,
        orders: &Orders,
    ) -> Result<Address, Failure> {
        let key = (name.to_owned(), copy_idx);
        let mut last = String::new();
        for _ in 0..MAX_STARTS {
            let process = match self.processes.remove(&key) {
                Some(process) => Ok(process),
                None => self.start(name, spec, copy_idx),
            };
            match process.and_then(|mut process| process.prepare(orders, self.stop).map(|()| process)) {
                Ok(process) => {
                    let address = process.address.clone();
                    self.processes.insert(key, process);
                    return Ok(address);
                }
                Err(error) => last = error.to_string(),
            }
            if self.stop.is_raised() {
                break;
            }
        }
        let log = self.log(name, copy_idx);
        Err(Failure::work(format!("the process of the player {name} does not start: {last}"))
            .hint(format!("{} may say why", self.folder.log(&log).display())))
    }

    fn log(&self, name: &str, copy_idx: usize) -> String {
        format!("{name}.{}.{}", self.slot_idx + 1, copy_idx + 1)
    }

    fn start(&self, name: &str, spec: &str, copy_idx: usize) -> std::io::Result<Process> {
        let log = self.folder.log(&self.log(name, copy_idx));
        let log = OpenOptions::new().create(true).append(true).open(log)?;
        let mut child = Command::new(std::env::current_exe()?)
            .args([COMMAND, spec])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (orders, answers) = pipes.ok_or_else(|| Error::other("no pipes"))?;
        let answers = lines_of(answers)?;
        let mut process = Process { child, orders, answers, address: Address { host_port: String::new() } };
        process.address.host_port = process.line(self.stop)?;
        Ok(process)
    }
}

/// Reads lines on a thread of its own, which ends with them, so that nobody has to wait for one that never comes.
fn lines_of(answers: ChildStdout) -> std::io::Result<Receiver<std::io::Result<String>>> {
    let (sender, receiver) = mpsc::channel();
    let read = move || BufReader::new(answers).lines().try_for_each(|line| sender.send(line));
    std::thread::Builder::new().name("answers".into()).spawn(read)?;
    Ok(receiver)
}

impl Process {
    /// Tells it about the next match, and waits until it is ready.
    fn prepare(&mut self, orders: &Orders, stop: &Interrupt) -> std::io::Result<()> {
        let mut line = serde_json::to_string(orders)?;
        line.push('\n');
        self.orders.write_all(line.as_bytes())?;
        match self.line(stop)?.as_str() {
            READY => Ok(()),
            other => Err(Error::other(format!("it says {other:?}"))),
        }
    }

    fn line(&self, stop: &Interrupt) -> std::io::Result<String> {
        let begun = Instant::now();
        loop {
            match self.answers.recv_timeout(POLL) {
                Ok(line) => return line,
                Err(RecvTimeoutError::Disconnected) => return Err(Error::other("it ended")),
                Err(RecvTimeoutError::Timeout) if stop.is_raised() => return Err(Error::other("stopped")),
                Err(RecvTimeoutError::Timeout) if begun.elapsed() >= READY_TIME => {
                    return Err(Error::other("it hangs"));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may be dead already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
