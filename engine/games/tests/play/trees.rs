//! How many positions and games there are, by depth.

use reasoner::perft::{Perft, perft};
use reasoner::{Interrupt, ReasonerError, Session};

use crate::session;

fn counts(name: &str, depth: u32) -> Perft {
    let mut session = session(name);
    let root = session.initial_state().unwrap();
    perft(&mut session, &root, depth, &Interrupt::new(), |_, _| {}).unwrap()
}

#[test]
fn counting_ends_when_it_is_interrupted() {
    let mut session = session("tic-tac-toe");
    let root = session.initial_state().unwrap();
    let (interrupt, mut n_told) = (Interrupt::new(), 0);
    let counted = perft(&mut session, &root, 9, &interrupt, |_, _| {
        n_told += 1;
        interrupt.raise();
    });
    assert_eq!((counted, n_told), (Err(ReasonerError::Interrupted), 1));
}

/// Known counts: tic-tac-toe has 255,168 games and 5,478 positions; connect four's positions by number of
/// discs are those of J. Tromp (John's Connect Four Playground); the others are counted by hand.
#[test]
fn trees_have_the_known_sizes() {
    let tic_tac_toe = counts("tic-tac-toe", 9);
    assert_eq!(tic_tac_toe.leaves, [9, 72, 504, 3024, 15120, 56160, 154_944, 255_168, 255_168]);
    assert_eq!(tic_tac_toe.distinct, [9, 72, 252, 756, 1260, 1520, 1140, 390, 78]);
    let connect_four = counts("connect-four", 7);
    assert_eq!(connect_four.leaves, [7, 49, 343, 2401, 16807, 117_649, 823_536]);
    assert_eq!(connect_four.distinct, [7, 49, 238, 1120, 4263, 16422, 54859]);
    assert_eq!(counts("breakthrough", 2).leaves, [22, 484]);
    // Any lamp at any time; the order of presses does not count, and a lamp pressed twice is not pressed.
    let lights_out = counts("lights-out", 2);
    assert_eq!(lights_out.leaves, [25, 625]);
    assert_eq!(lights_out.distinct, [25, 25 * 24 / 2 + 1]);
    assert_eq!(counts("nim", 1).leaves, [3 + 4 + 5]);
    // The smallest disc to two pegs; then it again, to two pegs, or the second to the one left.
    assert_eq!(counts("hanoi", 2).leaves, [2, 6]);
    assert_eq!(counts("hex-5x5", 3).leaves, [25, 600, 13800]);
    assert_eq!(counts("three-in-a-row-three", 3).leaves, [16, 240, 3360]);
    assert_eq!(counts("rock-paper-scissors", 9).leaves, [9, 81, 729]);
    assert_eq!(counts("rock-paper-scissors", 1).distinct, [3]);
    assert_eq!(counts("goofspiel-small", 9).leaves, [25, 400, 3600, 14400, 14400]);
    let left_right = counts("left-right", 20);
    assert_eq!(left_right.leaves.last(), Some(&(1 << 20)));
    assert_eq!(left_right.distinct.last(), Some(&21));
}

/// Leaves of the tree of a puzzle written down in Rust, cut at a depth.
fn leaves<S>(state: &S, depth: u32, successors: &impl Fn(&S) -> Vec<S>) -> u64 {
    let next = successors(state);
    if depth == 0 || next.is_empty() {
        return 1;
    }
    next.iter().map(|state| leaves(state, depth - 1, successors)).sum()
}

#[test]
fn trees_agree_with_the_same_games_in_rust() {
    let nim = |heaps: &[u32; 3]| -> Vec<[u32; 3]> {
        let take = |heap: usize, n: u32| {
            let mut heaps = *heaps;
            heaps[heap] -= n;
            heaps
        };
        (0..3).flat_map(|heap| (1..=heaps[heap]).map(move |n| take(heap, n))).collect()
    };
    let knight = |(seen, col, row): &(u32, i32, i32)| -> Vec<(u32, i32, i32)> {
        let jumps = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)];
        let to = jumps.iter().map(|(dc, dr)| (col + dc, row + dr));
        to.filter(|(c, r)| (0..5).contains(c) && (0..5).contains(r) && seen >> (c + 5 * r) & 1 == 0)
            .map(|(c, r)| (seen | 1 << (c + 5 * r), c, r))
            .collect()
    };
    let hanoi = |pegs: &[usize; 5]| -> Vec<[usize; 5]> {
        let mut next = Vec::new();
        for disc in 0..5 {
            for peg in 0..3 {
                let free = |at: usize| pegs[..disc].iter().all(|&smaller| smaller != at);
                if peg != pegs[disc] && free(peg) && free(pegs[disc]) {
                    let mut pegs = *pegs;
                    pegs[disc] = peg;
                    next.push(pegs);
                }
            }
        }
        next
    };
    let last = |name: &str, depth| counts(name, depth).leaves.last().copied().unwrap();
    assert_eq!(last("nim", 12), leaves(&[3, 4, 5], 12, &nim));
    assert_eq!(last("knights-tour", 10), leaves(&(1, 0, 0), 10, &knight));
    assert_eq!(last("hanoi", 8), leaves(&[0; 5], 8, &hanoi));
}
