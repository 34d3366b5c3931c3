//! A position, in one cache line.

use crate::arena::{Overwrite, u32_of, usize_of};
use crate::count::Count;
use crate::orders::Orders;
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use crate::table::spread;

/// A node by its index in the arena; 0 names none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeId(pub(crate) u32);

impl NodeId {
    pub(crate) fn idx(self) -> usize {
        self.0 as usize
    }
}

/// How far a node is known. Moves forward only, except that a claim can be given back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Status {
    /// Only its state.
    Fresh = 0,
    /// Some thread asks the reasoner for its moves.
    Claimed = 1,
    /// Its edges are there.
    Open = 2,
    /// It ends the game, or a role is stuck there; its goals are there.
    Terminal = 3,
    /// It has more moves than a chunk has edges, and is never opened.
    Wide = 4,
    /// It lost the race to represent its state; nothing refers to it.
    Dead = 5,
}

/// The value of `mover` where several roles have a choice.
const SIMULTANEOUS: u32 = u32::MAX;

/// The low bits of a node's status word that tell how far it is known; those above count the turns that were taken.
const STATUS_BITS: u32 = 3;

/// The low bits of the word of a node's edges that are their number; those above are the salt of their turns.
const N_EDGES_BITS: u32 = 17;

/// How many value sums have their place in the node; those of more roles lie apart.
pub(crate) const INLINE_ROLES: usize = 2;

/// A state that playouts met, with their statistics. The state itself lies apart under the same index.
///
/// # Orderings
/// The fields that opening writes are `Relaxed` behind `status` ([`Orders::OPEN`], [`Orders::ENTER`]); turns are counted in it by
/// additions, which continue the release sequence. The
/// sums are `Relaxed` behind `count` (see [`Count`]). `bounds` is `Relaxed`: see [`Graph::tighten`](crate::graph::Graph::tighten).
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Node {
    // Statistics: change with every playout that comes by.
    /// Playouts through this node.
    pub(crate) count: Count,
    /// Those of them that ended here: rolled out from here, or the game was over.
    pub(crate) own: AtomicU64,
    /// Sums of values of the first roles over `count`'s visits.
    pub(crate) sums: [AtomicU64; INLINE_ROLES],
    /// What is proven of its values, as [`BoundsLayout`](crate::solver::BoundsLayout) has it; 0: nothing. It only tightens.
    pub(crate) bounds: AtomicU64,
    /// Playouts given up because the reasoner failed in this very state or a rollout from it, and those that
    /// took it for worthless because of that.
    pub(crate) failures: AtomicU32,
    // Moves forward only.
    /// See [`STATUS_BITS`].
    status: AtomicU32,
    // Fixed after opening.
    /// The role that has a choice, or [`SIMULTANEOUS`].
    mover: AtomicU32,
    first_edge: AtomicU32,
    /// See [`N_EDGES_BITS`].
    n_edges: AtomicU32,
    /// First word of the side record: the moves of the roles without choice, or where each role's edges end
    /// (simultaneous), or the goals (terminal).
    side: AtomicU32,
}

#[cfg(not(any(loom, shuttle)))]
const _: () = assert!(size_of::<Node>() == 64, "a node is one cache line");

/// What opening wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Opening {
    /// The role with a choice (or the first, where none has); none if several have.
    pub(crate) mover: Option<u32>,
    /// The first edge's id.
    pub(crate) first_edge: u32,
    /// The mover's moves, or the moves of all roles together.
    pub(crate) n_edges: u32,
    /// The first word of the side record; 0 if there is none.
    pub(crate) side: u32,
}

impl Overwrite for Node {
    fn overwrite(&self, other: &Node) {
        let Node { count, own, sums, bounds, failures, status, mover, first_edge, n_edges, side } = self;
        count.overwrite(&other.count);
        own.overwrite(&other.own);
        sums.iter().zip(&other.sums).for_each(|(sum, others)| sum.overwrite(others));
        bounds.overwrite(&other.bounds);
        failures.overwrite(&other.failures);
        status.overwrite(&other.status);
        mover.overwrite(&other.mover);
        first_edge.overwrite(&other.first_edge);
        n_edges.overwrite(&other.n_edges);
        side.overwrite(&other.side);
    }
}

fn low(word: u32, n_bits: u32) -> u32 {
    word & ((1 << n_bits) - 1)
}

/// What a permutation of the numbers below `n`, which the salt fixes, has in this place. All its steps can be undone within so many bits as
/// `n` takes; what comes out above is put in again, so that each number below comes out once.
fn turn_of(place: u32, n: u32, salt: u32) -> u32 {
    let n_bits = (u32::BITS - (n - 1).leading_zeros()).max(1);
    let key = spread(u64::from(salt)).to_le_bytes();
    let [a, b, c, d] = [0, 2, 4, 6].map(|at| u32::from(u16::from_le_bytes([key[at], key[at + 1]])));
    let mut turn = place;
    loop {
        turn = low(turn.wrapping_mul(a | 1).wrapping_add(b), n_bits);
        turn ^= turn >> n_bits.div_ceil(2);
        turn = low(turn.wrapping_mul(c | 1).wrapping_add(d), n_bits);
        turn ^= turn >> n_bits.div_ceil(2);
        if turn < n {
            return turn;
        }
    }
}

impl Node {
    /// How far it is known.
    pub(crate) fn status<O: Orders>(&self) -> Status {
        match low(self.status.load(O::ENTER), STATUS_BITS) {
            0 => Status::Fresh,
            1 => Status::Claimed,
            2 => Status::Open,
            3 => Status::Terminal,
            4 => Status::Wide,
            _ => Status::Dead,
        }
    }

