//! The real binary tunes, goes on where it was, and says what cannot be tuned.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const PLAN: &str = r#"
games = ["samegame:5,colours=3,seed={seed},epsilon={epsilon}"]
spec = "config=uct,playouts=30,c={c}"
games_per_sample = 3
samples = 6
elite = 2
iterations = 2
check = 5
[[parameter]]
name = "c"
low = 0
high = 1000
integer = true
[[parameter]]
name = "epsilon"
low = 0
high = 0.5
start = 0.003
"#;

fn tune(folder: &Path, plan: &str, args: &[&str]) -> Output {
    let file = folder.join("plan.toml");
    fs::write(&file, plan).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_daggerboard-bench"));
    command.arg("tune").arg(&file).arg("--out").arg(folder.join("out")).args(args).output().unwrap()
}

fn report(output: &Output) -> serde_json::Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn history(folder: &Path) -> Vec<String> {
    let text = fs::read_to_string(folder.join("out/history.jsonl")).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn a_run_that_goes_on_ends_as_one_that_was_never_stopped() {
    let [whole, parts] = [0, 1].map(|_| tempfile::tempdir().unwrap());
    let at_once = report(&tune(whole.path(), PLAN, &["--json", "--jobs", "2"]));
    assert_eq!(at_once["iterations"].as_array().unwrap().len(), 2);
    assert_eq!(at_once["check"]["games"], 5);
    assert_eq!(
        at_once["iterations"][0]["spreads"][0],
        serde_json::json!({"mean": 500.0, "deviation": 500.0})
    );
    let svg = fs::read_to_string(whole.path().join("out/history.svg")).unwrap();
    assert!(svg.contains("epsilon: mean and deviation"));
    let lines = history(whole.path());
    assert_eq!(lines.len(), 2 * 6 * 3 + 2 * 5);
    // A kill in the middle of a line of the second iteration.
    fs::create_dir(parts.path().join("out")).unwrap();
    let cut = format!("{}\n{}", lines[..20].join("\n"), &lines[20][..30]);
    fs::write(parts.path().join("out/history.jsonl"), cut).unwrap();
    assert_eq!(report(&tune(parts.path(), PLAN, &["--json", "--jobs", "1"])), at_once);
    assert_eq!(history(parts.path()).len(), lines.len() + 1);
    // Nothing is played again.
    assert_eq!(report(&tune(parts.path(), PLAN, &["--json"])), at_once);
    assert_eq!(history(parts.path()).len(), lines.len() + 1);
}

#[test]
fn systems_for_games_of_one_role_have_their_parameters_tuned() {
    let folder = tempfile::tempdir().unwrap();
    let spec = "config=sp-mcts(c={c},d=10,t=0,restarts=1),playouts=60";
    let plan = PLAN.replace("config=uct,playouts=30,c={c}", spec);
    assert!(plan.contains(spec));
    let by_system = report(&tune(folder.path(), &plan, &["--json"]));
    let kept: Vec<serde_json::Value> =
        history(folder.path()).iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    // The values reach the search: samples differ in what they come to on the same board.
    let scores = |game_idx| -> Vec<f64> {
        let of_game = kept.iter().filter(|it| it["iteration"] == 0 && it["game_idx"] == game_idx);
        of_game.map(|it| it["score"].as_f64().unwrap()).collect()
    };
    assert!((0..3).any(|game_idx| scores(game_idx).windows(2).any(|pair| pair[0] != pair[1])));
    assert!(kept.iter().all(|it| it["spec"].as_str().unwrap().starts_with("config=sp-mcts(c=")));
    let uct = tempfile::tempdir().unwrap();
    let by_uct = report(&tune(uct.path(), &PLAN.replace("playouts=30", "playouts=60"), &["--json"]));
    assert_ne!(by_system["iterations"][0]["mean_score"], by_uct["iterations"][0]["mean_score"]);
}

#[test]
fn games_of_several_roles_are_played_against_an_opponent() {
    let folder = tempfile::tempdir().unwrap();
    let plan = r#"
games = ["hex:3"]
spec = "config=uct,playouts={playouts},c=20"
against = "config=uct,playouts=5,c=20"
games_per_sample = 6
samples = 4
elite = 2
iterations = 2
[[parameter]]
name = "playouts"
low = 1
high = 200
integer = true
"#;
    let told = report(&tune(folder.path(), plan, &["--json"]));
    let scores = told["iterations"].as_array().unwrap();
    assert!(scores.iter().all(|it| (0.0..=1.0).contains(&it["best_score"].as_f64().unwrap())));
    let alone = plan.replace("against", "#against");
    let output = tune(folder.path(), &alone, &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("give `against`"));
}

#[test]
fn a_file_that_is_no_plan_is_wrong_usage() {
    let folder = tempfile::tempdir().unwrap();
    for (plan, word) in [(PLAN.replace("elite = 2", "elite = 7"), "elite"), ("games = 3".to_owned(), "games")]
    {
        let output = tune(folder.path(), &plan, &[]);
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains(word));
    }
    let example = Command::new(env!("CARGO_BIN_EXE_daggerboard-bench")).args(["tune", "--example"]).output();
    assert!(String::from_utf8(example.unwrap().stdout).unwrap().contains("[[parameter]]"));
}
