//! Splits long clauses by projecting out their local variables.
//!
//! A variable that only some conditions of a clause speak of, and the head not, is moved with them into an
//! auxiliary predicate over the other variables of these conditions. What stays has fewer variables, so there are
//! fewer ground instances; an instance of the auxiliary predicate is shared by all that need it.

use std::collections::BTreeSet;

use super::clause::{AtomPattern, Clause, Condition, Pattern, Program};

/// Splits all clauses as far as it makes them narrower.
pub(super) fn decompose(mut program: Program) -> Program {
    let mut done = Vec::with_capacity(program.clauses.len());
    for mut clause in std::mem::take(&mut program.clauses) {
        while let Some(split) = best_split(&clause) {
            let head = AtomPattern::new(
                program.fresh.make(),
                split.kept.iter().map(|&var| Pattern::Var(var)).collect(),
            );
            let (moved, mut body): (Vec<_>, Vec<_>) =
                clause.body.drain(..).partition(|condition| condition.vars().contains(&split.local));
            done.push(Clause { head: head.clone(), body: moved, n_vars: clause.n_vars });
            body.push(Condition::Holds(head));
            clause.body = body;
        }
        done.push(clause);
    }
    program.clauses = done;
    program
}

/// A variable to project out.
struct Split {
    local: u32,
    /// The other variables of the conditions with it.
    kept: BTreeSet<u32>,
}

/// The split that keeps the fewest variables.
fn best_split(clause: &Clause) -> Option<Split> {
    let head = clause.head.vars();
    let vars: Vec<BTreeSet<u32>> = clause.body.iter().map(Condition::vars).collect();
    let all: BTreeSet<u32> = vars.iter().flatten().chain(&head).copied().collect();
    let splits = all.difference(&head).filter_map(|&local| {
        let with: Vec<usize> = (0..vars.len()).filter(|&idx| vars[idx].contains(&local)).collect();
        let mut kept: BTreeSet<u32> = with.iter().flat_map(|&idx| &vars[idx]).copied().collect();
        // What is moved must bind all its variables itself, and something must stay.
        let binds = |idx: &&usize| matches!(clause.body[**idx], Condition::Holds(_));
        let bound: BTreeSet<u32> = with.iter().filter(binds).flat_map(|&idx| &vars[idx]).copied().collect();
        let is_safe = kept.is_subset(&bound);
        kept.remove(&local);
        let narrows = kept.len() + 1 < all.len();
        (is_safe && narrows && with.len() < vars.len()).then_some(Split { local, kept })
    });
    splits.min_by_key(|split| split.kept.len())
}

#[cfg(test)]
mod tests {
    use super::super::clause::FreshNames;
    use super::super::testing::{atom, holds};
    use super::*;

    #[test]
    fn a_chain_is_split_at_its_inner_variables() {
        // p(a, d) <- q(a, b), r(b, c), s(c, d)
        let clause = Clause {
            head: atom(0, &[0, 3]),
            body: vec![holds(1, &[0, 1]), holds(2, &[1, 2]), holds(3, &[2, 3])],
            n_vars: 4,
        };
        let program = decompose(Program { clauses: vec![clause], fresh: FreshNames::starting_at(10) });
        assert_eq!(program.clauses.len(), 2);
        let [auxiliary, rest] = &program.clauses[..] else { unreachable!() };
        assert_eq!(auxiliary.head, atom(10, &[0, 2]));
        assert_eq!(auxiliary.body, [holds(1, &[0, 1]), holds(2, &[1, 2])]);
        assert_eq!(rest.body, [holds(3, &[2, 3]), holds(10, &[0, 2])]);
    }

    #[test]
    fn what_does_not_bind_its_variables_stays_whole() {
        // p(a) <- q(a, b), not r(b, c), s(c): without s, c would not be bound.
        let clause = Clause {
            head: atom(0, &[0]),
            body: vec![holds(1, &[0, 1]), Condition::Not(atom(2, &[1, 2])), holds(3, &[2])],
            n_vars: 3,
        };
        let program =
            decompose(Program { clauses: vec![clause.clone()], fresh: FreshNames::starting_at(10) });
        assert_eq!(program.clauses, [clause]);
    }
}
