//! Whole matches between players here and over real connections, and their records.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::io::{Read, Write};

use common::{Folder, PAINT, Player, daggerboard, json_lines, json_of, record_of, run};
use serde_json::{Value, json};

/// Long enough for everybody.
const CALM: [&str; 4] = ["--start", "5", "--play", "5"];

#[test]
fn players_of_ours_play_in_process_and_over_loopback() {
    let players =
        ["--player", "self:playouts=50,memory=64M,seed=1", "--player", "self:playouts=50,memory=64M,seed=2"];
    for loopback in [&[][..], &["--loopback"]] {
        let folder = Folder::new();
        let game = folder.write("game.kif", PAINT);
        let told = folder.play(&game, &[&players, &CALM[..], loopback, &["--seed", "3"]].concat());
        assert_eq!((&told["status"], &told["steps"]), (&json!("completed"), &json!(3)), "{told}");
        assert_eq!((&told["goals"], &told["errors"]), (&json!([100, 0]), &json!([])), "{told}");
        let replayed = json_of(&["replay", &game, "--moves", told["record"].as_str().unwrap(), "--json"]);
        assert_eq!((&replayed["terminal"], &replayed["goals"]), (&json!(true), &json!([100, 0])));
        let record = record_of(&told);
        let hashes = record["state_hashes"].as_array().unwrap();
        assert_eq!(hashes.last(), Some(&replayed["final_h"]));
        assert_eq!(hashes[0], replayed["steps"][0]["h"]);
    }
}

#[test]
fn a_remote_player_is_played_against_and_is_free_afterwards() {
    let player = Player::start(&["--playouts", "50"]);
    let folder = Folder::new();
    let game = folder.write("game.kif", PAINT);
    let remote = format!("http://127.0.0.1:{}", player.port());
    let args = ["--player", &remote, "--player", "legal", "--repeat", "2", "--rotate"];
    let output = folder.run_match(&game, &[&args, &CALM[..]].concat());
    let told = json_lines(&output.stdout);
    assert!(output.status.success() && told.len() == 2, "{told:?}");
    assert_eq!(told[0]["players"], json!([remote, "legal"]));
    assert_eq!(told[1]["players"], json!(["legal", remote]));
    assert!(told.iter().all(|one| one["errors"] == json!([]) && one["status"] == "completed"), "{told:?}");
    assert!(player.is_available());
}

#[test]
fn a_player_that_is_not_there_is_played_for() {
    let folder = Folder::new();
    let game = folder.write("game.kif", PAINT);
    // Nobody listens at a port that was free a moment ago.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let absent = format!("http://{free}");
    let told =
        folder.play(&game, &["--player", &absent, "--player", "random", "--start", "1", "--play", "1"]);
    assert_eq!(told["status"], "completed");
    let errors = told["errors"].as_array().unwrap();
    assert!(errors.len() == 4 && errors.iter().all(|error| error["error"] == "CE"), "{told}");
}

/// What each search logs tells whether a settled choice has ended it.
#[test]
fn managed_time_ends_turns_whose_choice_is_settled() {
    let folder = Folder::new();
    for (settings, clock, is_ended) in [
        ("time=whole,cpu=0.2", "5", false),
        ("time=managed,cpu=0.2", "5", true),
        ("time=managed", "1", true),
        ("time=whole", "1", false),
    ] {
        let player = format!("self:{settings},reasoner=interpreter,memory=64M,seed=1");
        let args = ["match", "tic-tac-toe", "--player", &player, "--player", "legal", "--start", clock];
        let more = ["--play", clock, "--records", &folder.records(), "--quiet", "--json", "--verbose"];
        let output = daggerboard().env_remove("RUST_LOG").args(args).args(more).output().unwrap();
        let (told, log) = (json_lines(&output.stdout).remove(0), String::from_utf8_lossy(&output.stderr));
        assert_eq!((&told["status"], &told["errors"]), (&json!("completed"), &json!([])), "{told}");
        assert!(log.contains("settled=false"), "the search for START has all its time: {log}");
        assert_eq!(log.contains("settled=true"), is_ended, "{settings}: {log}");
    }
}

