//! Hex as simply as it can be written: cells by row and column, and a search for a way across.

/// A board with who is where; row by row.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NaiveHex {
    pub size: i32,
    pub cells: Vec<Option<usize>>,
}

impl NaiveHex {
    pub fn new(size: i32) -> NaiveHex {
        NaiveHex { size, cells: vec![None; (size * size) as usize] }
    }

    fn at(&self, row: i32, column: i32) -> Option<usize> {
        let on_board = 0..self.size;
        if on_board.contains(&row) && on_board.contains(&column) {
            self.cells[(row * self.size + column) as usize]
        } else {
            None
        }
    }

    /// Whether role 0 has joined the first row to the last, or role 1 the first column to the last.
    pub fn has_joined(&self, role: usize) -> bool {
        let mut reached: Vec<(i32, i32)> = (0..self.size)
            .map(|idx| if role == 0 { (0, idx) } else { (idx, 0) })
            .filter(|&(row, column)| self.at(row, column) == Some(role))
            .collect();
        let mut next = 0;
        while next < reached.len() {
            let (row, column) = reached[next];
            for (down, right) in [(0, 1), (0, -1), (1, 0), (-1, 0), (1, -1), (-1, 1)] {
                let neighbour = (row + down, column + right);
                if self.at(neighbour.0, neighbour.1) == Some(role) && !reached.contains(&neighbour) {
                    reached.push(neighbour);
                }
            }
            next += 1;
        }
        reached.iter().any(|&(row, column)| [row, column][role] == self.size - 1)
    }

    pub fn winner(&self) -> Option<usize> {
        [0, 1].into_iter().find(|&role| self.has_joined(role))
    }

    /// The boards after each move of a role.
    pub fn successors(&self, role: usize) -> Vec<NaiveHex> {
        let mut boards = Vec::new();
        for cell in 0..self.cells.len() {
            if self.cells[cell].is_none() {
                let mut board = self.clone();
                board.cells[cell] = Some(role);
                boards.push(board);
            }
        }
        boards
    }
}
