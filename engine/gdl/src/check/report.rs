//! Collects what the checks find and turns it into messages.

use std::fmt::{self, Write};

use super::{Message, Severity};
use crate::description::Description;
use crate::sexpr::{Position, Sexpr, Span};

/// How many characters of a statement a message shows.
const MAX_RULE_CHARS: usize = 160;

/// How many characters of an expression a message's text shows.
const MAX_QUOTE_CHARS: usize = 60;

/// What was found so far.
#[derive(Default)]
pub(super) struct Report {
    findings: Vec<Finding>,
}

struct Finding {
    severity: Severity,
    /// The statement and the place in it; none where the whole sheet is meant.
    place: Option<(usize, Span)>,
    text: String,
    hint: String,
}

impl Report {
    pub(super) fn error(&mut self, statement: usize, at: &Sexpr, text: String, hint: impl Into<String>) {
        self.add(Severity::Error, Some((statement, at.span)), text, hint.into());
    }

    pub(super) fn warning(&mut self, statement: usize, at: &Sexpr, text: String, hint: impl Into<String>) {
        self.add(Severity::Warning, Some((statement, at.span)), text, hint.into());
    }

    /// A finding about the sheet as a whole.
    pub(super) fn whole(&mut self, severity: Severity, text: String, hint: impl Into<String>) {
        self.add(severity, None, text, hint.into());
    }

    fn add(&mut self, severity: Severity, place: Option<(usize, Span)>, text: String, hint: String) {
        self.findings.push(Finding { severity, place, text, hint });
    }

    /// The messages in the order of the text, those about the whole sheet first.
    pub(super) fn into_messages(mut self, description: &Description) -> Vec<Message> {
        self.findings.sort_by_key(|finding| finding.place.map(|(statement, span)| (statement, span.start)));
        let mut places = Places::new(description.text());
        let message = |finding: Finding| Message {
            severity: finding.severity,
            position: finding
                .place
                .map_or(Position { line: 1, column: 1 }, |(_, span)| places.position(span.start as usize)),
            rule: finding.place.map_or(String::new(), |(statement, _)| {
                shortened(&description.statements()[statement], MAX_RULE_CHARS)
            }),
            text: finding.text,
            hint: finding.hint,
        };
        self.findings.into_iter().map(message).collect()
    }
}

/// An expression as a message's text quotes it.
pub(super) fn quoted(what: &impl fmt::Display) -> String {
    format!("\"{}\"", shortened(what, MAX_QUOTE_CHARS))
}

/// The first characters of what is displayed, and `...` if there are more. Takes no longer than that.
fn shortened(what: &impl fmt::Display, max_chars: usize) -> String {
    struct Shortener {
        text: String,
        n_left: usize,
    }
    impl Write for Shortener {
        fn write_str(&mut self, part: &str) -> fmt::Result {
            for c in part.chars() {
                if self.n_left == 0 {
                    return Err(fmt::Error);
                }
                self.n_left -= 1;
                self.text.push(c);
            }
            Ok(())
        }
    }
    let mut shortener = Shortener { text: String::new(), n_left: max_chars };
    if write!(shortener, "{what}").is_err() {
        shortener.text.push_str("...");
    }
    shortener.text
}

/// Positions of rising offsets, each found from the one before.
struct Places<'a> {
    text: &'a str,
    offset: usize,
    position: Position,
}

impl<'a> Places<'a> {
    fn new(text: &'a str) -> Places<'a> {
        Places { text, offset: 0, position: Position { line: 1, column: 1 } }
    }

    fn position(&mut self, offset: usize) -> Position {
        match self.text.get(self.offset..offset) {
            Some(between) => {
                let step = Position::of_offset(between, between.len());
                // A lone CR before the step ends a line, but the CR of a CR LF that is cut in two would
                // count twice; no span begins between the two.
                self.position.column =
                    if step.line > 1 { step.column } else { self.position.column + step.column - 1 };
                self.position.line += step.line - 1;
            }
            // An offset before the last one, or one that belongs to another text.
            None => self.position = Position::of_offset(self.text, offset),
        }
        self.offset = offset;
        self.position
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_found_in_steps_are_positions() {
        let text = "\u{feff}(a b)\r\n (c \u{e4} d)\r(e)\n\n(f)";
        let mut places = Places::new(text);
        for offset in (0..text.len()).filter(|&offset| text.as_bytes()[offset] == b'(') {
            assert_eq!(places.position(offset), Position::of_offset(text, offset));
        }
        assert_eq!(places.position(4), Position::of_offset(text, 4));
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(shortened(&"abc", 3), "abc");
        assert_eq!(shortened(&"abcd", 3), "abc...");
    }
}
