//! What is worth unsafe code: gates without bounds checks, and vector instructions beyond what the build assumes.
//!
//! The vector features must be on for a whole step, everything inlined into it: the same code compiled without them
//! and only its operations with them is an order of magnitude slower (PROPNET.md, "Bit-slices"). So [`with`] compiles
//! a whole [`Task`] with the features that its lanes need.

mod changes;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::marker::PhantomData;

use reasoner::Lot;

use super::circuit::{MOVES_PADDED_TO, PARTS, Run, Shape};
use super::evaluate::Wires;
use super::lanes::Lanes;
pub(super) use changes::{AtBegin, Changes, Exceptions};
#[cfg(target_arch = "x86_64")]
pub(super) use x86::{X256, X512};

/// The vector features of a processor, as far as they make a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// What every processor of the target has.
    Any,
    /// 256 bits.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// 512 bits, with operations of three operands.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// The level with the widest lanes.
    #[cfg(target_arch = "x86_64")]
    pub(super) const BEST: Level = Level::Avx512;
    /// The level with the widest lanes.
    #[cfg(not(target_arch = "x86_64"))]
    pub(super) const BEST: Level = Level::Any;

    /// The best that this processor has.
    pub(super) fn detect() -> Level {
        #[cfg(target_arch = "x86_64")]
        {
            // All that `with_avx2` and `with_avx512` enable: virtual machines may lack some of it.
            let has_avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("bmi1")
                && is_x86_feature_detected!("bmi2")
                && is_x86_feature_detected!("popcnt");
            let has_avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            match (has_avx2, has_avx512) {
                (true, true) => return Level::Avx512,
                (true, false) => return Level::Avx2,
                (false, _) => {}
            }
        }
        Level::Any
    }
}

/// Work in lanes, to be compiled with the features that these lanes need. Everything that it calls in its loops must be
/// inlined, or be a task itself.
pub(super) trait Task {
    type Lanes: Lanes;
    type Output;

    fn run(self) -> Self::Output;
}

