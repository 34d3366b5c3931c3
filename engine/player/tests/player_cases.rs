//! Positions in which only some moves are good, played at their clocks by the player as it comes; see EXPERIMENTS.md.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::path::{Path, PathBuf};

use common::Player;
use gdl::{Description, Keyword, ReadOptions, Sexpr};
use serde_json::Value;

/// Where the reference data is.
fn shared() -> PathBuf {
    std::env::var_os("DAGGERBOARD_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from)
}

fn texts<'a>(case: &'a Value, key: &str) -> Vec<&'a str> {
    case[key].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect()
}

/// The rulesheet of a case, with its position as the initial state.
fn rules_of(case: &Value) -> String {
    let path = shared().join(format!("games/{}.kif", case["game"].as_str().unwrap()));
    let description =
        Description::read(&std::fs::read_to_string(path).unwrap(), ReadOptions::default()).unwrap();
    let is_init = |head: Option<&str>| head.and_then(Keyword::of) == Some(Keyword::Init);
    let kept = description.statements().iter().filter(|it| !is_init(it.head().and_then(Sexpr::head)));
    let rules: String = kept.map(|it| format!("{it} ")).collect();
    texts(case, "state").iter().fold(rules, |rules, fact| rules + &format!("(init {fact}) "))
}

/// Takes twenty seconds a case, and clocks that a busy machine does not keep; so it is run by hand:
///
///     taskset -c 0 cargo test -p daggerboard-player --test player_cases -- --ignored --nocapture
#[test]
#[ignore = "takes minutes of a quiet core"]
fn good_moves_are_found_at_the_recorded_clocks() {
    let path = shared().join("player_cases.json");
    let Ok(text) = std::fs::read_to_string(&path) else {
        return eprintln!("skipped: there is no {}", path.display());
    };
    let cases: Value = serde_json::from_str(&text).unwrap();
    let cases = cases["cases"].as_array().unwrap();
    // The positions are spelled in lower case, whatever the rulesheets do.
    let player = Player::with(&["--threads", "1", "--ignore-case", "--no-records"]);
    let mut missed = Vec::new();
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let (role, rules) = (case["role"].as_str().unwrap(), rules_of(case));
        let (start, play) = (&case["start_clock"], &case["play_clock"]);
        assert_eq!(
            player.ask(&format!("( START {name} {role} ({rules} ) {start} {play})")),
            "ready",
            "{name}"
        );
        let answer = player.ask(&format!("( PLAY {name} NIL )"));
        assert_eq!(player.ask(&format!("( ABORT {name} )")), "aborted");
        let good = texts(case, "good_moves");
        let is_good = good.iter().any(|it| it.eq_ignore_ascii_case(&answer));
        eprintln!("{name}: {answer}, of {good:?}: {}", if is_good { "passed" } else { "MISSED" });
        missed.extend((!is_good).then_some(name));
    }
    eprintln!("{} of {} passed", cases.len() - missed.len(), cases.len());
    assert!(missed.is_empty(), "{missed:?}");
}
