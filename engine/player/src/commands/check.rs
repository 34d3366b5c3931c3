//! `daggerboard check`: what is wrong with rulesheets.

use std::path::{Path, PathBuf};

use clap::Args;
use gdl::check::{Message, Severity, Verdict, check_text, verdict};
use serde_json::{Value, json};

use super::coverage;
use crate::failure::{Failure, Outcome};
use crate::game_source::{ReadingArgs, read_text};
use crate::output;
use crate::reasoners::{self, ReasonerKind};
use crate::stop;

/// Say what is wrong with rulesheets, and what to do about it
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  daggerboard check my-game.kif
  daggerboard check *.kif --simulate 10 --json

Prints one verdict per file: valid, warning or invalid.
Exits with 1 if any file is invalid.")]
pub struct CheckArgs {
    /// Rulesheets
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Play this many random games, too, and warn of what only shows then
    #[arg(long, default_value_t = 0, value_name = "N")]
    simulate: u32,
    #[arg(long, default_value = "auto", value_name = "NAME", help = format!("Who plays them: {}; auto is the interpreter here", reasoners::NAMES))]
    reasoner: ReasonerKind,
    #[command(flatten)]
    reading: ReadingArgs,
}

impl CheckArgs {
    /// Checks and prints.
    ///
    /// # Errors
    /// If results cannot be printed; bad files are results.
    pub fn run(&self, as_json: bool) -> Result<Outcome, Failure> {
        let stop = stop::on_ctrl_c()?;
        let mut outcome = Outcome::Done;
        for path in &self.files {
            let checked = match read_text(path) {
                Ok(text) => self.check(&text, &stop),
                Err(failure) => Checked::unreadable(&failure),
            };
            // What was not looked at to its end has no verdict.
            if stop.is_raised() {
                return Err(Failure::work("stopped"));
            }
            if checked.verdict == Verdict::Invalid {
                outcome = Outcome::Failed;
            }
            checked.print(path, as_json)?;
        }
        Ok(outcome)
    }

    fn check(&self, text: &str, stop: &reasoner::Interrupt) -> Checked {
        let (description, messages) = check_text(text, self.reading.options());
        let mut checked = Checked {
            verdict: verdict(&messages),
            findings: messages.into_iter().map(Finding::from).collect(),
        };
        if self.simulate > 0
            && checked.verdict != Verdict::Invalid
            && let Some(description) = description
        {
            let found = coverage::simulate(&description, self.reading, self.reasoner, self.simulate, stop);
            if !found.is_empty() {
                checked.verdict = checked.verdict.max(Verdict::Warning);
            }
            checked.findings.extend(found);
        }
        checked
    }
}

/// The result for one file.
struct Checked {
    verdict: Verdict,
    findings: Vec<Finding>,
}

/// One message, wherever it comes from.
#[derive(Debug, Clone)]
pub struct Finding {
    /// How bad.
    pub severity: Severity,
    /// Line and column; none where play shows it, not the text.
    pub place: Option<(u32, u32)>,
    /// What is wrong.
    pub text: String,
    /// What to do.
    pub hint: String,
    /// The statement.
    pub rule: String,
}

impl From<Message> for Finding {
    fn from(message: Message) -> Finding {
        Finding {
            severity: message.severity,
            place: Some((message.position.line, message.position.column)),
            text: message.text,
            hint: message.hint,
            rule: message.rule,
        }
    }
}

impl Checked {
    fn unreadable(failure: &Failure) -> Checked {
        let text = failure.to_string();
        let finding = Finding {
            severity: Severity::Error,
            place: None,
            text: text.trim_start_matches("error: ").to_owned(),
            hint: "give the path of a file that can be read".to_owned(),
            rule: String::new(),
        };
        Checked { verdict: Verdict::Invalid, findings: vec![finding] }
    }

    fn print(&self, path: &Path, as_json: bool) -> Result<(), Failure> {
        let file = path.display();
        if as_json {
            let messages: Vec<Value> = self
                .findings
                .iter()
                .map(|it| {
                    json!({
                        "severity": it.severity.to_string(),
                        "line": it.place.map(|(line, _)| line),
                        "column": it.place.map(|(_, column)| column),
                        "text": it.text,
                        "hint": it.hint,
                        "rule": it.rule,
                    })
                })
                .collect();
            return output::json(&json!({
                "file": file.to_string(),
                "verdict": self.verdict.to_string(),
                "messages": messages,
            }));
        }
        for it in &self.findings {
            let place = it.place.map(|(line, column)| format!(":{line}:{column}")).unwrap_or_default();
            output::line(format_args!("{file}{place}: {}: {}", it.severity, it.text))?;
            if !it.rule.is_empty() {
                output::line(format_args!("    {}", it.rule))?;
            }
            output::line(format_args!("    hint: {}", it.hint))?;
        }
        output::line(format_args!("{file}: {}", self.verdict))?;
        Ok(())
    }
}
