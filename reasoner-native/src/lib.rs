//! Native reasoners: answers from the rules without leaving Rust.
//!
//! In go [`gdl::Rules`], out comes an [`Interpreter`]: it evaluates any rules on demand and grounds nothing
//! in advance. It is the reference semantics of the project.
//!
//! What it deliberately does not do: search, or read text beyond single terms.
#![deny(unsafe_code)]

mod ground;
mod interpreter;
mod key_index;
mod net;
mod propnet;
mod terms;

pub use ground::{Budget, GroundError, Progress, Stage, Watch};
pub use interpreter::{FactSet, Interpreter, InterpreterSession};
pub use net::Signal;
pub use propnet::{BitState, Gate, NetFluent, NetGoal, NetMove, Netlist};
pub use propnet::{Evaluation, GateCount, NetReport, Propnet, PropnetSession};
