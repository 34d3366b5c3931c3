//! What building the propnet may take of a match that begins with the interpreter.
//!
//! In go a brain and the start clock, out come shares of time, memory and cores. It builds nothing.

use std::num::NonZero;
use std::time::Duration;

use search::MIN_BYTES;

use crate::brain::Brain;
use crate::reasoners::Share;

/// What building the propnet may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Succession {
    /// What grounding may take.
    pub share: Share,
    /// How long the search waits for it.
    pub head_start: Duration,
    /// The core to build on, where the search is pinned.
    pub core: Option<usize>,
    /// Bytes that the graph may take meanwhile.
    pub graph_bytes: usize,
}

/// How long it may go on after the start clock on a core that nobody else wants: nearly all published games take less
/// altogether.
const BESIDE: Duration = Duration::from_secs(60);

impl Succession {
    /// Of a match whose search has `start_clock` before START has to be answered, on a machine of so many cores.
    ///
    /// Memory is halved: the graph has one half while the other is built with. With a core to spare, the search begins at once,
    /// and building may go on in play. With none, both have half the core: the search waits for half the start clock, since
    /// what it finds is worth little against what a propnet finds in the same time, and building ends at twice the start
    /// clock. A brain that makes a number of playouts, or works so long, waits: what it answers must not depend on what
    /// runs beside it, and where that is counted, it does not.
    pub fn of(brain: &Brain, start_clock: Duration, n_cores: usize) -> Succession {
        let (pins, n_threads) = (&brain.search.pin, brain.search.threads);
        let has_spare = n_threads < if pins.is_empty() { n_cores } else { pins.len() };
        let bytes = brain.search.max_bytes / 2;
        let (time, head_start) = match (brain.is_limited(), has_spare) {
            (true, _) => (None, start_clock),
            (false, true) => (Some(start_clock + BESIDE), Duration::ZERO),
            (false, false) => (Some(start_clock * 2), start_clock / 2),
        };
        let share = match time {
            None => Share { bytes: bytes.min(Share::COUNTED.bytes), ..Share::COUNTED },
            Some(_) => Share { time, bytes, ..Share::PATIENT },
        };
        Succession {
            share,
            head_start,
            core: pins.get(n_threads).or(pins.first()).copied(),
            graph_bytes: bytes.max(MIN_BYTES),
        }
    }
}

/// The cores that this process may use.
pub fn n_cores() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOCK: Duration = Duration::from_secs(10);

    fn of(settings: &str, n_cores: usize) -> Succession {
        Succession::of(&Brain::parse(settings).unwrap(), CLOCK, n_cores)
    }

    #[test]
    fn with_a_core_to_spare_the_search_waits_for_nothing() {
        let succession = of("threads=1", 2);
        assert_eq!((succession.head_start, succession.share.time), (Duration::ZERO, Some(CLOCK + BESIDE)));
        assert_eq!(succession.core, None);
    }

    #[test]
    fn without_one_building_has_a_head_start_and_an_end() {
        let succession = of("threads=2", 2);
        assert_eq!((succession.head_start, succession.share.time), (CLOCK / 2, Some(CLOCK * 2)));
    }

    #[test]
    fn what_is_limited_waits_and_is_counted() {
        for settings in ["playouts=10", "cpu=1"] {
            let succession = of(settings, 2);
            assert_eq!((succession.head_start, succession.share.time), (CLOCK, None), "{settings}");
            assert_eq!(succession.share.steps, Share::COUNTED.steps, "{settings}");
        }
    }

    #[test]
    fn graph_and_building_together_stay_within_the_memory() {
        for (settings, bytes) in [("memory=64M", 64 << 20), ("memory=16G", 16 << 30)] {
            for settings in [settings.to_owned(), format!("{settings},playouts=10")] {
                let succession = of(&settings, 2);
                assert!(succession.graph_bytes + succession.share.bytes <= bytes, "{settings}");
            }
        }
        assert_eq!(of("memory=1M", 2).graph_bytes, MIN_BYTES, "a graph can begin");
    }

    #[test]
    fn pinned_players_build_on_their_own_cores() {
        let mut brain = Brain::default();
        brain.search.pin = vec![3];
        let one = Succession::of(&brain, CLOCK, 64);
        assert_eq!((one.core, one.head_start), (Some(3), CLOCK / 2));
        brain.search.pin = vec![3, 5];
        let two = Succession::of(&brain, CLOCK, 64);
        assert_eq!((two.core, two.head_start), (Some(5), Duration::ZERO));
    }
}
