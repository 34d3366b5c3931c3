//! `daggerboard-bench compare`: reasoners side by side on the same games.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use player::failure::{Failure, Outcome};
use player::game_source::GameArgs;
use player::reasoners::{self, ReasonerKind};
use player::{output, stop, tables};
use reasoner::Interrupt;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::results::{Entry, Key, Results, geometric_mean};
use crate::{child, page};

/// Compare reasoners: same answers, set-up, rollouts, search, memory
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  daggerboard-bench compare tic-tac-toe connect-four
  daggerboard-bench compare my-games/ --reasoners interpreter,prolog --seconds 1 --out results

The first reasoner is the one that the others are checked against and compared with. Every measurement runs in a
process of its own. A comparison that was stopped goes on where it was: what DIR/results.jsonl holds for the same
rules, reasoner, version and settings is not measured again. DIR/compare.csv and DIR/compare.html are written at the
end, and when it is stopped.")]
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

fn seconds(text: &str) -> Result<f64, String> {
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
        let stop = stop::on_ctrl_c()?;
        let games = self.games()?;
        let in_folder = |error: std::io::Error| Failure::work(error).context(self.out.display());
        fs::create_dir_all(&self.out).map_err(in_folder)?;
        let mut results = Results::open(&self.out.join("results.jsonl")).map_err(in_folder)?;
        let bar = ProgressBar::new((games.len() * self.reasoners.len()) as u64);
        let style = "{pos}/{len} {bar:30} {elapsed} gone, {eta} to go: {msg}";
        bar.set_style(ProgressStyle::with_template(style).expect("the template is well formed"));
        let mut entries = Vec::new();
        'games: for game in &games {
            for &kind in &self.reasoners {
                bar.set_message(format!("{} on {kind}", short_name(game)));
                let entry = match self.entry(&results, game, kind, &stop) {
                    Ok((entry, true)) => entry,
                    Ok((entry, false)) if !stop.is_raised() => {
                        results.push(entry.clone()).map_err(in_folder)?;
                        entry
                    }
                    _ if stop.is_raised() => break 'games,
                    Ok((entry, _)) => entry,
                    Err(failure) => {
                        bar.suspend(|| output::progress(&failure));
                        bar.inc(1);
                        continue;
                    }
                };
                if let Some(complaint) = entry.complaint() {
                    bar.suspend(|| {
                        output::progress(format_args!("{} on {kind}: {complaint}", short_name(game)))
                    });
                }
                entries.push(entry);
                bar.inc(1);
            }
        }
        bar.finish_and_clear();
        let names: Vec<String> = self.reasoners.iter().map(ToString::to_string).collect();
        write_csv(&self.out.join("compare.csv"), &entries)?;
        let command: Vec<String> = std::env::args().skip(1).collect();
        let html = page::html(&entries, &names, &format!("daggerboard-bench {}", command.join(" ")))?;
        fs::write(self.out.join("compare.html"), html).map_err(in_folder)?;
        let n_differ = entries.iter().filter(|entry| entry.differs()).count();
        if as_json {
            output::json(
                &json!({ "entries": entries, "summary": summary(&entries, &names), "differ": n_differ }),
            )?;
        } else {
            self.print(&entries, &names)?;
        }
        Ok(if n_differ > 0 || stop.is_raised() { Outcome::Failed } else { Outcome::Done })
    }

    /// Folders become the rulesheets in them, in order of their names.
    fn games(&self) -> Result<Vec<String>, Failure> {
        let mut games = Vec::new();
        for game in &self.games {
            let path = Path::new(game);
            if !path.is_dir() {
                GameArgs { game: game.clone(), reading: Default::default() }.load()?;
                games.push(game.clone());
                continue;
            }
            let n_before = games.len();
            for file in fs::read_dir(path).map_err(|error| Failure::work(error).context(game))? {
                let file = file?.path();
                if file.extension().is_some_and(|extension| extension == "kif") {
                    games.push(file.to_string_lossy().into_owned());
                }
            }
            if games.len() == n_before {
                return Err(Failure::usage(format!("{game} has no file that ends with .kif")));
            }
            games[n_before..].sort();
        }
        Ok(games)
    }

    /// What is known, or measured now; and which of the two.
    fn entry(
        &self,
        results: &Results,
        game: &str,
        kind: ReasonerKind,
        stop: &Interrupt,
    ) -> Result<(Entry, bool), Failure> {
        let loaded = GameArgs { game: game.to_owned(), reading: Default::default() }.load()?;
        let first = self.reasoners[0];
        let against = (kind != first).then(|| first.to_string());
        let key = Key {
            rules_hash: loaded.rules_hash(),
            reasoner: kind.to_string(),
            against: against.clone(),
            version: version(kind),
            seconds: self.seconds,
            steps: self.steps,
            seed: self.seed,
        };
        if let Some(entry) = results.find(&key) {
            return Ok((Entry { game: game.to_owned(), ..entry.clone() }, true));
        }
        let entry = Entry {
            game: game.to_owned(),
            n_roles: loaded.rules.roles().len(),
            speed: self.measure("speed", game, &key, stop),
            search: self.measure("search", game, &key, stop),
            cross: against.is_some().then(|| self.measure("cross", game, &key, stop)),
            key,
        };
        Ok((entry, false))
    }

    fn measure<T: DeserializeOwned>(
        &self,
        what: &str,
        game: &str,
        key: &Key,
        stop: &Interrupt,
    ) -> Result<T, String> {
        let mut args = vec!["measure".to_owned(), what.to_owned(), game.to_owned()];
        let options = [
            ("--reasoner", key.reasoner.clone()),
            ("--against", key.against.clone().unwrap_or_else(|| key.reasoner.clone())),
            ("--seconds", key.seconds.to_string()),
            ("--steps", key.steps.to_string()),
            ("--seed", key.seed.to_string()),
        ];
        args.extend(options.into_iter().flat_map(|(name, value)| [name.to_owned(), value]));
        child::run(&args, Duration::from_secs_f64(self.limit + self.seconds), stop)
    }

    fn print(&self, entries: &[Entry], names: &[String]) -> Result<(), Failure> {
        /// More than fit a page are in the CSV and on the page of HTML.
        const MOST_ROWS: usize = 60;
        if entries.len() <= MOST_ROWS {
            let mut table = tables::with_header([
                "game",
                "reasoner",
                "set-up s",
                "transitions/s",
                "rollouts/s",
                "playouts/s",
                "MB",
                "remarks",
            ]);
            for entry in entries {
                table.add_row(row(entry));
            }
            output::line(format_args!("Per second of processor time, one thread:\n{table}\n"))?;
        }
        let mut table = tables::with_header([
            "games",
            "reasoner",
            "of",
            "failed",
            "differ",
            "transitions/s to the first's",
            "first is slower in",
        ]);
        for line in summary(entries, names) {
            table.add_row([
                line.kind,
                line.reasoner,
                line.n_games.to_string(),
                line.n_failed.to_string(),
                line.n_differ.to_string(),
                line.ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}")),
                line.n_faster.to_string(),
            ]);
        }
        output::line(format_args!("Against {}, geometric means:\n{table}", names[0]))?;
        output::line(format_args!("{0}/compare.csv, {0}/compare.html", self.out.display()))?;
        Ok(())
    }
}

