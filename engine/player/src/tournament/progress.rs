//! What is shown while a tournament is played: a bar and the standings on a terminal, lines elsewhere.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::output;

/// The state of a tournament after a match.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// Matches that are played.
    pub n_played: usize,
    /// Matches that are played, or will be as far as is known now.
    pub n_wanted: usize,
    /// How long the rest takes at most, if that can be guessed.
    pub left: Option<Duration>,
}

/// Shows it on standard error, or nothing at all.
#[derive(Debug)]
pub struct Progress {
    bar: Option<ProgressBar>,
    is_quiet: bool,
}

impl Progress {
    /// Begins.
    pub fn new(is_quiet: bool) -> Progress {
        let bar = (!is_quiet && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{msg}\n[{wide_bar}] {pos}/{len} {prefix}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
            bar
        });
        Progress { bar, is_quiet }
    }

    /// Whether the standings are shown; they take time to make.
    pub fn shows_table(&self) -> bool {
        self.bar.is_some()
    }

    /// A match has ended: one line about it, and the standings as a table.
    pub fn show(&self, line: &str, table: &str, now: &Snapshot) {
        let left =
            now.left.map_or_else(String::new, |left| format!("at most {:#} left", HumanDuration(left)));
        match &self.bar {
            Some(bar) => {
                bar.set_length(now.n_wanted as u64);
                bar.set_position(now.n_played as u64);
                bar.set_prefix(left);
                bar.set_message(format!("{table}\n{line}"));
                bar.tick();
            }
            None if self.is_quiet => {}
            None => {
                let left = if left.is_empty() { left } else { format!("; {left}") };
                output::progress(format_args!("{}/{} {line}{left}", now.n_played, now.n_wanted));
            }
        }
    }

    /// Something to remember, above the bar.
    pub fn remark(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None if self.is_quiet => {}
            None => output::progress(text),
        }
    }

    /// Takes the bar away.
    pub fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
