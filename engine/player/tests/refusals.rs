//! What the commands refuse or fail at, and how they say so.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::io::Write;

use common::{Folder, PAINT, daggerboard, json_lines, json_of, run, stdout_of};
use search::Config;
use serde_json::json;

/// What found nothing says so and names no move, in either form.
#[test]
fn searches_and_rollouts_that_find_nothing_fail() {
    let folder = Folder::new();
    let write = |name: &str, rules: &str| folder.write(name, &format!("(role a) (goal a 50) {rules}"));
    let stuck = write("stuck.kif", "(init x) (<= (legal a go) (true y)) (next x) (<= terminal (true y))");
    let endless = write(
        "endless.kif",
        "(init (n z)) (legal a go) (legal a stay) (<= (next (n (s ?x))) (true (n ?x))) (<= terminal (true y))",
    );
    for (args, wanted) in [
        (["search", "tic-tac-toe", "--seconds=1e-9"], "--seconds"),
        (["search", &stuck, "--seconds=5"], "no legal move"),
        (["search", &endless, "--playouts=1"], "deeper than"),
        (["speed", &stuck, "--seconds=0.1"], "stuck"),
        (["speed", &endless, "--seconds=5"], "deeper than"),
    ] {
        for form in [&[][..], &["--json"]] {
            let output = run(&[&args, form].concat());
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{args:?}: {stderr}");
            assert!(stderr.contains(wanted), "{args:?}: {stderr}");
            assert!(output.stdout.is_empty(), "{args:?}");
        }
    }
    // One playout is enough for an answer that stands on something.
    for config in Config::ALL.map(|config| config.to_string()) {
        let args = ["search", "tic-tac-toe", "--playouts=1", "--rollouts=1", "--config", &config];
        let told = json_of(&[&args[..], &["--memory=64M", "--json"]].concat());
        let best = told["moves"].as_array().unwrap().iter().find(|it| it["move"] == told["best"]).unwrap();
        assert_eq!(best["visits"], 1, "{told}");
    }
}

