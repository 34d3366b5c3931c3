//! The only door to the SAT solver, with its limits.

use std::fmt;

use batsat::callbacks::Callbacks;
use batsat::{ClauseKind, SolverInterface, SolverOpts, lbool};

/// A variable or its complement.
pub(crate) type Lit = batsat::Lit;

/// What a run may take.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// Bytes of memory of clauses and variables, roughly.
    pub bytes: usize,
    /// Whether it may go on; asked at every decision, and free to wait.
    pub go_on: &'a dyn Fn() -> bool,
}

impl fmt::Debug for Limits<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limits").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

/// Bytes that a clause takes beside its literals: a header, two watches and its place in a list.
const BYTES_OF_CLAUSE: usize = 48;
/// Bytes of a literal.
const BYTES_OF_LITERAL: usize = 4;
/// Bytes of a variable: value, reason, activity, place in the heap, phase, marks, two lists of watches.
const BYTES_OF_VARIABLE: usize = 120;

/// How learnt clauses are made smaller: 1 is basic, 2 deep. Deep took 43 % of the time on sudokus, whose steps are long chains; basic
/// solves five of them in 0.2 to 1.4 s, deep four in 0.6 to 1.7 and the fifth in 14.6 (bench/EXPERIMENTS.md).
const MINIMISATION: i32 = 1;

fn bytes_of(n_literals: usize) -> usize {
    BYTES_OF_CLAUSE + n_literals * BYTES_OF_LITERAL
}

/// What a question came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Yes,
    No,
    /// A limit was passed.
    Unknown,
}

/// Counts what the solver keeps, and stops it.
struct Watch<'a> {
    limits: Limits<'a>,
    bytes: usize,
    n_conflicts: u64,
    max_conflicts: u64,
}

impl Callbacks for Watch<'_> {
    fn on_new_clause(&mut self, clause: &[Lit], kind: ClauseKind) {
        self.bytes += bytes_of(clause.len());
        if kind == ClauseKind::Learnt {
            self.n_conflicts += 1;
        }
    }

    fn on_delete_clause(&mut self, clause: &[Lit]) {
        self.bytes = self.bytes.saturating_sub(bytes_of(clause.len()));
    }

    fn stop(&self) -> bool {
        self.n_conflicts > self.max_conflicts || self.bytes > self.limits.bytes || !(self.limits.go_on)()
    }
}

/// Clauses, to which more are added between questions.
pub(crate) struct Solver<'a> {
    inner: batsat::Solver<Watch<'a>>,
    clause: Vec<Lit>,
}

impl fmt::Debug for Solver<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Solver").field("n_variables", &self.inner.num_vars()).finish_non_exhaustive()
    }
}

impl<'a> Solver<'a> {
    /// Without clauses.
    pub(crate) fn new(limits: Limits<'a>) -> Solver<'a> {
        let watch = Watch { limits, bytes: 0, n_conflicts: 0, max_conflicts: u64::MAX };
        let options = SolverOpts { ccmin_mode: MINIMISATION, ..SolverOpts::default() };
        Solver { inner: batsat::Solver::new(options, watch), clause: Vec::new() }
    }

    /// A new variable.
    pub(crate) fn variable(&mut self) -> Lit {
        self.inner.cb_mut().bytes += BYTES_OF_VARIABLE;
        Lit::new(self.inner.new_var_default(), true)
    }

    /// Demands that one of the literals holds.
    pub(crate) fn demand(&mut self, literals: &[Lit]) {
        self.inner.cb_mut().bytes += bytes_of(literals.len());
        self.clause.clear();
        self.clause.extend_from_slice(literals);
        self.inner.add_clause_reuse(&mut self.clause);
    }

    /// Whether all clauses can hold, and `assumptions` with them.
    pub(crate) fn ask(&mut self, assumptions: &[Lit], max_conflicts: u64) -> Answer {
        if self.is_out_of_memory() {
            return Answer::Unknown;
        }
        let watch = self.inner.cb_mut();
        watch.n_conflicts = 0;
        watch.max_conflicts = max_conflicts;
        let answer = self.inner.solve_limited(assumptions);
        if answer == lbool::TRUE {
            Answer::Yes
        } else if answer == lbool::FALSE {
            Answer::No
        } else {
            Answer::Unknown
        }
    }

    /// Whether a literal holds in what the last question found.
    pub(crate) fn holds(&self, literal: Lit) -> bool {
        self.inner.value_lit(literal) == lbool::TRUE
    }

    /// Whether more memory is taken than may be.
    pub(crate) fn is_out_of_memory(&self) -> bool {
        let watch = self.inner.cb();
        watch.bytes > watch.limits.bytes
    }

    /// Whether it may not go on.
    pub(crate) fn is_over(&self) -> bool {
        !(self.inner.cb().limits.go_on)()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(bytes: usize) -> Limits<'static> {
        Limits { bytes, go_on: &|| true }
    }

    /// So many pigeons in one hole less: hard for any solver that learns clauses (Haken 1985).
    fn pigeons(solver: &mut Solver<'_>, n: usize) {
        let sits: Vec<Vec<Lit>> = (0..n).map(|_| (1..n).map(|_| solver.variable()).collect()).collect();
        sits.iter().for_each(|holes| solver.demand(holes));
        for (idx, one) in sits.iter().enumerate() {
            for other in &sits[..idx] {
                one.iter().zip(other).for_each(|(&one, &other)| solver.demand(&[!one, !other]));
            }
        }
    }

    #[test]
    fn questions_are_answered_under_assumptions() {
        let mut solver = Solver::new(limits(1 << 20));
        let [a, b] = [solver.variable(), solver.variable()];
        solver.demand(&[a, b]);
        assert_eq!(solver.ask(&[!a], u64::MAX), Answer::Yes);
        assert!(solver.holds(b) && !solver.holds(a));
        assert_eq!(solver.ask(&[!a, !b], u64::MAX), Answer::No);
        assert_eq!(solver.ask(&[], u64::MAX), Answer::Yes);
        solver.demand(&[!a]);
        solver.demand(&[!b]);
        assert_eq!(solver.ask(&[], u64::MAX), Answer::No);
    }

    #[test]
    fn every_limit_ends_a_question() {
        let mut few = Solver::new(limits(1 << 30));
        pigeons(&mut few, 6);
        assert_eq!(few.ask(&[], u64::MAX), Answer::No);
        let mut conflicts = Solver::new(limits(1 << 30));
        pigeons(&mut conflicts, 14);
        assert_eq!(conflicts.ask(&[], 100), Answer::Unknown);
        let mut memory = Solver::new(limits(200_000));
        pigeons(&mut memory, 14);
        assert_eq!(memory.ask(&[], u64::MAX), Answer::Unknown);
        let mut stopped = Solver::new(Limits { go_on: &|| false, ..limits(1 << 30) });
        pigeons(&mut stopped, 14);
        assert_eq!(stopped.ask(&[], u64::MAX), Answer::Unknown);
    }
}
