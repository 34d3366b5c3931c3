//! The one reader of S-expressions, for rulesheets and for protocol messages.
//!
//! In goes text, out come [`Sexpr`]s whose spans are byte offsets into that text. It knows blanks,
//! parentheses, `;` comments to the end of the line (CR or LF), `#| |#` comments and byte order marks (blanks,
//! since joined files have them inside); every other run of characters is an atom. It gives no meaning to any word.

use std::fmt;

/// How deeply parentheses may nest. The deepest published rulesheet nests 25 levels.
pub const MAX_DEPTH: usize = 1000;

/// How long a text may be. The longest published rulesheet has about 200 kB.
pub const MAX_TEXT_BYTES: usize = 64 << 20;

/// A range of bytes of the text that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    fn new(start: usize, end: usize) -> Span {
        // `MAX_TEXT_BYTES` is far below `u32::MAX`.
        let narrow = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Span { start: narrow(start), end: narrow(end) }
    }

    /// The text under the span, or nothing if it belongs to another text.
    pub fn of(self, text: &str) -> &str {
        text.get(self.start as usize..self.end as usize).unwrap_or("")
    }

    /// Where the span begins in `text`.
    pub fn position(self, text: &str) -> Position {
        Position::of_offset(text, self.start as usize)
    }
}

/// A place in a text as an editor shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Counted from 1; lines end at LF, CR LF or a lone CR.
    pub line: u32,
    /// Counted from 1, in characters.
    pub column: u32,
}

impl Position {
    /// The place of the byte `offset` of `text`; an offset past the end is the end.
    pub fn of_offset(text: &str, offset: usize) -> Position {
        let mut end = offset.min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let (mut line, mut column) = (1, 1);
        let mut before = text[..end].trim_start_matches('\u{feff}').chars().peekable();
        while let Some(c) = before.next() {
            if c == '\n' || (c == '\r' && before.peek() != Some(&'\n')) {
                line += 1;
                column = 1;
            } else {
                column += 1;
            }
        }
        Position { line, column }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// An expression with the place it was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sexpr {
    /// What was read.
    pub kind: SexprKind,
    /// Where, parentheses included.
    pub span: Span,
}

/// The two kinds of expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SexprKind {
    /// A run of characters without blanks, parentheses or `;`.
    Atom(Box<str>),
    /// `(` expressions `)`.
    List(Vec<Sexpr>),
}

impl Sexpr {
    /// The text of an atom.
    pub fn atom(&self) -> Option<&str> {
        match &self.kind {
            SexprKind::Atom(text) => Some(text),
            SexprKind::List(_) => None,
        }
    }

    /// The elements of a list.
    pub fn list(&self) -> Option<&[Sexpr]> {
        match &self.kind {
            SexprKind::Atom(_) => None,
            SexprKind::List(items) => Some(items),
        }
    }

    /// The atom at the head of a list, or the atom itself.
    pub fn head(&self) -> Option<&str> {
        match &self.kind {
            SexprKind::Atom(text) => Some(text),
            SexprKind::List(items) => items.first().and_then(Sexpr::atom),
        }
    }
}

impl fmt::Display for Sexpr {
    /// One space between parts, none after `(` or before `)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            SexprKind::Atom(text) => f.write_str(text),
            SexprKind::List(items) => {
                f.write_str("(")?;
                for (item_idx, item) in items.iter().enumerate() {
                    if item_idx > 0 {
                        f.write_str(" ")?;
                    }
                    write!(f, "{item}")?;
                }
                f.write_str(")")
            }
        }
    }
}

/// Why a text is not a sequence of S-expressions.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{position}: {kind}")]
pub struct ReadError {
    /// Where the reader gave up.
    pub position: Position,
    /// What was wrong there.
    pub kind: ReadErrorKind,
}

/// The kinds of [`ReadError`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadErrorKind {
    /// A closing parenthesis without an opening one.
    #[error("a closing parenthesis without an opening one; remove it, or open the expression before it")]
    Unopened,
    /// An opening parenthesis that is never closed; the position is that of the parenthesis.
    #[error("this parenthesis is never closed; add the missing \")\"")]
    Unclosed,
    /// Parentheses nest beyond [`MAX_DEPTH`].
    #[error("parentheses nest deeper than {MAX_DEPTH} levels; flatten the expression")]
    TooDeep,
    /// The text is longer than [`MAX_TEXT_BYTES`].
    #[error("the text is longer than {MAX_TEXT_BYTES} bytes")]
    TooLong,
    /// `#|` without `|#`.
    #[error("this block comment is never closed; add the missing \"|#\"")]
    UnclosedComment,
    /// One expression was wanted.
    #[error("one expression is wanted here, found {0}")]
    NotOne(usize),
}

