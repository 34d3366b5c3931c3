//! Better and better plans, until there is no better one.

use gdl::Term;
use reasoner::Value;
use reasoner_native::{NetGoal, Netlist};
use rustc_hash::FxHashSet;

use crate::invariants::{Invariants, impossible_goals};
use crate::question::{NoPuzzle, Outcome, Plan, Question, Verdict};
use crate::relaxed;
use crate::solver::{Answer, Limits, Lit, Solver};
use crate::unrolling::{Truth, Unrolling, all_hold};

/// Conflicts that may be spent on one step by itself, at most and at least: halved after a question that needed more, doubled
/// after any other. What stays open is asked again with all other open steps: lights that are put out in any order have no
/// proof by steps within hours, and a solution within seconds.
const CONFLICTS_OF_STEP: (u64, u64) = (2_000, 30);
/// Conflicts that may be spent on a question before it is found out what always holds, which takes some tenths of a second.
const CONFLICTS_AT_FIRST: u64 = 200;
/// Whether the game can go on behind a step may take an eighth of that: an answer only ends the search earlier.
const SHARE_OF_GOING: u64 = 8;
/// Lines in other orders than the first may take an eighth where moves seem to be made in any order: that is a guess.
const SHARE_OF_OTHER_ORDERS: u64 = 8;
/// Conflicts that may be spent on all open steps together, for each step that there is.
const CONFLICTS_OF_ALL: u64 = 1_000;
/// Gates of steps that are unrolled before anything is asked, at most.
const MAX_GATES_AT_ONCE: usize = 1_000_000;
/// All open steps are asked about together when there are so many steps, twice as many, and so on, and behind the usual ones.
const FIRST_TOGETHER: usize = 8;

/// A step in which the game may be over.
#[derive(Debug)]
struct End {
    /// How many moves lead there.
    n_moves: usize,
    /// That the game is over there, and was not before.
    is_end: Option<Lit>,
    goals: Vec<(Value, Truth)>,
}

/// Looks for plans in a game of one role.
#[derive(Debug)]
pub struct Planner<'a> {
    netlist: &'a Netlist,
    unrolling: Unrolling<'a>,
    solver: Solver<'a>,
    n_steps: usize,
    /// Nothing is asked about shorter plans before those of so many steps.
    usual_steps: usize,
    best: Option<Value>,
    limits: Limits<'a>,
    /// By step, the last one too: that the game was not over before it.
    going: Vec<Truth>,
    /// Goals that no end has.
    impossible: Vec<Value>,
    /// Found when a question was too hard.
    invariants: Option<Invariants>,
    /// Ends of which it is not known that they are no better than the best plan.
    open: Vec<End>,
    effort_of_ends: Effort,
    effort_of_going: Effort,
    /// Whether the last question of lines was not answered within its conflicts.
    was_too_hard: bool,
}

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    /// Whether some lines can come to a better end.
    Ends,
    /// Whether the game can go on.
    Going,
}

/// Conflicts that may be spent on a question of a kind.
#[derive(Debug, Clone, Copy)]
struct Effort(u64);

impl Effort {
    const FIRST: Effort = Effort(CONFLICTS_OF_STEP.0);

    fn learn(&mut self, were_enough: bool) {
        let (most, least) = CONFLICTS_OF_STEP;
        self.0 = if were_enough { (self.0 * 2).min(most) } else { (self.0 / 2).max(least) };
    }
}

