//! Any text in; what is read from it, printed and read again, must be the same expressions.
#![no_main]

use daggerboard_gdl::{Sexpr, SexprKind, read_all};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let read = match read_all(text) {
        Ok(read) => read,
        Err(error) => {
            // The message has to be made as well.
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let printed = read.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    let again = match read_all(&printed) {
        Ok(again) => again,
        Err(error) => panic!("what was printed is not read: {error}\n{printed}"),
    };
    assert!(all_same(&read, &again), "read again otherwise:\n{printed}");
    read.iter().for_each(|sexpr| spans_fit(sexpr, text));
});

/// Whether the expressions are equal but for their spans.
fn all_same(a: &[Sexpr], b: &[Sexpr]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
}

fn same(a: &Sexpr, b: &Sexpr) -> bool {
    match (&a.kind, &b.kind) {
        (SexprKind::Atom(a), SexprKind::Atom(b)) => a == b,
        (SexprKind::List(a), SexprKind::List(b)) => all_same(a, b),
        _ => false,
    }
}

/// The span of an atom is its very text; that of a list has its parentheses at the ends.
fn spans_fit(sexpr: &Sexpr, text: &str) {
    let under = sexpr.span.of(text);
    match &sexpr.kind {
        SexprKind::Atom(name) => assert_eq!(under, &**name),
        SexprKind::List(items) => {
            assert!(under.starts_with('(') && under.ends_with(')'), "{under:?} is no list");
            items.iter().for_each(|item| spans_fit(item, text));
        }
    }
}
