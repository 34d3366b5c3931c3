//! Where the making of a net is, for whoever waits for it.

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// A part of the work. Split and whole clauses may be tried one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Grounding clauses that were split where that makes them narrower.
    GroundingSplit,
    /// Grounding clauses as they are.
    GroundingWhole,
    /// Simplifying the gates.
    Simplifying,
    /// Making the circuits of the clock's phases.
    Phases,
}

/// Where the work is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The part.
    pub stage: Stage,
    /// Time since the work began.
    pub elapsed: Duration,
    /// Steps of joins so far.
    pub steps: u64,
    /// Words of ground rules so far, of 4 bytes; 0 beyond grounding.
    pub words: usize,
    /// Bytes that the stage holds, roughly; 0 where it does not count them.
    pub bytes: usize,
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Progress { stage, elapsed, steps, words, bytes } = self;
        let stage = match stage {
            Stage::GroundingSplit => "grounding split clauses",
            Stage::GroundingWhole => "grounding whole clauses",
            Stage::Simplifying => "simplifying the net",
            Stage::Phases => "making circuits of phases",
        };
        let millions = |n: f64| n / 1e6;
        write!(f, "{:.0} s: {stage}; {:.1} M steps", elapsed.as_secs_f64(), millions(*steps as f64))?;
        if *words > 0 {
            write!(f, ", {:.1} M words of ground rules", millions(*words as f64))?;
        }
        if *bytes > 0 {
            write!(f, ", {} MiB", bytes >> 20)?;
        }
        Ok(())
    }
}

/// Tells now and then where the work is; clones tell together.
#[derive(Debug, Clone)]
pub struct Watch {
    every: Duration,
    tell: fn(&Progress),
    begun: Instant,
    state: Rc<Cell<State>>,
}

#[derive(Debug, Clone, Copy)]
struct State {
    next: Instant,
    progress: Progress,
}

impl Watch {
    /// Calls `tell` about as often as that, from now on.
    pub fn new(every: Duration, tell: fn(&Progress)) -> Watch {
        let begun = Instant::now();
        let (stage, elapsed) = (Stage::GroundingSplit, Duration::ZERO);
        let progress = Progress { stage, elapsed, steps: 0, words: 0, bytes: 0 };
        Watch { every, tell, begun, state: Rc::new(Cell::new(State { next: begun + every, progress })) }
    }

    /// A stage begins.
    pub(super) fn enter(&self, stage: Stage) {
        self.note(|progress| *progress = Progress { stage, words: 0, bytes: 0, ..*progress });
    }

    /// Notes what has changed, and tells it if it is time to.
    pub(super) fn note(&self, change: impl FnOnce(&mut Progress)) {
        let mut state = self.state.get();
        change(&mut state.progress);
        let now = Instant::now();
        if now >= state.next {
            state.next = now + self.every;
            state.progress.elapsed = now - self.begun;
            (self.tell)(&state.progress);
        }
        self.state.set(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    thread_local! {
        static TOLD: Cell<Vec<Progress>> = const { Cell::new(Vec::new()) };
    }

    fn keep(progress: &Progress) {
        TOLD.set([TOLD.take(), vec![*progress]].concat());
    }

    #[test]
    fn stages_and_counts_are_told_and_a_new_stage_counts_anew() {
        let watch = Watch::new(Duration::ZERO, keep);
        watch.clone().note(|progress| (progress.steps, progress.words) = (7, 3_000_000));
        watch.enter(Stage::Simplifying);
        watch.note(|progress| progress.bytes = 5 << 20);
        let texts: Vec<String> = TOLD.take().iter().map(ToString::to_string).collect();
        assert_eq!(
            texts,
            [
                "0 s: grounding split clauses; 0.0 M steps, 3.0 M words of ground rules",
                "0 s: simplifying the net; 0.0 M steps",
                "0 s: simplifying the net; 0.0 M steps, 5 MiB"
            ]
        );
    }

    #[test]
    fn nothing_is_told_before_its_time() {
        let watch = Watch::new(Duration::from_secs(3600), keep);
        watch.enter(Stage::Phases);
        assert!(TOLD.take().is_empty());
    }
}
