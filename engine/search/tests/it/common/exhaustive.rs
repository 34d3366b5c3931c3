//! Values by looking at everything, with no graph, no bounds and no playouts.

use std::collections::HashMap;

use super::Game;

/// Where the values of a state lie, role by role: the least and the most of each.
pub type Values = Vec<(u32, u32)>;

/// The values of a state if every role takes its best. Where one role chooses, of moves equally good for it the others must
/// fear the one that is worst for them. Where several do, each has what it can force whatever the others do, and at most
/// what any joint move gives, or what the other cannot take away if every joint move shares out the same sum.
pub fn values<G: Game>(game: &G, state: &G::State, known: &mut HashMap<G::State, Values>) -> Values {
    if let Some(values) = known.get(state) {
        return values.clone();
    }
    let n_roles = game.n_roles();
    let found = if game.is_terminal(state) {
        (0..n_roles).map(|role| (game.goal(state, role), game.goal(state, role))).collect()
    } else {
        let moves: Vec<Vec<u32>> = (0..n_roles)
            .map(|role| {
                let mut moves = Vec::new();
                game.legal(state, role, &mut moves);
                moves
            })
            .collect();
        let joint_moves = product(&moves);
        let below: Vec<(Vec<u32>, Values)> = joint_moves
            .into_iter()
            .map(|joint_move| {
                let next = game.next(state, &joint_move);
                let values = values(game, &next, known);
                (joint_move, values)
            })
            .collect();
        let choosing: Vec<usize> = (0..n_roles).filter(|&role| moves[role].len() > 1).collect();
        match choosing[..] {
            [] => below[0].1.clone(),
            [mover] => of_one(mover, n_roles, &below),
            _ => of_several(n_roles, &moves, &below),
        }
    };
    known.insert(state.clone(), found.clone());
    found
}

fn product(moves: &[Vec<u32>]) -> Vec<Vec<u32>> {
    moves.iter().fold(vec![Vec::new()], |before, own| {
        before.iter().flat_map(|head| own.iter().map(|&it| [&head[..], &[it]].concat())).collect()
    })
}

fn of_one(mover: usize, n_roles: usize, below: &[(Vec<u32>, Values)]) -> Values {
    let best = below.iter().map(|(_, values)| values[mover].0).max().expect("a move");
    let most = below.iter().map(|(_, values)| values[mover].1).max().expect("a move");
    let may_be_chosen: Vec<_> = below.iter().filter(|(_, values)| values[mover].1 >= best).collect();
    let of_role = |role: usize| {
        let least = may_be_chosen.iter().map(|(_, values)| values[role].0).min().expect("a move");
        let as_good_as_any = below.iter().filter(|(_, values)| values[mover].0 >= most);
        let fear = as_good_as_any.map(|(_, values)| values[role].1).min();
        let hope = may_be_chosen.iter().map(|(_, values)| values[role].1).max().expect("a move");
        (least, fear.unwrap_or(hope))
    };
    (0..n_roles).map(|role| if role == mover { (best, most) } else { of_role(role) }).collect()
}

fn of_several(n_roles: usize, moves: &[Vec<u32>], below: &[(Vec<u32>, Values)]) -> Values {
    let maximin = |role: usize| {
        let forced = |own: &u32| {
            let with_it = below.iter().filter(|(joint_move, _)| joint_move[role] == *own);
            with_it.map(|(_, values)| values[role].0).min().expect("a joint move")
        };
        moves[role].iter().map(forced).max().expect("a move")
    };
    let sums: Vec<u32> = below.iter().map(|(_, values)| values.iter().map(|it| it.0).sum()).collect();
    let is_known = below.iter().all(|(_, values)| values.iter().all(|(lo, hi)| lo == hi));
    let is_shared_out = n_roles == 2 && is_known && sums.iter().all(|&sum| sum == sums[0]);
    (0..n_roles)
        .map(|role| match is_shared_out {
            true => (maximin(role), sums[0] - maximin(1 - role)),
            false => {
                (maximin(role), below.iter().map(|(_, values)| values[role].1).max().expect("a joint move"))
            }
        })
        .collect()
}
