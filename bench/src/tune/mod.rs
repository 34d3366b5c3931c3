//! `daggerboard-bench tune`: the cross-entropy method over any numbers in players' settings and games' names.
//!
//! In goes a [`Plan`]; out come the distribution of each parameter, iteration by iteration, and how the last mean does
//! against the start on games that nobody has seen. What was played is kept in a [`Journal`], from which all else is
//! computed again (Rubinstein 2003; Chaslot et al. 2008; Schadd et al. 2012, section 5).

mod distribution;
mod fitness;
mod plan;
mod plot;

use std::fs;
use std::num::NonZero;
use std::path::PathBuf;

use clap::Args;
use player::failure::{Failure, Outcome};
use player::{output, stop, tables};
use reasoner::Interrupt;
use serde::{Deserialize, Serialize};
use serde_json::json;
use statrs::distribution::{ContinuousCDF, StudentsT};

use self::distribution::Spread;
use self::fitness::Task;
use self::plan::Plan;
use self::plot::Panel;
use crate::journal::Journal;
use crate::progress;
use crate::side_by_side::{n_cores, side_by_side};

/// Tune numbers of a configuration by the cross-entropy method
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  daggerboard-bench tune --example > tune.toml
  daggerboard-bench tune tune.toml --out tuned
  daggerboard-bench tune tune.toml --out tuned --json

DIR/history.jsonl has what each sample came to in each game, DIR/history.svg the means and deviations by iteration. The \
same command goes on after Ctrl-C, a crash or a kill; more iterations only add. With playouts and a seed in the file all \
numbers are the same again, whatever --jobs is.")]
pub struct TuneArgs {
    /// The file that says what to tune
    #[arg(value_name = "FILE", required_unless_present = "example")]
    file: Option<PathBuf>,
    /// Print a commented file to begin with
    #[arg(long, conflicts_with = "file")]
    example: bool,
    /// The folder for history and plot
    #[arg(long, default_value = "tune", value_name = "DIR")]
    out: PathBuf,
    /// Games played at a time
    #[arg(long, default_value_t = n_cores(), value_name = "N")]
    jobs: NonZero<usize>,
}

/// What a sample came to in one game, as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Entry {
    iteration: usize,
    sample: usize,
    game: String,
    game_idx: usize,
    values: Vec<f64>,
    spec: String,
    against: Option<String>,
    version: String,
    score: f64,
}

impl Entry {
    /// Whether it is the same game of the same sample. The names have its values; numbers are read back to the last bit but
    /// one.
    fn is_of(&self, other: &Entry) -> bool {
        let values = self.values.clone();
        *self == Entry { values, score: self.score, ..other.clone() }
    }
}

/// An iteration, when all its games are played.
#[derive(Debug, Serialize)]
struct Iteration {
    /// What its samples were drawn from.
    spreads: Vec<Spread>,
    /// Of all its samples.
    mean_score: f64,
    /// Of its best sample.
    best_score: f64,
    worst_score: f64,
}

/// The tuned set against the start.
#[derive(Debug, Serialize)]
struct Check {
    start: Vec<f64>,
    tuned: Vec<f64>,
    games: usize,
    start_score: f64,
    tuned_score: f64,
    /// Tuned less start, game by game.
    difference: f64,
    /// Its 95 % interval, by Student's distribution.
    interval: [f64; 2],
}

impl TuneArgs {
    /// Tunes and prints.
    ///
    /// # Errors
    /// If the file is no plan, a game cannot be played, or the folder cannot be used.
    pub fn run(&self, as_json: bool) -> Result<Outcome, Failure> {
        let Some(file) = &self.file else {
            output::line(plan::EXAMPLE.trim_end())?;
            return Ok(Outcome::Done);
        };
        let plan = Plan::read(file)?;
        let stop = stop::on_ctrl_c()?;
        fs::create_dir_all(&self.out).map_err(|error| Failure::work(error).context(self.out.display()))?;
        let path = self.out.join("history.jsonl");
        let journal = Journal::open(&path).map_err(|error| Failure::work(error).context(path.display()))?;
        let mut tuning = Tuning { plan: &plan, jobs: self.jobs, journal, stop: &stop };
        let (iterations, last) = tuning.iterate()?;
        let check = if stop.is_raised() { None } else { tuning.check(&last)? };
        self.report(&plan, &iterations, &last, check.as_ref(), as_json)?;
        if stop.is_raised() {
            output::progress("stopped; the same command goes on");
            return Ok(Outcome::Failed);
        }
        Ok(Outcome::Done)
    }

