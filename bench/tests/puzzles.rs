//! The real binary plays games of one role and keeps what it has played.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::{Command, Output};

fn puzzles(args: &[&str], out: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_daggerboard-bench"));
    command.arg("puzzles").args(args).args(["--threads", "1", "--out"]).arg(out).output().unwrap()
}

fn json(output: &Output) -> serde_json::Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_table_has_means_sums_and_proofs_and_plays_nothing_twice() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("puzzles.jsonl");
    let curves = folder.path().join("curves");
    let curves = curves.to_str().unwrap();
    let args = ["hanoi", "left-right", "--systems", "nested(1),exhaustive", "--start", "3", "--play", "0.05"];
    let told = json(&puzzles(&[&args[..], &["--json", "--curves", curves]].concat(), &out));
    let rows = told["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    for row in rows {
        // All states of both games are seen in a moment.
        assert_eq!(
            (row["most"].as_u64(), row["cells"][1]["mean"].as_f64()),
            (Some(100), Some(100.0)),
            "{row}"
        );
    }
    assert_eq!(told["sums"][1], 200.0);
    let kept = std::fs::read(&out).unwrap();
    assert_eq!(kept.iter().filter(|&&byte| byte == b'\n').count(), 4);
    assert_eq!(json(&puzzles(&[&args[..], &["--json"]].concat(), &out)), told);
    assert_eq!(std::fs::read(&out).unwrap(), kept, "nothing is played twice");
    let csv = std::fs::read_to_string(format!("{curves}/curves.csv")).unwrap();
    assert!(csv.starts_with("game,system,runs,seconds,value\nhanoi,nested(1),1,0.100,"), "{csv}");
    assert!(std::fs::read_to_string(format!("{curves}/hanoi.svg")).unwrap().contains("best value"));
    let list = puzzles(&[&args[..], &["--list"]].concat(), &out);
    assert!(String::from_utf8_lossy(&list.stdout).contains("exhaustive"));
}

#[test]
fn wrong_usage_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("puzzles.jsonl");
    for (args, word) in [
        (&["tic-tac-toe"][..], "games of one role"),
        (&["hanoi", "--systems", "magic"], "no search configuration"),
        (&["hanoi", "--start=-1"], "seconds are wanted"),
        (&[], "--folder"),
    ] {
        let output = puzzles(args, &out);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains(word), "{args:?}: {stderr}");
    }
}
