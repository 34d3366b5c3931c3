//! `daggerboard stress`: the same search with more and more threads, and what keeps it from being faster.

mod model;
mod plot;
mod reading;
mod row;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use reasoner::{Interrupt, Limits, Reasoner, Session};
use search::{Budget, Options, Searcher};
use serde_json::json;
use single::System;

use self::model::Model;
use self::reading::Machine;
use self::row::{Row, Scaling};
use super::laws::Verified;
use crate::brain::{Brain, BrainArgs, all_cores, parse_seconds, parse_threads};
use crate::failure::{Failure, Outcome};
use crate::game_source::GameArgs;
use crate::output;
use crate::processor_time::cpu_seconds;
use crate::reasoners::{SetUp, WithReasoner};
use crate::stop;

/// Search one position with more and more threads, and tell what limits the machine
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  daggerboard stress connect-four
  daggerboard stress connect-four --threads 1,2,4,8,16,32,64 --seconds 10 --plot scaling.svg
  daggerboard stress my-game.kif --threads 1,64 --config credited --verify --json

Each number of threads has a graph of its own, made anew from the initial state; games of one role are searched by uct+t too, \
unless --config says otherwise. Speed-up and efficiency are those of playouts per second of wall time, against the fewest threads \
in the list. Processors is how many of them the threads had on average: fewer than threads where the machine has fewer, where \
others use it, or where threads wait. Cores are those of --pin, or what the system counts as such: hardware threads, of which two \
may share a core.

Counters are per thousand playouts, so that rows of different speed can be compared, but for probes, which are per look-up. In JSON \
they are whole numbers. The number in flight is the most visits that can be under way at once: threads x batch x rollouts. Table is \
how full the table of positions is, flushes are additions of statistics that were gathered over batches (--hot-levels). MiB is \
the graph alone, for which --memory is the limit; what threads have for themselves comes on top.

Threads wait in pauses, in which a full graph forgets and tables grow; for backups under ucd-incremental and ucd-paper; for a piece \
of memory that another thread is just taking for the graph; and with the interpreter where a term is new.

Where there are more threads than cores, a model follows of what they would do with a core each: from what a playout costs with as \
much in flight, and from what two or more cores at work do to each other. It is no measurement. It needs a row of one thread, and \
one of several with a core each. There is none for ucd-incremental and ucd-paper, whose backups come one at a time on any machine.")]
pub struct StressArgs {
    #[command(flatten)]
    game: GameArgs,
    #[command(flatten)]
    brain: BrainArgs,
    /// Numbers of worker threads, one search for each; powers of two up to all cores if it is not given
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = parse_threads, help_heading = "Search")]
    threads: Vec<usize>,
    /// How long each search takes
    #[arg(long, default_value = "5", value_name = "S", value_parser = parse_seconds)]
    seconds: f64,
    /// Check the graph's laws of conservation after each search. It takes time and memory as the graph does; Ctrl-C stops it.
    /// A broken law is told, and the exit code is 1
    #[arg(long)]
    verify: bool,
    /// Write playouts per second against threads to this file, as SVG
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

impl StressArgs {
    /// Measures and prints.
    ///
    /// # Errors
    /// If the game cannot be had, a search fails, or the plot cannot be written.
    pub fn run(&self, as_json: bool) -> Result<Outcome, Failure> {
        if self.brain.solver || self.brain.pn_bias > 0.0 {
            return Err(Failure::usage(
                "--solver on, which --pn-bias needs, ends a search that has solved the position",
            )
            .hint("leave both out: every search has the same time here"));
        }
        let brain = self.brain.brain(1, None, None)?;
        if let Some(system) = brain.config.filter(|it| !matches!(it, System::Graph(_))) {
            return Err(Failure::usage(format!("--config {system} has no graph that threads share"))
                .hint("name a configuration of the graph, such as uct+t"));
        }
        if let Some(path) = &self.plot {
            output::check_file(path)?;
        }
        let game = self.game.load()?;
        let stop = stop::on_ctrl_c()?;
        let stressing =
            Stressing { args: self, name: &game.name, brain: brain.clone(), as_json, stop: &stop };
        brain.reasoner.with(Arc::clone(&game.rules), &SetUp::shown(&stop), stressing)?
    }

    /// How many threads each search has, from few to many.
    fn numbers_of_threads(&self) -> Vec<usize> {
        if !self.threads.is_empty() {
            let mut numbers = self.threads.clone();
            numbers.sort_unstable();
            numbers.dedup();
            return numbers;
        }
        let n_cores = all_cores();
        let mut numbers: Vec<usize> =
            std::iter::successors(Some(1), |n| Some(n * 2)).take_while(|&n| n < n_cores).collect();
        numbers.push(n_cores);
        numbers
    }
}

struct Stressing<'a> {
    args: &'a StressArgs,
    name: &'a str,
    brain: Brain,
    as_json: bool,
    stop: &'a Interrupt,
}

