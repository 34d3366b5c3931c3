//! The shipped games are valid, keep the laws, and have the trees that they should.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::sync::Arc;

use daggerboard_games as games;
use gdl::check::{Verdict, check_text, verdict};
use gdl::{ReadOptions, Rules, Term};
use reasoner::laws::check_playout;
use reasoner::perft::{Perft, perft};
use reasoner::{Expansion, GoalAnswer, Interrupt, Limits, Reasoner, Role, Session};
use reasoner_native::{Interpreter, InterpreterSession};

fn session(name: &str) -> InterpreterSession {
    let game = games::find(name).unwrap();
    let (description, _) = check_text(game.text, ReadOptions::default());
    let rules = Rules::from_description(&description.unwrap()).unwrap();
    let interpreter = Arc::new(Interpreter::new(Arc::new(rules)).unwrap());
    interpreter.session(Limits::default(), &Interrupt::new()).unwrap()
}

fn counts(name: &str, depth: u32) -> Perft {
    let mut session = session(name);
    let root = session.initial_state().unwrap();
    perft(&mut session, &root, depth, |_, _| {}).unwrap()
}

/// Plays the moves, one text per role in each joint move, and returns the goals if the game ends there.
fn play(name: &str, joint_moves: &[&[&str]]) -> Option<Vec<GoalAnswer>> {
    let mut session = session(name);
    let mut state = session.initial_state().unwrap();
    let mut expansion = Expansion::default();
    for texts in joint_moves {
        session.expand(&state, &mut expansion).unwrap();
        assert!(!expansion.terminal, "{name} ends before {texts:?}");
        let mut joint_move = Vec::new();
        for (role_idx, text) in texts.iter().enumerate() {
            let a_move = session.move_of(&Term::parse(text).unwrap()).unwrap();
            let role = Role::all(texts.len()).nth(role_idx).unwrap();
            assert!(expansion.moves_of(role).contains(&a_move), "{name}: {text} is not legal");
            joint_move.push(a_move);
        }
        state = session.next_state(&state, &joint_move).unwrap();
    }
    session.expand(&state, &mut expansion).unwrap();
    expansion.terminal.then(|| expansion.goals.clone())
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

/// Known counts: tic-tac-toe has 255,168 games and 5,478 positions; connect four's positions by number of
/// discs are those of J. Tromp (John's Connect Four Playground); the others are counted by hand.
#[test]
fn trees_have_the_known_sizes() {
    let tic_tac_toe = counts("tic-tac-toe", 9);
    assert_eq!(tic_tac_toe.leaves, [9, 72, 504, 3024, 15120, 56160, 154_944, 255_168, 255_168]);
    assert_eq!(tic_tac_toe.distinct, [9, 72, 252, 756, 1260, 1520, 1140, 390, 78]);
    let connect_four = counts("connect-four", 7);
    assert_eq!(connect_four.leaves, [7, 49, 343, 2401, 16807, 117_649, 823_536]);
    assert_eq!(connect_four.distinct, [7, 49, 238, 1120, 4263, 16422, 54859]);
    assert_eq!(counts("breakthrough", 2).leaves, [22, 484]);
    assert_eq!(counts("hex-5x5", 3).leaves, [25, 600, 13800]);
    assert_eq!(counts("three-in-a-row-three", 3).leaves, [16, 240, 3360]);
    assert_eq!(counts("rock-paper-scissors", 9).leaves, [9, 81, 729]);
    assert_eq!(counts("rock-paper-scissors", 1).distinct, [3]);
    assert_eq!(counts("bidding", 9).leaves, [25, 400, 3600, 14400, 14400]);
    let left_right = counts("left-right", 20);
    assert_eq!(left_right.leaves.last(), Some(&(1 << 20)));
    assert_eq!(left_right.distinct.last(), Some(&21));
}

/// Leaves of the tree of a puzzle written down in Rust, cut at a depth.
fn leaves<S>(state: &S, depth: u32, successors: &impl Fn(&S) -> Vec<S>) -> u64 {
    let next = successors(state);
    if depth == 0 || next.is_empty() {
        return 1;
    }
    next.iter().map(|state| leaves(state, depth - 1, successors)).sum()
}

#[test]
fn trees_agree_with_the_same_games_in_rust() {
    let nim = |heaps: &[u32; 3]| -> Vec<[u32; 3]> {
        let take = |heap: usize, n: u32| {
            let mut heaps = *heaps;
            heaps[heap] -= n;
            heaps
        };
        (0..3).flat_map(|heap| (1..=heaps[heap]).map(move |n| take(heap, n))).collect()
    };
    let knight = |(seen, col, row): &(u32, i32, i32)| -> Vec<(u32, i32, i32)> {
        let jumps = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)];
        let to = jumps.iter().map(|(dc, dr)| (col + dc, row + dr));
        to.filter(|(c, r)| (0..5).contains(c) && (0..5).contains(r) && seen >> (c + 5 * r) & 1 == 0)
            .map(|(c, r)| (seen | 1 << (c + 5 * r), c, r))
            .collect()
    };
    let hanoi = |pegs: &[usize; 5]| -> Vec<[usize; 5]> {
        let mut next = Vec::new();
        for disc in 0..5 {
            for peg in 0..3 {
                let free = |at: usize| pegs[..disc].iter().all(|&smaller| smaller != at);
                if peg != pegs[disc] && free(peg) && free(pegs[disc]) {
                    let mut pegs = *pegs;
                    pegs[disc] = peg;
                    next.push(pegs);
                }
            }
        }
        next
    };
    let last = |name: &str, depth| counts(name, depth).leaves.last().copied().unwrap();
    assert_eq!(last("nim", 12), leaves(&[3, 4, 5], 12, &nim));
    assert_eq!(last("knights-tour", 10), leaves(&(1, 0, 0), 10, &knight));
    assert_eq!(last("hanoi", 8), leaves(&[0; 5], 8, &hanoi));
}