    fn report(
        &self,
        plan: &Plan,
        iterations: &[Iteration],
        last: &[Spread],
        check: Option<&Check>,
        as_json: bool,
    ) -> Result<(), Failure> {
        if !iterations.is_empty() {
            let path = self.out.join("history.svg");
            let svg = plot::history(&panels(plan, iterations, last))?;
            fs::write(&path, svg).map_err(|error| Failure::work(error).context(path.display()))?;
        }
        let names: Vec<&str> = plan.parameters.iter().map(|parameter| &parameter.name[..]).collect();
        if as_json {
            let report = json!({"parameters": names, "iterations": iterations, "last": last, "check": check});
            return output::json(&report);
        }
        let header = ["iteration", "mean score", "best score"].map(str::to_owned).into_iter();
        let header = header.chain(names.iter().map(|name| format!("{name} +- deviation")));
        let mut table = tables::with_columns(header.collect::<Vec<_>>());
        let spread = |spread: &Spread| format!("{:.5} +- {:.5}", spread.mean, spread.deviation);
        for (number, iteration) in iterations.iter().enumerate() {
            let scores = [iteration.mean_score, iteration.best_score].map(|score| format!("{score:.3}"));
            let spreads = iteration.spreads.iter().map(spread);
            table.add_row([number.to_string()].into_iter().chain(scores).chain(spreads));
        }
        let none = ["last", "", ""].map(str::to_owned).into_iter();
        table.add_row(none.chain(last.iter().map(spread)));
        output::line(table)?;
        let Some(check) = check else { return Ok(()) };
        let Check { games, start_score, tuned_score, difference, interval: [low, high], .. } = check;
        output::line(format_args!(
            "on {games} games not seen: start {start_score:.3}, tuned {tuned_score:.3}; \
             the difference is {difference:.3}, 95 % interval {low:.3} to {high:.3}"
        ))
    }
}

/// The plot's panels: scores, then each parameter.
fn panels(plan: &Plan, iterations: &[Iteration], last: &[Spread]) -> Vec<Panel> {
    let scores = iterations.iter().map(|it| [it.worst_score, it.mean_score, it.best_score]).collect();
    let title = "score: worst, mean and best sample".to_owned();
    let of_parameter = |(idx, parameter): (usize, &plan::Parameter)| {
        let all = iterations.iter().map(|it| &it.spreads[idx]).chain([&last[idx]]);
        let points = all.map(|it| [it.mean - it.deviation, it.mean, it.mean + it.deviation]).collect();
        Panel { title: format!("{}: mean and deviation", parameter.name), points }
    };
    let parameters = plan.parameters.iter().enumerate().map(of_parameter);
    [Panel { title, points: scores }].into_iter().chain(parameters).collect()
}

struct Tuning<'a> {
    plan: &'a Plan,
    jobs: NonZero<usize>,
    journal: Journal<Entry>,
    stop: &'a Interrupt,
}

