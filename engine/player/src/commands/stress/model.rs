//! What more threads than cores would give if each had a core of its own: a model, and said to be one.
//!
//! In go the measured rows. Two things make a playout dearer with more threads. What threads do to each other's playouts (the same leaf,
//! nodes made in vain, failed compare-and-swaps, longer descents in a larger graph) shows in the processor time of a playout however few
//! cores they share, since as many leaves are in flight. What caches do to each other's lines shows only where cores work at once: it
//! is taken from the most threads that had a core each, and taken to grow by as much with each core more. Nobody waits in the model: there
//! is none for backups under one lock, and pauses are left out.

use serde_json::{Value, json};

use super::reading::Machine;
use super::row::{Row, Scaling};
use crate::failure::Failure;
use crate::output;
use crate::tables;

/// Threads that have at least this part of a processor each do not wait for one.
pub(super) const FREE: f64 = 0.9;

/// What a row would be with a core for each thread.
#[derive(Debug, PartialEq)]
pub(super) struct Modelled {
    pub(super) n_threads: usize,
    pub(super) playouts_per_s: f64,
    /// Against the measured first row.
    pub(super) speed_up: f64,
}

/// The model of all rows of more threads than cores.
#[derive(Debug, PartialEq)]
pub(super) struct Model {
    /// Seconds of processor time that each core at work adds to a playout of any other.
    pub(super) traffic_s: f64,
    /// Seconds of processor time of a playout of the first row.
    pub(super) alone_s: f64,
    /// How many threads the traffic was measured with.
    pub(super) n_measured: usize,
    pub(super) rows: Vec<Modelled>,
}

impl Model {
    /// Nothing if there is no row of one thread, none of several with a core each, or none of more threads than cores; nor where more
    /// cores would wait for one lock.
    pub(super) fn of(scaling: &Scaling, machine: Machine) -> Option<Model> {
        if machine.has_backup_lock {
            return None;
        }
        let cost = |row: &Row| 1.0 / row.speed_of_processor().max(f64::EPSILON);
        let has_cores = |row: &Row| row.n_threads <= machine.n_cores;
        let is_free = |row: &Row| has_cores(row) && row.processors() >= FREE * row.n_threads as f64;
        let first = scaling.rows.first().filter(|first| first.n_threads == 1 && is_free(first))?;
        let together = scaling.rows.iter().rfind(|row| row.n_threads > 1 && is_free(row))?;
        let alone_s = cost(first);
        let traffic_s = ((cost(together) - alone_s) / (together.n_threads - 1) as f64).max(0.0);
        let with_cores = |row: &Row| {
            let n_threads = row.n_threads as f64;
            let playouts_per_s = n_threads / (cost(row) + traffic_s * (n_threads - row.processors()));
            let speed_up = playouts_per_s / first.speed().max(f64::EPSILON);
            Modelled { n_threads: row.n_threads, playouts_per_s, speed_up }
        };
        let rows: Vec<Modelled> = scaling.rows.iter().filter(|row| !has_cores(row)).map(with_cores).collect();
        let n_measured = together.n_threads;
        (!rows.is_empty()).then_some(Model { traffic_s, alone_s, n_measured, rows })
    }

    pub(super) fn json(&self) -> Value {
        let row = |row: &Modelled| {
            json!({
                "threads": row.n_threads,
                "playouts_per_s": row.playouts_per_s,
                "speed_up": row.speed_up,
            })
        };
        json!({
            "is_measured": false,
            "traffic_ns": self.traffic_s * 1e9,
            "alone_ns": self.alone_s * 1e9,
            "traffic_measured_with_threads": self.n_measured,
            "rows": self.rows.iter().map(row).collect::<Vec<_>>(),
        })
    }

    pub(super) fn print(&self) -> Result<(), Failure> {
        let nanoseconds = |seconds: f64| 1e9 * seconds;
        output::line(format_args!(
            "Model, not measured: if each thread had a core of its own. A playout of one thread takes {:.0} ns, and each further core at \
             work adds {:.0} ns to it, as with {} threads here. What sockets, memory and cores shared by two threads cost beyond what was \
             measured is not in it, nor are pauses.",
            nanoseconds(self.alone_s),
            nanoseconds(self.traffic_s),
            self.n_measured
        ))?;
        let mut table = tables::with_header(["threads, modelled", "playouts/s", "speed-up"]);
        for row in &self.rows {
            table.add_row([
                row.n_threads.to_string(),
                format!("{:.0}", row.playouts_per_s),
                format!("{:.2}", row.speed_up),
            ]);
        }
        output::line(table)
    }
}

#[cfg(test)]
mod tests {
    use super::super::row::row;
    use super::*;

    fn on(n_cores: usize, has_backup_lock: bool, rows: Vec<Row>) -> Option<Model> {
        Model::of(&Scaling::new(rows), Machine { n_cores, is_pinned: false, has_backup_lock })
    }

    fn model(rows: Vec<Row>) -> Option<Model> {
        on(2, false, rows)
    }

    #[test]
    fn without_traffic_only_what_a_playout_costs_counts() {
        // A playout of 16 threads takes twice the processor time, whoever runs it.
        let model = model(vec![row(1, 1000, 1.0), row(2, 2000, 2.0), row(16, 1000, 2.0)]).expect("a model");
        assert!(model.traffic_s.abs() < 1e-12);
        let [sixteen] = &model.rows[..] else { panic!("one row: {:?}", model.rows) };
        assert_eq!(sixteen.n_threads, 16);
        assert!((sixteen.playouts_per_s - 8000.0).abs() < 1e-6 && (sixteen.speed_up - 8.0).abs() < 1e-9);
    }

    #[test]
    fn traffic_grows_with_the_cores_that_are_not_there() {
        // A tenth of a millisecond for one core more, of which the row of four has one already.
        let rows = vec![row(1, 1000, 1.0), row(2, 1818, 2.0), row(4, 1818, 2.0)];
        let model = model(rows).expect("a model");
        assert!((model.traffic_s - 1e-4).abs() < 1e-6, "{model:?}");
        let expected = 4.0 / (1.1e-3 + 2e-4);
        assert!((model.rows[0].playouts_per_s - expected).abs() < 1.0, "{model:?} {expected}");
    }

    #[test]
    fn what_was_measured_is_not_modelled() {
        assert_eq!(on(4, false, vec![row(1, 1000, 1.0), row(2, 2000, 2.0), row(4, 3900, 4.0)]), None);
        assert_eq!(model(vec![row(1, 1000, 1.0), row(4, 2000, 2.0)]), None, "no traffic was measured");
        assert_eq!(model(vec![row(2, 2000, 2.0), row(4, 2000, 2.0)]), None, "no thread was alone");
        assert_eq!(model(Vec::new()), None);
    }

    #[test]
    fn threads_that_wait_with_a_core_each_are_not_modelled() {
        // Four threads of four cores that use two: others use the machine, or they wait.
        let waiting = || vec![row(1, 1000, 1.0), row(2, 2000, 2.0), row(4, 2000, 2.0)];
        assert_eq!(on(4, false, waiting()), None);
        assert!(on(2, false, waiting()).is_some());
        assert_eq!(on(2, true, waiting()), None, "with a core each they would still wait for the lock");
    }
}
