//! What is to be tuned: a file in TOML, read and checked.

use std::fs;
use std::path::Path;

use player::brain::Brain;
use player::failure::Failure;
use reasoner::Dice;
use serde::{Deserialize, Serialize};

/// A commented file to begin with.
pub const EXAMPLE: &str = r#"# Tuned by the cross-entropy method (Rubinstein 2003; Schadd et al. 2012, sections 5 and 6.6).

# Names or paths of games, all of the same number of roles. {seed} becomes a number that is drawn anew for each
# iteration, so that nothing is tuned to particular boards.
games = ["samegame:8,colours=4,seed={seed},epsilon={epsilon}"]
# Settings of a player, with {name} for each parameter (here or in the names of games). Playouts (or cpu) end each search.
# Systems for games of one role have theirs in parentheses: "config=sp-mcts(c={c},d={d},restarts=1),playouts=500".
spec = "config=uct,playouts=500,c={c}"
# In games of several roles, whom the samples play, by turns in each role.
#against = "config=uct,playouts=500"
# Games that each sample of an iteration plays. In games of one role each is one search from the initial position, whose
# best line counts.
games_per_sample = 10
samples = 20
# The best of them, whose mean and deviation are those of the next iteration.
elite = 5
iterations = 8
# How much of that is taken, above 0 and at most 1; the rest stays as it was.
smoothing = 0.8
# Games that nobody has seen, on which the tuned set is compared with the start in the end.
check = 100
seed = 1

# The first mean is the middle between low and high, the first deviation half the distance.
[[parameter]]
name = "c"
low = 0
high = 2000
# What the tuned value is compared with in the end; the middle, if it is not given.
start = 100

[[parameter]]
name = "epsilon"
low = 0
high = 0.2
start = 0.003
"#;

/// What is to be tuned, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    pub games: Vec<String>,
    pub spec: String,
    pub against: Option<String>,
    pub games_per_sample: usize,
    pub samples: usize,
    pub elite: usize,
    pub iterations: usize,
    #[serde(default = "all")]
    pub smoothing: f64,
    #[serde(default)]
    pub check: usize,
    #[serde(default)]
    pub seed: u64,
    #[serde(rename = "parameter")]
    pub parameters: Vec<Parameter>,
}

fn all() -> f64 {
    1.0
}

/// A number that is tuned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameter {
    pub name: String,
    pub low: f64,
    pub high: f64,
    /// What the tuned value is compared with; the middle, if there is none.
    pub start: Option<f64>,
    /// Whether it is rounded.
    #[serde(default)]
    pub integer: bool,
}

impl Parameter {
    /// What the tuned value is compared with.
    pub fn start(&self) -> f64 {
        self.start.unwrap_or(f64::midpoint(self.low, self.high))
    }

    fn text(&self, value: f64) -> String {
        if self.integer { format!("{:.0}", value.round()) } else { value.to_string() }
    }
}

impl Plan {
    /// Reads and checks a file.
    ///
    /// # Errors
    /// Wrong usage, with what is wrong and where, if it is no plan.
    pub fn read(file: &Path) -> Result<Plan, Failure> {
        let failed = |error: &dyn std::fmt::Display| Failure::usage(error).context(file.display());
        let text = fs::read_to_string(file).map_err(|error| failed(&error))?;
        let plan: Plan = toml::from_str(&text).map_err(|error| failed(&error.to_string().trim_end()))?;
        plan.check_all().map_err(|what| failed(&what))?;
        Ok(plan)
    }