impl Tuning<'_> {
    /// All iterations that were played to their end, and the distribution after the last.
    fn iterate(&mut self) -> Result<(Vec<Iteration>, Vec<Spread>), Failure> {
        let plan = self.plan;
        let mut spreads: Vec<Spread> = plan.parameters.iter().map(Spread::first).collect();
        let mut iterations = Vec::new();
        for number in 0..plan.iterations {
            let samples = distribution::samples(plan, &spreads, number);
            let Some(scores) = self.scores(number, &samples, plan.games_per_sample)? else { break };
            let fitness: Vec<f64> = scores.iter().map(|scores| mean(scores)).collect();
            let next = distribution::next(plan, &spreads, &samples, &fitness);
            iterations.push(Iteration {
                spreads: std::mem::replace(&mut spreads, next),
                mean_score: mean(&fitness),
                best_score: fitness.iter().copied().fold(f64::NEG_INFINITY, f64::max),
                worst_score: fitness.iter().copied().fold(f64::INFINITY, f64::min),
            });
        }
        Ok((iterations, spreads))
    }

    /// The tuned set and the start on games of an iteration that there is not; nothing if there are none or it is stopped.
    fn check(&mut self, last: &[Spread]) -> Result<Option<Check>, Failure> {
        /// Far from any iteration.
        const UNSEEN: usize = 1 << 40;
        let n_games = self.plan.check;
        if n_games == 0 {
            return Ok(None);
        }
        let start: Vec<f64> = self.plan.parameters.iter().map(plan::Parameter::start).collect();
        let tuned: Vec<f64> = last.iter().map(|spread| spread.mean).collect();
        let Some(scores) = self.scores(UNSEEN, &[start.clone(), tuned.clone()], n_games)? else {
            return Ok(None);
        };
        let differences: Vec<f64> =
            scores[0].iter().zip(&scores[1]).map(|(start, tuned)| tuned - start).collect();
        Ok(Some(Check {
            start,
            tuned,
            games: n_games,
            start_score: mean(&scores[0]),
            tuned_score: mean(&scores[1]),
            difference: mean(&differences),
            interval: interval(&differences),
        }))
    }

    /// What each sample comes to in each game; nothing if it is stopped before all are played.
    fn scores(
        &mut self,
        iteration: usize,
        samples: &[Vec<f64>],
        n_games: usize,
    ) -> Result<Option<Vec<Vec<f64>>>, Failure> {
        let Tuning { plan, jobs, stop, journal } = self;
        let mut scores = vec![vec![None; n_games]; samples.len()];
        let task =
            |sample: usize, game_idx| Task { iteration, sample, game_idx, values: samples[sample].clone() };
        let entry = |task: &Task, score| Entry {
            iteration,
            sample: task.sample,
            game: task.game(plan),
            game_idx: task.game_idx,
            values: task.values.clone(),
            spec: plan.filled(&plan.spec, &task.values, 0),
            against: plan.against.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            score,
        };
        for known in journal.entries.iter().filter(|entry| entry.iteration == iteration) {
            let Some(place) = scores.get_mut(known.sample).and_then(|scores| scores.get_mut(known.game_idx))
            else {
                continue;
            };
            if entry(&task(known.sample, known.game_idx), known.score).is_of(known) {
                *place = Some(known.score);
            }
        }
        let is_open = |&(sample, game_idx): &(usize, usize)| scores[sample][game_idx].is_none();
        let all = (0..samples.len()).flat_map(|sample| (0..n_games).map(move |game_idx| (sample, game_idx)));
        let open: Vec<Task> = all.filter(is_open).map(|(sample, game_idx)| task(sample, game_idx)).collect();
        let bar = progress::bar(samples.len() * n_games);
        bar.set_message(format!("iteration {iteration}"));
        bar.inc((samples.len() * n_games - open.len()) as u64);
        let mut failed = None;
        side_by_side(
            *jobs,
            &open,
            |task| if stop.is_raised() { Ok(None) } else { fitness::score(plan, task, stop) },
            |task, score| {
                let kept = score.and_then(|score| {
                    let Some(score) = score else { return Ok(false) };
                    journal.push(entry(task, score)).map_err(Failure::work)?;
                    scores[task.sample][task.game_idx] = Some(score);
                    bar.inc(1);
                    Ok(true)
                });
                kept.unwrap_or_else(|failure| {
                    failed = Some(failure);
                    // The others need not end their games.
                    stop.raise();
                    false
                })
            },
        );
        bar.finish_and_clear();
        match failed {
            Some(failure) => Err(failure),
            None => Ok(scores.into_iter().map(|scores| scores.into_iter().collect()).collect()),
        }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The 95 % interval of the mean (Student 1908); two values or more.
fn interval(values: &[f64]) -> [f64; 2] {
    let n = values.len() as f64;
    let center = mean(values);
    let variance = values.iter().map(|value| (value - center).powi(2)).sum::<f64>() / (n - 1.0);
    let quantile =
        StudentsT::new(0.0, 1.0, n - 1.0).map_or(f64::INFINITY, |student| student.inverse_cdf(0.975));
    let half = quantile * (variance / n).sqrt();
    [center - half, center + half]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_students() {
        // Of 1 to 5 the mean is 3, its error 0.7071, and the quantile at 4 degrees of freedom 2.7764.
        let [low, high] = interval(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert!((low - 1.0368).abs() < 1e-3 && (high - 4.9632).abs() < 1e-3, "{low} to {high}");
        assert_eq!(interval(&[2.0, 2.0]), [2.0, 2.0]);
    }
}
