//! What each number of threads came to, and how they compare.

use search::{Counters, Report};
use serde_json::{Value, json};

use super::reading::threads;
use crate::commands::laws::Verified;
use crate::commands::reclaims::{reclaims_json, table_json};
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::tables;

/// One search.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) n_threads: usize,
    pub(super) report: Report,
    /// Processor time of all threads.
    pub(super) cpu_s: f64,
    /// Visits that can be under way at once.
    pub(super) n_in_flight: u64,
    /// If the graph was verified.
    pub(super) verified: Option<Verified>,
}

impl Row {
    /// Playouts per second of wall time.
    pub(super) fn speed(&self) -> f64 {
        self.report.playouts_per_second()
    }

    /// Processors that the threads had on average.
    pub(super) fn processors(&self) -> f64 {
        self.cpu_s / self.report.seconds.max(f64::EPSILON)
    }

    /// Playouts per second of processor time.
    pub(super) fn speed_of_processor(&self) -> f64 {
        self.report.playouts as f64 / self.cpu_s.max(f64::EPSILON)
    }

    /// Seconds in which the search waited for room, or for larger tables.
    pub(super) fn pauses(&self) -> f64 {
        self.report.reclaims.seconds + self.report.table.growth_seconds
    }

    /// A count for each playout.
    pub(super) fn per_playout(&self, count: u64) -> f64 {
        count as f64 / self.report.playouts.max(1) as f64
    }

    pub(super) fn counters(&self) -> &Counters {
        &self.report.counters
    }
}

/// Searches with different numbers of threads.
#[derive(Debug)]
pub(super) struct Scaling {
    pub(super) rows: Vec<Row>,
}

impl Scaling {
    pub(super) fn new(rows: Vec<Row>) -> Scaling {
        Scaling { rows }
    }

    /// How many times as fast as the first row a row is.
    pub(super) fn speed_up(&self, row: &Row) -> f64 {
        let first = self.rows.first().map_or(0.0, Row::speed);
        row.speed() / first.max(f64::EPSILON)
    }

    /// That, for each thread that it has more.
    pub(super) fn efficiency(&self, row: &Row) -> f64 {
        let n_first = self.rows.first().map_or(1, |first| first.n_threads);
        self.speed_up(row) * n_first as f64 / row.n_threads as f64
    }

    /// Whether no graph was found to break its laws.
    pub(super) fn keeps_laws(&self) -> bool {
        let verified = self.rows.iter().filter_map(|row| row.verified.as_ref());
        verified.map(Verified::outcome).all(|outcome| outcome == Outcome::Done)
    }

    pub(super) fn json(&self) -> Vec<Value> {
        self.rows.iter().map(|row| self.row_json(row)).collect()
    }

    fn row_json(&self, row: &Row) -> Value {
        let (report, counters) = (&row.report, row.counters());
        let mut told = json!({
            "threads": row.n_threads,
            "playouts": report.playouts,
            "seconds": report.seconds,
            "playouts_per_s": row.speed(),
            "rollouts_per_s": counters.rollouts as f64 / report.seconds.max(f64::EPSILON),
            "speed_up": self.speed_up(row),
            "efficiency": self.efficiency(row),
            "processors": row.processors(),
            "playouts_per_cpu_s": row.speed_of_processor(),
            "nodes": report.nodes,
            "edges": report.edges,
            "bytes": report.bytes,
            "table": table_json(&report.table),
            "reclaims": reclaims_json(&report.reclaims),
            "in_flight": row.n_in_flight,
            "counters": {
                "cas_failures": counters.cas_failures,
                "duplicates": counters.duplicates,
                "lost_claims": counters.lost_claims,
                "same_leaf": counters.same_leaf,
                "lookups": counters.lookups,
                "probes": counters.probes,
                "max_probes": counters.max_probes,
                "table_full": counters.table_full,
                "flushes": counters.flushes,
                "failed_playouts": counters.failed_playouts,
                "interrupted_playouts": counters.interrupted_playouts,
            },
        });
        if let Some(verified) = &row.verified {
            told["verify"] = verified.json();
        }
        told
    }

    /// A table, and what verification found.
    pub(super) fn print(&self) -> Result<(), Failure> {
        let mut table = tables::with_header([
            "threads",
            "playouts/s",
            "speed-up",
            "efficiency",
            "processors",
            "same leaf",
            "lost claims",
            "duplicates",
            "CAS failures",
            "probes",
            "table",
            "flushes",
            "in flight",
            "MiB",
            "pauses ms",
        ]);
        for row in &self.rows {
            let counters = row.counters();
            let per_thousand = |count| format!("{:.2}", 1000.0 * row.per_playout(count));
            table.add_row([
                row.n_threads.to_string(),
                format!("{:.0}", row.speed()),
                format!("{:.2}", self.speed_up(row)),
                format!("{:.0} %", 100.0 * self.efficiency(row)),
                format!("{:.2}", row.processors()),
                per_thousand(counters.same_leaf),
                per_thousand(counters.lost_claims),
                per_thousand(counters.duplicates),
                per_thousand(counters.cas_failures),
                format!("{:.2}", counters.probes as f64 / counters.lookups.max(1) as f64),
                format!("{:.0} %", 100.0 * row.report.table.fill),
                per_thousand(counters.flushes),
                row.n_in_flight.to_string(),
                format!("{:.0}", row.report.bytes as f64 / f64::from(1 << 20)),
                format!("{:.0}", row.pauses() * 1e3),
            ]);
        }
        output::line(table)?;
        for row in &self.rows {
            if let Some(verified) = &row.verified {
                output::line(format_args!("{}:", threads(row.n_threads)))?;
                verified.print()?;
            }
        }
        Ok(())
    }
}

/// For tests: a second of so many threads, which had these processors.
#[cfg(test)]
pub(super) fn row(n_threads: usize, playouts: u64, cpu_s: f64) -> Row {
    let report = Report { playouts, seconds: 1.0, bytes: 1 << 20, ..Report::default() };
    Row { n_threads, report, cpu_s, n_in_flight: n_threads as u64, verified: None }
}
