//! Nested rollout policy adaptation (Rosin 2011), with the stabilised variant's several rollouts before each adaption
//! (Cazenave, Sevestre and Toulemont 2020).
//!
//! A policy weighs moves; a search of level n calls one of level n - 1 a hundred times with its policy and moves the
//! policy towards the best line so far after each. What is weighed is a move, or a move at its step, by turns: some games
//! make the same moves all the way, and there the step tells them apart.

use reasoner::{Lot, MAX_ROLLOUT_STEPS, Move, Policy, Reasoner, Role, Value};
use rustc_hash::FxHashMap;

use crate::solver::{Ending, Halt, Solver};
use crate::work::{Stand, Work};

/// How a policy is adapted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NrpaOptions {
    /// Nested searches; at least 1.
    pub level: u32,
    /// Calls of the level below, and adaptions, of each level (Rosin: 100).
    pub n: u32,
    /// How far each adaption goes (Rosin: 1).
    pub alpha: f64,
    /// Rollouts on the lowest level before each adaption (Rosin: 1; the stabilised variant: 4 and more).
    pub p: u32,
}

impl Default for NrpaOptions {
    fn default() -> NrpaOptions {
        NrpaOptions { level: 3, n: 100, alpha: 1.0, p: 1 }
    }
}

/// Repeats searches of the highest level.
#[derive(Debug)]
pub(crate) struct Nrpa {
    options: NrpaOptions,
    codes: FxHashMap<(Move, u32), u32>,
    n_searches: u64,
}

/// The codes of a line's legal moves, step by step.
#[derive(Debug, Clone, Default)]
struct Course {
    value: Value,
    moves: Vec<Move>,
    codes: Vec<u32>,
    /// Where the codes of each step end, and which of them was chosen.
    steps: Vec<(usize, usize)>,
}

impl Course {
    /// Each step's codes, and the index of the chosen one.
    fn steps(&self) -> impl Iterator<Item = (&[u32], usize)> {
        let mut begin = 0;
        self.steps.iter().map(move |&(end, chosen)| {
            let codes = &self.codes[begin..end];
            begin = end;
            (codes, chosen)
        })
    }
}

/// Logarithms of weights, by code; 0 beyond the end.
type Weights = Vec<f64>;

fn weight(weights: &Weights, code: u32) -> f64 {
    weights.get(code as usize).copied().unwrap_or(0.0)
}

/// Chooses in proportion to the exponential of the weight.
struct Weighted<'a> {
    weights: &'a Weights,
    codes: &'a mut FxHashMap<(Move, u32), u32>,
    has_steps: bool,
    course: &'a mut Course,
    exps: Vec<f64>,
}

impl Policy for Weighted<'_> {
    fn choose(&mut self, _role: Role, legal: &[Move], lot: Lot) -> usize {
        let step = if self.has_steps {
            u32::try_from(self.course.steps.len()).unwrap_or(u32::MAX)
        } else {
            u32::MAX
        };
        let begin = self.course.codes.len();
        for &a_move in legal {
            let n_codes = u32::try_from(self.codes.len()).unwrap_or(u32::MAX);
            self.course.codes.push(*self.codes.entry((a_move, step)).or_insert(n_codes));
        }
        let chosen = match legal.len() {
            1 => 0,
            _ => draw(self.weights, &self.course.codes[begin..], &mut self.exps, lot),
        };
        self.course.steps.push((self.course.codes.len(), chosen));
        chosen
    }
}

fn draw(weights: &Weights, codes: &[u32], exps: &mut Vec<f64>, lot: Lot) -> usize {
    let most = codes.iter().map(|&code| weight(weights, code)).fold(f64::NEG_INFINITY, f64::max);
    exps.clear();
    exps.extend(codes.iter().map(|&code| (weight(weights, code) - most).exp()));
    let mut left = lot.dice().unit() * exps.iter().sum::<f64>();
    for (idx, exp) in exps.iter().enumerate() {
        left -= exp;
        if left < 0.0 {
            return idx;
        }
    }
    codes.len() - 1
}

