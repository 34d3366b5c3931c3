//! The shipped games are valid, keep the laws, and have the trees that they should.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

mod board_games;
mod scripts;
mod trees;

use std::sync::Arc;

use daggerboard_games as games;
use gdl::check::{Verdict, check_text, verdict};
use gdl::{ReadOptions, Rules};
use reasoner::laws::check_playout;
use reasoner::{Expansion, Interrupt, Limits, Reasoner, Role, Session};
use reasoner_native::{Interpreter, InterpreterSession};

fn session(name: &str) -> InterpreterSession {
    let game = games::find(name).unwrap();
    let (description, _) = check_text(game.text, ReadOptions::default());
    let rules = Rules::from_description(&description.unwrap()).unwrap();
    let interpreter = Arc::new(Interpreter::new(Arc::new(rules)).unwrap());
    interpreter.session(Limits::default(), &Interrupt::new()).unwrap()
}

#[test]
fn all_are_valid_without_a_warning() {
    for game in games::all() {
        let (_, messages) = check_text(game.text, ReadOptions::default());
        assert_eq!(verdict(&messages), Verdict::Valid, "{}: {messages:#?}", game.name);
    }
}

#[test]
fn random_playouts_keep_the_laws() {
    for game in games::all() {
        let mut session = session(game.name);
        for seed in 0..20 {
            assert_eq!(check_playout(&mut session, seed, 300, 100).unwrap(), [], "{} seed {seed}", game.name);
        }
    }
}

#[test]
fn states_are_in_base_and_moves_in_input() {
    for game in games::all() {
        let mut session = session(game.name);
        let static_atoms = session_base_and_input(game.text);
        let mut dice = reasoner::Dice::new(7);
        let mut state = session.initial_state().unwrap();
        let mut expansion = Expansion::default();
        let n_roles = session.roles().len();
        loop {
            let mut fluents = Vec::new();
            session.fluents(&state, &mut fluents);
            for fluent in fluents {
                let text = format!("(base {})", session.fluent_term(fluent));
                assert!(static_atoms.contains(&text), "{}: {text}", game.name);
            }
            session.expand(&state, &mut expansion).unwrap();
            if expansion.terminal {
                break;
            }
            let mut joint_move = Vec::new();
            for role in Role::all(n_roles) {
                let legal = expansion.moves_of(role);
                for &a_move in legal {
                    let role_name = session.roles()[role.idx()].clone();
                    let text = format!("(input {role_name} {})", session.move_term(a_move));
                    assert!(static_atoms.contains(&text), "{}: {text}", game.name);
                }
                joint_move.push(legal[dice.below(legal.len())]);
            }
            state = session.next_state(&state, &joint_move).unwrap();
        }
    }
}

/// The texts of all `base` and `input` atoms, asked for as the initial state and the moves of a sheet that
/// has their rules under other names.
fn session_base_and_input(text: &str) -> Vec<String> {
    let (description, _) = check_text(text, ReadOptions::default());
    let renamed: String = description
        .unwrap()
        .statements()
        .iter()
        .filter_map(|statement| {
            let head = statement.head().and_then(gdl::Sexpr::head)?;
            let text = statement.to_string();
            match head {
                "init" | "next" | "legal" | "goal" | "terminal" => None,
                "base" => Some(close_head(&text.replacen("(base ", "(init (base ", 1))),
                "input" => Some(close_head(&text.replacen("(input ", "(init (input ", 1))),
                _ => Some(text),
            }
        })
        .collect::<Vec<_>>()
        .join("\n");
    let whole = renamed
        + "(<= (legal ?r m) (role ?r)) (<= (goal ?r 0) (role ?r)) (<= terminal (true never)) (init never)";
    let (description, _) = check_text(&whole, ReadOptions::default());
    let rules = Rules::from_description(&description.unwrap()).unwrap();
    let interpreter = Arc::new(Interpreter::new(Arc::new(rules)).unwrap());
    let mut session = interpreter.session(Limits::default(), &Interrupt::new()).unwrap();
    let state = session.initial_state().unwrap();
    let mut fluents = Vec::new();
    session.fluents(&state, &mut fluents);
    fluents.into_iter().map(|fluent| session.fluent_term(fluent).to_string()).collect()
}

/// Closes the parenthesis that was opened around the head, which is the first whole expression.
fn close_head(text: &str) -> String {
    let start = text.find("(init ").unwrap();
    let mut depth = 0;
    for (at, c) in text.char_indices().skip_while(|&(at, _)| at <= start) {
        depth += i32::from(c == '(') - i32::from(c == ')');
        if c == ')' && depth == 0 {
            return format!("{}){}", &text[..=at], &text[at + 1..]);
        }
    }
    text.into()
}
