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
        assert!(row["best_line"].as_array().unwrap().len() as u64 <= row["steps"].as_u64().unwrap());
    }
    let n_moves = rows[0]["best_line"].as_array().unwrap().len();
    assert!((31..=40).contains(&n_moves), "five discs take 31 moves, and there are 40; not {n_moves}");
}

#[test]
fn what_is_no_puzzle_is_told() {
    let output = plan(&["tic-tac-toe"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("only games of one role can be planned"));
    assert_eq!(plan(&["no-such-game"]).status.code(), Some(2));
}
