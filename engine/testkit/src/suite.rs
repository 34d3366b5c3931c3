//! The whole test of a reasoner: everything in a folder of reference data, on all cores.

use std::env;
use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use gdl::check::Verdict;
use gdl::{CaseReading, Rules};
use reasoner::Reasoner;

use crate::cases::{KifCase, check_case};
use crate::crew::{Exception, Job, Summary, check_all};
use crate::golden::{Golden, Thoroughness};
use crate::matches::{MatchRecord, replay_match};
use crate::outcome::Outcome;
use crate::replay::check_golden;
use crate::scrambled::{ScrambledSheet, check_scrambled};
use crate::shared::{Shared, SharedError};

/// Chooses the games and how much of each: `sample`, `whole`, or names of games separated by commas.
const VARIABLE: &str = "DAGGERBOARD_GOLDEN";

/// Games on which a sample spends time: those that the reference itself worked on for at most this many
/// seconds of processor time, traces and counting together. They are 9 in 10.
const SAMPLE_REFERENCE_S: f64 = 4.0;

/// Processor time for a recorded match, a scrambled sheet or a case. The longest match (72 steps of amazons
/// with some thousand moves each) is why it is not shorter.
const ONE_BUDGET: Duration = Duration::from_secs(120);

/// Which golden files are replayed, and how much of each.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection {
    /// How much of each file.
    pub thoroughness: Thoroughness,
    /// Only these, by the names of their files without `.json`; empty for all.
    pub names: Vec<String>,
    /// Whether games that cost the reference much are left out.
    pub cheap_only: bool,
}

impl Selection {
    /// Every game, every trace.
    pub fn whole() -> Selection {
        Selection { thoroughness: Thoroughness::WHOLE, names: Vec::new(), cheap_only: false }
    }

    /// A deterministic part: the cheap games, the shortest trace of each and small counts.
    pub fn sample() -> Selection {
        Selection { thoroughness: Thoroughness::SAMPLE, names: Vec::new(), cheap_only: true }
    }

    /// Some games, whole.
    pub fn of(names: &[&str]) -> Selection {
        Selection { names: names.iter().map(ToString::to_string).collect(), ..Selection::whole() }
    }

    /// What the environment variable `DAGGERBOARD_GOLDEN` says: `sample` (as without it), `whole`, or names
    /// of games separated by commas.
    pub fn from_env() -> Selection {
        match env::var(VARIABLE).as_deref() {
            Err(_) | Ok("" | "sample") => Selection::sample(),
            Ok("whole") => Selection::whole(),
            Ok(names) => Selection::of(&names.split(',').map(str::trim).collect::<Vec<_>>()),
        }
    }

    fn is_whole(&self) -> bool {
        *self == Selection::whole()
    }
}

/// Replays the selected golden files on a reasoner that `make` makes from rules. `report` gets one line for
/// each game that does not agree, as soon as it is known, and a line of totals. Rulesheets that the reference
/// validator refuses are replayed too, but not insisted on.
///
/// Where there is no reference data it says so on standard error and returns a clean summary.
pub fn golden_suite<R: Reasoner, E: Display>(
    make: impl Fn(Arc<Rules>) -> Result<R, E> + Sync,
    selection: &Selection,
    exceptions: &[Exception],
    report: &(dyn Fn(&str) + Sync),
) -> Summary {
    let title = "golden games";
    let (shared, jobs) =
        match Shared::find().and_then(|shared| Ok((golden_jobs(&shared, selection)?, shared))) {
            Ok((jobs, shared)) => (shared, jobs),
            Err(error) => return Summary::of_missing(title, &error),
        };
    check_all(title, &jobs, exceptions, selection.is_whole(), report, |(name, golden)| {
        let (game, case) = match name.strip_suffix(".ci") {
            Some(game) => (game, CaseReading::Ignored),
            None => (name.as_str(), CaseReading::Exact),
        };
        match made(&make, shared.rules(format!("games/{game}.kif"), case)) {
            Ok(reasoner) => check_golden(&reasoner, golden, selection.thoroughness),
            Err(what) => Outcome::of_failure(what),
        }
    })
}

