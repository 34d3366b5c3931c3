//! What a manager may rely on in the course of a match: how the player follows reports, and that whatever
//! comes between does not disturb it. The messages and the HTTP one by one are in `http.rs`.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::Stdio;
use std::time::{Duration, Instant};

use common::{Answer, Folder, PAINTS, Player, daggerboard, json_of, port_of, post, signal, start};
use serde_json::{Value, json};

/// One role walks up and down a ladder; every rung has a move of its own name, so that an answer tells
/// where the player believes to be.
const LADDER: &str = "(role climber) (init (rung 0)) (above 0 1) (above 1 2) (above 2 3) (above 3 4) \
    (<= (legal climber (Stay ?x)) (true (rung ?x))) (<= (legal climber up) (true (rung ?x)) (above ?x ?y)) \
    (<= (next (rung ?y)) (does climber up) (true (rung ?x)) (above ?x ?y)) \
    (<= (next (rung ?x)) (does climber (Stay ?x))) \
    (<= terminal (true (rung 4))) (goal climber 100)";

/// As [`LADDER`], with a single move per rung.
const STAIRS: &str = "(role a) (role b) (init (step 0)) (then 0 1) (then 1 2) (then 2 3) (then 3 4) \
    (<= (legal ?r (Tread ?x)) (role ?r) (true (step ?x))) \
    (<= (next (step ?y)) (true (step ?x)) (then ?x ?y)) \
    (<= terminal (true (step 4))) (<= (goal ?r 50) (role ?r))";

