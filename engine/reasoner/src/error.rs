//! Why a reasoner could not answer.

use gdl::TermError;

/// Why a reasoner could not answer. After any of these the session answers the next question as if this
/// one had not been asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReasonerError {
    /// The [`Interrupt`](crate::Interrupt) was raised.
    #[error("interrupted")]
    Interrupted,
    /// The query took more inference steps than [`Limits::steps`](crate::Limits::steps).
    #[error("the query took more than {0} steps; the rules may loop, or the limit is too low")]
    TooManySteps(u64),
    /// The query needed more memory than [`Limits::bytes`](crate::Limits::bytes).
    #[error("the query needed more than {0} bytes; the rules may explode, or the limit is too low")]
    TooMuchMemory(u64),
    /// A term nests deeper than this many levels.
    #[error("a term nests deeper than {0} levels; the rules may build terms without end")]
    TooDeep(usize),
    /// A joint move has another number of moves than there are roles.
    #[error("a joint move of {given} for {n_roles} roles; give one move for each role, in role order")]
    JointMove {
        /// How many moves were given.
        given: usize,
        /// How many roles there are.
        n_roles: usize,
    },
    /// A role has no legal move in a state that is not terminal.
    #[error("role {role} has no legal move in a state that is not terminal")]
    NotPlayable {
        /// The name of the role.
        role: String,
    },
    /// The rules negate something that depends on itself, so they have no one meaning.
    #[error("{0} depends on its own negation; the rules have no meaning there")]
    NotStratified(String),
    /// A rule cannot be evaluated because a variable is never bound.
    #[error("{0}")]
    Unbound(String),
    /// The rules cannot be made into what the reasoner evaluates, within its time and memory or at all.
    #[error("{0}; another reasoner may answer")]
    NotGrounded(String),
    /// A text that names no fluent or move.
    #[error(transparent)]
    Term(#[from] TermError),
    /// A term that the game does not know.
    #[error("{term:?} is no {what} of this game")]
    Unknown {
        /// "move", "fluent" or "role".
        what: &'static str,
        /// Its KIF text.
        term: String,
    },
    /// Something that only one reasoner has, such as a failed Prolog engine.
    #[error("{0}")]
    Engine(String),
}

impl ReasonerError {
    /// `Ok` if a joint move has one move for each role.
    ///
    /// # Errors
    /// [`ReasonerError::JointMove`] otherwise.
    pub fn check_joint_move(given: usize, n_roles: usize) -> Result<(), ReasonerError> {
        if given == n_roles { Ok(()) } else { Err(ReasonerError::JointMove { given, n_roles }) }
    }
}
