//! The commands on shipped games and on each other's outputs: what one writes the next one reads.
//! Help, usage and the outputs key by key on a small game are in `cli.rs`.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Folder, daggerboard, json_lines, json_of, record_of, run, stdout_of};
use serde_json::{Value, json};

fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// The record of a match of tic-tac-toe, replayed, must tell the same match again.
fn assert_replays(told: &Value, record: &Value) -> Value {
    let path = told["record"].as_str().unwrap();
    let replayed = json_of(&["replay", "tic-tac-toe", "--moves", path, "--full", "--json"]);
    let steps = replayed["steps"].as_array().unwrap();
    assert_eq!(told["steps"], steps.len());
    let moves: Vec<&Value> = steps.iter().map(|step| &step["m"]).collect();
    assert_eq!(json!(moves), record["moves"]);
    let hashes: Vec<&Value> = steps.iter().map(|step| &step["h"]).chain([&replayed["final_h"]]).collect();
    assert_eq!(json!(hashes), record["state_hashes"]);
    assert_eq!(replayed["goals"], record["goals"]);
    assert_eq!((&replayed["terminal"], &record["terminal"]), (&json!(true), &json!(true)));
    replayed
}

#[test]
fn the_first_levels_of_tic_tac_toe_are_known() {
    let told = json_of(&["perft", "tic-tac-toe", "--depth", "9", "--json"]);
    assert_eq!(
        keys(&told),
        ["distinct", "distinct_terminal", "game", "perft", "reasoner", "seconds"],
        "as the golden data has them, and whose they are"
    );
    // A game that is over stays a leaf. By length 1440, 5328, 47952, 72576 and 127872 games end after 5 to 9
    // marks, 255168 in all.
    assert_eq!(told["perft"], json!([9, 72, 504, 3024, 15120, 56160, 154_944, 255_168, 255_168]));
    // 5478 positions are reachable.
    let distinct: u64 = told["distinct"].as_array().unwrap().iter().map(|it| it.as_u64().unwrap()).sum();
    assert_eq!(distinct + 1, 5478);
    // 958 positions end the game: 626 lines of cross, 316 of nought, 16 draws.
    let ends: u64 = told["distinct_terminal"].as_array().unwrap().iter().map(|it| it.as_u64().unwrap()).sum();
    assert_eq!(ends, 958);
}

#[test]
fn the_network_counts_as_the_interpreter_does_and_is_explained() {
    let perft = |reasoner: &str| {
        let told = json_of(&["perft", "tic-tac-toe", "--depth", "5", "--reasoner", reasoner, "--json"]);
        assert_eq!(told["reasoner"], reasoner);
        (told["perft"].clone(), told["distinct"].clone())
    };
    let expected = perft("interpreter");
    for reasoner in ["propnet", "propnet-scalar"] {
        assert_eq!(perft(reasoner), expected, "{reasoner}");
    }
    let told = json_of(&["explain", "tic-tac-toe", "--json"]);
    // Nine cells to fill, and waiting.
    assert_eq!(told["moves"], json!([10, 10]));
    assert_eq!((&told["loops"], &told["on_demand"]), (&json!(0), &json!([])));
    assert!(told["cones"]["next"]["gates"].as_u64().unwrap() > 0);
    // The players take turns: a step of either is smaller than the whole.
    let inputs = |gates: &Value| gates["inputs"].as_u64().unwrap();
    let whole: u64 = told["cones"].as_object().unwrap().values().map(inputs).sum();
    let phases = told["phases"].as_array().unwrap();
    assert_eq!(phases.len(), 2);
    assert!(phases.iter().all(|phase| inputs(phase) < whole), "{phases:?}");
    assert!(stdout_of(&["explain", "tic-tac-toe"]).contains("10 + 10 moves"));
}

#[test]
fn a_random_match_of_a_shipped_game_replays() {
    let folder = Folder::new();
    let args = ["--player", "random", "--player", "random", "--seed", "5"];
    let told = folder.play("tic-tac-toe", &args);
    let record = record_of(&told);
    assert_eq!((&told["status"], &told["errors"]), (&json!("completed"), &json!([])));
    let replayed = assert_replays(&told, &record);
    assert_eq!(
        keys(&replayed),
        ["final_h", "final_legal", "final_n", "final_state", "goals", "roles", "steps", "terminal"]
    );
    let first = &replayed["steps"][0];
    assert_eq!(keys(first), ["h", "l", "m", "n"]);
    assert_eq!(first["n"], json!([9, 1]));
    assert!([&first["h"], &first["l"]].iter().all(|hash| hash.as_str().unwrap().len() == 16), "{first}");
    assert_eq!(replayed["roles"], json!(["cross", "nought"]));
    let facts: Vec<&str> =
        replayed["final_state"].as_array().unwrap().iter().map(|fact| fact.as_str().unwrap()).collect();
    assert!(facts.is_sorted() && replayed["final_n"] == facts.len(), "{facts:?}");
    // Without --full only what the golden traces have.
    let path = told["record"].as_str().unwrap();
    let short = json_of(&["replay", "tic-tac-toe", "--moves", path, "--json"]);
    assert_eq!(keys(&short), ["final_h", "final_n", "goals", "steps", "terminal"]);
    // The same seed plays the same match.
    assert_eq!(record_of(&folder.play("tic-tac-toe", &args))["moves"], record["moves"]);
}