/// The selected golden files, the most expensive first, so that no core is left with a long one at the end.
fn golden_jobs(shared: &Shared, selection: &Selection) -> Result<Vec<Job<(String, Golden)>>, SharedError> {
    let verdicts = shared.verdicts()?;
    let mut jobs = Vec::new();
    for name in shared.names("golden", ".json")? {
        if !selection.names.is_empty() && !selection.names.contains(&name) {
            continue;
        }
        let golden: Golden = shared.json(format!("golden/{name}.json"))?;
        if selection.cheap_only && golden.cpu_s.is_none_or(|cpu_s| cpu_s > SAMPLE_REFERENCE_S) {
            continue;
        }
        let game = name.strip_suffix(".ci").unwrap_or(&name);
        let insisted = verdicts.get(game) != Some(&Verdict::Invalid);
        jobs.push(Job { name: name.clone(), insisted, data: (name, golden) });
    }
    if let Some(unknown) = selection.names.iter().find(|&name| !jobs.iter().any(|job| &job.name == name)) {
        let what = format!("there is no {unknown}.json");
        return Err(SharedError::Format { path: shared.path("golden"), what });
    }
    let cost = |job: &Job<(String, Golden)>| job.data.1.cpu_s.unwrap_or(f64::INFINITY);
    jobs.sort_by(|a, b| cost(b).total_cmp(&cost(a)));
    Ok(jobs)
}

/// Replays every competition record whose verdict is that it agrees with the rules.
///
/// Where there is no reference data it says so on standard error and returns a clean summary.
pub fn match_suite<R: Reasoner, E: Display>(
    make: impl Fn(Arc<Rules>) -> Result<R, E> + Sync,
    exceptions: &[Exception],
    report: &(dyn Fn(&str) + Sync),
) -> Summary {
    let title = "recorded matches";
    let loaded = Shared::find().and_then(|shared| {
        let mut jobs = Vec::new();
        for name in shared.names("matches", ".json")? {
            let record: MatchRecord = shared.json(format!("matches/{name}.json"))?;
            if record.agrees() {
                jobs.push(Job { name, insisted: true, data: record });
            }
        }
        // The longest first, so that no core is left with it at the end.
        jobs.sort_by_key(|job| std::cmp::Reverse(job.data.n_choices()));
        Ok((shared, jobs))
    });
    let (shared, jobs) = match loaded {
        Ok(loaded) => loaded,
        Err(error) => return Summary::of_missing(title, &error),
    };
    check_all(title, &jobs, exceptions, true, report, |record| {
        let Some(game) = &record.game else { return Outcome::of_failure("the record names no game".into()) };
        match made(&make, shared.game(game)) {
            Ok(reasoner) => replay_match(&reasoner, record, ONE_BUDGET),
            Err(what) => Outcome::of_failure(what),
        }
    })
}

/// Replays the golden traces of the scrambled sheets' originals on all their texts, names translated both
/// ways. Where an original has no golden file, its texts need only be read.
///
/// Where there is no reference data it says so on standard error and returns a clean summary.
pub fn scrambled_suite<R: Reasoner, E: Display>(
    make: impl Fn(Arc<Rules>) -> Result<R, E> + Sync,
    report: &(dyn Fn(&str) + Sync),
) -> Summary {
    let title = "scrambled sheets";
    let loaded = Shared::find().and_then(|shared| {
        let sheets = ScrambledSheet::all(&shared)?;
        Ok(sheets.into_iter().map(|data| Job { name: data.name(), insisted: true, data }).collect::<Vec<_>>())
    });
    let jobs = match loaded {
        Ok(jobs) => jobs,
        Err(error) => return Summary::of_missing(title, &error),
    };
    check_all(title, &jobs, &[], true, report, |sheet| {
        match sheet.rules().and_then(|rules| {
            make(Arc::new(rules)).map(Arc::new).map_err(|error| format!("making the reasoner: {error}"))
        }) {
            Ok(reasoner) => check_scrambled(&reasoner, sheet, ONE_BUDGET),
            Err(what) => Outcome::of_failure(what),
        }
    })
}

/// Checks the expectations written in the KIF cases, static ones by [`gdl::check`].
///
/// Where there is no reference data it says so on standard error and returns a clean summary.
pub fn case_suite<R: Reasoner, E: Display>(
    make: impl Fn(Arc<Rules>) -> Result<R, E> + Sync,
    exceptions: &[Exception],
    report: &(dyn Fn(&str) + Sync),
) -> Summary {
    let title = "KIF cases";
    let loaded = Shared::find().and_then(|shared| {
        let mut jobs = Vec::new();
        for name in shared.names("cases/kif", ".kif")? {
            let data = KifCase::of_text(&shared.text(format!("cases/kif/{name}.kif"))?);
            jobs.push(Job { name, insisted: true, data });
        }
        Ok(jobs)
    });
    let jobs = match loaded {
        Ok(jobs) => jobs,
        Err(error) => return Summary::of_missing(title, &error),
    };
    check_all(title, &jobs, exceptions, true, report, |case| check_case(&make, case, ONE_BUDGET))
}

fn made<R: Reasoner, E: Display>(
    make: &impl Fn(Arc<Rules>) -> Result<R, E>,
    rules: Result<Arc<Rules>, SharedError>,
) -> Result<Arc<R>, String> {
    let rules = rules.map_err(|error| error.to_string())?;
    make(rules).map(Arc::new).map_err(|error| format!("making the reasoner: {error}"))
}
