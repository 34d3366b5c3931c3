//! What limits the machine, in plain words, read from the measured rows.

use search::{Counters, Options};

use super::model::FREE;
use super::row::{Row, Scaling};
use crate::brain::all_cores;
use crate::commands::reclaims::reclaims_text;

/// What must be known besides the rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Machine {
    /// Cores that the threads may use.
    pub(super) n_cores: usize,
    /// Whether threads are pinned to them.
    pub(super) is_pinned: bool,
    /// Whether the configuration makes all backups of a graph under one lock.
    pub(super) has_backup_lock: bool,
}

impl Machine {
    /// As a search with these options has it.
    pub(super) fn of(options: &Options) -> Machine {
        let mut pins = options.pin.clone();
        pins.sort_unstable();
        pins.dedup();
        let n_cores = if pins.is_empty() { all_cores() } else { pins.len().min(all_cores()) };
        Machine { n_cores, is_pinned: !pins.is_empty(), has_backup_lock: options.config.has_backup_lock() }
    }
}

/// Playouts of a second of processor time that are still as many as in the first row: measurements differ by as much.
const STEADY: f64 = 0.9;
/// Playouts for each of which so many meet another one count as wasted.
const OFTEN: f64 = 0.05;
/// Pauses that take such a part of the time are told. Chosen: less is within what measurements differ by.
const LONG: f64 = 0.05;

/// So many threads, in words.
pub(super) fn threads(n_threads: usize) -> String {
    if n_threads == 1 { "1 thread".to_owned() } else { format!("{n_threads} threads") }
}

/// So many cores, in words.
pub(super) fn cores(n_cores: usize) -> String {
    if n_cores == 1 { "1 core".to_owned() } else { format!("{n_cores} cores") }
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
    let waits = waits(last, machine);
    let is_held_up = !waits.is_empty();
    lines.extend(waits);
    lines.extend(processors(first, last, machine, is_held_up));
    let steadiness = last.speed_of_processor() / first.speed_of_processor().max(f64::EPSILON);
    let percent = 100.0 * steadiness;
    if steadiness < STEADY {
        lines.push(format!(
            "A second of processor time gives only {percent:.0} % of the playouts it gave at first."
        ));
        lines.extend(causes(first, last, machine, is_held_up));
    } else {
        // Who waits, for a core too, needs no processor time, and the first row may have been limited itself.
        let all_work = last.n_threads <= machine.n_cores && had_all(last, machine);
        let is_free = all_work && !is_held_up && first.n_threads == 1;
        let verdict = if is_free { ": the shared graph is not the limit" } else { "" };
        lines.push(format!(
            "A second of processor time gives {percent:.0} % of the playouts it gave at first{verdict}."
        ));
    }
    lines.extend(memory(last));
    lines
}

/// What threads are known to have waited for.
fn waits(last: &Row, machine: Machine) -> Vec<String> {
    let mut lines = Vec::new();
    if machine.has_backup_lock {
        lines.push("This configuration makes its backups under one lock, one at a time.".to_owned());
    }
    let paused = last.pauses() / last.report.seconds.max(f64::EPSILON);
    if paused >= LONG {
        lines.push(format!(
            "Pauses, in which a full graph forgets and tables grow, took {:.0} % of the time.",
            100.0 * paused
        ));
    }
    lines
}

/// Whether the threads of a row had as many processors as they could use.
fn had_all(row: &Row, machine: Machine) -> bool {
    row.processors() >= FREE * row.n_threads.min(machine.n_cores) as f64
}

/// Whether there were too few processors in the last row, or already in the first, which the others are compared with.
fn processors(first: &Row, last: &Row, machine: Machine, is_held_up: bool) -> Vec<String> {
    let Machine { n_cores, is_pinned, .. } = machine;
    let had =
        |row: &Row| format!("{} had {:.1} of {}", threads(row.n_threads), row.processors(), cores(n_cores));
    let mut lines = Vec::new();
    if !had_all(first, machine) {
        lines.push(format!(
            "{}: what others are compared with is too slow, and the speed-up too large.",
            had(first)
        ));
    }
    if !had_all(last, machine) {
        let why = match (is_held_up, is_pinned || last.n_threads > n_cores) {
            (true, _) => "they wait, or others use the machine",
            (false, true) => "others use the machine, or threads wait; look for what else runs",
            (false, false) => {
                "others use the machine, or threads wait; look for what else runs, or pin with --pin"
            }
        };
        lines.push(format!("{}: {why}.", had(last)));
    } else if last.n_threads > n_cores {
        lines.push(format!(
            "{} share {} and had {:.1} of them: more threads than cores add nothing.",
            threads(last.n_threads),
            cores(n_cores),
            last.processors()
        ));
    }
    lines
}

