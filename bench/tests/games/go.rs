//! Go agrees with an obviously right implementation, and with what is known about it.

use std::collections::{HashMap, HashSet};

use bench::games::{Go, GoState, InRustSession};
use reasoner::{Dice, Expansion, Role, Session, Uniform};

use crate::common::{
    Watching, demand_same_distribution, final_goals, fluent_texts, legal_names, move_named, names, perft_of,
    play, session, state_of,
};
use crate::naive_go::{NaiveGo, Place, name};

/// Leaves of the tree cut at a depth.
fn leaves(position: &NaiveGo, limit: usize, depth: u32) -> u64 {
    if depth == 0 || position.is_over(limit) {
        return 1;
    }
    position.successors().iter().map(|next| leaves(next, limit, depth - 1)).sum()
}

#[test]
fn small_boards_have_the_trees_of_a_search_over_all_positions() {
    for (size, limit, depth) in [(2, 100, 9), (2, 6, 9), (3, 100, 5), (4, 100, 3)] {
        let counts = perft_of(Go::new(size).with_limit(limit), depth);
        let root = NaiveGo::new(usize::from(size));
        let limit = usize::from(limit);
        let mut level = HashSet::from([root.clone()]);
        for depth in 1..=counts.leaves.len() {
            let going_on = level.iter().filter(|position| !position.is_over(limit));
            level = going_on.flat_map(NaiveGo::successors).collect();
            let n_over = level.iter().filter(|position| position.is_over(limit)).count();
            assert_eq!(
                counts.leaves[depth - 1],
                leaves(&root, limit, depth as u32),
                "size {size}, depth {depth}"
            );
            assert_eq!(counts.distinct[depth - 1], level.len() as u64);
            assert_eq!(counts.distinct_terminal[depth - 1], n_over as u64);
        }
        assert_eq!(counts.leaves.len(), (depth as usize).min(limit));
    }
}

#[test]
fn there_are_as_many_legal_positions_as_published() {
    // Tromp and Farnebäck 2007, "Combinatorics of Go", table 1.
    for (size, n_legal) in [(2u16, 57), (3, 12_675)] {
        let mut session = session(Go::new(size));
        let points: Vec<String> = NaiveGo::new(usize::from(size)).places().into_iter().map(name).collect();
        let n_colourings = 3u32.pow(points.len() as u32);
        let is_legal = |number: &u32| {
            let mut fluents: Vec<String> =
                ["(control black)", "(passes 0)", "(moves 0)"].map(str::to_owned).to_vec();
            for (power, point) in (0u32..).zip(&points) {
                match number / 3u32.pow(power) % 3 {
                    0 => {}
                    1 => fluents.push(format!("(black {point})")),
                    _ => fluents.push(format!("(white {point})")),
                }
            }
            state_of(&mut session, &fluents).is_ok()
        };
        assert_eq!((0..n_colourings).filter(is_legal).count(), n_legal);
    }
}

/// Plays a random game on a session and the naive board in step, by sensible moves or by any legal ones.
fn demand_agreement(size: u16, seed: u64, sensible: bool) {
    let (half_komi, limit) = (3, 4 * size * size);
    let mut session = session(Go::new(size).with_half_komi(half_komi).with_limit(limit));
    let mut state = session.initial_state().unwrap();
    let mut naive = NaiveGo::new(usize::from(size));
    let mut dice = Dice::new(seed);
    while !naive.is_over(usize::from(limit)) {
        assert_eq!(session.is_terminal(&state), Ok(false));
        assert_eq!(fluent_texts(&mut session, &state), naive.fluents());
        let legal = naive.legal();
        let mut known: Vec<String> = legal.iter().copied().map(name).chain(["pass".to_owned()]).collect();
        known.sort_unstable();
        let mover = Role(naive.mover as u32);
        assert_eq!(legal_names(&mut session, &state, mover), known);
        assert_eq!(legal_names(&mut session, &state, Role(1 - mover.0)), ["noop"]);
        let choices = if sensible { naive.sensible() } else { legal };
        let place = (!choices.is_empty()).then(|| choices[dice.below(choices.len())]);
        state = play_one(&mut session, &state, &naive, place);
        naive = place.map_or_else(|| naive.after_pass(), |place| naive.after(place).unwrap());
    }
    assert_eq!(fluent_texts(&mut session, &state), naive.fluents());
    assert_eq!(final_goals(&mut session, &state), naive.goals(i32::from(half_komi)));
}

