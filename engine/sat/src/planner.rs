//! Better and better plans, until there is no better one.

use std::fmt;

use gdl::Term;
use reasoner::Value;
use reasoner_native::Netlist;
use rustc_hash::FxHashSet;

use crate::solver::{Answer, Limits, Lit, Solver};
use crate::unrolling::{Truth, Unrolling, all_hold};

/// Conflicts that may be spent on one step by itself, and on whether the game can go on behind it: at most, and at least,
/// half as many after each question that they were too few for, twice as many after each other. What stays open is asked
/// again with all other open steps: lights that are put out in any order have no proof by steps within hours, and a
/// solution within seconds.
const CONFLICTS_OF_STEP: (u64, u64) = (2_000, 30);
/// Conflicts that may be spent on all open steps together, for each step that there is.
const CONFLICTS_OF_ALL: u64 = 1_000;
/// All open steps are asked about together when there are so many steps, twice as many, and so on.
const FIRST_TOGETHER: usize = 8;

/// Moves to the end of the game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The moves' indices in [`Netlist::moves`].
    pub moves: Vec<usize>,
    /// The goal at the end; 0 if the rules give none.
    pub value: Value,
}

/// How a search for plans ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The last plan is the best there is, or there is no plan at all.
    Proved,
    /// It may not go on.
    Stopped,
    /// The memory is used up.
    OutOfMemory,
    /// There are as many steps as there may be.
    TooLong,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Proved => "proved",
            Verdict::Stopped => "stopped",
            Verdict::OutOfMemory => "out of memory",
            Verdict::TooLong => "too long",
        })
    }
}

/// How a search for plans ended, and how far it went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub verdict: Verdict,
    /// The longest plans that were looked for, in moves.
    pub n_steps: usize,
}

/// Why a game cannot be planned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoPuzzle {
    /// Only games of one role are planning problems.
    #[error("the game has {0} roles; only games of one role can be planned")]
    Roles(usize),
}

/// What plans are looked for.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// Plans of at most so many moves.
    pub max_steps: usize,
    /// Only plans that are better than this are of use, if there is such a value; asked now and then, and never smaller than
    /// before.
    pub least: &'a dyn Fn() -> Option<Value>,
    /// How many moves lines have, where something is known of that: nothing is asked about shorter plans before those.
    pub usual_steps: usize,
}

impl Default for Question<'_> {
    /// All plans, the shortest first.
    fn default() -> Self {
        Question { max_steps: usize::MAX, least: &|| None, usual_steps: 0 }
    }
}

impl fmt::Debug for Question<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Question { max_steps, usual_steps, .. } = self;
        f.debug_struct("Question")
            .field("max_steps", max_steps)
            .field("usual_steps", usual_steps)
            .finish_non_exhaustive()
    }
}

/// How many moves lines have, if all of these lines have as many; otherwise 0, so that short plans come first.
pub fn usual_steps(lengths: impl IntoIterator<Item = u32>) -> usize {
    let mut lengths = lengths.into_iter();
    let first = lengths.next().unwrap_or(0);
    if lengths.all(|length| length == first) { first as usize } else { 0 }
}

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
    best: Option<Value>,
    /// That the game was not over before the last step.
    going: Truth,
    /// Ends of which it is not known that they are no better than the best plan.
    open: Vec<End>,
    conflicts_of_step: u64,
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
        let unrolling = Unrolling::new(netlist, holds, &mut solver);
        Ok(Planner {
            netlist,
            unrolling,
            solver,
            n_steps: 0,
            best: None,
            going: Truth::Known(true),
            open: Vec::new(),
            conflicts_of_step: CONFLICTS_OF_STEP.0,
        })
    }

    /// Looks for plans, and tells each that is better than all before. What is proved is then that nothing is better than
    /// the last one, or than what was asked for at least.
    pub fn run(mut self, question: &Question<'_>, mut found: impl FnMut(Plan)) -> Outcome {
        let verdict = self.verdict(question, &mut found);
        Outcome { verdict, n_steps: self.n_steps }
    }

    fn verdict(&mut self, question: &Question<'_>, found: &mut impl FnMut(Plan)) -> Verdict {
        loop {
            self.best = self.best.max((question.least)());
            self.open_end();
            if self.solver.is_over() || self.solver.is_out_of_memory() {
                return self.why_unknown();
            }
            let is_early = self.n_steps < question.usual_steps;
            if !is_early && let Some(end) = self.open.pop_if(|end| end.n_moves == self.n_steps) {
                let is_usual = self.n_steps == question.usual_steps;
                let conflicts = if is_usual { self.conflicts_of_all() } else { self.conflicts_of_step };
                let still_open = self.improve(vec![end], conflicts, found);
                if !is_usual {
                    self.learn_conflicts(still_open.is_empty());
                }
                self.open.extend(still_open);
            }
            let goes_on = !self.is_best_possible() && self.goes_on(is_early);
            let is_last = !goes_on || self.n_steps == question.max_steps;
            let is_time = self.n_steps >= FIRST_TOGETHER && self.n_steps.is_power_of_two() && !is_early;
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
        CONFLICTS_OF_ALL * self.n_steps as u64
    }

    /// Whether no goal of the game is larger than that of the best plan.
    fn is_best_possible(&self) -> bool {
        self.best.is_some_and(|best| self.netlist.goals().iter().all(|goal| goal.value <= best))
    }

    /// Opens the last step, if the game can be over there.
    fn open_end(&mut self) {
        let is_end = match self.both(self.going, self.unrolling.over()) {
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
        self.going = self.both(self.going, goes_on);
        if self.going == Truth::Known(false) || !self.unrolling.step(&mut self.solver) {
            return false;
        }
        if is_taken_for_granted {
            return true;
        }
        let going: Vec<Lit> = match self.going {
            Truth::Known(_) => Vec::new(),
            Truth::Lit(going) => vec![going],
        };
        let answer = self.solver.ask(&going, self.conflicts_of_step);
        self.learn_conflicts(answer != Answer::Unknown);
        answer != Answer::No
    }

    fn learn_conflicts(&mut self, were_enough: bool) {
        let (most, least) = CONFLICTS_OF_STEP;
        let now = self.conflicts_of_step;
        self.conflicts_of_step = if were_enough { (now * 2).min(most) } else { (now / 2).max(least) };
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
            match self.solver.ask(&[one_of_them], max_conflicts) {
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
