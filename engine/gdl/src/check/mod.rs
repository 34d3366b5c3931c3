//! What is wrong with a rulesheet, and what to do about it.
//!
//! In goes a [`Description`], out come [`Message`]s in the order of the text, each with its place, the
//! statement and a hint. Every check goes on after what it finds, so that one run shows everything. Only
//! what the text alone shows is checked: whether a game ends, or every role always has a move, is not known
//! here. The checks are near-linear in the length of the text.

mod dependence;
mod game;
mod graph;
mod recursion;
mod relations;
mod report;
mod safety;
mod shape;
mod sheet;
mod spelling;
mod stratification;
mod unify;

use std::fmt;

use crate::description::{Description, ReadOptions};
use crate::sexpr::Position;

/// How bad a [`Message`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The rulesheet has a meaning, but not every player may find the same one.
    Warning,
    /// The rulesheet breaks the language's rules.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Warning => "warning",
            Severity::Error => "error",
        })
    }
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// How bad.
    pub severity: Severity,
    /// Where.
    pub position: Position,
    /// The text of the statement, shortened if it is long; empty where the whole sheet is meant.
    pub rule: String,
    /// What is wrong; begins in lower case and has no full stop.
    pub text: String,
    /// What to do.
    pub hint: String,
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}; {}", self.position, self.severity, self.text, self.hint)
    }
}

/// The judgement on a rulesheet: its worst message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Nothing was found.
    Valid,
    /// Warnings only.
    Warning,
    /// At least one error.
    Invalid,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Valid => "valid",
            Verdict::Warning => "warning",
            Verdict::Invalid => "invalid",
        })
    }
}

/// The verdict that messages add up to.
pub fn verdict(messages: &[Message]) -> Verdict {
    match messages.iter().map(|message| message.severity).max() {
        None => Verdict::Valid,
        Some(Severity::Warning) => Verdict::Warning,
        Some(Severity::Error) => Verdict::Invalid,
    }
}

/// Everything that the text of a rulesheet shows to be wrong with it, in the order of the text.
pub fn check(description: &Description) -> Vec<Message> {
    let sheet = sheet::Sheet::new(description);
    let graph = graph::RelationGraph::new(&sheet);
    let mut report = report::Report::default();
    game::check(&sheet, &mut report);
    shape::check(&sheet, &mut report);
    safety::check(&sheet, &mut report);
    dependence::check(&sheet, &graph, &mut report);
    stratification::check(&sheet, &graph, &mut report);
    recursion::check(&sheet, &graph, &mut report);
    relations::check(&sheet, &mut report);
    spelling::check(&sheet, &mut report);
    report.into_messages(description)
}

/// Reads and checks a text; one that cannot be read gives no description and one message.
pub fn check_text(text: &str, options: ReadOptions) -> (Option<Description>, Vec<Message>) {
    match Description::read(text, options) {
        Ok(description) => {
            let messages = check(&description);
            (Some(description), messages)
        }
        Err(error) => {
            let text = error.kind.to_string();
            let (text, hint) = text.split_once("; ").unwrap_or((&text, "correct the text there"));
            let message = Message {
                severity: Severity::Error,
                position: error.position,
                rule: String::new(),
                text: text.into(),
                hint: hint.into(),
            };
            (None, vec![message])
        }
    }
}
