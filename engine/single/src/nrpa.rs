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
    changes: Changes,
    /// Of the weights of the moves that are chosen among.
    sums: Vec<f64>,
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
    /// Forgets everything, keeping the memory.
    fn clear(&mut self) {
        self.value = 0;
        self.moves.clear();
        self.codes.clear();
        self.steps.clear();
    }

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

/// What each code is drawn in proportion to: the exponentials of Rosin's weights, so that a rollout computes none.
#[derive(Debug, Clone, Default)]
struct Weights(Vec<f64>);

/// Weights stay within this and its inverse. Far from what doubles can hold, so that sums of them are finite, and so far
/// apart that what is that unlikely is never drawn.
const MOST: f64 = 1e100;

impl Weights {
    /// Codes beyond the end have never been adapted.
    #[inline]
    fn of(&self, code: u32) -> f64 {
        self.0.get(code as usize).copied().unwrap_or(1.0)
    }

    /// Becomes the same as others.
    fn copy(&mut self, other: &Weights) {
        self.0.clone_from(&other.0);
    }

    /// Moves them towards a line (Rosin 2011, procedure Adapt).
    fn adapt(&mut self, course: &Course, alpha: f64, changes: &mut Changes) {
        for (codes, chosen) in course.steps() {
            if codes.len() == 1 {
                continue;
            }
            let sum: f64 = codes.iter().map(|&code| self.of(code)).sum();
            for (idx, &code) in codes.iter().enumerate() {
                let gained = if idx == chosen { alpha } else { 0.0 };
                changes.add(code, gained - alpha * self.of(code) / sum);
            }
        }
        for (code, change) in changes.drain() {
            if self.0.len() <= code {
                self.0.resize(code + 1, 1.0);
            }
            self.0[code] = (self.0[code] * change.exp()).clamp(MOST.recip(), MOST);
        }
    }
}

/// Sums of what is to be added to the logarithms of weights, by code.
#[derive(Debug, Default)]
struct Changes {
    sums: Vec<f64>,
    is_in: Vec<bool>,
    codes: Vec<u32>,
}

impl Changes {
    fn add(&mut self, code: u32, change: f64) {
        let slot = code as usize;
        if self.sums.len() <= slot {
            self.sums.resize(slot + 1, 0.0);
            self.is_in.resize(slot + 1, false);
        }
        if !self.is_in[slot] {
            self.is_in[slot] = true;
            self.codes.push(code);
        }
        self.sums[slot] += change;
    }

    /// All of them, which are 0 again.
    fn drain(&mut self) -> impl Iterator<Item = (usize, f64)> {
        let Changes { sums, is_in, codes } = self;
        codes.drain(..).map(|code| {
            let slot = code as usize;
            is_in[slot] = false;
            (slot, std::mem::take(&mut sums[slot]))
        })
    }
}

/// Chooses in proportion to the weights.
struct Weighted<'a> {
    weights: &'a Weights,
    codes: &'a mut FxHashMap<(Move, u32), u32>,
    has_steps: bool,
    course: &'a mut Course,
    sums: &'a mut Vec<f64>,
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
            _ => draw(self.weights, &self.course.codes[begin..], self.sums, lot),
        };
        self.course.steps.push((self.course.codes.len(), chosen));
        chosen
    }
}

/// The index of a code, with its share of the weights as probability.
fn draw(weights: &Weights, codes: &[u32], sums: &mut Vec<f64>, lot: Lot) -> usize {
    let mut sum = 0.0;
    sums.clear();
    sums.extend(codes.iter().map(|&code| {
        sum += weights.of(code);
        sum
    }));
    let place = lot.dice().unit() * sum;
    sums.partition_point(|&sum| sum <= place).min(codes.len() - 1)
}

impl Nrpa {
    pub(crate) fn new(options: NrpaOptions) -> Nrpa {
        Nrpa {
            options,
            codes: FxHashMap::default(),
            n_searches: 0,
            changes: Changes::default(),
            sums: Vec::new(),
        }
    }

    fn has_steps(&self) -> bool {
        self.n_searches % 2 == 1
    }

    /// Replaces `best` by the best line of a search of one level.
    fn search<R: Reasoner>(
        &mut self,
        work: &mut Work<'_, R>,
        above: &Weights,
        level: u32,
        best: &mut Course,
    ) -> Result<(), Halt> {
        if level == 0 {
            return self.play(work, above, best);
        }
        let mut weights = Weights::default();
        weights.copy(above);
        let mut tried = Course::default();
        let n_tries = if level == 1 { self.options.p } else { 1 };
        for n_done in 0..self.options.n {
            for try_idx in 0..n_tries {
                self.search(work, &weights, level - 1, &mut tried)?;
                // Of equals the later one, which keeps the search moving (Rosin 2011).
                if (n_done, try_idx) == (0, 0) || tried.value >= best.value {
                    std::mem::swap(best, &mut tried);
                }
            }
            if best.value >= work.max_goal {
                break;
            }
            weights.adapt(best, self.options.alpha, &mut self.changes);
        }
        Ok(())
    }

    fn play<R: Reasoner>(
        &mut self,
        work: &mut Work<'_, R>,
        weights: &Weights,
        course: &mut Course,
    ) -> Result<(), Halt> {
        course.clear();
        let has_steps = self.has_steps();
        let mut moves = std::mem::take(&mut course.moves);
        let mut policy =
            Weighted { weights, codes: &mut self.codes, has_steps, course, sums: &mut self.sums };
        let root = work.root;
        let end = work.roll_out_with(root, &mut policy, &mut moves)?;
        course.value = end.goals[0];
        course.moves = moves;
        work.note(1);
        if end.length < MAX_ROLLOUT_STEPS && work.best.would_take(course.value) {
            work.offer(&course.moves)?;
        }
        work.go_on(0)
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
            let level = self.options.level;
            let searched = self.search(work, &Weights::default(), level, &mut Course::default());
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
        let (mut weights, mut changes) = (Weights::default(), Changes::default());
        let logs = |weights: &Weights| [0, 1, 2].map(|code| weights.of(code).ln());
        weights.adapt(&course(1), 1.0, &mut changes);
        let third = 1.0 / 3.0;
        let first = logs(&weights);
        assert!((first[1] - (1.0 - third)).abs() < 1e-12, "{weights:?}");
        assert!((first[0] + third).abs() < 1e-12 && first.iter().sum::<f64>().abs() < 1e-12);
        weights.adapt(&course(1), 1.0, &mut changes);
        assert!(logs(&weights)[1] - first[1] < 1.0 - third, "what is likely already is moved less");
    }

    #[test]
    fn weights_stay_finite_however_often_they_are_adapted() {
        let (mut weights, mut changes) = (Weights::default(), Changes::default());
        for chosen in [0, 1].repeat(1000) {
            weights.adapt(&course(chosen), 1e9, &mut changes);
            assert!([0, 1, 2].iter().all(|&code| weights.of(code).is_normal()), "{weights:?}");
        }
    }

    #[test]
    fn moves_are_drawn_in_proportion_to_their_exponentials() {
        let weights = Weights(vec![1.0, 3.0]);
        let mut sums = Vec::new();
        let n = 40_000;
        let n_second = (0..n).filter(|&i| draw(&weights, &[0, 1], &mut sums, Lot::new(1, i)) == 1).count();
        let share = n_second as f64 / f64::from(n);
        assert!((share - 0.75).abs() < 0.01, "{share}");
    }
}
