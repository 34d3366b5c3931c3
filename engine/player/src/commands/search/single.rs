//! A search of a game of one role by one of the systems for those: how it goes on, and what it found, as it is printed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use reasoner::{Interrupt, Reasoner, Session};
use search::{Budget, Options};
use serde_json::{Value, json};
use single::{Outsiders, Report, Searcher, SingleError, System};

use crate::failure::{Failure, Outcome};
use crate::output;

/// What is searched, and how.
pub(super) struct Asked<'a> {
    pub(super) game: &'a str,
    pub(super) reasoner: &'a str,
    /// Seconds before the search.
    pub(super) set_up_s: f64,
    /// Why `auto` does without the propnet.
    pub(super) refused: Option<&'a str>,
    pub(super) system: System,
    pub(super) options: &'a Options,
    pub(super) outsiders: &'a Outsiders,
    pub(super) budget: Budget,
    pub(super) as_json: bool,
}

/// How often progress is shown.
const PROGRESS_EVERY: Duration = Duration::from_secs(1);

/// Searches and prints.
///
/// # Errors
/// If there can be no search, or it comes to no line at all.
pub(super) fn run<R: Reasoner>(
    reasoner: &Arc<R>,
    session: &mut R::Session,
    root: &R::State,
    asked: &Asked<'_>,
    stop: &Interrupt,
) -> Result<Outcome, Failure> {
    let searcher = Searcher::with_outsiders(reasoner, asked.system, asked.options, asked.outsiders);
    let mut searcher = searcher.map_err(|error| match error {
        SingleError::Spawn(_) => Failure::work(error),
        error => Failure::usage(error),
    })?;
    searcher.set_root(root);
    let mut next = Instant::now() + PROGRESS_EVERY;
    let mut progress = |report: &Report| {
        if Instant::now() >= next {
            next = Instant::now() + PROGRESS_EVERY;
            let best = report.best.as_ref().map_or("none".to_owned(), |line| line.value.to_string());
            let (seconds, playouts) = (report.time.as_secs_f64(), report.playouts);
            output::progress(format_args!("{seconds:.0} s: {playouts} playouts, best value {best}"));
        }
    };
    let report = searcher.run(&asked.budget, stop, &mut progress).map_err(Failure::work)?;
    if report.best.is_none() {
        return Err(match &report.last_error {
            Some(error) => Failure::work(error).context("no line came to its end"),
            None if report.is_hopeless => Failure::work("no line comes to an end; all states were seen"),
            None if stop.is_raised() => Failure::work("stopped before a line came to its end"),
            None => Failure::work("no line came to its end").hint("give more --seconds or --playouts"),
        });
    }
    match asked.as_json {
        true => output::json(&to_json(&report, asked, searcher.seed(), session))?,
        false => print(&report, session)?,
    }
    Ok(Outcome::Done)
}

fn texts<S: Session>(report: &Report, session: &mut S) -> Vec<String> {
    let moves = report.best.iter().flat_map(|line| &line.moves);
    moves.map(|&a_move| session.move_term(a_move).to_string()).collect()
}

fn to_json<S: Session>(report: &Report, asked: &Asked<'_>, seed: u64, session: &mut S) -> Value {
    let best = report.a_move.map(|a_move| session.move_term(a_move).to_string());
    let moves: Vec<[String; 1]> = texts(report, session).into_iter().map(|text| [text]).collect();
    let value = report.best.as_ref().map(|line| line.value);
    let seconds = report.time.as_secs_f64();
    let options = asked.options;
    json!({
        "game": asked.game,
        "reasoner": asked.reasoner,
        "set_up_s": asked.set_up_s,
        "refused": asked.refused,
        "config": asked.system.to_string(),
        "options": { "threads": options.threads, "seed": seed, "memory": options.max_bytes },
        "role": session.roles()[0].to_string(),
        "best": best,
        "best_value": value,
        "best_line": { "value": value, "moves": moves },
        "proved": report.proved,
        "proved_by": report.proved_by,
        "playouts": report.playouts,
        "seconds": seconds,
        "playouts_per_s": report.playouts as f64 / seconds.max(f64::EPSILON),
        "systems": report.parts.iter().map(|part| json!({
            "name": part.name,
            "seconds": part.used.time.as_secs_f64(),
            "playouts": part.used.playouts,
            "gains": part.used.gains,
            "done": part.is_done,
        })).collect::<Vec<_>>(),
        "found": report.found.iter().map(|found| json!({
            "after_s": found.after.as_secs_f64(),
            "value": found.value,
            "by": found.by,
        })).collect::<Vec<_>>(),
        "last_error": report.last_error,
    })
}

fn print<S: Session>(report: &Report, session: &mut S) -> Result<(), Failure> {
    let Some(line) = &report.best else { return Ok(()) };
    for found in &report.found {
        output::line(format_args!("{:>8.3} s  {:>5}  {}", found.after.as_secs_f64(), found.value, found.by))?;
    }
    let proof = if report.proved { "; no line is better" } else { "" };
    output::line(format_args!("best value {}{proof}", line.value))?;
    output::line(format_args!("best line  {}", texts(report, session).join(" ")))?;
    output::line(format_args!("{} playouts in {:.2} s", report.playouts, report.time.as_secs_f64()))?;
    for part in &report.parts {
        let used = part.used;
        let done = if part.is_done { "  done" } else { "" };
        let seconds = used.time.as_secs_f64();
        output::line(format_args!(
            "  {:<40} {seconds:>7.2} s  {:>11} playouts  {:>3} times best{done}",
            part.name, used.playouts, used.gains
        ))?;
    }
    Ok(())
}