/// Reads every expression of a text.
///
/// # Errors
/// Unbalanced parentheses or comments, and texts beyond [`MAX_DEPTH`] or [`MAX_TEXT_BYTES`].
pub fn read_all(text: &str) -> Result<Vec<Sexpr>, ReadError> {
    let fail = |offset: usize, kind| ReadError { position: Position::of_offset(text, offset), kind };
    if text.len() > MAX_TEXT_BYTES {
        return Err(ReadError { position: Position { line: 1, column: 1 }, kind: ReadErrorKind::TooLong });
    }
    let mut done = Vec::new();
    // The lists that are open, innermost last, each with the offset of its parenthesis.
    let mut open: Vec<(usize, Vec<Sexpr>)> = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let next = match bytes[at] {
            b'(' => {
                if open.len() == MAX_DEPTH {
                    return Err(fail(at, ReadErrorKind::TooDeep));
                }
                open.push((at, Vec::new()));
                at + 1
            }
            b')' => {
                let Some((start, items)) = open.pop() else {
                    return Err(fail(at, ReadErrorKind::Unopened));
                };
                let list = Sexpr { kind: SexprKind::List(items), span: Span::new(start, at + 1) };
                open.last_mut().map_or(&mut done, |(_, items)| items).push(list);
                at + 1
            }
            b';' => skip_line_comment(bytes, at),
            b'#' if bytes.get(at + 1) == Some(&b'|') => match text[at + 2..].find("|#") {
                Some(length) => at + 2 + length + 2,
                None => return Err(fail(at, ReadErrorKind::UnclosedComment)),
            },
            byte if is_blank(byte) => at + 1,
            _ if is_byte_order_mark(bytes, at) => at + BYTE_ORDER_MARK.len(),
            _ => {
                let end = end_of_atom(bytes, at);
                let atom = Sexpr { kind: SexprKind::Atom(text[at..end].into()), span: Span::new(at, end) };
                open.last_mut().map_or(&mut done, |(_, items)| items).push(atom);
                end
            }
        };
        at = next;
    }
    match open.pop() {
        Some((start, _)) => Err(fail(start, ReadErrorKind::Unclosed)),
        None => Ok(done),
    }
}

/// Reads a text that holds exactly one expression.
///
/// # Errors
/// As [`read_all`], and where there is no expression or more than one.
pub fn read_one(text: &str) -> Result<Sexpr, ReadError> {
    let mut all = read_all(text)?;
    match (all.len(), all.pop()) {
        (1, Some(only)) => Ok(only),
        (n, _) => Err(ReadError {
            position: all.get(1).map_or(Position { line: 1, column: 1 }, |second| second.span.position(text)),
            kind: ReadErrorKind::NotOne(n),
        }),
    }
}

/// Blanks and other control characters separate atoms.
fn is_blank(byte: u8) -> bool {
    byte <= b' ' || byte == 0x7f
}

/// U+FEFF in UTF-8.
const BYTE_ORDER_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

fn is_byte_order_mark(bytes: &[u8], at: usize) -> bool {
    bytes[at..].starts_with(&BYTE_ORDER_MARK)
}

fn skip_line_comment(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().position(|&byte| byte == b'\n' || byte == b'\r').map_or(bytes.len(), |n| at + n)
}

fn end_of_atom(bytes: &[u8], at: usize) -> usize {
    let ends = |&end: &usize| {
        is_blank(bytes[end])
            || matches!(bytes[end], b'(' | b')' | b';')
            || bytes[end..].starts_with(b"#|")
            || is_byte_order_mark(bytes, end)
    };
    (at..bytes.len()).find(ends).unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &str) -> String {
        match read_all(text) {
            Ok(all) => all.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn blanks_and_comments_separate() {
        assert_eq!(printed("\u{feff}(a\tb)(c;x)\r(d) #| ( |# e)"), "(a b) (c (d) e)");
        assert_eq!(printed("(p);no line feed"), "(p)");
        assert_eq!(printed("(a)\u{feff}(b\u{feff}c) \u{feff}\u{feff}d"), "(a) (b c) d");
    }

    #[test]
    fn odd_names_are_atoms() {
        assert_eq!(printed("(8puzzle + ++ ?x++ <= a#b a|#)"), "(8puzzle + ++ ?x++ <= a#b a|#)");
        assert_eq!(printed("(a#|)|#b)"), "(a b)");
    }

    #[test]
    fn errors_have_line_and_column() {
        assert!(printed("(a)\r\n (b").starts_with("2:2: this parenthesis is never closed"));
        assert!(printed("(a)\r)").starts_with("2:1: a closing parenthesis"));
        assert!(printed("a\n #| b").starts_with("2:2: this block comment"));
    }

    #[test]
    fn depth_is_bounded() {
        let deep = |n: usize| "(".repeat(n) + &")".repeat(n);
        assert!(read_all(&deep(MAX_DEPTH)).is_ok());
        assert!(printed(&deep(MAX_DEPTH + 1)).contains("nest deeper"));
        assert!(printed(&"(".repeat(1_000_000)).contains("nest deeper"));
    }

    #[test]
    fn spans_give_back_the_text() {
        let text = "(a (b  c))";
        let all = read_all(text).unwrap();
        assert_eq!(all[0].list().unwrap()[1].span.of(text), "(b  c)");
    }

    #[test]
    fn one_expression_is_one() {
        assert!(read_one("(a)").is_ok());
        assert!(read_one("").is_err());
        assert_eq!(read_one("a b").unwrap_err().kind, ReadErrorKind::NotOne(2));
    }
}
