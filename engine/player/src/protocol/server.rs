//! The player's side: connections in, one answer each.
//!
//! Every connection has a thread to itself, so that a silent one blocks nobody; how many may be silent at
//! once, how long, and how much they may send is bounded. What an answer says is up to the [`Answer`] given.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::body::{Body, Outlook};
use super::http::{self, Head, HeadEnd, Method, Status};

/// Answers messages; `received` is when their last byte came.
pub trait Answer: Send + Sync + 'static {
    /// The answer, on one line.
    fn answer(&self, message: &str, received: Instant) -> String;
}

/// How many connections may be read from with patience; a manager needs one per message. One more closes the
/// oldest, and is itself given [`CROWD_SILENCE`] only.
const MAX_READING: usize = 32;
/// How many threads take connections: as many again are left for those that wait for an answer.
const N_THREADS: usize = 2 * MAX_READING;
/// The reader of messages nests at most 1000 levels.
const STACK_BYTES: usize = 4 << 20;
/// How long a connection may take to send a message.
const READ_TIME: Duration = Duration::from_secs(30);
/// How long it may be silent.
const SILENCE: Duration = Duration::from_secs(10);
/// How long it may be silent where there are too many. In a crowd that speaks at once nobody is closed: a busy
/// machine gets to a connection whose message is there within this time.
const CROWD_SILENCE: Duration = Duration::from_millis(100);
/// How long the rest of a message is waited for that should be over, but may not be.
const PATIENCE: Duration = Duration::from_millis(500);
/// How long a message is waited for whose announced length has come without one. If it does not come, it is an
/// empty one, which wants the answer to INFO within a second.
const BLANK_PATIENCE: Duration = Duration::from_millis(200);
/// The longest head, and with it the longest GET.
const MAX_HEAD_BYTES: usize = 1 << 20;
/// The longest message: 80 times the longest published rulesheet.
const MAX_BODY_BYTES: usize = 16 << 20;
/// How long and how much is read after the answer, so that it is not lost to a reset of the connection.
const LINGER: Duration = Duration::from_millis(500);
const MAX_LINGER_BYTES: usize = 64 << 20;

/// A listening player.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
}

/// The connections that are being read from, the oldest first.
#[derive(Debug, Default)]
struct Reading {
    next_ticket: u64,
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    ticket: u64,
    since: Instant,
    stream: TcpStream,
}

impl Server {
    /// Listens at an address; port 0 takes a free one.
    ///
    /// # Errors
    /// If the address cannot be had.
    pub fn bind(address: &str) -> std::io::Result<Server> {
        Ok(Server { listener: TcpListener::bind(address)? })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers for ever. The threads are made beforehand: on a machine that is all busy, a thread that wakes
    /// gets a core at once, a new one has to wait for its turn.
    ///
    /// # Errors
    /// If the system gives no threads.
    pub fn serve(self, player: &Arc<impl Answer>) -> std::io::Result<()> {
        let reading = Arc::new(Mutex::new(Reading::default()));
        let listener = Arc::new(self.listener);
        let mut threads = Vec::with_capacity(N_THREADS);
        for _ in 0..N_THREADS {
            let (listener, player, reading) =
                (Arc::clone(&listener), Arc::clone(player), Arc::clone(&reading));
            let thread = std::thread::Builder::new().name("connection".into()).stack_size(STACK_BYTES);
            threads.push(thread.spawn(move || serve_many(&listener, &*player, &reading))?);
        }
        // They never end; a panic in one leaves the others.
        threads.into_iter().for_each(|thread| drop(thread.join()));
        Ok(())
    }
}

/// Takes and answers connections, one after the other.
fn serve_many(listener: &TcpListener, player: &impl Answer, reading: &Mutex<Reading>) {
    loop {
        let served = match listener.accept() {
            Ok((stream, _)) => catch_unwind(AssertUnwindSafe(|| serve_one(stream, player, reading))),
            Err(error) => {
                // Out of file descriptors, most likely: others are about to give some back.
                tracing::warn!(%error, "a connection could not be taken");
                std::thread::sleep(Duration::from_millis(50));
                continue;
            }
        };
        match served {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::debug!(%error, "connection"),
            Err(_) => tracing::error!("a message could not be answered"),
        }
    }
}

/// Reads one message and answers it.
fn serve_one(mut stream: TcpStream, player: &impl Answer, reading: &Mutex<Reading>) -> std::io::Result<()> {
    // Answers are one short packet; waiting for more would only cost time.
    stream.set_nodelay(true)?;
    let (ticket, silence) = enter(reading, &stream)?;
    let incoming = read_message(&mut stream, silence);
    reading.lock().entries.retain(|entry| entry.ticket != ticket);
    let reply = match incoming? {
        Incoming::Message(bytes, received) => {
            let message = String::from_utf8_lossy(&bytes);
            http::answer(Status::Ok, &one_line(&player.answer(&message, received)))
        }
        Incoming::Empty => http::answer(Status::Ok, ""),
        Incoming::NotHttp => http::answer(Status::BadRequest, ""),
        Incoming::TooLong => {
            tracing::warn!("a message longer than {MAX_BODY_BYTES} bytes was refused");
            // In the protocol's words a START that is refused is `busy`.
            http::answer(Status::TooLarge, "busy")
        }
        Incoming::Nothing => return Ok(()),
    };
    stream.write_all(&reply)?;
    // The end of the stream is what Dresden's manager waits for.
    stream.shutdown(Shutdown::Write)?;
    drain(&mut stream)
}

/// Registers a connection, closing the oldest if there are too many. Its ticket, and how long it may be silent.
fn enter(reading: &Mutex<Reading>, stream: &TcpStream) -> std::io::Result<(u64, Duration)> {
    let stream = stream.try_clone()?;
    let mut reading = reading.lock();
    let is_crowd = reading.entries.len() >= MAX_READING;
    if is_crowd && reading.entries[0].since.elapsed() > CROWD_SILENCE {
        // It may be closed already.
        let _ = reading.entries.remove(0).stream.shutdown(Shutdown::Both);
    }
    let ticket = reading.next_ticket;
    reading.next_ticket += 1;
    reading.entries.push(Entry { ticket, since: Instant::now(), stream });
    Ok((ticket, if is_crowd { CROWD_SILENCE } else { SILENCE }))
}

/// What came over a connection.
enum Incoming {
    /// A message and when its last byte came.
    Message(Vec<u8>, Instant),
    /// A verb that only wants the headers.
    Empty,
    /// Something else than HTTP.
    NotHttp,
    /// More than will be read.
    TooLong,
    /// The connection ended before a head was complete.
    Nothing,
}

/// Reads with a limit on the whole and on each silence.
struct Reader<'a> {
    stream: &'a mut TcpStream,
    deadline: Instant,
    /// How long the sender may be silent.
    silence: Duration,
    bytes: Vec<u8>,
    /// When the last bytes came.
    received: Instant,
}

