//! `daggerboard stress` through the command line.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use common::{Folder, daggerboard, json_of, run, signal, stdout_of};

#[test]
fn every_number_of_threads_has_its_search_and_its_graph_keeps_the_laws() {
    let folder = Folder::new();
    let plot = folder.file("scaling.svg");
    for config in ["uct+t", "credited", "ucd-incremental(1,0,1)"] {
        let args = ["stress", "tic-tac-toe", "--threads", "1,3,16", "--seconds", "0.3", "--memory", "64M"];
        let more = ["--config", config, "--verify", "--json", "--plot", &plot];
        let told = json_of(&[&args[..], &more].concat());
        let searches = told["searches"].as_array().unwrap();
        let threads: Vec<u64> = searches.iter().map(|it| it["threads"].as_u64().unwrap()).collect();
        assert_eq!(threads, [1, 3, 16]);
        for search in searches {
            assert!(search["playouts"].as_u64().unwrap() > 0, "{search}");
            assert_eq!(search["verify"]["holds"], true, "{search}");
        }
        assert_eq!((&searches[0]["speed_up"], &searches[0]["efficiency"]), (&1.0.into(), &1.0.into()));
        assert!(!told["reading"].as_array().unwrap().is_empty());
        let modelled = told["model"]["rows"].as_array().map_or(0, Vec::len);
        assert!(modelled < searches.len(), "the first is never modelled: {told}");
        assert!(told["model"].is_null() || told["model"]["is_measured"] == false, "{told}");
        let svg = std::fs::read_to_string(&plot).unwrap();
        assert!(svg.starts_with("<svg") && svg.contains("threads"), "{svg}");
    }
}

#[test]
fn gathered_statistics_and_the_table_are_told() {
    let args = [
        "stress",
        "connect-four",
        "--threads",
        "1,8",
        "--seconds",
        "0.5",
        "--batch",
        "16",
        "--hot-levels",
        "2",
    ];
    let told = json_of(&[&args[..], &["--verify", "--json"]].concat());
    for search in told["searches"].as_array().unwrap() {
        assert!(search["counters"]["flushes"].as_u64().unwrap() > 0, "{search}");
        let (table, nodes) = (&search["table"], search["nodes"].as_f64().unwrap());
        // Threads hold on to some nodes that they have not used yet.
        assert!(table["fill"].as_f64().unwrap() * table["slots"].as_f64().unwrap() >= nodes, "{search}");
        assert!(table["growth_s"].as_f64().unwrap() >= 0.0 && table["growths"].is_u64(), "{search}");
        assert_eq!(search["verify"]["holds"], true, "{search}");
    }
    let shown = stdout_of(&args);
    assert!(shown.contains("table") && shown.contains("flushes"), "{shown}");
}

#[test]
fn a_plot_that_cannot_be_written_is_told_before_the_searches() {
    let folder = Folder::new();
    for path in ["/nowhere/it.svg".to_owned(), folder.file("")] {
        let args = ["stress", "tic-tac-toe", "--threads", "1", "--seconds", "3600", "--plot", &path];
        let output = run(&args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(&path) && !said.contains("3600"), "{said}");
    }
}

#[test]
#[cfg(unix)]
fn ctrl_c_in_the_first_search_leaves_an_older_plot() {
    let folder = Folder::new();
    let plot = folder.file("scaling.svg");
    std::fs::write(&plot, "older").unwrap();
    let args = ["stress", "tic-tac-toe", "--threads", "1", "--seconds", "600", "--plot", &plot];
    let mut child = daggerboard().args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(stderr.any(|line| line.unwrap().contains("1 thread, 600 s")));
    signal(child.id(), "-INT");
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(told.contains("no search came to its end") && output.status.code() == Some(1), "{told}");
    assert_eq!(std::fs::read_to_string(&plot).unwrap(), "older");
}

#[test]
fn numbers_of_threads_are_compared_in_order() {
    let output = run(&["stress", "tic-tac-toe", "--threads", "2,1,2", "--seconds", "0.1"]);
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(told.contains("2 threads are") && told.contains("times as fast as 1 thread."), "{told}");
}

#[test]
fn what_would_end_a_search_early_is_refused_at_once() {
    for more in [&["--pn-bias", "5"][..], &["--solver", "on"], &["--solver", "on", "--pn-bias", "5"]] {
        let output = run(&[&["stress", "tic-tac-toe"][..], more].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("leave both out"), "{said}");
    }
}

#[test]
fn a_system_without_a_graph_is_wrong_usage() {
    let output = run(&["stress", "lights-out", "--config", "nested(2)", "--seconds", "0.1"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("nested(2) has no graph"), "{output:?}");
}

#[test]
fn numbers_of_threads_that_cannot_be_are_wrong_usage() {
    for threads in ["0", "1,x", "100000"] {
        let output = run(&["stress", "tic-tac-toe", "--threads", threads]);
        assert_eq!(output.status.code(), Some(2), "{threads}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("--threads"), "{threads}");
    }
}
