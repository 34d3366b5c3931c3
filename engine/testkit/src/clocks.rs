//! Small random games with clocks: fluents that change by themselves, on which the rest depends.
//!
//! To a game of [`random_rules`] come clocks of several kinds, and conditions on them for moves, for what comes next, and
//! for the end. A role may have one move at a time, or none; a game may last until somebody quits.

use reasoner::Dice;

use crate::random_rules;

/// The longest period.
const MAX_PERIOD: usize = 9;

/// A rulesheet with clocks that depends on its arguments alone; `size` as for [`random_rules`].
pub fn clocked_rules(seed: u64, size: u32) -> String {
    let mut dice = Dice::new(Dice::child_seed(seed, 1));
    let periods: Vec<usize> = (0..1 + dice.below(3)).map(|_| 2 + dice.below(MAX_PERIOD - 1)).collect();
    let mut clocks = Clocks { dice, periods };
    let mut text = String::new();
    let has_quitting = clocks.chance(50);
    for line in random_rules(seed, size).lines() {
        let line = match line {
            "(<= (legal ?r wait) (role ?r))" if clocks.chance(20) => clocks.limited(line),
            _ if has_quitting && line.starts_with("(<= terminal (true (step ") => clocks.quitting(),
            _ if clocks.chance(40)
                && ["(<= (legal r", "(<= (next (f", "(<= (wins "]
                    .iter()
                    .any(|head| line.starts_with(head)) =>
            {
                clocks.limited(line)
            }
            _ => line.to_owned(),
        };
        text.push_str(&line);
        text.push('\n');
    }
    for clock in 0..clocks.periods.len() {
        text.push_str(&clocks.definition(clock));
    }
    text
}

struct Clocks {
    dice: Dice,
    /// By clock: how many times it tells.
    periods: Vec<usize>,
}

impl Clocks {
    fn chance(&mut self, percent: usize) -> bool {
        self.dice.below(100) < percent
    }

    /// A condition on a clock.
    fn condition(&mut self) -> String {
        let clock = self.dice.below(self.periods.len());
        let condition = format!("(true (clock{clock} {}))", self.dice.below(self.periods[clock]));
        if self.chance(50) { format!("(not {condition})") } else { condition }
    }

    /// A rule with a condition more.
    fn limited(&mut self, rule: &str) -> String {
        let condition = self.condition();
        format!("{} {condition})", &rule[..rule.len() - 1])
    }

    /// The game ends when somebody quits, not after a number of steps.
    fn quitting(&mut self) -> String {
        let legal = self.limited("(<= (legal r0 quit))");
        format!("{legal}\n(<= (next (stop)) (does r0 quit))\n(<= terminal (true (stop)))")
    }

    /// How a clock goes.
    fn definition(&mut self, clock: usize) -> String {
        let name = format!("clock{clock}");
        let last = self.periods[clock] - 1;
        let mut text = format!("(init ({name} 0))\n");
        let limit = match self.dice.below(6) {
            // Only when something else is so: not by itself, or as another clock goes.
            0 => format!(" {}", self.condition()),
            1 => " (does r0 wait)".to_owned(),
            _ => String::new(),
        };
        for time in 0..last {
            text.push_str(&format!("(<= (next ({name} {})) (true ({name} {time})){limit})\n", time + 1));
        }
        if !limit.is_empty() && self.chance(70) {
            let otherwise = limit.trim_start();
            let otherwise = match otherwise.strip_prefix("(not ") {
                Some(positive) => positive[..positive.len() - 1].to_owned(),
                None => format!("(not {otherwise})"),
            };
            text.push_str(&format!("(<= (next ({name} ?t)) (true ({name} ?t)) {otherwise})\n"));
        }
        // It begins again, goes on from a later time, stays, or is over.
        let after_last = match self.dice.below(8) {
            0..5 => Some(0),
            5 => Some(self.dice.below(last + 1)),
            6 => Some(last),
            _ => None,
        };
        if let Some(after_last) = after_last {
            text.push_str(&format!("(<= (next ({name} {after_last})) (true ({name} {last})){limit})\n"));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use gdl::{Description, ReadOptions, Rules};

    use super::*;

    #[test]
    fn every_game_can_be_read_and_has_a_clock_that_matters() {
        for seed in 0..300 {
            let text = clocked_rules(seed, 1 + u32::try_from(seed % 8).unwrap());
            let description = Description::read(&text, ReadOptions::default()).unwrap();
            let rules = Rules::from_description(&description);
            assert!(rules.is_ok(), "seed {seed}: {rules:?}\n{text}");
        }
        let all: String = (0..50).map(|seed| clocked_rules(seed, 5)).collect();
        for text in ["(legal r0 quit) (", "(role ?r) (true (clock", "(not (true (clock", ") (does r0 wait))"]
        {
            assert!(all.contains(text), "{text} never occurs");
        }
    }
}
