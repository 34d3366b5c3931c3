//! Demand: predicates that would have too many atoms are evaluated only where something asks for them.
//!
//! The rewriting by magic sets (Bancilhon, Maier, Sagiv and Ullman 1986; Beeri and Ramakrishnan 1991). A demanded
//! predicate is split by *adornment*: which of its arguments are bound where it is asked. For each adornment there is
//! a predicate of demands, whose atoms are the bound arguments asked for; it guards all clauses of the split
//! predicate, and is derived from what stands before the question in the clause that asks.

use std::collections::{BTreeSet, HashMap};

use super::clause::{AtomPattern, Clause, Condition, FreshNames, Functor, Pattern, Program};

/// A program with demands.
#[derive(Debug)]
pub(super) struct Demanding {
    pub(super) program: Program,
    /// The predicates of demands.
    pub(super) demands: BTreeSet<Functor>,
    /// What the split predicates are split from.
    pub(super) origins: HashMap<Functor, Functor>,
}

/// Rewrites a program so that the predicates of `demanded` are evaluated on demand.
pub(super) fn on_demand(program: &Program, demanded: &BTreeSet<Functor>) -> Demanding {
    let mut rewriting = Rewriting {
        demanded,
        fresh: program.fresh.clone(),
        clauses: Vec::new(),
        names: HashMap::new(),
        open: Vec::new(),
    };
    for clause in program.clauses.iter().filter(|clause| !demanded.contains(&clause.head.functor)) {
        rewriting.clause(clause, None);
    }
    while let Some(adorned) = rewriting.open.pop() {
        for clause in program.clauses.iter().filter(|clause| clause.head.functor == adorned.functor) {
            rewriting.clause(clause, Some(&adorned));
        }
    }
    let Rewriting { fresh, clauses, names, .. } = rewriting;
    Demanding {
        demands: names.values().map(|names| names.demand).collect(),
        origins: names.iter().map(|(adorned, names)| (names.split, adorned.functor)).collect(),
        program: Program { clauses, fresh },
    }
}

/// A demanded predicate and which of its arguments are bound.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Adorned {
    functor: Functor,
    is_bound: Vec<bool>,
}

/// The predicates that stand for an adorned one.
#[derive(Debug, Clone, Copy)]
struct Names {
    split: Functor,
    demand: Functor,
}

struct Rewriting<'a> {
    demanded: &'a BTreeSet<Functor>,
    fresh: FreshNames,
    clauses: Vec<Clause>,
    names: HashMap<Adorned, Names>,
    /// Those whose clauses are still to be rewritten.
    open: Vec<Adorned>,
}

impl Rewriting<'_> {
    /// Rewrites a clause, of a split predicate or of one that is none.
    fn clause(&mut self, clause: &Clause, adorned: Option<&Adorned>) {
        let mut done = Vec::new();
        let mut bound = BTreeSet::new();
        let mut head = clause.head.clone();
        if let Some(adorned) = adorned {
            let names = self.names[adorned];
            let demand = demand(&clause.head, &adorned.is_bound, names.demand);
            demand.for_each_var(&mut |var| _ = bound.insert(var));
            done.push(Condition::Holds(demand));
            head.functor = names.split;
        }
        let is_demanded = |condition: &Condition| {
            condition.atom().is_some_and(|atom| self.demanded.contains(&atom.functor))
        };
        let (mut asking, others): (Vec<&Condition>, Vec<&Condition>) =
            clause.body.iter().partition(|condition| is_demanded(condition));
        for condition in others {
            if let Condition::Holds(atom) = condition {
                atom.for_each_var(&mut |var| _ = bound.insert(var));
            }
            done.push(condition.clone());
        }
        // Positive questions with the fewest free variables first; negated ones, which bind nothing, last.
        while !asking.is_empty() {
            let n_free = |condition: &Condition| condition.vars().difference(&bound).count();
            let key = |condition: &Condition| (matches!(condition, Condition::Not(_)), n_free(condition));
            let next = (0..asking.len()).min_by_key(|&idx| key(asking[idx])).expect("there is one");
            let condition = asking.remove(next);
            let atom = condition.atom().expect("a question is an atom");
            let split = self.ask(atom, &done, &bound, clause.n_vars);
            done.push(match condition {
                Condition::Not(_) => Condition::Not(split),
                _ => {
                    split.for_each_var(&mut |var| _ = bound.insert(var));
                    Condition::Holds(split)
                }
            });
        }
        self.clauses.push(Clause { head, body: done, n_vars: clause.n_vars });
    }

    /// Derives the demand for an atom from the conditions before it; the atom that answers it.
    fn ask(
        &mut self,
        atom: &AtomPattern,
        before: &[Condition],
        bound: &BTreeSet<u32>,
        n_vars: u32,
    ) -> AtomPattern {
        let is_arg_bound = |arg: &Pattern| {
            let mut all = true;
            arg.for_each_var(&mut |var| all &= bound.contains(&var));
            all
        };
        let adorned =
            Adorned { functor: atom.functor, is_bound: atom.args.iter().map(is_arg_bound).collect() };
        let names = self.names_of(&adorned);
        let head = demand(atom, &adorned.is_bound, names.demand);
        // A negation may depend on the state: demands must not wait for it.
        let is_used = |condition: &&Condition| match condition {
            Condition::Holds(_) => true,
            Condition::Distinct(..) => condition.vars().is_subset(bound),
            Condition::Not(_) => false,
        };
        let body: Vec<Condition> = before.iter().filter(is_used).cloned().collect();
        if body != [Condition::Holds(head.clone())] {
            self.clauses.push(Clause { head, body, n_vars });
        }
        AtomPattern { functor: names.split, args: atom.args.clone() }
    }

    fn names_of(&mut self, adorned: &Adorned) -> Names {
        if let Some(&known) = self.names.get(adorned) {
            return known;
        }
        let n_bound = adorned.is_bound.iter().filter(|&&is_bound| is_bound).count();
        let arity = u32::try_from(n_bound).expect("arguments are bounded by the text");
        let names = Names {
            split: Functor { name: self.fresh.make(), arity: adorned.functor.arity },
            demand: Functor { name: self.fresh.make(), arity },
        };
        self.names.insert(adorned.clone(), names);
        self.open.push(adorned.clone());
        names
    }
}

