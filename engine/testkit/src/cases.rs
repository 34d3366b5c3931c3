//! Small rulesheets that carry their expectations in comments that begin with `;@`.
//!
//! `valid yes|no`: the static check; `roles`, `init`, `state`, `legal ROLE`, `terminal yes|no`, `goal ROLE`:
//! what must hold in the current state; `play`: makes a joint move. `warn` and `note` are for readers: what
//! they say is not decided by the text alone.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use gdl::check::{self, Verdict};
use gdl::{ReadOptions, Rules, Term};
use reasoner::{GoalAnswer, Limits, Move, Reasoner, ReasonerError, Role, Session};

use crate::outcome::{Mismatch, Outcome, judge};

/// A rulesheet with expectations.
#[derive(Debug, Clone)]
pub struct KifCase {
    text: String,
    /// The lines without `;@`.
    expectations: Vec<String>,
}

impl KifCase {
    /// Finds the expectations in a rulesheet. Lines may end with CR alone.
    pub fn of_text(text: &str) -> KifCase {
        let lines = text.trim_start_matches('\u{feff}').split(['\r', '\n']);
        let expectations =
            lines.filter_map(|line| Some(line.trim().strip_prefix(";@")?.trim().to_string())).collect();
        KifCase { text: text.to_string(), expectations }
    }
}

/// Checks every expectation of a case. All that fail are told, separated by ` | `.
pub fn check_case<R: Reasoner, E: Display>(
    make: &impl Fn(Arc<Rules>) -> Result<R, E>,
    case: &KifCase,
    budget: Duration,
) -> Outcome {
    judge(budget, |interrupt, done| {
        let (description, messages) = check::check_text(&case.text, ReadOptions::default());
        let mut failures = Vec::new();
        let (is_static, dynamic): (Vec<&str>, Vec<&str>) = case
            .expectations
            .iter()
            .map(String::as_str)
            .filter(|line| !matches!(word(line).0, "warn" | "note"))
            .partition(|line| word(line).0 == "valid");
        for line in is_static {
            let is_valid = check::verdict(&messages) != Verdict::Invalid;
            if is_valid != word(word(line).1).0.eq("yes") {
                let messages: Vec<String> = messages.iter().map(ToString::to_string).collect();
                failures.push(format!("{line:?}, but the check says [{}]", messages.join(", ")));
            }
        }
        let made = description.ok_or_else(|| "the text cannot be read".to_string()).and_then(|description| {
            let rules = Rules::from_description(&description).map_err(|error| error.to_string())?;
            let case_ignored = rules.case_ignored();
            make(Arc::new(rules))
                .map(|made| (Arc::new(made), case_ignored))
                .map_err(|error| error.to_string())
        });
        match made {
            Ok((reasoner, case_ignored)) => {
                let mut session = reasoner
                    .session(Limits::default(), interrupt)
                    .map_err(|error| Mismatch::of_error("making a session", &error))?;
                let mut play = Play { session: &mut session, state: None, case_ignored };
                for line in dynamic {
                    done.n_positions += 1;
                    match play.check(line) {
                        Ok(None) => {}
                        Ok(Some(failure)) => failures.push(format!("{line:?}, but {failure}")),
                        Err(ReasonerError::Interrupted) => return Err(Mismatch::Interrupted(line.into())),
                        Err(error) => failures.push(format!("{line:?}, but {error}")),
                    }
                }
            }
            // What is refused, and expects no answers, may have none.
            Err(_) if dynamic.is_empty() => {}
            Err(what) => failures.push(format!("no reasoner: {what}")),
        }
        match failures.is_empty() {
            true => Ok(()),
            false => Err(Mismatch::Differs(failures.join(" | "))),
        }
    })
}

/// The first word of a line, and the rest.
fn word(line: &str) -> (&str, &str) {
    line.split_once(' ').unwrap_or((line, ""))
}

struct Play<'a, S: Session> {
    session: &'a mut S,
    /// None until first asked for.
    state: Option<S::State>,
    case_ignored: bool,
}