#[test]
fn players_of_ours_over_loopback_leave_a_record_that_replays() {
    let folder = Folder::new();
    let player = "self:playouts=100,memory=64M,seed=1";
    let args = ["--player", player, "--player", player, "--start", "10", "--play", "10", "--loopback"];
    let told = folder.play("tic-tac-toe", &args);
    let record = record_of(&told);
    assert_eq!((&told["status"], &told["errors"]), (&json!("completed"), &json!([])), "{told}");
    assert_eq!(told["players"], json!([player, player]));
    assert_eq!((&record["format"], &record["game"]), (&json!(1), &json!("tic-tac-toe")));
    assert!(
        record["times"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|it| it.as_array().unwrap())
            .all(Value::is_number)
    );
    assert_replays(&told, &record);
}

#[test]
fn a_record_of_another_rulesheet_is_remarked_on() {
    let folder = Folder::new();
    let told = folder.play("tic-tac-toe", &["--player", "legal", "--player", "legal"]);
    let shown = stdout_of(&["games", "--show", "tic-tac-toe"]);
    let changed = folder.write("changed.kif", &format!("{shown}\n; changed"));
    let output = daggerboard()
        .args(["replay", &changed, "--moves", told["record"].as_str().unwrap(), "--json"])
        .env_remove("RUST_LOG")
        .output()
        .unwrap();
    assert!(output.status.success(), "the moves are legal there, too");
    assert!(String::from_utf8_lossy(&output.stderr).contains("another version"));
}

#[test]
fn a_search_with_one_thread_and_a_seed_is_the_same_twice() {
    let search = |seed: &str| {
        let mut told = json_of(&[
            "search",
            "tic-tac-toe",
            "--threads",
            "1",
            "--seed",
            seed,
            "--playouts",
            "2000",
            "--memory",
            "64M",
            "--json",
        ]);
        for timed in ["seconds", "set_up_s", "playouts_per_s", "leaves_per_s", "rollouts_per_s"] {
            assert!(told.as_object_mut().unwrap().remove(timed).is_some_and(|it| it.is_number()), "{timed}");
        }
        assert!(told.as_object_mut().unwrap().remove("time_shares").is_some_and(|it| it.is_object()));
        told
    };
    let first = search("7");
    assert_eq!(first, search("7"));
    assert_ne!(first["moves"], search("8")["moves"], "the seed decides");
    assert_eq!(first["playouts"], 2000);
    let visits: u64 =
        first["moves"].as_array().unwrap().iter().map(|it| it["visits"].as_u64().unwrap()).sum();
    // The propnet plays 8 rollouts from each leaf, and each is a visit.
    assert_eq!((first["moves"].as_array().unwrap().len(), visits), (9, 8 * 2000));
    assert_eq!(first["best"], first["moves"][0]["move"], "the most visited comes first");
}

