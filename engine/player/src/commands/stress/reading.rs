//! What limits the machine, in plain words, read from the measured rows.

use super::model::FREE;
use super::row::{Row, Scaling};
use crate::commands::reclaims::reclaims_text;

/// What must be known besides the rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Machine {
    pub(super) n_cores: usize,
    /// Whether the configuration makes all backups of a graph under one lock.
    pub(super) has_backup_lock: bool,
}

/// Playouts of a second of processor time that are still as many as in the first row: measurements differ by as much.
const STEADY: f64 = 0.9;
/// Playouts for each of which so many meet another one count as wasted.
const OFTEN: f64 = 0.05;

/// So many threads, in words.
pub(super) fn threads(n_threads: usize) -> String {
    if n_threads == 1 { "1 thread".to_owned() } else { format!("{n_threads} threads") }
}

/// The reading, one sentence a line; it needs two rows to say anything about scaling.
pub(super) fn of(scaling: &Scaling, machine: Machine) -> Vec<String> {
    let [first, .., last] = &scaling.rows[..] else {
        let why = match scaling.rows.is_empty() {
            true => "no search came to its end",
            false => "one number of threads tells nothing about scaling",
        };
        return vec![why.to_owned()];
    };
    let mut lines = vec![format!(
        "{} are {:.2} times as fast as {}.",
        threads(last.n_threads),
        scaling.speed_up(last),
        threads(first.n_threads)
    )];
    lines.extend(processors(last, machine));
    let steadiness = last.speed_of_processor() / first.speed_of_processor().max(f64::EPSILON);
    if steadiness >= STEADY {
        lines.push(format!(
            "A second of processor time gives {:.0} % of the playouts it gave at first: the shared graph is not the limit.",
            100.0 * steadiness
        ));
    } else {
        lines.push(format!(
            "A second of processor time gives only {:.0} % of the playouts it gave at first.",
            100.0 * steadiness
        ));
        lines.extend(causes(last, machine));
    }
    lines.extend(memory(last));
    lines
}

/// Whether threads had to wait for processors.
fn processors(last: &Row, machine: Machine) -> Option<String> {
    let had = last.processors();
    if had >= FREE * last.n_threads as f64 {
        return None;
    }
    let n_cores = machine.n_cores;
    Some(match last.n_threads > n_cores {
        true => format!(
            "{} threads share {n_cores} cores and had {had:.1} of them: more threads than cores add nothing.",
            last.n_threads
        ),
        false => format!(
            "{} threads had {had:.1} of {n_cores} cores: others use the machine, or threads wait; look for what else runs, \
             or pin with --pin.",
            last.n_threads
        ),
    })
}

/// Why playouts cost more processor time with more threads.
fn causes(last: &Row, machine: Machine) -> Vec<String> {
    let counters = last.counters();
    let mut lines = Vec::new();
    if machine.has_backup_lock {
        lines.push("This configuration makes its backups under one lock, one at a time.".to_owned());
    }
    let at_leaves = last.per_playout(counters.same_leaf + counters.lost_claims + counters.duplicates);
    if at_leaves >= OFTEN {
        lines.push(format!(
            "{:.0} of 100 playouts meet another at a leaf or make a node in vain: there are more in flight ({}) than the \
             position has good moves; a smaller --batch or a larger --c spreads them.",
            100.0 * at_leaves,
            last.n_in_flight
        ));
    }
    if last.per_playout(counters.cas_failures) >= OFTEN {
        lines.push(
            "Threads meet in the tables (CAS failures): many look for the same positions at once.".to_owned(),
        );
    }
    if lines.is_empty() {
        lines.push(
            "No counter stands out, so it is the memory: the statistics near the root travel between the cores' caches, and \
             threads that share a core or a memory bus slow each other down. Pin threads to cores of their own with --pin."
                .to_owned(),
        );
    }
    lines
}

/// Whether the graph ran out of room.
fn memory(last: &Row) -> Option<String> {
    if let Some(text) = reclaims_text(&last.report.reclaims) {
        return Some(format!("The graph ran out of room ({text}); more --memory keeps more."));
    }
    (last.counters().table_full > 0 || last.report.is_full).then(|| {
        format!(
            "The graph is full ({:.0} MiB): from then on playouts end where it ends; give more --memory.",
            last.report.bytes as f64 / f64::from(1 << 20)
        )
    })
}

#[cfg(test)]
mod tests {
    use search::{Counters, Reclaims};

    use super::super::row::row;
    use super::*;

    const MACHINE: Machine = Machine { n_cores: 8, has_backup_lock: false };

    fn text(rows: Vec<Row>, machine: Machine) -> String {
        of(&Scaling::new(rows), machine).join("\n")
    }

    #[test]
    fn too_few_searches_tell_nothing() {
        assert_eq!(text(Vec::new(), MACHINE), "no search came to its end");
        assert!(text(vec![row(1, 1000, 1.0)], MACHINE).contains("one number of threads"));
    }

    #[test]
    fn threads_that_all_work_at_full_speed_are_not_limited_by_the_graph() {
        let told = text(vec![row(1, 1000, 1.0), row(4, 3900, 4.0)], MACHINE);
        assert!(told.contains("3.90 times as fast as 1"), "{told}");
        assert!(told.contains("the shared graph is not the limit"), "{told}");
        assert!(!told.contains("cores"), "{told}");
    }

    #[test]
    fn more_threads_than_cores_and_a_busy_machine_are_told_apart() {
        let many = text(vec![row(1, 1000, 1.0), row(16, 8000, 8.0)], MACHINE);
        assert!(many.contains("16 threads share 8 cores"), "{many}");
        let busy = text(vec![row(1, 1000, 1.0), row(4, 2000, 2.0)], MACHINE);
        assert!(busy.contains("others use the machine"), "{busy}");
    }

    #[test]
    fn the_counter_that_stands_out_is_named() {
        let slow = |counters| {
            let mut last = row(4, 1000, 4.0);
            last.report.counters = counters;
            vec![row(1, 1000, 1.0), last]
        };
        let at_leaves = text(slow(Counters { same_leaf: 300, ..Counters::default() }), MACHINE);
        assert!(at_leaves.contains("30 of 100 playouts meet another"), "{at_leaves}");
        let in_tables = text(slow(Counters { cas_failures: 100, ..Counters::default() }), MACHINE);
        assert!(in_tables.contains("CAS failures"), "{in_tables}");
        let nothing = text(slow(Counters::default()), MACHINE);
        assert!(nothing.contains("it is the memory"), "{nothing}");
        let locked = text(slow(Counters::default()), Machine { has_backup_lock: true, ..MACHINE });
        assert!(locked.contains("under one lock") && !locked.contains("it is the memory"), "{locked}");
        let full = text(slow(Counters { table_full: 1, ..Counters::default() }), MACHINE);
        assert!(full.contains("The graph is full"), "{full}");
        let mut last = row(4, 1000, 4.0);
        last.report.reclaims = Reclaims { times: 3, nodes: 7, longest_seconds: 0.012, ..Reclaims::default() };
        let told = text(vec![row(1, 1000, 1.0), last], MACHINE);
        assert!(told.contains("3 times out of room: 7 nodes forgotten"), "{told}");
        assert!(told.contains("the longest 12 ms"), "{told}");
    }

    #[test]
    fn one_row_says_nothing_about_scaling() {
        assert!(text(vec![row(1, 1000, 1.0)], MACHINE).contains("tells nothing"));
    }
}