impl Reader<'_> {
    /// Appends what comes within `patience`; false at the end of the stream or when nothing came.
    fn more(&mut self, patience: Duration) -> std::io::Result<bool> {
        let left = self.deadline.saturating_duration_since(Instant::now()).min(patience);
        if left.is_zero() {
            return Ok(false);
        }
        self.stream.set_read_timeout(Some(left))?;
        let mut chunk = [0; 1 << 14];
        match self.stream.read(&mut chunk) {
            Ok(n_read) => {
                self.bytes.extend_from_slice(&chunk[..n_read]);
                if n_read > 0 {
                    self.received = Instant::now();
                }
                Ok(n_read > 0)
            }
            Err(error) if is_timeout(&error) => Ok(false),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => Ok(true),
            Err(error) => Err(error),
        }
    }
}

fn is_timeout(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut)
}

fn read_message(stream: &mut TcpStream, silence: Duration) -> std::io::Result<Incoming> {
    let now = Instant::now();
    let mut reader = Reader { stream, deadline: now + READ_TIME, silence, bytes: Vec::new(), received: now };
    let mut head_end = HeadEnd::default();
    let end = loop {
        if let Some(end) = head_end.find(&reader.bytes) {
            break end;
        }
        if reader.bytes.len() > MAX_HEAD_BYTES {
            return Ok(Incoming::TooLong);
        }
        if !reader.more(silence)? {
            return Ok(match reader.bytes.is_empty() {
                true => Incoming::Nothing,
                false => Incoming::NotHttp,
            });
        }
    };
    let Some(head) = http::parse_head(&reader.bytes[..end]) else { return Ok(Incoming::NotHttp) };
    match head.method {
        Method::Get => Ok(Incoming::Message(head.path, reader.received)),
        Method::Other => Ok(Incoming::Empty),
        Method::Post => read_body(reader, end, &head),
    }
}

/// Reads the body of a POST that begins at `start`.
fn read_body(mut reader: Reader<'_>, start: usize, head: &Head) -> std::io::Result<Incoming> {
    if head.expects_continue && reader.bytes.len() == start {
        reader.stream.write_all(http::CONTINUE)?;
    }
    let mut body = Body::new(head.content_length, head.is_chunked);
    let mut new = reader.bytes.split_off(start);
    loop {
        body.push(&new);
        if body.len() > MAX_BODY_BYTES {
            return Ok(Incoming::TooLong);
        }
        let patience = match body.outlook() {
            Outlook::Whole => break,
            Outlook::Doubtful => PATIENCE,
            Outlook::Blank => BLANK_PATIENCE,
            Outlook::Partial => reader.silence,
        };
        reader.bytes.clear();
        if !reader.more(patience)? {
            break;
        }
        std::mem::swap(&mut new, &mut reader.bytes);
    }
    Ok(Incoming::Message(body.into_message(), reader.received))
}

/// Section 3: an answer is one line.
fn one_line(text: &str) -> String {
    text.replace(['\r', '\n'], " ")
}

/// Reads what is still under way, for a while.
fn drain(stream: &mut TcpStream) -> std::io::Result<()> {
    let deadline = Instant::now() + LINGER;
    let mut chunk = [0; 1 << 14];
    let mut n_bytes = 0;
    while n_bytes < MAX_LINGER_BYTES {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut chunk) {
            Ok(0) | Err(_) => break,
            Ok(n_read) => n_bytes += n_read,
        }
    }
    Ok(())
}
