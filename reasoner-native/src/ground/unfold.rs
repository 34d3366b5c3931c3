//! Unfolds relations that only say that their arguments agree on something.
//!
//! `(<= (set ?p ?q ?r) (bit ?n) (has ?p ?n) (has ?q ?n) (has ?r ?n))` depends on no state and has as many
//! atoms as there are triples that agree; what asks for it would have as many instances. With its conditions in its
//! place, a clause can be split at `?p`, `?q` and `?r`, and has an instance for each thing they may agree on.

use std::collections::{BTreeMap, BTreeSet};

use super::clause::{AtomPattern, Clause, Condition, Functor, Pattern, Program};

/// Arguments that agree, at least; a relation of two is no larger than its conditions.
const MIN_ARGS: usize = 3;
/// Clauses that one becomes at most.
const MAX_CLAUSES: usize = 16;

/// Puts the conditions of agreements in the place of the relations that are defined by them.
pub(super) fn unfold(mut program: Program) -> Program {
    let agreements = agreements(&program);
    if agreements.is_empty() {
        return program;
    }
    let mut done = Vec::with_capacity(program.clauses.len());
    for clause in std::mem::take(&mut program.clauses) {
        let n_before = done.len();
        let mut open = vec![clause];
        while let Some(clause) = open.pop() {
            let n_clauses = done.len() - n_before + open.len();
            match unfolded_once(&clause, &agreements) {
                Some(clauses) if n_clauses + clauses.len() <= MAX_CLAUSES => open.extend(clauses),
                _ => done.push(clause),
            }
        }
    }
    program.clauses = done;
    program
}

/// The clauses of relations that depend on no state and only say that their arguments agree on something.
fn agreements(program: &Program) -> BTreeMap<Functor, Vec<Clause>> {
    let mut clauses: BTreeMap<Functor, Vec<Clause>> = BTreeMap::new();
    for clause in &program.clauses {
        clauses.entry(clause.head.functor).or_default().push(clause.clone());
    }
    let fixed = fixed(&clauses);
    clauses.retain(|functor, clauses| fixed.contains(functor) && clauses.iter().all(is_agreement));
    clauses
}

/// The relations that depend on no state, nor on themselves.
fn fixed(clauses: &BTreeMap<Functor, Vec<Clause>>) -> BTreeSet<Functor> {
    let mut fixed: BTreeSet<Functor> = BTreeSet::new();
    loop {
        let n_before = fixed.len();
        for (functor, clauses) in clauses {
            let mut asked = clauses.iter().flat_map(|clause| &clause.body).filter_map(Condition::atom);
            if asked.all(|atom| fixed.contains(&atom.functor)) {
                fixed.insert(*functor);
            }
        }
        if fixed.len() == n_before {
            return fixed;
        }
    }
}

/// Whether a clause has conditions that each speak of one argument at most, and of what all agree on.
fn is_agreement(clause: &Clause) -> bool {
    let args = clause.head.vars();
    let speaks_of = |condition: &Condition| match condition {
        Condition::Holds(atom) if atom.args.iter().all(is_simple) => {
            Some(atom.vars().intersection(&args).count())
        }
        _ => None,
    };
    let n_vars = clause.head.args.iter().filter(|arg| matches!(arg, Pattern::Var(_))).count();
    args.len() >= MIN_ARGS
        && (args.len(), n_vars) == (clause.head.args.len(), args.len())
        && clause.body.iter().all(|condition| speaks_of(condition).is_some_and(|n| n <= 1))
}

fn is_simple(pattern: &Pattern) -> bool {
    !matches!(pattern, Pattern::Compound(..))
}

/// A clause with the first agreement that it asks for replaced by its conditions: one for each of its clauses. None
/// if it asks for none.
fn unfolded_once(clause: &Clause, agreements: &BTreeMap<Functor, Vec<Clause>>) -> Option<Vec<Clause>> {
    let place = clause.body.iter().position(|condition| match condition {
        Condition::Holds(atom) => agreements.contains_key(&atom.functor) && atom.args.iter().all(is_simple),
        Condition::Not(_) | Condition::Distinct(..) => false,
    })?;
    let asked = clause.body[place].atom()?;
    let with = |definition: &Clause| {
        let mut body = clause.body.clone();
        let conditions = definition.body.iter().filter_map(Condition::atom).map(|atom| {
            let args = atom.args.iter().map(|arg| match arg {
                Pattern::Var(var) => {
                    let arg = definition.head.args.iter().position(|arg| *arg == Pattern::Var(*var));
                    arg.map_or(Pattern::Var(clause.n_vars + var), |arg| asked.args[arg].clone())
                }
                other => other.clone(),
            });
            Condition::Holds(AtomPattern { functor: atom.functor, args: args.collect() })
        });
        body.splice(place..=place, conditions);
        Clause { head: clause.head.clone(), body, n_vars: clause.n_vars + definition.n_vars }
    };
    Some(agreements[&asked.functor].iter().map(with).collect())
}

#[cfg(test)]
mod tests {
    use super::super::clause::FreshNames;
    use super::super::testing::{atom, holds};
    use super::*;

    const ASKS: u32 = 0;
    const AGREE: u32 = 1;
    const HAS: u32 = 2;
    const TRUE: u32 = 3;

    /// asks(c) <- true(c, d), agree(a, c, d); agree(a, b, c) <- `conditions`; has(e, f).
    fn program(conditions: Vec<Condition>) -> Program {
        let clauses = vec![
            Clause {
                head: atom(ASKS, &[2]),
                body: vec![holds(TRUE, &[2, 3]), holds(AGREE, &[0, 2, 3])],
                n_vars: 4,
            },
            Clause { head: atom(AGREE, &[0, 1, 2]), body: conditions, n_vars: 4 },
            Clause { head: atom(HAS, &[0, 1]), body: Vec::new(), n_vars: 2 },
        ];
        Program { clauses, fresh: FreshNames::starting_at(10) }
    }

    #[test]
    fn what_its_arguments_agree_on_takes_the_place_of_an_agreement() {
        let program = program(vec![holds(HAS, &[0, 3]), holds(HAS, &[1, 3]), holds(HAS, &[2, 3])]);
        let unfolded = unfold(program.clone());
        let conditions =
            [holds(TRUE, &[2, 3]), holds(HAS, &[0, 7]), holds(HAS, &[2, 7]), holds(HAS, &[3, 7])];
        assert_eq!(unfolded.clauses[0].body, conditions);
        assert_eq!(unfolded.clauses[1..], program.clauses[1..]);
    }

    #[test]
    fn what_relates_its_arguments_or_depends_on_the_state_stays() {
        for other in [holds(HAS, &[0, 1]), holds(TRUE, &[0, 3])] {
            let program = program(vec![holds(HAS, &[0, 3]), holds(HAS, &[1, 3]), holds(HAS, &[2, 3]), other]);
            assert_eq!(unfold(program.clone()).clauses, program.clauses);
        }
    }
}
