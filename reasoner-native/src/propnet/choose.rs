//! The uniform choice of a legal move in every lane, without leaving the lanes.
//!
//! Legal moves are counted in blocks of eight by full adders, and the counts of blocks are added pairwise up a tree,
//! in binary planes. In each lane a uniform number below the count is drawn, and found again by descending the tree:
//! at each inner node a lane-wise subtraction tells whether it falls left, or what is left of it on the right. At the
//! bottom exactly one move is selected in each lane that has one: these are the wires of what is done.

use super::circuit::{Circuit, MOVES_PADDED_TO, Tap};
use super::evaluate::Wires;
use super::kernel::{self, Keys, Places};
use super::lanes::Lanes;

/// Planes of a block's count: 0 to 8.
const BLOCK_PLANES: usize = 4;

/// The counts of one role's legal moves.
#[derive(Debug)]
pub(super) struct Chooser<L> {
    pub(super) role: usize,
    /// By move, padded with what is never legal: the wire that tells. For moves that are legal where another wire is not,
    /// it is their own, which is free until one is chosen.
    legal: Places<L>,
    /// The wires of those moves, and what they are set to.
    negated: Vec<(usize, Tap)>,
    /// The wire of the first move.
    first_wire: usize,
    levels: Vec<Level>,
    /// Counts, level by level, node by node, low planes first.
    counts: Vec<L>,
    /// What is left of the number drawn; by node as `counts`, with a plane less.
    numbers: Vec<L>,
    /// Whether the move is below a node.
    selected: Vec<L>,
}

/// The nodes of the tree at one height; blocks are at height 0.
#[derive(Debug, Clone, Copy)]
struct Level {
    n_nodes: usize,
    /// Planes of a count; a number below it has one less.
    n_planes: usize,
    first_count: usize,
    first_number: usize,
    first_selected: usize,
}

impl<L: Lanes> Chooser<L> {
    /// Those of all roles that have a choice, or may have no move.
    pub(super) fn all_of(circuit: &Circuit) -> Vec<Chooser<L>> {
        let has_one_move = |role: usize| matches!(circuit.legal[role][..], [only] if only == Tap::TRUE);
        let roles = (0..circuit.legal.len()).filter(|&role| !has_one_move(role));
        roles.map(|role| Chooser::new(circuit, role)).collect()
    }

    fn new(circuit: &Circuit, role: usize) -> Chooser<L> {
        let taps = &circuit.legal[role];
        let first_wire = circuit.first_moves[role];
        let n_blocks = taps.len().div_ceil(MOVES_PADDED_TO);
        let own = (first_wire..).zip(taps);
        let wires = own.clone().map(|(own, tap)| if tap.is_negated() { own } else { tap.wire() });
        let never = std::iter::repeat(Tap::FALSE.wire());
        let legal = Places::of(wires.chain(never).take(n_blocks * MOVES_PADDED_TO), circuit.n_wires);
        let negated = own.filter(|(_, tap)| tap.is_negated()).map(|(own, &tap)| (own, tap));
        let mut levels: Vec<Level> = Vec::new();
        let (mut n_counts, mut n_numbers, mut n_selected) = (0, 0, 0);
        let (mut n_nodes, mut n_planes) = (n_blocks, BLOCK_PLANES);
        while n_nodes > 0 {
            levels.push(Level {
                n_nodes,
                n_planes,
                first_count: n_counts,
                first_number: n_numbers,
                first_selected: n_selected,
            });
            n_counts += n_nodes * n_planes;
            n_numbers += n_nodes * (n_planes - 1);
            n_selected += n_nodes;
            n_nodes = if n_nodes == 1 { 0 } else { n_nodes.div_ceil(2) };
            n_planes += 1;
        }
        Chooser {
            role,
            first_wire,
            counts: vec![L::NONE; n_counts],
            numbers: vec![L::NONE; n_numbers],
            selected: vec![L::NONE; n_selected],
            levels,
            negated: negated.collect(),
            legal,
        }
    }

    /// Counts the legal moves; the lanes with at least one.
    #[inline(always)]
    pub(super) fn count(&mut self, wires: &mut Wires<L>) -> L {
        for &(own, tap) in &self.negated {
            wires.all_mut()[own] = wires.tap(tap);
        }
        let Some(&blocks) = self.levels.first() else { return L::NONE };
        let counts = self.counts.chunks_exact_mut(BLOCK_PLANES).take(blocks.n_nodes);
        for (block, count) in counts.enumerate() {
            count_block(kernel::read_block(wires, &self.legal, block), count);
        }
        for height in 1..self.levels.len() {
            let (below, level) = (self.levels[height - 1], self.levels[height]);
            let (lower, upper) = self.counts.split_at_mut(level.first_count);
            let lower = &lower[below.first_count..];
            let pairs = lower.chunks(2 * below.n_planes);
            for (count, pair) in upper.chunks_exact_mut(level.n_planes).zip(pairs) {
                add(pair, count);
            }
        }
        let Some(top) = self.levels.last() else { return L::NONE };
        self.counts[top.first_count..].iter().fold(L::NONE, |any, &plane| any.or(plane))
    }

