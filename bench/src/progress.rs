//! Progress on standard error.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar for so many steps, with the time gone and an estimate of the time left.
pub fn bar(n_steps: usize) -> ProgressBar {
    let style = "{pos}/{len} {bar:30} {elapsed} gone, {eta} to go: {msg}";
    let bar = ProgressBar::new(n_steps as u64);
    bar.set_style(ProgressStyle::with_template(style).expect("the template is well formed"));
    bar
}
