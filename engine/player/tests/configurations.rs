//! Every configuration of the search through the command line: matches to their end, and graphs whose laws hold.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use common::{Folder, daggerboard, json_of, record_of, run, signal, stdout_of};
use search::{CONFIG_NAMES, Config};
use serde_json::{Value, json};

/// A game of turns, one of simultaneous moves, and one of a single role.
const GAMES: [&str; 3] = ["tic-tac-toe", "rock-paper-scissors", "lights-out"];

/// Searches with four threads, whatever the machine has.
fn verified(game: &str, config: &str, more: &[&str]) -> Value {
    // A solved position would end the search.
    let args = ["search", game, "--config", config, "--playouts=3000", "--threads=4", "--solver=off"];
    // One visit for each playout, whatever the reasoner.
    json_of(&[&args[..], &["--memory=64M", "--rollouts=1", "--verify", "--json"], more].concat())
}

fn moves(told: &Value) -> &[Value] {
    told["moves"].as_array().unwrap()
}

/// A number of every move, in their order.
fn numbers(told: &Value, key: &str) -> Vec<f64> {
    moves(told).iter().map(|it| it[key].as_f64().unwrap()).collect()
}

#[test]
fn every_configuration_plays_matches_to_their_end() {
    for config in Config::ALL {
        let spec = format!("self:config={config},playouts=40,threads=2,memory=16M");
        for game in GAMES {
            let folder = Folder::new();
            let args = ["--player", &spec, "--player", "random", "--start=10", "--play=10"];
            let n_args = if game == "lights-out" { 2 } else { 4 };
            let told = folder.play(game, &[&args[..n_args], &args[4..]].concat());
            assert_eq!((&told["status"], &told["errors"]), (&json!("completed"), &json!([])), "{told}");
            let record = record_of(&told);
            assert_eq!((&record["players"][0], &record["goals"]), (&json!(spec), &told["goals"]));
        }
    }
}

#[test]
fn the_graph_of_every_configuration_keeps_its_laws() {
    for config in Config::ALL {
        for game in GAMES {
            let told = verified(game, &config.to_string(), &[]);
            let verify = &told["verify"];
            assert_eq!(
                (&verify["holds"], &told["config"]),
                (&json!(true), &json!(config.to_string())),
                "{told}"
            );
            // Every playout ends at a node, but where none is made below the root.
            let ends = if config == Config::Mc { "node_visits" } else { "own_visits" };
            assert_eq!((&verify[ends], &told["playouts"]), (&json!(3000), &json!(3000)), "{told}");
            assert_eq!((&verify["nodes"], &verify["edges"]), (&told["nodes"], &told["edges"]), "{told}");
            let is_simultaneous = game == "rock-paper-scissors";
            let has_joint_moves = verify["joint_moves"].as_u64().unwrap() > 0;
            assert_eq!(has_joint_moves, is_simultaneous && config != Config::Mc, "{told}");
            // Means below joint moves are compared with nothing.
            let keeps_means = matches!(config, Config::UcdIncremental(_) | Config::UcdPaper(_));
            assert_eq!(verify["stale_proof_numbers"], Value::Null, "{told}");
            for (gap, is_wanted) in [("credit_gap", config == Config::Credited), ("adapted_gap", keeps_means)]
            {
                assert_eq!(verify[gap].is_object(), is_wanted && !is_simultaneous, "{gap}: {told}");
            }
        }
    }
}

#[test]
fn a_bias_by_proof_numbers_is_told_and_keeps_the_laws() {
    let args = ["search", "tic-tac-toe", "--config=uct", "--solver=on", "--pn-bias=20", "--threads=1"];
    let more = ["--playouts=2000", "--batch=1", "--rollouts=1", "--memory=64M", "--verify", "--json"];
    let told = json_of(&[&args[..], &more].concat());
    assert_eq!(told["options"]["pn_bias"], 20.0);
    // In a tree, one playout after the other, all numbers are those of what is below.
    assert_eq!(told["verify"]["stale_proof_numbers"], 0, "{told}");
}

