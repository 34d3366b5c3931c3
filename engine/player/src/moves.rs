//! Reported move texts matched against the legal moves of a state.
//!
//! Managers, records and golden data may spell a move in another case than the rules do. A move is first
//! looked for as it is, then without case. Nothing here decides what happens to an illegal move.

use gdl::Term;
use reasoner::{Move, Session};

/// How a reported term relates to the legal moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// This legal move.
    Legal(Move),
    /// Several legal moves differ from it by case only.
    Ambiguous,
    /// None of them.
    Illegal,
}

/// Looks for a term among the legal moves.
pub fn find_legal<S: Session>(session: &mut S, legal: &[Move], term: &Term) -> Found {
    if let Ok(a_move) = session.move_of(term)
        && legal.contains(&a_move)
    {
        return Found::Legal(a_move);
    }
    let wanted = term.to_lower_case();
    let mut fitting = legal.iter().filter(|&&a_move| session.move_term(a_move).to_lower_case() == wanted);
    match (fitting.next(), fitting.next()) {
        (Some(&a_move), None) => Found::Legal(a_move),
        (Some(_), Some(_)) => Found::Ambiguous,
        (None, _) => Found::Illegal,
    }
}
