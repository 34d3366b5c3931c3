//! The player over real connections: messages, the odd HTTP that carries them, and its behaviour in a match.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Answer, PAINT, PAINTS, Player, post, start};

#[test]
fn info_is_answered_in_any_case_and_by_any_way() {
    let player = Player::start(&["--name", "Rusty"]);
    let wanted = "( ( name Rusty ) ( status available ) ( species alien ) )";
    for message in ["( INFO )", "(info)", "( InFo )", "", "info"] {
        assert_eq!(player.ask(message), wanted, "{message:?}");
    }
    assert_eq!(player.raw(b"GET /%28+INFO+%29 HTTP/1.0\r\n\r\n", false).body, wanted);
    assert_eq!(player.ask("( ping )"), "ready");
}

#[test]
fn the_head_of_an_answer_is_what_managers_expect() {
    let player = Player::start(&[]);
    let answer = player.raw(&post("( PING )", Some(8)), false);
    let lines: Vec<&str> = answer.head.split("\r\n").collect();
    assert_eq!(
        lines,
        [
            "HTTP/1.0 200 OK",
            "Content-type: text/acl",
            "Content-length: 5",
            "Access-Control-Allow-Origin: *",
            "Access-Control-Allow-Methods: POST, GET, OPTIONS",
            "Access-Control-Allow-Headers: Content-Type",
            "Access-Control-Allow-Age: 86400",
        ]
    );
}

#[test]
fn options_and_other_verbs_get_the_headers_only() {
    let player = Player::start(&[]);
    for verb in ["OPTIONS", "HEAD", "PUT"] {
        let request = format!("{verb} / HTTP/1.1\r\nHost: x\r\nOrigin: http://a\r\n\r\n");
        let answer = player.raw(request.as_bytes(), false);
        assert!(answer.head.starts_with("HTTP/1.0 200 OK\r\n"), "{verb}: {}", answer.head);
        assert_eq!(answer.body, "", "{verb}");
    }
}

#[test]
fn the_length_of_a_body_may_be_missing_or_wrong() {
    let player = Player::start(&[]);
    let message = "( PING )";
    for length in [None, Some(0), Some(3), Some(8), Some(500), Some(usize::MAX)] {
        for close_after in [false, true] {
            assert_eq!(
                player.raw(&post(message, length), close_after).body,
                "ready",
                "{length:?} {close_after}"
            );
        }
    }
    for line in ["Content-Length: xx", "content-length:8", "Content-length: -1"] {
        let request = format!("POST / HTTP/1.0\r\n{line}\r\n\r\n{message}");
        assert_eq!(player.raw(request.as_bytes(), false).body, "ready", "{line}");
    }
}

