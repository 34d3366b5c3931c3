//! Rulesheets written for this project, playable by name.
//!
//! In goes a name, out comes the text of a game in the Game Description Language. Nothing here reads the
//! text; that is the work of the crate `gdl`.
#![forbid(unsafe_code)]

/// A shipped game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Game {
    /// What it is called on a command line: lower case, words joined by `-`.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    /// The rulesheet.
    pub text: &'static str,
}

macro_rules! games {
    ($($name:literal: $summary:literal,)*) => {
        &[$(Game { name: $name, summary: $summary, text: include_str!(concat!("../kif/", $name, ".kif")) }),*]
    };
}

/// In alphabetical order.
const GAMES: &[Game] = games! {
    "breakthrough": "two roles, 8 by 8: get a man across",
    "breakthrough-small": "breakthrough on 5 by 5",
    "checkers-small": "two roles, 6 by 6: jumps are forced and go on",
    "connect-four": "two roles, 7 columns of 6: four in a row win",
    "eight-puzzle": "one role: put eight tiles in order within 30 moves",
    "goofspiel-small": "two roles at once: cards of 1 to 5 bid for five prizes",
    "hanoi": "one role: five discs to the third peg within 40 moves",
    "hex-5x5": "two roles: join opposite sides of a rhombus",
    "knights-tour": "one role: visit as many of 5 by 5 squares as you can",
    "left-right": "one role: a hundred steps, each to the left is a point",
    "lights-out": "one role: turn 5 by 5 lamps dark within ten presses",
    "nim": "two roles: take from one of three heaps; the last one wins",
    "rock-paper-scissors": "two roles at once: three rounds",
    "three-in-a-row-three": "three roles, 4 by 4: three in a row win",
    "tic-tac-toe": "two roles, 3 by 3: three in a row win",
};

/// Every shipped game, in alphabetical order.
pub fn all() -> &'static [Game] {
    GAMES
}

/// The game of that name, in any case; `_` and blanks count as `-`, or may be left out.
pub fn find(name: &str) -> Option<&'static Game> {
    let wanted = letters(name);
    GAMES.iter().find(|game| letters(game.name) == wanted)
}

/// The games whose names are nearest to a name that [`find`] does not know, best first, for "did you mean";
/// none if nothing comes near.
pub fn similar(name: &str) -> Vec<&'static Game> {
    let wanted = letters(name);
    let mut near: Vec<(usize, &Game)> = GAMES
        .iter()
        .filter_map(|game| {
            let known = letters(game.name);
            let within = wanted.len() > 2 && (known.contains(&wanted) || wanted.contains(&known));
            let distance = if within { 1 } else { edit_distance(&wanted, &known) };
            // A third of the letters wrong is a slip, more is another word.
            (distance * 3 <= known.len().max(3)).then_some((distance, game))
        })
        .collect();
    near.sort_by_key(|&(distance, game)| (distance, game.name));
    near.into_iter().map(|(_, game)| game).collect()
}

/// What of a name counts when it is looked up.
fn letters(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect()
}

/// How many characters have to be put in, left out or changed (Levenshtein 1966), one row at a time.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (a_idx, a_char) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = a_idx + 1;
        for (b_idx, &b_char) in b.iter().enumerate() {
            let changed = diagonal + usize::from(a_char != b_char);
            diagonal = row[b_idx + 1];
            row[b_idx + 1] = changed.min(diagonal + 1).min(row[b_idx] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_are_found_in_any_spelling() {
        for name in ["tic-tac-toe", "TicTacToe", "TIC_TAC_TOE"] {
            assert_eq!(find(name).map(|game| game.name), Some("tic-tac-toe"), "{name}");
        }
        assert!(find("chess").is_none());
        assert!(find("").is_none());
    }

    #[test]
    fn a_slip_is_forgiven() {
        assert_eq!(similar("tictactow")[0].name, "tic-tac-toe");
        assert!(similar("xyzzy").is_empty());
    }

    #[test]
    fn names_are_ordered_and_plain() {
        assert!(all().windows(2).all(|pair| pair[0].name < pair[1].name));
        assert!(
            all()
                .iter()
                .all(|game| game.name.bytes().all(|byte| byte == b'-' || byte.is_ascii_alphanumeric()))
        );
    }
}
