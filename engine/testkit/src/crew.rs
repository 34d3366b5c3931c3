//! Many checks on all cores, and what came of them.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::outcome::{Agreement, Done, Outcome};
use crate::shared::{SharedError, skip};

/// The stack of a worker: unoptimised frames of a recursive reasoner are large.
const STACK_BYTES: usize = 64 << 20;

/// Something on which a reasoner is known not to agree.
#[derive(Debug, Clone, Copy)]
pub struct Exception {
    /// The name of the check: for golden data that of the file without `.json`.
    pub name: &'static str,
    /// Why, in a sentence.
    pub reason: &'static str,
}

/// What came of many checks.
#[derive(Debug, Clone, Default)]
pub struct Summary {
    /// What was checked, in a word.
    pub title: &'static str,
    /// Why nothing was done, if so.
    pub skipped: Option<String>,
    /// Checks that agree.
    pub n_agree: usize,
    /// Those that fail and are in the table of exceptions.
    pub excepted: Vec<String>,
    /// Those that fail and are not, each with its first difference, or where it became too slow.
    pub failed: Vec<(String, String)>,
    /// Those that fail, but whose data is not insisted on.
    pub not_insisted: Vec<(String, String)>,
    /// Exceptions that are no longer needed (told only after a run over everything).
    pub stale: Vec<String>,
    /// What was compared, over all checks.
    pub done: Done,
}

/// One check.
pub(crate) struct Job<T> {
    /// How reports call it.
    pub(crate) name: String,
    /// Whether a failure counts.
    pub(crate) insisted: bool,
    /// What it checks.
    pub(crate) data: T,
}

impl Summary {
    /// Whether everything agrees but for explained exceptions, none of them stale.
    pub fn is_clean(&self) -> bool {
        self.failed.is_empty() && self.stale.is_empty()
    }

    /// Fails the test unless all is well.
    ///
    /// # Panics
    /// Unless [`Summary::is_clean`], with one line for each failure.
    pub fn assert_clean(&self) {
        let failed: Vec<String> =
            self.failed.iter().map(|(name, what)| format!("  {name}: {what}")).collect();
        assert!(
            self.is_clean(),
            "{} of {} fail:\n{}\nexceptions that are no longer needed: {:?}",
            failed.len(),
            self.title,
            failed.join("\n"),
            self.stale
        );
    }

    /// Of checks that cannot be made: a skipped one if there is no reference data, else a failed one.
    pub(crate) fn of_missing(title: &'static str, error: &SharedError) -> Summary {
        match error {
            SharedError::Absent(_) => {
                skip(&format_args!("{title}: {error}"));
                Summary { title, skipped: Some(error.to_string()), ..Summary::default() }
            }
            other => {
                let failed = vec![("reference data".to_string(), other.to_string())];
                Summary { title, failed, ..Summary::default() }
            }
        }
    }

    fn line(&self, wall: Duration) -> String {
        let Done { n_positions, n_traces, n_levels } = self.done;
        format!(
            "{}: {} agree, {} fail, {} excepted, {} not insisted on; {n_positions} positions, {n_traces} \
             playouts, {n_levels} levels of game trees compared in {:.1} s",
            self.title,
            self.n_agree,
            self.failed.len(),
            self.excepted.len(),
            self.not_insisted.len(),
            wall.as_secs_f64()
        )
    }

    /// Enters one outcome; returns what is worth a line.
    fn add<T>(
        &mut self,
        job: &Job<T>,
        outcome: Outcome,
        exception: Option<&Exception>,
        whole: bool,
    ) -> Option<String> {
        self.done.add(outcome.done);
        let name = &job.name;
        let cpu = outcome.cpu.as_secs_f64();
        let what = match outcome.agreement {
            Agreement::Agree => {
                self.n_agree += 1;
                let exception = exception.filter(|_| whole)?;
                self.stale.push(name.clone());
                return Some(format!("STALE {name}: agrees; the exception was: {}", exception.reason));
            }
            Agreement::Slow(place) => format!("slow, {cpu:.1} s of processor time at {place}"),
            Agreement::Differs(what) => what,
        };
        Some(if !job.insisted {
            self.not_insisted.push((name.clone(), what.clone()));
            format!("not insisted on {name} ({cpu:.1} s): {what}")
        } else if let Some(exception) = exception {
            self.excepted.push(name.clone());
            format!("excepted {name} ({cpu:.1} s): {what} [{}]", exception.reason)
        } else {
            self.failed.push((name.clone(), what.clone()));
            format!("FAILED {name} ({cpu:.1} s): {what}")
        })
    }
}

/// Does all checks, on all cores, in the order of `jobs`. A panic of a check is its failure. `whole` tells
/// whether an exception that agrees is stale. `report` gets a line for whatever does not agree, as soon as it
/// is known, and one of totals.
pub(crate) fn check_all<T: Sync>(
    title: &'static str,
    jobs: &[Job<T>],
    exceptions: &[Exception],
    whole: bool,
    report: &(dyn Fn(&str) + Sync),
    check: impl Fn(&T) -> Outcome + Sync,
) -> Summary {
    let start = Instant::now();
    let summary = Mutex::new(Summary { title, ..Summary::default() });
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let outcome = catch_unwind(AssertUnwindSafe(|| check(&job.data)))
                .unwrap_or_else(|panic| Outcome::of_failure(panic_text(panic.as_ref())));
            let exception = exceptions.iter().find(|exception| exception.name == job.name);
            let line =
                summary.lock().unwrap_or_else(PoisonError::into_inner).add(job, outcome, exception, whole);
            if let Some(line) = line {
                report(&line);
            }
        }
    };
    let n_threads = thread::available_parallelism().map_or(1, usize::from).min(jobs.len());
    thread::scope(|scope| {
        for _ in 0..n_threads {
            thread::Builder::new()
                .name(title.into())
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

/// What a panic said.
fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("panicked: {}", text.unwrap_or("without a text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(exceptions: &[Exception]) -> Summary {
        let job = |name: &str, insisted, data| Job { name: name.to_string(), insisted, data };
        let jobs =
            [job("good", true, 0), job("bad", true, 1), job("refused", false, 1), job("wild", true, 2)];
        check_all("numbers", &jobs, exceptions, true, &|_| {}, |&data| match data {
            0 => Outcome { agreement: Agreement::Agree, done: Done::default(), cpu: Duration::ZERO },
            1 => Outcome::of_failure("is 1".into()),
            _ => panic!("is {data}"),
        })
    }

    #[test]
    fn failures_and_panics_are_told_by_name() {
        let summary = run(&[]);
        let expected =
            [("bad", "is 1"), ("wild", "panicked: is 2")].map(|(a, b)| (a.to_string(), b.to_string()));
        assert_eq!(summary.failed, expected);
        assert_eq!((summary.n_agree, summary.not_insisted.len()), (1, 1));
    }

    #[test]
    fn exceptions_excuse_failures_and_must_be_needed() {
        let except = |name| Exception { name, reason: "known" };
        assert!(run(&[except("bad"), except("wild")]).is_clean());
        assert_eq!(run(&[except("bad"), except("wild"), except("good")]).stale, ["good"]);
    }
}
