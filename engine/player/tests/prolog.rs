//! Rules that Prolog cannot follow: the player answers within its clocks, and the next match finds it well.

#![cfg(feature = "prolog")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::io::Write;
use std::time::Duration;

use common::{Answer, Folder, PAINT, Player, post, start};
use serde_json::json;

/// Seconds of both clocks.
const CLOCK: u32 = 4;

/// A game of one role in which `go` and `stay` are always legal, and whose next state is what `clauses` say of
/// `odd`.
fn rules(clauses: &str) -> String {
    format!(
        "(role you) (init (step 0)) (after 0 1) (after 1 2) (after 2 3) (legal you go) (legal you stay) \
         (<= (next (step ?y)) (true (step ?x)) (after ?x ?y)) (<= (next strange) odd) {clauses} \
         (<= terminal (true (step 3))) (goal you 100)"
    )
}

/// Says of each sheet what it does to a reasoner that asks for the next state.
fn sheets() -> [(&'static str, String); 3] {
    let chain: String = (0..20_000).map(|i| format!("(s {i} {})", i + 1)).collect();
    [
        (
            "counts for ever",
            rules("(num 0) (<= (num (plus1 ?x)) (num ?x)) (<= odd (does you ?m) (num ?n) (num (t ?n)))"),
        ),
        (
            "explodes",
            rules(
                "(d 0) (d 1) (d 2) (d 3) (d 4) (d 5) (d 6) (d 7) (d 8) (d 9) \
                 (<= odd (does you ?m) (d ?a) (d ?b) (d ?c) (d ?e) (d ?f) (d ?g) (d ?h) (d ?i) (d ?j) \
                         (d (k ?m ?a ?b ?c ?e ?f ?g ?h ?i ?j)))",
            ),
        ),
        (
            "overflows",
            // Each of the 20000 steps down keeps a growing term.
            rules(&format!(
                "{chain} (<= (up ?x ?t) (s ?x ?y) (up ?y (f ?t ?t)) (s ?x ?y)) (<= odd (does you ?m) (up 0 ?m))"
            )),
        ),
    ]
}

/// Sends a message and hangs up, as a manager does, when the clock is over.
fn ask_by_the_clock(player: &Player, message: &str) -> String {
    let mut stream = player.connect();
    stream.set_read_timeout(Some(Duration::from_secs(u64::from(CLOCK)))).unwrap();
    stream.write_all(&post(message, Some(message.len()))).unwrap();
    Answer::read(&mut stream).body
}

#[test]
fn a_next_state_that_cannot_be_had_costs_no_clock_and_no_later_match() {
    let player = Player::start(&["--reasoner", "prolog"]);
    for (what, rules) in sheets() {
        let id = what.replace(' ', "_");
        assert_eq!(ask_by_the_clock(&player, &start(&id, "you", &rules, CLOCK)), "ready", "{what}");
        for moves in ["NIL", "( go )", "( go )"] {
            let a_move = ask_by_the_clock(&player, &format!("( PLAY {id} {moves} )"));
            assert!(["go", "stay"].contains(&a_move.as_str()), "{what}: {moves}: {a_move}");
        }
        ask_by_the_clock(&player, &format!("( STOP {id} ( go ) )"));
    }
    let folder = Folder::new();
    let game = folder.write("game.kif", PAINT);
    let remote = format!("http://127.0.0.1:{}", player.port());
    let clocks = ["--start", "2", "--play", "2"];
    let told = folder.play(&game, &[&["--player", &remote, "--player", "legal"][..], &clocks].concat());
    assert_eq!((&told["status"], &told["errors"]), (&json!("completed"), &json!([])), "{told}");
    assert!(player.is_available());
}