/// By the searches that are logged of the first role: one for START and one for each of its turns with a choice, and one for
/// each turn of the other's while it ponders.
#[test]
fn who_does_not_ponder_thinks_in_its_own_turns_only() {
    let folder = Folder::new();
    for ponders in [true, false] {
        let switch = if ponders { "on" } else { "off" };
        let player = format!("self:ponder={switch},reasoner=interpreter,memory=64M,seed=1");
        let args = ["match", "tic-tac-toe", "--player", &player, "--player", "self:cpu=0.05", "--start", "1"];
        let more = ["--play", "1", "--records", &folder.records(), "--quiet", "--json", "--verbose"];
        let output = daggerboard().env_remove("RUST_LOG").args(args).args(more).output().unwrap();
        let (told, log) = (json_lines(&output.stdout).remove(0), String::from_utf8_lossy(&output.stderr));
        let is_of_first = |line: &&str| line.contains("role=cross") && line.contains("search done");
        let n_searches = log.lines().filter(is_of_first).count();
        let n_turns = told["steps"].as_u64().unwrap().div_ceil(2);
        assert_eq!(n_searches as u64 > 1 + n_turns, ponders, "{n_searches} searches, {n_turns} turns: {log}");
    }
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
    let cases = [
        (Some("(fly 1)"), "IL (fly 1)"),
        (Some("busy"), "IL busy"),
        (Some("(("), "IL (("),
        // What a terminal would obey is not passed on.
        (Some("\u{1b}[2J"), "IL \u{fffd}[2J"),
        (Some(""), "IL "),
        (None, "TO"),
    ];
    for (answer, wanted) in cases {
        let folder = Folder::new();
        let game = folder.write("game.kif", PAINT);
        let bad = scripted_player(answer);
        let told =
            folder.play(&game, &["--player", &bad, "--player", "legal", "--start", "5", "--play", "1"]);
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
    let folder = Folder::new();
    let rules = "(role Random) (role a) (init x) (legal Random heads) (legal Random tails) (legal a go) \
                 (<= (next (fell ?f)) (does Random ?f)) (<= terminal (true (fell ?f))) \
                 (goal Random 0) (<= (goal a 100) (true (fell heads))) (<= (goal a 0) (true (fell tails)))";
    let game = folder.write("game.kif", rules);
    let told = folder.play(&game, &[&["--player", "self:playouts=5,memory=64M"], &CALM[..]].concat());
    assert_eq!((&told["status"], &told["players"][0]), (&json!("completed"), &json!("random")), "{told}");
}

/// Plays a game of one role that cannot be played to its end; what was printed, and what went to the log.
fn play_in_vain(folder: &Folder, game: &str) -> (Value, String) {
    let output = folder.run_match(game, &["--player", "random"]);
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    (json_lines(&output.stdout).remove(0), stderr)
}

#[test]
fn a_match_in_which_a_role_is_stuck_is_recorded_and_fails() {
    let folder = Folder::new();
    let rules = "(role a) (init x) (<= (legal a go) (true x)) (<= (next y) (true x)) (<= terminal (true z)) \
                 (<= (next z) (true z)) (goal a 0)";
    let (told, _) = play_in_vain(&folder, &folder.write("game.kif", rules));
    let record = record_of(&told);
    assert_eq!((&record["status"], &record["moves"]), (&json!("no_legal_move"), &json!([["go"]])));
}

/// What was played until the rules ran away is not lost.
#[test]
fn a_match_that_a_reasoner_cannot_follow_is_recorded_and_fails() {
    let folder = Folder::new();
    let rules = "(role a) (init (n z)) (legal a go) (<= (next (n (s ?x))) (true (n ?x))) \
                 (<= terminal (true y)) (goal a 50)";
    let game = folder.write("game.kif", rules);
    let (told, stderr) = play_in_vain(&folder, &game);
    assert!(stderr.contains("deeper than"), "{stderr}");
    assert_eq!(told["status"], "reasoner_failed");
    // The last move is the one that could not be followed, as its replay says, too.
    let output = run(&["replay", &game, "--moves", told["record"].as_str().unwrap(), "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains(&format!("step {}: a term nests", told["steps"])), "{stderr}");
}

/// Players that make a number of playouts choose before their first search.
#[test]
fn a_record_tells_what_players_thought_with() {
    let folder = Folder::new();
    let game = folder.write("game.kif", PAINT);
    let players = ["--player", "self:playouts=50,memory=64M", "--player", "legal"];
    let told = folder.play(&game, &[&players, &CALM[..]].concat());
    let record = record_of(&told);
    assert_eq!(record["thought_with"], told["thought_with"]);
    let thought = &told["thought_with"];
    let names = |idx: usize| thought[0][idx]["reasoner"].as_str();
    assert_eq!((names(0), names(1), names(2)), (Some("interpreter"), Some("propnet"), None), "{told}");
    assert!(thought[0][1]["turn"] == 0 && thought[0][1]["seconds"].is_number(), "{told}");
    assert_eq!(thought[1], Value::Null);
}
