//! Real texts, whole and broken, and texts made to be awkward: everything has an answer, nothing panics.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use std::collections::BTreeMap;

use daggerboard_gdl::check::{Verdict, check, check_text, verdict};
use daggerboard_gdl::{
    CaseReading, Description, MAX_DEPTH, ReadErrorKind, ReadOptions, Rules, Sexpr, read_all, read_one,
};
use rustc_hash::FxHasher;
use std::hash::Hasher;

fn digest(text: &str) -> Option<Result<Rules, String>> {
    let (description, messages) = check_text(text, ReadOptions::default());
    let _ = verdict(&messages);
    let description = description?;
    let _ = description.to_string();
    Some(Rules::from_description(&description).map_err(|error| error.to_string()))
}

#[test]
fn every_valid_sheet_becomes_rules() {
    let Some(shared) = common::shared() else { return };
    for folder in ["games", "invalid", "cases/kif"] {
        let mut refused = BTreeMap::new();
        for (name, text) in common::texts(&shared.join(folder), ".kif") {
            let (description, messages) = check_text(&text, ReadOptions::default());
            let Some(description) = description else { continue };
            if let Err(error) = Rules::from_description(&description) {
                assert_eq!(verdict(&messages), Verdict::Invalid, "{name}: {error}");
                refused.insert(name, error.to_string());
            }
        }
        println!("{folder}: {} invalid sheets have no meaning as rules: {refused:#?}", refused.len());
    }
}

#[test]
fn case_is_read_as_meant() {
    let Some(shared) = common::shared() else { return };
    for (name, text) in common::texts(&shared.join("games"), ".kif") {
        let description = Description::read(&text, ReadOptions::default()).unwrap();
        assert!(!description.case_ignored(), "{name}");
    }
    for (name, text) in common::texts(&shared.join("scrambled"), ".kif") {
        if !name.contains(".start.") {
            let description = Description::read(&text, ReadOptions::default()).unwrap();
            assert_eq!(description.case_ignored(), name.contains(".anycase."), "{name}");
        }
    }
}

#[test]
fn spellings_of_one_game_are_the_same_rules() {
    let Some(shared) = common::shared() else { return };
    let lower_rules = |text: &str| {
        let description = Description::read(text, ReadOptions { case: CaseReading::Ignored }).unwrap();
        let rules = Rules::from_description(&description).unwrap();
        let texts: Vec<String> =
            rules.rules().iter().map(|rule| rules.rule_text(rule).to_ascii_lowercase()).collect();
        (texts, rules.facts().len(), rules.roles().len())
    };
    let texts: BTreeMap<String, String> =
        common::texts(&shared.join("scrambled"), ".kif").into_iter().collect();
    for (name, text) in &texts {
        let Some(game) = name.strip_suffix(".upper.kif") else { continue };
        for other in ["messy", "anycase"] {
            assert_eq!(
                lower_rules(text),
                lower_rules(&texts[&format!("{game}.{other}.kif")]),
                "{game} {other}"
            );
        }
    }
}

#[test]
fn start_messages_hold_descriptions() {
    let Some(shared) = common::shared() else { return };
    for (name, text) in common::texts(&shared.join("scrambled"), ".start.kif") {
        let message = read_one(&text).unwrap();
        let items = message.list().unwrap();
        assert!(items[0].atom().unwrap().eq_ignore_ascii_case("start"), "{name}");
        let statements = items[3].list().unwrap().to_vec();
        let description = Description::from_sexprs(&text, statements, ReadOptions::default());
        let rules = Rules::from_description(&description).unwrap();
        let role = items[2].to_string();
        assert!(rules.roles().iter().any(|known| known.to_string() == role), "{name}");
        assert_ne!(verdict(&check(&description)), Verdict::Invalid, "{name}");
        let [start, play] = [4, 5].map(|idx| items[idx].atom().and_then(|clock| clock.parse().ok()));
        assert_eq!((start, play), (Some(30), Some(10)), "{name}");
    }
}

/// Numbers that depend on the text and a counter only, so that a failure comes again.
struct Mutator {
    seed: u64,
    n_drawn: u64,
}

impl Mutator {
    fn below(&mut self, n: usize) -> usize {
        self.n_drawn += 1;
        let mut hasher = FxHasher::default();
        hasher.write_u64(self.seed);
        hasher.write_u64(self.n_drawn);
        usize::try_from((hasher.finish() >> 16) % n.max(1) as u64).unwrap()
    }

    fn mutate(&mut self, text: &[u8]) -> Vec<u8> {
        let mut text = text.to_vec();
        if text.is_empty() {
            return text;
        }
        for _ in 0..=self.below(4) {
            let at = self.below(text.len());
            match self.below(6) {
                0 => text.truncate(at.max(1)),
                1 => {
                    if let Some(found) = text[at..].iter().position(|byte| b"()".contains(byte)) {
                        text.remove(at + found);
                    }
                }
                2 => text[at] = u8::try_from(self.below(256)).unwrap(),
                3 => text.insert(at, *b"()?;#|<=\r\n".get(self.below(10)).unwrap()),
                4 => {
                    let end = (at + self.below(200)).min(text.len());
                    let piece = text[at..end].to_vec();
                    let to = self.below(text.len());
                    text.splice(to..to, piece);
                }
                _ => {
                    let word: &[u8] =
                        [&b" not "[..], b"(or ", b" distinct ", b"(true ", b" ?x ", b"(<= "][self.below(6)];
                    text.splice(at..at, word.iter().copied());
                }
            }
        }
        text
    }
}