impl<'a> Planner<'a> {
    /// From the state in which exactly `fluents` are true, or the initial one.
    ///
    /// # Errors
    /// [`NoPuzzle`] if there is not exactly one role.
    pub fn new(
        netlist: &'a Netlist,
        fluents: Option<&[Term]>,
        limits: Limits<'a>,
    ) -> Result<Planner<'a>, NoPuzzle> {
        if netlist.n_roles() != 1 {
            return Err(NoPuzzle::Roles(netlist.n_roles()));
        }
        let mut solver = Solver::new(limits);
        let given: Option<FxHashSet<&Term>> = fluents.map(|fluents| fluents.iter().collect());
        let holds = |fluent: usize| {
            let of_net = &netlist.fluents()[fluent];
            given.as_ref().map_or(of_net.is_initial, |given| given.contains(&of_net.term))
        };
        let fluents = (0..netlist.fluents().len()).map(|fluent| Truth::Known(holds(fluent))).collect();
        let unrolling = Unrolling::new(netlist, fluents, &mut solver);
        Ok(Planner {
            netlist,
            unrolling,
            solver,
            n_steps: 0,
            usual_steps: 0,
            best: None,
            limits,
            going: vec![Truth::Known(true)],
            impossible: impossible_goals(netlist, aside(limits)),
            invariants: None,
            open: Vec::new(),
            effort_of_ends: Effort::FIRST,
            effort_of_going: Effort::FIRST,
            was_too_hard: false,
        })
    }

    /// Looks for plans, and tells each that is better than all before. What is proved is then that nothing is better than
    /// the last one, or than what was asked for at least.
    pub fn run(mut self, question: &Question<'_>, mut found: impl FnMut(Plan)) -> Outcome {
        let verdict = self.verdict(question, &mut found);
        Outcome { verdict, n_steps: self.n_steps }
    }

    fn verdict(&mut self, question: &Question<'_>, found: &mut impl FnMut(Plan)) -> Verdict {
        self.usual_steps = question.usual_steps;
        loop {
            self.best = self.best.max((question.least)());
            if self.is_best_possible() {
                return Verdict::Proved;
            }
            self.open_end();
            if self.solver.is_over() || self.solver.is_out_of_memory() {
                return self.why_unknown();
            }
            let is_early = self.n_steps < self.usual_steps;
            let is_usual = self.usual_steps > 0 && self.n_steps == self.usual_steps;
            if !is_early && let Some(end) = self.open.pop_if(|end| end.n_moves == self.n_steps) {
                let conflicts = if is_usual { self.conflicts_of_all() } else { self.effort_of_ends.0 };
                let still_open = self.improve(vec![end], conflicts, found);
                if !is_usual {
                    self.effort_of_ends.learn(!self.was_too_hard);
                }
                self.open.extend(still_open);
            }
            let goes_on = !self.is_best_possible() && self.goes_on(is_early);
            let is_last = !goes_on || self.n_steps == question.max_steps;
            let is_regular = self.n_steps >= FIRST_TOGETHER && self.n_steps.is_power_of_two() && !is_early;
            let is_time = is_regular || is_usual;
            if is_last || is_time {
                let conflicts = if is_last { u64::MAX } else { self.conflicts_of_all() };
                let open = std::mem::take(&mut self.open);
                self.open = self.improve(open, conflicts, found);
            }
            if self.is_best_possible() {
                return Verdict::Proved;
            }
            if is_last {
                let is_open = !self.open.is_empty();
                return match goes_on {
                    _ if is_open => self.why_unknown(),
                    true => Verdict::TooLong,
                    false => Verdict::Proved,
                };
            }
            self.n_steps += 1;
        }
    }

    /// Conflicts that may be spent on all open steps together.
    fn conflicts_of_all(&self) -> u64 {
        CONFLICTS_OF_ALL * (self.n_steps as u64).max(1)
    }

    /// Whether no goal of the game is larger than that of the best plan.
    fn is_best_possible(&self) -> bool {
        let is_no_better = |goal: &NetGoal, best| goal.value <= best || self.impossible.contains(&goal.value);
        self.best.is_some_and(|best| self.netlist.goals().iter().all(|goal| is_no_better(goal, best)))
    }

    /// How many moves the best goal takes if no move undoes anything; 0 where that cannot be told, or is too much to begin with.
    fn relaxed_steps(&self) -> usize {
        let goals = self.netlist.goals().iter();
        let best = goals.filter(|goal| !self.impossible.contains(&goal.value)).max_by_key(|goal| goal.value);
        let start = &self.unrolling.fluents_by_step()[0];
        let steps = best.and_then(|goal| relaxed::steps_to(self.netlist, start, goal.holds));
        steps.filter(|steps| steps * self.netlist.n_gates() <= MAX_GATES_AT_ONCE).unwrap_or(0)
    }

    /// Opens the last step, if the game can be over there.
    fn open_end(&mut self) {
        let is_end = match self.both(self.going[self.n_steps], self.unrolling.over()) {
            Truth::Known(false) => return,
            Truth::Known(true) => None,
            Truth::Lit(literal) => Some(literal),
        };
        let goals = self.netlist.goals().iter().map(|goal| (goal.value, self.unrolling.truth(goal.holds)));
        self.open.push(End { n_moves: self.n_steps, is_end, goals: goals.collect() });
    }

    /// Whether the game may go on behind the last step, which is added then. With `is_taken_for_granted` nobody asks.
    fn goes_on(&mut self, is_taken_for_granted: bool) -> bool {
        let goes_on = !self.unrolling.over();
        let going = self.both(self.going[self.n_steps], goes_on);
        if going == Truth::Known(false) || !self.unrolling.step(&mut self.solver) {
            return false;
        }
        self.going.push(going);
        self.demand_invariants(self.going.len() - 1);
        if is_taken_for_granted {
            return true;
        }
        let going: Vec<Lit> = match going {
            Truth::Known(_) => Vec::new(),
            Truth::Lit(going) => vec![going],
        };
        let answer = self.ask(About::Going, &going, self.effort_of_going.0 / SHARE_OF_GOING);
        self.effort_of_going.learn(!self.was_too_hard);
        answer != Answer::No
    }

    /// Asks for a line; where that is too hard at first, after it was found out what always holds.
    fn ask(&mut self, about: About, assumptions: &[Lit], max_conflicts: u64) -> Answer {
        let max_at_first = if self.invariants.is_none() { CONFLICTS_AT_FIRST } else { u64::MAX };
        let answer = self.ask_in_order_first(about, assumptions, max_conflicts.min(max_at_first));
        if answer != Answer::Unknown
            || self.invariants.is_some()
            || self.solver.is_over()
            || self.solver.is_out_of_memory()
        {
            return answer;
        }
        let start = &self.unrolling.fluents_by_step()[0];
        let invariants = Invariants::find(self.netlist, start, aside(self.limits));
        if invariants.is_any_order && self.usual_steps == 0 {
            // Each move is one of those that the goal takes, so that all its plans are about as long.
            self.usual_steps = self.relaxed_steps();
        }
        self.invariants = Some(invariants);
        (1..self.going.len()).for_each(|step| self.demand_invariants(step));
        self.ask_in_order_first(about, assumptions, max_conflicts)
    }

    /// Asks for a line in which moves are made in the order of the net, and if there is none, for any line. Moves that can be
    /// made in any order have thousands of lines that are the same, and no clause that rules one out rules out another; if
    /// that is how all moves seem to be, less is spent on other lines.
    fn ask_in_order_first(&mut self, about: About, assumptions: &[Lit], max_conflicts: u64) -> Answer {
        let in_order: Vec<Lit> = assumptions.iter().copied().chain([self.unrolling.in_order()]).collect();
        let answer = self.solver.ask(&in_order, max_conflicts.min(self.conflicts_of_all()));
        self.was_too_hard = answer == Answer::Unknown;
        if answer == Answer::Yes {
            return answer;
        }
        let is_any_order = self.invariants.as_ref().is_some_and(|it| it.is_any_order);
        let is_part = is_any_order && about == About::Ends && max_conflicts != u64::MAX;
        let max_conflicts = if is_part { max_conflicts / SHARE_OF_OTHER_ORDERS } else { max_conflicts };
        let answer = self.solver.ask(assumptions, max_conflicts);
        self.was_too_hard = answer == Answer::Unknown;
        answer
    }

    /// Demands that what always holds does so in a step, if the game was not over before.
    fn demand_invariants(&mut self, step: usize) {
        let Some(invariants) = &self.invariants else { return };
        let going = match self.going[step] {
            Truth::Known(true) => None,
            Truth::Known(false) => return,
            Truth::Lit(going) => Some(!going),
        };
        let fluents = &self.unrolling.fluents_by_step()[step];
        for &(one, other) in &invariants.pairs {
            let both = [fluents[one], fluents[other]];
            if both.contains(&Truth::Known(false)) {
                continue;
            }
            let literals = both.into_iter().filter_map(|truth| match truth {
                Truth::Known(_) => None,
                Truth::Lit(literal) => Some(!literal),
            });
            self.solver.demand(&literals.chain(going).collect::<Vec<_>>());
        }
    }

    fn both(&mut self, one: Truth, other: Truth) -> Truth {
        all_hold([one, other].into_iter(), &mut self.solver)
    }

    /// Finds better plans to some ends until there is none, and gives back those ends that stay open.
    fn improve(&mut self, mut ends: Vec<End>, max_conflicts: u64, found: &mut impl FnMut(Plan)) -> Vec<End> {
        loop {
            let mut ways = Vec::new();
            ends.retain(|end| {
                let way = better_end(end, self.best, &mut self.solver);
                ways.extend(way);
                way.is_some()
            });
            if ends.is_empty() || self.is_best_possible() {
                return ends;
            }
            let one_of_them = self.solver.variable();
            self.solver.demand(&ways.iter().copied().chain([!one_of_them]).collect::<Vec<_>>());
            match self.ask(About::Ends, &[one_of_them], max_conflicts) {
                Answer::No => return Vec::new(),
                Answer::Unknown => return ends,
                Answer::Yes => {}
            }
            let Some(at) = ways.iter().position(|&way| self.solver.holds(way)) else { return ends };
            let goals = ends[at].goals.iter().filter(|(_, truth)| truth.holds(&self.solver));
            let value = goals.map(|&(value, _)| value).max().unwrap_or(0);
            found(Plan { moves: self.unrolling.line(ends[at].n_moves, &self.solver), value });
            self.best = Some(value);
        }
    }

    fn why_unknown(&self) -> Verdict {
        if self.solver.is_out_of_memory() { Verdict::OutOfMemory } else { Verdict::Stopped }
    }
}