/// Moves the policy towards a line (Rosin 2011, procedure Adapt).
fn adapt(weights: &mut Weights, course: &Course, alpha: f64) {
    let before = weights.clone();
    for (codes, chosen) in course.steps() {
        if codes.len() == 1 {
            continue;
        }
        let most = codes.iter().map(|&code| weight(&before, code)).fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = codes.iter().map(|&code| (weight(&before, code) - most).exp()).sum();
        for (idx, &code) in codes.iter().enumerate() {
            let slot = code as usize;
            if weights.len() <= slot {
                weights.resize(slot + 1, 0.0);
            }
            weights[slot] -= alpha * (weight(&before, code) - most).exp() / sum;
            if idx == chosen {
                weights[slot] += alpha;
            }
        }
    }
}

impl Nrpa {
    pub(crate) fn new(options: NrpaOptions) -> Nrpa {
        Nrpa { options, codes: FxHashMap::default(), n_searches: 0 }
    }

    fn has_steps(&self) -> bool {
        self.n_searches % 2 == 1
    }

    /// The best line of a search of one level.
    fn search<R: Reasoner>(
        &mut self,
        work: &mut Work<'_, R>,
        weights: &Weights,
        level: u32,
    ) -> Result<Course, Halt> {
        if level == 0 {
            return self.play(work, weights);
        }
        let mut weights = weights.clone();
        let mut best = Course::default();
        for n_done in 0..self.options.n {
            let n_tries = if level == 1 { self.options.p } else { 1 };
            for try_idx in 0..n_tries {
                let course = self.search(work, &weights, level - 1)?;
                // Of equals the later one, which keeps the search moving (Rosin 2011).
                if (n_done, try_idx) == (0, 0) || course.value >= best.value {
                    best = course;
                }
            }
            if best.value >= work.max_goal {
                break;
            }
            adapt(&mut weights, &best, self.options.alpha);
        }
        Ok(best)
    }

    fn play<R: Reasoner>(&mut self, work: &mut Work<'_, R>, weights: &Weights) -> Result<Course, Halt> {
        let has_steps = self.has_steps();
        let mut course = Course::default();
        let mut moves = Vec::new();
        let mut policy =
            Weighted { weights, codes: &mut self.codes, has_steps, course: &mut course, exps: Vec::new() };
        let root = work.root;
        let end = work.roll_out_with(root, &mut policy, &mut moves)?;
        course.value = end.goals[0];
        course.moves = moves;
        work.note(1);
        if end.length < MAX_ROLLOUT_STEPS && work.best.would_take(course.value) {
            work.offer(&course.moves)?;
        }
        work.go_on(0)?;
        Ok(course)
    }
}

impl<R: Reasoner> Solver<R> for Nrpa {
    fn solve(&mut self, work: &mut Work<'_, R>) -> Result<Ending, Halt> {
        let root = work.root;
        if work.expand(root)? != Stand::Open {
            return Ok(Ending::GaveUp);
        }
        loop {
            // Codes of one kind are of no use to the other.
            self.codes.clear();
            let searched = self.search(work, &Weights::new(), self.options.level);
            self.n_searches += 1;
            searched?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(chosen: usize) -> Course {
        Course { value: 1, moves: vec![Move(7)], codes: vec![0, 1, 2], steps: vec![(3, chosen)] }
    }

    #[test]
    fn adapting_moves_weight_to_the_chosen_move_and_keeps_the_sum() {
        let mut weights = Weights::new();
        adapt(&mut weights, &course(1), 1.0);
        let third = 1.0 / 3.0;
        assert!((weights[1] - (1.0 - third)).abs() < 1e-12, "{weights:?}");
        assert!((weights[0] + third).abs() < 1e-12 && weights.iter().sum::<f64>().abs() < 1e-12);
        let first = weights[1];
        adapt(&mut weights, &course(1), 1.0);
        assert!(weights[1] - first < 1.0 - third, "what is likely already is moved less");
    }

    #[test]
    fn moves_are_drawn_in_proportion_to_their_exponentials() {
        let weights = vec![0.0, f64::ln(3.0)];
        let mut exps = Vec::new();
        let n = 40_000;
        let n_second = (0..n).filter(|&i| draw(&weights, &[0, 1], &mut exps, Lot::new(1, i)) == 1).count();
        let share = n_second as f64 / f64::from(n);
        assert!((share - 0.75).abs() < 0.01, "{share}");
    }
}