#[test]
fn scripted_games_end_as_they_should() {
    use GoalAnswer::One;
    let win = play(
        "tic-tac-toe",
        &[
            &["(fill e)", "wait"],
            &["wait", "(fill a)"],
            &["(fill c)", "wait"],
            &["wait", "(fill b)"],
            &["(fill g)", "wait"],
        ],
    );
    assert_eq!(win, Some(vec![One(100), One(0)]));
    assert_eq!(play("tic-tac-toe", &[&["(fill e)", "wait"]]), None);
    let lights: &[&[&str]] = &[&["(press 1 1)"], &["(press 3 2)"], &["(press 3 3)"], &["(press 4 5)"]];
    assert_eq!(play("lights-out", lights), Some(vec![One(100)]));
    let bids: &[&[&str]] = &[
        &["(bid 4)", "(bid 3)"],
        &["(bid 5)", "(bid 4)"],
        &["(bid 1)", "(bid 1)"],
        &["(bid 3)", "(bid 5)"],
        &["(bid 2)", "(bid 2)"],
    ];
    assert_eq!(play("bidding", bids), Some(vec![One(100), One(0)]));
}

/// The moves of discs 0 to `disc` from one peg to another.
fn hanoi_moves(
    disc: usize,
    from: &'static str,
    to: &'static str,
    via: &'static str,
    moves: &mut Vec<String>,
) {
    if disc == 0 {
        return;
    }
    hanoi_moves(disc - 1, from, via, to, moves);
    moves.push(format!("(move {disc} {to})"));
    hanoi_moves(disc - 1, via, to, from, moves);
}

#[test]
fn hanoi_is_solved_in_31_moves() {
    let mut moves = Vec::new();
    hanoi_moves(5, "left", "right", "middle", &mut moves);
    let joint_moves: Vec<[&str; 1]> = moves.iter().map(|text| [text.as_str()]).collect();
    let joint_moves: Vec<&[&str]> = joint_moves.iter().map(|joint_move| &joint_move[..]).collect();
    assert_eq!(joint_moves.len(), 31);
    assert_eq!(play("hanoi", &joint_moves), Some(vec![GoalAnswer::One(100)]));
}
