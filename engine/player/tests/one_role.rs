//! Games of one role through the command line: searches and matches by the systems for those.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{Folder, json_of, record_of, run};
use serde_json::json;

const SYSTEMS: [&str; 12] = [
    "portfolio",
    "nested(1)",
    "nested(2)",
    "max1",
    "max2",
    "nrpa(2)",
    "beam(8)",
    "exhaustive",
    "sat",
    "ida",
    "meida",
    "sp-mcts",
];

#[test]
fn a_search_of_one_role_tells_its_best_line_and_whether_it_is_proved() {
    let told = json_of(&["search", "hanoi", "--threads=1", "--seed=1", "--playouts=3000000", "--json"]);
    assert_eq!((&told["config"], &told["best_value"]), (&json!("portfolio"), &json!(100)), "{told}");
    assert_eq!(told["proved"], true);
    let moves = told["best_line"]["moves"].as_array().unwrap();
    assert_eq!((told["best_line"]["value"].as_u64(), &told["best"]), (Some(100), &moves[0][0]));
    assert!(told["systems"].as_array().unwrap().len() > 3);
    assert_eq!(told["found"].as_array().unwrap().last().unwrap()["value"], 100);
}

#[test]
fn every_system_searches_under_its_own_name() {
    for system in SYSTEMS {
        let args =
            ["search", "knights-tour", "--config", system, "--threads=1", "--playouts=20000", "--json"];
        let told = json_of(&args);
        assert!(told["config"].as_str().unwrap().starts_with(system.trim_end_matches(')')), "{told}");
        assert!(told["best_value"].as_u64().is_some(), "{told}");
    }
    let told = json_of(&["search", "hanoi", "--config=uct", "--threads=1", "--playouts=1000", "--json"]);
    assert_eq!(told["config"], "uct", "a configuration of the graph searches the graph");
    assert!(told["nodes"].as_u64().unwrap() > 0);
}

#[test]
fn a_system_for_one_role_and_a_game_of_two_are_wrong_usage() {
    for args in [
        &["search", "tic-tac-toe", "--config=nested(2)", "--playouts=10"][..],
        &["search", "hanoi", "--config=nested(2)", "--playouts=10", "--verify"],
    ] {
        let output = run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains("nested(2)"), "{stderr}");
    }
}

#[test]
fn matches_of_one_role_are_played_to_what_the_search_holds() {
    let folder = Folder::new();
    for spec in [
        "self:playouts=300000,seed=1",
        "self:config=exhaustive,playouts=300000",
        "self:config=nrpa(2),playouts=3000,reasoner=interpreter",
    ] {
        let told = folder.play("hanoi", &["--player", spec, "--start", "20", "--play", "20"]);
        let goals = &record_of(&told)["goals"];
        match spec.contains("nrpa") {
            // It may not get there.
            true => assert!(goals[0].is_number(), "{spec}: {told}"),
            false => assert_eq!(goals, &json!([100]), "{spec}: {told}"),
        }
    }
}