#[test]
fn a_search_of_a_given_position_takes_the_winning_move() {
    let folder = Folder::new();
    let facts =
        json!(["(holds a cross)", "(holds b cross)", "(holds d nought)", "(holds e nought)", "(turn cross)"]);
    let state = folder.write("state.json", &facts.to_string());
    let told = json_of(&[
        "search",
        "tic-tac-toe",
        "--state",
        &state,
        "--threads",
        "1",
        "--seed",
        "1",
        "--playouts",
        "2000",
        "--memory",
        "64M",
        "--json",
    ]);
    assert_eq!((&told["role"], &told["best"]), (&json!("cross"), &json!("(fill c)")), "{told}");
    let over = json!(["(holds a cross)", "(holds b cross)", "(holds c cross)", "(turn nought)"]);
    let state = folder.write("over.json", &over.to_string());
    let output = run(&["search", "tic-tac-toe", "--state", &state, "--playouts", "10"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("terminal"));
}

#[test]
fn check_prints_one_object_per_file_in_order() {
    let folder = Folder::new();
    let good = folder.write("good.kif", &stdout_of(&["games", "--show", "tic-tac-toe"]));
    let bad = folder.write("bad.kif", "(role a)\n(init (p ?x))\n");
    let absent = folder.file("absent.kif");
    let a_folder = folder.file("");
    let files = [&bad, &absent, &a_folder, &good].map(String::as_str);
    let output = run(&[&["check", "--json"][..], &files].concat());
    assert_eq!(output.status.code(), Some(1));
    let lines = json_lines(&output.stdout);
    let told: Vec<(&str, &str)> = lines
        .iter()
        .map(|line| (line["file"].as_str().unwrap(), line["verdict"].as_str().unwrap()))
        .collect();
    assert_eq!(
        told,
        [(files[0], "invalid"), (files[1], "invalid"), (files[2], "invalid"), (files[3], "valid")]
    );
    for line in &lines {
        assert_eq!(keys(line), ["file", "messages", "verdict"]);
        for message in line["messages"].as_array().unwrap() {
            assert_eq!(keys(message), ["column", "hint", "line", "rule", "severity", "text"]);
        }
    }
    // A variable in a fact has a place; a file that cannot be read has none.
    assert!(lines[0]["messages"].as_array().unwrap().iter().any(|it| it["line"] == 2), "{}", lines[0]);
    assert_eq!(
        (&lines[1]["messages"][0]["line"], &lines[1]["messages"][0]["severity"]),
        (&json!(null), &json!("error"))
    );
    // Without an invalid file it succeeds, and says so to people as well.
    assert_eq!(stdout_of(&["check", &good]), format!("{good}: valid\n"));
}

#[test]
fn every_shipped_game_is_listed_shown_and_found_valid() {
    let folder = Folder::new();
    let listed = json_lines(stdout_of(&["games", "--json"]).as_bytes());
    assert!(listed.len() >= 12, "{}", listed.len());
    let files: Vec<String> = listed
        .iter()
        .map(|game| {
            assert_eq!(keys(game), ["name", "summary"]);
            let name = game["name"].as_str().unwrap();
            folder.write(&format!("{name}.kif"), &stdout_of(&["games", "--show", name]))
        })
        .collect();
    let args: Vec<&str> = ["check", "--json"].into_iter().chain(files.iter().map(String::as_str)).collect();
    for line in json_lines(stdout_of(&args).as_bytes()) {
        assert_eq!(line["verdict"], "valid", "{line}");
    }
}

#[test]
fn speed_counts_what_it_did() {
    let told = json_of(&["speed", "tic-tac-toe", "--seconds", "0.3", "--json"]);
    assert_eq!(
        keys(&told),
        [
            "cpu_s",
            "game",
            "mean_goals",
            "mean_length",
            "reasoner",
            "rollouts",
            "rollouts_per_s",
            "seconds",
            "setup_s",
            "threads",
            "transitions",
            "transitions_per_s"
        ]
    );
    let number = |value: &Value| value.as_f64().unwrap();
    assert!((5.0..=9.0).contains(&number(&told["mean_length"])), "{told}");
    let goals = number(&told["mean_goals"][0]) + number(&told["mean_goals"][1]);
    assert!((goals - 100.0).abs() < 1e-6, "a game of constant sum: {told}");
}

/// One role turns a wheel of eight places of thirty: far too many facts to ground, one of which holds.
fn wheels() -> String {
    let then: String = (0..29).map(|x| format!("(then {x} {}) ", x + 1)).collect();
    let vars = "?a ?b ?c ?d ?e ?f ?g ?h";
    format!(
        "(role r) (init (at 0 0 0 0 0 0 0 0)) (init (step 0)) {then} (legal r turn) (legal r shift) \
         (<= (next (step ?y)) (true (step ?x)) (then ?x ?y)) (<= terminal (true (step 6))) (goal r 50) \
         (<= (next (at ?n ?b ?c ?d ?e ?f ?g ?h)) (does r turn) (true (at {vars})) (then ?a ?n)) \
         (<= (next (at ?b ?c ?d ?e ?f ?g ?h ?a)) (does r shift) (true (at {vars})))"
    )
}

#[test]
fn auto_is_the_propnet_where_rules_can_be_grounded_in_time() {
    let folder = Folder::new();
    let wheels = folder.write("wheels.kif", &wheels());
    let search = |game: &str| json_of(&["search", game, "--seconds=0.2", "--memory=64M", "--json"]);
    let told = search("tic-tac-toe");
    assert_eq!((&told["reasoner"], &told["refused"]), (&json!("propnet"), &Value::Null));
    let told = search(&wheels);
    assert_eq!(told["reasoner"], "interpreter");
    assert!(told["refused"].as_str().is_some_and(|why| why.contains("time for grounding")), "{told}");
    assert!(told["playouts"].as_u64().is_some_and(|playouts| playouts > 0), "{told}");
    assert_eq!(json_of(&["speed", "tic-tac-toe", "--seconds=0.1", "--json"])["reasoner"], "propnet");
    assert_eq!(json_of(&["perft", "tic-tac-toe", "--depth=2", "--json"])["reasoner"], "propnet");
}

/// The propnet knows the facts that can come about; the interpreter knows all that the rules can speak of.
#[test]
fn auto_is_the_interpreter_in_a_position_that_the_propnet_does_not_know() {
    let folder = Folder::new();
    let known = folder.write("known.json", r#"["(turn cross)", "(holds a cross)"]"#);
    let odd = folder.write("odd.json", r#"["(turn cross)", "(holds a cross)", "(holds holds holds)"]"#);
    for (state, reasoner) in [(&known, "propnet"), (&odd, "interpreter")] {
        let args = ["perft", "tic-tac-toe", "--depth=1", "--state", state, "--json"];
        let told = json_of(&args);
        assert_eq!((&told["reasoner"], &told["perft"]), (&json!(reasoner), &json!([8])), "{told}");
    }
    let output = run(&["perft", "tic-tac-toe", "--depth=1", "--state", &odd, "--reasoner=propnet"]);
    assert_eq!(output.status.code(), Some(1));
    // What even the interpreter does not know is a mistake, and no matter of who answers.
    let unknown = folder.write("unknown.json", r#"["(turn cross)", "(fills a cross)"]"#);
    let output = run(&["perft", "tic-tac-toe", "--depth=1", "--state", &unknown]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.starts_with("error: ") && stderr.contains("is no fluent of this game"), "{stderr}");
}

#[test]
fn explain_shows_where_grounding_is() {
    let folder = Folder::new();
    let output = run(&["explain", &folder.write("wheels.kif", &wheels()), "--seconds=2.5"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.contains(" s: grounding split clauses; ") && stderr.contains(" words of ground rules"),
        "{stderr}"
    );
    assert!(stderr.contains("the time for grounding is over"), "{stderr}");
}

/// A race of two whose names, and whose moves, differ by nothing but case.
const ALIKE: &str = "(role walker) (role Walker) (init (at 0)) (next (at 1))
(legal walker (go left)) (legal walker (go Left)) (legal Walker stay)
(next (won walker)) (<= terminal (true (at 1)))
(<= (next (Won walker)) (does walker (go Left)))
(<= (goal walker 100) (true (Won walker))) (<= (goal walker 0) (not (true (Won walker))))
(goal Walker 50)";

#[test]
fn names_that_differ_by_case_are_told_apart() {
    let folder = Folder::new();
    let alike = folder.write("alike.kif", ALIKE);
    let search = |role: &str| {
        let limits = ["--playouts=200", "--threads=1", "--seed=1", "--json"];
        json_of(&[&["search", &alike, "--match-case", "--role", role][..], &limits].concat())
    };
    let told = search("walker");
    assert_eq!((&told["role"], &told["best"]), (&json!("walker"), &json!("(go Left)")), "{told}");
    let moves: Vec<&Value> = told["moves"].as_array().unwrap().iter().map(|it| &it["move"]).collect();
    assert_eq!(moves, ["(go Left)", "(go left)"]);
    let told = search("Walker");
    assert_eq!((&told["role"], &told["best"]), (&json!("Walker"), &json!("stay")), "{told}");
    let output = run(&["search", &alike, "--match-case", "--role=WALKER"]);
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));

    let told =
        folder.play(&alike, &["--match-case", "--player=self:playouts=50,threads=1", "--player=legal"]);
    let record = record_of(&told);
    assert_eq!(record["moves"], json!([["(go Left)", "stay"]]));
    let path = told["record"].as_str().unwrap();
    let replayed = json_of(&["replay", &alike, "--match-case", "--moves", path, "--full", "--json"]);
    assert_eq!(replayed["goals"], json!([100, 50]), "{replayed}");
}

#[test]
fn memory_comes_as_it_is_asked_for() {
    let asked = ["nim", "--playouts", "50", "--seed", "1", "--json"];
    let usual = json_of(&[&["search"], &asked[..]].concat());
    for pages in ["off", "reserved"] {
        let told = json_of(&[&["search", "--huge-pages", pages], &asked[..]].concat());
        assert_eq!(told["moves"], usual["moves"], "{pages}");
    }
    let no_tools =
        daggerboard().args(["search", "nim", "--numa", "interleave"]).env("PATH", "").output().unwrap();
    let error = String::from_utf8_lossy(&no_tools.stderr);
    assert!(no_tools.status.code() == Some(1) && error.contains("apt-get install numactl"), "{error}");
    // What is interleaved already need not be started again.
    let mut below = daggerboard();
    below.args(["games", "--numa", "interleave"]).env("DAGGERBOARD_NUMA", "interleave").env("PATH", "");
    assert!(below.output().unwrap().status.success());
    let wrong = daggerboard().args(["games", "--huge-pages", "huge"]).output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
}
