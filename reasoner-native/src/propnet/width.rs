//! How many states are evaluated side by side, by processor and net; and work that is done in lanes of any width.

use std::time::{Duration, Instant};

use super::kernel::{self, Level, Task};
use super::lanes::{Lanes, Lanes64, Lanes256, Pair};
use super::sliced::Sliced;
use super::{Evaluation, Propnet};

/// Wires up to which 1024 lanes are about as fast as 512 or faster, for fewer decisions; beyond, caches decide.
const MAX_WIRES_OF_1024: usize = 1000;
/// Wires whose 512 lanes still fit the second cache, 2 MiB.
const MAX_WIRES_OF_512: usize = 60_000;

/// States that rollouts evaluate side by side.
pub(super) fn lanes_of(propnet: &Propnet) -> usize {
    match propnet.evaluation {
        Evaluation::Scalar => 1,
        Evaluation::Lanes(n_lanes) => n_lanes,
        Evaluation::Sliced if propnet.level == Level::Any => 64,
        Evaluation::Sliced if propnet.level < Level::BEST => 256,
        Evaluation::Sliced => match propnet.course.n_wires() {
            n_wires if n_wires <= MAX_WIRES_OF_1024 => 1024,
            n_wires if n_wires <= MAX_WIRES_OF_512 => 512,
            _ => 256,
        },
    }
}

/// The memory for lanes, of one width; made when it is first needed.
#[derive(Debug)]
pub(super) enum Width {
    Scalar,
    Of64(Option<Box<Sliced<Lanes64>>>),
    Of256(Option<Box<Sliced<Lanes256>>>),
    #[cfg(target_arch = "x86_64")]
    Avx2(Option<Box<Sliced<kernel::X256>>>),
    #[cfg(target_arch = "x86_64")]
    Avx512(Option<Box<Sliced<kernel::X512>>>),
    #[cfg(target_arch = "x86_64")]
    TwoAvx512(Option<Box<Sliced<Pair<kernel::X512>>>>),
}

impl Width {
    fn of_lanes(n_lanes: usize, level: Level) -> Width {
        match n_lanes {
            1 => Width::Scalar,
            ..=64 => Width::Of64(None),
            #[cfg(target_arch = "x86_64")]
            513.. if level >= Level::Avx512 => Width::TwoAvx512(None),
            #[cfg(target_arch = "x86_64")]
            257.. if level >= Level::Avx512 => Width::Avx512(None),
            #[cfg(target_arch = "x86_64")]
            _ if level >= Level::Avx2 => Width::Avx2(None),
            _ => Width::Of256(None),
        }
    }

    /// Does work in lanes, with all features of the processor.
    pub(super) fn with<W: InLanes>(&mut self, propnet: &Propnet, work: W) -> W::Output {
        fn of<L: Lanes, W: InLanes>(
            memory: &mut Option<Box<Sliced<L>>>,
            propnet: &Propnet,
            work: W,
        ) -> W::Output {
            let Propnet { circuit, course, .. } = propnet;
            let sliced = memory.get_or_insert_with(|| Box::new(Sliced::new(circuit, course)));
            kernel::with(Working { sliced, work })
        }
        match self {
            Width::Scalar => unreachable!("there are no lanes"),
            Width::Of64(memory) => of(memory, propnet, work),
            Width::Of256(memory) => of(memory, propnet, work),
            #[cfg(target_arch = "x86_64")]
            Width::Avx2(memory) => of(memory, propnet, work),
            #[cfg(target_arch = "x86_64")]
            Width::Avx512(memory) => of(memory, propnet, work),
            #[cfg(target_arch = "x86_64")]
            Width::TwoAvx512(memory) => of(memory, propnet, work),
        }
    }
}

/// The widths for batches: lanes that no state of a batch fills take as long as others.
#[derive(Debug)]
pub(super) struct BatchWidths {
    usual: Width,
    /// One with fewer lanes, and how many.
    narrow: Option<(usize, Width)>,
}

