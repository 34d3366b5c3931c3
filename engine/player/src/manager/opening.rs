//! Random openings: joint moves that the manager draws before the players are asked.
//!
//! Every player can begin behind an opening, also one elsewhere: it is told the same rules with another initial
//! state. In go a session and dice, out come moves and rules. It asks no player.

use std::sync::Arc;

use gdl::{Description, Keyword, Sexpr};
use reasoner::{Dice, Expansion, Move, ReasonerError, Role, Session};

use crate::game_source::Game;

/// How a match begins.
#[derive(Debug, Clone, Copy)]
pub struct Opening {
    /// Joint moves to draw.
    pub plies: usize,
    /// What they follow from.
    pub seed: u64,
}

/// How often an opening is drawn that ends the game, before a shorter one is taken.
const MAX_DRAWS: usize = 50;

impl Opening {
    /// From the initial state.
    pub const NONE: Opening = Opening { plies: 0, seed: 0 };

    /// Draws the joint moves, each role's uniformly, and never into a terminal state: such an opening is drawn
    /// anew, and where none of [`MAX_DRAWS`] is playable, the longest of them is taken as far as it is.
    ///
    /// # Errors
    /// As every question of a session.
    pub fn draw<S: Session>(&self, session: &mut S) -> Result<Vec<Vec<Move>>, ReasonerError> {
        let mut dice = Dice::new(self.seed);
        let mut longest = Vec::new();
        for _ in 0..MAX_DRAWS {
            if longest.len() == self.plies {
                break;
            }
            let drawn = draw_once(session, self.plies, &mut dice)?;
            if drawn.len() > longest.len() {
                longest = drawn;
            }
        }
        Ok(longest)
    }
}

/// Joint moves up to that many, as far as the state behind them can be played.
fn draw_once<S: Session>(
    session: &mut S,
    plies: usize,
    dice: &mut Dice,
) -> Result<Vec<Vec<Move>>, ReasonerError> {
    let mut state = session.initial_state()?;
    let mut expansion = Expansion::default();
    let mut moves = Vec::new();
    loop {
        let is_playable = match session.expand(&state, &mut expansion) {
            Err(ReasonerError::NotPlayable { .. }) => false,
            answer => answer.map(|()| !expansion.terminal)?,
        };
        if !is_playable {
            // The last move led here.
            moves.pop();
            return Ok(moves);
        }
        if moves.len() == plies {
            return Ok(moves);
        }
        let joint_move: Vec<Move> = Role::all(session.roles().len())
            .map(|role| {
                let legal = expansion.moves_of(role);
                legal[dice.below(legal.len())]
            })
            .collect();
        state = session.next_state(&state, &joint_move)?;
        moves.push(joint_move);
    }
}

/// Whether a rule asks which fluents are `init`, so that [`rules_from`] elsewhere would change more than where the
/// game begins. GDL does not allow it, and many reasoners answer nevertheless.
pub fn asks_for_init(description: &Description) -> bool {
    description.statements().iter().flat_map(gdl::Statement::body).any(has_init)
}

fn has_init(condition: &Sexpr) -> bool {
    is_init(condition.head()) || condition.list().is_some_and(|parts| parts.iter().any(has_init))
}

fn is_init(name: Option<&str>) -> bool {
    name.and_then(Keyword::of) == Some(Keyword::Init)
}

/// The rules as START carries them, with `state` as the initial state; as they are if it is none.
pub fn rules_from<S: Session>(game: &Game, session: &mut S, state: Option<&S::State>) -> Arc<str> {
    let statements = game.description.statements().iter();
    let Some(state) = state else {
        return statements.map(ToString::to_string).collect::<Vec<_>>().join(" ").into();
    };
    let mut texts: Vec<String> = statements
        .filter(|statement| !is_init(statement.head().and_then(Sexpr::head)))
        .map(ToString::to_string)
        .collect();
    let mut fluents = Vec::new();
    session.fluents(state, &mut fluents);
    let mut inits: Vec<String> =
        fluents.into_iter().map(|fluent| format!("(init {})", session.fluent_term(fluent))).collect();
    // The numbers of fluents depend on what was met before.
    inits.sort_unstable();
    texts.extend(inits);
    texts.join(" ").into()
}

#[cfg(test)]
mod tests {
    use gdl::{ReadOptions, Rules};
    use reasoner::{Interrupt, Limits, Reasoner};
    use reasoner_native::Interpreter;

    use super::*;
    use crate::game_source::GameArgs;
    use crate::golden_text;

    fn load(name: &str) -> Game {
        GameArgs { game: name.to_owned(), reading: Default::default() }.load().unwrap()
    }

    fn session_of(rules: Arc<Rules>) -> <Interpreter as Reasoner>::Session {
        let reasoner = Arc::new(Interpreter::new(rules).unwrap());
        reasoner.session(Limits::default(), &Interrupt::new()).unwrap()
    }

    #[test]
    fn the_rules_from_an_opening_begin_where_it_ends() {
        for name in ["tic-tac-toe", "connect-four", "checkers-small", "goofspiel-small", "hanoi"] {
            let game = load(name);
            let mut session = session_of(Arc::clone(&game.rules));
            let moves = Opening { plies: 3, seed: 5 }.draw(&mut session).unwrap();
            assert_eq!(moves.len(), 3, "{name}");
            let mut state = session.initial_state().unwrap();
            for joint_move in &moves {
                state = session.next_state(&state, joint_move).unwrap();
            }
            let text = rules_from(&game, &mut session, Some(&state));
            let description = Description::read(&text, ReadOptions::default()).unwrap();
            let mut there = session_of(Arc::new(Rules::from_description(&description).unwrap()));
            let begin = there.initial_state().unwrap();
            assert_eq!(golden_text::facts(&mut there, &begin), golden_text::facts(&mut session, &state));
            assert_eq!(golden_text::roles(there.roles()), golden_text::roles(session.roles()));
            assert_eq!(
                golden_text::legal(&mut there, &begin).unwrap(),
                golden_text::legal(&mut session, &state).unwrap()
            );
        }
    }

    #[test]
    fn rules_that_ask_for_init_are_known() {
        for (text, asks) in [
            ("(init (p a)) (<= (init (p ?x)) (q ?x)) (<= (next (p ?x)) (true (p ?x)))", false),
            ("(<= (base ?x) (init ?x))", true),
            ("(<= (legal ?r noop) (role ?r) (or (p ?r) (not (INIT (p ?r)))))", true),
        ] {
            let description = Description::read(text, ReadOptions::default()).unwrap();
            assert_eq!(asks_for_init(&description), asks, "{text}");
        }
    }

    #[test]
    fn an_opening_never_ends_the_game() {
        let game = load("tic-tac-toe");
        let mut session = session_of(Arc::clone(&game.rules));
        for seed in 0..20 {
            // Nine marks fill the board, so that eight are the most.
            let moves = Opening { plies: 12, seed }.draw(&mut session).unwrap();
            assert!((6..=8).contains(&moves.len()), "{}", moves.len());
            assert_eq!(moves, Opening { plies: 12, seed }.draw(&mut session).unwrap());
        }
        // Nobody waits for as many tries as there are lengths.
        assert!((6..=8).contains(&Opening { plies: 1 << 40, seed: 1 }.draw(&mut session).unwrap().len()));
        let differing: std::collections::HashSet<_> =
            (0..20).map(|seed| Opening { plies: 2, seed }.draw(&mut session).unwrap()).collect();
        assert!(differing.len() > 10, "72 openings are equally likely");
    }
}
