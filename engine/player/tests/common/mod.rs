//! A player in a process of its own, and a manager's side written for the tests.
#![allow(dead_code, reason = "each test file uses its part")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

/// Two roles take turns to paint one of three cells; whoever paints the last one wins.
pub const PAINT: &str = "(role Ann) (role bob) (init (cell 1 blank)) (init (cell 2 blank)) (init (cell 3 blank)) \
    (init (turn Ann)) (other Ann bob) (other bob Ann) \
    (<= (legal ?r (Paint ?c)) (true (turn ?r)) (true (cell ?c blank))) \
    (<= (legal ?r noop) (role ?r) (not (true (turn ?r)))) \
    (<= (next (cell ?c ?r)) (does ?r (Paint ?c))) \
    (<= (next (cell ?c ?x)) (true (cell ?c ?x)) (distinct ?x blank)) \
    (<= (next (cell ?c blank)) (true (cell ?c blank)) (not (painted ?c))) \
    (<= (painted ?c) (does ?r (Paint ?c))) \
    (<= (next (turn ?o)) (true (turn ?r)) (other ?r ?o)) \
    (<= open (true (cell ?c blank))) (<= terminal (not open)) \
    (<= (goal ?r 100) (role ?r) (not (true (turn ?r)))) (<= (goal ?r 0) (true (turn ?r)))";

/// The legal moves at the start.
pub const PAINTS: [&str; 3] = ["(Paint 1)", "(Paint 2)", "(Paint 3)"];

/// Longer than any clock of the tests; only a hanging player is cut off by it.
const PATIENCE: Duration = Duration::from_secs(60);

/// The binary.
pub fn daggerboard() -> Command {
    Command::new(env!("CARGO_BIN_EXE_daggerboard"))
}

/// Sends a process a signal, such as `-INT`, by the shell, which needs no program for it.
pub fn signal(pid: u32, signal: &str) {
    let status = Command::new("sh").args(["-c", &format!("kill {signal} {pid}")]).status().unwrap();
    assert!(status.success());
}

/// Runs the binary to its end.
pub fn run(args: &[&str]) -> Output {
    daggerboard().args(args).output().expect("the binary runs")
}

/// The standard output of a run that succeeds.
pub fn stdout_of(args: &[&str]) -> String {
    let output = run(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("the output is UTF-8")
}

/// The JSON that a run prints which succeeds.
pub fn json_of(args: &[&str]) -> Value {
    serde_json::from_str(&stdout_of(args)).expect("the output is JSON")
}

/// JSON, one value a line.
pub fn json_lines(bytes: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(bytes).expect("the output is UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect()
}

/// A folder for the files of a test, gone when it is dropped.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Folder {
        Folder(tempfile::tempdir().expect("there is room for a folder"))
    }

    /// The path of a file in it.
    pub fn file(&self, name: &str) -> String {
        self.0.path().join(name).display().to_string()
    }

    /// Writes a file and returns its path.
    pub fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.0.path().join(name), text).expect("the folder can be written to");
        self.file(name)
    }

    /// Where [`Folder::run_match`] puts the records.
    pub fn records(&self) -> String {
        self.file("records")
    }

    /// Runs a match without progress, with its records here.
    pub fn run_match(&self, game: &str, args: &[&str]) -> Output {
        run(&[&["match", game, "--records", &self.records(), "--quiet", "--json"], args].concat())
    }

    /// Plays a match that succeeds; what was printed.
    pub fn play(&self, game: &str, args: &[&str]) -> Value {
        let output = self.run_match(game, args);
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        json_lines(&output.stdout).remove(0)
    }
}

/// The record of a match that was printed.
pub fn record_of(told: &Value) -> Value {
    let path = told["record"].as_str().expect("the path of the record is told");
    serde_json::from_str(&std::fs::read_to_string(path).expect("the record is there")).expect("it is JSON")
}

/// A player on a free port, stopped when it is dropped.
pub struct Player {
    child: Child,
    port: u16,
}

impl Player {
    /// Two threads, little memory, and no records.
    pub fn start(args: &[&str]) -> Player {
        Player::with(&[&["--threads", "2", "--memory", "64M", "--no-records"], args].concat())
    }

    /// With these options alone.
    pub fn with(args: &[&str]) -> Player {
        let mut child = daggerboard()
            .args(["player", "--port", "0", "--bind", "127.0.0.1"])
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary runs");
        let port = port_of(&mut child);
        Player { child, port }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the player listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a time-out can be set");
        stream
    }

    /// Sends bytes and reads to the end of the stream, as Dresden's manager does.
    pub fn raw(&self, bytes: &[u8], close_after: bool) -> Answer {
        let mut stream = self.connect();
        stream.write_all(bytes).expect("the player takes it");
        if close_after {
            stream.shutdown(Shutdown::Write).expect("half of it can be closed");
        }
        Answer::read(&mut stream)
    }

    /// Posts a message the way ggp-base does.
    pub fn ask(&self, message: &str) -> String {
        self.raw(&post(message, Some(message.len())), false).body
    }

    /// Starts a match of [`PAINT`] for Ann.
    pub fn start_paint(&self, id: &str, clock: u32) -> String {
        self.ask(&start(id, "Ann", PAINT, clock))
    }

    pub fn is_available(&self) -> bool {
        self.ask("( INFO )").contains("( status available )")
    }
}

/// The port that a player prints when it begins.
pub fn port_of(player: &mut Child) -> u16 {
    let mut line = String::new();
    let stdout = player.stdout.take().expect("it is piped");
    BufReader::new(stdout).read_line(&mut line).expect("it prints its port");
    let port = line.trim().rsplit(' ').next().and_then(|port| port.parse().ok());
    port.unwrap_or_else(|| panic!("no port in {line:?}"))
}

impl Drop for Player {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a player answered.
#[derive(Debug)]
pub struct Answer {
    pub head: String,
    pub body: String,
}

impl Answer {
    pub fn read(stream: &mut TcpStream) -> Answer {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("an answer up to the end of the stream");
        let text = String::from_utf8(bytes).expect("the answer is UTF-8");
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        Answer { head: head.to_owned(), body: body.to_owned() }
    }
}

/// A POST; without a length if there is none.
pub fn post(message: &str, length: Option<usize>) -> Vec<u8> {
    let length = length.map(|length| format!("Content-Length: {length}\r\n")).unwrap_or_default();
    format!(
        "POST / HTTP/1.0\r\nAccept: text/delim\r\nHost: localhost\r\nSender: GAMESERVER\r\nReceiver: P\r\n\
         Content-Type: text/acl\r\n{length}\r\n{message}"
    )
    .into_bytes()
}

/// A START with both clocks alike.
pub fn start(id: &str, role: &str, rules: &str, clock: u32) -> String {
    format!("( START {id} {role} ({rules} ) {clock} {clock})")
}
