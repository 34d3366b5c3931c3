//! A game manager: plays whole matches between players here and elsewhere.
//!
//! In go a game, players and clocks, out come records. It speaks the protocol with every player of ours and
//! with every remote one; it knows no way to think.

pub mod contact;
pub mod opening;
pub mod record;
pub mod referee;
pub mod spec;
