//! The real binary lists the games written in Rust.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::{Command, Output};

fn games(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_daggerboard-bench"));
    command.args(["games", "--seconds", "0.02"]).args(args).output().unwrap()
}

#[test]
fn every_game_named_is_measured() {
    let output = games(&["leftright:20", "hex:3,stone=b2", "go:5,komi=0.5", "--json"]);
    assert!(output.status.success());
    let rows: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = rows.as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row["game"].as_str().unwrap()).collect();
    assert_eq!(names, ["leftright:20", "hex:3,stone=b2", "go:5,komi=0.5"]);
    for row in rows {
        let n_roles = row["roles"].as_array().unwrap().len();
        assert_eq!(row["first_moves"].as_array().unwrap().len(), n_roles);
        assert_eq!(row["mean_goals"].as_array().unwrap().len(), n_roles);
        assert!(row["rollouts_per_cpu_s"].as_f64().unwrap() > 0.0);
    }
    assert_eq!(rows[0]["first_moves"], serde_json::json!([["left", "right"]]));
    assert_eq!(rows[0]["mean_length"], 20.0);
    assert_eq!(rows[1]["first_moves"][1].as_array().unwrap().len(), 8, "White moves, beside a stone");
    assert_eq!(rows[2]["first_moves"][0].as_array().unwrap().len(), 26, "25 points and the pass");
}

#[test]
fn the_table_has_the_papers_games() {
    let output = games(&[]);
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    for name in ["leftright:300", "hex:5,stone=b2", "go:6,komi=5.5", "go:19", "samegame:15"] {
        assert!(text.contains(name), "{text}");
    }
}

#[test]
fn a_wrong_name_is_wrong_usage() {
    let output = games(&["hex:20"]);
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("\"20\" is no size of hex; give a whole number from 2 to 19"), "{error}");
}
