//! What rollouts of SameGame choose among.

use std::fmt;
use std::str::FromStr;

use reasoner::Dice;

use super::board::{Board, Colour, Group, N_COLOURS};

/// Which colour a rollout leaves alone, so that its blocks come together (Schadd et al. 2012, section 4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tabu {
    /// None.
    Random,
    /// One that is there, at random.
    TabuRandom,
    /// The one with the most blocks; of several, the first.
    TabuColorRandom,
}

impl Tabu {
    /// All, by their names in the paper.
    pub const ALL: [(Tabu, &'static str); 3] = [
        (Tabu::Random, "random"),
        (Tabu::TabuRandom, "taburandom"),
        (Tabu::TabuColorRandom, "tabucolorrandom"),
    ];

    /// The colour that a rollout from a board leaves alone.
    pub(super) fn colour(self, board: &Board, dice: &mut Dice) -> Option<Colour> {
        let counts = board.counts();
        let there = || (1..=N_COLOURS).filter(|&colour| counts[colour] > 0);
        let colour = match self {
            Tabu::Random => None,
            Tabu::TabuRandom => match there().count() {
                0 => None,
                n => there().nth(dice.below(n)),
            },
            Tabu::TabuColorRandom => there().rev().max_by_key(|&colour| counts[colour]),
        };
        colour.and_then(|colour| Colour::try_from(colour).ok())
    }
}

impl fmt::Display for Tabu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Tabu::ALL.iter().find(|(tabu, _)| tabu == self).map_or("", |(_, name)| name);
        f.write_str(name)
    }
}

impl FromStr for Tabu {
    type Err = ();

    fn from_str(name: &str) -> Result<Tabu, ()> {
        Tabu::ALL.iter().find(|(_, known)| *known == name).map(|&(tabu, _)| tabu).ok_or(())
    }
}

/// Replaces `offered` by the indices of the groups that a rollout chooses among: all but those of the colour that is left
/// alone, unless no others are there, and all with probability `epsilon`.
pub(super) fn offer(
    groups: &[Group],
    tabu: Option<Colour>,
    epsilon: f64,
    dice: &mut Dice,
    offered: &mut Vec<usize>,
) {
    offered.clear();
    if let Some(tabu) = tabu
        && !(epsilon > 0.0 && dice.unit() < epsilon)
    {
        offered.extend((0..groups.len()).filter(|&idx| groups[idx].colour != tabu));
    }
    if offered.is_empty() {
        offered.extend(0..groups.len());
    }
}