    /// Takes the right to open the node. Only one thread at a time has it; nobody waits for it.
    pub(crate) fn claim(&self) -> bool {
        // Relaxed: the claim hands over nothing, the opening does.
        self.status
            .compare_exchange(
                Status::Fresh as u32,
                Status::Claimed as u32,
                Ordering::Relaxed,
                Ordering::Relaxed,
            )
            .is_ok()
    }

    /// Gives the claim back.
    pub(crate) fn unclaim(&self) {
        self.status.store(Status::Fresh as u32, Ordering::Relaxed);
    }

    /// Ends a claim by what was found. `salt` fixes in which order its moves have their [turns](Node::take_turn).
    pub(crate) fn open<O: Orders>(&self, opening: Opening, salt: u64) {
        debug_assert!(opening.n_edges >> N_EDGES_BITS == 0);
        self.mover.store(opening.mover.unwrap_or(SIMULTANEOUS), Ordering::Relaxed);
        self.first_edge.store(opening.first_edge, Ordering::Relaxed);
        let salt = u32_of(usize_of(salt >> 32)) << N_EDGES_BITS;
        self.n_edges.store(salt | opening.n_edges, Ordering::Relaxed);
        self.side.store(opening.side, Ordering::Relaxed);
        self.status.store(Status::Open as u32, O::OPEN);
    }

    /// Ends a claim: the game is over here, and the goals stand in the side record.
    pub(crate) fn close<O: Orders>(&self, side: u32) {
        self.side.store(side, Ordering::Relaxed);
        self.status.store(Status::Terminal as u32, O::OPEN);
    }

    /// Ends a claim: the moves are too many.
    pub(crate) fn leave_wide(&self) {
        self.status.store(Status::Wide as u32, Ordering::Relaxed);
    }

    /// Takes a node out that was never published.
    pub(crate) fn kill(&self) {
        self.status.store(Status::Dead as u32, Ordering::Relaxed);
    }

    /// The index of the move of an open node that is to be tried next: each has one turn, in an order that the node's salt fixes, so that
    /// nobody looks through all of them for one that is unexplored. None when all have had theirs.
    pub(crate) fn take_turn(&self) -> Option<usize> {
        let word = self.n_edges.load(Ordering::Relaxed);
        let (n_edges, salt) = (low(word, N_EDGES_BITS), word >> N_EDGES_BITS);
        let taken = |status: u32| status >> STATUS_BITS;
        if taken(self.status.load(Ordering::Relaxed)) >= n_edges {
            return None;
        }
        let n_taken = taken(self.status.fetch_add(1 << STATUS_BITS, Ordering::Relaxed));
        (n_taken < n_edges).then(|| turn_of(n_taken, n_edges, salt) as usize)
    }

    /// Its edges and its side record have moved; to be told while nobody else is there.
    pub(crate) fn move_runs(&self, first_edge: u32, side: u32) {
        self.first_edge.store(first_edge, Ordering::Relaxed);
        self.side.store(side, Ordering::Relaxed);
    }

    /// What opening wrote; meaningful once the status was seen to be open.
    pub(crate) fn opening(&self) -> Opening {
        let mover = self.mover.load(Ordering::Relaxed);
        Opening {
            mover: (mover != SIMULTANEOUS).then_some(mover),
            first_edge: self.first_edge.load(Ordering::Relaxed),
            n_edges: low(self.n_edges.load(Ordering::Relaxed), N_EDGES_BITS),
            side: self.side.load(Ordering::Relaxed),
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::orders::Sound;

    #[test]
    fn each_move_has_one_turn_in_an_order_of_the_nodes_own() {
        for n_edges in [1, 2, 7, 64, 1000, 1 << 16] {
            let order = |salt: u64| {
                let node = Node::default();
                assert!(node.claim());
                let opening = Opening { mover: Some(1), first_edge: 5, n_edges, side: 3 };
                node.open::<Sound>(opening, salt);
                let order: Vec<_> = std::iter::from_fn(|| node.take_turn()).collect();
                assert_eq!((node.take_turn(), node.status::<Sound>()), (None, Status::Open));
                assert_eq!(node.opening(), opening);
                order
            };
            let (one, other) = (order(0), order(3 << 32));
            let mut sorted = one.clone();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..n_edges as usize), "{n_edges} moves");
            assert!(n_edges < 7 || one != other);
        }
    }

    /// The orders of moves so many, by 2000 salts.
    fn orders(n: u32) -> Vec<Vec<u32>> {
        (0..2000).map(|salt| (0..n).map(|place| turn_of(place, n, salt)).collect()).collect()
    }

    #[test]
    fn turns_are_no_order_of_neighbours_and_none_is_always_among_the_first() {
        for n in [2, 3, 7, 16, 20, 60, 64, 240] {
            let orders = orders(n);
            let is_first = |it: u32| orders.iter().filter(|order| order[0] == it).count();
            let (least, most) = (0..n).map(is_first).fold((usize::MAX, 0), |(a, b), n| (a.min(n), b.max(n)));
            assert!(least > 0 && most < 10 + 3 * 2000 / n as usize, "{n} moves: {least} to {most} of 2000");
            let n_followers =
                |order: &Vec<u32>| order.windows(2).filter(|pair| pair[1] == pair[0] + 1).count();
            // One in an order by chance, all in a rotation.
            assert!(orders.iter().map(n_followers).sum::<usize>() < 2000 * 5 / 4, "{n} moves");
            let distinct: std::collections::BTreeSet<_> = orders.iter().collect();
            assert!(n < 7 || distinct.len() > 40 * n as usize || distinct.len() > 1800, "{n} moves");
        }
    }
}
