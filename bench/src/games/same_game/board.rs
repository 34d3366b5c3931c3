//! Blocks, groups of them, and how they fall.

/// The largest board's side: a column of as many blocks of 4 bits fits 64 bits.
pub const MAX_SIDE: u16 = 15;
/// How many colours there can be.
pub const N_COLOURS: usize = 5;
/// Blocks on the largest board.
pub const MAX_BLOCKS: usize = (MAX_SIDE * MAX_SIDE) as usize;

/// From a block to the one beside it.
const STRIDE: usize = MAX_SIDE as usize + 1;
/// A frame of nothing surrounds the columns: one before them, one behind, and a row above that is below the next one.
const N_PLACES: usize = (MAX_SIDE as usize + 2) * STRIDE;
/// Nothing, where a block could be.
const EMPTY: u8 = 0;

/// A colour by number, 1 to [`N_COLOURS`]; 0 is no block.
pub type Colour = u8;

/// A place: `16 * column + row`, both from 0 on, the lowest row first.
pub type Cell = u8;

/// All blocks, column by column from the left, each from the lowest block on with 4 bits for each.
pub type Columns = [u64; MAX_SIDE as usize];

/// Blocks of one colour that hang together, at least two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Group {
    /// The lowest block of its leftmost column.
    pub cell: Cell,
    /// The blocks' colour.
    pub colour: Colour,
    /// How many there are.
    pub size: u8,
}

/// What removing `n` blocks is worth, and what `n` that are left cost (Schadd et al. 2012, section 2.1).
pub fn points_of(n: u32) -> u32 {
    n.abs_diff(2).pow(2)
}

/// Whether two blocks of a colour touch.
pub fn has_group(columns: &Columns) -> bool {
    // A bit for each row in which there is something.
    let rows = |column: u64| (column | column >> 1 | column >> 2 | column >> 3) & 0x0111_1111_1111_1111;
    let is_same = |one: u64, other: u64| rows(one) & !rows(one ^ other) != 0;
    columns.iter().any(|&column| is_same(column, column >> 4))
        || columns.windows(2).any(|pair| is_same(pair[0], pair[1]))
}

/// A board to play on.
#[derive(Debug, Clone)]
pub struct Board {
    blocks: [Colour; N_PLACES],
    n_columns: usize,
    /// Blocks of each colour, by its number.
    counts: [u32; N_COLOURS + 1],
    /// The way to the block that stands for the group, while groups are looked for.
    parents: [u16; N_PLACES],
    sizes: [u8; N_PLACES],
    open: Vec<u16>,
}

impl Board {
    /// A board without blocks.
    pub fn new() -> Board {
        Board {
            blocks: [EMPTY; N_PLACES],
            n_columns: 0,
            counts: [0; N_COLOURS + 1],
            parents: [0; N_PLACES],
            sizes: [0; N_PLACES],
            open: Vec::with_capacity(4 * MAX_BLOCKS),
        }
    }

    /// Replaces all blocks.
    #[allow(clippy::cast_possible_truncation, reason = "4 bits are taken")]
    pub fn set_up(&mut self, columns: &Columns) {
        self.blocks = [EMPTY; N_PLACES];
        self.counts = [0; N_COLOURS + 1];
        self.n_columns = columns.iter().take_while(|&&column| column != 0).count();
        for (column, first) in columns.iter().zip((STRIDE..).step_by(STRIDE)) {
            let mut left = *column;
            let mut place = first;
            while left != 0 {
                let colour = (left & 15) as Colour;
                self.blocks[place] = colour;
                self.counts[usize::from(colour)] += 1;
                place += 1;
                left >>= 4;
            }
        }
    }

    /// All blocks.
    pub fn columns(&self) -> Columns {
        std::array::from_fn(|column| {
            let first = (column + 1) * STRIDE;
            let rows = &self.blocks[first..first + STRIDE - 1];
            rows.iter().rev().fold(0, |bits, &colour| bits << 4 | u64::from(colour))
        })
    }

    /// Blocks of each colour, by its number.
    pub fn counts(&self) -> &[u32; N_COLOURS + 1] {
        &self.counts
    }

    /// What the blocks that are left cost, and what there is for none: positive where there is none.
    pub fn at_end(&self) -> i64 {
        if self.n_columns == 0 {
            return CLEARED;
        }
        -self.counts[1..].iter().filter(|&&n| n > 0).map(|&n| i64::from(points_of(n))).sum::<i64>()
    }

