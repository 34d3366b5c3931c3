//! Small games that can be looked through to their ends: rows, paths, and matrices.

use super::{Game, NOOP};

/// Two roles put stones on a board by turns; whoever has `length` in a row first wins, a full board is even.
#[derive(Debug)]
pub struct InARow {
    pub width: usize,
    pub height: usize,
    pub length: usize,
    /// Whether stones drop to the lowest free cell of their column, as in connect four.
    pub do_drop: bool,
}

/// Stones by cell, 0 for none, and whose turn it is.
pub type Board = (Vec<u8>, u8);

impl InARow {
    fn has_row(&self, board: &[u8], role: usize) -> bool {
        let at = |x: isize, y: isize| {
            let is_inside = x >= 0 && y >= 0 && x < self.width as isize && y < self.height as isize;
            is_inside && board[y as usize * self.width + x as usize] == role as u8 + 1
        };
        let cells = || (0..self.height as isize).flat_map(|y| (0..self.width as isize).map(move |x| (x, y)));
        cells().any(|(x, y)| {
            [(1, 0), (0, 1), (1, 1), (1, -1)]
                .iter()
                .any(|&(dx, dy)| (0..self.length as isize).all(|i| at(x + i * dx, y + i * dy)))
        })
    }
}

impl Game for InARow {
    type State = Board;

    fn n_roles(&self) -> usize {
        2
    }

    fn initial(&self) -> Board {
        (vec![0; self.width * self.height], 0)
    }

    fn is_terminal(&self, (board, _): &Board) -> bool {
        !board.contains(&0) || (0..2).any(|role| self.has_row(board, role))
    }

    fn legal(&self, (board, mover): &Board, role: usize, moves: &mut Vec<u32>) {
        if role != usize::from(*mover) {
            return moves.push(NOOP);
        }
        let is_supported = |cell: usize| cell < self.width || board[cell - self.width] != 0;
        moves.extend(
            (0..board.len())
                .filter(|&cell| board[cell] == 0 && (!self.do_drop || is_supported(cell)))
                .map(|cell| cell as u32),
        );
    }

    fn next(&self, (board, mover): &Board, joint_move: &[u32]) -> Board {
        let mut board = board.clone();
        board[joint_move[usize::from(*mover)] as usize] = mover + 1;
        (board, 1 - mover)
    }

    fn goal(&self, (board, _): &Board, role: usize) -> u32 {
        match (self.has_row(board, role), self.has_row(board, 1 - role)) {
            (true, _) => 100,
            (_, true) => 0,
            _ => 50,
        }
    }
}

/// Hex on a rhombus: the first role joins top and bottom, the second left and right.
#[derive(Debug)]
pub struct SmallHex(pub usize);

impl SmallHex {
    fn is_joined(&self, board: &[u8], role: usize) -> bool {
        let n = self.0 as isize;
        let stone = role as u8 + 1;
        let is_first = |x: isize, y: isize| if role == 0 { y == 0 } else { x == 0 };
        let is_last = |x: isize, y: isize| if role == 0 { y == n - 1 } else { x == n - 1 };
        let mut reached = vec![false; board.len()];
        let mut open: Vec<(isize, isize)> =
            (0..n * n).map(|i| (i % n, i / n)).filter(|&(x, y)| is_first(x, y)).collect();
        while let Some((x, y)) = open.pop() {
            let is_inside = x >= 0 && y >= 0 && x < n && y < n;
            if !is_inside || board[(y * n + x) as usize] != stone || reached[(y * n + x) as usize] {
                continue;
            }
            reached[(y * n + x) as usize] = true;
            if is_last(x, y) {
                return true;
            }
            open.extend(
                [(1, 0), (-1, 0), (0, 1), (0, -1), (1, -1), (-1, 1)].map(|(dx, dy)| (x + dx, y + dy)),
            );
        }
        false
    }
}

impl Game for SmallHex {
    type State = Board;

    fn n_roles(&self) -> usize {
        2
    }

    fn initial(&self) -> Board {
        (vec![0; self.0 * self.0], 0)
    }

    fn is_terminal(&self, (board, _): &Board) -> bool {
        (0..2).any(|role| self.is_joined(board, role))
    }

    fn legal(&self, (board, mover): &Board, role: usize, moves: &mut Vec<u32>) {
        if role != usize::from(*mover) {
            return moves.push(NOOP);
        }
        moves.extend((0..board.len()).filter(|&cell| board[cell] == 0).map(|cell| cell as u32));
    }

    fn next(&self, (board, mover): &Board, joint_move: &[u32]) -> Board {
        let mut board = board.clone();
        board[joint_move[usize::from(*mover)] as usize] = mover + 1;
        (board, 1 - mover)
    }

    fn goal(&self, (board, _): &Board, role: usize) -> u32 {
        if self.is_joined(board, role) { 100 } else { 0 }
    }
}

/// Two roles choose a row and a column at once; the first gets what stands there, the second `sum` less that.
#[derive(Debug)]
pub struct Matrix {
    pub rows: Vec<Vec<u32>>,
    pub sum: u32,
}

impl Game for Matrix {
    type State = Option<(u32, u32)>;

    fn n_roles(&self) -> usize {
        2
    }

    fn initial(&self) -> Self::State {
        None
    }

    fn is_terminal(&self, state: &Self::State) -> bool {
        state.is_some()
    }

    fn legal(&self, _: &Self::State, role: usize, moves: &mut Vec<u32>) {
        moves.extend(0..if role == 0 { self.rows.len() } else { self.rows[0].len() } as u32);
    }

    fn next(&self, _: &Self::State, joint_move: &[u32]) -> Self::State {
        Some((joint_move[0], joint_move[1]))
    }

    fn goal(&self, state: &Self::State, role: usize) -> u32 {
        let here = state.map_or(0, |(row, column)| self.rows[row as usize][column as usize]);
        if role == 0 { here } else { self.sum - here }
    }
}
