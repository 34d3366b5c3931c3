//! All golden games, on all cores.

use std::env;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use gdl::{CaseReading, Rules};
use reasoner::Reasoner;

use crate::golden::{Done, Golden, GoldenOutcome, Thoroughness, Verdict, check_golden};
use crate::shared::{Shared, SharedError, StaticVerdict, skip};

/// Chooses the games and how much of each: `sample`, `whole`, or names of games separated by commas.
const VARIABLE: &str = "DAGGERBOARD_GOLDEN";

/// Games on which a sample spends time: those that the reference itself replayed within this many seconds
/// of processor time. They are 9 in 10.
const SAMPLE_REFERENCE_S: f64 = 4.0;

/// The stack of a worker: debug frames of a recursive reasoner are large.
const STACK_BYTES: usize = 64 << 20;

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

    /// A deterministic part that takes a minute or so: the cheap games, the shortest trace of each.
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

/// A game on which a reasoner is known not to agree.
#[derive(Debug, Clone, Copy)]
pub struct Exception {
    /// The name of the golden file without `.json`.
    pub name: &'static str,
    /// Why, in a sentence.
    pub reason: &'static str,
}

/// What came of a whole run.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// Why nothing was done, if so.
    pub skipped: Option<String>,
    /// Games that agree.
    pub n_agree: usize,
    /// Games that fail and are in the table of exceptions.
    pub excepted: Vec<String>,
    /// Games that fail and are not, each with its first difference, or where it became too slow.
    pub failed: Vec<(String, String)>,
    /// Games that fail, but that the reference validator refuses, so that nothing is insisted on.
    pub not_insisted: Vec<(String, String)>,
    /// Exceptions that are no longer needed (told only after a run over everything).
    pub stale: Vec<String>,
    /// What was compared, over all games.
    pub done: Done,
}

impl Summary {
    /// Whether every game agrees but for explained exceptions, none of them stale.
    pub fn is_clean(&self) -> bool {
        self.failed.is_empty() && self.stale.is_empty()
    }

    /// Fails the test unless all is well.
    ///
    /// # Panics
    /// Unless [`Summary::is_clean`], with one line for each game.
    pub fn assert_clean(&self) {
        let failed: Vec<String> = self.failed.iter().map(|(name, what)| format!("  {name}: {what}")).collect();
        assert!(
            self.is_clean(),
            "{} games disagree with the golden data:\n{}\nexceptions that are no longer needed: {:?}",
            failed.len(),
            failed.join("\n"),
            self.stale
        );
    }

    fn line(&self, wall: Duration) -> String {
        let Done { n_positions, n_traces, n_levels } = self.done;
        format!(
            "golden: {} agree, {} fail, {} excepted, {} not insisted on; {n_traces} traces, {n_positions} \
             positions, {n_levels} levels compared in {:.1} s",
            self.n_agree,
            self.failed.len(),
            self.excepted.len(),
            self.not_insisted.len(),
            wall.as_secs_f64()
        )
    }
}

/// One golden file to replay.
struct Job {
    name: String,
    golden: Golden,
}

/// Replays the selected golden files on a reasoner that `make` makes from rules, on all cores. `report`
/// gets one line for each game that does not agree as soon as it is known, and a line of totals.
///
/// Where there is no reference data it says so on standard error and returns a clean summary.
pub fn golden_suite<R: Reasoner, E: Display>(
    make: impl Fn(Arc<Rules>) -> Result<R, E> + Sync,
    selection: &Selection,
    exceptions: &[Exception],
    report: &(dyn Fn(&str) + Sync),
) -> Summary {
    let start = Instant::now();
    let loaded = Shared::find().and_then(|shared| {
        let verdicts = shared.verdicts()?;
        let jobs = load_jobs(&shared, selection)?;
        Ok((shared, verdicts, jobs))
    });
    let (shared, verdicts, jobs) = match loaded {
        Ok(loaded) => loaded,
        Err(error @ SharedError::Absent(_)) => {
            skip(&error);
            return Summary { skipped: Some(error.to_string()), ..Summary::default() };
        }
        Err(error) => {
            let failed = vec![("reference data".to_string(), error.to_string())];
            return Summary { failed, ..Summary::default() };
        }
    };
    let summary = Mutex::new(Summary::default());
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let outcome = replay(&shared, &make, job, selection.thoroughness);
            let game = job.name.strip_suffix(".ci").unwrap_or(&job.name);
            let refused = verdicts.get(game) == Some(&StaticVerdict::Invalid);
            let exception = exceptions.iter().find(|exception| exception.name == job.name);
            let mut summary = summary.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(line) = summary.add(&job.name, outcome, refused, exception, selection) {
                report(&line);
            }
        }
    };
    let n_threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..n_threads {
            thread::Builder::new()
                .name("golden".into())
                .stack_size(STACK_BYTES)
                .spawn_scoped(scope, work)
                .expect("the system has room for a thread per core");
        }
    });
    let mut summary = summary.into_inner().unwrap_or_else(PoisonError::into_inner);
    summary.failed.sort();
    summary.not_insisted.sort();
    summary.excepted.sort();
    report(&summary.line(start.elapsed()));
    summary
}

