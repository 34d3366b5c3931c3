//! The manager's side: one message, one connection, one answer.
//!
//! It keeps the time it is given and says why there is no answer. It does not read the answer's meaning.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use super::http;

/// What ggp-base allows for making the connection (section 6).
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The longest answer that is read; a move has some dozen characters.
const MAX_ANSWER_BYTES: usize = 1 << 20;

/// A player somewhere else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// `host:port`
    pub host_port: String,
}

/// Why a player gave no answer, in the two kinds that ggp-base tells apart.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// The time was over.
    #[error("no answer in time")]
    TimedOut,
    /// There is no connection, or what came is no answer.
    #[error("{0}")]
    Connection(String),
}

/// Sends a message and waits at most `time` for the whole answer, counted from the last byte sent.
///
/// # Errors
/// If no answer came in time, or none can come.
pub fn ask(address: &Address, message: &str, time: Duration) -> Result<String, AskError> {
    let failed = |error: std::io::Error| match error.kind() {
        ErrorKind::TimedOut | ErrorKind::WouldBlock => AskError::TimedOut,
        _ => AskError::Connection(error.to_string()),
    };
    let mut stream = connect(address)?;
    let host = address.host_port.rsplit_once(':').map_or(address.host_port.as_str(), |(host, _)| host);
    stream.set_write_timeout(Some(time.max(Duration::from_millis(1)))).map_err(failed)?;
    stream.write_all(&http::request(host, "", message)).map_err(failed)?;
    let deadline = Instant::now() + time;
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(AskError::TimedOut);
        }
        stream.set_read_timeout(Some(left)).map_err(failed)?;
        let n_read = stream.read(&mut chunk).map_err(failed)?;
        bytes.extend_from_slice(&chunk[..n_read]);
        if let Some(answer) = answer_in(&bytes, n_read == 0) {
            return Ok(answer);
        }
        if n_read == 0 || bytes.len() > MAX_ANSWER_BYTES {
            return Err(AskError::Connection("what came is no HTTP answer".to_owned()));
        }
    }
}

fn connect(address: &Address) -> Result<TcpStream, AskError> {
    let failed = |error: std::io::Error| AskError::Connection(error.to_string());
    let mut last = AskError::Connection(format!("{} has no address", address.host_port));
    for target in address.host_port.to_socket_addrs().map_err(failed)? {
        match TcpStream::connect_timeout(&target, CONNECT_TIMEOUT) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = failed(error),
        }
    }
    Err(last)
}

/// The body of a complete answer; without a length it ends with the connection.
fn answer_in(bytes: &[u8], ended: bool) -> Option<String> {
    let end = http::HeadEnd::default().find(bytes)?;
    let (head, body) = bytes.split_at(end);
    match http::content_length(head) {
        Some(length) if body.len() >= length => Some(text(&body[..length])),
        _ if ended => Some(text(body)),
        _ => None,
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_ends_with_its_length_or_with_the_connection() {
        let bytes = http::answer(http::Status::Ok, "(mark 1 1)");
        assert_eq!(answer_in(&bytes, false).as_deref(), Some("(mark 1 1)"));
        assert_eq!(answer_in(&bytes[..bytes.len() - 1], false), None);
        assert_eq!(answer_in(b"HTTP/1.0 200 OK\r\n\r\nnoop", true).as_deref(), Some("noop"));
    }
}
