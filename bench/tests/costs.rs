//! The real binary tells what configurations cost.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::{Command, Output};

fn costs(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_daggerboard-bench"));
    command.args(["costs", "--seconds", "0.01"]).args(args).output().unwrap()
}

/// Times are whatever the machine does; what was searched is always the same.
#[test]
fn playouts_pass_all_levels_and_records_have_their_sizes() {
    let output = costs(&["--configs", "uct,update-all,credited", "--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = told["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    for row in rows {
        let points = row["points"].as_array().unwrap();
        assert_eq!(points.len(), 12);
        for point in points {
            assert_eq!(point["levels"], point["depth"].as_f64().unwrap(), "{row}");
            assert!(point["playout_ns"].as_f64() > Some(0.0), "{row}");
        }
        assert!(row["node_bytes"].as_u64() >= Some(64 + 6), "{row}");
    }
    let edge_bytes: Vec<u64> = rows.iter().map(|row| row["edge_bytes"].as_u64().unwrap()).collect();
    // update-all has a link of 16 bytes; credited two credits.
    assert_eq!(edge_bytes, [24, 24 + 16, 24 + 16]);
}

#[test]
fn playouts_that_go_anywhere_are_not_measured() {
    for config in ["mc", "mc-memory", "ucd-paper(1,0,1)"] {
        let output = costs(&["--configs", &format!("uct,{config}")]);
        assert_eq!(output.status.code(), Some(2));
        let error = String::from_utf8(output.stderr).unwrap();
        let told = format!("playouts of {config} do not keep to the best moves");
        assert!(error.contains(&told) && error.contains("hint: leave it out"), "{error}");
    }
}
