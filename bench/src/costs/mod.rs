//! `daggerboard-bench costs`: what edges and levels cost a search, for each configuration.
//!
//! Playouts of [`Spine`] go straight to its end, look at `width` edges on each of `depth` levels, and cost neither rules
//! nor rollouts. So the time of a playout is `start + levels * (level + width * edge)`, and a fit over several widths and
//! depths tells the three apart; how far it is from the numbers says whether that is what they are made of.

mod fit;
mod measure;

use bench::games::Spine;
use clap::Args;
use player::failure::{Failure, Outcome};
use player::{output, stop, tables};
use reasoner::Interrupt;
use search::Config;
use serde::Serialize;
use serde_json::json;

use self::fit::Fit;
use self::measure::{Point, measure};
use crate::config_list::ConfigList;
use crate::{compare, progress};

/// Edges of a position.
const WIDTHS: [u16; 4] = [4, 16, 64, 256];
/// Positions of the way.
const DEPTHS: [u16; 3] = [4, 16, 64];

/// Measure what an edge costs in selection and a level in backup, for search configurations
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  daggerboard-bench costs
  daggerboard-bench costs --configs 'uct,credited,ucd(inf,0,1)' --seconds 0.5
  daggerboard-bench costs --json > costs.json

One thread searches a made-up game of two roles whose positions cost next to nothing (spine:WIDTH,depth=N), of several \
widths and depths. Times are processor time, in nanoseconds, of graphs that fit the caches. They are a fit of what a \
playout costs: start + levels * (level + width * edge), and for backups alone start + levels * level; errors are relative, \
the root of the mean square. A large one says that the cost is something else: under rave and rave-ucd it grows with the \
square of the levels, since every move counts at all positions above it.

Bytes are those of a record: of a node with a state of 6 bytes, of an edge, and of what a node has more once it is opened.")]
pub struct CostsArgs {
    /// Configurations, separated by commas; if they are not given, all but mc, mc-memory and ucd-paper, whose playouts do
    /// not keep to the best moves
    #[arg(long, value_name = "CONFIGS", default_value_t = all())]
    configs: ConfigList,
    /// Processor time for each width and depth
    #[arg(long, default_value_t = 0.2, value_name = "S", value_parser = compare::seconds)]
    seconds: f64,
    /// What all random choices follow from
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
}

fn all() -> ConfigList {
    ConfigList(Config::ALL.into_iter().filter(|&config| keeps_to_the_way(config)).collect())
}

/// Whether playouts go straight to the end: not those that choose by chance, and not those of `ucd-paper`, whose means
/// drift.
fn keeps_to_the_way(config: Config) -> bool {
    !matches!(config, Config::Mc | Config::McMemory | Config::UcdPaper(_))
}

/// One configuration. Times are nanoseconds.
#[derive(Debug, Serialize)]
struct Row {
    config: String,
    /// For each edge that selection looks at.
    edge_ns: f64,
    /// For each level beside its edges, the backup included.
    level_ns: f64,
    /// For each playout beside its levels.
    playout_ns: f64,
    /// How far the fit is from the times.
    error: f64,
    /// For each level in backup.
    backup_level_ns: f64,
    /// How far that fit is from the times of backups.
    backup_error: f64,
    node_bytes: u64,
    edge_bytes: u64,
    opening_bytes: u64,
    points: Vec<Point>,
}

impl CostsArgs {
    /// Measures and prints.
    ///
    /// # Errors
    /// If a configuration does not choose moves by their values, or a search fails.
    pub fn run(&self, as_json: bool) -> Result<Outcome, Failure> {
        let configs = &self.configs.0;
        if let Some(config) = configs.iter().find(|&&config| !keeps_to_the_way(config)) {
            let text = format!(
                "playouts of {config} do not keep to the best moves, so they have no length to measure by"
            );
            return Err(Failure::usage(text).hint("leave it out"));
        }
        let stop = stop::on_ctrl_c()?;
        let bar = progress::bar(configs.len() * WIDTHS.len() * DEPTHS.len());
        let mut rows = Vec::new();
        for &config in configs {
            bar.set_message(config.to_string());
            let Some(row) = self.row(config, &stop, &mut || bar.inc(1))? else { break };
            rows.push(row);
        }
        bar.finish_and_clear();
        if as_json {
            output::json(&json!({ "seconds": self.seconds, "seed": self.seed, "rows": rows }))?;
        } else {
            print(&rows)?;
        }
        if stop.is_raised() {
            output::progress("stopped; the configurations before were measured");
            return Ok(Outcome::Failed);
        }
        Ok(Outcome::Done)
    }

    fn row(
        &self,
        config: Config,
        stop: &Interrupt,
        advance: &mut impl FnMut(),
    ) -> Result<Option<Row>, Failure> {
        let mut points = Vec::new();
        let mut bytes = None;
        for (width, depth) in WIDTHS.into_iter().flat_map(|width| DEPTHS.map(|depth| (width, depth))) {
            let game = Spine::new(width, depth);
            match measure(config, game, (width, depth), self.seconds, self.seed, stop)? {
                Some((point, of_records)) => {
                    points.push(point);
                    bytes = Some(of_records);
                }
                None => return Ok(None),
            }
            advance();
        }
        let whole: Vec<_> = points.iter().map(|it| (terms(it), it.playout_ns)).collect();
        let backups: Vec<_> = points.iter().map(|it| ([1.0, it.levels], it.backup_ns)).collect();
        let (Some(whole), Some(backups), Some(bytes)) = (Fit::of(&whole), Fit::of(&backups), bytes) else {
            return Err(Failure::work("too little time to tell anything").hint("give more --seconds"));
        };
        let [playout_ns, level_ns, edge_ns] = whole.coefficients;
        Ok(Some(Row {
            config: config.to_string(),
            edge_ns,
            level_ns,
            playout_ns,
            error: whole.error,
            backup_level_ns: backups.coefficients[1],
            backup_error: backups.error,
            node_bytes: bytes.node,
            edge_bytes: bytes.edge,
            opening_bytes: bytes.opening,
            points,
        }))
    }
}

fn terms(point: &Point) -> [f64; 3] {
    [1.0, point.levels, point.levels * f64::from(point.width)]
}

fn print(rows: &[Row]) -> Result<(), Failure> {
    let mut table = tables::with_header([
        "configuration",
        "ns an edge",
        "ns a level",
        "ns a playout",
        "error %",
        "backup: ns a level",
        "error %",
        "bytes a node",
        "an edge",
        "an opening",
    ]);
    for row in rows {
        table.add_row([
            row.config.clone(),
            format!("{:.1}", row.edge_ns),
            format!("{:.1}", row.level_ns),
            format!("{:.0}", row.playout_ns),
            format!("{:.0}", 100.0 * row.error),
            format!("{:.1}", row.backup_level_ns),
            format!("{:.0}", 100.0 * row.backup_error),
            row.node_bytes.to_string(),
            row.edge_bytes.to_string(),
            row.opening_bytes.to_string(),
        ]);
    }
    output::line(format_args!("A playout by one thread is so many levels of so many edges:\n{table}"))
}