/// A game's name without folders and ending.
pub fn short_name(game: &str) -> String {
    Path::new(game).file_stem().map_or_else(|| game.to_owned(), |stem| stem.to_string_lossy().into_owned())
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

/// The cells of an entry, in the order of the table's header.
pub fn row(entry: &Entry) -> [String; 8] {
    let of_speed =
        |cell: &dyn Fn(&crate::measure::Speed) -> String| entry.speed.as_ref().map_or("-".to_owned(), cell);
    [
        short_name(&entry.game),
        entry.key.reasoner.clone(),
        of_speed(&|speed| format!("{:.3}", speed.setup_s)),
        of_speed(&|speed| format!("{:.0}", speed.transitions_per_cpu_s)),
        of_speed(&|speed| format!("{:.1}", speed.rollouts_per_cpu_s)),
        entry.search.as_ref().map_or("-".to_owned(), |search| format!("{:.1}", search.playouts_per_cpu_s)),
        of_speed(&|speed| format!("{:.1}", speed.peak_bytes as f64 / 1e6)),
        entry.complaint().unwrap_or_default(),
    ]
}

/// How one reasoner stands against the first on one kind of games.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Line {
    /// By number of roles.
    pub kind: String,
    /// The reasoner's name.
    pub reasoner: String,
    /// Games measured.
    pub n_games: usize,
    /// Games without a rate.
    pub n_failed: usize,
    /// Games on which answers differ.
    pub n_differ: usize,
    /// The geometric mean of its transitions/s to the first's, where both have them.
    pub ratio: Option<f64>,
    /// Games on which it is faster than the first.
    pub n_faster: usize,
}

