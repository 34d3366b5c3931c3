//! When a message is complete, and where it ends.
//!
//! Content-Length cannot be trusted: ggp-base sends a count of UTF-16 units, others none or a wrong one
//! (section 3). A message is one expression, so it is complete when its parentheses balance. In go the bytes
//! of a body as they arrive, out comes the message; the expressions themselves are read elsewhere.

/// A body that arrives piece by piece.
#[derive(Debug, Clone, Default)]
pub struct Body {
    /// As announced; none if nothing, or nothing readable, was.
    announced: Option<usize>,
    /// If it comes in chunks.
    chunks: Option<Chunks>,
    bytes: Vec<u8>,
    balance: Balance,
}

/// What is to be expected after what has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outlook {
    /// It is whole; nothing more is wanted.
    Whole,
    /// As much has come as was announced, or nothing was, and it looks whole; but only its sender knows.
    Doubtful,
    /// As much has come as was announced, and it is nothing but blanks.
    Blank,
    /// There is more to come.
    Partial,
}

impl Body {
    /// A body before its first byte.
    pub fn new(announced: Option<usize>, is_chunked: bool) -> Body {
        let chunks = is_chunked.then(Chunks::default);
        // In chunks a length means nothing (RFC 9112, section 6.3).
        let announced = announced.filter(|_| !is_chunked);
        Body { announced, chunks, ..Body::default() }
    }

    /// Takes further bytes of the connection.
    pub fn push(&mut self, bytes: &[u8]) {
        let from = self.bytes.len();
        match &mut self.chunks {
            Some(chunks) => chunks.push(bytes, &mut self.bytes),
            None => self.bytes.extend_from_slice(bytes),
        }
        self.balance.push(&self.bytes[from..]);
    }

    /// How many bytes of it have come.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// What is to be expected.
    pub fn outlook(&self) -> Outlook {
        let is_all = match &self.chunks {
            Some(chunks) => chunks.is_over(),
            None => self.announced.is_some_and(|announced| self.bytes.len() >= announced),
        };
        let is_open = self.balance.depth > 0;
        match self.balance.form {
            _ if self.balance.end.is_some() => Outlook::Whole,
            Form::Blank if is_all => Outlook::Blank,
            Form::Bare if is_all && !is_open => Outlook::Whole,
            _ if is_all => Outlook::Doubtful,
            Form::Bare if self.announced.is_none() && self.chunks.is_none() && !is_open => Outlook::Doubtful,
            _ => Outlook::Partial,
        }
    }

    /// The message: to the end of its expression, or to the announced length if that is more, or all that
    /// came. What follows belongs to another request.
    pub fn into_message(mut self) -> Vec<u8> {
        if let Some(end) = self.balance.end {
            self.bytes.truncate(self.announced.map_or(end, |announced| announced.max(end)));
        }
        self.bytes
    }
}

/// What a message begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Form {
    /// Nothing but blanks so far.
    #[default]
    Blank,
    /// A parenthesis; it ends with the one that closes it.
    Wrapped,
    /// Something else, such as `info`; only its length or the end of the stream ends it.
    Bare,
}

/// Counts parentheses outside comments.
#[derive(Debug, Clone, Default)]
struct Balance {
    form: Form,
    depth: usize,
    n_seen: usize,
    /// Where the parenthesis closes that the message begins with.
    end: Option<usize>,
    within: Within,
    last: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Within {
    #[default]
    Text,
    LineComment,
    BlockComment,
}

impl Balance {
    /// Takes further bytes of the message; those after its end do not matter.
    fn push(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.end.is_some() {
                return;
            }
            self.n_seen += 1;
            self.take(byte);
            self.last = byte;
        }
    }

    fn take(&mut self, byte: u8) {
        // The bytes of a byte order mark are blanks, too.
        if self.form == Form::Blank && byte > b' ' && !b"\xef\xbb\xbf".contains(&byte) {
            self.form = if byte == b'(' { Form::Wrapped } else { Form::Bare };
        }
        // Only inside the rules, where a blank or a parenthesis comes before it: match ids may hold `;`.
        let is_inside = self.depth > usize::from(self.form == Form::Wrapped);
        match (self.within, byte) {
            (Within::Text, b'(') => self.depth += 1,
            (Within::Text, b')') => {
                self.depth = self.depth.saturating_sub(1);
                self.end = (self.form == Form::Wrapped && self.depth == 0).then_some(self.n_seen);
            }
            (Within::Text, b';') if is_inside => self.within = Within::LineComment,
            (Within::Text, b'|') if self.last == b'#' && is_inside => self.within = Within::BlockComment,
            (Within::LineComment, b'\n' | b'\r') => self.within = Within::Text,
            (Within::BlockComment, b'#') if self.last == b'|' => self.within = Within::Text,
            _ => {}
        }
    }
}

