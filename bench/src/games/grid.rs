//! Square boards of up to 19 by 19 points: points, their names, sets of them, and the two colours.

use reasoner::{Move, Role};

/// The smallest board: on a single point there is nothing to decide.
pub const MIN_SIZE: u16 = 2;
/// The largest board, that of Go.
pub const MAX_SIZE: u16 = 19;
/// The first number that is no point's index on any board, the frames around them included.
pub const BEYOND_POINTS: u32 = (MAX_SIZE as u32 + 2) * (MAX_SIZE as u32 + 2);
/// How many indices points have on the largest board.
pub const N_INDICES: usize = BEYOND_POINTS as usize;

/// A place on a board by index, row by row; a frame one point wide surrounds the board, so that every point of the
/// board has all its neighbours among the indices, and 0 is never on the board.
pub type Point = u16;

/// The move of the role that has no choice, since the other one is to move.
pub const NOOP: Move = Move(BEYOND_POINTS);

/// Whose stone. Black moves first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Colour {
    /// Role 0.
    Black,
    /// Role 1.
    White,
}

impl Colour {
    /// Both, in role order.
    pub const BOTH: [Colour; 2] = [Colour::Black, Colour::White];

    /// The index of the role.
    pub fn idx(self) -> usize {
        match self {
            Colour::Black => 0,
            Colour::White => 1,
        }
    }

    /// The opponent.
    #[must_use]
    pub fn other(self) -> Colour {
        match self {
            Colour::Black => Colour::White,
            Colour::White => Colour::Black,
        }
    }

    /// The role's name.
    pub fn name(self) -> &'static str {
        match self {
            Colour::Black => "black",
            Colour::White => "white",
        }
    }

    /// The colour that a role plays.
    pub fn of(role: Role) -> Colour {
        Colour::BOTH[role.idx() & 1]
    }
}

/// What is at a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Nothing, on the board.
    Empty,
    /// A stone.
    Stone(Colour),
    /// The frame around the board.
    Frame,
}

/// A board's size, and how its columns are lettered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    size: u16,
    letters: &'static str,
}

impl Grid {
    /// The letters of Hex.
    pub const ALL_LETTERS: &'static str = "abcdefghijklmnopqrs";
    /// The letters of Go, where none can be taken for a 1.
    pub const LETTERS_WITHOUT_I: &'static str = "abcdefghjklmnopqrst";

    /// A board of `size` by `size` points, [`MIN_SIZE`] to [`MAX_SIZE`].
    ///
    /// # Panics
    /// If there is no such size.
    pub fn new(size: u16, letters: &'static str) -> Grid {
        assert!((MIN_SIZE..=MAX_SIZE).contains(&size), "no board has the size {size}");
        Grid { size, letters }
    }

    /// Points per side.
    pub fn size(self) -> u16 {
        self.size
    }

    /// From a point to the one below it.
    pub fn stride(self) -> u16 {
        self.size + 2
    }

    /// The point of a row and a column, both from 1 on; 0 and `size + 1` are in the frame.
    pub fn point(self, row: u16, column: u16) -> Point {
        row * self.stride() + column
    }

    /// All points of the board, row by row.
    pub fn points(self) -> impl Iterator<Item = Point> + Clone {
        (1..=self.size).flat_map(move |row| (1..=self.size).map(move |column| self.point(row, column)))
    }

    /// Whether a point is on the board, and not in its frame or beyond.
    pub fn contains(self, point: Point) -> bool {
        let on_board = 1..=self.size;
        on_board.contains(&(point / self.stride())) && on_board.contains(&(point % self.stride()))
    }

    /// The point that a move plays on, if it is a point of this board.
    pub fn point_of(self, a_move: Move) -> Option<Point> {
        Point::try_from(a_move.0).ok().filter(|&point| self.contains(point))
    }

    /// A point's name, such as `c3`: its column, then its row.
    pub fn name(self, point: Point) -> String {
        let (row, column) = (point / self.stride(), point % self.stride());
        let letter = self.letters.chars().nth(usize::from(column).wrapping_sub(1)).unwrap_or('?');
        format!("{letter}{row}")
    }

    /// The point of a name.
    pub fn named(self, name: &str) -> Option<Point> {
        self.points().find(|&point| self.name(point) == name)
    }
}

/// The move that plays on a point.
pub fn move_to(point: Point) -> Move {
    Move(u32::from(point))
}

/// A set of points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PointSet([u64; N_INDICES.div_ceil(64)]);

impl PointSet {
    /// Adds a point.
    pub fn insert(&mut self, point: Point) {
        self.0[usize::from(point / 64)] |= 1 << (point % 64);
    }

    /// Whether a point is in the set.
    pub fn contains(&self, point: Point) -> bool {
        self.0[usize::from(point / 64)] >> (point % 64) & 1 == 1
    }

    /// The points in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = Point> + '_ {
        self.0.iter().zip((0u16..).step_by(64)).flat_map(|(&word, first)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros())?;
                left &= left - 1;
                // A bit of a word is below 64.
                Some(first + u16::try_from(bit).unwrap_or(0))
            })
        })
    }

    /// The points that are in one of two sets alone.
    #[must_use]
    pub fn difference(&self, other: &PointSet) -> PointSet {
        PointSet(std::array::from_fn(|idx| self.0[idx] ^ other.0[idx]))
    }

    /// Whether no point is in both.
    pub fn is_disjoint(&self, other: &PointSet) -> bool {
        self.0.iter().zip(&other.0).all(|(ours, theirs)| ours & theirs == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_give_points_and_back() {
        for (letters, corner) in [(Grid::ALL_LETTERS, "s19"), (Grid::LETTERS_WITHOUT_I, "t19")] {
            let grid = Grid::new(19, letters);
            assert_eq!(grid.points().count(), 361);
            assert!(grid.points().all(|point| grid.named(&grid.name(point)) == Some(point)));
            assert_eq!(grid.name(grid.point(1, 1)), "a1");
            assert_eq!(grid.name(grid.point(19, 19)), corner);
            assert_eq!(grid.name(grid.point(2, 3)), "c2");
        }
        let small = Grid::new(2, Grid::ALL_LETTERS);
        assert!(
            ["", "a", "a0", "a3", "c1", "A1", "a01", "a1 ", "1a", "é1"]
                .iter()
                .all(|name| small.named(name).is_none())
        );
    }

    #[test]
    fn only_points_of_the_board_are_on_it() {
        for size in [2, 5, 19] {
            let grid = Grid::new(size, Grid::ALL_LETTERS);
            let inside: Vec<Point> = (0..u16::MAX).filter(|&point| grid.contains(point)).collect();
            assert_eq!(inside, grid.points().collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_set_holds_what_was_put_in() {
        let points = [1, 63, 64, 200, 440];
        let mut set = PointSet::default();
        points.iter().for_each(|&point| set.insert(point));
        assert_eq!(set.iter().collect::<Vec<_>>(), points);
        assert!((0..441).all(|point| set.contains(point) == points.contains(&point)));
        let mut one = PointSet::default();
        one.insert(64);
        assert_eq!(set.difference(&one).iter().collect::<Vec<_>>(), [1, 63, 200, 440]);
        assert!(!set.is_disjoint(&one) && set.difference(&one).is_disjoint(&one));
    }
}
