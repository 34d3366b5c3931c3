//! What holds in every state that a match can come to, found by guessing and proving it.
//!
//! In goes the net and a state; out come fluents that never hold together, and whether moves can be made in any order (that is a
//! guess). Guessed is what random lines do not contradict; proved is what one more move cannot break if all of it held before
//! (Rintanen 2000, "An iterative algorithm for synthesizing invariants"). In a sudoku, for example, no clauses of a single step say
//! that a row never has a number twice, and without that the last step of a plan is a guess.

use reasoner::{Dice, Value};
use reasoner_native::{NetGoal, Netlist};

use crate::solver::{Answer, Limits, Lit, Solver};
use crate::unrolling::{Truth, Unrolling, all_hold};

/// Random lines to guess from: enough that pairs which nothing keeps apart are met together, mostly.
const N_LINES: usize = 300;
/// Gates that are evaluated in all lines together, a third of a second or so.
const MAX_EVALUATED: usize = 50_000_000;
/// Pairs of moves that must come to the same before all are taken to, and after which no more are tried.
const TRIED: std::ops::Range<usize> = 20..200;
/// With more fluents the pairs alone would take more than 2 MB.
const MAX_FLUENTS: usize = 4096;
/// With more pairs their clauses would take longer than what they save.
const MAX_PAIRS: usize = 100_000;
/// What took more rounds was never of use.
const MAX_ROUNDS: usize = 50;
/// Gates that are made clauses of in all rounds together: seconds.
const MAX_ENCODED: usize = 5_000_000;
/// Conflicts that may be spent on one fluent in one round; mostly none is met.
const MAX_CONFLICTS: u64 = 200;

/// What holds in every state from some state on, as long as the game is not over before.
#[derive(Debug, Default)]
pub(crate) struct Invariants {
    /// Fluents of which no two hold together.
    pub(crate) pairs: Vec<(usize, usize)>,
    /// Whether every two moves that were tried came to the same in either order, but for those that exclude each other.
    pub(crate) is_any_order: bool,
}

impl Invariants {
    /// What holds from the state on in which these fluents are true; nothing if it would take too long.
    pub(crate) fn find(netlist: &Netlist, start: &[Truth], limits: Limits<'_>) -> Invariants {
        let is_small = netlist.fluents().len() <= MAX_FLUENTS;
        let mut pairs = Pairs::all(if is_small { netlist.fluents().len() } else { 0 });
        let is_any_order = pairs.guess(netlist, start, limits);
        if pairs.n_pairs() > MAX_PAIRS || !pairs.prove(netlist, limits) {
            pairs = Pairs::all(0);
        }
        Invariants { pairs: pairs.iter().collect(), is_any_order }
    }
}

/// Pairs of fluents, as a bit for each two.
struct Pairs {
    n_fluents: usize,
    /// By fluent: those behind it that never hold with it.
    apart: Vec<Vec<u64>>,
}

const BITS: usize = u64::BITS as usize;

impl Pairs {
    fn all(n_fluents: usize) -> Pairs {
        let words = n_fluents.div_ceil(BITS);
        let row = |fluent: usize| {
            let mut row = vec![0; words];
            (fluent + 1..n_fluents).for_each(|other| row[other / BITS] |= 1 << (other % BITS));
            row
        };
        Pairs { n_fluents, apart: (0..n_fluents).map(row).collect() }
    }