/// Takes a body out of its chunks (RFC 9112, section 7.1).
#[derive(Debug, Clone, Default)]
struct Chunks {
    at: At,
    /// The line of a size, as far as it has come.
    line: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum At {
    /// In the line that gives the size of a chunk, or in the empty one that ends a chunk.
    #[default]
    Size,
    /// In a chunk, with so many bytes to come.
    Chunk(usize),
    /// Behind the last chunk, or where a size cannot be read.
    End,
}

/// A size has a few digits; extensions are unheard of.
const MAX_SIZE_LINE: usize = 256;

impl Chunks {
    /// Appends the content of `bytes` to `content`.
    fn push(&mut self, mut bytes: &[u8], content: &mut Vec<u8>) {
        while let Some(&byte) = bytes.first() {
            match self.at {
                At::Size if byte == b'\n' => {
                    self.at = self.size_read();
                    self.line.clear();
                    bytes = &bytes[1..];
                }
                At::Size if self.line.len() == MAX_SIZE_LINE => self.at = At::End,
                At::Size => {
                    self.line.push(byte);
                    bytes = &bytes[1..];
                }
                At::Chunk(0) => self.at = At::Size,
                At::Chunk(left) => {
                    let (now, later) = bytes.split_at(left.min(bytes.len()));
                    content.extend_from_slice(now);
                    self.at = At::Chunk(left - now.len());
                    bytes = later;
                }
                At::End => return,
            }
        }
    }

    /// What a line of a size, which is complete, leads to.
    fn size_read(&self) -> At {
        let line = String::from_utf8_lossy(&self.line);
        let digits = line.split(';').next().unwrap_or_default().trim();
        match usize::from_str_radix(digits, 16) {
            _ if digits.is_empty() => At::Size,
            Ok(0) | Err(_) => At::End,
            Ok(size) => At::Chunk(size),
        }
    }

    fn is_over(&self) -> bool {
        self.at == At::End
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(announced: Option<usize>, text: &str) -> Body {
        let mut body = Body::new(announced, false);
        body.push(text.as_bytes());
        body
    }

    fn message(body: Body) -> String {
        String::from_utf8(body.into_message()).unwrap()
    }

    #[test]
    fn a_message_is_whole_when_it_balances() {
        assert_eq!(body(None, "( PLAY a;b (noop (mark 1)) )").outlook(), Outlook::Whole);
        assert_eq!(body(None, "( PLAY a;b (noop (mark 1) )").outlook(), Outlook::Partial);
        assert_eq!(body(Some(500), "\u{feff} (info)").outlook(), Outlook::Whole);
        assert_eq!(body(Some(3), "( PLAY m").outlook(), Outlook::Doubtful);
    }

    #[test]
    fn a_message_without_parentheses_is_as_long_as_announced() {
        assert_eq!(body(Some(4), "info").outlook(), Outlook::Whole);
        assert_eq!(body(Some(9), "info").outlook(), Outlook::Partial);
        assert_eq!(body(None, "info").outlook(), Outlook::Doubtful);
        assert_eq!(body(Some(30), "START m x ((role x)) ").outlook(), Outlook::Partial);
        assert_eq!(body(None, "").outlook(), Outlook::Partial);
        assert_eq!(body(Some(2), "\r\n").outlook(), Outlook::Blank);
    }

    #[test]
    fn comments_in_rules_do_not_count() {
        let text = "(start m r ((role r) ; (\n (p) #| (( |# ) 1 1)";
        assert_eq!(body(None, text).outlook(), Outlook::Whole);
        assert_eq!(body(None, "(start m r ((role r) ; )\n").outlook(), Outlook::Partial);
    }

    #[test]
    fn what_follows_a_message_is_left() {
        assert_eq!(message(body(Some(6), "(ping)POST / HTTP/1.0")), "(ping)");
        assert_eq!(message(body(None, "(ping)\r\nPOST (")), "(ping)");
        // ggp-base counts UTF-16 units, which are fewer.
        assert_eq!(message(body(Some(5), "(\u{e9}\u{e9}\u{e9})")), "(\u{e9}\u{e9}\u{e9})");
        // What the sender counts as one message is one, even if it makes no sense.
        assert_eq!(message(body(Some(7), "(ping)(")), "(ping)(");
    }

    #[test]
    fn chunks_are_joined_however_they_arrive() {
        let wire = b"3\r\n( P\r\n5;x=y\r\nING )\r\n0\r\n\r\n";
        for size in 1..=wire.len() {
            let mut body = Body::new(Some(1), true);
            wire.chunks(size).for_each(|piece| body.push(piece));
            assert_eq!((body.outlook(), message(body).as_str()), (Outlook::Whole, "( PING )"), "{size}");
        }
    }

    #[test]
    fn chunks_that_break_the_rules_end() {
        for wire in
            ["x\r\n( PING )", "ffffffffffffffffff\r\n( PING )", &"1".repeat(1000), "0\r\n\r\n", "-1\r\n("]
        {
            let mut body = Body::new(None, true);
            body.push(wire.as_bytes());
            assert_eq!((body.outlook(), body.len()), (Outlook::Blank, 0), "{wire}");
        }
    }
}