/// One line for each kind of game and reasoner but the first.
pub fn summary(entries: &[Entry], names: &[String]) -> Vec<Line> {
    let kinds: [(&str, &dyn Fn(usize) -> bool); 4] = [
        ("one role", &|n| n == 1),
        ("two roles", &|n| n == 2),
        ("more roles", &|n| n > 2),
        ("all", &|_| true),
    ];
    let mut lines = Vec::new();
    for (kind, is_kind) in kinds {
        for name in &names[1..] {
            let of_kind: Vec<&Entry> = entries
                .iter()
                .filter(|entry| entry.key.reasoner == *name && is_kind(entry.n_roles))
                .collect();
            let ratios: Vec<f64> = of_kind
                .iter()
                .filter_map(|entry| {
                    let first =
                        entries.iter().find(|it| it.key.reasoner == names[0] && it.game == entry.game)?;
                    Some(entry.rate()? / first.rate()?)
                })
                .collect();
            lines.push(Line {
                kind: kind.to_owned(),
                reasoner: name.clone(),
                n_games: of_kind.len(),
                n_failed: of_kind.iter().filter(|entry| entry.rate().is_none()).count(),
                n_differ: of_kind.iter().filter(|entry| entry.differs()).count(),
                n_faster: ratios.iter().filter(|&&ratio| ratio > 1.0).count(),
                ratio: geometric_mean(ratios.into_iter()),
            });
        }
    }
    lines.retain(|line| line.n_games > 0);
    lines
}

fn write_csv(path: &Path, entries: &[Entry]) -> Result<(), Failure> {
    let failed = |error: csv::Error| Failure::work(error).context(path.display());
    let mut writer = csv::Writer::from_path(path).map_err(failed)?;
    writer
        .write_record([
            "game",
            "rules_hash",
            "n_roles",
            "reasoner",
            "version",
            "seed",
            "seconds",
            "setup_s",
            "transitions_per_cpu_s",
            "rollouts_per_cpu_s",
            "playouts_per_cpu_s",
            "peak_bytes",
            "positions_checked",
            "differs",
            "complaint",
        ])
        .map_err(failed)?;
    for entry in entries {
        let speed = entry.speed.as_ref().ok();
        let number = |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
        let checked = entry.cross.as_ref().and_then(|cross| cross.as_ref().ok()).map(|cross| cross.positions);
        writer
            .write_record([
                entry.game.clone(),
                entry.key.rules_hash.clone(),
                entry.n_roles.to_string(),
                entry.key.reasoner.clone(),
                entry.key.version.clone(),
                entry.key.seed.to_string(),
                entry.key.seconds.to_string(),
                number(speed.map(|speed| speed.setup_s)),
                number(speed.map(|speed| speed.transitions_per_cpu_s)),
                number(speed.map(|speed| speed.rollouts_per_cpu_s)),
                number(entry.search.as_ref().ok().map(|search| search.playouts_per_cpu_s)),
                speed.map(|speed| speed.peak_bytes.to_string()).unwrap_or_default(),
                checked.map(|n| n.to_string()).unwrap_or_default(),
                entry.differs().to_string(),
                entry.complaint().unwrap_or_default(),
            ])
            .map_err(failed)?;
    }
    writer.flush().map_err(|error| Failure::work(error).context(path.display()))
}
