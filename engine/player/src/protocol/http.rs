//! HTTP/1.0 as managers and players speak it (sections 2 and 3).
//!
//! In go the bytes of a head, out come the few things in it that matter; answers are written the way
//! ggp-base's player does. It does not read from a connection.

use std::fmt::Write as _;

/// How many header lines a head may have; managers send seven.
const MAX_HEADERS: usize = 128;

/// What matters of a request's head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The verb.
    pub method: Method,
    /// The path without its slash, decoded: the message of a GET.
    pub path: Vec<u8>,
    /// As announced, if it could be read.
    pub content_length: Option<usize>,
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

/// Where a head ends, counted with its empty line; none while it is incomplete.
pub fn head_end(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(length) = bytes[at..].iter().position(|&byte| byte == b'\n') {
        let line = &bytes[at..at + length];
        at += length + 1;
        if line.is_empty() || line == b"\r" {
            return Some(at);
        }
    }
    None
}

/// Reads a head.
///
/// # Errors
/// If it is no HTTP request.
pub fn parse_head(bytes: &[u8]) -> Result<Head, httparse::Error> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    if request.parse(bytes)?.is_partial() {
        return Err(httparse::Error::NewLine);
    }
    let method = match request.method.unwrap_or("") {
        method if method.eq_ignore_ascii_case("post") => Method::Post,
        method if method.eq_ignore_ascii_case("get") => Method::Get,
        _ => Method::Other,
    };
    let path = request.path.unwrap_or("");
    Ok(Head {
        method,
        path: url_decoded(path.strip_prefix('/').unwrap_or(path)),
        content_length: content_length(request.headers),
    })
}

/// The announced length of a body.
pub fn content_length(headers: &[httparse::Header<'_>]) -> Option<usize> {
    let header = headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"))?;
    std::str::from_utf8(header.value).ok()?.trim().parse().ok()
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

    #[test]
    fn a_head_needs_no_host() {
        let text = b"POST / HTTP/1.0\r\nSender: Gamecontroller\r\ncontent-length:8\r\n\r\n( INFO )";
        let end = head_end(text).unwrap();
        assert_eq!(&text[end..], b"( INFO )");
        let head = parse_head(&text[..end]).unwrap();
        assert_eq!((head.method, head.content_length), (Method::Post, Some(8)));
    }

    #[test]
    fn an_unreadable_length_is_none() {
        let head = parse_head(b"POST / HTTP/1.0\r\nContent-Length: xx\r\n\r\n").unwrap();
        assert_eq!(head.content_length, None);
    }

    #[test]
    fn the_message_of_a_get_is_decoded() {
        let head = parse_head(b"GET /%28+PLAY+a%2Bb+NIL+%29 HTTP/1.0\r\n\r\n").unwrap();
        assert_eq!((head.method, head.path.as_slice()), (Method::Get, b"( PLAY a+b NIL )".as_slice()));
        assert_eq!(url_decoded("%zz%2"), b"%zz%2");
    }

    #[test]
    fn an_answer_counts_bytes() {
        let text = String::from_utf8(answer(Status::Ok, "\u{e9}")).unwrap();
        assert!(text.starts_with("HTTP/1.0 200 OK\r\n") && text.contains("Content-length: 2\r\n"));
    }
}
