//! Why a command could not do its work, as the user sees it.
//!
//! In goes an error of any crate, out comes one line with a hint and an exit code. It does not decide
//! where the text goes; `main` prints it.

use std::fmt;
use std::process::ExitCode;

/// Whose fault it is, which decides the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The work failed.
    Work,
    /// The command line makes no sense.
    Usage,
}

/// What `main` prints before it exits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    kind: Kind,
    text: String,
    hint: Option<String>,
}

impl Failure {
    /// The work failed: exit code 1.
    pub fn work(text: impl fmt::Display) -> Failure {
        Failure { kind: Kind::Work, text: text.to_string(), hint: None }
    }

    /// The command was used wrongly: exit code 2.
    pub fn usage(text: impl fmt::Display) -> Failure {
        Failure { kind: Kind::Usage, text: text.to_string(), hint: None }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl fmt::Display) -> Failure {
        self.hint = Some(hint.to_string());
        self
    }

    /// Puts the circumstances before the text.
    #[must_use]
    pub fn context(mut self, context: impl fmt::Display) -> Failure {
        self.text = format!("{context}: {}", self.text);
        self
    }

    /// What is wrong, and what to do about it.
    pub fn parts(&self) -> (&str, Option<&str>) {
        (&self.text, self.hint.as_deref())
    }

    /// What the process exits with.
    pub fn exit_code(&self) -> ExitCode {
        match self.kind {
            Kind::Work => ExitCode::from(1),
            Kind::Usage => ExitCode::from(2),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.text)?;
        match &self.hint {
            Some(hint) => write!(f, "\n  hint: {hint}"),
            None => Ok(()),
        }
    }
}

impl From<reasoner::ReasonerError> for Failure {
    fn from(error: reasoner::ReasonerError) -> Failure {
        Failure::work(error)
    }
}

impl From<search::SearchError> for Failure {
    fn from(error: search::SearchError) -> Failure {
        Failure::work(error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        Failure::work(error)
    }
}

/// How a command that did its work ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Exit code 0.
    Done,
    /// The answer itself is a failure, and has been printed: exit code 1.
    Failed,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> ExitCode {
        match outcome {
            Outcome::Done => ExitCode::SUCCESS,
            Outcome::Failed => ExitCode::from(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_shows_its_circumstances_and_its_hint() {
        let failure = Failure::usage("no such game").hint("try `daggerboard games`").context("chess");
        assert_eq!(failure.to_string(), "error: chess: no such game\n  hint: try `daggerboard games`");
        assert_eq!(failure.exit_code(), ExitCode::from(2));
    }
}
