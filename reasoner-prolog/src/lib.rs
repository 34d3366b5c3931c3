//! Embedded SWI-Prolog as a reasoner, through the `swipl` crate.
//!
//! In go [`gdl::Rules`]; out come answers by Prolog's resolution. The rules are translated once ([`translate`])
//! and loaded into a module that all threads share; each thread has an engine and its own facts of the state
//! it asks about. From one state to the next, only the difference is retracted and asserted. Recursive
//! relations are answered from tables only after plain resolution failed on a question.
//!
//! What it deliberately does not do: reorder the author's conditions, or keep Prolog from being slow. It is
//! here to be compared with, and for rules on which it is the better reasoner.

mod body;
pub mod translate;

#[cfg(feature = "prolog")]
mod engine;
#[cfg(feature = "prolog")]
mod listing;
#[cfg(feature = "prolog")]
mod program;
#[cfg(feature = "prolog")]
mod reasoner;
#[cfg(feature = "prolog")]
mod session;
#[cfg(feature = "prolog")]
mod state;
#[cfg(feature = "prolog")]
mod terms;
#[cfg(feature = "prolog")]
mod watchdog;

#[cfg(feature = "prolog")]
pub use self::{program::Update, reasoner::Prolog, session::PrologSession, state::FactSet};