fn play_one(
    session: &mut InRustSession<Go>,
    state: &GoState,
    naive: &NaiveGo,
    place: Option<Place>,
) -> GoState {
    play(session, state, naive.mover, &[&place.map_or_else(|| "pass".to_owned(), name)])
}

#[test]
fn random_games_go_as_on_a_naive_board() {
    for (size, n_games) in [(2, 200), (3, 100), (4, 50), (5, 30), (7, 6), (9, 2)] {
        for seed in 0..n_games {
            demand_agreement(size, seed, true);
            demand_agreement(size, seed, false);
        }
    }
}

#[test]
fn a_game_on_the_largest_board_goes_as_on_a_naive_one() {
    demand_agreement(19, 1, true);
}

#[test]
fn rollouts_choose_among_the_legal_moves_that_fill_no_eye_and_pass_only_without_one() {
    for size in [2u16, 3, 5, 7] {
        let mut session = session(Go::new(size));
        let root = session.initial_state().unwrap();
        for seed in 0..20 {
            let (mut seen, mut played) = (Vec::new(), Vec::new());
            let mut watching =
                Watching(|role: Role, legal: &[reasoner::Move]| seen.push((role, legal.to_vec())));
            session.rollout_with(&root, seed, &mut watching, Some(&mut played)).unwrap();
            assert_eq!(seen.len(), played.len());
            let mut naive = NaiveGo::new(usize::from(size));
            for (choices, joint_move) in seen.chunks(2).zip(played.chunks(2)) {
                let mut known: Vec<String> = naive.sensible().into_iter().map(name).collect();
                if known.is_empty() {
                    known.push("pass".to_owned());
                }
                known.sort_unstable();
                assert_eq!(choices[naive.mover].0, Role(naive.mover as u32));
                assert_eq!(names(&mut session, &choices[naive.mover].1), known);
                assert_eq!(names(&mut session, &choices[1 - naive.mover].1), ["noop"]);
                let chosen = &names(&mut session, &joint_move[naive.mover..][..1])[0];
                let place = naive.places().into_iter().find(|&place| name(place) == *chosen);
                naive = place.map_or_else(|| naive.after_pass(), |place| naive.after(place).unwrap());
            }
        }
    }
}

#[test]
fn rollouts_come_to_the_goals_and_lengths_of_sensible_play_on_a_naive_board() {
    let go = Go::new(3).with_half_komi(1);
    let mut session = session(go);
    let root = session.initial_state().unwrap();
    let rollouts = (0..20_000).map(|seed| {
        let end = session.rollout_with(&root, seed, &mut Uniform, None).unwrap();
        (end.length as usize, end.goals)
    });
    // Positions come again and again on a board this small.
    let mut known: HashMap<NaiveGo, Vec<Place>> = HashMap::new();
    let naive = (0..20_000).map(|seed| {
        let mut dice = Dice::new(seed);
        let mut position = NaiveGo::new(3);
        while !position.is_over(27) {
            let sensible = known.entry(position.clone()).or_insert_with_key(NaiveGo::sensible);
            position = match sensible[..] {
                [] => position.after_pass(),
                _ => position.after(sensible[dice.below(sensible.len())]).unwrap(),
            };
        }
        (position.n_made, position.goals(1).to_vec())
    });
    demand_same_distribution(rollouts, naive);
}

/// The state of a drawn board, its last row first, as on paper, with a role to move.
fn drawn(session: &mut InRustSession<Go>, rows: &[&str], mover: &str) -> GoState {
    let mut fluents = vec![format!("(control {mover})"), "(passes 0)".to_owned(), "(moves 0)".to_owned()];
    for (row, line) in rows.iter().rev().enumerate() {
        for (column, stone) in line.chars().enumerate() {
            match stone {
                'X' => fluents.push(format!("(black {})", name((row, column)))),
                'O' => fluents.push(format!("(white {})", name((row, column)))),
                _ => {}
            }
        }
    }
    state_of(session, &fluents).unwrap()
}