#[test]
fn what_was_verified_is_told_in_words() {
    let args = ["search", "tic-tac-toe", "--config=credited", "--playouts=500", "--threads=1", "--verify"];
    let output = run(&args);
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}");
    for part in ["the graph keeps its laws:", "4000 of them own visits", "  credit gap in goal points: mean "]
    {
        assert!(told.contains(part), "{told}");
    }
    assert!(String::from_utf8_lossy(&output.stderr).contains("verifying "));
    assert!(!stdout_of(&args[..5]).contains("laws"), "only where it is asked for");
}

/// Both the search and the walk through its graph end with it, and what was found is told.
#[test]
#[cfg(unix)]
fn ctrl_c_ends_a_search_and_leaves_its_laws_open() {
    let args =
        ["search", "connect-four", "--seconds=600", "--threads=1", "--memory=64M", "--verify", "--json"];
    let mut child = daggerboard().args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    stderr.read_line(&mut line).unwrap();
    assert!(line.contains("playouts, best"), "progress comes first: {line}");
    signal(child.id(), "-INT");
    let output = child.wait_with_output().unwrap();
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&told["verify"]["holds"], output.status.code()), (&Value::Null, Some(1)), "{told}");
    assert!(told["verify"].is_object() && told["playouts"].as_u64() > Some(0), "{told}");
}

#[test]
fn a_playout_of_several_rollouts_is_as_many_visits() {
    let args = ["search", "connect-four", "--playouts=500", "--threads=1", "--memory=16M", "--config=uct"];
    for (n, head) in [(1, "500 playouts, "), (4, "500 playouts of 4 visits each, ")] {
        let rollouts = format!("--rollouts={n}");
        let told = json_of(&[&args[..], &[&rollouts, "--json"]].concat());
        assert_eq!((&told["playouts"], &told["visits_per_playout"]), (&json!(500), &json!(n)));
        assert_eq!(numbers(&told, "visits").iter().sum::<f64>(), 500.0 * f64::from(n), "{told}");
        let text = stdout_of(&[&args[..], &[&rollouts]].concat());
        assert!(text.lines().any(|line| line.starts_with(head)), "{text}");
    }
}

#[test]
fn options_that_a_family_would_ignore_are_wrong_usage() {
    for (options, told) in [
        (
            ["--config=rave", "--batch=64"],
            "--batch=64: rave, rave-ucd and gibbs make their rollouts one by one",
        ),
        (
            ["--config=uct", "--pn-bias=10"],
            "--pn-bias=10: proof numbers count what is left to be proven; turn the solver on",
        ),
        (["--unexplored=gibbs", "--rollouts=8"], "--rollouts=8: rave, rave-ucd and gibbs make"),
        (["--config=uct", "--unexplored=gibbs(2000000)"], "with TAU above 0 and at most 1000000"),
        (["--config=uct", "--in-flight=loss(0)"], "with WEIGHT above 0 and at most 1000000"),
    ] {
        let output = run(&[&["search", "nim", "--playouts=10"], &options[..]].concat());
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(told), "{error}");
    }
}

#[test]
fn a_search_tells_its_options() {
    let more =
        ["--payoffs=nodes", "--aim=own-then-other", "--discount=0.99", "--unexplored=gibbs", "--seed=3"];
    let others = ["--in-flight=loss(2)", "--simultaneous=regret-matching", "--rave-bias=0.5", "--c=20"];
    let told = verified("tic-tac-toe", "ucd(1,1,∞)", &[&more[..], &others].concat());
    assert_eq!(told["config"], "ucd(1,1,inf)");
    assert_eq!(
        told["options"],
        json!({
            "payoffs": "nodes",
            "aim": "own-then-other",
            "discount": 0.99,
            "unexplored": "gibbs(10)",
            "in_flight": "loss(2)",
            "simultaneous": "regret-matching",
            "final_move": null,
            "solver": false,
            "rave_bias": 0.5,
            "pn_bias": 0.0,
            "batch": null,
            "rollouts": 1,
            "hot_levels": "auto",
            "c": 20.0,
            "threads": 4,
            "seed": 3,
            "memory": 64 << 20,
        })
    );
    let bytes = told["bytes"].as_f64().unwrap();
    for (share, n) in [("bytes_per_node", "nodes"), ("bytes_per_edge", "edges")] {
        // Printed and read again, the last bit may differ.
        let of_each = bytes / told[n].as_f64().unwrap();
        assert!((told[share].as_f64().unwrap() - of_each).abs() < 1e-9 * of_each, "{share}");
    }
}