impl Summary {
    /// Enters one outcome; returns what is worth a line.
    fn add(
        &mut self,
        name: &str,
        outcome: GoldenOutcome,
        refused: bool,
        exception: Option<&Exception>,
        selection: &Selection,
    ) -> Option<String> {
        self.done.n_positions += outcome.done.n_positions;
        self.done.n_traces += outcome.done.n_traces;
        self.done.n_levels += outcome.done.n_levels;
        let cpu = outcome.cpu.as_secs_f64();
        let what = match outcome.verdict {
            Verdict::Agree => {
                self.n_agree += 1;
                let exception = exception.filter(|_| selection.is_whole())?;
                self.stale.push(name.into());
                return Some(format!("STALE  {name}: agrees; the exception was: {}", exception.reason));
            }
            Verdict::Slow(place) => format!("slow, {cpu:.1} s of processor time at {place}"),
            Verdict::Differs(what) => what,
        };
        Some(if refused {
            self.not_insisted.push((name.into(), what.clone()));
            format!("refused {name} ({cpu:.1} s): {what}")
        } else if let Some(exception) = exception {
            self.excepted.push(name.into());
            format!("excepted {name} ({cpu:.1} s): {what} [{}]", exception.reason)
        } else {
            self.failed.push((name.into(), what.clone()));
            format!("FAILED {name} ({cpu:.1} s): {what}")
        })
    }
}

/// The selected golden files, the most expensive first, so that no core is left with a long one at the end.
fn load_jobs(shared: &Shared, selection: &Selection) -> Result<Vec<Job>, SharedError> {
    let mut jobs = Vec::new();
    for name in shared.names("golden", ".json")? {
        if !selection.names.is_empty() && !selection.names.contains(&name) {
            continue;
        }
        let golden: Golden = shared.json(format!("golden/{name}.json"))?;
        if selection.cheap_only && golden.cpu_s.is_none_or(|cpu_s| cpu_s > SAMPLE_REFERENCE_S) {
            continue;
        }
        jobs.push(Job { name, golden });
    }
    if let Some(unknown) = selection.names.iter().find(|&name| !jobs.iter().any(|job| &job.name == name)) {
        let what = format!("there is no {unknown}.json");
        return Err(SharedError::Format { path: shared.path("golden"), what });
    }
    let cost = |job: &Job| job.golden.cpu_s.unwrap_or(f64::INFINITY);
    jobs.sort_by(|a, b| cost(b).total_cmp(&cost(a)));
    Ok(jobs)
}

/// Replays one file. Whatever goes wrong, a panic included, is an outcome.
fn replay<R: Reasoner, E: Display>(
    shared: &Shared,
    make: &impl Fn(Arc<Rules>) -> Result<R, E>,
    job: &Job,
    thoroughness: Thoroughness,
) -> GoldenOutcome {
    let differs = |what| GoldenOutcome {
        verdict: Verdict::Differs(what),
        done: Done::default(),
        cpu: Duration::ZERO,
    };
    let (game, case) = match job.name.strip_suffix(".ci") {
        Some(game) => (game, CaseReading::Ignored),
        None => (job.name.as_str(), CaseReading::Exact),
    };
    let attempt = || {
        let rules = match shared.rules(format!("games/{game}.kif"), case) {
            Ok(rules) => rules,
            Err(error) => return differs(error.to_string()),
        };
        match make(rules) {
            Ok(reasoner) => check_golden(&Arc::new(reasoner), &job.golden, thoroughness),
            Err(error) => differs(format!("making the reasoner: {error}")),
        }
    };
    catch_unwind(AssertUnwindSafe(attempt)).unwrap_or_else(|panic| differs(panic_text(panic.as_ref())))
}

/// What a panic said.
pub(crate) fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("panicked: {}", text.unwrap_or("without a text"))
}
