//! What a comparison came to: as a table, as lines of a summary, and as comma-separated values.

use std::path::Path;

use player::failure::Failure;
use player::{output, tables};
use serde::Serialize;

use crate::measure::Speed;
use crate::results::{Entry, geometric_mean};

/// The columns of the table of games.
pub const COLUMNS: [&str; 8] =
    ["game", "reasoner", "set-up s", "transitions/s", "rollouts/s", "playouts/s", "MB", "remarks"];

/// A game that could not be read.
#[derive(Debug, Clone, Serialize)]
pub struct Unreadable {
    /// As the command line names it.
    pub game: String,
    /// Why.
    pub error: String,
}

/// What was measured, or known already.
#[derive(Debug)]
pub struct Comparison {
    /// The reasoners' names, each once; the first is the one that the others are compared with.
    pub names: Vec<String>,
    /// Game by game, in the order of the reasoners.
    pub entries: Vec<Entry>,
    /// Games without entries.
    pub unreadable: Vec<Unreadable>,
}

/// A game's name without folders and ending.
pub fn short_name(game: &str) -> String {
    Path::new(game).file_stem().map_or_else(|| game.to_owned(), |stem| stem.to_string_lossy().into_owned())
}

/// The cells of an entry, in the order of [`COLUMNS`].
pub fn row(entry: &Entry) -> [String; COLUMNS.len()] {
    let of_speed = |cell: &dyn Fn(&Speed) -> String| entry.speed.as_ref().map_or("-".to_owned(), cell);
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
#[derive(Debug, Clone, Serialize)]
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

/// What setting one reasoner up costs.
#[derive(Debug, Clone, Serialize)]
pub struct SetUps {
    /// The reasoner's name.
    pub reasoner: String,
    /// Games measured.
    pub n_games: usize,
    /// Games on which it could be set up, and rolled out, in time.
    pub n_ready: usize,
    /// Seconds: the middle, 90 of 100, and all of those games need no more.
    pub seconds: [f64; 3],
    /// Peaks of memory in bytes, likewise.
    pub peak_bytes: [f64; 3],
}

impl Comparison {
    /// What setting each reasoner up costs.
    pub fn set_ups(&self) -> Vec<SetUps> {
        let of_reasoner = |name: &String| {
            let entries: Vec<&Entry> =
                self.entries.iter().filter(|entry| entry.key.reasoner == *name).collect();
            let speeds: Vec<&Speed> = entries.iter().filter_map(|entry| entry.speed.as_ref().ok()).collect();
            SetUps {
                reasoner: name.clone(),
                n_games: entries.len(),
                n_ready: speeds.len(),
                seconds: spread(speeds.iter().map(|speed| speed.setup_s)),
                peak_bytes: spread(speeds.iter().map(|speed| speed.peak_bytes as f64)),
            }
        };
        self.names.iter().map(of_reasoner).collect()
    }

    /// How many entries have answers that differ.
    pub fn n_differ(&self) -> usize {
        self.entries.iter().filter(|entry| entry.differs()).count()
    }

    /// One line for each kind of game and reasoner but the first.
    pub fn summary(&self) -> Vec<Line> {
        let kinds: [(&str, &dyn Fn(usize) -> bool); 4] = [
            ("one role", &|n| n == 1),
            ("two roles", &|n| n == 2),
            ("more roles", &|n| n > 2),
            ("all", &|_| true),
        ];
        let mut lines = Vec::new();
        for (kind, is_kind) in kinds {
            for name in &self.names[1..] {
                let of_kind: Vec<&Entry> = self
                    .entries
                    .iter()
                    .filter(|entry| entry.key.reasoner == *name && is_kind(entry.n_roles))
                    .collect();
                let ratios: Vec<f64> = of_kind
                    .iter()
                    .filter_map(|entry| {
                        let first = self
                            .entries
                            .iter()
                            .find(|it| it.key.reasoner == self.names[0] && it.game == entry.game)?;
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

    /// Prints both tables.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn print(&self) -> Result<(), Failure> {
        /// More than fit a page are in the CSV and on the page of HTML.
        const MOST_ROWS: usize = 60;
        if self.entries.len() <= MOST_ROWS {
            let mut table = tables::with_header(COLUMNS);
            for entry in &self.entries {
                table.add_row(row(entry));
            }
            output::line(format_args!("Per second of processor time, one thread:\n{table}\n"))?;
        }
        self.print_set_ups()?;
        let summary = self.summary();
        if summary.is_empty() {
            return Ok(());
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
        for line in summary {
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
        output::line(format_args!("Against {}, geometric means:\n{table}", self.names[0]))
    }

    fn print_set_ups(&self) -> Result<(), Failure> {
        let mut table = tables::with_header([
            "reasoner",
            "of",
            "ready",
            "set-up s, median",
            "90 %",
            "most",
            "MB, median",
            "90 %",
            "most",
        ]);
        for of_reasoner in self.set_ups() {
            let SetUps { reasoner, n_games, n_ready, seconds, peak_bytes } = of_reasoner;
            let mut cells = vec![reasoner, n_games.to_string(), n_ready.to_string()];
            cells.extend(seconds.map(|seconds| format!("{seconds:.3}")));
            cells.extend(peak_bytes.map(|bytes| format!("{:.1}", bytes / 1e6)));
            table.add_row(cells);
        }
        output::line(format_args!("Set-up, and peaks of memory with rollouts:\n{table}\n"))
    }

    /// Writes all entries.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn write_csv(&self, path: &Path) -> Result<(), Failure> {
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
        for entry in &self.entries {
            let speed = entry.speed.as_ref().ok();
            let number = |number: Option<f64>| number.map(|number| number.to_string()).unwrap_or_default();
            let checked =
                entry.cross.as_ref().and_then(|cross| cross.as_ref().ok()).map(|cross| cross.positions);
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
}

/// The median, what 90 of 100 do not exceed, and the most; zeros of nothing.
fn spread(values: impl Iterator<Item = f64>) -> [f64; 3] {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let at = |percent: usize| {
        let rank = (values.len() * percent).div_ceil(100).max(1);
        values.get(rank - 1).copied().unwrap_or(0.0)
    };
    [at(50), at(90), at(100)]
}

#[cfg(test)]
mod tests {
    use super::spread;

    #[test]
    fn a_spread_is_the_median_the_ninth_tenth_and_the_most() {
        assert_eq!(spread((1..=10).rev().map(f64::from)), [5.0, 9.0, 10.0]);
        assert_eq!(spread([3.0].into_iter()), [3.0; 3]);
        assert_eq!(spread(std::iter::empty()), [0.0; 3]);
    }
}