#[test]
fn the_port_is_printed_as_json_too() {
    let mut child = daggerboard()
        .args([
            "player",
            "--port",
            "0",
            "--bind",
            "127.0.0.1",
            "--threads",
            "1",
            "--memory",
            "64M",
            "--no-records",
            "--json",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let told: Value = serde_json::from_str(&line).unwrap();
    assert!(told["port"].as_u64().is_some_and(|port| (1..=65_535).contains(&port)), "{line}");
}

#[test]
fn a_port_that_is_taken_is_reported() {
    let player = Player::start(&[]);
    let port = player.port().to_string();
    let output = daggerboard().args(["player", "--bind", "127.0.0.1", "--port", &port]).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains(&port) && stderr.contains("hint:"), "{stderr}");
}

#[test]
#[cfg(unix)]
fn a_player_that_is_asked_to_end_ends_well() {
    let mut child = daggerboard()
        .args([
            "player",
            "--port",
            "0",
            "--bind",
            "127.0.0.1",
            "--threads",
            "1",
            "--memory",
            "64M",
            "--no-records",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut line).unwrap();
    signal(child.id(), "-TERM");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// The report decides what was played, not the answer that was given.
#[test]
fn a_reported_move_that_is_not_ours_is_followed_to_the_end() {
    let player = Player::start(&["--playouts", "20"]);
    assert_eq!(player.ask(&start("m", "climber", LADDER, 2)), "ready");
    let at = |rung: u32, answer: &str| {
        assert!(answer == "up" || answer == format!("(Stay {rung})"), "rung {rung}: {answer}");
    };
    let mut answer = player.ask("( PLAY m NIL )");
    at(0, &answer);
    let mut rung = 0;
    for _ in 0..5 {
        // Always the other one than was answered, until the ladder ends.
        let other = if answer == "up" { format!("(Stay {rung})") } else { "up".to_owned() };
        rung += u32::from(other == "up");
        if rung == 4 {
            break;
        }
        answer = player.ask(&format!("( PLAY m ({other} ) )"));
        at(rung, &answer);
    }
    assert_eq!(player.ask("( STOP m (up ) )"), "done");
}

#[test]
fn reported_moves_are_understood_in_another_case() {
    let player = Player::start(&["--playouts", "5"]);
    assert_eq!(player.ask(&start("m", "a", STAIRS, 2)), "ready");
    assert_eq!(player.ask("( PLAY m NIL )"), "(Tread 0)");
    assert_eq!(player.ask("( PLAY m ((TREAD 0) (tread 0) ) )"), "(Tread 1)");
    assert_eq!(player.ask("( PLAY m ((tread 1) (TREAD 1) ) )"), "(Tread 2)");
}

/// Whatever is missing or too much, a report is one step.
#[test]
fn a_report_with_the_wrong_number_of_moves_is_one_step() {
    let player = Player::start(&["--playouts", "5"]);
    for report in ["( )", "((Tread 0) )", "((Tread 0) (Tread 0) (Tread 0) )", "(() () )", "(Tread 0)"] {
        assert_eq!(player.ask(&start("m", "a", STAIRS, 2)), "ready");
        assert_eq!(player.ask("( PLAY m NIL )"), "(Tread 0)");
        assert_eq!(player.ask(&format!("( PLAY m {report} )")), "(Tread 1)", "{report}");
        assert_eq!(player.ask("( PLAY m ((Tread 1) (Tread 1) ) )"), "(Tread 2)", "{report}");
        assert_eq!(player.ask("( ABORT m )"), "aborted");
    }
}

/// Where a report leaves us out, what we answered counts as played.
#[test]
fn our_own_move_stands_in_for_a_missing_one() {
    let player = Player::start(&["--playouts", "20"]);
    assert_eq!(player.start_paint("m", 2), "ready");
    let ours = player.ask("( PLAY m NIL )");
    assert_eq!(player.ask("( PLAY m ( ) )"), "noop");
    // Bob may not paint our cell any more, and does not: the two others are gone, so are all moves but one.
    let others: Vec<&str> = PAINTS.into_iter().filter(|paint| *paint != ours).collect();
    assert_eq!(player.ask(&format!("( PLAY m (noop {} ) )", others[0])), others[1]);
}

#[test]
fn equal_joint_moves_in_a_row_are_as_many_steps() {
    let player = Player::start(&["--playouts", "20"]);
    assert_eq!(player.ask(&start("m", "climber", LADDER, 2)), "ready");
    player.ask("( PLAY m NIL )");
    for rung in 1..=3 {
        let answer = player.ask("( PLAY m (up ) )");
        assert!(answer == "up" || answer == format!("(Stay {rung})"), "rung {rung}: {answer}");
    }
    // A step that leads back to the same state is a step, too, and as often as it is reported.
    for _ in 0..2 {
        let answer = player.ask("( PLAY m ((Stay 3) ) )");
        assert!(answer == "up" || answer == "(Stay 3)", "{answer}");
    }
}

/// Between any two messages of the match comes everything that must not touch it.
#[test]
fn a_running_match_is_untouched_by_all_that_comes_between() {
    let player = Player::start(&["--playouts", "20"]);
    assert_eq!(player.start_paint("one", 2), "ready");
    // The same names as in the running match, with other meanings and other roles.
    let other = "(role bob) (role Ann) (init (cell 1 bob)) (init (turn bob)) (legal bob noop) (legal Ann noop) \
                 (<= (next (cell 1 blank)) (true (cell 1 bob))) (<= terminal (true (cell 1 blank))) \
                 (goal bob 1) (goal Ann 2)";
    let disturb = || {
        assert_eq!(player.ask(&start("two", "bob", other, 2)), "busy");
        // A START of the very same match is no new beginning, either.
        assert_eq!(player.start_paint("one", 2), "busy");
        assert_eq!(player.ask(&start("two", "bob", "(role", 2)), "busy");
        for message in ["( PLAY two NIL )", "( PLAY two (noop noop ) )", "( STOP two NIL )", "( ABORT two )"]
        {
            assert_eq!(player.ask(message), "busy", "{message}");
        }
        // Ids are compared exactly.
        for id in ["ONE", "on", "one.1"] {
            assert_eq!(player.ask(&format!("( ABORT {id} )")), "busy", "{id}");
        }
        assert_eq!(player.ask("( PING )"), "nil");
        assert!(player.ask("( INFO )").contains("( status busy )"));
        player.raw(b"OPTIONS / HTTP/1.1\r\nHost: x\r\n\r\n", false);
        player.raw(&post("( PLAY one", None), true);
    };
    disturb();
    let first = player.ask("( PLAY one NIL )");
    let left: Vec<&str> = PAINTS.into_iter().filter(|paint| *paint != first).collect();
    assert_eq!(left.len(), 2, "{first} is legal");
    disturb();
    assert_eq!(player.ask(&format!("( PLAY one ({first} noop ) )")), "noop");
    disturb();
    assert_eq!(player.ask(&format!("( PLAY one (noop {} ) )", left[0])), left[1]);
    disturb();
    assert_eq!(player.ask(&format!("( STOP one ({} noop ) )", left[1])), "done");
    assert!(player.is_available());
}

#[test]
fn matches_follow_one_another_in_one_process() {
    let player = Player::start(&["--playouts", "20"]);
    for round in 0..4 {
        let id = format!("m.{round}");
        assert_eq!(player.ask(&format!("( PLAY {id} NIL )")), "busy");
        assert_eq!(player.ask(&start(&id, "b", STAIRS, 2)), "ready");
        assert_eq!(player.ask(&format!("( PLAY {id} NIL )")), "(Tread 0)");
        assert_eq!(player.ask(&format!("( PLAY {id} ((Tread 0) (Tread 0) ) )")), "(Tread 1)");
        // Stopped and aborted in turns; both leave nothing behind.
        let (message, answer) = match round % 2 {
            0 => (format!("( STOP {id} ((Tread 1) (Tread 1) ) )"), "done"),
            _ => (format!("( ABORT {id} )"), "aborted"),
        };
        assert_eq!(player.ask(&message), answer);
        assert_eq!(player.ask(&message), "busy");
        assert!(player.is_available());
    }
}

#[test]
fn names_that_differ_by_case_are_told_apart_on_request() {
    let player = Player::start(&["--playouts", "20", "--match-case"]);
    let rules = "(role x) (init (at Home)) (init (at home)) (<= (legal x (Leave ?p)) (true (at ?p)) (distinct ?p Home)) \
                 (<= (next gone) (does x (Leave home))) (<= terminal (true gone)) (goal x 100)";
    assert_eq!(player.ask(&start("m", "x", rules, 2)), "ready");
    assert_eq!(player.ask("( PLAY m NIL )"), "(Leave home)");
}

#[test]
fn a_start_may_carry_more_than_is_known() {
    let player = Player::start(&["--playouts", "5"]);
    assert_eq!(player.ask(&format!("( START m a ({STAIRS} ) 2 2 (more (of this)) 7 )")), "ready");
    assert_eq!(player.ask("( PLAY m NIL )"), "(Tread 0)");
    assert_eq!(player.ask("( ABORT m )"), "aborted");
    for clocks in ["-1 2", "2 nan", "x 2", "2"] {
        assert_eq!(player.ask(&format!("( START m a ({STAIRS} ) {clocks} )")), "busy", "{clocks}");
    }
    assert!(player.is_available());
}

/// What a player writes once its match is over, when it is there.
fn own_record(folder: &Folder, stem: &str) -> Value {
    let path = folder.file(&format!("records/{stem}.json"));
    loop {
        // Records are written whole, beside the rulesheet.
        match std::fs::read_to_string(&path) {
            Ok(text) => return serde_json::from_str(&text).unwrap(),
            Err(_) => std::thread::sleep(std::time::Duration::from_millis(20)),
        }
    }
}

#[test]
fn a_player_leaves_a_record_of_its_match_that_can_be_replayed() {
    let folder = Folder::new();
    let args = ["--threads", "1", "--memory", "64M", "--playouts", "20", "--name", "Rusty"];
    let player = Player::with(&[&args[..], &["--records", &folder.records()]].concat());
    assert_eq!(player.ask(&start("a/b", "a", STAIRS, 3)), "ready");
    let mut last = "NIL".to_owned();
    for step in 0..4 {
        assert_eq!(player.ask(&format!("( PLAY a/b {last} )")), format!("(Tread {step})"));
        last = format!("((tread {step}) (Tread {step}) )");
    }
    assert_eq!(player.ask(&format!("( STOP a/b {last} )")), "done");
    let names = || std::fs::read_dir(folder.records()).unwrap().map(|it| it.unwrap().file_name());
    let stem = loop {
        let jsons: Vec<String> = names().filter_map(|it| it.into_string().ok()).collect();
        if let Some(name) = jsons.iter().find(|it| it.starts_with("a_b") && it.ends_with(".json")) {
            break name.trim_end_matches(".json").to_owned();
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    let record = own_record(&folder, &stem);
    assert_eq!((&record["id"], &record["status"]), (&json!("a/b"), &json!("completed")), "{record}");
    assert_eq!(record["players"], json!(["Rusty", "unknown"]));
    assert_eq!(
        (&record["goals"], &record["moves"][3]),
        (&json!([50, 50]), &json!(["(Tread 3)", "(Tread 3)"]))
    );
    assert_eq!(record["thought_with"][0][1]["reasoner"], "propnet", "{record}");
    assert!(record["times"][0][0].is_number() && record["times"][0][1].is_null(), "{record}");
    let sheet = folder.file(&format!("records/{stem}.kif"));
    let moves = folder.file(&format!("records/{stem}.json"));
    let replayed = json_of(&["replay", &sheet, "--moves", &moves, "--json"]);
    assert_eq!(record["state_hashes"].as_array().unwrap().last(), Some(&replayed["final_h"]));
    assert_eq!((&replayed["terminal"], &replayed["goals"]), (&json!(true), &json!([50, 50])));
}

#[test]
fn a_match_that_is_broken_off_is_recorded_as_far_as_it_was_told() {
    let folder = Folder::new();
    let args = ["--threads", "1", "--memory", "64M", "--playouts", "5", "--records", &folder.records()];
    let player = Player::with(&args);
    // The same match again leaves the first record alone.
    for _ in 0..2 {
        assert_eq!(player.ask(&start("off", "a", STAIRS, 3)), "ready");
        player.ask("( PLAY off NIL )");
        player.ask("( PLAY off ((Tread 0) (Tread 0) ) )");
        assert_eq!(player.ask("( ABORT off )"), "aborted");
        own_record(&folder, "off-a");
    }
    own_record(&folder, "off-a-2");
    let record = own_record(&folder, "off-a");
    assert_eq!((&record["status"], &record["terminal"]), (&json!("stopped"), &json!(false)), "{record}");
    assert_eq!(
        (&record["moves"], &record["goals"]),
        (&json!([["(Tread 0)", "(Tread 0)"]]), &json!([null, null]))
    );
    assert_eq!(record["times"].as_array().unwrap().len(), 1);
}

#[test]
fn a_match_whose_rules_fail_on_the_way_is_recorded_as_far_as_they_go() {
    let folder = Folder::new();
    let args = ["--threads", "1", "--memory", "64M", "--playouts", "5", "--records", &folder.records()];
    let player = Player::with(&args);
    // Each step nests the term deeper, by so many levels that the third is too many.
    let deeper = format!("{}?x{}", "(s ".repeat(400), ")".repeat(400));
    let rules = format!(
        "(role a) (init (n z)) (legal a go) (<= (next (n {deeper})) (true (n ?x))) (<= terminal (true y)) (goal a 50)"
    );
    assert_eq!(player.ask(&start("deep", "a", &rules, 3)), "ready");
    let mut last = "NIL";
    for _ in 0..4 {
        player.ask(&format!("( PLAY deep {last} )"));
        last = "(go )";
    }
    assert_eq!(player.ask("( ABORT deep )"), "aborted");
    let record = own_record(&folder, "deep-a");
    assert_eq!(
        (&record["status"], &record["terminal"]),
        (&json!("reasoner_failed"), &json!(false)),
        "{record}"
    );
    let n_steps = record["moves"].as_array().unwrap().len();
    assert!(n_steps > 0 && record["state_hashes"].as_array().unwrap().len() == n_steps, "{record}");
}

#[test]
fn a_player_whose_log_nobody_reads_plays_and_can_be_stopped() {
    let mut child = daggerboard()
        .args(["player", "--port", "0", "--bind", "127.0.0.1", "--no-records"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let port = port_of(&mut child);
    drop(child.stderr.take());
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.write_all(&post("( INFO )", Some(8))).unwrap();
    assert!(Answer::read(&mut stream).body.contains("available"));
    signal(child.id(), "-TERM");
    let until = Instant::now() + Duration::from_secs(20);
    while child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < until, "it goes on after a signal");
        std::thread::sleep(Duration::from_millis(20));
    }
}
