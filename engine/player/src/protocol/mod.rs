//! The GGP protocol as practised: messages, the odd HTTP that carries them, both of its sides.
//!
//! In go bytes, out come bytes; what a message means for a match is the keeper's to say. Sections cited in
//! this folder are those of the protocol page of the project.

pub mod body;
pub mod client;
pub mod http;
pub mod message;
pub mod server;