/// The board of a state, drawn.
fn drawing(session: &mut InRustSession<Go>, state: &GoState, size: usize) -> Vec<String> {
    let fluents = fluent_texts(session, state);
    let at = |place| {
        let has = |colour| fluents.contains(&format!("({colour} {})", name(place)));
        if has("black") {
            'X'
        } else if has("white") {
            'O'
        } else {
            '.'
        }
    };
    (0..size).rev().map(|row| (0..size).map(|column| at((row, column))).collect()).collect()
}

fn is_legal(session: &mut InRustSession<Go>, state: &GoState, role: u32, point: &str) -> bool {
    legal_names(session, state, Role(role)).contains(&point.to_owned())
}

#[test]
fn strings_without_liberties_are_captured_all_at_once() {
    let mut session = session(Go::new(5));
    // Two strings share their last liberty.
    let before = drawn(&mut session, &["X.OX.", "XXOX.", "OO.OX", "XXOX.", "..OX."], "black");
    let after = play(&mut session, &before, 0, &["c3"]);
    assert_eq!(drawing(&mut session, &after, 5), ["X.OX.", "XXOX.", "..X.X", "XXOX.", "..OX."]);
    // A string keeps its other liberties, and dies with the last one.
    let before = drawn(&mut session, &[".OO..", "XOOX.", ".XX..", ".....", "....."], "black");
    let after = play(&mut session, &before, 0, &["a5", "e1"]);
    assert_eq!(drawing(&mut session, &after, 5), ["XOO..", "XOOX.", ".XX..", ".....", "....O"]);
    let after = play(&mut session, &after, 0, &["d5"]);
    assert_eq!(drawing(&mut session, &after, 5), ["X..X.", "X..X.", ".XX..", ".....", "....O"]);
    let before = drawn(&mut session, &["OX...", ".....", ".....", ".....", "....."], "black");
    let after = play(&mut session, &before, 0, &["a4"]);
    assert_eq!(drawing(&mut session, &after, 5), [".X...", "X....", ".....", ".....", "....."]);
}

#[test]
fn suicide_is_forbidden_unless_it_captures() {
    let mut session = session(Go::new(4));
    let alone = drawn(&mut session, &[".O..", "O...", "....", "...."], "black");
    assert!(!is_legal(&mut session, &alone, 0, "a4"));
    let together = drawn(&mut session, &[".XO.", "XOO.", "O...", "...."], "black");
    assert!(!is_legal(&mut session, &together, 0, "a4"), "nor may a string kill itself");
    let capturing = drawn(&mut session, &[".OX.", "OX..", "X...", "...."], "black");
    let after = play(&mut session, &capturing, 0, &["a4"]);
    assert_eq!(drawing(&mut session, &after, 4), ["X.X.", ".X..", "X...", "...."]);
    let own_eye = drawn(&mut session, &[".X..", "XX..", "....", "...."], "black");
    assert!(is_legal(&mut session, &own_eye, 0, "a4"), "to fill an eye is legal, though not sensible");
}

#[test]
fn a_ko_may_be_taken_back_only_after_another_move() {
    let mut session = session(Go::new(4));
    let ko = drawn(&mut session, &[".XO.", "X.XO", ".XO.", "...."], "white");
    let taken = play(&mut session, &ko, 1, &["b3"]);
    assert_eq!(drawing(&mut session, &taken, 4), [".XO.", "XO.O", ".XO.", "...."]);
    assert!(fluent_texts(&mut session, &taken).contains(&"(ko c3)".to_owned()));
    assert!(!is_legal(&mut session, &taken, 0, "c3"));
    for elsewhere in [["a1", "d1"], ["pass", "d1"], ["a1", "pass"]] {
        let later = play(&mut session, &taken, 0, &elsewhere);
        assert!(is_legal(&mut session, &later, 0, "c3"), "{elsewhere:?}");
    }
}

