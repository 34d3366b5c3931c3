//! States and moves as texts and hashes, in the conventions of the golden data.
//!
//! Names are lower-cased, sets are sorted by bytes, and the hash is 64-bit FNV-1a in 16 hex digits. It
//! does not read anything.

use gdl::Term;
use reasoner::{Move, ReasonerError, Role, Session};

/// Fowler, Noll and Vo's hash, variant 1a, 64 bits (draft-eastlake-fnv, section 2).
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The hash of a text.
pub fn hash(text: &str) -> String {
    format!("{:016x}", fnv1a(text.as_bytes()))
}

/// The true fluents of a state, sorted.
pub fn facts<S: Session>(session: &mut S, state: &S::State) -> Vec<String> {
    let mut fluents = Vec::new();
    session.fluents(state, &mut fluents);
    sorted(fluents.into_iter().map(|fluent| session.fluent_term(fluent).to_lower_case()))
}

/// The hash of a state's sorted facts.
pub fn state_hash(facts: &[String]) -> String {
    hash(&facts.join("\n"))
}

/// Moves as texts, sorted.
pub fn moves<S: Session>(session: &mut S, moves: &[Move]) -> Vec<String> {
    sorted(moves.iter().map(|&a_move| session.move_term(a_move).to_lower_case()))
}

/// The legal moves of every role, sorted, whether the state is terminal or not.
///
/// # Errors
/// As every question of a session.
pub fn legal<S: Session>(session: &mut S, state: &S::State) -> Result<Vec<Vec<String>>, ReasonerError> {
    let mut all = Vec::new();
    for role in Role::all(session.roles().len()) {
        let mut legal = Vec::new();
        session.legal_moves(state, role, &mut legal)?;
        all.push(moves(session, &legal));
    }
    Ok(all)
}

/// The hash of the sorted moves of all roles.
pub fn legal_hash(legal: &[Vec<String>]) -> String {
    hash(&legal.iter().map(|moves| moves.join("\n")).collect::<Vec<_>>().join("\n\n"))
}

/// The names of the roles.
pub fn roles(roles: &[Term]) -> Vec<String> {
    roles.iter().map(Term::to_lower_case).collect()
}

fn sorted(texts: impl Iterator<Item = String>) -> Vec<String> {
    let mut texts: Vec<String> = texts.collect();
    texts.sort_unstable();
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Published test vectors of the draft.
    #[test]
    fn hashes_are_those_of_the_draft() {
        assert_eq!(hash(""), "cbf29ce484222325");
        assert_eq!(hash("a"), "af63dc4c8601ec8c");
        assert_eq!(hash("foobar"), "85944171f73967e8");
    }

    #[test]
    fn roles_are_parted_by_an_empty_line() {
        let legal = [vec!["a".to_owned(), "b".to_owned()], vec!["noop".to_owned()]];
        assert_eq!(legal_hash(&legal), hash("a\nb\n\nnoop"));
    }
}