impl BatchWidths {
    /// The usual width of a net, and half of it where that is one vector instruction for two.
    pub(super) fn of(propnet: &Propnet) -> BatchWidths {
        let usual = lanes_of(propnet);
        let half = usual / 2;
        let has_half = propnet.evaluation == Evaluation::Sliced && usual > 512;
        BatchWidths {
            usual: Width::of_lanes(usual, propnet.level),
            narrow: has_half.then(|| (half, Width::of_lanes(half, propnet.level))),
        }
    }

    /// Whether states are evaluated one by one.
    pub(super) fn is_scalar(&self) -> bool {
        matches!(self.usual, Width::Scalar)
    }

    /// The width for a batch of so many states.
    pub(super) fn for_batch(&mut self, n_states: usize) -> &mut Width {
        match &mut self.narrow {
            Some((n_lanes, width)) if n_states <= *n_lanes => width,
            _ => &mut self.usual,
        }
    }
}

/// The widths for series of rollouts. Which is the fastest depends on the caches of the processor as much as on the net,
/// and is found out by playing; what series come to does not depend on it.
#[derive(Debug)]
pub(super) struct SeriesWidths {
    /// One that is left, or those on trial.
    widths: Vec<Width>,
    /// By width: the least time of a trial.
    least: Vec<Duration>,
    n_trials: usize,
}

impl SeriesWidths {
    /// Rollouts of a trial: so many that lanes which are empty at its end are few even among 1024.
    pub(super) const TRIAL: u32 = 1 << 15;
    /// Trials of each width.
    const N_TRIALS: usize = 3;

    /// What a net of this size is usually fast in, half of it, and twice as many lanes.
    pub(super) fn of(propnet: &Propnet) -> SeriesWidths {
        let usual = lanes_of(propnet);
        let mut n_lanes = vec![usual];
        if propnet.evaluation == Evaluation::Sliced
            && propnet.level > Level::Any
            && propnet.level == Level::BEST
        {
            n_lanes
                .extend([usual / 2, usual * 2].into_iter().filter(|n_lanes| (256..=1024).contains(n_lanes)));
        }
        SeriesWidths {
            least: vec![Duration::MAX; n_lanes.len()],
            widths: n_lanes.into_iter().map(|n_lanes| Width::of_lanes(n_lanes, propnet.level)).collect(),
            n_trials: 0,
        }
    }

    /// Whether widths are on trial.
    pub(super) fn are_on_trial(&self) -> bool {
        self.widths.len() > 1
    }

    /// The usual width, or the one found to be the fastest.
    pub(super) fn best(&mut self) -> &mut Width {
        &mut self.widths[0]
    }

    /// Does work of equal size as all trials in the width whose turn it is; whether it was finished. After the last
    /// trial, only the fastest is left.
    pub(super) fn try_with<W: InLanes<Output = bool>>(&mut self, propnet: &Propnet, work: W) -> bool {
        let turn = self.n_trials % self.widths.len();
        let begun = Instant::now();
        if !self.widths[turn].with(propnet, work) {
            return false;
        }
        self.least[turn] = self.least[turn].min(begun.elapsed());
        self.n_trials += 1;
        if self.n_trials == Self::N_TRIALS * self.widths.len() {
            let fastest = (0..self.widths.len()).min_by_key(|&width| self.least[width]).unwrap_or(0);
            self.widths.swap(0, fastest);
            self.widths.truncate(1);
        }
        true
    }
}

/// Work in lanes of any width.
pub(super) trait InLanes {
    type Output;

    fn run<L: Lanes>(self, sliced: &mut Sliced<L>) -> Self::Output;
}

/// Work with its lanes, as a task for the kernel.
struct Working<'a, L, W> {
    sliced: &'a mut Sliced<L>,
    work: W,
}

impl<L: Lanes, W: InLanes> Task for Working<'_, L, W> {
    type Lanes = L;
    type Output = W::Output;

    #[inline(always)]
    fn run(self) -> W::Output {
        self.work.run(self.sliced)
    }
}