#[test]
fn time_is_not_managed_where_playouts_are_counted() {
    let output = run(&["player", "--port=0", "--no-records", "--playouts=5", "--time=managed"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("--time=managed: with playouts no time is measured"), "{stderr}");
}

/// A number below 0 stands behind its option as any other value does.
#[test]
fn numbers_below_nothing_are_told_what_the_option_wants() {
    for (option, wanted) in [
        ("--c", "a number from 0 to 1000000"),
        ("--discount", "above 0 and at most 1"),
        ("--rave-bias", "a number from 0 to 1"),
        ("--pn-bias", "a number from 0 to 1000000"),
        ("--seconds", "more than 0"),
        ("--threads", "1 to 1024 threads"),
        ("--memory", "a number of bytes"),
        ("--playouts", "a whole number of playouts above 0"),
        ("--seed", "a whole number from 0"),
    ] {
        let output = run(&["search", "tic-tac-toe", option, "-1"]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{option}: {stderr}");
        assert!(stderr.contains(&format!("invalid value '-1' for '{option}")), "{stderr}");
        assert!(stderr.contains(wanted), "{stderr}");
    }
}

/// A player that cannot search would play its first legal moves, and nobody would notice.
#[test]
fn options_that_no_search_takes_are_wrong_usage() {
    let folder = Folder::new();
    let records = folder.file("");
    // The port is taken: a player that is not refused ends, too, with another code.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let settings = [
        ("threads", "0", "1 to 1024 threads"),
        ("threads", "1025", "1 to 1024 threads"),
        ("c", "nan", "a number from 0 to 1000000"),
        ("c", "-1", "a number from 0 to 1000000"),
        ("c", "1e308", "a number from 0 to 1000000"),
        ("memory", "1K", "at least 1048576 bytes"),
        ("pin", "99999", "no such core"),
        ("pin", "-1", "no such core"),
        ("playouts", "0", "a whole number of playouts above 0"),
        ("config", "ucb", "known are uct, uct+t, ucd(d1,d2,d3)"),
        ("config", "ucd(1,0)", "such as ucd(1,0,1)"),
        ("config", "ucd-paper(1,0,17)", "each 0 to 16 or inf"),
        ("config", "rave-ucd(1,0,1)", "takes 2 depths"),
        ("payoffs", "leaves", "edges, nodes"),
        // Not under the usual configuration.
        ("payoffs", "edges", "uct+t keeps its payoffs in one way only"),
        ("aim", "win", "own, difference, own-then-other"),
        ("discount", "0", "above 0 and at most 1"),
        ("discount", "1.5", "above 0 and at most 1"),
        ("unexplored", "gibbs(0)", "TAU above 0"),
        ("in-flight", "loss(nan)", "WEIGHT above 0"),
        ("simultaneous", "nash", "ucb1, regret-matching"),
        ("final-move", "last", "visits, mean, top"),
        ("rave-bias", "2", "a number from 0 to 1"),
        ("pn-bias", "1000001", "a number from 0 to 1000000"),
        // Without a solver.
        ("pn-bias", "10", "turn the solver on"),
    ];
    for (key, value, reason) in settings {
        let option = format!("--{key}={value}");
        let spec = format!("self:{key}={value}");
        for args in [
            &["search", "tic-tac-toe", &option][..],
            &["player", "--port", &port, "--bind", "127.0.0.1", &option],
            &["match", "tic-tac-toe", "--player", &spec, "--player", "random", "--records", &records],
        ] {
            let output = run(args);
            assert_eq!(output.status.code(), Some(2), "{args:?}");
            assert!(output.stdout.is_empty(), "{args:?}");
            let told = String::from_utf8_lossy(&output.stderr);
            assert!(told.contains(key) && told.contains(value) && told.contains(reason), "{args:?}: {told}");
        }
    }
}

#[test]
fn numbers_that_make_no_sense_are_wrong_usage() {
    let random = ["match", "tic-tac-toe", "--player", "random", "--player", "random"];
    for more in ["--repeat=0", "--start=0", "--play=0", "--grace=nan", "--grace=-1", "--max-steps=0"] {
        assert_eq!(run(&[&random[..], &[more]].concat()).status.code(), Some(2), "{more}");
    }
    for seconds in ["0", "-0", "-1", "nan", "inf", "1e9", "x", ""] {
        for command in ["search", "speed"] {
            let output = run(&[command, "tic-tac-toe", &format!("--seconds={seconds}")]);
            assert_eq!(output.status.code(), Some(2), "{command} {seconds:?}");
            assert!(String::from_utf8_lossy(&output.stderr).contains("--seconds"), "{command} {seconds:?}");
        }
    }
    for args in [
        &["perft", "tic-tac-toe", "--depth=0"][..],
        &["perft", "tic-tac-toe", "--depth=-1"],
        &["speed", "tic-tac-toe", "--threads", "0"],
        &["search", "tic-tac-toe", "--seconds", "1", "--playouts", "1"],
        &["player", "--port", "65536"],
        &["player", "--name", "two words"],
        &["games", "--show", "no-such-game"],
    ] {
        assert_eq!(run(args).status.code(), Some(2), "{args:?}");
    }
}

#[test]
fn moves_that_are_no_moves_are_named_with_their_step() {
    let folder = Folder::new();
    let game = folder.write("paint.kif", PAINT);
    let cases = [
        (r#"[["(paint 1)", "noop"], ["noop", "(paint 1)"]]"#, "step 2"),
        (r#"[["(paint 1)"]]"#, "1 moves for 2 roles"),
        (r#"[["(paint 1)", 5]]"#, "joint move 1"),
        (r#"["noop"]"#, "joint move 1"),
        (r#"[["(paint 1", "noop"]]"#, "joint move 1"),
        (r#"{"moves": {}}"#, "no moves"),
        ("(paint 1)", "moves.json"),
    ];
    for (text, wanted) in cases {
        let moves = folder.write("moves.json", text);
        let output = run(&["replay", &game, "--moves", &moves, "--json"]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{text}: {stderr}");
        assert!(stderr.contains(wanted) && stderr.contains("hint:"), "{text}: {stderr}");
        assert!(output.stdout.is_empty(), "{text}");
    }
}

#[test]
fn a_match_that_cannot_be_recorded_or_does_not_end_fails() {
    let folder = Folder::new();
    let random = ["--player", "random", "--player", "random"];
    let output = folder.run_match("tic-tac-toe", &[&random[..], &["--max-steps", "2"]].concat());
    assert_eq!(output.status.code(), Some(1));
    let told = &json_lines(&output.stdout)[0];
    assert_eq!((&told["status"], &told["steps"]), (&json!("too_many_steps"), &json!(2)));
    assert_eq!(told["goals"], json!([null, null]));
    let file = folder.write("file", "");
    let output = run(&[&["match", "tic-tac-toe", "--records", &file], &random[..]].concat());
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--records"));
    assert!(output.stdout.is_empty(), "it is noticed before the match");
}

#[test]
#[cfg(target_os = "linux")]
fn a_result_that_cannot_be_written_is_a_failure() {
    for args in [&["games"][..], &["games", "--json"], &["perft", "tic-tac-toe", "--depth", "1"]] {
        // Writing there fails as on a full disk.
        let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else {
            return eprintln!("skipped: there is no /dev/full");
        };
        let output = daggerboard().args(args).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("cannot be written"), "{args:?}");
    }
}

/// What other systems and shells hand over: pipes, devices, byte order marks.
#[test]
#[cfg(target_os = "linux")]
fn files_that_are_none_are_read_all_the_same_or_refused() {
    let folder = Folder::new();
    let marked = folder.write("state.json", "\u{feff}[\"(turn cross)\"]");
    let told = json_of(&["perft", "tic-tac-toe", "--depth", "1", "--state", &marked, "--json"]);
    assert_eq!(told["perft"], json!([9]));
    let marked = folder.write("moves.json", "\u{feff}[]");
    assert_eq!(json_of(&["replay", "tic-tac-toe", "--moves", &marked, "--json"])["steps"], json!([]));
    let mut child = daggerboard()
        .args(["perft", "/dev/stdin", "--depth", "1", "--json"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(stdout_of(&["games", "--show", "tic-tac-toe"]).as_bytes()).unwrap();
    let told = json_lines(&child.wait_with_output().unwrap().stdout);
    assert_eq!(told[0]["perft"], json!([9]));
    for args in [&["check", "/dev/zero"][..], &["replay", "tic-tac-toe", "--moves", "/dev/zero"]] {
        assert_eq!(run(args).status.code(), Some(1), "{args:?}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let mut child = daggerboard().args(["games"]).stdout(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}
