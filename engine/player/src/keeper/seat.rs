//! A role in a running match: the state as reported, and what is legal in it.
//!
//! In go reports of joint moves, out come legal moves and their texts. What managers report is followed even
//! when it is illegal or incomplete. It does not search and keeps no time; its questions end early only when
//! the match is over.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use gdl::Term;
use reasoner::{Interrupt, Limits, Move, Reasoner, ReasonerError, Role, Session};

use crate::moves::{Found, find_legal, find_role};

/// What was played in one step, one entry per role as far as it was reported.
pub type JointTerms = Vec<Option<Term>>;

/// A role in a running match.
pub struct Seat<R: Reasoner> {
    session: R::Session,
    role: Role,
    n_roles: usize,
    state: R::State,
    /// Reports that the state does not reflect yet, because a question about them failed.
    pending: VecDeque<Report>,
}

/// What is known of one step.
#[derive(Debug, Clone)]
struct Report {
    joint_move: JointTerms,
    /// What we answered, which stands in where the report leaves us out.
    answered: Option<Term>,
}

/// Why there is no seat.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SeatError {
    /// The rules do not have the role.
    #[error("the rules have no role {0:?}")]
    NoSuchRole(String),
    /// Another reasoner sees the position otherwise.
    #[error("{0} differ from one reasoner to the other")]
    Differs(&'static str),
    /// The reasoner could not answer.
    #[error(transparent)]
    Reasoner(#[from] ReasonerError),
}

impl<R: Reasoner> Seat<R> {
    /// Takes the seat of `role` in the initial state. `gone` ends all questions.
    ///
    /// # Errors
    /// If there is no such role, or no initial state.
    pub fn take(
        reasoner: &Arc<R>,
        role: &Term,
        limits: Limits,
        gone: &Interrupt,
    ) -> Result<Seat<R>, SeatError> {
        let roles = reasoner.roles();
        let name = role.to_string();
        let role = find_role(roles, &name).ok_or(SeatError::NoSuchRole(name))?;
        let mut session = reasoner.session(limits, gone)?;
        let state = session.initial_state()?;
        Ok(Seat { session, role, n_roles: roles.len(), state, pending: VecDeque::new() })
    }

    /// The same seat in the same position, with another reasoner. `legal` are our legal moves, if they are known; they come
    /// back as the other reasoner's, in its order.
    ///
    /// # Errors
    /// If the other reasoner does not know the position, or sees it otherwise.
    pub fn with<B: Reasoner>(
        &mut self,
        reasoner: &Arc<B>,
        legal: &[Move],
        limits: Limits,
        gone: &Interrupt,
    ) -> Result<(Seat<B>, Vec<Move>), SeatError> {
        let mut session = reasoner.session(limits, gone)?;
        let facts = facts(&mut self.session, &self.state);
        let state = session.state_of(&facts)?;
        let as_set = |terms: Vec<Term>| terms.into_iter().collect::<BTreeSet<Term>>();
        if as_set(facts) != as_set(self::facts(&mut session, &state)) {
            return Err(SeatError::Differs("the facts"));
        }
        let mut seat =
            Seat { session, role: self.role, n_roles: self.n_roles, state, pending: self.pending.clone() };
        if legal.is_empty() {
            return Ok((seat, Vec::new()));
        }
        let theirs = seat.legal_moves()?;
        let texts = as_set(legal.iter().map(|&a_move| self.session.move_term(a_move)).collect());
        if texts != as_set(theirs.iter().map(|&a_move| seat.session.move_term(a_move)).collect()) {
            return Err(SeatError::Differs("the legal moves"));
        }
        Ok((seat, theirs))
    }

    /// Our role.
    pub fn role(&self) -> Role {
        self.role
    }

    /// The state.
    pub fn state(&self) -> &R::State {
        &self.state
    }

    /// Follows a joint move that was played, when we had answered so.
    ///
    /// # Errors
    /// As every question; the report is kept, and the next call begins with it.
    pub fn follow(
        &mut self,
        joint_move: Option<JointTerms>,
        answered: Option<Term>,
    ) -> Result<(), ReasonerError> {
        self.pending.extend(joint_move.map(|joint_move| Report { joint_move, answered }));
        while let Some(Report { joint_move: terms, answered }) = self.pending.front().cloned() {
            if terms.len() != self.n_roles {
                tracing::warn!(
                    reported = terms.len(),
                    roles = self.n_roles,
                    "wrong number of moves reported"
                );
            }
            let mut joint_move = Vec::with_capacity(self.n_roles);
            for role in Role::all(self.n_roles) {
                let own = answered.as_ref().filter(|_| role == self.role);
                joint_move.push(self.reported(role, terms.get(role.idx()).and_then(Option::as_ref), own)?);
            }
            self.state = self.session.next_state(&self.state, &joint_move)?;
            self.pending.pop_front();
        }
        Ok(())
    }

    /// The move that a role is reported to have made: legal if possible, known otherwise; where the report
    /// says nothing of use, what was answered for it, or its first legal move.
    fn reported(
        &mut self,
        role: Role,
        term: Option<&Term>,
        answered: Option<&Term>,
    ) -> Result<Move, ReasonerError> {
        let mut legal = Vec::new();
        self.session.legal_moves(&self.state, role, &mut legal)?;
        if let Some(term) = term {
            match find_legal(&mut self.session, &legal, term) {
                Found::Legal(a_move) => return Ok(a_move),
                Found::Ambiguous | Found::Illegal => {
                    tracing::warn!(%term, "an illegal move is reported");
                    if let Ok(a_move) = self.session.move_of(term) {
                        return Ok(a_move);
                    }
                }
            }
        }
        if let Some(term) = answered
            && let Ok(a_move) = self.session.move_of(term)
        {
            return Ok(a_move);
        }
        let not_playable =
            || ReasonerError::NotPlayable { role: self.session.roles()[role.idx()].to_string() };
        legal.first().copied().ok_or_else(not_playable)
    }

    /// Our legal moves.
    ///
    /// # Errors
    /// As every question.
    pub fn legal_moves(&mut self) -> Result<Vec<Move>, ReasonerError> {
        let mut legal = Vec::new();
        self.session.legal_moves(&self.state, self.role, &mut legal)?;
        Ok(legal)
    }

    /// Whether the match should be over.
    ///
    /// # Errors
    /// As every question.
    pub fn is_terminal(&mut self) -> Result<bool, ReasonerError> {
        self.session.is_terminal(&self.state)
    }

    /// The session.
    pub fn session(&mut self) -> &mut R::Session {
        &mut self.session
    }

    /// The term of a move.
    pub fn term(&mut self, a_move: Move) -> Term {
        self.session.move_term(a_move)
    }

    /// The move of a term.
    ///
    /// # Errors
    /// If no rule could ever speak of such a move.
    pub fn move_of(&mut self, term: &Term) -> Result<Move, ReasonerError> {
        self.session.move_of(term)
    }
}

/// The true fluents of a state.
fn facts<S: Session>(session: &mut S, state: &S::State) -> Vec<Term> {
    let mut fluents = Vec::new();
    session.fluents(state, &mut fluents);
    fluents.into_iter().map(|fluent| session.fluent_term(fluent)).collect()
}
