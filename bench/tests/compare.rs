//! The real binary compares reasoners on a shipped game, and goes on where it was.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::{Command, Output};

fn compare(folder: &std::path::Path, games: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_daggerboard-bench"));
    command
        .arg("compare")
        .args(games)
        .args(["--seconds", "0.05", "--steps", "30", "--json", "--out"])
        .arg(folder);
    command.output().unwrap()
}

#[test]
fn a_comparison_is_kept_and_not_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let first = compare(folder.path(), &["tic-tac-toe"]);
    assert!(first.status.success(), "{}", String::from_utf8_lossy(&first.stderr));
    let results = folder.path().join("results.jsonl");
    let kept = std::fs::read_to_string(&results).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&first.stdout).unwrap();
    let entries = json["entries"].as_array().unwrap();
    assert!(!entries.is_empty());
    for entry in entries {
        assert!(entry["speed"]["Ok"]["transitions_per_cpu_s"].as_f64().unwrap() > 0.0, "{entry}");
        assert!(entry["search"]["Ok"]["playouts_per_cpu_s"].as_f64().unwrap() > 0.0, "{entry}");
        if entry["key"]["reasoner"] != entries[0]["key"]["reasoner"] {
            assert!(entry["cross"]["Ok"]["positions"].as_u64().unwrap() > 10, "{entry}");
        }
    }
    let again = compare(folder.path(), &["tic-tac-toe"]);
    assert!(again.status.success());
    assert_eq!(again.stdout, first.stdout, "nothing is measured again");
    assert_eq!(std::fs::read_to_string(&results).unwrap(), kept);
    let page = std::fs::read_to_string(folder.path().join("compare.html")).unwrap();
    assert!(page.contains("tic-tac-toe") && !page.contains("src=\"http"), "the page stands alone");
    assert!(std::fs::read_to_string(folder.path().join("compare.csv")).unwrap().starts_with("game,"));
}

#[test]
fn a_game_that_is_not_there_is_wrong_usage() {
    let folder = tempfile::tempdir().unwrap();
    let output = compare(folder.path(), &["no-such-game"]);
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
}
