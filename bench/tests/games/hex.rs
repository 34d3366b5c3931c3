//! Hex agrees with an obviously right implementation and with a rulesheet, and has one winner.

use std::collections::HashSet;
use std::sync::Arc;

use bench::games::Hex;
use gdl::{Description, ReadOptions, Rules, Term};
use proptest::prelude::*;
use reasoner::{Dice, Interrupt, Limits, Reasoner, Role, Session, Uniform};
use reasoner_native::Interpreter;

use crate::common::{
    demand_same_distribution, final_goals, legal_names, move_named, perft_of, play, random_states, session,
    state_of,
};
use crate::naive_hex::NaiveHex;

/// Leaves of the tree cut at a depth: ways to boards there, and to won ones before.
fn leaves(board: &NaiveHex, role: usize, depth: u32) -> u64 {
    if depth == 0 || board.winner().is_some() {
        return 1;
    }
    board.successors(role).iter().map(|next| leaves(next, 1 - role, depth - 1)).sum()
}

#[test]
fn small_boards_have_the_trees_of_a_search_over_all_boards() {
    for size in [2, 3] {
        let counts = perft_of(Hex::new(size), 100);
        let root = NaiveHex::new(i32::from(size));
        let mut level = HashSet::from([root.clone()]);
        for depth in 1..=counts.leaves.len() {
            let role = (depth - 1) % 2;
            let going_on = level.iter().filter(|board| board.winner().is_none());
            level = going_on.flat_map(|board| board.successors(role)).collect();
            let n_won = level.iter().filter(|board| board.winner().is_some()).count();
            assert_eq!(
                counts.leaves[depth - 1],
                leaves(&root, 0, depth as u32),
                "size {size}, depth {depth}"
            );
            assert_eq!(counts.distinct[depth - 1], level.len() as u64);
            assert_eq!(counts.distinct_terminal[depth - 1], n_won as u64);
        }
        assert!(level.iter().all(|board| board.winner().is_some()), "there is no level after the last one");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_full_board_has_exactly_one_winner(size in 2u16..=19, seed: u64) {
        let mut dice = Dice::new(seed);
        let mut board = NaiveHex::new(i32::from(size));
        board.cells.iter_mut().for_each(|cell| *cell = Some(dice.below(2)));
        let won = [0, 1].map(|role| board.has_joined(role));
        prop_assert!(won[0] != won[1]);
        let letters = ('a'..='s').take(usize::from(size));
        let points = (1..=size).flat_map(|row| letters.clone().map(move |letter| format!("{letter}{row}")));
        let mut fluents: Vec<String> = points
            .zip(&board.cells)
            .map(|(point, cell)| format!("({} {point})", ["black", "white"][cell.unwrap()]))
            .collect();
        fluents.push("(control black)".to_owned());
        let mut session = session(Hex::new(size));
        let state = state_of(&mut session, &fluents).unwrap();
        prop_assert_eq!(final_goals(&mut session, &state), won.map(|won| if won { 100 } else { 0 }));
    }
}

#[test]
fn random_games_are_won_when_the_winner_has_joined_its_sides_and_not_before() {
    for size in [2u16, 3, 5, 8, 11] {
        let mut session = session(Hex::new(size));
        for seed in 0..30 {
            for state in random_states(&mut session, seed) {
                let mut board = NaiveHex::new(i32::from(size));
                let mut fluents = Vec::new();
                session.fluents(&state, &mut fluents);
                for fluent in fluents {
                    let term = session.fluent_term(fluent);
                    let role = ["black", "white"].into_iter().position(|colour| colour == term.name());
                    let Some(role) = role else { continue };
                    let (letter, row) = term.args()[0].name().split_at(1);
                    let column = u16::from(letter.as_bytes()[0] - b'a');
                    board.cells[usize::from((row.parse::<u16>().unwrap() - 1) * size + column)] = Some(role);
                }
                assert_eq!(session.is_terminal(&state), Ok(board.winner().is_some()));
                if let Some(winner) = board.winner() {
                    let goals = [0, 1].map(|role| if role == winner { 100 } else { 0 });
                    assert_eq!(final_goals(&mut session, &state), goals);
                }
            }
        }
    }
}

#[test]
fn black_joins_the_rows_and_white_the_columns() {
    let mut session = session(Hex::new(3));
    let root = session.initial_state().unwrap();
    // b1 and b2 share a column; c1, b2 and a3 are the short diagonal.
    let black = play(&mut session, &root, 0, &["c1", "a1", "b2", "a2", "a3"]);
    assert_eq!(final_goals(&mut session, &black), [100, 0]);
    let white = play(&mut session, &root, 0, &["a1", "a3", "b1", "b2", "c2", "c1"]);
    assert_eq!(final_goals(&mut session, &white), [0, 100]);
    // The long diagonal joins nothing, whoever has it.
    let nobody = play(&mut session, &root, 0, &["a1", "a2", "b2", "c1", "c3"]);
    assert_eq!(session.is_terminal(&nobody), Ok(false));
}

#[test]
fn the_stone_of_the_paper_is_blacks_and_white_moves_first() {
    let mut session = session(Hex::new(5).with_stone("b2").unwrap());
    let root = session.initial_state().unwrap();
    assert_eq!(state_of(&mut session, &["(black b2)", "(control white)"]), Ok(root));
    assert_eq!(legal_names(&mut session, &root, Role(0)), ["noop"]);
    let white = legal_names(&mut session, &root, Role(1));
    assert_eq!(white.len(), 24);
    assert!(!white.contains(&"b2".to_owned()));
    assert_eq!(Hex::new(5).with_stone("f1"), None);
}

#[test]
fn stones_are_the_same_position_in_any_order() {
    let mut session = session(Hex::new(4));
    let root = session.initial_state().unwrap();
    let one = play(&mut session, &root, 0, &["a1", "b2", "c3", "d4"]);
    assert_eq!(one, play(&mut session, &root, 0, &["c3", "d4", "a1", "b2"]));
    assert_ne!(one, play(&mut session, &root, 0, &["b2", "a1", "c3", "d4"]));
    assert_ne!(
        Ok(one),
        state_of(&mut session, &["(black a1)", "(black c3)", "(white b2)", "(white d4)", "(control white)"])
    );
}

#[test]
fn fluents_that_contradict_each_other_are_no_position() {
    let mut session = session(Hex::new(2));
    let both_win = ["(black a1)", "(black a2)", "(white b1)", "(white b2)", "(control black)"];
    assert!(state_of(&mut session, &both_win).is_ok(), "two stones that touch nothing of the others");
    for wrong in [
        &["(black a1)"][..],
        &["(black a1)", "(white a1)", "(control black)"],
        &["(control black)", "(control white)"],
    ] {
        assert!(state_of(&mut session, wrong).unwrap_err().contains("contradict"), "{wrong:?}");
    }
}

#[test]
fn the_shipped_rulesheet_is_the_same_game_with_rows_and_columns_exchanged() {
    let text = games::find("hex-5x5").unwrap().text;
    let description = Description::read(text, ReadOptions::default()).unwrap();
    let rules = Arc::new(Interpreter::new(Arc::new(Rules::from_description(&description).unwrap())).unwrap());
    let mut theirs = rules.session(Limits::default(), &Interrupt::new()).unwrap();
    let mut ours = session(Hex::new(5));
    // Red, who moves first, joins the columns; Black joins the rows.
    let translated = |term: &Term| match term.args() {
        [] => "noop".to_owned(),
        [column, row] => {
            let letter = char::from(b'a' - 1 + row.name().parse::<u8>().unwrap());
            format!("{letter}{}", column.name())
        }
        _ => panic!("{term} is no move"),
    };
    let mut dice = Dice::new(1);
    for _ in 0..5 {
        let mut state = ours.initial_state().unwrap();
        let mut their_state = theirs.initial_state().unwrap();
        while !ours.is_terminal(&state).unwrap() {
            assert_eq!(theirs.is_terminal(&their_state), Ok(false));
            let (mut joint_move, mut their_joint_move) = (Vec::new(), Vec::new());
            for role in Role::all(2) {
                let mut moves = Vec::new();
                theirs.legal_moves(&their_state, role, &mut moves).unwrap();
                let mut names: Vec<String> =
                    moves.iter().map(|&a_move| translated(&theirs.move_term(a_move))).collect();
                let chosen = dice.below(moves.len());
                their_joint_move.push(moves[chosen]);
                joint_move.push(move_named(&mut ours, &names[chosen]));
                names.sort_unstable();
                assert_eq!(legal_names(&mut ours, &state, role), names);
            }
            state = ours.next_state(&state, &joint_move).unwrap();
            their_state = theirs.next_state(&their_state, &their_joint_move).unwrap();
        }
        assert_eq!(final_goals(&mut ours, &state), final_goals(&mut theirs, &their_state));
    }
}

#[test]
fn rollouts_come_to_the_goals_and_lengths_of_play_move_by_move() {
    let mut ours = session(Hex::new(4));
    let mut plain = session(Hex::new(4));
    let root = ours.initial_state().unwrap();
    let from = play(&mut ours, &root, 0, &["b2", "c3", "d1"]);
    for state in [root, from] {
        let rollouts = (0..20_000).map(|seed| {
            let end = ours.rollout_with(&state, seed, &mut Uniform, None).unwrap();
            (end.length, end.goals)
        });
        let steps = (20_000..40_000).map(|seed| {
            let end = reasoner::rollout(&mut plain, &state, seed, &mut Uniform, None).unwrap();
            (end.length, end.goals)
        });
        demand_same_distribution(rollouts, steps);
    }
}
