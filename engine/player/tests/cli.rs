//! The command line: help, wrong usage, and the shapes of the JSON outputs.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Folder, PAINT, json_of, run, stdout_of};
use serde_json::{Value, json};

const COMMANDS: [&str; 9] =
    ["player", "match", "tournament", "search", "perft", "replay", "check", "speed", "games"];

/// A folder with the game [`PAINT`] in it.
fn paint_folder() -> Folder {
    let folder = Folder::new();
    folder.write("paint.kif", PAINT);
    folder
}

#[test]
fn every_command_has_help_with_examples() {
    assert!(stdout_of(&["--help"]).contains("Examples:"));
    for command in COMMANDS {
        let help = stdout_of(&[command, "--help"]);
        assert!(help.contains("Examples:") && help.contains(&format!("daggerboard {command}")), "{command}");
        assert!(help.contains("--json"), "{command}");
    }
}

/// What is copied from a help text must be a whole command.
#[test]
fn examples_fit_a_narrow_terminal() {
    for command in COMMANDS {
        let help = stdout_of(&[command, "--help"]);
        let examples = help.lines().skip_while(|line| *line != "Examples:").skip(1);
        let examples: Vec<&str> = examples.take_while(|line| !line.is_empty()).collect();
        assert!(!examples.is_empty(), "{command}");
        for example in examples {
            // A file that a command reads is made by the one before it.
            let is_command = ["  daggerboard ", "  echo "].iter().any(|it| example.starts_with(it));
            assert!(is_command && example.len() <= 80, "{example}");
        }
    }
}

