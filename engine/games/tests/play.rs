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
    // Any lamp at any time; the order of presses does not count, and a lamp pressed twice is not pressed.
    let lights_out = counts("lights-out", 2);
    assert_eq!(lights_out.leaves, [25, 625]);
    assert_eq!(lights_out.distinct, [25, 25 * 24 / 2 + 1]);
    assert_eq!(counts("nim", 1).leaves, [3 + 4 + 5]);
    // The smallest disc to two pegs; then it again, to two pegs, or the second to the one left.
    assert_eq!(counts("hanoi", 2).leaves, [2, 6]);
    assert_eq!(counts("hex-5x5", 3).leaves, [25, 600, 13800]);
    assert_eq!(counts("three-in-a-row-three", 3).leaves, [16, 240, 3360]);
    assert_eq!(counts("rock-paper-scissors", 9).leaves, [9, 81, 729]);
    assert_eq!(counts("rock-paper-scissors", 1).distinct, [3]);
    assert_eq!(counts("goofspiel-small", 9).leaves, [25, 400, 3600, 14400, 14400]);
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
    assert_eq!(play("goofspiel-small", bids), Some(vec![One(100), One(0)]));
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

/// A solution of the length that the rulesheet calls the shortest; it was found by a search in breadth.
#[test]
fn eight_puzzle_is_solved_in_18_moves() {
    let tiles = [7, 5, 1, 8, 5, 7, 6, 5, 8, 1, 7, 8, 4, 2, 1, 4, 5, 6];
    let moves: Vec<String> = tiles.iter().map(|tile| format!("(slide {tile})")).collect();
    let joint_moves: Vec<[&str; 1]> = moves.iter().map(|text| [text.as_str()]).collect();
    let joint_moves: Vec<&[&str]> = joint_moves.iter().map(|joint_move| &joint_move[..]).collect();
    assert_eq!(play("eight-puzzle", &joint_moves), Some(vec![GoalAnswer::One(100)]));
    assert_eq!(play("eight-puzzle", &joint_moves[..17]), None);
}

/// A game for two who move in turn, written down in Rust; a board is indexed by column and row from 0.
trait Model: Clone {
    /// Who is to move.
    fn turn(&self) -> usize;
    /// The moves with the states that they lead to, unless the game is over.
    fn moves(&self) -> Vec<(String, Self)>;
    /// The goals if the game is over.
    fn end(&self) -> Option<[u8; 2]>;
}

fn won_by(side: usize) -> Option<[u8; 2]> {
    Some(if side == 0 { [100, 0] } else { [0, 100] })
}

/// Plays at random by the rulesheet and the model: moves, ends and goals have to agree all the way.
fn walk_together<M: Model>(name: &str, initial: &M, n_games: u64) {
    let mut session = session(name);
    let mut expansion = Expansion::default();
    let roles: Vec<Role> = Role::all(2).collect();
    for seed in 0..n_games {
        let mut dice = reasoner::Dice::new(seed);
        let mut model = initial.clone();
        let mut state = session.initial_state().unwrap();
        loop {
            session.expand(&state, &mut expansion).unwrap();
            let end = model.end();
            assert_eq!(expansion.terminal, end.is_some(), "{name} seed {seed}");
            if let Some(goals) = end {
                assert_eq!(
                    expansion.goals,
                    goals.map(|goal| GoalAnswer::One(goal.into())),
                    "{name} seed {seed}"
                );
                break;
            }
            let mover = model.turn();
            let mut expected = model.moves();
            expected.sort_by(|a, b| a.0.cmp(&b.0));
            let mut legal: Vec<_> = expansion
                .moves_of(roles[mover])
                .iter()
                .map(|&a_move| (session.move_term(a_move).to_string(), a_move))
                .collect();
            legal.sort_by(|a, b| a.0.cmp(&b.0));
            assert!(
                legal.iter().map(|(text, _)| text).eq(expected.iter().map(|(text, _)| text)),
                "{name} seed {seed}"
            );
            let waits = expansion.moves_of(roles[1 - mover]);
            assert_eq!(waits.len(), 1, "{name} seed {seed}");
            let choice = dice.below(legal.len());
            let mut joint_move = vec![waits[0]; 2];
            joint_move[mover] = legal[choice].1;
            state = session.next_state(&state, &joint_move).unwrap();
            model = expected.swap_remove(choice).1;
        }
    }
}

