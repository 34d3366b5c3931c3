//! SameGame agrees with an obviously right implementation, and with the paper's example and points.

use std::collections::HashSet;
use std::fs;

use bench::games::{Game, InRust, RustGame, SameGame, Tabu};
use gdl::Term;
use reasoner::{Reasoner, Role, Session, Uniform, Value};
use testkit::Shared;

use crate::common::{
    Watching, final_goals, legal_names, move_named, names, perft_of, random_states, session, state_of,
};
use crate::naive_same_game::NaiveSameGame;

fn same_game(name: &str) -> SameGame {
    match name.parse::<RustGame>() {
        Ok(RustGame::SameGame(game)) => game,
        other => panic!("{name}: {other:?}"),
    }
}

/// A board of a file of `rows`.
fn of_rows(rows: &[&str]) -> (SameGame, NaiveSameGame) {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), rows.join("\n")).unwrap();
    let game = same_game(&format!("samegame:{},board=1,file={}", rows.len(), file.path().display()));
    (game, NaiveSameGame::new(rows))
}

/// The board of a state's fluents.
fn naive<S: Session>(session: &mut S, state: &S::State) -> (NaiveSameGame, i64) {
    let mut columns = vec![Vec::new(); 15];
    let mut points = None;
    let mut fluents = Vec::new();
    session.fluents(state, &mut fluents);
    for fluent in fluents {
        let term = session.fluent_term(fluent);
        let argument = term.args()[0].name().to_owned();
        let colours = ["red", "green", "blue", "yellow", "violet"];
        match colours.iter().position(|&colour| colour == term.name()) {
            None => points = argument.parse().ok(),
            Some(colour) => {
                let (letter, row) = argument.split_at(1);
                let column: &mut Vec<_> = &mut columns[usize::from(letter.as_bytes()[0] - b'a')];
                column.push((row.parse::<usize>().unwrap(), colour as u8));
            }
        }
    }
    let columns = columns.into_iter().filter(|column| !column.is_empty()).map(|mut column| {
        column.sort_unstable();
        assert!(column.iter().map(|(row, _)| *row).eq(1..=column.len()), "nothing hangs in the air");
        column.into_iter().map(|(_, colour)| colour).collect()
    });
    (NaiveSameGame { columns: columns.collect() }, points.unwrap())
}

fn points(game: &SameGame, goals: &[Value]) -> i64 {
    game.points_of_goal(goals[0])
}

#[test]
fn random_games_have_the_moves_and_points_of_the_rules_as_told() {
    for name in ["samegame:3,seed=5", "samegame:7,colours=2", "samegame:10,colours=3,seed=3", "samegame"] {
        let game = same_game(name);
        let mut session = session(game.clone());
        for seed in 0..10 {
            let root = session.initial_state().unwrap();
            let mut played = Vec::new();
            let end = session.rollout_with(&root, seed, &mut Uniform, Some(&mut played)).unwrap();
            let line: Vec<String> =
                played.iter().map(|&a_move| session.move_term(a_move).to_string()).collect();
            let line: Vec<&str> = line.iter().map(String::as_str).collect();
            let start = naive(&mut session, &root).0;
            assert_eq!(start.score(&line), Ok(points(&game, &end.goals)), "{name}: {line:?}");
            for state in random_states(&mut session, seed) {
                let (board, made) = naive(&mut session, &state);
                let moves: Vec<String> = board.groups().into_iter().map(|(name, _)| name).collect();
                assert_eq!(session.is_terminal(&state), Ok(moves.is_empty()));
                assert_eq!(legal_names(&mut session, &state, Role(0)), moves);
                let mut goals = Vec::new();
                session.goals(&state, &mut goals).unwrap();
                let goal = goals[0].only().unwrap();
                assert_eq!(game.points_of_goal(goal), made + board.last_points());
            }
        }
    }
}

#[test]
fn a_small_board_has_the_tree_of_the_rules_as_told() {
    let game = same_game("samegame:4,colours=3,seed=2");
    let counts = perft_of(game.clone(), 100);
    let mut session = session(game);
    let root = session.initial_state().unwrap();
    let mut level = HashSet::from([(naive(&mut session, &root).0, 0)]);
    for (depth, &distinct) in (1..).zip(&counts.distinct) {
        let next = level.iter().flat_map(|(board, points)| {
            board.groups().into_iter().map(move |(_, group)| {
                let mut board = board.clone();
                let points = points + board.remove(&group);
                (board, points)
            })
        });
        level = next.collect();
        assert_eq!(distinct, level.len() as u64, "depth {depth}");
    }
    assert!(counts.distinct.len() > 3, "{counts:?}");
    assert!(level.iter().all(|(board, _)| board.groups().is_empty()));
}

#[test]
fn groups_are_worth_what_the_paper_says() {
    // All of one colour at once: (9 - 2)^2 and 1000 for the empty board.
    let (game, naive) = of_rows(&["1 1 1", "1 1 1", "1 1 1"]);
    let mut session = session(game.clone());
    let root = session.initial_state().unwrap();
    assert_eq!(legal_names(&mut session, &root, Role(0)), ["a1-green-9"]);
    let all = move_named(&mut session, "a1-green-9");
    let end = session.next_state(&root, &[all]).unwrap();
    assert_eq!(points(&game, &final_goals(&mut session, &end)), 1049);
    assert_eq!(naive.score(&["a1-green-9"]), Ok(1049));
    assert_eq!(InRust::new(game.clone()).max_goal(), game.max_goal());
    // Nothing can be removed: each colour costs what its blocks would be worth.
    let (game, _) = of_rows(&["0 1 2", "1 2 1", "0 1 0"]);
    let mut session = crate::common::session(game.clone());
    let root = session.initial_state().unwrap();
    assert_eq!(points(&game, &final_goals(&mut session, &root)), -(4 + 1));
}

