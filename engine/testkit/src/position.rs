//! One state with all answers about it as text, as the reference data has them.

use gdl::Term;
use reasoner::{GoalAnswer, Move, ReasonerError, Role, Session};

use crate::text;

/// A state and, as lower-case text, its facts, and its legal moves unless it is terminal.
#[derive(Debug, Clone)]
pub struct Position<S> {
    /// The state.
    pub state: S,
    /// Its facts, sorted.
    pub facts: Vec<String>,
    /// Whether it is terminal.
    pub terminal: bool,
    /// For each role its legal moves sorted by text; empty in a terminal state.
    pub legal: Vec<Vec<(String, Move)>>,
    /// One answer per role in a terminal state; otherwise empty.
    pub goals: Vec<GoalAnswer>,
}

impl<S> Position<S> {
    /// Asks a session everything about `state`. `write` gives the text of a term, usually
    /// [`Term::to_lower_case`]. A role without a move is no error: its list is empty.
    ///
    /// # Errors
    /// As every question of a session.
    pub fn ask<Q>(
        session: &mut Q,
        state: S,
        write: impl Fn(&Term) -> String,
    ) -> Result<Position<S>, ReasonerError>
    where
        Q: Session<State = S>,
    {
        let mut fluents = Vec::new();
        session.fluents(&state, &mut fluents);
        let mut facts: Vec<String> =
            fluents.into_iter().map(|fluent| write(&session.fluent_term(fluent))).collect();
        facts.sort_unstable();
        let terminal = session.is_terminal(&state)?;
        let (mut legal, mut goals) = (Vec::new(), Vec::new());
        if terminal {
            session.goals(&state, &mut goals)?;
        } else {
            for role in Role::all(session.roles().len()) {
                let mut moves = Vec::new();
                session.legal_moves(&state, role, &mut moves)?;
                let mut moves: Vec<(String, Move)> =
                    moves.into_iter().map(|a_move| (write(&session.move_term(a_move)), a_move)).collect();
                moves.sort_unstable();
                legal.push(moves);
            }
        }
        Ok(Position { state, facts, terminal, legal, goals })
    }

    /// The hash of the facts.
    pub fn state_hash(&self) -> String {
        text::state_hash(&self.facts)
    }

    /// The hash of the legal moves.
    pub fn legal_hash(&self) -> String {
        let moves: Vec<Vec<&str>> =
            self.legal.iter().map(|moves| moves.iter().map(|(text, _)| text.as_str()).collect()).collect();
        text::legal_hash(&moves)
    }

    /// The number of legal moves per role.
    pub fn legal_counts(&self) -> Vec<usize> {
        self.legal.iter().map(Vec::len).collect()
    }

    /// The texts of one role's legal moves.
    pub fn legal_texts(&self, role: Role) -> Vec<String> {
        let moves = self.legal.get(role.idx()).map_or(&[][..], Vec::as_slice);
        moves.iter().map(|(text, _)| text.clone()).collect()
    }

    /// The joint moves whose texts are `texts`: one, or more where moves differ only by case.
    ///
    /// # Errors
    /// If one of them is not legal, or there is not one per role; in words.
    pub fn joint_moves(&self, texts: &[String]) -> Result<Vec<Vec<Move>>, String> {
        if self.terminal {
            return Err("the state is terminal".into());
        }
        if texts.len() != self.legal.len() {
            return Err(format!("{} moves for {} roles", texts.len(), self.legal.len()));
        }
        let mut joint_moves = vec![Vec::new()];
        for ((role_idx, text), legal) in texts.iter().enumerate().zip(&self.legal) {
            let choices: Vec<Move> =
                legal.iter().filter(|(known, _)| known == text).map(|&(_, a_move)| a_move).collect();
            if choices.is_empty() {
                let legal: Vec<&str> = legal.iter().map(|(text, _)| text.as_str()).collect();
                return Err(format!(
                    "{text} is not legal for role {role_idx}; legal are {}",
                    text::shortened(&legal)
                ));
            }
            joint_moves = joint_moves
                .into_iter()
                .flat_map(|joint_move: Vec<Move>| {
                    choices.iter().map(move |&a_move| {
                        let mut longer = joint_move.clone();
                        longer.push(a_move);
                        longer
                    })
                })
                .collect();
        }
        Ok(joint_moves)
    }
}