#[test]
fn broken_games_do_no_harm() {
    let Some(shared) = common::shared() else { return };
    let mut n_read = 0;
    let mut n_tried = 0;
    for folder in ["games", "invalid"] {
        for (file_idx, (_, text)) in common::texts(&shared.join(folder), ".kif").into_iter().enumerate() {
            for round in 0..12 {
                let mut mutator = Mutator { seed: (file_idx * 100 + round) as u64, n_drawn: 0 };
                let broken = mutator.mutate(text.as_bytes());
                n_tried += 1;
                n_read += u64::from(digest(&String::from_utf8_lossy(&broken)).is_some());
            }
        }
    }
    println!("{n_read} of {n_tried} broken texts could still be read");
}

#[test]
fn nesting_is_limited() {
    let nested = |open: &str, n: usize| format!("(role a) (<= p {}q{})", open.repeat(n), ")".repeat(n));
    for open in ["(not ", "(or ", "(and ", "(f ", "(or (not q) "] {
        let deep = nested(open, MAX_DEPTH - 2);
        assert!(digest(&deep).is_some(), "{open}");
        assert!(digest(&nested(open, MAX_DEPTH)).is_none(), "{open}");
    }
    for n in [MAX_DEPTH + 1, 1_000_000] {
        assert_eq!(read_all(&"(".repeat(n)).unwrap_err().kind, ReadErrorKind::TooDeep);
    }
}

/// Sheets of about a megabyte that would take for ever if something were quadratic or worse.
#[test]
fn large_sheets_are_checked_and_lowered() {
    let many = |n: usize, make: &dyn Fn(usize) -> String| (0..n).map(make).collect::<String>();
    let sheets = [
        ("one long path", many(40_000, &|i| format!("(<= (p{i}) (p{}))", i + 1))),
        ("one long cycle through not", many(40_000, &|i| format!("(<= p{i} (not p{}))", (i + 1) % 40_000))),
        (
            "rules of one relation",
            many(20_000, &|i| format!("(<= (p {i} ?x) (not (p {} ?x)) (q ?x))", i + 1)),
        ),
        ("rules that all overlap", many(20_000, &|i| format!("(<= (p ?x ?y) (q{i} ?x) (not (p ?y ?x)))"))),
        ("facts", many(60_000, &|i| format!("(cell {i} b)"))),
        ("errors on one line", many(60_000, &|_| "(true ?x ?y)".into())),
        ("one rule of many conditions", format!("(<= p {})", many(60_000, &|i| format!("(q ?v{i})")))),
        (
            "one rule of many ors",
            format!("(<= (p ?a) {})", many(30_000, &|i| format!("(or (q ?v{i} ?a) (r ?a))"))),
        ),
        (
            "one rule with many unsafe variables",
            format!("(<= p (not (q {})))", many(90_000, &|i| format!("?v{i} "))),
        ),
        ("one head of many arguments", format!("(<= (p {}) (p ?x))", many(90_000, &|i| format!("?v{i} ")))),
        ("roles", many(60_000, &|i| format!("(role r{i})"))),
        ("spellings", many(60_000, &|i| format!("({} a)", spelled(i)))),
        ("arities", many(1_000, &|i| format!("(p {})", "a ".repeat(i)))),
        (
            "ors in ors",
            many(100, &|_| {
                format!("(<= p {}q{})", "(or (and (r ?x) (not (s ?x))) (and t ".repeat(450), "))".repeat(450))
            }),
        ),
    ];
    for (what, sheet) in sheets {
        let text = format!("(role a) (legal a x) (goal a 100) (<= terminal p0)\n{sheet}");
        let messages = check_text(&text, ReadOptions::default()).1;
        let rules = digest(&text);
        println!("{what}: {} bytes, {} messages", text.len(), messages.len());
        assert!(rules.is_some(), "{what}");
    }
}

/// One name in many spellings.
fn spelled(number: usize) -> String {
    "abcdefghijklmnop"
        .char_indices()
        .map(|(i, c)| if number >> i & 1 == 1 { c.to_ascii_uppercase() } else { c })
        .collect()
}

#[test]
fn printed_statements_are_found_by_their_spans() {
    let text = "\u{feff}(role a)\n; c\n(<= p (q ?x))";
    let description = Description::read(text, ReadOptions::default()).unwrap();
    let spans: Vec<&str> = description.statements().iter().map(|s| s.span().of(text)).collect();
    assert_eq!(spans, ["(role a)", "(<= p (q ?x))"]);
    assert_eq!(description.statements()[1].head().and_then(Sexpr::atom), Some("p"));
}
