//! The real binary plays boards of SameGame, and its lines come to the points it tells.

#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
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