#[test]
fn two_stones_may_be_taken_back_at_once_and_so_may_one_by_a_string() {
    let mut session = session(Go::new(4));
    // White takes two; Black takes back one of them at once.
    let two = drawn(&mut session, &["OXX.", "O.OX", "XXO.", "...."], "white");
    assert!(is_legal(&mut session, &two, 1, "b3"));
    // A snapback: Black throws in, White takes one stone and has one liberty, and Black takes them all.
    let snapback = drawn(&mut session, &[".OX.", "OOX.", "XX..", "...."], "black");
    let taken = play(&mut session, &snapback, 0, &["a4"]);
    assert_eq!(drawing(&mut session, &taken, 4), ["X.X.", "..X.", "XX..", "...."]);
}

#[test]
fn points_are_stones_and_what_only_they_reach() {
    for (rows, half_komi, goals) in [
        // 6 points for Black, 10 for White.
        (["..XO", ".XO.", "XO..", "O..."], 0, [0, 100]),
        ([".XO.", ".XO.", ".XO.", ".XO."], 0, [50, 50]),
        ([".XO.", ".XO.", ".XO.", ".XO."], 1, [0, 100]),
        ([".XO.", ".XO.", ".XO.", ".XO."], -1, [100, 0]),
        // What both reach is nobody's: 8 to 4.
        ([".X.O", ".X.O", ".X.O", ".X.O"], 7, [100, 0]),
        ([".X.O", ".X.O", ".X.O", ".X.O"], 8, [50, 50]),
        // One stone has the whole board, none has nothing.
        (["....", ".X..", "....", "...."], 31, [100, 0]),
        (["....", "....", "....", "...."], 0, [50, 50]),
    ] {
        let mut session = session(Go::new(4).with_half_komi(half_komi));
        let state = drawn(&mut session, &rows, "black");
        let end = play(&mut session, &state, 0, &["pass", "pass"]);
        assert_eq!(final_goals(&mut session, &end), goals, "{rows:?}, {half_komi}");
    }
}

#[test]
fn two_passes_in_a_row_or_the_limit_end_the_game() {
    let mut session = session(Go::new(3).with_limit(6));
    let root = session.initial_state().unwrap();
    for (moves, is_over) in [
        (&["pass"][..], false),
        (&["pass", "a1", "pass"], false),
        (&["pass", "pass"], true),
        (&["a1", "pass", "b2", "c3", "pass"], false),
        (&["a1", "pass", "b2", "c3", "pass", "a3"], true),
    ] {
        let state = play(&mut session, &root, 0, moves);
        assert_eq!(session.is_terminal(&state), Ok(is_over), "{moves:?}");
    }
}

#[test]
fn the_same_stones_are_the_same_position_after_as_many_moves() {
    let mut session = session(Go::new(5));
    let root = session.initial_state().unwrap();
    let one = play(&mut session, &root, 0, &["a1", "b2", "c3", "d4"]);
    assert_eq!(one, play(&mut session, &root, 0, &["c3", "b2", "a1", "d4"]));
    let after_passes = play(&mut session, &root, 0, &["a1", "b2", "pass", "d4", "c3", "pass"]);
    let mut expansion = Expansion::default();
    session.expand(&after_passes, &mut expansion).unwrap();
    assert_eq!(drawing(&mut session, &one, 5), drawing(&mut session, &after_passes, 5));
    assert_ne!(one, after_passes, "the limit is nearer");
}

#[test]
fn what_cannot_stand_on_a_board_is_no_position() {
    let mut session = session(Go::new(3));
    let rest = ["(control black)", "(passes 0)", "(moves 0)"];
    for wrong in [
        &["(black a1)", "(white a1)"][..],
        &["(black a1)", "(white a2)", "(white b1)"],
        &["(ko b2)"],
        &["(black b2)", "(ko b2)"],
        &["(passes 1)"],
        &["(control white)"],
    ] {
        let fluents: Vec<&str> = wrong.iter().copied().chain(rest).collect();
        assert!(state_of(&mut session, &fluents).unwrap_err().contains("contradict"), "{wrong:?}");
    }
    assert!(state_of(&mut session, &rest[1..]).is_err());
    let pass = move_named(&mut session, "pass");
    assert_eq!(session.move_term(pass).to_string(), "pass");
}
