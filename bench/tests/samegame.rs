//! The real binary plays boards of SameGame, and its lines come to the points it tells.

#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a test fails by panicking, and boards are small"
)]

#[path = "games/naive_same_game.rs"]
mod naive_same_game;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use naive_same_game::NaiveSameGame;
use reasoner::Dice;
use serde_json::Value;
use testkit::Shared;

fn samegame(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_daggerboard-bench"));
    let out = folder.join("samegame.jsonl");
    command.arg("samegame").args(["--threads", "1", "--out"]).arg(out).args(args).output().unwrap()
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A file of boards in a folder, and its rows.
fn boards(folder: &Path, n_boards: usize) -> Vec<String> {
    let mut dice = Dice::new(5);
    let mut row = || (0..15).map(|_| dice.below(5).to_string()).collect::<Vec<_>>().join(" ");
    let rows: Vec<String> = (0..15 * n_boards).map(|_| row()).collect();
    fs::write(folder.join("standard20.txt"), rows.join("\n")).unwrap();
    rows
}

/// What a naive scorer says of each game's line.
fn scores(rows: &[String], told: &Value) -> Vec<i64> {
    let games = told["games"].as_array().unwrap();
    let score = |(game, rows): (&Value, &[String])| {
        let line = game["line"].as_array().unwrap();
        let line: Vec<&str> = line.iter().map(|name| name.as_str().unwrap()).collect();
        let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
        NaiveSameGame::new(&rows).score(&line).unwrap()
    };
    games.iter().zip(rows.chunks(15)).map(score).collect()
}

fn points(told: &Value) -> Vec<i64> {
    let points = told["columns"][0]["points"].as_array().unwrap();
    points.iter().map(|points| points.as_i64().unwrap()).collect()
}

#[test]
fn every_line_comes_to_its_points() {
    let folder = tempfile::tempdir().unwrap();
    let rows = boards(folder.path(), 2);
    let from = folder.path().to_str().unwrap();
    for (system, more) in [("nrpa(2,n=15)", None), ("sp-mcts(final=visits)", Some("--per-move"))] {
        let args = ["1", "2", "--boards", from, "--systems", system, "--playouts", "700", "--json"];
        let args = [&args[..], more.as_slice()].concat();
        let told = json(&samegame(folder.path(), &args));
        assert_eq!(scores(&rows, &told), points(&told), "{system}");
        assert_eq!(told["columns"][0]["sum"].as_i64().unwrap(), points(&told).iter().sum::<i64>());
        let kept = fs::read(folder.path().join("samegame.jsonl")).unwrap();
        assert_eq!(json(&samegame(folder.path(), &args)), told);
        assert_eq!(fs::read(folder.path().join("samegame.jsonl")).unwrap(), kept, "nothing is played twice");
    }
}

/// The best lines on the standard boards that stand in EXPERIMENTS.md: a board's number, its points and the moves in each line.
const KEPT_LINES: &str = include_str!("data/samegame_lines.txt");

#[test]
fn kept_lines_of_the_standard_boards_come_to_their_points() {
    let Some(shared) = Shared::find_or_skip() else { return };
    let text = shared.text("samegame/standard20.txt").unwrap();
    let rows: Vec<&str> = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).collect();
    let mut numbers = Vec::new();
    for kept in KEPT_LINES.lines() {
        let mut words = kept.split_whitespace();
        let number: usize = words.next().unwrap().parse().unwrap();
        let points: i64 = words.next().unwrap().parse().unwrap();
        let board = NaiveSameGame::new(&rows[15 * (number - 1)..15 * number]);
        assert_eq!(board.score(&words.collect::<Vec<_>>()), Ok(points), "board {number}");
        numbers.push(number);
    }
    assert_eq!(numbers, (1..=20).collect::<Vec<_>>());
}

/// Nodes below the threshold T choose as rollouts do, so with a threshold out of reach every line is a rollout's from its first
/// move on: the most frequent colour is left alone as long as there is another (Schadd et al. 2012, sections 4.1 and 4.2).
#[test]
fn moves_below_the_threshold_are_those_of_rollouts() {
    let folder = tempfile::tempdir().unwrap();
    let rows = boards(folder.path(), 4);
    let from = folder.path().to_str().unwrap();
    let system = "sp-mcts(t=1000000,restarts=1)";
    let args = ["1", "2", "3", "4", "--boards", from, "--systems", system, "--playouts", "300"];
    let told = json(&samegame(folder.path(), &[&args[..], &["--epsilon", "0", "--json"]].concat()));
    let mut n_boards = 0;
    for (game, rows) in told["games"].as_array().unwrap().iter().zip(rows.chunks(15)) {
        let mut board = NaiveSameGame::new(&rows.iter().map(String::as_str).collect::<Vec<_>>());
        let n_blocks = |colour: u8| board.columns.iter().flatten().filter(|&&block| block == colour).count();
        let tabu = (0..5).max_by_key(|&colour| n_blocks(colour)).unwrap();
        if (0..5).filter(|&colour| n_blocks(colour) == n_blocks(tabu)).count() > 1 {
            continue;
        }
        n_boards += 1;
        for name in game["line"].as_array().unwrap() {
            let groups = board.groups();
            let colour_of = |group: &[(i32, i32)]| board.columns[group[0].0 as usize][group[0].1 as usize];
            let (_, group) = groups.iter().find(|(known, _)| known == name.as_str().unwrap()).unwrap();
            let has_another = groups.iter().any(|(_, group)| colour_of(group) != tabu);
            assert!(colour_of(group) != tabu || !has_another, "{name}");
            board.remove(group);
        }
    }
    assert!(n_boards > 0, "all boards have two most frequent colours");
}

#[test]
fn ways_of_playing_are_compared_board_by_board() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["--random", "2", "--playouts", "50", "--rollouts", "random,tabucolorrandom"];
    let args = [&args[..], &["--systems", "nrpa(1),nested"]].concat();
    let output = samegame(folder.path(), &args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    for word in ["nested(1), tabucolorrandom", "nrpa(1,n=100,alpha=1,p=1), random", "deviation"] {
        assert!(text.contains(word), "{text}");
    }
    let told = json(&samegame(folder.path(), &[&args[..], &["--json"]].concat()));
    assert_eq!(told["columns"].as_array().unwrap().len(), 4);
    assert_eq!(told["games"].as_array().unwrap().len(), 8);
}

#[test]
fn wrong_usage_says_why() {
    let folder = tempfile::tempdir().unwrap();
    for (args, word) in [
        (&["--boards", "/no/such/folder"][..], "cannot read a board"),
        (&["--random", "2", "--rollouts", "tabu"], "tabucolorrandom is wanted"),
        (&["--random", "2", "--systems", "magic"], "no search configuration"),
        (&["--random", "2", "--seconds", "0"], "seconds are wanted"),
        (&["3", "--random", "2"], "cannot be used with"),
    ] {
        let output = samegame(folder.path(), args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains(word), "{args:?}: {stderr}");
    }
}
