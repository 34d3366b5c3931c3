//! `daggerboard speed`: random rollouts per second.

use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use reasoner::{Dice, Interrupt, Limits, Reasoner, ReasonerError, Session, Tally};
use serde_json::json;

use crate::brain::parse_seconds;
use crate::failure::{Failure, Outcome};
use crate::game_source::GameArgs;
use crate::output;
use crate::reasoners::{self, ReasonerKind, SetUp, WithReasoner};
use crate::sampling::{Sampled, Sampling};
use crate::stop;

/// Measure random rollouts from the initial state
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  daggerboard speed tic-tac-toe
  daggerboard speed my-game.kif --reasoner interpreter --seconds 10 --json

The reasoner auto is the propnet where the rules can be grounded within some seconds, counted in steps, otherwise the \
interpreter; which it was stands before the rates.")]
pub struct SpeedArgs {
    #[command(flatten)]
    game: GameArgs,
    #[arg(long, default_value = "auto", value_name = "NAME", help = format!("Who answers questions about the rules: {}", reasoners::NAMES))]
    reasoner: ReasonerKind,
    /// How long
    #[arg(long, default_value = "3", value_name = "S", value_parser = parse_seconds)]
    seconds: f64,
    /// Threads, each with a session of its own
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// What the rollouts follow from
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
}

/// How often the end is looked for.
const POLL: Duration = Duration::from_millis(5);

impl SpeedArgs {
    /// Measures and prints.
    ///
    /// # Errors
    /// If the game cannot be had, or the reasoner fails.
    pub fn run(&self, as_json: bool) -> Result<Outcome, Failure> {
        let game = self.game.load()?;
        let stop = stop::on_ctrl_c()?;
        let set_up_from = Instant::now();
        let measuring = Measuring { args: self, name: &game.name, as_json, set_up_from, stop: &stop };
        self.reasoner.with(Arc::clone(&game.rules), &SetUp::shown(&stop), measuring)?
    }
}

struct Measuring<'a> {
    args: &'a SpeedArgs,
    name: &'a str,
    as_json: bool,
    set_up_from: Instant,
    stop: &'a Interrupt,
}

impl WithReasoner for Measuring<'_> {
    type Output = Result<Outcome, Failure>;

    fn run<R: Reasoner>(self, reasoner: Arc<R>) -> Self::Output {
        let stop = self.stop;
        let over = Interrupt::new();
        let root = reasoner.session(Limits::default(), stop)?.initial_state()?;
        let setup_s = self.set_up_from.elapsed().as_secs_f64();
        let deadline = Instant::now() + Duration::from_secs_f64(self.args.seconds);
        let of_threads = std::thread::scope(|scope| {
            let mut threads = Vec::new();
            for thread_idx in 0..self.args.threads {
                let seed = Dice::child_seed(self.args.seed, u64::from(thread_idx));
                let (reasoner, root, over) = (&reasoner, &root, &over);
                let roll_out = move || roll_out(reasoner, root, seed, over);
                match std::thread::Builder::new().spawn_scoped(scope, roll_out) {
                    Ok(thread) => threads.push(thread),
                    Err(error) => {
                        over.raise();
                        return Err(Failure::work(error).context("a thread could not be started"));
                    }
                }
            }
            while Instant::now() < deadline && !stop.is_raised() && !threads.iter().all(|it| it.is_finished())
            {
                std::thread::sleep(POLL);
            }
            over.raise();
            let lost = || Err(ReasonerError::Engine("the reasoner panicked".to_owned()));
            Ok(threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| lost())).collect::<Vec<_>>())
        })?;
        let mut total = Tally::new(reasoner.n_roles());
        // What was in flight at the end counts neither as rollouts nor as time.
        let (mut seconds, mut cpu_s) = (0.0, 0.0);
        for of_thread in of_threads {
            let Sampled { tally, time, processor_time } = of_thread?;
            total.merge(&tally);
            seconds += time.as_secs_f64() / f64::from(self.args.threads);
            cpu_s += processor_time.as_secs_f64();
        }
        if total.n_rollouts == 0 && stop.is_raised() {
            return Err(Failure::work("stopped before a rollout came to its end"));
        }
        self.print(reasoner.name(), &total, seconds, setup_s, cpu_s)
    }
}

impl Measuring<'_> {
    fn print(
        &self,
        reasoner: &str,
        total: &Tally,
        seconds: f64,
        setup_s: f64,
        cpu_s: f64,
    ) -> Result<Outcome, Failure> {
        if total.n_rollouts == 0 {
            return Err(Failure::work("no rollout came to its end in time").hint("give more --seconds"));
        }
        if total.n_transitions == 0 {
            return Err(Failure::work(
                "no rollout made a move: the game ends, or a role is stuck, at its start",
            )
            .hint(format!("`daggerboard check {} --simulate 1` tells more", self.args.game.game)));
        }
        let n_rollouts = total.n_rollouts as f64;
        let rollouts_per_s = total.n_rollouts as f64 / seconds;
        let transitions_per_s = total.n_transitions as f64 / seconds;
        let mean_length = total.n_transitions as f64 / n_rollouts;
        let mean_goals: Vec<f64> = total.goal_sums.iter().map(|&sum| sum as f64 / n_rollouts).collect();
        if self.as_json {
            output::json(&json!({
                "game": self.name,
                "reasoner": reasoner,
                "threads": self.args.threads,
                "rollouts": total.n_rollouts,
                "transitions": total.n_transitions,
                "seconds": seconds,
                "rollouts_per_s": rollouts_per_s,
                "transitions_per_s": transitions_per_s,
                "mean_length": mean_length,
                "mean_goals": mean_goals,
                "setup_s": setup_s,
                "cpu_s": cpu_s,
            }))?;
        } else {
            output::line(format_args!(
                "{reasoner}: {rollouts_per_s:.0} rollouts/s, {transitions_per_s:.0} transitions/s, mean length {mean_length:.1}, \
                 mean goals {mean_goals:.1?}, set-up {setup_s:.3} s, {cpu_s:.2} s of processor time"
            ))?;
        }
        Ok(Outcome::Done)
    }
}

/// Rolls out until it is over.
fn roll_out<R: Reasoner>(
    reasoner: &Arc<R>,
    root: &R::State,
    seed: u64,
    over: &Interrupt,
) -> Result<Sampled, ReasonerError> {
    let mut sampling = Sampling::new(reasoner.session(Limits::default(), over)?, root, seed);
    while !over.is_raised() {
        match sampling.batch() {
            Ok(()) | Err(ReasonerError::Interrupted) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(sampling.sampled().clone())
}