impl WithReasoner for Stressing<'_> {
    type Output = Result<Outcome, Failure>;

    fn run<R: Reasoner>(self, reasoner: Arc<R>) -> Self::Output {
        let root = reasoner.session(Limits::default(), self.stop)?.initial_state()?;
        let measure = |n_threads| self.measure(&reasoner, &root, n_threads);
        let (rows, failure) = rows_of(self.args.numbers_of_threads(), self.stop, measure);
        if let (Some(failure), []) = (&failure, &rows[..]) {
            return Err(failure.clone());
        }
        let scaling = Scaling::new(rows);
        self.tell(&scaling, reasoner.name())?;
        let is_done = scaling.keeps_laws() && !self.stop.is_raised();
        failure.map_or(Ok(if is_done { Outcome::Done } else { Outcome::Failed }), Err)
    }
}

/// One search for each number of threads, until one fails or `stop` is raised; what was measured before is told all the same.
fn rows_of(
    numbers_of_threads: Vec<usize>,
    stop: &Interrupt,
    mut measure: impl FnMut(usize) -> Result<Option<Row>, Failure>,
) -> (Vec<Row>, Option<Failure>) {
    let mut rows = Vec::new();
    for n_threads in numbers_of_threads {
        if stop.is_raised() {
            break;
        }
        match measure(n_threads) {
            Ok(row) => rows.extend(row),
            Err(failure) => return (rows, Some(failure)),
        }
    }
    (rows, None)
}

impl Stressing<'_> {
    fn tell(&self, scaling: &Scaling, reasoner: &str) -> Result<(), Failure> {
        let machine = Machine::of(&self.brain.search);
        let reading = reading::of(scaling, machine);
        let model = Model::of(scaling, machine);
        if self.as_json {
            output::json(&json!({
                "game": self.name,
                "reasoner": reasoner,
                "config": self.brain.search.config.to_string(),
                "seconds": self.args.seconds,
                "cores": machine.n_cores,
                "stopped": self.stop.is_raised(),
                "searches": scaling.json(),
                "reading": reading,
                "model": model.as_ref().map(Model::json),
            }))?;
        } else {
            let (name, config) = (self.name, self.brain.search.config);
            let cores = reading::cores(machine.n_cores);
            output::line(format_args!("{name}, {config} on {reasoner}, {cores} (hardware threads)"))?;
            scaling.print()?;
            reading.iter().try_for_each(output::line)?;
            model.iter().try_for_each(Model::print)?;
        }
        match &self.args.plot {
            // A picture of nothing would take the place of an older one.
            Some(path) if !scaling.rows.is_empty() => write_plot(path, scaling, self.name),
            _ => Ok(()),
        }
    }

    /// One search with so many threads; nothing if it was stopped before it had had its time.
    fn measure<R: Reasoner>(
        &self,
        reasoner: &Arc<R>,
        root: &R::State,
        n_threads: usize,
    ) -> Result<Option<Row>, Failure> {
        output::progress(format_args!("{}, {} s", reading::threads(n_threads), self.args.seconds));
        let options = Options { threads: n_threads, ..self.brain.search.clone() };
        let mut searcher = Searcher::new(Arc::clone(reasoner), options)?;
        searcher.set_root(root);
        let cpu_before = cpu_seconds();
        let time = Duration::from_secs_f64(self.args.seconds);
        let budget = Budget { deadline: Some(Instant::now() + time), ..Budget::default() };
        let report = searcher.run(&budget, self.stop, &mut |_| ())?;
        let cpu_s = cpu_seconds() - cpu_before;
        if self.stop.is_raised() {
            return Ok(None);
        }
        if report.is_terminal {
            return Err(Failure::work("the initial state is terminal: there is nothing to search"));
        }
        if report.playouts == 0 {
            let why = report.errors.last.unwrap_or_else(|| "the time was too short".to_owned());
            return Err(Failure::work(why).context("no playout came to its end"));
        }
        let verified = self.args.verify.then(|| Verified::of(&searcher, &report, self.stop));
        Ok(Some(Row { n_threads, report, cpu_s, n_in_flight: searcher.max_in_flight(), verified }))
    }
}

fn write_plot(path: &Path, scaling: &Scaling, name: &str) -> Result<(), Failure> {
    let svg = plot::speed(scaling, name)?;
    std::fs::write(path, svg).map_err(|error| Failure::work(error).context(path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_measured_before_a_failure_is_kept() {
        let measure = |n_threads| match n_threads {
            4 => Err(Failure::work("no more threads")),
            n => Ok(Some(row::row(n, 1000, 1.0))),
        };
        let (rows, failure) = rows_of(vec![1, 2, 4, 8], &Interrupt::new(), measure);
        assert_eq!(rows.iter().map(|row| row.n_threads).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(failure, Some(Failure::work("no more threads")));
    }

    #[test]
    fn a_stop_ends_the_list_and_a_row_that_was_measured_before_it_stays() {
        for is_measured in [false, true] {
            let stop = Interrupt::new();
            let measure = |n_threads| {
                if n_threads == 2 {
                    stop.raise();
                }
                Ok((n_threads == 1 || is_measured).then(|| row::row(n_threads, 1000, 1.0)))
            };
            let (rows, failure) = rows_of(vec![1, 2, 4], &stop, measure);
            assert_eq!((rows.len(), failure), (1 + usize::from(is_measured), None));
        }
    }
}
