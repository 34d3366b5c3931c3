//! What happened during a run, in numbers.

use crate::sync::{AtomicU64, Ordering};

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// What happened during a run, all threads together.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct Counters {
            $($(#[$doc])* pub $name: u64,)*
        }

        /// One worker's counts, which it alone writes and everybody may read.
        ///
        /// # Orderings
        /// `Relaxed`: numbers only. They are exact once the run's channel has brought the workers' answers.
        #[derive(Debug, Default)]
        pub(crate) struct WorkerCounters {
            $(pub(crate) $name: Counter,)*
        }

        impl WorkerCounters {
            /// Adds these to `total`.
            pub(crate) fn add_to(&self, total: &mut Counters) {
                $(counters!(@join $name, total.$name, self.$name.get());)*
            }

            /// Forgets everything.
            pub(crate) fn reset(&self) {
                $(self.$name.0.store(0, Ordering::Relaxed);)*
            }
        }
    };
    (@join max_depth, $total:expr, $mine:expr) => { $total = $total.max($mine) };
    (@join max_probes, $total:expr, $mine:expr) => { $total = $total.max($mine) };
    (@join work_ns, $total:expr, $mine:expr) => { $total = $total.max($mine) };
    (@join $name:ident, $total:expr, $mine:expr) => { $total += $mine };
}

counters! {
    /// Finished playouts.
    playouts,
    /// Playouts given up because the reasoner failed.
    failed_playouts,
    /// Playouts given up because time was over.
    interrupted_playouts,
    /// Nodes passed by finished playouts, the root included.
    depth_sum,
    /// The most nodes that one of them passed.
    max_depth,
    /// Their rollouts.
    rollouts,
    /// Joint moves of their rollouts.
    rollout_steps,
    /// Nodes made, with the duplicates.
    nodes_made,
    /// Edges made.
    edges_made,
    /// Nodes opened or closed: their moves were asked and got edges, or their goals, where the game is over.
    openings,
    /// Playouts that found a node being opened by another thread, and rolled out from there.
    lost_claims,
    /// Playouts that arrived at a leaf where another playout was still under way.
    same_leaf,
    /// Nodes made in vain, because another playout's for the same state or edge came first: another thread's where equal states
    /// are one node, and otherwise one of the same batch too.
    duplicates,
    /// Compare-and-swaps on table words that met another thread's.
    cas_failures,
    /// Arrivals over a new edge at a node that others had made: transpositions found.
    transpositions,
    /// Table look-ups.
    lookups,
    /// Words they looked at.
    probes,
    /// The most words that one of them looked at.
    max_probes,
    /// Nodes or children that found no room, so that a playout went on outside the graph.
    table_full,
    /// Nodes with more moves than can have edges.
    too_wide,
    /// Descents cut off because they came by a node twice or went too deep.
    cut_paths,
    /// Nanoseconds of descents, of the batches that were timed.
    descent_ns,
    /// Nanoseconds of their expansions.
    expansion_ns,
    /// Nanoseconds of their rollouts.
    rollout_ns,
    /// Nanoseconds of their backups.
    backup_ns,
    /// Edges and nodes to which gathered statistics were added at once.
    flushes,
    /// The most that one thread worked where work is limited, in nanoseconds by the measure that was handed in.
    work_ns,
    /// Better lines that the session did not play again from their seed.
    unrepeatable_lines,
}

/// A count with one writer.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Adds `n`. Not a read-modify-write: only the owner calls it.
    pub(crate) fn add(&self, n: u64) {
        self.0.store(self.0.load(Ordering::Relaxed) + n, Ordering::Relaxed);
    }

    /// Raises the count to `n`.
    pub(crate) fn raise(&self, n: u64) {
        if self.0.load(Ordering::Relaxed) < n {
            self.0.store(n, Ordering::Relaxed);
        }
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
