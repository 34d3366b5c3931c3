//! HTTP/1.0 as managers and players speak it (sections 2 and 3).
//!
//! In go the bytes of a head, out come the few things in it that matter; answers are written the way
//! ggp-base's player does. It does not read from a connection.

use std::fmt::Write as _;

/// What matters of a request's head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The verb.
    pub method: Method,
    /// The path without its slash, decoded: the message of a GET.
    pub path: Vec<u8>,
    /// As announced, if it could be read.
    pub content_length: Option<usize>,
    /// Whether the body comes in chunks (RFC 9112, section 7.1).
    pub is_chunked: bool,
    /// Whether the sender waits for a word before it sends the body (RFC 9110, section 10.1.1).
    pub expects_continue: bool,
}

/// The verbs that mean something to a player.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// The message is in the body.
    Post,
    /// The message is in the path.
    Get,
    /// A browser asks whether it may post; and every other verb, which gets the same empty answer.
    Other,
}

/// What a sender that expects a word is told.
pub const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// Looks for the end of a head in bytes that grow.
#[derive(Debug, Clone, Default)]
pub struct HeadEnd {
    n_seen: usize,
    line_start: usize,
    /// Whether there was a line that is not empty: those before it do not count (RFC 9112, section 2.2).
    has_begun: bool,
}

impl HeadEnd {
    /// Where the head ends, counted with its empty line; none while it is incomplete. `bytes` begin with
    /// those of the call before.
    pub fn find(&mut self, bytes: &[u8]) -> Option<usize> {
        while let Some(length) = bytes[self.n_seen..].iter().position(|&byte| byte == b'\n') {
            let line = &bytes[self.line_start..self.n_seen + length];
            self.n_seen += length + 1;
            self.line_start = self.n_seen;
            match line.trim_ascii().is_empty() {
                true if self.has_begun => return Some(self.n_seen),
                true => {}
                false => self.has_begun = true,
            }
        }
        self.n_seen = bytes.len();
        None
    }
}

/// Reads a head, none if it is no HTTP request. What no player needs is not looked at: a header that breaks
/// the rules costs a move if it is refused, and nothing if it is skipped.
pub fn parse_head(bytes: &[u8]) -> Option<Head> {
    let line = lines(bytes).find(|line| !line.is_empty())?;
    let line = String::from_utf8_lossy(line);
    let (method, target) = line.split_once(char::is_whitespace).unwrap_or((&line, ""));
    if method.is_empty() || !method.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return None;
    }
    let method = match method {
        method if method.eq_ignore_ascii_case("post") => Method::Post,
        method if method.eq_ignore_ascii_case("get") => Method::Get,
        _ => Method::Other,
    };
    // The path may hold blanks that nobody encoded; the version is the last word.
    let (path, version) = match target.rsplit_once(char::is_whitespace) {
        Some((path, version)) if is_version(version) => (path.trim(), version),
        _ if is_version(target) => ("", target),
        _ => (target.trim(), ""),
    };
    let says = |name: &str, word: &str| {
        header(bytes, name)
            .is_some_and(|value| String::from_utf8_lossy(value).to_ascii_lowercase().contains(word))
    };
    Some(Head {
        method,
        path: url_decoded(path.strip_prefix('/').unwrap_or(path)),
        content_length: content_length(bytes),
        is_chunked: says("transfer-encoding", "chunked"),
        expects_continue: version.eq_ignore_ascii_case("http/1.1") && says("expect", "100-continue"),
    })
}

fn is_version(word: &str) -> bool {
    word.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("http/"))
}

/// The announced length of a body, in the head of a request or an answer.
pub fn content_length(head: &[u8]) -> Option<usize> {
    std::str::from_utf8(header(head, "content-length")?).ok()?.parse().ok()
}

/// The lines of a head without their ends.
fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii)
}

/// The value of the first header of that name.
fn header<'a>(head: &'a [u8], name: &str) -> Option<&'a [u8]> {
    lines(head).find_map(|line| {
        let colon = line.iter().position(|&byte| byte == b':')?;
        let is_it = line[..colon].trim_ascii().eq_ignore_ascii_case(name.as_bytes());
        is_it.then(|| line[colon + 1..].trim_ascii())
    })
}

/// Undoes what `URLEncoder` does to the message of a GET.
fn url_decoded(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = |at: usize| bytes.get(at).and_then(|&byte| char::from(byte).to_digit(16));
        match (bytes[at], hex(at + 1), hex(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                decoded.push(u8::try_from(high * 16 + low).unwrap_or(b'?'));
                at += 3;
            }
            (byte, ..) => {
                decoded.push(if byte == b'+' { b' ' } else { byte });
                at += 1;
            }
        }
    }
    decoded
}

/// The status line of an answer. Managers do not look at it; people do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// 200
    Ok,
    /// 400
    BadRequest,
    /// 413
    TooLarge,
}