    /// Those that never hold with a fluent and come behind it.
    fn of(&self, fluent: usize) -> impl Iterator<Item = usize> + '_ {
        (fluent + 1..self.n_fluents).filter(move |&other| self.is_apart(fluent, other))
    }

    /// Of fluents in the order of the net.
    fn is_apart(&self, fluent: usize, other: usize) -> bool {
        self.apart[fluent][other / BITS] >> (other % BITS) & 1 == 1
    }

    fn iter(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.apart.len()).flat_map(|fluent| self.of(fluent).map(move |other| (fluent, other)))
    }

    fn n_pairs(&self) -> usize {
        self.apart.iter().flatten().map(|word| word.count_ones() as usize).sum()
    }

    /// Takes out all that are together in a state.
    fn meet(&mut self, fluents: impl Iterator<Item = bool>) {
        let fluents = fluents.take(self.n_fluents);
        let mut state = vec![0_u64; self.n_fluents.div_ceil(BITS)];
        fluents
            .enumerate()
            .filter(|&(_, holds)| holds)
            .for_each(|(at, _)| state[at / BITS] |= 1 << (at % BITS));
        for (fluent, row) in self.apart.iter_mut().enumerate() {
            if state[fluent / BITS] >> (fluent % BITS) & 1 == 1 {
                row.iter_mut().zip(&state).for_each(|(row, state)| *row &= !state);
            }
        }
    }

    /// Takes out all that random lines meet, and tells whether moves can be made in any order there.
    fn guess(&mut self, netlist: &Netlist, start: &[Truth], limits: Limits<'_>) -> bool {
        // Nothing is asked of it: in a line all is known.
        let mut solver = Solver::new(limits);
        let mut n_left = MAX_EVALUATED / netlist.n_gates().max(1);
        let (mut n_tried, mut is_any_order) = (0, true);
        for line in 0..N_LINES {
            // A game without an end must not spend all on one line.
            let n_others = n_left - n_left.div_ceil(N_LINES - line);
            let mut dice = Dice::new(line as u64);
            let mut unrolling = Unrolling::new(netlist, start.to_vec(), &mut solver);
            loop {
                self.meet(unrolling.fluents().iter().map(|&truth| truth == Truth::Known(true)));
                if unrolling.over() == Truth::Known(true) || solver.is_over() || n_left <= n_others {
                    break;
                }
                n_left -= 1;
                let n_legal = unrolling.legal().len();
                let [one, other] = [dice.below(n_legal), dice.below(n_legal)];
                if one != other && n_tried < TRIED.end && is_any_order {
                    // Two steps, in either order.
                    n_left = n_left.saturating_sub(4);
                    let same = unrolling.come_to_the_same(one, other, &mut solver);
                    n_tried += usize::from(same.is_some());
                    is_any_order &= same.unwrap_or(true);
                }
                unrolling.step_by(one, &mut solver);
            }
            if solver.is_over() || n_left == 0 {
                break;
            }
        }
        is_any_order && n_tried >= TRIED.start
    }

    /// Takes out all that one move can break, until those that are left hold on their own; false if that takes too long.
    fn prove(&mut self, netlist: &Netlist, limits: Limits<'_>) -> bool {
        for _ in 0..MAX_ROUNDS.min(MAX_ENCODED / netlist.n_gates().max(1)) {
            let n_before = self.n_pairs();
            if n_before == 0 {
                return true;
            }
            let mut solver = Solver::new(limits);
            let mut unrolling = self.any_state(netlist, &mut solver);
            match !unrolling.over() {
                Truth::Known(false) => return true,
                Truth::Known(true) => {}
                Truth::Lit(goes_on) => solver.demand(&[goes_on]),
            }
            unrolling.step(&mut solver);
            for fluent in 0..self.n_fluents {
                self.prove_of(fluent, unrolling.fluents(), &mut solver);
                if solver.is_over() || solver.is_out_of_memory() {
                    return false;
                }
            }
            if self.n_pairs() == n_before {
                return true;
            }
        }
        false
    }

    /// Takes out the pairs of one fluent that can hold together in `next`, and others that are met with them.
    fn prove_of(&mut self, fluent: usize, next: &[Truth], solver: &mut Solver<'_>) {
        let others: Vec<usize> = self.of(fluent).collect();
        let mut both: Vec<(usize, Truth)> = Vec::new();
        for other in others {
            both.push((other, all_hold([next[fluent], next[other]].into_iter(), solver)));
        }
        loop {
            both.retain(|&(other, _)| self.is_apart(fluent, other));
            let together = match !all_hold(both.iter().map(|&(_, both)| !both), solver) {
                Truth::Known(false) => return,
                Truth::Known(true) => Vec::new(),
                Truth::Lit(together) => vec![together],
            };
            match solver.ask(&together, MAX_CONFLICTS) {
                Answer::No => return,
                Answer::Yes => self.meet(next.iter().map(|truth| truth.holds(solver))),
                Answer::Unknown => {
                    self.apart[fluent].fill(0);
                    return;
                }
            }
        }
    }

    /// A state of which nothing is known but that.
    fn any_state<'a>(&self, netlist: &'a Netlist, solver: &mut Solver<'_>) -> Unrolling<'a> {
        let literals: Vec<Lit> = netlist.fluents().iter().map(|_| solver.variable()).collect();
        self.iter().for_each(|(one, other)| solver.demand(&[!literals[one], !literals[other]]));
        Unrolling::new(netlist, literals.into_iter().map(Truth::Lit).collect(), solver)
    }
}

