//! Reported texts matched against the rules': moves against the legal ones of a state, names of roles against the roles.
//!
//! Managers, records and golden data may spell a name in another case than the rules do. It is first
//! looked for as it is, then without case. Nothing here decides what happens to an illegal move.

use gdl::Term;
use reasoner::{Move, Role, Session};

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

/// The role that `name` tells: spelled so, or else the only one that differs from it by case.
pub fn find_role(roles: &[Term], name: &str) -> Option<Role> {
    let all = || Role::all(roles.len()).zip(roles.iter().map(Term::to_string));
    if let Some((role, _)) = all().find(|(_, known)| known == name) {
        return Some(role);
    }
    let mut alike = all().filter(|(_, known)| known.eq_ignore_ascii_case(name));
    match (alike.next(), alike.next()) {
        (Some((role, _)), None) => Some(role),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_found_as_spelled_and_in_any_case_where_that_tells_them_apart() {
        let roles: Vec<Term> = ["Robot", "robot", "White"].map(|name| Term::parse(name).unwrap()).to_vec();
        assert_eq!(find_role(&roles, "robot"), Some(Role(1)));
        assert_eq!(find_role(&roles, "Robot"), Some(Role(0)));
        assert_eq!(find_role(&roles, "ROBOT"), None);
        assert_eq!(find_role(&roles, "white"), Some(Role(2)));
        assert_eq!(find_role(&roles, "black"), None);
    }
}
