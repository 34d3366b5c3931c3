//! Counting the game tree to a depth, the classic check of a move generator.

use rustc_hash::FxHashMap;

use crate::{Expansion, Interrupt, Move, ReasonerError, Session};

/// Counts of the game tree, index 0 for depth 1.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Perft {
    /// Leaves of the tree cut at this depth: states there, and terminal states above, once for each
    /// sequence of joint moves that leads to them. Saturates.
    pub leaves: Vec<u64>,
    /// Different states reached by sequences of exactly this many joint moves.
    pub distinct: Vec<u64>,
    /// How many of those are terminal.
    pub distinct_terminal: Vec<u64>,
}

/// Counts level by level over different states with the number of paths to each, so that leaves can be many
/// more than states. Ends early when no state is left that is not terminal. `progress` is called with each
/// depth that is done.
///
/// # Errors
/// As every question of a session, and [`ReasonerError::Interrupted`]; a role without a move in a state that is not terminal
/// has no successors.
pub fn perft<S: Session>(
    session: &mut S,
    root: &S::State,
    depth: u32,
    interrupt: &Interrupt,
    mut progress: impl FnMut(u32, &Perft),
) -> Result<Perft, ReasonerError> {
    // Sessions answer what is quickly answered without a look at it.
    let check = || if interrupt.is_raised() { Err(ReasonerError::Interrupted) } else { Ok(()) };
    let mut counts = Perft::default();
    let mut expansion = Expansion::default();
    // Every state of the level with the number of paths to it, whether terminal or not, in order of discovery.
    let mut level = vec![(root.clone(), 1u64)];
    // Leaves at terminal states above the level.
    let mut n_ended = 0u64;
    for depth_idx in 1..=depth {
        let mut next: Vec<(S::State, u64)> = Vec::new();
        let mut index: FxHashMap<S::State, usize> = FxHashMap::default();
        for (state, n_paths) in &level {
            check()?;
            match session.expand(state, &mut expansion) {
                Ok(()) if expansion.terminal => {
                    n_ended = n_ended.saturating_add(*n_paths);
                    continue;
                }
                Ok(()) => {}
                Err(ReasonerError::NotPlayable { .. }) => continue,
                Err(error) => return Err(error),
            }
            for_each_joint_move(&expansion, |joint_move| {
                check()?;
                let successor = session.next_state(state, joint_move)?;
                let slot = *index.entry(successor).or_insert_with_key(|successor| {
                    next.push((successor.clone(), 0));
                    next.len() - 1
                });
                next[slot].1 = next[slot].1.saturating_add(*n_paths);
                Ok(())
            })?;
        }
        if next.is_empty() {
            break;
        }
        let mut n_terminal = 0;
        for (state, _) in &next {
            check()?;
            n_terminal += u64::from(session.is_terminal(state)?);
        }
        let n_paths = next.iter().fold(0u64, |sum, (_, n)| sum.saturating_add(*n));
        counts.leaves.push(n_ended.saturating_add(n_paths));
        counts.distinct.push(next.len() as u64);
        counts.distinct_terminal.push(n_terminal);
        progress(depth_idx, &counts);
        level = next;
    }
    Ok(counts)
}

/// Calls `visit` for every joint move of an expansion, the last role's choice changing fastest.
///
/// # Errors
/// The first error of `visit`.
pub fn for_each_joint_move(
    expansion: &Expansion,
    mut visit: impl FnMut(&[Move]) -> Result<(), ReasonerError>,
) -> Result<(), ReasonerError> {
    let n_roles = expansion.ends.len();
    let roles: Vec<&[Move]> = crate::Role::all(n_roles).map(|role| expansion.moves_of(role)).collect();
    if roles.is_empty() || roles.iter().any(|moves| moves.is_empty()) {
        return Ok(());
    }
    let mut choice = vec![0; n_roles];
    let mut joint_move: Vec<Move> = roles.iter().map(|moves| moves[0]).collect();
    loop {
        visit(&joint_move)?;
        // Count up in mixed radix.
        let mut role_idx = n_roles;
        loop {
            if role_idx == 0 {
                return Ok(());
            }
            role_idx -= 1;
            choice[role_idx] += 1;
            if choice[role_idx] < roles[role_idx].len() {
                joint_move[role_idx] = roles[role_idx][choice[role_idx]];
                break;
            }
            choice[role_idx] = 0;
            joint_move[role_idx] = roles[role_idx][0];
        }
    }
}
