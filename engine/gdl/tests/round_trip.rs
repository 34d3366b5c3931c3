//! What is printed reads the same again.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use daggerboard_gdl::check::check_text;
use daggerboard_gdl::{
    CaseReading, Description, ReadOptions, Rules, Sexpr, SexprKind, Span, Term, read_all, read_one,
};
use proptest::prelude::*;

/// The expression without its places.
fn bare(sexpr: &Sexpr) -> Sexpr {
    let kind = match &sexpr.kind {
        SexprKind::Atom(name) => SexprKind::Atom(name.clone()),
        SexprKind::List(items) => SexprKind::List(items.iter().map(bare).collect()),
    };
    Sexpr { kind, span: Span::default() }
}

fn bare_statements(description: &Description) -> Vec<Sexpr> {
    description.statements().iter().map(|statement| bare(statement.sexpr())).collect()
}

fn assert_same_again(text: &str, case: CaseReading) {
    let Ok(first) = Description::read(text, ReadOptions { case }) else { return };
    let second = Description::read(&first.to_string(), ReadOptions { case }).unwrap();
    assert_eq!(bare_statements(&first), bare_statements(&second), "{text:?}");
}

/// Names as they occur in the wild, keywords in any case among them.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z][a-zA-Z0-9_]{0,4}",
        "[+<>*/=!$%&'\"#|.,:@~^-]{1,3}[a-z]?",
        Just("\u{e4}\u{4e2d}".to_owned()),
        prop::sample::select(vec!["<=", "role", "True", "NOT", "or", "Distinct", "does", "8puzzle", "-1"])
            .prop_map(str::to_owned),
    ]
    .prop_filter("no comment", |name| !name.contains("#|"))
}

fn sexpr() -> impl Strategy<Value = Sexpr> {
    let atom = |name: String| Sexpr { kind: SexprKind::Atom(name.into()), span: Span::default() };
    let leaf = prop_oneof![3 => name().prop_map(atom), 1 => "\\?[a-z+]{1,2}".prop_map(atom)];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop::collection::vec(inner, 0..6)
            .prop_map(|items| Sexpr { kind: SexprKind::List(items), span: Span::default() })
    })
}

fn term() -> impl Strategy<Value = Term> {
    let leaf = name().prop_map(|name| Term::Name(name.into()));
    leaf.prop_recursive(5, 40, 5, |inner| {
        (name(), prop::collection::vec(inner, 0..5))
            .prop_map(|(name, args)| Term::Compound(name.into(), args))
    })
}

/// Texts of the reader's own characters, mostly unbalanced.
fn soup() -> impl Strategy<Value = String> {
    let token = prop::sample::select(vec![
        "(", ")", "(", ")", " ", "\n", "\r", "\t", ";", "#|", "|#", "<=", "role", "legal", "a", "B", "b",
        "?x", "or", "not", "distinct", "true", "does", "\u{feff}", "\0", "\u{e9}", "#", "|", "goal", "100",
        "terminal",
    ]);
    prop::collection::vec(token, 0..60).prop_map(|tokens| tokens.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn expressions_print_as_they_are(sexpr in sexpr()) {
        prop_assert_eq!(bare(&read_one(&sexpr.to_string()).unwrap()), sexpr);
    }

    #[test]
    fn descriptions_read_the_same_again(statements in prop::collection::vec(sexpr(), 0..8)) {
        let text: String = statements.iter().map(|statement| format!("{statement} ; )\n")).collect();
        for case in [CaseReading::Auto, CaseReading::Exact, CaseReading::Ignored] {
            assert_same_again(&text, case);
        }
        let exact = Description::read(&text, ReadOptions { case: CaseReading::Exact }).unwrap();
        if statements.len() > 1 {
            prop_assert_eq!(bare_statements(&exact), statements);
        }
    }

    #[test]
    fn terms_read_the_same_again(term in term()) {
        prop_assert_eq!(Term::parse(&term.to_string()).unwrap(), term);
    }

    #[test]
    fn any_text_is_read_checked_and_lowered_without_harm(text in soup()) {
        let (description, _) = check_text(&text, ReadOptions::default());
        if let Some(description) = description {
            if let Ok(rules) = Rules::from_description(&description) {
                rules.rules().iter().for_each(|rule| drop(rules.rule_text(rule)));
            }
            for case in [CaseReading::Auto, CaseReading::Exact, CaseReading::Ignored] {
                assert_same_again(&text, case);
            }
        }
    }

    #[test]
    fn spans_cover_what_was_read(text in soup()) {
        fn inside(sexpr: &Sexpr, text: &str) {
            match &sexpr.kind {
                SexprKind::Atom(name) => assert_eq!(sexpr.span.of(text), &**name),
                SexprKind::List(items) => {
                    let span = sexpr.span.of(text);
                    assert!(span.starts_with('(') && span.ends_with(')'));
                    items.iter().for_each(|item| inside(item, text));
                }
            }
        }
        for sexpr in read_all(&text).unwrap_or_default() {
            inside(&sexpr, &text);
        }
    }
}

#[test]
fn published_sheets_read_the_same_again() {
    let Some(shared) = common::shared() else { return };
    for folder in ["games", "invalid", "scrambled", "cases/kif"] {
        for (_, text) in common::texts(&shared.join(folder), ".kif") {
            assert_same_again(&text, CaseReading::Auto);
        }
    }
}
