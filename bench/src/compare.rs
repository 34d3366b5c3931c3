//! `daggerboard-bench compare`: reasoners side by side on the same games.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use player::failure::{Failure, Outcome};
use player::game_source::{Game, GameArgs};
use player::reasoners::{self, ReasonerKind};
use player::{output, stop};
use reasoner::Interrupt;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::report::{Comparison, Unreadable, short_name};
use crate::results::{Entry, Key, Results};
use crate::{child, page, progress};

/// Compare reasoners: same answers, set-up, rollouts, search, memory
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  daggerboard-bench compare tic-tac-toe connect-four
  daggerboard-bench compare my-games/ --reasoners interpreter,prolog --seconds 1 --out results

The first reasoner is the one that the others are checked against and compared with. Every measurement runs in a \
process of its own. A comparison that was stopped goes on where it was: what DIR/results.jsonl holds for the same \
rules, reasoner, version and settings is not measured again, unless it failed and --limit is higher now. \
DIR/compare.csv and DIR/compare.html are written at the end, and when it is stopped.")]
pub struct CompareArgs {
    /// Paths of rulesheets or of folders of them, or names of shipped games
    #[arg(required = true, value_name = "GAME")]
    games: Vec<String>,
    #[arg(long, value_delimiter = ',', value_name = "NAMES", default_values_t = every_reasoner(),
        help = format!("Who is compared, separated by commas: {}", reasoners::NAMES))]
    reasoners: Vec<ReasonerKind>,
    /// Time for each of the measurements of rollouts and of search
    #[arg(long, default_value_t = 2.0, value_name = "S", value_parser = seconds)]
    seconds: f64,
    /// Joint moves of random games on which answers are checked
    #[arg(long, default_value_t = 300, value_name = "N")]
    steps: u64,
    /// What random games follow from
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// When a measurement is killed, set-up included
    #[arg(long, default_value_t = 60.0, value_name = "S", value_parser = seconds)]
    limit: f64,
    /// Where results go
    #[arg(long, default_value = "compare", value_name = "DIR")]
    out: PathBuf,
}

fn every_reasoner() -> Vec<ReasonerKind> {
    reasoners::NAMES.split(", ").filter(|&name| name != "auto").filter_map(|name| name.parse().ok()).collect()
}

/// A length of time of the command line.
///
/// # Errors
/// In words, if it is none that a measurement can have.
pub fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= 86_400.0 => Ok(seconds),
        _ => Err("give seconds, above 0 and at most 86400".to_owned()),
    }
}

impl CompareArgs {
    /// Measures what is missing and writes everything.
    ///
    /// # Errors
    /// If there is no such game, or results cannot be kept.
    pub fn run(&self, as_json: bool) -> Result<Outcome, Failure> {
        let names: Vec<String> = self.reasoners.iter().map(ToString::to_string).collect();
        if let Some(twice) = (1..names.len()).find(|&idx| names[..idx].contains(&names[idx])) {
            return Err(Failure::usage(format!("the reasoner {} is named twice", names[twice])));
        }
        let stop = stop::on_ctrl_c()?;
        let games = self.games()?;
        let in_folder = |error: std::io::Error| Failure::work(error).context(self.out.display());
        fs::create_dir_all(&self.out).map_err(in_folder)?;
        let mut results = Results::open(&self.out.join("results.jsonl")).map_err(in_folder)?;
        if results.n_unreadable > 0 {
            let what = "lines of results.jsonl cannot be read; what they held is measured again";
            output::progress(format_args!("{}: {} {what}", self.out.display(), results.n_unreadable));
        }
        let comparison = self.compare(names, &games, &mut results, &stop).map_err(in_folder)?;
        comparison.write_csv(&self.out.join("compare.csv"))?;
        let command: Vec<String> = std::env::args().skip(1).collect();
        let html = page::html(&comparison, &format!("daggerboard-bench {}", command.join(" ")))?;
        fs::write(self.out.join("compare.html"), html).map_err(in_folder)?;
        if as_json {
            output::json(&json!({
                "entries": comparison.entries,
                "set_ups": comparison.set_ups(),
                "summary": comparison.summary(),
                "differ": comparison.n_differ(),
                "unreadable": comparison.unreadable,
            }))?;
        } else {
            comparison.print()?;
            output::line(format_args!("{0}/compare.csv, {0}/compare.html", self.out.display()))?;
        }
        if stop.is_raised() {
            output::progress("stopped; the same command goes on");
        }
        let is_whole = comparison.unreadable.is_empty() && !stop.is_raised();
        Ok(if is_whole && comparison.n_differ() == 0 { Outcome::Done } else { Outcome::Failed })
    }

