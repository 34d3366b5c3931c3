//! How many states are evaluated side by side, by processor and net; and work that is done in lanes of any width.

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
    pub(super) fn of(propnet: &Propnet) -> Width {
        let level = propnet.level;
        match lanes_of(propnet) {
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
