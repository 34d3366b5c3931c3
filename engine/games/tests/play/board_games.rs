//! Board games against the same games in Rust.

use reasoner::{Expansion, GoalAnswer, Role, Session};

use crate::session;

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
