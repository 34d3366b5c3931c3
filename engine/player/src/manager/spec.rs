//! Descriptions of players on the command line.

use std::fmt;
use std::str::FromStr;

use crate::brain::{Brain, BrainError};
use crate::protocol::client::Address;

/// A player as the command line describes it.
#[derive(Debug, Clone)]
pub struct PlayerSpec {
    /// As written.
    pub text: String,
    /// What it means.
    pub kind: PlayerKind,
}

/// The kinds of players.
#[derive(Debug, Clone)]
pub enum PlayerKind {
    /// One of ours, in this process.
    Own(Box<Brain>),
    /// Any player that speaks the protocol.
    Remote(Address),
    /// Uniformly random legal moves.
    Random,
    /// Always the first legal move, in the order of the texts.
    FirstLegal,
}

/// Why a text describes no player.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// None of the kinds.
    #[error(
        "{0:?} is no player; use self, self:threads=2,config=ucd(1,0,1), random, legal or http://host:port"
    )]
    Unknown(String),
    /// A setting of one of ours.
    #[error(transparent)]
    Brain(#[from] BrainError),
}

impl FromStr for PlayerSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<PlayerSpec, SpecError> {
        let kind = match text.split_once(':') {
            None if text == "random" => PlayerKind::Random,
            None if text == "legal" => PlayerKind::FirstLegal,
            None if text == "self" => PlayerKind::Own(Box::default()),
            Some(("self", settings)) => PlayerKind::Own(Box::new(Brain::parse(settings)?)),
            Some(("http", rest)) => {
                PlayerKind::Remote(address(rest).ok_or_else(|| SpecError::Unknown(text.to_owned()))?)
            }
            _ => return Err(SpecError::Unknown(text.to_owned())),
        };
        Ok(PlayerSpec { text: text.to_owned(), kind })
    }
}

/// `//host:port`, with or without a final slash.
fn address(rest: &str) -> Option<Address> {
    let host_port = rest.strip_prefix("//")?.trim_end_matches('/');
    let (host, port) = host_port.rsplit_once(':')?;
    port.parse::<u16>().ok()?;
    (!host.is_empty()).then(|| Address { host_port: host_port.to_owned() })
}

impl fmt::Display for PlayerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_kinds_are_read() {
        let kind = |text: &str| text.parse::<PlayerSpec>().map(|spec| spec.kind);
        assert!(matches!(kind("random"), Ok(PlayerKind::Random)));
        assert!(matches!(kind("legal"), Ok(PlayerKind::FirstLegal)));
        assert!(matches!(kind("self"), Ok(PlayerKind::Own(_))));
        assert!(
            matches!(kind("self:threads=2,config=uct+t"), Ok(PlayerKind::Own(brain)) if brain.search.threads == 2)
        );
        assert!(
            matches!(kind("http://localhost:9147/"), Ok(PlayerKind::Remote(at)) if at.host_port == "localhost:9147")
        );
    }

    #[test]
    fn a_text_with_parentheses_is_the_name_and_is_read_back() {
        let text = "self:threads=2,config=ucd(1,0,1),unexplored=gibbs(10)";
        let spec: PlayerSpec = text.parse().unwrap();
        assert_eq!(spec.to_string(), text);
        let again: PlayerSpec = spec.to_string().parse().unwrap();
        for kind in [spec.kind, again.kind] {
            let PlayerKind::Own(brain) = kind else { panic!("it is one of ours") };
            assert_eq!((brain.search.config.to_string().as_str(), brain.search.threads), ("ucd(1,0,1)", 2));
            assert_eq!(brain.search.unexplored.to_string(), "gibbs(10)");
        }
    }

    #[test]
    fn what_is_no_player_is_refused() {
        for text in ["", "me", "self:threads", "http://localhost", "http://:1", "https://a:1", "self:x=1"] {
            assert!(text.parse::<PlayerSpec>().is_err(), "{text}");
        }
    }
}
