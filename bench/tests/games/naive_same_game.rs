//! SameGame as its rules are told, on rows of characters: an independent scorer of written lines.

/// A board as columns from the left, each from its lowest block on; a digit for each block.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NaiveSameGame {
    pub columns: Vec<Vec<u8>>,
}

const COLOURS: [&str; 5] = ["red", "green", "blue", "yellow", "violet"];

impl NaiveSameGame {
    /// From the lines of a file of boards.
    pub fn new(rows: &[&str]) -> NaiveSameGame {
        let rows: Vec<Vec<u8>> = rows
            .iter()
            .map(|row| row.split_whitespace().map(|word| word.parse().unwrap()).collect())
            .collect();
        let side = rows.len();
        let columns = (0..side).map(|column| (0..side).rev().map(|row| rows[row][column]).collect());
        NaiveSameGame { columns: columns.collect() }
    }

    fn at(&self, column: i32, row: i32) -> Option<u8> {
        self.columns.get(usize::try_from(column).ok()?)?.get(usize::try_from(row).ok()?).copied()
    }

    fn spread(&self, column: i32, row: i32, group: &mut Vec<(i32, i32)>) {
        if group.contains(&(column, row)) {
            return;
        }
        group.push((column, row));
        for (near_column, near_row) in
            [(column - 1, row), (column + 1, row), (column, row - 1), (column, row + 1)]
        {
            if self.at(near_column, near_row) == self.at(column, row) {
                self.spread(near_column, near_row, group);
            }
        }
    }

    /// The groups by the names of the moves that remove them, sorted.
    pub fn groups(&self) -> Vec<(String, Vec<(i32, i32)>)> {
        let mut groups = Vec::new();
        for column in 0..self.columns.len() as i32 {
            for row in 0..self.columns[column as usize].len() as i32 {
                let mut group = Vec::new();
                self.spread(column, row, &mut group);
                group.sort_unstable();
                if group.len() > 1 && group[0] == (column, row) {
                    let letter = char::from(b'a' + column as u8);
                    let colour = COLOURS[usize::from(self.at(column, row).unwrap())];
                    groups.push((format!("{letter}{}-{colour}-{}", row + 1, group.len()), group));
                }
            }
        }
        groups.sort_unstable();
        groups
    }

    /// The points for a group, which is removed.
    pub fn remove(&mut self, group: &[(i32, i32)]) -> i64 {
        for (column, blocks) in (0..).zip(&mut self.columns) {
            let mut row = -1;
            blocks.retain(|_| {
                row += 1;
                !group.contains(&(column, row))
            });
        }
        self.columns.retain(|column| !column.is_empty());
        (group.len() as i64 - 2).pow(2)
    }

    /// What there is for the blocks that are left.
    pub fn last_points(&self) -> i64 {
        if self.columns.is_empty() {
            return 1000;
        }
        let left =
            |colour: u8| self.columns.iter().flatten().filter(|&&block| block == colour).count() as i64;
        -(0..5).map(left).filter(|&n| n > 0).map(|n| (n - 2).pow(2)).sum::<i64>()
    }

    /// The score of a whole line of moves, or the first that cannot be played.
    pub fn score(&self, line: &[&str]) -> Result<i64, String> {
        let mut board = self.clone();
        let mut points = 0;
        for &name in line {
            let groups = board.groups();
            let (_, group) = groups.iter().find(|(known, _)| known == name).ok_or_else(|| name.to_owned())?;
            points += board.remove(group);
        }
        if !board.groups().is_empty() {
            return Err("the line ends too early".to_owned());
        }
        Ok(points + board.last_points())
    }
}
