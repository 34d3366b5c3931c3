//! Games that are written down, with their ends.

use gdl::Term;
use reasoner::{Expansion, GoalAnswer, Role, Session};

use crate::session;

/// Plays the moves, one text per role in each joint move, and returns the goals if the game ends there.
fn play(name: &str, joint_moves: &[&[&str]]) -> Option<Vec<GoalAnswer>> {
    let mut session = session(name);
    let mut state = session.initial_state().unwrap();
    let mut expansion = Expansion::default();
    for texts in joint_moves {
        session.expand(&state, &mut expansion).unwrap();
        assert!(!expansion.terminal, "{name} ends before {texts:?}");
        let mut joint_move = Vec::new();
        for (role_idx, text) in texts.iter().enumerate() {
            let a_move = session.move_of(&Term::parse(text).unwrap()).unwrap();
            let role = Role::all(texts.len()).nth(role_idx).unwrap();
            assert!(expansion.moves_of(role).contains(&a_move), "{name}: {text} is not legal");
            joint_move.push(a_move);
        }
        state = session.next_state(&state, &joint_move).unwrap();
    }
    session.expand(&state, &mut expansion).unwrap();
    expansion.terminal.then(|| expansion.goals.clone())
}

#[test]
fn scripted_games_end_as_they_should() {
    use GoalAnswer::One;
    let win = play(
        "tic-tac-toe",
        &[
            &["(fill e)", "wait"],
            &["wait", "(fill a)"],
            &["(fill c)", "wait"],
            &["wait", "(fill b)"],
            &["(fill g)", "wait"],
        ],
    );
    assert_eq!(win, Some(vec![One(100), One(0)]));
    assert_eq!(play("tic-tac-toe", &[&["(fill e)", "wait"]]), None);
    let lights: &[&[&str]] = &[&["(press 1 1)"], &["(press 3 2)"], &["(press 3 3)"], &["(press 4 5)"]];
    assert_eq!(play("lights-out", lights), Some(vec![One(100)]));
    let bids: &[&[&str]] = &[
        &["(bid 4)", "(bid 3)"],
        &["(bid 5)", "(bid 4)"],
        &["(bid 1)", "(bid 1)"],
        &["(bid 3)", "(bid 5)"],
        &["(bid 2)", "(bid 2)"],
    ];
    assert_eq!(play("goofspiel-small", bids), Some(vec![One(100), One(0)]));
}

/// The moves of discs 0 to `disc` from one peg to another.
fn hanoi_moves(
    disc: usize,
    from: &'static str,
    to: &'static str,
    via: &'static str,
    moves: &mut Vec<String>,
) {
    if disc == 0 {
        return;
    }
    hanoi_moves(disc - 1, from, via, to, moves);
    moves.push(format!("(move {disc} {to})"));
    hanoi_moves(disc - 1, via, to, from, moves);
}

#[test]
fn hanoi_is_solved_in_31_moves() {
    let mut moves = Vec::new();
    hanoi_moves(5, "left", "right", "middle", &mut moves);
    let joint_moves: Vec<[&str; 1]> = moves.iter().map(|text| [text.as_str()]).collect();
    let joint_moves: Vec<&[&str]> = joint_moves.iter().map(|joint_move| &joint_move[..]).collect();
    assert_eq!(joint_moves.len(), 31);
    assert_eq!(play("hanoi", &joint_moves), Some(vec![GoalAnswer::One(100)]));
}

/// A solution of the length that the rulesheet calls the shortest; it was found by a search in breadth.
#[test]
fn eight_puzzle_is_solved_in_18_moves() {
    let tiles = [7, 5, 1, 8, 5, 7, 6, 5, 8, 1, 7, 8, 4, 2, 1, 4, 5, 6];
    let moves: Vec<String> = tiles.iter().map(|tile| format!("(slide {tile})")).collect();
    let joint_moves: Vec<[&str; 1]> = moves.iter().map(|text| [text.as_str()]).collect();
    let joint_moves: Vec<&[&str]> = joint_moves.iter().map(|joint_move| &joint_move[..]).collect();
    assert_eq!(play("eight-puzzle", &joint_moves), Some(vec![GoalAnswer::One(100)]));
    assert_eq!(play("eight-puzzle", &joint_moves[..17]), None);
}