/// Without a seed there is another one each time, and the search made with it can be had again.
#[test]
fn the_seed_that_was_drawn_gives_the_same_search() {
    let args = ["search", "nim", "--config=rave", "--playouts=300", "--threads=1", "--memory=16M", "--json"];
    let first = json_of(&args);
    let seed = format!("--seed={}", first["options"]["seed"]);
    assert_eq!(json_of(&[&args[..], &[&seed]].concat())["moves"], first["moves"]);
}

/// Shipped games, by the reasoner that every game has.
#[test]
fn a_solved_position_ends_the_search_and_is_told() {
    for (game, value) in [("tic-tac-toe", 50.0), ("nim", 100.0), ("lights-out", 100.0)] {
        for threads in ["1", "2", "16"] {
            let args = [
                "search",
                game,
                "--solver=on",
                "--seconds=300",
                "--threads",
                threads,
                "--memory=256M",
                "--verify",
                "--json",
            ];
            let told = json_of(&args);
            let proven = &told["proven"];
            let value = json!(value);
            assert_eq!((&told["solved"], &proven["least"], &proven["most"]), (&json!(true), &value, &value));
            assert!(told["verify"]["solved_nodes"].as_u64().unwrap() > 0, "{told}");
            let best = &moves(&told)[0];
            assert_eq!((&best["move"], &best["proven"]["least"]), (&told["best"], &value), "{told}");
        }
    }
    assert!(
        stdout_of(&["search", "nim", "--solver=on", "--seconds=300", "--threads=1", "--seed=1"])
            .contains("\nsolved: ")
    );
    let told = json_of(&["search", "nim", "--playouts=500", "--solver=off", "--json"]);
    assert_eq!((&told["solved"], &told["proven"]), (&json!(false), &Value::Null));
}

#[test]
fn moves_come_in_the_order_of_the_final_move() {
    for (config, rule, key) in [
        ("uct", "visits", "visits"),
        ("credited", "mean", "value"),
        ("ucd(1,0,1)", "top", "top"),
        // The usual one.
        ("mc", "mean", "value"),
    ] {
        let told = verified("eight-puzzle", config, &["--final-move", rule]);
        assert!(numbers(&told, key).is_sorted_by(|one, next| one >= next), "{config}: {told}");
        let has_top = moves(&told).iter().all(|it| it.get("top").is_some());
        assert_eq!(has_top, rule == "top", "{told}");
        assert!(!moves(&told).is_empty());
    }
    let usual = verified("nim", "mc", &[]);
    assert!(numbers(&usual, "value").is_sorted_by(|one, next| one >= next), "{usual}");
    let args = ["search", "nim", "--playouts=200", "--memory=16M", "--solver=off", "--final-move"];
    assert!(stdout_of(&[&args[..], &["top"]].concat()).contains("  top 100.00  (take "));
    assert!(!stdout_of(&[&args[..], &["mean"]].concat()).contains("top"));
}

/// The output in the README, but for the rate.
#[test]
fn the_readme_shows_what_a_search_prints() {
    let command = "search connect-four --config credited --playouts 20000 --seed 1 --threads 1 --verify";
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md")).unwrap();
    let head = format!("target/release/daggerboard {command}\n```\n```\n");
    let (_, rest) = readme.split_once(&head).expect("the command and its output are there");
    let (shown, _) = rest.split_once("```").unwrap();
    let printed = stdout_of(&command.split(' ').collect::<Vec<_>>());
    let without_rate = |text: &str| -> Vec<String> {
        let parts = text.lines().map(|line| line.split(", ").filter(|part| !part.ends_with(" a second")));
        parts.map(|parts| parts.collect::<Vec<_>>().join(", ")).collect()
    };
    assert_eq!(without_rate(shown), without_rate(&printed), "take the new output into the README");
}

#[test]
fn the_long_help_has_every_configuration() {
    for command in ["search", "player"] {
        let help = stdout_of(&[command, "--help"]);
        for name in CONFIG_NAMES.split(", ").map(|name| name.split('(').next().unwrap()) {
            let is_there = help.split([' ', '\n', ',', '(']).any(|word| word == name);
            assert!(is_there, "{command}: {name}");
        }
        assert!(help.contains("Not lock-free: ucd-incremental and ucd-paper"), "{command}");
    }
}
