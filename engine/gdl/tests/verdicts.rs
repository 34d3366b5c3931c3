//! Our verdicts against those of the reference validator and of the case files.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use std::collections::BTreeMap;
use std::path::Path;

use daggerboard_gdl::check::{Message, Severity, Verdict, check_text, verdict};
use daggerboard_gdl::{CaseReading, ReadOptions};

/// Where we mean to differ from the reference: the file, our verdict, why.
const DIFFERENCES: &[(&str, Verdict, &str)] = &[
    ("alexChess.v0.kif", Verdict::Warning, CAPITALS),
    ("wargame01.v0.kif", Verdict::Warning, CAPITALS),
    ("wargame03.v0.kif", Verdict::Warning, CAPITALS),
    ("wargame03.v1.kif", Verdict::Warning, CAPITALS),
];

/// The language is case-sensitive, so names that differ by case have a meaning and the game can be played;
/// the case files call such a sheet valid, with a warning.
const CAPITALS: &str = "inconsistent capitals are a warning, not an error";

fn table(file: &Path) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(file).unwrap();
    let row = |line: &str| {
        let mut cells = line.split('\t').map(str::to_owned);
        Some((cells.next()?, cells.next()?))
    };
    text.lines().skip(1).filter_map(row).collect()
}

fn messages(text: &str) -> Vec<Message> {
    check_text(text, ReadOptions { case: CaseReading::Auto }).1
}

fn listed(messages: &[Message]) -> String {
    messages.iter().map(|message| format!("\n    {message}")).collect()
}

/// The files of a folder whose verdict is not the one of the table.
fn disagreements(folder: &Path, table: &BTreeMap<String, String>) -> (usize, Vec<(String, Verdict, String)>) {
    let mut found = Vec::new();
    let files = common::texts(folder, ".kif");
    for (name, text) in &files {
        let messages = messages(text);
        let ours = verdict(&messages);
        let theirs = table.get(name).unwrap_or_else(|| panic!("{name} is not in the table"));
        if ours.to_string() != *theirs {
            found.push((name.clone(), ours, format!("{name}: {ours}, not {theirs}{}", listed(&messages))));
        }
    }
    (files.len(), found)
}

#[test]
fn published_games_get_the_reference_verdict() {
    let Some(shared) = common::shared() else { return };
    let table = table(&shared.join("golden/VALIDATOR.tsv"));
    let (n_files, found) = disagreements(&shared.join("games"), &table);
    println!("{} of {n_files} verdicts agree", n_files - found.len());
    let meant = |name: &str, ours| DIFFERENCES.iter().any(|d| d.0 == name && d.1 == ours);
    let unmeant: Vec<&String> =
        found.iter().filter(|(name, ours, _)| !meant(name, *ours)).map(|(_, _, text)| text).collect();
    assert!(unmeant.is_empty(), "{unmeant:#?}");
}

#[test]
fn invalid_sheets_get_the_expected_verdict() {
    let Some(shared) = common::shared() else { return };
    let table = table(&shared.join("invalid/EXPECTED.tsv"));
    let (n_files, found) = disagreements(&shared.join("invalid"), &table);
    println!("{} of {n_files} verdicts agree", n_files - found.len());
    assert!(found.is_empty(), "{found:#?}");
}

/// Warnings that only playing the game can show.
const DYNAMIC_WARNINGS: &[&str] =
    &["not playable", "in a terminal state", "non-terminating", "not covered by input"];

#[test]
fn case_files_get_what_they_expect() {
    let Some(shared) = common::shared() else { return };
    for (name, text) in common::texts(&shared.join("cases/kif"), ".kif") {
        let messages = messages(&text);
        let ours = verdict(&messages);
        let expectations = text.split(['\r', '\n']).filter_map(|line| {
            line.trim_start_matches('\u{feff}').strip_prefix(";@ ").and_then(|rest| rest.split_once(' '))
        });
        for (what, rest) in expectations {
            match what {
                "valid" => {
                    let valid = rest.trim() == "yes";
                    assert_eq!(ours != Verdict::Invalid, valid, "{name}: {rest}{}", listed(&messages));
                }
                "warn" if DYNAMIC_WARNINGS.iter().any(|words| rest.contains(words)) => {}
                "warn" => assert_eq!(ours, Verdict::Warning, "{name}: {rest}"),
                _ => {}
            }
        }
    }
}

#[test]
fn messages_are_in_the_order_of_the_text_and_complete() {
    let Some(shared) = common::shared() else { return };
    for folder in ["games", "invalid", "cases/kif"] {
        for (name, text) in common::texts(&shared.join(folder), ".kif") {
            let messages = messages(&text);
            assert!(messages.windows(2).all(|pair| pair[0].position <= pair[1].position), "{name}");
            for message in &messages {
                assert!(!message.hint.is_empty() && !message.text.is_empty(), "{name}: {message}");
                assert!(!message.text.ends_with('.') && !message.hint.ends_with('.'), "{name}: {message}");
                let first = message.text.chars().next().unwrap();
                assert!(
                    !first.is_ascii_uppercase() || message.severity == Severity::Warning,
                    "{name}: {message}"
                );
            }
        }
    }
}
