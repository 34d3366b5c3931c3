//! How the manager reaches a player.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gdl::ReadOptions;

use super::spec::PlayerKind;
use crate::failure::Failure;
use crate::keeper::{Keeper, Settings, ThoughtWith};
use crate::protocol::client::{self, Address, AskError};
use crate::protocol::server::{Answer, Server};

/// A player that can be asked, or played for.
#[derive(Debug, Clone)]
pub enum Contact {
    /// In this process; the same messages, without a connection.
    Own(Arc<Keeper>),
    /// Over HTTP.
    Remote(Address),
    /// The manager draws its moves.
    Random,
    /// The manager takes its first legal moves.
    FirstLegal,
}

/// Makes contact with a player. With `loopback`, ours are reached over HTTP, too.
///
/// # Errors
/// If a player of ours gets no port.
pub fn connect(kind: &PlayerKind, reading: ReadOptions, loopback: bool) -> Result<Contact, Failure> {
    match kind {
        PlayerKind::Random => Ok(Contact::Random),
        PlayerKind::FirstLegal => Ok(Contact::FirstLegal),
        PlayerKind::Remote(address) => Ok(Contact::Remote(address.clone())),
        PlayerKind::Own(brain) => {
            let keeper = Arc::new(Keeper::new(Settings {
                name: "Daggerboard".to_owned(),
                reading,
                brain: (**brain).clone(),
                // This manager says when a match is over.
                patience: Duration::from_secs(3600),
                // It leaves the record, too.
                records: None,
            }));
            if !loopback {
                return Ok(Contact::Own(keeper));
            }
            let server = Server::bind("127.0.0.1:0")?;
            let host_port = server.address()?.to_string();
            std::thread::Builder::new().name("player".into()).spawn(move || server.serve(&keeper))?;
            Ok(Contact::Remote(Address { host_port }))
        }
    }
}

impl Contact {
    /// Whether the player is sent messages; the manager plays for the others.
    pub fn is_asked(&self) -> bool {
        matches!(self, Contact::Own(_) | Contact::Remote(_))
    }

    /// What the player thought with in its last match, if it is one of ours in this process.
    pub fn reasoners(&self) -> Option<Vec<ThoughtWith>> {
        if let Contact::Own(keeper) = self { Some(keeper.reasoners()) } else { None }
    }

    /// Sends a message and waits for the answer.
    ///
    /// # Errors
    /// If there is none in time.
    pub fn ask(&self, message: &str, time: Duration) -> Result<String, AskError> {
        match self {
            Contact::Remote(address) => client::ask(address, message, time),
            Contact::Own(keeper) => {
                let begun = Instant::now();
                let answer = keeper.answer(message, begun);
                if begun.elapsed() > time { Err(AskError::TimedOut) } else { Ok(answer) }
            }
            Contact::Random | Contact::FirstLegal => {
                Err(AskError::Connection("the manager plays for this player".to_owned()))
            }
        }
    }
}