/// The demand for an atom: its bound arguments.
fn demand(atom: &AtomPattern, is_bound: &[bool], functor: Functor) -> AtomPattern {
    let args = atom.args.iter().zip(is_bound).filter(|(_, is_bound)| **is_bound).map(|(arg, _)| arg.clone());
    AtomPattern { functor, args: args.collect() }
}

#[cfg(test)]
mod tests {
    use super::super::testing::atom;
    use super::*;

    #[test]
    fn clauses_of_a_demanded_predicate_wait_for_its_demand() {
        // goal(a) <- start(a), path(a, b), end(b); path(a, c) <- edge(a, b), path(b, c); path(a, b) <- edge(a, b)
        let [goal, start, path, end, edge] = [0, 1, 2, 3, 4];
        let clause = |head: AtomPattern, body: Vec<AtomPattern>| Clause {
            head,
            body: body.into_iter().map(Condition::Holds).collect(),
            n_vars: 3,
        };
        let program = Program {
            clauses: vec![
                clause(atom(goal, &[0]), vec![atom(start, &[0]), atom(path, &[0, 1]), atom(end, &[1])]),
                clause(atom(path, &[0, 2]), vec![atom(edge, &[0, 1]), atom(path, &[1, 2])]),
                clause(atom(path, &[0, 1]), vec![atom(edge, &[0, 1])]),
            ],
            fresh: FreshNames::starting_at(10),
        };
        let demanded = BTreeSet::from([atom(path, &[0, 1]).functor]);
        let Demanding { program, demands, origins } = on_demand(&program, &demanded);
        // `end` binds the second argument, so path is asked with both bound, by goal and by itself.
        let (split, demand) = (10, 11);
        assert_eq!(demands, BTreeSet::from([atom(demand, &[0, 1]).functor]));
        assert_eq!(origins[&atom(split, &[0, 1]).functor], atom(path, &[0, 1]).functor);
        let expected = [
            clause(atom(demand, &[0, 1]), vec![atom(start, &[0]), atom(end, &[1])]),
            clause(atom(goal, &[0]), vec![atom(start, &[0]), atom(end, &[1]), atom(split, &[0, 1])]),
            clause(atom(demand, &[1, 2]), vec![atom(demand, &[0, 2]), atom(edge, &[0, 1])]),
            clause(
                atom(split, &[0, 2]),
                vec![atom(demand, &[0, 2]), atom(edge, &[0, 1]), atom(split, &[1, 2])],
            ),
            clause(atom(split, &[0, 1]), vec![atom(demand, &[0, 1]), atom(edge, &[0, 1])]),
        ];
        assert_eq!(program.clauses, expected);
    }
}
