//! Small texts beside what the reader and the checks make of them: `ok/NAME.kif` with its tree in
//! `ok/NAME.tree`, `err/NAME.kif` with its messages in `err/NAME.messages`. With `UPDATE_GOLDEN=1` in the
//! environment the expectations are written anew; read the difference before it is committed.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use std::fmt::Write;
use std::path::Path;

use daggerboard_gdl::check::{Verdict, check_text, verdict};
use daggerboard_gdl::{ReadOptions, Sexpr, SexprKind, read_all};

fn tree(text: &str) -> String {
    let mut out = String::new();
    for sexpr in read_all(text).unwrap() {
        write_tree(&sexpr, text, 0, &mut out);
    }
    out
}

fn write_tree(sexpr: &Sexpr, text: &str, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    let position = sexpr.span.position(text);
    match &sexpr.kind {
        SexprKind::Atom(name) => writeln!(out, "{indent}{name}  ; {position}").unwrap(),
        SexprKind::List(items) => {
            writeln!(out, "{indent}list  ; {position}").unwrap();
            items.iter().for_each(|item| write_tree(item, text, depth + 1, out));
        }
    }
}

fn messages(text: &str) -> String {
    let messages = check_text(text, ReadOptions::default()).1;
    let mut out = String::new();
    for message in messages {
        writeln!(out, "{message}").unwrap();
        if !message.rule.is_empty() {
            writeln!(out, "    {}", message.rule).unwrap();
        }
    }
    out
}

/// Compares what `make` gives for each text of a folder with the file beside it.
fn compare(folder: &str, ending: &str, make: impl Fn(&str) -> String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let texts = common::texts(&folder, ".kif");
    assert!(!texts.is_empty());
    for (name, text) in texts {
        let beside = folder.join(&name).with_extension(ending);
        let made = make(&text);
        if update {
            std::fs::write(&beside, &made).unwrap();
        }
        let expected = std::fs::read_to_string(&beside).unwrap_or_default();
        assert_eq!(made, expected, "{name} is read otherwise than {} says", beside.display());
    }
}

#[test]
fn texts_have_the_expected_trees() {
    compare("ok", "tree", tree);
}

#[test]
fn faults_have_the_expected_messages() {
    compare("err", "messages", messages);
}

#[test]
fn every_faulty_text_has_a_fault() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/err");
    for (name, text) in common::texts(&folder, ".kif") {
        assert_ne!(verdict(&check_text(&text, ReadOptions::default()).1), Verdict::Valid, "{name}");
    }
}