/// A column and a row.
type Square = (i32, i32);

/// All pairs of column and row.
fn squares(n_cols: i32, n_rows: i32) -> impl Iterator<Item = Square> {
    (0..n_cols).flat_map(move |col| (0..n_rows).map(move |row| (col, row)))
}

type Board<P> = std::collections::BTreeMap<Square, P>;

#[derive(Clone)]
struct Breakthrough {
    size: i32,
    men: Board<usize>,
    turn: usize,
}

impl Breakthrough {
    fn new(size: i32) -> Self {
        let home = |row| if row < 2 { Some(0) } else { (row >= size - 2).then_some(1) };
        let men = squares(size, size).filter_map(|at| home(at.1).map(|side| (at, side))).collect();
        Breakthrough { size, men, turn: 0 }
    }
}

impl Model for Breakthrough {
    fn turn(&self) -> usize {
        self.turn
    }

    fn moves(&self) -> Vec<(String, Self)> {
        let ahead = if self.turn == 0 { 1 } else { -1 };
        let mut moves = Vec::new();
        for (&(col, row), _) in self.men.iter().filter(|&(_, &side)| side == self.turn) {
            for side in -1..=1 {
                let to = (col + side, row + ahead);
                let held_by = self.men.get(&to).copied();
                let open = if side == 0 { held_by.is_none() } else { held_by != Some(self.turn) };
                if open && (0..self.size).contains(&to.0) {
                    let mut after = self.clone();
                    after.men.remove(&(col, row));
                    after.men.insert(to, self.turn);
                    after.turn = 1 - self.turn;
                    moves.push((format!("(move {} {} {} {})", col + 1, row + 1, to.0 + 1, to.1 + 1), after));
                }
            }
        }
        moves
    }

    fn end(&self) -> Option<[u8; 2]> {
        (0..2)
            .find(|&side| {
                let target = if side == 0 { self.size - 1 } else { 0 };
                let across = self.men.iter().any(|(at, &man)| man == side && at.1 == target);
                across || self.men.values().all(|&man| man == side)
            })
            .and_then(won_by)
    }
}

#[derive(Clone, Copy, PartialEq)]
struct Piece {
    side: usize,
    king: bool,
}

#[derive(Clone)]
struct Checkers {
    pieces: Board<Piece>,
    turn: usize,
    /// The piece that has to jump on.
    bound: Option<Square>,
    count: u32,
}

impl Checkers {
    fn new() -> Self {
        let home = |row| if row < 2 { Some(0) } else { (row >= 4).then_some(1) };
        let pieces = squares(6, 6)
            .filter(|(col, row)| (col + row) % 2 == 0)
            .filter_map(|at| home(at.1).map(|side| (at, Piece { side, king: false })))
            .collect();
        Checkers { pieces, turn: 0, bound: None, count: 0 }
    }

    fn free(&self, at: Square) -> bool {
        (0..6).contains(&at.0) && (0..6).contains(&at.1) && !self.pieces.contains_key(&at)
    }

    /// Where a piece may go by steps, or by jumps with what they take.
    fn targets(&self, from: Square, jumps: bool) -> Vec<(Square, Option<Square>)> {
        let piece = self.pieces[&from];
        let ahead = if piece.side == 0 { 1 } else { -1 };
        [(-1, -1), (-1, 1), (1, -1), (1, 1)]
            .into_iter()
            .filter(|&(_, up)| piece.king || up == ahead)
            .filter_map(|(aside, up)| {
                let near = (from.0 + aside, from.1 + up);
                let far = (near.0 + aside, near.1 + up);
                if !jumps {
                    return self.free(near).then_some((near, None));
                }
                let over_other = self.pieces.get(&near).is_some_and(|other| other.side != piece.side);
                (over_other && self.free(far)).then_some((far, Some(near)))
            })
            .collect()
    }
}

impl Model for Checkers {
    fn turn(&self) -> usize {
        self.turn
    }