impl<S: Session> Play<'_, S> {
    /// What is wrong with an expectation, if anything.
    fn check(&mut self, line: &str) -> Result<Option<String>, ReasonerError> {
        let (directive, rest) = word(line);
        let terms = || -> Result<Vec<Term>, ReasonerError> {
            let sexprs = gdl::read_all(rest).map_err(gdl::TermError::from)?;
            Ok(sexprs.iter().map(Term::from_sexpr).collect::<Result<_, _>>()?)
        };
        match directive {
            "roles" => {
                let ours: Vec<String> = self.session.roles().iter().map(|role| self.text(role)).collect();
                let expected: Vec<String> = terms()?.iter().map(|role| self.text(role)).collect();
                Ok(difference(&ours, &expected))
            }
            "init" | "state" => {
                let state = self.state()?;
                let mut fluents = Vec::new();
                self.session.fluents(&state, &mut fluents);
                let ours: Vec<Term> =
                    fluents.into_iter().map(|fluent| self.session.fluent_term(fluent)).collect();
                Ok(difference(&self.set(&ours), &self.set(&terms()?)))
            }
            "legal" => {
                let terms = terms()?;
                let Some((role, expected)) = self.role(&terms) else { return Ok(no_role()) };
                let state = self.state()?;
                let mut moves = Vec::new();
                self.session.legal_moves(&state, role, &mut moves)?;
                let ours: Vec<Term> =
                    moves.into_iter().map(|a_move| self.session.move_term(a_move)).collect();
                Ok(difference(&self.set(&ours), &self.set(expected)))
            }
            "terminal" => {
                let state = self.state()?;
                Ok(difference(&self.session.is_terminal(&state)?, &(rest == "yes")))
            }
            "goal" => {
                let terms = terms()?;
                let Some((role, values)) = self.role(&terms) else { return Ok(no_role()) };
                // Values that are no number in range do not count.
                let values = values.iter().filter_map(|value| value.name().parse().ok());
                let expected = values.filter(|&value| value <= 100).fold(GoalAnswer::None, GoalAnswer::with);
                let state = self.state()?;
                let mut goals = Vec::new();
                self.session.goals(&state, &mut goals)?;
                Ok(difference(&goals.get(role.idx()).copied().unwrap_or_default(), &expected))
            }
            "play" => {
                let joint_move: Vec<Move> =
                    terms()?.iter().map(|term| self.session.move_of(term)).collect::<Result<_, _>>()?;
                let state = self.state()?;
                self.state = Some(self.session.next_state(&state, &joint_move)?);
                Ok(None)
            }
            _ => Ok(Some("the expectation is of no known kind".into())),
        }
    }

    fn state(&mut self) -> Result<S::State, ReasonerError> {
        if self.state.is_none() {
            self.state = Some(self.session.initial_state()?);
        }
        Ok(self.state.clone().expect("set just now"))
    }

    /// The role that comes first, and the other terms.
    fn role<'t>(&self, terms: &'t [Term]) -> Option<(Role, &'t [Term])> {
        let (role, rest) = terms.split_first()?;
        let role = self.text(role);
        let role_idx = self.session.roles().iter().position(|known| self.text(known) == role)?;
        Some((Role::all(role_idx + 1).last()?, rest))
    }

    fn set(&self, terms: &[Term]) -> BTreeSet<String> {
        terms.iter().map(|term| self.text(term)).collect()
    }

    /// The text for comparing: `(p)` is `p`, and case is kept where the sheet keeps it.
    fn text(&self, term: &Term) -> String {
        fn bare(term: &Term) -> Term {
            match term {
                Term::Compound(name, args) if !args.is_empty() => {
                    Term::Compound(name.clone(), args.iter().map(bare).collect())
                }
                other => Term::Name(other.name().into()),
            }
        }
        match self.case_ignored {
            true => bare(term).to_lower_case(),
            false => bare(term).to_string(),
        }
    }
}

fn no_role() -> Option<String> {
    Some("there is no such role".into())
}

fn difference<T: PartialEq + std::fmt::Debug>(ours: &T, expected: &T) -> Option<String> {
    (ours != expected).then(|| format!("ours is {ours:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expectations_are_found_after_any_end_of_line() {
        let case = KifCase::of_text("\u{feff};@ valid yes\r;@legal a\r\n(role a) ;@ no\n  ;@ terminal no");
        assert_eq!(case.expectations, ["valid yes", "legal a", "terminal no"]);
    }
}