    /// Draws, and sets the wires of the moves: in every lane with a legal move, exactly one.
    #[inline(always)]
    pub(super) fn choose(&mut self, wires: &mut Wires<L>, keys: &Keys, offset: u32) {
        let Some(&top) = self.levels.last() else { return };
        let counts = &self.counts[top.first_count..];
        let has_choice = counts[1..].iter().fold(L::NONE, |any, &plane| any.or(plane)).any();
        if !has_choice {
            // Every lane has its one legal move, if any.
            for block in 0..self.levels[0].n_nodes {
                *self.done(wires, block) = kernel::read_block(wires, &self.legal, block);
            }
            return;
        }
        kernel::draw(counts, keys, offset, &mut self.numbers[top.first_number..]);
        self.selected[top.first_selected] = L::ALL;
        for height in (1..self.levels.len()).rev() {
            self.descend(self.levels[height], self.levels[height - 1]);
        }
        let numbers = self.numbers.chunks_exact(BLOCK_PLANES - 1);
        for (block, (&selected, number)) in
            self.selected[..self.levels[0].n_nodes].iter().zip(numbers).enumerate()
        {
            let done = match selected.any() {
                true => select_in_block(selected, number, kernel::read_block(wires, &self.legal, block)),
                false => [L::NONE; MOVES_PADDED_TO],
            };
            *self.done(wires, block) = done;
        }
    }

    /// The wires of the moves of a block.
    #[inline(always)]
    fn done<'a>(&self, wires: &'a mut Wires<L>, block: usize) -> &'a mut [L; MOVES_PADDED_TO] {
        let first = self.first_wire + block * MOVES_PADDED_TO;
        let moves = wires.all_mut()[first..].first_chunk_mut();
        moves.expect("the wires of moves are padded")
    }

    /// From the nodes of one height to those below.
    #[inline(always)]
    fn descend(&mut self, level: Level, below: Level) {
        let n_planes = below.n_planes;
        let (lower, upper) = self.numbers.split_at_mut(level.first_number);
        let lower = &mut lower[below.first_number..];
        let counts = &self.counts[below.first_count..];
        for node in 0..level.n_nodes {
            let selected = self.selected[level.first_selected + node];
            let number = &upper[node * n_planes..][..n_planes];
            let left = 2 * node;
            let has_right = left + 1 < below.n_nodes;
            if !selected.any() {
                let n_children = 1 + usize::from(has_right);
                self.selected[below.first_selected + left..][..n_children].fill(L::NONE);
                continue;
            }
            let children = &mut lower[left * (n_planes - 1)..];
            children[..n_planes - 1].copy_from_slice(&number[..n_planes - 1]);
            if !has_right {
                self.selected[below.first_selected + left] = selected;
                continue;
            }
            let count = &counts[left * n_planes..][..n_planes];
            let mut borrowed = L::NONE;
            for plane in 0..n_planes {
                if plane + 1 < n_planes {
                    children[n_planes - 1 + plane] = L::sum(number[plane], count[plane], borrowed);
                }
                borrowed = L::borrow(number[plane], count[plane], borrowed);
            }
            self.selected[below.first_selected + left] = selected.and(borrowed);
            self.selected[below.first_selected + left + 1] = selected.and_not(borrowed);
        }
    }
}

/// Counts eight bits.
#[inline(always)]
fn count_block<L: Lanes>([a, b, c, d, e, f, g, h]: [L; MOVES_PADDED_TO], count: &mut [L]) {
    let (s0, c0) = (L::sum(a, b, c), L::carry(a, b, c));
    let (s1, c1) = (L::sum(d, e, f), L::carry(d, e, f));
    let (s2, c2) = (L::sum(s0, s1, g), L::carry(s0, s1, g));
    let (ones, c3) = (s2.xor(h), s2.and(h));
    let (t0, f0) = (L::sum(c0, c1, c2), L::carry(c0, c1, c2));
    let (twos, f1) = (t0.xor(c3), t0.and(c3));
    count.copy_from_slice(&[ones, twos, f0.xor(f1), f0.and(f1)]);
}

/// Adds a pair of counts, or takes the only one.
#[inline(always)]
fn add<L: Lanes>(pair: &[L], count: &mut [L]) {
    let n_planes = count.len() - 1;
    let mut carried = L::NONE;
    if pair.len() == n_planes {
        count[..n_planes].copy_from_slice(pair);
    } else {
        let (left, right) = pair.split_at(n_planes);
        for plane in 0..n_planes {
            count[plane] = L::sum(left[plane], right[plane], carried);
            carried = L::carry(left[plane], right[plane], carried);
        }
    }
    count[n_planes] = carried;
}

