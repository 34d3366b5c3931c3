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

Each number of threads has a graph of its own, made anew from the initial state. Speed-up and efficiency are those of \
playouts per second of wall time, against the first number of threads in the list. Processors is how many of them the \
threads had on average: fewer than threads where the machine has fewer, or others use it.

Counters are per thousand playouts, so that rows of different speed can be compared. In JSON they are whole numbers. \
The number in flight is the most visits that can be under way at once: threads x batch x rollouts. Table is how full the table of \
positions is, flushes are additions of statistics that were gathered over batches (--hot-levels). Nothing spins: threads \
wait only in pauses, in which a full graph forgets and tables grow.

Where there are more threads than cores, a model follows of what they would do with a core each: from what a playout costs with as \
much in flight, and from what two or more cores at work do to each other. It is no measurement. It needs a row of one thread, and \
one of several with a core each.")]
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
    /// Check the graph's laws of conservation after each search. A broken law is told, and the exit code is 1
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
        let mut rows = Vec::new();
        for n_threads in self.args.numbers_of_threads() {
            if self.stop.is_raised() {
                break;
            }
            output::progress(format_args!("{}, {} s", reading::threads(n_threads), self.args.seconds));
            let row = self.measure(&reasoner, &root, n_threads)?;
            // A search that was stopped has not had its time.
            if !self.stop.is_raised() {
                rows.push(row);
            }
        }
        let scaling = Scaling::new(rows);
        let machine =
            Machine { n_cores: all_cores(), has_backup_lock: self.brain.search.config.has_backup_lock() };
        let reading = reading::of(&scaling, machine);
        let model = Model::of(&scaling);
        if self.as_json {
            output::json(&json!({
                "game": self.name,
                "reasoner": reasoner.name(),
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
            output::line(format_args!("{name}, {config} on {}, {} cores", reasoner.name(), machine.n_cores))?;
            scaling.print()?;
            reading.iter().try_for_each(output::line)?;
            model.iter().try_for_each(Model::print)?;
        }
        if let Some(path) = &self.args.plot {
            write_plot(path, &scaling, self.name)?;
        }
        let is_stopped = self.stop.is_raised();
        Ok(if scaling.keeps_laws() && !is_stopped { Outcome::Done } else { Outcome::Failed })
    }
}

impl Stressing<'_> {
    /// One search with so many threads.
    fn measure<R: Reasoner>(
        &self,
        reasoner: &Arc<R>,
        root: &R::State,
        n_threads: usize,
    ) -> Result<Row, Failure> {
        let options = Options { threads: n_threads, ..self.brain.search.clone() };
        let mut searcher = Searcher::new(Arc::clone(reasoner), options)?;
        searcher.set_root(root);
        let cpu_before = cpu_seconds();
        let time = Duration::from_secs_f64(self.args.seconds);
        let budget = Budget { deadline: Some(Instant::now() + time), ..Budget::default() };
        let report = searcher.run(&budget, self.stop, &mut |_| ())?;
        let cpu_s = cpu_seconds() - cpu_before;
        if report.is_terminal {
            return Err(Failure::work("the initial state is terminal: there is nothing to search"));
        }
        if report.playouts == 0 && !self.stop.is_raised() {
            let why = report.errors.last.unwrap_or_else(|| "the time was too short".to_owned());
            return Err(Failure::work(why).context("no playout came to its end"));
        }
        let verified = self.args.verify.then(|| Verified::of(&searcher, &report, self.stop));
        Ok(Row { n_threads, report, cpu_s, n_in_flight: searcher.max_in_flight(), verified })
    }
}

fn write_plot(path: &Path, scaling: &Scaling, name: &str) -> Result<(), Failure> {
    let svg = plot::speed(scaling, name)?;
    std::fs::write(path, svg).map_err(|error| Failure::work(error).context(path.display()))
}