/// Runs a task with the features of its lanes.
///
/// # Panics
/// If the processor does not have them.
pub(super) fn with<T: Task>(task: T) -> T::Output {
    match T::Lanes::LEVEL {
        Level::Any => task.run(),
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => {
            assert!(Level::detect() >= Level::Avx2, "the processor has the features");
            // SAFETY: the processor has them.
            unsafe { with_avx2(task) }
        }
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => {
            assert!(Level::detect() >= Level::Avx512, "the processor has the features");
            // SAFETY: the processor has them.
            unsafe { with_avx512(task) }
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn with_avx2<T: Task>(task: T) -> T::Output {
    task.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi1,bmi2,popcnt")]
fn with_avx512<T: Task>(task: T) -> T::Output {
    task.run()
}

/// Where wires stand, in lanes of one width.
#[derive(Debug)]
pub(super) struct Places<L> {
    places: Box<[Place]>,
    /// All are places of wires below this.
    n_wires: usize,
    lanes: PhantomData<L>,
}

impl<L: Lanes> Places<L> {
    /// Those of some of `n_wires` wires.
    ///
    /// # Panics
    /// If one is none of them.
    pub(super) fn of(wires: impl Iterator<Item = usize>, n_wires: usize) -> Places<L> {
        let place = |wire| {
            assert!(wire < n_wires, "gates read wires of their circuit");
            Place::of::<L>(wire)
        };
        Places { places: wires.map(place).collect(), n_wires, lanes: PhantomData }
    }
}

/// Where a wire's lanes stand, counted in words from those of wire 0.
#[derive(Debug, Clone, Copy)]
struct Place(u32);

impl Place {
    fn of<L: Lanes>(wire: usize) -> Place {
        Place(u32::try_from(wire * L::WORDS).expect("wires are bounded by a budget"))
    }
}

/// The wire at a place.
///
/// # Safety
/// The place is that of one of the wires behind `wires`, in lanes of this width.
#[inline(always)]
unsafe fn at<L: Lanes>(wires: *mut L, place: Place) -> *mut L {
    const { assert!(size_of::<L>() == L::WORDS * size_of::<u64>()) };
    // SAFETY: as promised.
    unsafe { wires.cast::<u64>().add(place.0 as usize).cast::<L>() }
}

/// Evaluates the gates of a run, which read `inputs`.
#[inline(always)]
pub(super) fn evaluate_run<L: Lanes>(wires: &mut [L], inputs: &Places<L>, run: &Run) {
    assert!(run.first_wire + run.n_gates <= wires.len(), "the gates have wires");
    assert!(inputs.n_wires <= wires.len(), "the inputs have wires");
    let n_inputs = run.n_gates * run.shape.n_read();
    let inputs = &inputs.places[run.first_input..run.first_input + n_inputs];
    match run.shape.is_or {
        true => gates_of::<L, true>(wires, inputs, run),
        false => gates_of::<L, false>(wires, inputs, run),
    }
}

/// Picks the loop for the shape: the common ones are unrolled.
#[inline(always)]
fn gates_of<L: Lanes, const IS_OR: bool>(wires: &mut [L], inputs: &[Place], run: &Run) {
    let Shape { n_plain, n_negated, n_parts, .. } = run.shape;
    match (n_plain, n_negated, n_parts) {
        (2, 0, [0, 0, 0, 0]) => gates::<L, IS_OR>(wires, inputs, run, (2, 0, [0; 4])),
        (1, 1, [0, 0, 0, 0]) => gates::<L, IS_OR>(wires, inputs, run, (1, 1, [0; 4])),
        (0, 2, [0, 0, 0, 0]) => gates::<L, IS_OR>(wires, inputs, run, (0, 2, [0; 4])),
        (3, 0, [0, 0, 0, 0]) => gates::<L, IS_OR>(wires, inputs, run, (3, 0, [0; 4])),
        (2, 1, [0, 0, 0, 0]) => gates::<L, IS_OR>(wires, inputs, run, (2, 1, [0; 4])),
        (1, 2, [0, 0, 0, 0]) => gates::<L, IS_OR>(wires, inputs, run, (1, 2, [0; 4])),
        (0, 3, [0, 0, 0, 0]) => gates::<L, IS_OR>(wires, inputs, run, (0, 3, [0; 4])),
        (4, 0, [0, 0, 0, 0]) => gates::<L, IS_OR>(wires, inputs, run, (4, 0, [0; 4])),
        (3, 1, [0, 0, 0, 0]) => gates::<L, IS_OR>(wires, inputs, run, (3, 1, [0; 4])),
        (_, _, [0, 0, 0, 0]) => gates::<L, IS_OR>(wires, inputs, run, (n_plain, n_negated, [0; 4])),
        (1, 0, [1, 0, 0, 0]) => gates::<L, IS_OR>(wires, inputs, run, (1, 0, [1, 0, 0, 0])),
        (1, 0, [0, 1, 0, 0]) => gates::<L, IS_OR>(wires, inputs, run, (1, 0, [0, 1, 0, 0])),
        (0, 0, [n, 0, 0, 0]) => gates::<L, IS_OR>(wires, inputs, run, (0, 0, [n, 0, 0, 0])),
        (0, 0, [0, n, 0, 0]) => gates::<L, IS_OR>(wires, inputs, run, (0, 0, [0, n, 0, 0])),
        (_, _, [n, m, 0, 0]) => gates::<L, IS_OR>(wires, inputs, run, (n_plain, n_negated, [n, m, 0, 0])),
        _ => gates::<L, IS_OR>(wires, inputs, run, (n_plain, n_negated, n_parts)),
    }
}

#[inline(always)]
fn gates<L: Lanes, const IS_OR: bool>(
    wires: &mut [L],
    inputs: &[Place],
    run: &Run,
    (n_plain, n_negated, n_parts): (usize, usize, [usize; 4]),
) {
    let wires = wires.as_mut_ptr();
    let mut input = inputs.as_ptr();
    for gate in 0..run.n_gates {
        let mut value = if IS_OR { L::NONE } else { L::ALL };
        // SAFETY: the run has `n_gates * n_read` inputs, as sliced by `evaluate_run`, and as many are read, so many for
        // each gate. `evaluate_run` has checked that `wires` has those that they are and those of the gates.
        unsafe {
            for input_idx in 0..n_plain {
                let read = *at(wires, *input.add(input_idx));
                value = if IS_OR { value.or(read) } else { value.and(read) };
            }
            input = input.add(n_plain);
            for input_idx in 0..n_negated {
                let read = *at(wires, *input.add(input_idx));
                value = if IS_OR { value.or_not(read) } else { value.and_not(read) };
            }
            input = input.add(n_negated);
            (value, input) = parts::<L, IS_OR, 0>(wires, input, n_parts[0], value);
            (value, input) = parts::<L, IS_OR, 1>(wires, input, n_parts[1], value);
            (value, input) = parts::<L, IS_OR, 2>(wires, input, n_parts[2], value);
            (value, input) = parts::<L, IS_OR, 3>(wires, input, n_parts[3], value);
            *wires.add(run.first_wire + gate) = value;
        }
    }
}

/// Adds parts of a kind to the value of a gate.
///
/// # Safety
/// As many inputs as the parts have stand at `input`, and are places of wires behind `wires`.
#[inline(always)]
unsafe fn parts<L: Lanes, const IS_OR: bool, const KIND: usize>(
    wires: *mut L,
    mut input: *const Place,
    n_parts: usize,
    mut value: L,
) -> (L, *const Place) {
    let (n_plain, n_negated) = PARTS[KIND];
    for _ in 0..n_parts {
        // SAFETY: as promised.
        unsafe {
            let mut part = *at(wires, *input);
            for input_idx in 1..n_plain {
                let read = *at(wires, *input.add(input_idx));
                part = if IS_OR { part.and(read) } else { part.or(read) };
            }
            for input_idx in n_plain..n_plain + n_negated {
                let read = *at(wires, *input.add(input_idx));
                part = if IS_OR { part.and_not(read) } else { part.or_not(read) };
            }
            input = input.add(n_plain + n_negated);
            value = if IS_OR { value.or(part) } else { value.and(part) };
        }
    }
    (value, input)
}

/// Reads a block of as many wires as moves are padded to, of which some number stand at these places.
///
/// # Panics
/// If there is no such block.
#[inline(always)]
pub(super) fn read_block<L: Lanes>(
    wires: &Wires<L>,
    places: &Places<L>,
    block: usize,
) -> [L; MOVES_PADDED_TO] {
    let wires = wires.all();
    assert!(places.n_wires <= wires.len(), "the places are those of wires");
    let places = &places.places[block * MOVES_PADDED_TO..][..MOVES_PADDED_TO];
    let mut block = [L::NONE; MOVES_PADDED_TO];
    for (value, &place) in block.iter_mut().zip(places) {
        // SAFETY: it is the place of one of `n_wires` wires, of which there are enough.
        *value = unsafe { *at(wires.as_ptr().cast_mut(), place) };
    }
    block
}

/// What the random choices of each lane's rollout follow from: the words of its seed, low words first, the lower half
/// moved back by the choices that were made before it began (see [`Lot`]).
#[derive(Debug)]
pub(super) struct Keys {
    words: [Box<[u16]>; 4],
    /// The step with which it began.
    begun: Box<[u32]>,
}

/// When rollouts begin.
#[derive(Debug, Clone, Copy)]
pub(super) struct Begins {
    /// With this step.
    pub(super) step: u32,
    /// The number of their first choice, counted from step 0, times [`Lot::STRIDE`].
    pub(super) offset: u32,
}

impl Keys {
    pub(super) fn new(n_lanes: usize) -> Keys {
        Keys { words: std::array::from_fn(|_| vec![0; n_lanes].into()), begun: vec![0; n_lanes].into() }
    }

    /// The step with which the rollout of a lane began.
    #[inline(always)]
    pub(super) fn begun(&self, lane: usize) -> u32 {
        self.begun[lane]
    }

    /// Gives a lane to a rollout.
    #[inline(always)]
    pub(super) fn set(&mut self, lane: usize, seed: u64, begins: Begins) {
        let [low, high] = Lot::halves(seed);
        let [w0, w1] = Lot::words(low.wrapping_sub(begins.offset));
        let [w2, w3] = Lot::words(high);
        for (words, word) in self.words.iter_mut().zip([w0, w1, w2, w3]) {
            words[lane] = word;
        }
        self.begun[lane] = begins.step;
    }

    /// Gives lanes to the rollouts of a series, from the `first` on.
    #[inline(always)]
    pub(super) fn set_series<L: Lanes>(&mut self, lanes: L, seed: u64, first: u32, begins: Begins) {
        #[cfg(target_arch = "x86_64")]
        if L::LEVEL == Level::Avx512 {
            // SAFETY: such lanes are only used where the processor has the features.
            return unsafe { x86::set_series(self, lanes, seed, first, begins) };
        }
        let mut rollout = first;
        lanes.for_each(|lane| {
            self.set(lane, Lot::seed_in_series(seed, rollout), begins);
            rollout = rollout.wrapping_add(1);
        });
    }
}

/// Draws in each lane a number below the count of that lane, as [`Lot::below`] does; `offset` is the number of the
/// choice times [`Lot::STRIDE`]. Counts and numbers are in planes, numbers one less.
#[inline(always)]
pub(super) fn draw<L: Lanes>(counts: &[L], keys: &Keys, offset: u32, numbers: &mut [L]) {
    // Planes that no lane has need not be looked at.
    let n_planes = counts.iter().rposition(|plane| plane.any()).map_or(0, |last| last + 1);
    let (numbers, zeros) = numbers.split_at_mut(n_planes.min(numbers.len()));
    zeros.fill(L::NONE);
    let counts = &counts[..n_planes];
    #[cfg(target_arch = "x86_64")]
    if L::LEVEL == Level::Avx512 && n_planes <= 16 {
        // SAFETY: such lanes are only used where the processor has the features.
        return unsafe { x86::draw(counts, keys, offset, numbers) };
    }
    for word_idx in 0..L::WORDS {
        let mut of_lane = [0u32; 64];
        for (plane, count) in counts.iter().enumerate() {
            let word = count.word(word_idx);
            for (lane, of_lane) in of_lane.iter_mut().enumerate() {
                *of_lane |= u32::from(word >> lane & 1 == 1) << plane;
            }
        }
        let [w0, w1, w2, w3] = keys.words.each_ref().map(|words| &words[word_idx * 64..][..64]);
        let (mut low, mut high) = ([0u16; 64], [0u16; 64]);
        let [offset0, offset1] = Lot::words(offset);
        for lane in 0..64 {
            // Sums of halves, by words.
            let sum = w0[lane].wrapping_add(offset0);
            let carried = w1[lane].wrapping_add(offset1).wrapping_add(u16::from(sum < offset0));
            [low[lane], high[lane]] = Lot::mix([sum, carried, w2[lane], w3[lane]]);
        }
        for (lane, of_lane) in of_lane.iter_mut().enumerate() {
            let bits = u32::from(high[lane]) << 16 | u32::from(low[lane]);
            *of_lane = ((u64::from(bits) * u64::from(*of_lane)) >> 32) as u32;
        }
        for (plane, number) in numbers.iter_mut().enumerate() {
            let bits =
                of_lane.iter().rev().fold(0, |word, of_lane| word << 1 | u64::from(of_lane >> plane & 1));
            number.set_word(word_idx, bits);
        }
    }
}