    /// Replaces `groups` by all there are, from left to right and from below.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "places are below 272, groups have at most 225 blocks"
    )]
    pub fn groups(&mut self, groups: &mut Vec<Group>) {
        groups.clear();
        self.open.clear();
        for first in (STRIDE..(self.n_columns + 1) * STRIDE).step_by(STRIDE) {
            for place in first..first + STRIDE - 1 {
                let colour = self.blocks[place];
                if colour == EMPTY {
                    break;
                }
                self.join(place, colour);
            }
        }
        for &root in &self.open {
            let place = usize::from(root);
            if self.parents[place] == root && self.sizes[place] > 1 {
                let cell = (place - STRIDE) as Cell;
                groups.push(Group { cell, colour: self.blocks[place], size: self.sizes[place] });
            }
        }
    }

    /// Joins a block with those below and to the left, which are joined already; `open` gets what starts a group.
    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "places are below 272")]
    fn join(&mut self, place: usize, colour: Colour) {
        let below = (self.blocks[place - 1] == colour).then(|| self.root(place - 1));
        let beside = (self.blocks[place - STRIDE] == colour).then(|| self.root(place - STRIDE));
        let root = match (below, beside) {
            (None, None) => {
                self.parents[place] = place as u16;
                self.sizes[place] = 1;
                return self.open.push(place as u16);
            }
            (Some(root), None) | (None, Some(root)) => root,
            (Some(one), Some(other)) if one == other => one,
            (Some(one), Some(other)) => {
                let (kept, joined) = (one.min(other), one.max(other));
                self.parents[joined] = kept as u16;
                self.sizes[kept] += self.sizes[joined];
                kept
            }
        };
        self.parents[place] = root as u16;
        self.sizes[root] += 1;
    }

    /// The block that stands for a block's group: the first of those that were joined.
    #[inline]
    fn root(&mut self, mut place: usize) -> usize {
        while usize::from(self.parents[place]) != place {
            let parent = usize::from(self.parents[place]);
            self.parents[place] = self.parents[parent];
            place = parent;
        }
        place
    }

    /// The group that a block of the board belongs to; none where there is no block, or a single one.
    pub fn group_at(&mut self, cell: Cell) -> Option<Group> {
        let mut groups = Vec::new();
        self.groups(&mut groups);
        groups.into_iter().find(|group| group.cell == cell)
    }

    /// Removes a group; the blocks above fall, and columns close up to the left.
    #[allow(clippy::cast_possible_truncation, reason = "places are below 272")]
    pub fn remove(&mut self, group: Group) {
        let colour = group.colour;
        let start = usize::from(group.cell) + STRIDE;
        let (mut leftmost, mut rightmost) = (start, start);
        self.open.clear();
        self.open.push(start as u16);
        self.blocks[start] = EMPTY;
        while let Some(place) = self.open.pop() {
            let place = usize::from(place);
            leftmost = leftmost.min(place);
            rightmost = rightmost.max(place);
            for near in [place - 1, place + 1, place - STRIDE, place + STRIDE] {
                if self.blocks[near] == colour {
                    self.blocks[near] = EMPTY;
                    self.open.push(near as u16);
                }
            }
        }
        self.counts[usize::from(colour)] -= u32::from(group.size);
        self.fall(leftmost / STRIDE, rightmost / STRIDE);
    }

    /// Closes the gaps in columns `from` to `to`, the frame's being column 0, and then those between columns.
    fn fall(&mut self, from: usize, to: usize) {
        let mut kept = from;
        for column in from..=self.n_columns {
            let first = column * STRIDE;
            let target = kept * STRIDE;
            if column <= to {
                let mut height = 0;
                for row in 0..STRIDE - 1 {
                    let colour = self.blocks[first + row];
                    if colour != EMPTY {
                        self.blocks[target + height] = colour;
                        height += 1;
                    }
                }
                self.blocks[target + height..target + STRIDE - 1].fill(EMPTY);
                kept += usize::from(height > 0);
            } else if kept == column {
                return;
            } else {
                self.blocks.copy_within(first..first + STRIDE - 1, target);
                kept += 1;
            }
        }
        self.blocks[kept * STRIDE..(self.n_columns + 1) * STRIDE].fill(EMPTY);
        self.n_columns = kept - 1;
    }
}

/// What a board without blocks is worth (Schadd et al. 2012, section 2.1).
pub const CLEARED: i64 = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    /// From rows with the highest first, digits for colours and dots for nothing.
    fn board(rows: &[&str]) -> Board {
        let mut columns: Columns = Default::default();
        for row in rows {
            for (column, colour) in columns.iter_mut().zip(row.chars()) {
                if let Some(digit) = colour.to_digit(10) {
                    *column = *column << 4 | u64::from(digit);
                }
            }
        }
        let mut board = Board::new();
        board.set_up(&columns);
        board
    }

    fn groups(board: &mut Board) -> Vec<(Cell, Colour, u8)> {
        let mut groups = Vec::new();
        board.groups(&mut groups);
        groups.iter().map(|group| (group.cell, group.colour, group.size)).collect()
    }

    #[test]
    fn groups_hang_together_by_sides_and_not_by_corners() {
        assert_eq!(groups(&mut board(&["12", "21"])), []);
        assert!(!has_group(&board(&["12", "21"]).columns()) && !has_group(&Columns::default()));
        assert!(has_group(&board(&["12", "11"]).columns()) && has_group(&board(&["1", "1"]).columns()));
        assert_eq!(groups(&mut board(&["121", "111", "121"])), [(0, 1, 7)]);
        assert_eq!(groups(&mut board(&["11", "12", "12"])), [(0, 1, 4), (16, 2, 2)]);
        // Two arms that meet in the last column only.
        assert_eq!(groups(&mut board(&["111", "221", "111"])), [(0, 1, 7), (1, 2, 2)]);
    }

    #[test]
    fn blocks_fall_and_columns_close_up() {
        let mut middle = board(&["132", "112", "312"]);
        let group = middle.group_at(1).expect("the group of ones");
        assert_eq!(group.size, 4);
        middle.remove(group);
        assert_eq!(middle.columns(), board(&["..2", "..2", "332"]).columns());
        assert_eq!(middle.counts()[..4], [0, 0, 3, 2]);
        let threes = middle.group_at(0).expect("the group of threes");
        middle.remove(threes);
        assert_eq!(middle.columns(), board(&["2", "2", "2"]).columns());
        let twos = middle.group_at(0).expect("the group of twos");
        middle.remove(twos);
        assert_eq!((middle.columns(), middle.at_end()), (Default::default(), 1000));
    }

    #[test]
    fn what_is_left_costs_as_if_each_colour_were_one_group() {
        assert_eq!(board(&["12", "21"]).at_end(), 0);
        assert_eq!(board(&["123", "214", "121"]).at_end(), -(4 + 1 + 1 + 1));
        assert_eq!([1, 2, 3, 6].map(points_of), [1, 0, 1, 16]);
    }
}
