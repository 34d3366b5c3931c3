//! Reads, checks and prints the Game Description Language (GDL) in its prefix KIF spelling.
//!
//! In goes text: a rulesheet, or a protocol message. Out come [`Sexpr`]s with spans, a [`Description`]
//! (the statements as parsed), messages about what is wrong with it ([`check`]), and [`Rules`] (checked,
//! interned, without `or`), which every reasoner starts from. [`Term`] is the one text-level term that
//! travels to and from reasoners.
//!
//! What it deliberately does not do: answer any question about a game. Nothing here evaluates a rule.
#![forbid(unsafe_code)]

pub mod check;
mod components;
mod description;
mod lower;
mod recursion;
mod rules;
mod sexpr;
mod symbol;
mod term;

pub use components::components;
pub use description::{CaseReading, Description, Keyword, ReadOptions, Statement};
pub use lower::LowerError;
pub use recursion::Recursion;
pub use rules::{Atom, Dependence, Literal, Relation, RelationId, Rule, RuleTerm, Rules};
pub use sexpr::{
    MAX_DEPTH, MAX_TEXT_BYTES, Position, ReadError, ReadErrorKind, Sexpr, SexprKind, Span, read_all, read_one,
};
pub use symbol::{Symbol, Symbols};
pub use term::{Term, TermError};