/// Selects the move of a block whose number is drawn.
#[inline(always)]
fn select_in_block<L: Lanes>(
    selected: L,
    number: &[L],
    [a, b, c, d, e, f, g, _]: [L; MOVES_PADDED_TO],
) -> [L; MOVES_PADDED_TO] {
    let &[n0, n1, n2] = number else { unreachable!("a number below 8 has three bits") };
    // How many of the first four there are, and whether the number is below that.
    let (s, c0) = (L::sum(a, b, c), L::carry(a, b, c));
    let (q0, c1) = (s.xor(d), s.and(d));
    let (q1, q2) = (c0.xor(c1), c0.and(c1));
    let b0 = q0.and_not(n0);
    let b1 = L::borrow(n1, q1, b0);
    let is_left = L::borrow(n2, q2, b1);
    let [a, b, c, d] = select_in_four(selected.and(is_left), n0, n1, [a, b, c]);
    let rest = L::sum(n1, q1, b0);
    let [e, f, g, h] = select_in_four(selected.and_not(is_left), n0.xor(q0), rest, [e, f, g]);
    [a, b, c, d, e, f, g, h]
}

/// Selects one of four moves, of which the last need not be known.
#[inline(always)]
fn select_in_four<L: Lanes>(selected: L, n0: L, n1: L, [a, b, c]: [L; 3]) -> [L; 4] {
    let (p0, p1) = (a.xor(b), a.and(b));
    let b0 = p0.and_not(n0);
    let rest = n0.xor(p0);
    let is_left = L::borrow(n1, p1, b0);
    let (left, right) = (selected.and(is_left), selected.and_not(is_left));
    let first = left.and(a).and_not(n0);
    let third = right.and(c).and_not(rest);
    [first, left.and_not(first), third, right.and_not(third)]
}

#[cfg(test)]
mod tests {
    use std::marker::PhantomData;

    use reasoner::{Dice, Lot};

    use super::super::kernel::{Begins, Task};
    use super::super::lanes::{Lanes64, Lanes256, Pair};
    use super::*;

    const SEED: u64 = 0x1234_5678_9abc_def0;
    const CHOICE: u32 = 77;

    /// Draws in each lane a number below its count, which is 2 to the `n_bits` at most.
    struct Drawing<'a, L> {
        counts: &'a [u32],
        n_bits: usize,
        lanes: PhantomData<L>,
    }

    impl<L: Lanes> Task for Drawing<'_, L> {
        type Lanes = L;
        type Output = Vec<u32>;

        fn run(self) -> Vec<u32> {
            let mut keys = Keys::new(L::N);
            let mut planes = vec![L::NONE; self.n_bits + 1];
            let mut numbers = vec![L::ALL; self.n_bits];
            for (lane, count) in self.counts.iter().enumerate() {
                keys.set(lane, SEED + lane as u64, Begins { step: 0, offset: 0 });
                for (plane, lanes) in planes.iter_mut().enumerate() {
                    lanes.set(lane, count >> plane & 1 == 1);
                }
            }
            kernel::draw(&planes, &keys, CHOICE.wrapping_mul(Lot::STRIDE), &mut numbers);
            let bit = |lane: usize, plane: usize| numbers[plane].word(lane / 64) >> (lane % 64) & 1;
            let number = |lane| (0..self.n_bits).map(|plane| bit(lane, plane) << plane).sum::<u64>();
            (0..L::N).map(|lane| u32::try_from(number(lane)).unwrap()).collect()
        }
    }

    fn demand_lots<L: Lanes>() {
        let mut dice = Dice::new(3);
        for n_bits in [3, 4, 5, 6, 7, 8, 12, 15, 16, 17, 20, 30] {
            for most in [1, 2, 1 << (n_bits - 1), (1 << n_bits) - 1, 1 << n_bits] {
                let mut counts: Vec<u32> =
                    (0..L::N).map(|_| u32::try_from(dice.below(most + 1)).unwrap()).collect();
                counts[5] = u32::try_from(most).unwrap();
                let expected = counts.iter().enumerate().map(|(lane, &count)| match count {
                    0 => 0,
                    _ => u32::try_from(Lot::new(SEED + lane as u64, CHOICE).below(count as usize)).unwrap(),
                });
                let drawn = kernel::with(Drawing::<L> { counts: &counts, n_bits, lanes: PhantomData });
                assert!(drawn.into_iter().eq(expected), "{n_bits} bits, at most {most}");
            }
        }
    }

    #[test]
    fn numbers_drawn_in_lanes_are_those_of_the_lots_however_many_moves_there_are() {
        demand_lots::<Lanes64>();
        demand_lots::<Lanes256>();
        demand_lots::<Pair<Lanes64>>();
        #[cfg(target_arch = "x86_64")]
        {
            use super::super::kernel::{Level, X256, X512};
            if Level::detect() >= Level::Avx2 {
                demand_lots::<X256>();
            }
            if Level::detect() >= Level::Avx512 {
                demand_lots::<X512>();
                demand_lots::<Pair<X512>>();
            }
        }
    }
}
