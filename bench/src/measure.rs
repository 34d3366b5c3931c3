//! One measurement, in this process: the hidden command `measure`.

use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use player::failure::{Failure, Outcome};
use player::game_source::{Game, GameArgs};
use player::output;
use player::processor_time::cpu_seconds;
use player::reasoners::{ReasonerKind, SetUp, WithReasoner};
use player::sampling::Sampling;
use reasoner::{Interrupt, Limits, Reasoner, Session, Tally};
use search::{Budget, Options, Searcher};
use serde::{Deserialize, Serialize};

use crate::{child, compare};

/// What is measured. Times are processor time of the process, memory is its peak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum What {
    /// Set-up, rollouts and transitions.
    Speed,
    /// Playouts of a search with one thread.
    Search,
    /// Whether two reasoners give the same answers.
    Cross,
}

/// Measure one reasoner, or check two, in this process
#[derive(Debug, Args)]
pub struct MeasureArgs {
    #[arg(value_enum)]
    what: What,
    #[command(flatten)]
    game: GameArgs,
    #[arg(long)]
    reasoner: ReasonerKind,
    #[arg(long, default_value = "interpreter")]
    against: ReasonerKind,
    #[arg(long, default_value_t = 2.0, value_parser = compare::seconds)]
    seconds: f64,
    #[arg(long, default_value_t = 300)]
    steps: u64,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// End when standard input does
    #[arg(long)]
    with_parent: bool,
}

/// Random rollouts from the initial state.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Speed {
    /// From the rules to the first answer, in seconds of wall time.
    pub setup_s: f64,
    /// Per second of processor time.
    pub rollouts_per_cpu_s: f64,
    /// Per second of processor time.
    pub transitions_per_cpu_s: f64,
    /// Peak of the process's memory.
    pub peak_bytes: u64,
}

/// A search from the initial state.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SearchSpeed {
    /// Per second of processor time.
    pub playouts_per_cpu_s: f64,
}

/// What a lockstep check found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Cross {
    /// Positions compared.
    pub positions: u64,
    /// The first difference, if there is one.
    pub difference: Option<String>,
}

impl MeasureArgs {
    /// Measures and prints one line of JSON.
    ///
    /// # Errors
    /// If the game cannot be had, or the reasoner fails.
    pub fn run(&self) -> Result<Outcome, Failure> {
        if self.with_parent {
            child::end_with_parent();
        }
        let game = self.game.load()?;
        let rules = Arc::clone(&game.rules);
        let set_up = SetUp::until(&Interrupt::new());
        let measuring = Measuring { args: self, game: &game, begun: Instant::now() };
        self.reasoner.with(rules, &set_up, measuring)??;
        Ok(Outcome::Done)
    }
}

struct Measuring<'a> {
    args: &'a MeasureArgs,
    game: &'a Game,
    begun: Instant,
}

impl WithReasoner for Measuring<'_> {
    type Output = Result<(), Failure>;

    fn run<R: Reasoner>(self, reasoner: Arc<R>) -> Self::Output {
        match self.args.what {
            What::Speed => output::json(&speed(&reasoner, self.begun, self.args)?),
            What::Search => output::json(&search_speed(&reasoner, self.args)?),
            What::Cross => {
                let rules = Arc::clone(&self.game.rules);
                let found = {
                    let set_up = SetUp::until(&Interrupt::new());
                    self.args.against.with(rules, &set_up, Crossing { args: self.args, other: reasoner })?
                };
                output::json(&found)
            }
        }
    }
}

struct Crossing<'a, A> {
    args: &'a MeasureArgs,
    other: Arc<A>,
}

impl<A: Reasoner> WithReasoner for Crossing<'_, A> {
    type Output = Cross;

    fn run<R: Reasoner>(self, reasoner: Arc<R>) -> Cross {
        match testkit::cross_check(&reasoner, &self.other, self.args.seed, self.args.steps) {
            Ok(positions) => Cross { positions, difference: None },
            Err(mismatch) => Cross { positions: 0, difference: Some(mismatch.to_string()) },
        }
    }
}

fn speed<R: Reasoner>(reasoner: &Arc<R>, begun: Instant, args: &MeasureArgs) -> Result<Speed, Failure> {
    let mut session = reasoner.session(Limits::default(), &Interrupt::new())?;
    let root = session.initial_state()?;
    let setup_s = begun.elapsed().as_secs_f64();
    let mut sampling = Sampling::new(session, &root, args.seed);
    let cpu_begun = cpu_seconds();
    let mut cpu_s = 0.0;
    while cpu_s < args.seconds {
        sampling.batch()?;
        cpu_s = cpu_seconds() - cpu_begun;
    }
    let Tally { n_rollouts, n_transitions, .. } = sampling.sampled().tally;
    Ok(Speed {
        setup_s,
        rollouts_per_cpu_s: n_rollouts as f64 / cpu_s,
        transitions_per_cpu_s: n_transitions as f64 / cpu_s,
        peak_bytes: peak_bytes(),
    })
}

fn search_speed<R: Reasoner>(reasoner: &Arc<R>, args: &MeasureArgs) -> Result<SearchSpeed, Failure> {
    let root = reasoner.session(Limits::default(), &Interrupt::new())?.initial_state()?;
    let options = Options { threads: 1, seed: Some(args.seed), solver: false, ..Options::default() };
    let mut searcher = Searcher::new(Arc::clone(reasoner), options)?;
    searcher.set_root(&root);
    let deadline = Instant::now() + Duration::from_secs_f64(args.seconds);
    let cpu_begun = cpu_seconds();
    let budget = Budget { deadline: Some(deadline), ..Budget::default() };
    let report = searcher.run(&budget, &Interrupt::new(), &mut |_| ())?;
    if report.playouts == 0 {
        return Err(Failure::work("no playout ended in time"));
    }
    Ok(SearchSpeed { playouts_per_cpu_s: report.playouts as f64 / (cpu_seconds() - cpu_begun).max(1e-3) })
}

/// The peak of this process's memory; 0 where the system does not tell.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).map_or(0, |kb| kb * 1024)
}