/// Why playouts cost more processor time with more threads.
fn causes(first: &Row, last: &Row, machine: Machine, is_held_up: bool) -> Vec<String> {
    let mut lines = Vec::new();
    // What the playouts of one batch do to each other was there at first.
    let more = |count: fn(&Counters) -> u64| {
        last.per_playout(count(last.counters())) - first.per_playout(count(first.counters()))
    };
    // Whoever makes a node in vain goes on at the other one's, and mostly meets it there; so does who finds a node claimed.
    let at_leaves = more(|counters| counters.same_leaf.max(counters.duplicates)).min(1.0);
    if at_leaves >= OFTEN {
        let n_leaves = last.n_in_flight / last.report.visits_per_playout.max(1);
        lines.push(format!(
            "{:.0} of 100 playouts more than at first meet another at a leaf or make a node in vain: there are more leaves in \
             flight ({n_leaves}) than the position has good moves; a smaller --batch or a larger --c spreads them.",
            100.0 * at_leaves,
        ));
    }
    if more(|counters| counters.cas_failures) >= OFTEN {
        lines.push(
            "Threads meet in the tables (CAS failures): many look for the same positions at once.".to_owned(),
        );
    }
    if lines.is_empty() && !is_held_up {
        let hint = match last.n_threads > machine.n_cores || machine.is_pinned {
            true => "",
            false => " Pin threads to cores of their own with --pin.",
        };
        lines.push(format!(
            "No counter stands out, so it is the memory: the statistics near the root travel between the cores' caches, and \
             threads that share a core or a memory bus slow each other down.{hint}"
        ));
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
    use search::{Reclaims, Report};

    use super::super::row::row;
    use super::*;

    const MACHINE: Machine = Machine { n_cores: 8, is_pinned: false, has_backup_lock: false };
    const PINNED: Machine = Machine { is_pinned: true, ..MACHINE };
    const LOCKED: Machine = Machine { has_backup_lock: true, ..MACHINE };

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
        assert!(many.contains("16 threads share 8 cores") && !many.contains("not the limit"), "{many}");
        let starved = text(vec![row(1, 1000, 1.0), row(16, 3000, 3.0)], MACHINE);
        assert!(starved.contains("16 threads had 3.0 of 8 cores: others use the machine"), "{starved}");
        assert!(!starved.contains("add nothing") && !starved.contains("--pin"), "{starved}");
        let slow_start = text(vec![row(1, 400, 0.4), row(4, 3900, 4.0)], MACHINE);
        assert!(
            slow_start.contains("1 thread had 0.4 of 8 cores") && slow_start.contains("too large"),
            "{slow_start}"
        );
        assert!(!many.contains("too large"), "{many}");
        let busy = text(vec![row(1, 1000, 1.0), row(4, 2000, 2.0)], MACHINE);
        assert!(busy.contains("others use the machine") && busy.contains("--pin"), "{busy}");
        let pinned = text(vec![row(1, 1000, 1.0), row(4, 2000, 2.0)], PINNED);
        assert!(pinned.contains("others use the machine") && !pinned.contains("--pin"), "{pinned}");
    }

    #[test]
    fn cores_are_those_that_threads_are_pinned_to() {
        let options = |pin| Options { pin, ..Options::default() };
        assert_eq!(Machine::of(&options(vec![0, 0])).n_cores, 1);
        assert!(Machine::of(&options(vec![0])).is_pinned && !Machine::of(&options(Vec::new())).is_pinned);
        assert_eq!(Machine::of(&options(Vec::new())).n_cores, all_cores());
    }

    #[test]
    fn nothing_is_concluded_from_the_processor_time_of_threads_that_wait() {
        let verdict = "the shared graph is not the limit";
        let steady = || vec![row(1, 1000, 1.0), row(4, 3900, 4.0)];
        assert!(text(steady(), MACHINE).contains(verdict));
        let locked = text(steady(), LOCKED);
        assert!(locked.contains("under one lock") && !locked.contains(verdict), "{locked}");
        let mut rows = steady();
        rows[1].report.table.growth_seconds = 0.2;
        let paused = text(rows, MACHINE);
        assert!(paused.contains("took 20 % of the time") && !paused.contains(verdict), "{paused}");
        let waiting = text(vec![row(1, 1000, 1.0), row(4, 2000, 2.0)], MACHINE);
        assert!(!waiting.contains(verdict), "{waiting}");
        let from_two = text(vec![row(2, 1000, 2.0), row(4, 2000, 4.0)], MACHINE);
        assert!(!from_two.contains(verdict), "{from_two}");
        let waiting = text(vec![row(1, 1000, 1.0), row(4, 2000, 2.0)], LOCKED);
        assert!(waiting.contains("they wait, or") && !waiting.contains("--pin"), "{waiting}");
    }

    #[test]
    fn only_what_is_more_than_at_first_is_a_cause() {
        let met = |row: Row, same_leaf, duplicates| {
            let counters =
                Counters { same_leaf, duplicates, lost_claims: same_leaf / 2, ..Counters::default() };
            let report = Report { counters, visits_per_playout: 8, ..row.report };
            Row { report, n_in_flight: 512, ..row }
        };
        let told = |first, last| text(vec![met(row(1, 1000, 1.0), first, first), last], MACHINE);
        let as_before = told(300, met(row(4, 1000, 4.0), 313, 300));
        assert!(as_before.contains("it is the memory"), "{as_before}");
        let more = told(100, met(row(4, 1000, 4.0), 400, 300));
        assert!(more.contains("30 of 100 playouts more") && more.contains("flight (64)"), "{more}");
    }

    #[test]
    fn the_counter_that_stands_out_is_named() {
        let slow = |counters| {
            let mut last = row(4, 1000, 4.0);
            last.report.counters = counters;
            vec![row(1, 1000, 1.0), last]
        };
        let at_leaves = text(slow(Counters { same_leaf: 300, ..Counters::default() }), MACHINE);
        assert!(at_leaves.contains("30 of 100 playouts more than at first meet another"), "{at_leaves}");
        let in_tables = text(slow(Counters { cas_failures: 100, ..Counters::default() }), MACHINE);
        assert!(in_tables.contains("CAS failures"), "{in_tables}");
        let nothing = text(slow(Counters::default()), MACHINE);
        assert!(nothing.contains("it is the memory") && nothing.contains("--pin"), "{nothing}");
        for machine in [PINNED, Machine { n_cores: 2, ..MACHINE }] {
            let nothing = text(slow(Counters::default()), machine);
            assert!(nothing.contains("it is the memory") && !nothing.contains("--pin"), "{nothing}");
        }
        let locked = text(slow(Counters::default()), LOCKED);
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