/// Goals that no state has in which the game is over, whether it can be come to or not. (A sheet with a slip in it, say.)
pub(crate) fn impossible_goals(netlist: &Netlist, limits: Limits<'_>) -> Vec<Value> {
    let mut solver = Solver::new(limits);
    let unrolling = Pairs::all(0).any_state(netlist, &mut solver);
    let mut is_impossible = |goal: &NetGoal| match all_hold(
        [unrolling.over(), unrolling.truth(goal.holds)].into_iter(),
        &mut solver,
    ) {
        Truth::Known(is_possible) => !is_possible,
        Truth::Lit(literal) => solver.ask(&[literal], MAX_CONFLICTS) == Answer::No,
    };
    let goals = netlist.goals().iter();
    let possible: Vec<Value> =
        goals.clone().filter(|goal| !is_impossible(goal)).map(|goal| goal.value).collect();
    goals.map(|goal| goal.value).filter(|value| !possible.contains(value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nets::{ENDLESS, FREE, of_text, shipped, start};

    fn invariants(netlist: &Netlist) -> Invariants {
        Invariants::find(netlist, &start(netlist), FREE)
    }

    #[test]
    fn a_counter_has_one_value_at_a_time_and_what_moves_set_is_not_kept_apart() {
        let netlist = of_text(
            "(role one) (init (step 0)) (after 0 1) (after 1 2) (after 2 3) (lamp a) (lamp b)
             (<= (legal one (light ?l)) (lamp ?l) (not (true (lit ?l))))
             (<= (next (lit ?l)) (does one (light ?l)))
             (<= (next (lit ?l)) (true (lit ?l)))
             (<= (next (step ?n)) (true (step ?m)) (after ?m ?n))
             (<= terminal (true (step 3)))
             (<= (goal one 50) (true (lit a)) (true (lit b)))",
        );
        let name = |fluent: usize| netlist.fluents()[fluent].term.to_string();
        let pairs = invariants(&netlist).pairs;
        let names: Vec<_> = pairs.iter().map(|&(one, other)| [name(one), name(other)]).collect();
        let are_steps = |names: &[String; 2]| names.iter().all(|name| name.starts_with("(step"));
        assert!(names.iter().any(are_steps), "{names:?}");
        assert!(!names.contains(&["(lit a)".to_owned(), "(lit b)".to_owned()]), "{names:?}");
    }

    #[test]
    fn no_line_meets_what_is_proved_to_be_apart() {
        for name in ["hanoi", "eight-puzzle", "knights-tour", "lights-out"] {
            let netlist = shipped(name);
            let found = invariants(&netlist);
            let mut solver = Solver::new(FREE);
            // Other lines than those that were guessed from.
            for line in 1000..1040 {
                let mut dice = Dice::new(line);
                let mut unrolling = Unrolling::new(&netlist, start(&netlist), &mut solver);
                while unrolling.over() == Truth::Known(false) {
                    let holds = |fluent: usize| unrolling.fluents()[fluent] == Truth::Known(true);
                    assert!(found.pairs.iter().all(|&(one, other)| !(holds(one) && holds(other))), "{name}");
                    let at = dice.below(unrolling.legal().len());
                    unrolling.step_by(at, &mut solver);
                }
            }
        }
    }

    #[test]
    fn lamps_are_lit_in_any_order_and_discs_are_not_moved_so() {
        assert!(invariants(&shipped("lights-out")).is_any_order);
        let hanoi = invariants(&shipped("hanoi"));
        assert!(!hanoi.is_any_order && !hanoi.pairs.is_empty());
        assert!(!invariants(&shipped("knights-tour")).is_any_order, "a tour excludes what it does not make");
    }

    #[test]
    fn a_game_without_an_end_has_invariants_too() {
        let found = invariants(&of_text(ENDLESS));
        assert_eq!(found.pairs.len(), 3, "no two places at once");
    }

    #[test]
    fn a_goal_that_contradicts_itself_is_impossible() {
        let netlist = of_text(
            "(role one) (init (at a)) (way a b) (way a c) (way b a) (way c a)
             (<= (legal one (go ?to)) (true (at ?from)) (way ?from ?to))
             (<= (next (at ?to)) (does one (go ?to)))
             (<= (next visited) (true (at b)))
             (<= (next visited) (true visited))
             (<= odd (true visited) (not (true (at c))))
             (<= odd (true (at c)) (not (true visited)))
             (<= terminal (true (at c)))
             (<= (goal one 100) (true (at c)) (true visited) odd)
             (<= (goal one 60) (true visited))
             (<= (goal one 30) (not (true visited)))",
        );
        assert_eq!(impossible_goals(&netlist, FREE), [100]);
    }
}