    fn moves(&self) -> Vec<(String, Self)> {
        let own: Vec<_> =
            self.pieces.iter().filter(|(_, piece)| piece.side == self.turn).map(|(&at, _)| at).collect();
        let jumps = own.iter().any(|&at| !self.targets(at, true).is_empty());
        let mut moves = Vec::new();
        for from in own.into_iter().filter(|&at| self.bound.is_none_or(|bound| bound == at)) {
            for (to, taken) in self.targets(from, jumps) {
                let mut after = self.clone();
                let was = after.pieces.remove(&from).unwrap();
                taken.map(|at| after.pieces.remove(&at));
                let king = was.king || to.1 == if self.turn == 0 { 5 } else { 0 };
                after.pieces.insert(to, Piece { king, ..was });
                let goes_on = jumps && king == was.king && !after.targets(to, true).is_empty();
                after.bound = goes_on.then_some(to);
                after.turn = if goes_on { self.turn } else { 1 - self.turn };
                after.count += 1;
                let verb = if jumps { "jump" } else { "step" };
                let text = format!("({verb} {} {} {} {})", from.0 + 1, from.1 + 1, to.0 + 1, to.1 + 1);
                moves.push((text, after));
            }
        }
        moves
    }

    fn end(&self) -> Option<[u8; 2]> {
        if self.moves().is_empty() { won_by(1 - self.turn) } else { (self.count == 60).then_some([50, 50]) }
    }
}

#[derive(Clone)]
struct ConnectFour {
    discs: Board<usize>,
    turn: usize,
}

impl Model for ConnectFour {
    fn turn(&self) -> usize {
        self.turn
    }

    fn moves(&self) -> Vec<(String, Self)> {
        let height = |col| (0..6).find(|&row| !self.discs.contains_key(&(col, row)));
        (0..7)
            .filter_map(|col| {
                let mut after = self.clone();
                after.discs.insert((col, height(col)?), self.turn);
                after.turn = 1 - self.turn;
                Some((format!("(drop {})", col + 1), after))
            })
            .collect()
    }

    fn end(&self) -> Option<[u8; 2]> {
        let lines = squares(7, 6).flat_map(|at| [(1, 0), (0, 1), (1, 1), (1, -1)].map(|step| (at, step)));
        let four = |((col, row), (right, up)): (Square, Square), side| {
            (0..4).all(|n| self.discs.get(&(col + n * right, row + n * up)) == Some(&side))
        };
        let last = 1 - self.turn;
        if lines.into_iter().any(|line| four(line, last)) {
            return won_by(last);
        }
        (self.discs.len() == 42).then_some([50, 50])
    }
}

#[derive(Clone)]
struct Hex {
    stones: Board<usize>,
    turn: usize,
}

impl Model for Hex {
    fn turn(&self) -> usize {
        self.turn
    }

    fn moves(&self) -> Vec<(String, Self)> {
        squares(5, 5)
            .filter(|at| !self.stones.contains_key(at))
            .map(|at| {
                let mut after = self.clone();
                after.stones.insert(at, self.turn);
                after.turn = 1 - self.turn;
                (format!("(put {} {})", at.0 + 1, at.1 + 1), after)
            })
            .collect()
    }

    fn end(&self) -> Option<[u8; 2]> {
        let last = 1 - self.turn;
        let along = |(col, row): Square| if last == 0 { col } else { row };
        let mut reached = std::collections::BTreeSet::new();
        let mut waiting: Vec<_> = squares(5, 5).filter(|&at| along(at) == 0).collect();
        while let Some((col, row)) = waiting.pop() {
            if self.stones.get(&(col, row)) == Some(&last) && reached.insert((col, row)) {
                let steps = [(1, 0), (-1, 0), (0, 1), (0, -1), (1, -1), (-1, 1)];
                waiting.extend(steps.map(|(right, up)| (col + right, row + up)));
            }
        }
        reached.iter().any(|&at| along(at) == 4).then(|| won_by(last)).flatten()
    }
}

#[test]
fn board_games_agree_with_the_same_games_in_rust() {
    walk_together("breakthrough", &Breakthrough::new(8), 20);
    walk_together("breakthrough-small", &Breakthrough::new(5), 100);
    walk_together("checkers-small", &Checkers::new(), 200);
    walk_together("connect-four", &ConnectFour { discs: Board::new(), turn: 0 }, 100);
    walk_together("hex-5x5", &Hex { stones: Board::new(), turn: 0 }, 100);
}