/// An answer as ggp-base's player writes it, which is safe for all known managers.
pub fn answer(status: Status, body: &str) -> Vec<u8> {
    let status = match status {
        Status::Ok => "200 OK",
        Status::BadRequest => "400 Bad Request",
        Status::TooLarge => "413 Content Too Large",
    };
    format!(
        "HTTP/1.0 {status}\r\nContent-type: text/acl\r\nContent-length: {}\r\n\
         Access-Control-Allow-Origin: *\r\nAccess-Control-Allow-Methods: POST, GET, OPTIONS\r\n\
         Access-Control-Allow-Headers: Content-Type\r\nAccess-Control-Allow-Age: 86400\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// A message as ggp-base's manager posts it.
pub fn request(host: &str, receiver: &str, message: &str) -> Vec<u8> {
    let mut text = format!("POST / HTTP/1.0\r\nAccept: text/delim\r\nHost: {host}\r\n");
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "Sender: GAMESERVER\r\nReceiver: {receiver}\r\nContent-Type: text/acl\r\nContent-Length: {}\r\n\r\n{message}",
        message.len()
    );
    text.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(text: &str) -> Head {
        let end = HeadEnd::default().find(text.as_bytes()).unwrap();
        parse_head(&text.as_bytes()[..end]).unwrap()
    }

    #[test]
    fn a_head_needs_no_host() {
        let text = b"POST / HTTP/1.0\r\nSender: Gamecontroller\r\ncontent-length:8\r\n\r\n( INFO )";
        let end = HeadEnd::default().find(text).unwrap();
        assert_eq!(&text[end..], b"( INFO )");
        let head = parse_head(&text[..end]).unwrap();
        assert_eq!((head.method, head.content_length), (Method::Post, Some(8)));
    }

    #[test]
    fn the_end_of_a_head_is_found_however_it_arrives() {
        let text = b"\r\n\nPOST / HTTP/1.0\r\nA: b\n\r\n( INFO )\n\n";
        let mut end = HeadEnd::default();
        let found: Vec<_> = (0..text.len()).map(|n_bytes| end.clone().find(&text[..n_bytes])).collect();
        assert!(found.iter().flatten().all(|&at| at == text.len() - 10), "{found:?}");
        let one_by_one = (0..text.len()).find_map(|n_bytes| end.find(&text[..n_bytes]));
        assert_eq!(one_by_one, Some(text.len() - 10));
    }

    #[test]
    fn headers_that_break_the_rules_do_no_harm() {
        for odd in [
            "Foo\r\n",
            "A: b\r\n c: d\r\n",
            "Receiver: \u{1}\u{e9}\r\n",
            ": x\r\n",
            "\u{fffd}: x\r\n",
            &"X: y\r\n".repeat(1000),
        ] {
            let head = head(&format!("POST / HTTP/1.0\r\n{odd}Content-Length : 8\r\n\r\n"));
            assert_eq!((head.method, head.content_length), (Method::Post, Some(8)), "{odd:?}");
        }
    }

    #[test]
    fn the_first_line_is_read_leniently() {
        for line in ["POST /", "POST", "post / http/1.0", "POST  HTTP/1.1", "POST http://a:1/ HTTP/2"] {
            assert_eq!(head(&format!("{line}\r\n\r\n")).method, Method::Post, "{line}");
        }
        for line in ["\0\0", "\u{16}\u{3}", "( INFO )", "12 / HTTP/1.0"] {
            assert_eq!(parse_head(line.as_bytes()), None, "{line:?}");
        }
    }

    #[test]
    fn chunks_and_expectations_are_noticed() {
        let chunked = head("POST / HTTP/1.1\r\nTRANSFER-ENCODING: gzip, Chunked\r\n\r\n");
        assert!(chunked.is_chunked && !chunked.expects_continue);
        assert!(head("POST / HTTP/1.1\r\nExpect: 100-Continue\r\n\r\n").expects_continue);
        // Nobody who speaks 1.0 understands it.
        assert!(!head("POST / HTTP/1.0\r\nExpect: 100-continue\r\n\r\n").expects_continue);
    }

    #[test]
    fn an_unreadable_length_is_none() {
        for length in ["xx", "-1", "8.0", "99999999999999999999", "\u{e9}", ""] {
            let head = head(&format!("POST / HTTP/1.0\r\nContent-Length: {length}\r\n\r\n"));
            assert_eq!(head.content_length, None, "{length}");
        }
    }

    #[test]
    fn the_message_of_a_get_is_decoded() {
        for path in ["/%28+PLAY+a%2Bb+NIL+%29", "/( PLAY a%2bb NIL )"] {
            let head = head(&format!("GET {path} HTTP/1.0\r\n\r\n"));
            assert_eq!((head.method, head.path.as_slice()), (Method::Get, b"( PLAY a+b NIL )".as_slice()));
        }
        assert_eq!(url_decoded("%zz%2"), b"%zz%2");
    }

    #[test]
    fn an_answer_counts_bytes() {
        let text = String::from_utf8(answer(Status::Ok, "\u{e9}")).unwrap();
        assert!(text.starts_with("HTTP/1.0 200 OK\r\n") && text.contains("Content-length: 2\r\n"));
    }
}
