//! Whole matches between players here and over real connections, and their records.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use common::{PAINT, Player, run, stdout_of};
use serde_json::{Value, json};

fn game_in(folder: &Path, rules: &str) -> String {
    let path = folder.join("game.kif");
    std::fs::write(&path, rules).unwrap();
    path.display().to_string()
}

fn records_in(folder: &Path) -> Vec<(PathBuf, Value)> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
        .into_iter()
        .map(|path| {
            let record = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
            (path, record)
        })
        .collect()
}

#[test]
fn players_of_ours_play_in_process_and_over_loopback() {
    for loopback in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let game = game_in(folder.path(), PAINT);
        let records = folder.path().join("records").display().to_string();
        let mut args = vec![
            "match",
            &game,
            "--player",
            "self:playouts=50,memory=64M,seed=1",
            "--player",
            "self:playouts=50,memory=64M,seed=2",
            "--start",
            "5",
            "--play",
            "5",
            "--seed",
            "3",
            "--records",
            &records,
            "--json",
        ];
        args.extend(loopback.then_some("--loopback"));
        let told: Value = serde_json::from_str(&stdout_of(&args)).unwrap();
        assert_eq!((&told["status"], &told["steps"]), (&json!("completed"), &json!(3)), "{told}");
        assert_eq!((&told["goals"], &told["errors"]), (&json!([100, 0]), &json!([])), "{told}");
        let record = told["record"].as_str().unwrap();
        let replayed: Value =
            serde_json::from_str(&stdout_of(&["replay", &game, "--moves", record, "--json"])).unwrap();
        assert_eq!((&replayed["terminal"], &replayed["goals"]), (&json!(true), &json!([100, 0])));
        let (_, record) = records_in(Path::new(&records)).remove(0);
        let hashes = record["state_hashes"].as_array().unwrap();
        assert_eq!(hashes.last(), Some(&replayed["final_h"]));
        assert_eq!(hashes[0], replayed["steps"][0]["h"]);
    }
}

#[test]
fn a_remote_player_is_played_against_and_is_free_afterwards() {
    let player = Player::start(&["--playouts", "50"]);
    let folder = tempfile::tempdir().unwrap();
    let game = game_in(folder.path(), PAINT);
    let records = folder.path().join("records").display().to_string();
    let remote = format!("http://127.0.0.1:{}", player.port());
    let text = stdout_of(&[
        "match",
        &game,
        "--player",
        &remote,
        "--player",
        "legal",
        "--start",
        "5",
        "--play",
        "5",
        "--repeat",
        "2",
        "--rotate",
        "--records",
        &records,
        "--quiet",
        "--json",
    ]);
    let told: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(told.len(), 2);
    assert_eq!(told[0]["players"], json!([remote, "legal"]));
    assert_eq!(told[1]["players"], json!(["legal", remote]));
    assert!(told.iter().all(|one| one["errors"] == json!([]) && one["status"] == "completed"), "{text}");
    assert!(player.is_available());
}

#[test]
fn a_player_that_is_not_there_is_played_for() {
    let folder = tempfile::tempdir().unwrap();
    let game = game_in(folder.path(), PAINT);
    let records = folder.path().join("records").display().to_string();
    // Nobody listens at a port that was free a moment ago.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let absent = format!("http://{free}");
    let told: Value = serde_json::from_str(&stdout_of(&[
        "match",
        &game,
        "--player",
        &absent,
        "--player",
        "random",
        "--start",
        "1",
        "--play",
        "1",
        "--records",
        &records,
        "--quiet",
        "--json",
    ]))
    .unwrap();
    assert_eq!(told["status"], "completed");
    let errors = told["errors"].as_array().unwrap();
    assert!(errors.len() == 4 && errors.iter().all(|error| error["error"] == "CE"), "{told}");
}

/// A player that answers every PLAY with `answer`, or with nothing at all; its address.
fn scripted_player(answer: Option<&'static str>) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let mut held = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut bytes = [0; 1 << 16];
            let length = stream.read(&mut bytes).unwrap();
            let text = String::from_utf8_lossy(&bytes[..length]).into_owned();
            let reply = if text.contains("( PLAY") { answer } else { Some("ready") };
            match reply {
                // Without a length, as some players answer; the end of the stream is the end of the answer.
                Some(reply) => write!(stream, "HTTP/1.0 200 OK\r\n\r\n{reply}").unwrap(),
                None => held.push(stream),
            }
        }
    });
    address
}

#[test]
fn illegal_unreadable_and_late_moves_are_replaced() {
    let cases =
        [(Some("(fly 1)"), "IL (fly 1)"), (Some("busy"), "IL busy"), (Some("(("), "IL (("), (None, "TO")];
    for (answer, wanted) in cases {
        let folder = tempfile::tempdir().unwrap();
        let game = game_in(folder.path(), PAINT);
        let records = folder.path().join("records").display().to_string();
        let bad = scripted_player(answer);
        let text = stdout_of(&[
            "match",
            &game,
            "--player",
            &bad,
            "--player",
            "legal",
            "--start",
            "5",
            "--play",
            "1",
            "--records",
            &records,
            "--quiet",
            "--json",
        ]);
        let told: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(told["status"], "completed", "{told}");
        let errors = told["errors"].as_array().unwrap();
        assert_eq!(errors.len(), 3, "{told}");
        for (error, step) in errors.iter().zip(1..) {
            assert_eq!(error, &json!({ "step": step, "role": "Ann", "error": wanted }));
        }
    }
}

#[test]
fn chance_is_played_by_the_manager() {
    let folder = tempfile::tempdir().unwrap();
    let rules = "(role Random) (role a) (init x) (legal Random heads) (legal Random tails) (legal a go) \
                 (<= (next (fell ?f)) (does Random ?f)) (<= terminal (true (fell ?f))) \
                 (goal Random 0) (<= (goal a 100) (true (fell heads))) (<= (goal a 0) (true (fell tails)))";
    let game = game_in(folder.path(), rules);
    let records = folder.path().join("records").display().to_string();
    let told: Value = serde_json::from_str(&stdout_of(&[
        "match",
        &game,
        "--player",
        "self:playouts=5,memory=64M",
        "--start",
        "5",
        "--play",
        "5",
        "--records",
        &records,
        "--quiet",
        "--json",
    ]))
    .unwrap();
    assert_eq!((&told["status"], &told["players"][0]), (&json!("completed"), &json!("random")), "{told}");
}

#[test]
fn a_match_in_which_a_role_is_stuck_is_recorded_and_fails() {
    let folder = tempfile::tempdir().unwrap();
    let rules = "(role a) (init x) (<= (legal a go) (true x)) (<= (next y) (true x)) (<= terminal (true z)) \
                 (<= (next z) (true z)) (goal a 0)";
    let game = game_in(folder.path(), rules);
    let records = folder.path().join("records").display().to_string();
    let output = run(&["match", &game, "--player", "random", "--records", &records, "--quiet"]);
    assert_eq!(output.status.code(), Some(1));
    let (_, record) = records_in(Path::new(&records)).remove(0);
    assert_eq!((&record["status"], &record["moves"]), (&json!("no_legal_move"), &json!([["go"]])));
}