/// Sends the pieces one by one and reads the answer.
fn ask_in_pieces(player: &Player, pieces: &[&[u8]]) -> Answer {
    let mut stream = player.connect();
    // Each piece is a packet of its own.
    stream.set_nodelay(true).unwrap();
    for piece in pieces {
        stream.write_all(piece).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    Answer::read(&mut stream)
}

#[test]
fn a_body_may_come_after_its_head() {
    let player = Player::start(&[]);
    let message = b"( PING )";
    for (head, blank) in [
        ("Content-Length: 8\r\n", ""),
        ("", ""),
        ("Content-Length: 0\r\n", ""),
        ("Content-Length: 2\r\n", "\r\n"),
        ("Content-Length: 3\r\n", "\u{feff}"),
    ] {
        let head = format!("POST / HTTP/1.0\r\n{head}\r\n{blank}");
        assert_eq!(ask_in_pieces(&player, &[head.as_bytes(), message]).body, "ready", "{head}");
    }
    // An empty message is one, too: it counts as INFO.
    assert!(ask_in_pieces(&player, &[b"POST / HTTP/1.0\r\nContent-Length: 0\r\n\r\n"]).body.contains("name"));
}

#[test]
fn a_body_may_come_in_chunks_and_after_a_word() {
    let player = Player::start(&[]);
    let head = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
    let pieces = [&head[..], b"3\r\n( P\r\n", b"5\r\nING )\r\n", b"0\r\n\r\n"];
    assert_eq!(ask_in_pieces(&player, &pieces).body, "ready");
    assert_eq!(player.raw(&pieces.concat(), false).body, "ready");
    let mut stream = player.connect();
    stream.write_all(b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 8\r\n\r\n").unwrap();
    let mut word = [0; 25];
    stream.read_exact(&mut word).unwrap();
    assert_eq!(&word, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(b"( PING )").unwrap();
    assert_eq!(Answer::read(&mut stream).body, "ready");
}

#[test]
fn one_request_is_answered_whatever_follows_it() {
    let player = Player::start(&[]);
    let first = post("( PING )", Some(8));
    for second in [post("( INFO )", Some(8)), post("( INFO", Some(500)), b"\0\0".to_vec()] {
        assert_eq!(player.raw(&[first.clone(), second].concat(), false).body, "ready");
    }
}

#[test]
fn heads_that_break_the_rules_are_read() {
    let player = Player::start(&[]);
    let many = "X: y\r\n".repeat(500);
    for head in [
        "POST / HTTP/1.0\nContent-Length: 8\n\n",
        "\r\nPOST / HTTP/1.0\r\n\r\n",
        "POST / HTTP/1.0\r\nContent-Length : 8\r\n\r\n",
        "POST / HTTP/1.0\r\nReceiver\r\nContent-Length: 8\r\n\r\n",
        "POST / HTTP/1.0\r\nReceiver: \u{1}\u{e9}\r\n\r\n",
        "post /\r\n\r\n",
        &format!("POST / HTTP/1.0\r\n{many}\r\n"),
    ] {
        assert_eq!(player.raw(format!("{head}( PING )").as_bytes(), false).body, "ready", "{head:?}");
    }
    assert_eq!(player.raw(b"GET /( PING ) HTTP/1.0\r\n\r\n", false).body, "ready");
}

#[test]
fn a_request_may_ask_to_be_kept_alive_and_may_lack_a_host() {
    let player = Player::start(&[]);
    let request = b"POST / HTTP/1.1\r\nConnection: keep-alive\r\nContent-length: 8\r\n\r\n( PING )";
    // The end of the stream is waited for.
    assert_eq!(player.raw(request, false).body, "ready");
}

#[test]
fn a_message_may_come_in_pieces_over_several_lines() {
    let player = Player::start(&[]);
    let mut stream = player.connect();
    for piece in post("(\r\n\tpi\tx)", Some(11)).chunks(7) {
        stream.write_all(piece).unwrap();
    }
    assert_eq!(Answer::read(&mut stream).body, "busy");
    assert_eq!(player.ask(&start("m", "Ann", PAINT, 1).replace(" (", "\r\n\t(")), "ready");
    assert!(PAINTS.contains(&player.ask("( PLAY m\r\nNIL\r\n)").as_str()));
}

#[test]
fn silent_connections_block_nobody() {
    let player = Player::start(&[]);
    let silent: Vec<_> = (0..100).map(|_| player.connect()).collect();
    assert!(player.is_available());
    drop(silent);
}

#[test]
fn garbage_is_answered_and_survived() {
    let player = Player::start(&[]);
    let deep = "(".repeat(100_000);
    let garbage = [
        "(",
        ")",
        "( )(",
        "( FOO bar )",
        "( PLAY )",
        "( START m )",
        "PLAY",
        "( PLAY m.x (",
        "\0\u{fffd}",
        &deep,
    ];
    for message in garbage {
        assert_eq!(player.ask(message), "busy", "{}", message.get(..20).unwrap_or(message));
    }
    assert_eq!(player.ask("( START m xp ( ) ten two )"), "busy");
    player.raw(b"\0\0\r\n\r\n", false);
    player.raw(b"", true);
    assert!(player.is_available());
}

#[test]
fn a_message_that_is_too_long_is_refused_clearly() {
    let player = Player::start(&[]);
    let mut stream = player.connect();
    let rules = "(role x) ".repeat(100_000);
    stream.write_all(b"POST / HTTP/1.0\r\nContent-Length: 20000000\r\n\r\n( START m x (").unwrap();
    (0..19).for_each(|_| stream.write_all(rules.as_bytes()).unwrap());
    let answer = Answer::read(&mut stream);
    assert!(answer.head.starts_with("HTTP/1.0 413"), "{}", answer.head);
    assert_eq!(answer.body, "busy");
    assert!(player.is_available());
}

#[test]
fn a_match_is_played_to_its_end() {
    let player = Player::start(&[]);
    assert_eq!(player.ask(&format!("( PREVIEW ({PAINT} ) 2 )")), "ready");
    assert_eq!(player.start_paint("Base.paint.1406040304050", 1), "ready");
    let first = player.ask("( PLAY Base.paint.1406040304050 NIL )");
    let mut left: Vec<&str> = PAINTS.into_iter().filter(|paint| *paint != first).collect();
    assert_eq!(left.len(), 2, "{first} is legal");
    assert!(player.ask("( INFO )").contains("( status busy )"));
    let noop = player.ask(&format!("( PLAY Base.paint.1406040304050 ({first} noop ) )"));
    assert_eq!(noop, "noop");
    let bobs = left.remove(0);
    let last = player.ask(&format!("( PLAY Base.paint.1406040304050 (noop {bobs} ) )"));
    assert_eq!(last, left[0]);
    assert_eq!(player.ask(&format!("( STOP Base.paint.1406040304050 ({last} noop ) )")), "done");
    assert_eq!(player.ask("( PLAY Base.paint.1406040304050 (noop noop ) )"), "busy");
    assert!(player.is_available());
}

#[test]
fn the_moves_that_are_reported_are_followed_even_if_they_are_not_ours() {
    let player = Player::start(&[]);
    assert_eq!(player.start_paint("m", 1), "ready");
    let ours = player.ask("( PLAY m NIL )");
    let others = PAINTS.into_iter().find(|paint| *paint != ours).unwrap();
    assert_eq!(player.ask(&format!("( PLAY m ({others} noop ) )")), "noop");
    // Bob takes what we wanted; one cell is left.
    let left = PAINTS.into_iter().find(|paint| *paint != ours && *paint != others).unwrap();
    assert_eq!(player.ask(&format!("( PLAY m (noop {ours} ) )")), left);
}

#[test]
fn illegal_moves_and_wrong_numbers_of_moves_are_answered() {
    let player = Player::start(&[]);
    for report in ["( noop )", "( (fly 1) noop )", "( )", "noop", "( noop noop noop noop )", "( () () )"] {
        assert_eq!(player.start_paint("m", 1), "ready");
        let answer = player.ask("( PLAY m NIL )");
        assert!(PAINTS.contains(&answer.as_str()));
        let answer = player.ask(&format!("( PLAY m {report} )"));
        assert!(answer == "noop" || PAINTS.contains(&answer.as_str()), "{report}: {answer}");
        assert_eq!(player.ask("( ABORT m )"), "aborted");
    }
}

#[test]
fn equal_joint_moves_are_two_steps() {
    let player = Player::start(&[]);
    let counting = "(role a) (init (n 0)) (succ 0 1) (succ 1 2) (succ 2 3) \
                    (<= (legal a go) (true (n ?x)) (distinct ?x 2)) (<= (legal a (at 2)) (true (n 2))) \
                    (<= (next (n ?y)) (true (n ?x)) (succ ?x ?y)) (<= terminal (true (n 3))) (goal a 100)";
    assert_eq!(player.ask(&start("m", "a", counting, 1)), "ready");
    assert_eq!(player.ask("( PLAY m NIL )"), "go");
    assert_eq!(player.ask("( PLAY m (go) )"), "go");
    // Were the second `go` taken for a repetition, `go` would be legal still.
    assert_eq!(player.ask("( PLAY m (go) )"), "(at 2)");
    assert_eq!(player.ask("( STOP m ((at 2)) )"), "done");
}

#[test]
fn a_second_start_is_refused_and_harms_nothing() {
    let player = Player::start(&[]);
    assert_eq!(player.start_paint("one", 1), "ready");
    assert_eq!(player.ask(&start("two", "x", "(role x) (legal x only) (goal x 0) terminal", 1)), "busy");
    assert_eq!(player.ask(&format!("( PREVIEW ({PAINT} ) 2 )")), "busy");
    assert_eq!(player.ask("( PING )"), "nil");
    for message in ["( PLAY two NIL )", "( STOP two NIL )", "( ABORT two )", "( ABORT ONE )"] {
        assert_eq!(player.ask(message), "busy", "{message}");
    }
    assert!(PAINTS.contains(&player.ask("( PLAY one NIL )").as_str()));
}

#[test]
fn info_and_abort_are_answered_while_it_thinks() {
    let player = Player::start(&[]);
    // The match would think for minutes; the client's patience ends long before.
    assert_eq!(player.ask(&format!("( START m Ann ({PAINT} ) 1 600)")), "ready");
    let mut thinking = player.connect();
    thinking.write_all(&post("( PLAY m NIL )", Some(14))).unwrap();
    assert!(player.ask("( INFO )").contains("( status busy )"));
    assert_eq!(player.ask("( ABORT m )"), "aborted");
    assert!(player.is_available());
    // Whoever waited for the move is not left alone.
    let answer = Answer::read(&mut thinking).body;
    assert!(answer == "nil" || answer == "busy" || PAINTS.contains(&answer.as_str()), "{answer}");
}

#[test]
fn several_connections_are_served_at_once() {
    let player = Player::start(&[]);
    assert_eq!(player.start_paint("m", 1), "ready");
    std::thread::scope(|scope| {
        let asking: Vec<_> = (0..8).map(|_| scope.spawn(|| player.ask("( PLAY m NIL )"))).collect();
        let infos: Vec<_> = (0..8).map(|_| scope.spawn(|| player.ask("( INFO )"))).collect();
        for answer in asking {
            let answer = answer.join().unwrap();
            assert!(PAINTS.contains(&answer.as_str()), "{answer}");
        }
        infos.into_iter().for_each(|answer| assert!(answer.join().unwrap().contains("busy")));
    });
}

/// However many want a move, INFO and ABORT get through.
#[test]
fn a_crowd_that_waits_for_a_move_blocks_nobody() {
    let player = Player::start(&[]);
    assert_eq!(player.ask(&format!("( START m Ann ({PAINT} ) 1 600)")), "ready");
    let one = || {
        let mut stream = player.connect();
        stream.write_all(&post("( PLAY m NIL )", Some(14))).unwrap();
        stream
    };
    let mut crowd: Vec<_> = (0..200).map(|_| one()).collect();
    assert!(player.ask("( INFO )").contains("( status busy )"));
    assert_eq!(player.ask("( ABORT m )"), "aborted");
    for stream in &mut crowd {
        let answer = Answer::read(stream).body;
        assert!(answer == "nil" || answer == "busy" || PAINTS.contains(&answer.as_str()), "{answer}");
    }
}

#[test]
fn names_are_answered_as_they_were_received() {
    let player = Player::start(&[]);
    let upper = PAINT.to_uppercase();
    assert_eq!(player.ask(&start("M17", "ANN", &upper, 1)), "ready");
    let answer = player.ask("(PLAY M17 NIL)");
    assert!(answer.starts_with("(PAINT "), "{answer}");
    assert_eq!(player.ask(&format!("(PLAY M17 ({answer} NOOP))")), "NOOP");
    assert_eq!(player.ask("(ABORT M17)"), "aborted");
}

#[test]
fn match_ids_are_any_run_of_characters() {
    let player = Player::start(&[]);
    for id in ["kiosk.a_b-c", "connect..suicide.12", "42", "A:b/c+d", "a;b", "#|x"] {
        assert_eq!(player.start_paint(id, 1), "ready", "{id}");
        assert_eq!(player.ask(&format!("( ABORT {id} )")), "aborted", "{id}");
    }
}

#[test]
fn a_game_that_is_over_at_once_is_started_and_stopped() {
    let player = Player::start(&[]);
    let over =
        "(role x) (init over) (<= terminal (true over)) (<= (legal x go) (not (true over))) (goal x 100)";
    assert_eq!(player.ask(&start("m", "x", over, 1)), "ready");
    assert_eq!(player.ask("( STOP m NIL )"), "done");
}

#[test]
fn rules_that_make_no_game_are_refused() {
    let player = Player::start(&[]);
    for (role, rules) in
        [("x", ""), ("x", "(legal x go)"), ("y", "(role x) (legal x go) terminal (goal x 0)")]
    {
        assert_eq!(player.ask(&start("m", role, rules, 1)), "busy", "{rules}");
    }
    assert!(player.is_available());
}

#[test]
fn rules_that_run_away_leave_the_player_standing() {
    let player = Player::start(&[]);
    let endless = "(n z) (<= (n (s ?x)) (n ?x))";
    let unknown_next = format!(
        "(role x) (init a) {endless} (legal x go) (legal x stay) (<= (next (c ?n)) (n ?n)) \
         (<= terminal (true b)) (goal x 100)"
    );
    assert_eq!(player.ask(&start("m", "x", &unknown_next, 1)), "ready");
    let answer = player.ask("( PLAY m NIL )");
    assert!(answer == "go" || answer == "stay", "a legal move is known: {answer}");
    player.ask("( PLAY m (go) )");
    assert_eq!(player.ask("( ABORT m )"), "aborted");
    let unknown_legal = format!(
        "(role x) (init a) {endless} (<= (legal x (go ?n)) (n ?n)) (next a) (<= terminal (true b)) (goal x 100)"
    );
    assert_eq!(player.ask(&start("m", "x", &unknown_legal, 1)), "ready");
    player.ask("( PLAY m NIL )");
    assert_eq!(player.ask("( ABORT m )"), "aborted");
    assert!(player.is_available());
}

#[test]
fn a_match_that_nobody_stops_frees_itself() {
    let player = Player::start(&["--patience", "0"]);
    assert_eq!(player.start_paint("m", 1), "ready");
    // Each question is answered, and at some time the answer changes.
    while !player.is_available() {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

/// The protocol cases of the reference material, where it is at hand.
#[test]
fn the_reference_cases_pass() {
    let shared = std::env::var_os("DAGGERBOARD_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from);
    let script = shared.join("cases/http/http_cases.py");
    if !script.is_file() {
        eprintln!("skipped: there is no {}", script.display());
        return;
    }
    let player = Player::start(&[]);
    let port = player.port().to_string();
    let output = match Command::new("python3").arg(&script).args(["127.0.0.1", &port]).output() {
        Ok(output) => output,
        Err(error) => return eprintln!("skipped: python3 does not run: {error}"),
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
