//! The real binary compares reasoners, and goes on where it was.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

const BINARY: &str = env!("CARGO_BIN_EXE_daggerboard-bench");

/// A game of one role and one step, with more rules.
fn game(more: &str) -> String {
    format!(
        "(role you) (init (at 0)) (legal you go) (<= (next (at 1)) (does you go)) (<= terminal (true (at 1)))
         (goal you 100) {more}"
    )
}

fn compare(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(BINARY);
    command.args(["compare", "--seconds", "0.05", "--steps", "30", "--json", "--out"]).arg(folder).args(args);
    command.output().unwrap()
}

fn json(output: &Output) -> serde_json::Value {
    let error = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{error}"))
}

#[test]
fn a_comparison_is_kept_and_not_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let first = compare(folder.path(), &["tic-tac-toe"]);
    assert!(first.status.success(), "{}", String::from_utf8_lossy(&first.stderr));
    let results = folder.path().join("results.jsonl");
    let kept = fs::read_to_string(&results).unwrap();
    let entries = json(&first)["entries"].as_array().unwrap().clone();
    assert!(!entries.is_empty());
    for entry in &entries {
        assert!(entry["speed"]["Ok"]["transitions_per_cpu_s"].as_f64().unwrap() > 0.0, "{entry}");
        assert!(entry["search"]["Ok"]["playouts_per_cpu_s"].as_f64().unwrap() > 0.0, "{entry}");
        if entry["key"]["reasoner"] != entries[0]["key"]["reasoner"] {
            assert!(entry["cross"]["Ok"]["positions"].as_u64().unwrap() > 10, "{entry}");
        }
    }
    let again = compare(folder.path(), &["tic-tac-toe", "tic-tac-toe"]);
    assert!(again.status.success());
    assert_eq!(again.stdout, first.stdout, "nothing is measured again, and a game counts once");
    assert_eq!(fs::read_to_string(&results).unwrap(), kept);
    let page = fs::read_to_string(folder.path().join("compare.html")).unwrap();
    assert!(page.contains("tic-tac-toe") && !page.contains("src=\"http"), "the page stands alone");
    assert!(fs::read_to_string(folder.path().join("compare.csv")).unwrap().starts_with("game,"));
}

#[test]
fn names_are_only_names() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["a,b \"c\"", "<script>alert(1)<", "--json", "&amp;'"];
    let mut args = vec!["--reasoners", "interpreter,propnet", "--"];
    for name in names {
        fs::write(folder.path().join(format!("{name}.kif")), game("")).unwrap();
    }
    let files = names.map(|name| format!("{name}.kif"));
    args.extend(files.iter().map(String::as_str));
    let mut command = Command::new(BINARY);
    command.current_dir(folder.path()).args(["compare", "--seconds", "0.05", "--steps", "30"]).args(args);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let results = folder.path().join("compare");
    let page = fs::read_to_string(results.join("compare.html")).unwrap();
    assert!(!page.contains("<script"), "{page}");
    assert_eq!(page.matches("&lt;script&gt;alert(1)&lt;").count(), 2 + 1 + 1, "rows, plot and command");
    let mut csv = csv::Reader::from_path(results.join("compare.csv")).unwrap();
    let rows: Vec<csv::StringRecord> = csv.records().map(Result::unwrap).collect();
    let expected: Vec<&str> = files.iter().flat_map(|file| [file.as_str(), file.as_str()]).collect();
    assert_eq!(rows.iter().map(|row| &row[0]).collect::<Vec<_>>(), expected);
}

#[test]
fn a_reasoner_that_fails_is_named_and_the_others_are_measured() {
    let folder = tempfile::tempdir().unwrap();
    // Terms without end: no network, and nothing else wants to know them.
    let endless =
        game("(num z) (<= (num (s ?x)) (num ?x)) (<= (legal you (count ?x)) (true (at 7)) (num ?x))");
    fs::write(folder.path().join("endless.kif"), endless).unwrap();
    fs::write(folder.path().join("none.kif"), "(role").unwrap();
    // No move at all: a rate of zero has no logarithm.
    fs::write(folder.path().join("over.kif"), game("terminal")).unwrap();
    let out = folder.path().join("out");
    let output = compare(&out, &[folder.path().to_str().unwrap(), "--reasoners", "interpreter,propnet"]);
    assert_eq!(output.status.code(), Some(1), "one of the games cannot be read");
    let json = json(&output);
    let failed: Vec<bool> =
        json["entries"].as_array().unwrap().iter().map(|it| it["speed"]["Err"].is_string()).collect();
    assert_eq!(failed, [false, true, false, false]);
    let unreadable = json["unreadable"][0].clone();
    assert!(unreadable["game"].as_str().unwrap().ends_with("none.kif"), "{json}");
    let page = fs::read_to_string(out.join("compare.html")).unwrap();
    assert!(page.contains("Not compared") && page.contains("none.kif"));
    assert!(!page.contains("NaN") && !page.contains("inf"), "{page}");
}

#[test]
fn one_reasoner_is_measured_alone() {
    let folder = tempfile::tempdir().unwrap();
    let output = compare(folder.path(), &["tic-tac-toe", "--reasoners", "interpreter"]);
    assert!(output.status.success());
    assert_eq!(json(&output)["summary"].as_array().unwrap().len(), 0);
    assert!(!fs::read_to_string(folder.path().join("compare.html")).unwrap().contains("By number of roles"));
}

#[test]
fn what_makes_no_comparison_is_wrong_usage() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().to_str().unwrap();
    for args in [
        &["no-such-game"][..],
        &[empty],
        &["/dev/null"],
        &["tic-tac-toe", "--reasoners", "propnet,propnet"],
        &["tic-tac-toe", "--reasoners", ""],
        &["tic-tac-toe", "--limit", "0"],
        &["tic-tac-toe", "--limit", "nan"],
        &["tic-tac-toe", "--limit", "1e300"],
        &["tic-tac-toe", "--limit=-1"],
    ] {
        let output = compare(&folder.path().join("out"), args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    // Not a folder.
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let output = compare(&file, &["tic-tac-toe"]);
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The processes that a process has started and not buried.
fn children(parent: u32) -> Vec<u32> {
    let stat = |pid: u32| fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // Behind the name, which may have blanks: the state and the parent.
    let parent_of = |stat: &str| stat.rsplit(") ").next()?.split(' ').nth(1)?.parse::<u32>().ok();
    let processes =
        fs::read_dir("/proc").unwrap().filter_map(|it| it.ok()?.file_name().to_str()?.parse().ok());
    processes.filter(|&pid| parent_of(&stat(pid)) == Some(parent)).collect()
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let is_so = (0..6000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        is_so()
    });
    assert!(is_so, "{what}");
}

#[test]
fn a_comparison_that_is_killed_leaves_no_process_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(BINARY);
    command
        .args(["compare", "tic-tac-toe", "hanoi", "--seconds", "3600", "--limit", "3600", "--out"])
        .arg(folder.path());
    let mut comparison = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut measuring = Vec::new();
    wait_until("a measurement begins", || {
        measuring = children(comparison.id());
        !measuring.is_empty()
    });
    comparison.kill().unwrap();
    comparison.wait().unwrap();
    wait_until("the measurement ends too", || {
        measuring.iter().all(|pid| !Path::new(&format!("/proc/{pid}")).exists())
    });
    assert!(compare(folder.path(), &["tic-tac-toe"]).status.success());
}