    fn check_all(&self) -> Result<(), String> {
        for (holds, what) in [
            (!self.games.is_empty(), "games: name one or more"),
            (!self.parameters.is_empty(), "parameter: give one [[parameter]] or more"),
            ((1..=10_000).contains(&self.samples), "samples: give 1 to 10000"),
            ((1..=self.samples).contains(&self.elite), "elite: give 1 to the number of samples"),
            ((1..=10_000).contains(&self.iterations), "iterations: give 1 to 10000"),
            ((1..=100_000).contains(&self.games_per_sample), "games_per_sample: give 1 to 100000"),
            (self.check != 1 && self.check <= 100_000, "check: give 0, or 2 to 100000"),
            (self.smoothing > 0.0 && self.smoothing <= 1.0, "smoothing: above 0 and at most 1"),
        ] {
            if !holds {
                return Err(what.to_owned());
            }
        }
        for (idx, Parameter { name, low, high, start, .. }) in self.parameters.iter().enumerate() {
            if self.parameters[..idx].iter().any(|other| other.name == *name) || name == "seed" {
                return Err(format!("parameter {name}: the name is taken; use another"));
            }
            if !(low.is_finite() && high.is_finite() && low < high) {
                return Err(format!("parameter {name}: low must be below high"));
            }
            if start.is_some_and(|start| !(*low..=*high).contains(&start)) {
                return Err(format!("parameter {name}: start must be between low and high"));
            }
            let place = format!("{{{name}}}");
            if !self.games.iter().chain([&self.spec]).any(|text| text.contains(&place)) {
                return Err(format!("parameter {name}: put {place} into spec or into the name of a game"));
            }
        }
        let starts: Vec<f64> = self.parameters.iter().map(Parameter::start).collect();
        let specs = [Some(self.filled(&self.spec, &starts, 0)), self.against.clone()];
        for spec in specs.into_iter().flatten() {
            let brain = Brain::parse(&spec).map_err(|error| format!("{spec:?}: {error}"))?;
            if !brain.is_limited() {
                return Err(format!("{spec:?}: give playouts=N or cpu=SECONDS, so that searches end"));
            }
        }
        Ok(())
    }

    /// A text with the values of all parameters, and a seed.
    pub fn filled(&self, text: &str, values: &[f64], seed: u64) -> String {
        // Names of boards have 16 bits for it.
        let text = text.replace("{seed}", &(seed % (1 << 16)).to_string());
        self.parameters.iter().zip(values).fold(text, |text, (parameter, &value)| {
            text.replace(&format!("{{{}}}", parameter.name), &parameter.text(value))
        })
    }

    /// The seed of a game of an iteration: all samples play the same games.
    pub fn seed_of(&self, iteration: usize, game_idx: usize) -> u64 {
        Dice::child_seed(Dice::child_seed(self.seed, iteration as u64), game_idx as u64)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn read(text: &str) -> Result<Plan, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), text).unwrap();
        Plan::read(file.path()).map_err(|failure| failure.to_string())
    }

    #[test]
    fn the_example_is_a_plan() {
        let plan = read(EXAMPLE).unwrap();
        assert_eq!(plan.filled(&plan.spec, &[1.5, 0.25], 7), "config=uct,playouts=500,c=1.5");
        let game = plan.filled(&plan.games[0], &[1.5, 0.25], (5 << 16) + 7);
        assert_eq!(game, "samegame:8,colours=4,seed=7,epsilon=0.25");
    }

    #[test]
    fn what_cannot_be_is_told_with_its_name() {
        for (from, to, word) in [
            ("elite = 5", "elite = 21", "elite: give 1 to"),
            ("low = 0\nhigh = 2000", "low = 5\nhigh = 5", "parameter c: low must be below high"),
            ("c={c}", "c=5", "put {c} into spec"),
            ("name = \"epsilon\"", "name = \"c\"", "the name is taken"),
            ("start = 100", "start = 5000", "start must be between"),
            ("playouts=500,", "", "give playouts=N or cpu=SECONDS"),
            ("config=uct,", "config=magic,", "magic"),
            ("samples = 20", "smaples = 20", "smaples"),
            ("check = 100", "check = 1", "check: give 0"),
        ] {
            let error = read(&EXAMPLE.replace(from, to)).unwrap_err();
            assert!(error.contains(word), "{to}: {error}");
        }
    }
}