/// What a solver beside the main one may take.
fn aside(limits: Limits<'_>) -> Limits<'_> {
    Limits { bytes: limits.bytes / 4, ..limits }
}

/// That the game ends there with a goal that is better than the best; nothing if it cannot.
fn better_end(end: &End, best: Option<Value>, solver: &mut Solver<'_>) -> Option<Lit> {
    let better: Vec<Truth> = end
        .goals
        .iter()
        .filter(|&&(value, truth)| best.is_some_and(|best| value > best) && truth != Truth::Known(false))
        .map(|&(_, truth)| truth)
        .collect();
    if best.is_some() && better.is_empty() {
        return None;
    }
    let way = solver.variable();
    end.is_end.iter().for_each(|&is_end| solver.demand(&[!way, is_end]));
    if best.is_some() && !better.contains(&Truth::Known(true)) {
        let literals = better.iter().filter_map(|truth| match truth {
            Truth::Known(_) => None,
            Truth::Lit(literal) => Some(*literal),
        });
        solver.demand(&literals.chain([!way]).collect::<Vec<_>>());
    }
    Some(way)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nets::{FREE, of_text};

    /// What a puzzle comes to, and whether that is proved. An effort of 0 is too little at once, so that it is found out what always
    /// holds.
    fn solve(netlist: &Netlist, first_effort: Effort) -> (Option<Value>, Verdict) {
        let mut planner = Planner::new(netlist, None, FREE).expect("a puzzle");
        planner.effort_of_ends = first_effort;
        planner.effort_of_going = first_effort;
        let mut best = None;
        let outcome = planner.run(&Question::default(), |plan| best = Some(plan.value));
        (best, outcome.verdict)
    }

    /// Walks along a line of rooms for so many steps; each room but the last is worth its number, and lamps can be lit.
    fn rooms(n_rooms: usize, n_steps: usize) -> String {
        let mut text = String::from(
            "(role one) (init (at 0)) (init (step 0)) (lamp a) (lamp b) (lamp c)
             (<= (legal one (light ?l)) (lamp ?l) (not (true (lit ?l))))
             (<= (legal one walk) (true (at ?a)) (next_to ?a ?b))
             (<= (next (lit ?l)) (does one (light ?l)))
             (<= (next (lit ?l)) (true (lit ?l)))
             (<= (next (at ?b)) (true (at ?a)) (does one walk) (next_to ?a ?b))
             (<= (next (at ?a)) (true (at ?a)) (does one (light ?l)))
             (<= (next (step ?n)) (true (step ?m)) (after ?m ?n))
             (<= all_lit (true (lit a)) (true (lit b)) (true (lit c)))
             (<= (goal one ?v) (true (at ?a)) (worth ?a ?v) all_lit)
             (<= (goal one 0) (not all_lit))\n",
        );
        text += &(1..=n_steps).map(|step| format!("(after {} {step})", step - 1)).collect::<String>();
        text += &(1..n_rooms).map(|room| format!("(next_to {} {room})", room - 1)).collect::<String>();
        text += &(0..n_rooms).map(|room| format!("(worth {room} {room})")).collect::<String>();
        text + &format!("(<= terminal (true (step {n_steps})))")
    }

    #[test]
    fn what_always_holds_changes_no_optimum() {
        for (n_rooms, n_steps) in [(4, 3), (4, 5), (9, 7), (6, 8)] {
            let netlist = of_text(&rooms(n_rooms, n_steps));
            let optimum = (n_steps - 3).min(n_rooms - 1);
            let expected = (Value::try_from(optimum).ok(), Verdict::Proved);
            assert_eq!(solve(&netlist, Effort::FIRST), expected, "{n_rooms} {n_steps}");
            assert_eq!(solve(&netlist, Effort(0)), expected, "{n_rooms} {n_steps}, with invariants");
        }
    }

    /// Lamps that go from red to green to blue when they are touched, all of which are to be blue.
    fn lamps_of_three_colours(n_lamps: usize) -> String {
        let mut text = String::from(
            "(role one) (after red green) (after green blue) (after blue red)
             (<= (legal one (touch ?l)) (lamp ?l))
             (<= (next (is ?l ?new)) (does one (touch ?l)) (true (is ?l ?old)) (after ?old ?new))
             (<= (next (is ?l ?c)) (true (is ?l ?c)) (not (does one (touch ?l))))
             (<= not_yet (lamp ?l) (not (true (is ?l blue))))
             (<= terminal (not not_yet))
             (<= (goal one 100) (not not_yet))\n",
        );
        text += &(0..n_lamps).map(|lamp| format!("(lamp {lamp}) (init (is {lamp} red))")).collect::<String>();
        text
    }

    #[test]
    fn moves_that_are_made_twice_are_found_though_no_order_has_them() {
        for first_effort in [Effort::FIRST, Effort(0)] {
            let found = solve(&of_text(&lamps_of_three_colours(4)), first_effort);
            assert_eq!(found, (Some(100), Verdict::Proved));
        }
    }

    #[test]
    fn lines_of_the_usual_length_do_not_hide_a_short_plan() {
        // Lamps are lit for good; the first four alone win, and whoever lights another one is stuck after eight.
        let text = "(role one) (lamp a) (lamp b) (lamp c) (lamp d) (other e) (other f) (other g) (other h)
             (<= (lit ?l) (true (is_lit ?l)))
             (<= (legal one (light ?l)) (lamp ?l) (not (lit ?l)))
             (<= (legal one (light ?l)) (other ?l) (not (lit ?l)))
             (<= (next (is_lit ?l)) (does one (light ?l)))
             (<= (next (is_lit ?l)) (lit ?l))
             (<= is_spoilt (other ?l) (lit ?l))
             (<= has_won (lit a) (lit b) (lit c) (lit d) (not is_spoilt))
             (<= terminal has_won)
             (<= (goal one 100) has_won)
             (<= (goal one 0) (not has_won))";
        let netlist = of_text(text);
        let planner = Planner::new(&netlist, None, FREE).expect("a puzzle");
        let question = Question { least: &|| Some(0), usual_steps: 8, ..Question::default() };
        let mut best = None;
        let outcome = planner.run(&question, |plan| best = Some((plan.value, plan.moves.len())));
        assert_eq!((best, outcome.verdict), (Some((100, 4)), Verdict::Proved));
        assert_eq!(outcome.n_steps, 8, "nothing more was unrolled");
    }
}