#[test]
fn all_goals_are_in_range() {
    for seed in 0..30 {
        let game = SameGame::random(6, 2 + seed % 4, seed);
        let mut session = session(game.clone());
        for state in random_states(&mut session, u64::from(seed)) {
            let mut goals = Vec::new();
            session.goals(&state, &mut goals).unwrap();
            assert!(goals[0].only().unwrap() <= game.max_goal());
        }
    }
}

/// The sets of colours that a rollout from the first board chooses among, step by step.
fn colours_chosen_among(game: SameGame, seed: u64) -> Vec<HashSet<String>> {
    let mut session = session(game);
    let root = session.initial_state().unwrap();
    let mut lists = Vec::new();
    let mut watching = Watching(|_, legal: &[reasoner::Move]| lists.push(legal.to_vec()));
    session.rollout_with(&root, seed, &mut watching, None).unwrap();
    let colour = |name: &String| name.split('-').nth(1).unwrap().to_owned();
    lists.iter().map(|list| names(&mut session, list).iter().map(colour).collect()).collect()
}

#[test]
fn rollouts_leave_a_colour_alone_until_there_is_no_other() {
    let game = SameGame::random(15, 5, 1);
    let mut states = session(game.clone());
    let root = states.initial_state().unwrap();
    let start = naive(&mut states, &root).0;
    let count = |colour: u8| start.columns.iter().flatten().filter(|&&block| block == colour).count();
    let most = (0..5).rev().max_by_key(|&colour| count(colour)).unwrap();
    let most = ["red", "green", "blue", "yellow", "violet"][usize::from(most)];
    for seed in 0..20 {
        let lists = colours_chosen_among(game.clone().with_rollouts(Tabu::TabuColorRandom, 0.0), seed);
        assert!(lists.iter().all(|colours| !colours.contains(most) || colours.len() == 1));
        let lists = colours_chosen_among(game.clone().with_rollouts(Tabu::TabuColorRandom, 1.0), seed);
        assert!(lists.iter().any(|colours| colours.contains(most) && colours.len() > 1));
    }
    let left_alone = |seed| {
        let lists = colours_chosen_among(game.clone().with_rollouts(Tabu::TabuRandom, 0.0), seed);
        let first: Vec<_> = ["red", "green", "blue", "yellow", "violet"]
            .into_iter()
            .filter(|colour| !lists[0].contains(*colour))
            .collect();
        assert_eq!(first.len(), 1);
        first[0]
    };
    assert_eq!((0..60).map(left_alone).collect::<HashSet<_>>().len(), 5, "each colour has its turn");
    let lists = colours_chosen_among(game.clone().with_rollouts(Tabu::Random, 0.003), 1);
    assert_eq!(lists[0].len(), 5);
}

#[test]
fn positions_that_cannot_be_are_told() {
    let (game, _) = of_rows(&["1 1", "0 1"]);
    let mut session = session(game);
    let root = session.initial_state().unwrap();
    let all = ["(red a1)", "(green a2)", "(green b1)", "(green b2)", "(points 0)"];
    assert_eq!(state_of(&mut session, &all), Ok(root));
    assert!(state_of(&mut session, &["(red a1)", "(points 7)"]).is_ok());
    for wrong in [
        &["(red a1)"][..],
        &["(red a2)", "(points 0)"],
        &["(red b1)", "(points 0)"],
        &["(red a1)", "(green a1)", "(points 0)"],
        &["(red a1)", "(red a2)", "(points 0)"],
        &["(violet a1)", "(points 0)"],
        &["(red a1)", "(points 0)", "(points 1)"],
    ] {
        assert!(state_of(&mut session, wrong).unwrap_err().contains("contradict"), "{wrong:?}");
    }
    for name in ["c1-red-2", "a1-red-1", "a1-red-226", "a1-red-02", "a1-black-3", "a1-red", "a1-red-3-4"] {
        assert!(session.move_of(&Term::Name(name.into())).is_err(), "{name}");
    }
}

#[test]
fn the_standard_boards_are_those_of_the_reference_data() {
    let Some(shared) = Shared::find_or_skip() else { return };
    let text = shared.text("samegame/standard20.txt").unwrap();
    let rows: Vec<&str> = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).collect();
    assert_eq!(rows.len(), 300);
    for (number, rows) in (1..).zip(rows.chunks(15)) {
        let name = format!("samegame:15,board={number}");
        let game = same_game(&name);
        assert_eq!(game.to_string(), name);
        let mut session = session(game);
        let root = session.initial_state().unwrap();
        assert_eq!(naive(&mut session, &root), (NaiveSameGame::new(rows), 0), "board {number}");
    }
    assert!("samegame:board=21".parse::<RustGame>().unwrap_err().to_string().contains("there are 20 boards"));
}
