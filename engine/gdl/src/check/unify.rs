//! Whether two sentences of different rules can be the same.

use rustc_hash::FxHashMap;

use crate::sexpr::{Sexpr, SexprKind};

/// How many pairs of subterms are looked at before the answer is "perhaps". Sentences of published sheets
/// need fewer than a hundred.
const MAX_STEPS: usize = 4096;

/// Whose variables a term has: equal names in two rules are different variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Side {
    Left,
    Right,
}

type Sided<'a> = (Side, &'a Sexpr);

/// Whether argument lists of equal length have a common instance. Infinite terms are not ruled out, and a
/// very long comparison ends with `true`: the answer errs towards a possible overlap.
pub(super) fn may_unify<'a>(left: &'a [Sexpr], right: &'a [Sexpr]) -> bool {
    let mut bindings: FxHashMap<(Side, &'a str), Sided<'a>> = FxHashMap::default();
    let mut open: Vec<(Sided, Sided)> =
        left.iter().zip(right).map(|(a, b)| ((Side::Left, a), (Side::Right, b))).collect();
    for _ in 0..MAX_STEPS {
        let Some((a, b)) = open.pop() else { return true };
        let (a, b) = (resolved(a, &bindings), resolved(b, &bindings));
        match (variable(a), variable(b)) {
            (Some(var), Some(other)) if var == other => {}
            (Some(var), _) => {
                bindings.insert(var, b);
            }
            (None, Some(var)) => {
                bindings.insert(var, a);
            }
            (None, None) => {
                let ((name_a, args_a), (name_b, args_b)) = (parts(a.1), parts(b.1));
                if name_a != name_b || args_a.len() != args_b.len() {
                    return false;
                }
                open.extend(args_a.iter().zip(args_b).map(|(x, y)| ((a.0, x), (b.0, y))));
            }
        }
    }
    true
}

fn variable<'a>((side, term): Sided<'a>) -> Option<(Side, &'a str)> {
    term.atom().filter(|name| name.starts_with('?')).map(|name| (side, name))
}

/// Follows bound variables. A variable is bound once, to what was resolved before, so chains end.
fn resolved<'a>(mut term: Sided<'a>, bindings: &FxHashMap<(Side, &'a str), Sided<'a>>) -> Sided<'a> {
    while let Some(&bound) = variable(term).and_then(|var| bindings.get(&var)) {
        term = bound;
    }
    term
}

/// The name and the arguments; a name in its own parentheses is the name.
fn parts(term: &Sexpr) -> (Option<&str>, &[Sexpr]) {
    match &term.kind {
        SexprKind::Atom(name) => (Some(name), &[]),
        SexprKind::List(items) => (items.first().and_then(Sexpr::atom), items.get(1..).unwrap_or(&[])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sexpr::read_all;

    #[test]
    fn common_instances_are_found() {
        for (left, right, expected) in [
            ("?r 0", "?r 100", false),
            ("?r ?v", "red 100", true),
            ("?x ?x", "a b", false),
            ("?x ?x", "?a ?b", true),
            ("?x ?x a", "?a b ?a", false),
            ("(f ?x) ?x", "?y a", true),
            ("(f)", "f", true),
            ("(f ?x)", "(f ?x ?y)", false),
            ("?x (f ?x)", "(f ?y) ?y", true),
        ] {
            let (left, right) = (read_all(left).unwrap(), read_all(right).unwrap());
            assert_eq!(may_unify(&left, &right), expected, "{left:?} {right:?}");
            assert_eq!(may_unify(&right, &left), expected);
        }
    }
}
