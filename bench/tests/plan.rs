//! The real binary solves puzzles, and says what is none.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::{Command, Output};

fn plan(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_daggerboard-bench")).arg("plan").args(args).output().unwrap()
}

#[test]
fn puzzles_are_solved_with_their_proof() {
    let output = plan(&["hanoi", "lights-out", "--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let rows: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for row in rows.as_array().unwrap() {
        assert_eq!((&row["best_value"], &row["proved"]), (&100.into(), &true.into()), "{row}");
    }
    let n_moves = rows[0]["best_line"].as_array().unwrap().len();
    assert!((31..=40).contains(&n_moves), "five discs take 31 moves, and there are 40; not {n_moves}");
}

#[test]
fn games_without_an_end_keep_to_the_time_and_are_solved() {
    // Digits in order open a lock, and a wrong one begins anew: no random line ends.
    let mut text = String::from(
        "(role one) (digit 1) (digit 2) (digit 3) (digit 4) (digit 5) (digit 6) (init (at 0))
         (<= (legal one (press ?d)) (digit ?d))
         (<= (next (at ?b)) (true (at ?a)) (does one (press ?d)) (right ?a ?d ?b))
         (<= (next (at 0)) (true (at ?a)) (does one (press ?d)) (digit ?d) (not (is_right ?a ?d)))
         (<= (is_right ?a ?d) (right ?a ?d ?b))
         (<= terminal (true (at 12)))
         (<= (goal one 100) (true (at 12)))
         (<= (goal one 0) (not (true (at 12))))",
    );
    text += &(0..12).map(|at| format!("(right {at} {} {})", 1 + at * 5 % 6, at + 1)).collect::<String>();
    let file = tempfile::NamedTempFile::with_suffix(".kif").unwrap();
    std::fs::write(file.path(), text).unwrap();
    let output = plan(&[file.path().to_str().unwrap(), "--seconds", "60", "--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let rows: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&rows[0]["best_value"], &rows[0]["proved"]), (&100.into(), &true.into()), "{rows}");
    assert_eq!(rows[0]["best_line"].as_array().unwrap().len(), 12, "{rows}");
}

#[test]
fn what_is_no_puzzle_is_told() {
    let output = plan(&["tic-tac-toe"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("only games of one role can be planned"));
    assert_eq!(plan(&["no-such-game"]).status.code(), Some(2));
}