#[test]
fn wrong_usage_exits_with_2_and_says_why() {
    let folder = paint_folder();
    let game = folder.file("paint.kif");
    let cases: [(&[&str], &str); 10] = [
        (&[], "Usage"),
        (&["dance"], "unrecognized subcommand"),
        (&["perft", &game], "--depth"),
        (&["perft", "no-such-game", "--depth", "1"], "neither a file nor a shipped game"),
        (&["perft", "tic-tac-tow", "--depth", "1"], "did you mean tic-tac-toe"),
        (&["perft", &game, "--depth", "1", "--reasoner", "magic"], "there is no reasoner"),
        (&["match", &game, "--player", "random"], "1 players for 2 roles"),
        (&["match", &game, "--player", "me", "--player", "you"], "is no player"),
        (&["search", &game, "--role", "carl"], "the roles are Ann bob"),
        (&["search", &game, "--config", "ucb"], "known are uct"),
    ];
    for (args, wanted) in cases {
        let output = run(args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
        assert!(stderr.contains(wanted), "{args:?}: {stderr}");
        assert!(output.stdout.is_empty(), "{args:?}");
    }
}

#[test]
fn work_that_fails_exits_with_1() {
    let folder = paint_folder();
    let game = folder.file("paint.kif");
    let broken = folder.write("broken.kif", "(role a");
    let moves = folder.write("moves.json", r#"[["(paint 9)", "noop"]]"#);
    for args in [
        &["perft", &broken, "--depth", "1"][..],
        &["replay", &game, "--moves", &moves],
        &["replay", &game, "--moves", &folder.file("none.json")],
        &["check", &broken],
    ] {
        assert_eq!(run(args).status.code(), Some(1), "{args:?}");
    }
}

#[test]
fn perft_counts() {
    let folder = paint_folder();
    let game = folder.file("paint.kif");
    let counts = json_of(&["perft", &game, "--depth", "5", "--json"]);
    assert_eq!(counts["perft"], json!([3, 6, 6]));
    assert_eq!(counts["distinct"], json!([3, 6, 3]));
    assert_eq!(counts["distinct_terminal"], json!([0, 0, 3]));
    let state =
        folder.write("state.json", r#"["(cell 1 blank)", "(cell 2 blank)", "(cell 3 bob)", "(turn Ann)"]"#);
    let counts = json_of(&["perft", &game, "--depth", "5", "--state", &state, "--json"]);
    assert_eq!(counts["perft"], json!([2, 2]));
}

#[test]
fn replay_speaks_the_golden_datas_language() {
    let folder = paint_folder();
    let game = folder.file("paint.kif");
    // Moves are compared without case.
    let moves = folder.write("moves.json", r#"[["(paint 2)", "noop"], ["noop", "(Paint 1)"]]"#);
    let told = json_of(&["replay", &game, "--moves", &moves, "--full", "--json"]);
    assert_eq!(told["steps"][0]["n"], json!([3, 1]));
    assert_eq!(told["steps"][0]["m"], json!(["(paint 2)", "noop"]));
    // FNV-1a over the facts of the initial state, computed apart from this program.
    assert_eq!(told["steps"][0]["h"], "505b8e2ef936354f");
    assert_eq!(told["steps"][0]["l"], "bd5e636de4dfb3fc");
    assert_eq!(told["final_state"], json!(["(cell 1 bob)", "(cell 2 ann)", "(cell 3 blank)", "(turn ann)"]));
    assert_eq!(told["final_n"], 4);
    assert_eq!(told["terminal"], false);
    assert_eq!(told["roles"], json!(["ann", "bob"]));
    assert_eq!(told["final_legal"], json!({ "ann": ["(paint 3)"], "bob": ["noop"] }));
    assert_eq!(told["goals"], json!([0, 100]));
    let other = folder.write("trace.json", r#"{"steps": [{"m": ["(paint 2)", "noop"]}]}"#);
    assert_eq!(
        json_of(&["replay", &game, "--moves", &other, "--json"])["steps"].as_array().map(Vec::len),
        Some(1)
    );
}

#[test]
fn goals_are_null_where_none_or_several_hold() {
    let folder = paint_folder();
    let rules = "(role a) (role b) (init x) (legal a go) (legal b go) (<= (next done) (true x)) \
                 (<= terminal (true done)) (goal a 10) (goal a 20) (<= (goal b 50) (true nothing))";
    let game = folder.write("goals.kif", rules);
    let none = folder.write("none.json", "[]");
    let one = folder.write("one.json", r#"{"moves": [["go", "go"]]}"#);
    assert_eq!(json_of(&["replay", &game, "--moves", &none, "--json"])["goals"], json!([null, null]));
    assert_eq!(json_of(&["replay", &game, "--moves", &one, "--json"])["goals"], json!([20, null]));
}

#[test]
fn search_reports_moves_and_numbers_and_is_repeatable() {
    let folder = paint_folder();
    let game = folder.file("paint.kif");
    let args =
        ["search", &game, "--threads", "1", "--seed", "7", "--playouts", "200", "--memory", "64M", "--json"];
    let first = json_of(&args);
    assert_eq!((&first["role"], &first["playouts"]), (&json!("Ann"), &json!(200)));
    assert_eq!(first["moves"].as_array().map(Vec::len), Some(3));
    assert!(first["best"].as_str().is_some_and(|best| best.starts_with("(Paint ")), "{first}");
    for key in ["playouts_per_s", "nodes", "edges", "counters"] {
        assert!(!first[key].is_null(), "{key}");
    }
    let second = json_of(&args);
    assert_eq!((&first["moves"], &first["nodes"]), (&second["moves"], &second["nodes"]));
    let bob = json_of(&["search", &game, "--role", "BOB", "--playouts", "10", "--memory", "64M", "--json"]);
    assert_eq!(bob["best"], "noop");
}

#[test]
fn speed_reports_rates() {
    let folder = paint_folder();
    let told = json_of(&["speed", &folder.file("paint.kif"), "--seconds", "0.2", "--threads", "2", "--json"]);
    assert_eq!(told["mean_length"], 3.0);
    assert_eq!(told["mean_goals"], json!([100.0, 0.0]));
    for key in ["rollouts_per_s", "transitions_per_s", "setup_s", "cpu_s"] {
        assert!(told[key].is_number(), "{key}");
    }
}

#[test]
fn check_judges_every_file() {
    let folder = paint_folder();
    let broken = folder.write("broken.kif", "(role a) (legal a");
    let absent = folder.file("absent.kif");
    let stuck = folder.write(
        "stuck.kif",
        "(role a) (init x) (<= (legal a go) (true y)) (<= (next y) (true x)) (<= terminal (true z)) \
         (<= (next z) (true z)) (goal a 0)",
    );
    let output =
        run(&["check", &broken, &absent, &folder.file("paint.kif"), &stuck, "--simulate", "2", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let verdicts: Vec<&str> = lines.iter().map(|line| line["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts[..2], ["invalid", "invalid"]);
    assert_ne!(verdicts[2], "invalid", "{}", lines[2]);
    assert_eq!(lines[0]["messages"][0]["line"], 1);
    assert_eq!(lines[0]["messages"][0]["severity"], "error");
    assert!(lines[0]["messages"][0]["hint"].is_string());
    assert!(lines[3].to_string().contains("no legal move"), "{}", lines[3]);
}

#[test]
fn games_are_listed_and_shown() {
    assert!(stdout_of(&["games"]).contains("tic-tac-toe"));
    assert!(stdout_of(&["games", "--show", "tic-tac-toe"]).contains("(role "));
    let first = stdout_of(&["games", "--json"]);
    let first: Value = serde_json::from_str(first.lines().next().unwrap()).unwrap();
    assert!(first["name"].is_string() && first["summary"].is_string());
}
