//! Native reasoners: answers from the rules without leaving Rust.
//!
//! In go [`gdl::Rules`], out comes an [`Interpreter`]: it evaluates any rules on demand and grounds nothing
//! in advance. It is the reference semantics of the project.
//!
//! What it deliberately does not do: search, or read text beyond single terms.
#![forbid(unsafe_code)]

mod interpreter;
mod key_index;
mod terms;

pub use interpreter::{FactSet, Interpreter, InterpreterSession};