    /// Takes every game to every reasoner, until it is stopped.
    fn compare(
        &self,
        names: Vec<String>,
        games: &[String],
        results: &mut Results,
        stop: &Interrupt,
    ) -> std::io::Result<Comparison> {
        let mut comparison = Comparison { names, entries: Vec::new(), unreadable: Vec::new() };
        let bar = progress::bar(games.len() * self.reasoners.len());
        for game in games {
            let loaded = match load(game) {
                Ok(loaded) => loaded,
                Err(failure) => {
                    bar.suspend(|| output::progress(&failure));
                    let error = failure.parts().0.to_owned();
                    comparison.unreadable.push(Unreadable { game: game.clone(), error });
                    bar.inc(self.reasoners.len() as u64);
                    continue;
                }
            };
            for &kind in &self.reasoners {
                bar.set_message(format!("{} on {kind}", short_name(game)));
                let key = self.key(&loaded, kind);
                let entry = match results.find(&key, self.limit) {
                    Some(known) => Entry { game: game.clone(), ..known.clone() },
                    None => {
                        let entry = self.entry(game, &loaded, key, stop);
                        // What was stopped is not known.
                        if stop.is_raised() {
                            return Ok(comparison);
                        }
                        results.push(entry.clone())?;
                        entry
                    }
                };
                if let Some(complaint) = entry.complaint() {
                    let place = format!("{} on {kind}", short_name(game));
                    bar.suspend(|| output::progress(format_args!("{place}: {complaint}")));
                }
                comparison.entries.push(entry);
                bar.inc(1);
            }
        }
        bar.finish_and_clear();
        Ok(comparison)
    }

    /// Each game once. Folders become the rulesheets in them, in order of their names.
    fn games(&self) -> Result<Vec<String>, Failure> {
        let mut games: Vec<String> = Vec::new();
        for game in &self.games {
            let path = Path::new(game);
            let found = if path.is_dir() {
                rulesheets(path).map_err(|error| Failure::work(error).context(game))?
            } else if path.exists() && !path.is_file() {
                return Err(Failure::usage(format!("{game} can be read only once; give a file")));
            } else {
                load(game)?;
                vec![game.clone()]
            };
            if found.is_empty() {
                return Err(Failure::usage(format!("{game} has no file that ends with .kif")));
            }
            for game in found {
                if !games.contains(&game) {
                    games.push(game);
                }
            }
        }
        Ok(games)
    }

    fn key(&self, game: &Game, kind: ReasonerKind) -> Key {
        let first = self.reasoners[0];
        Key {
            rules_hash: game.rules_hash(),
            reasoner: kind.to_string(),
            against: (kind != first).then(|| first.to_string()),
            version: version(kind),
            seconds: self.seconds,
            steps: self.steps,
            seed: self.seed,
        }
    }

    fn entry(&self, name: &str, game: &Game, key: Key, stop: &Interrupt) -> Entry {
        Entry {
            game: name.to_owned(),
            n_roles: game.rules.roles().len(),
            speed: self.measure("speed", name, &key, stop),
            search: self.measure("search", name, &key, stop),
            cross: key.against.is_some().then(|| self.measure("cross", name, &key, stop)),
            limit: self.limit,
            key,
        }
    }

    fn measure<T: DeserializeOwned>(
        &self,
        what: &str,
        game: &str,
        key: &Key,
        stop: &Interrupt,
    ) -> Result<T, String> {
        let options = [
            ("--reasoner", key.reasoner.clone()),
            ("--against", key.against.clone().unwrap_or_else(|| key.reasoner.clone())),
            ("--seconds", key.seconds.to_string()),
            ("--steps", key.steps.to_string()),
            ("--seed", key.seed.to_string()),
        ];
        child::measure(what, game, &options, Duration::from_secs_f64(self.limit + self.seconds), stop)
    }
}

fn load(game: &str) -> Result<Game, Failure> {
    GameArgs { game: game.to_owned(), reading: Default::default() }.load()
}

/// The rulesheets of a folder, in order of their names.
fn rulesheets(folder: &Path) -> std::io::Result<Vec<String>> {
    let files = fs::read_dir(folder)?.map(|file| Ok(file?.path())).collect::<std::io::Result<Vec<_>>>()?;
    let is_rulesheet = |file: &&PathBuf| file.extension().is_some_and(|extension| extension == "kif");
    let mut names: Vec<String> =
        files.iter().filter(is_rulesheet).map(|file| file.to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

fn version(kind: ReasonerKind) -> String {
    let ours = env!("CARGO_PKG_VERSION");
    #[cfg(feature = "prolog")]
    if matches!(kind, ReasonerKind::Prolog | ReasonerKind::PrologFull) {
        let theirs = reasoner_prolog::Prolog::swi_version().unwrap_or_else(|_| "unknown".to_owned());
        return format!("{ours}, SWI-Prolog {theirs}");
    }
    let _ = kind;
    ours.to_owned()
}
