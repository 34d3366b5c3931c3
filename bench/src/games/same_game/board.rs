//! Blocks, groups of them, and how they fall.

use super::mask::Mask;

/// The largest board's side: a column of as many blocks of 4 bits fits 64 bits.
pub const MAX_SIDE: u16 = 15;
/// How many colours there can be.
pub const N_COLOURS: usize = 5;
/// Blocks on the largest board.
pub const MAX_BLOCKS: usize = (MAX_SIDE * MAX_SIDE) as usize;

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

/// All rows of a column.
const ALL_ROWS: u64 = (1 << MAX_SIDE) - 1;

/// A board to play on, which keeps its groups: a move changes only those that touch what falls.
#[derive(Debug, Clone)]
pub struct Board {
    /// The places of each colour, by its number less 1.
    places: [Mask; N_COLOURS],
    /// Blocks of each colour, by its number.
    counts: [u32; N_COLOURS + 1],
    groups: Vec<Group>,
    /// The places of each group.
    masks: Vec<Mask>,
}

/// A bit for each of 16 rows, to the lowest of 4 bits for each.
fn spread(rows: u64) -> u64 {
    let pairs = (rows | rows << 24) & 0x0000_00ff_0000_00ff;
    let fours = (pairs | pairs << 12) & 0x000f_000f_000f_000f;
    let twos = (fours | fours << 6) & 0x0303_0303_0303_0303;
    (twos | twos << 3) & 0x1111_1111_1111_1111
}

/// The lowest of 4 bits for each of 16 rows, to a bit for each.
fn gather(bits: u64) -> u64 {
    let twos = (bits | bits >> 3) & 0x0303_0303_0303_0303;
    let fours = (twos | twos >> 6) & 0x000f_000f_000f_000f;
    let pairs = (fours | fours >> 12) & 0x0000_00ff_0000_00ff;
    (pairs | pairs >> 24) & 0xffff
}

/// The runs of ones of some rows, from the highest: the lowest bit of each, and how many there are.
fn runs(mut rows: u64) -> impl Iterator<Item = (u32, u32)> {
    std::iter::from_fn(move || {
        (rows != 0).then(|| {
            let end = u64::BITS - rows.leading_zeros();
            let gaps = !rows & ((1 << (end - 1)) - 1);
            let begin = u64::BITS - gaps.leading_zeros();
            rows &= (1 << begin) - 1;
            (begin, end - begin)
        })
    })
}

impl Board {
    /// A board without blocks.
    pub fn new() -> Board {
        Board {
            places: [Mask::NONE; N_COLOURS],
            counts: [0; N_COLOURS + 1],
            groups: Vec::new(),
            masks: Vec::new(),
        }
    }

    /// Replaces all blocks.
    pub fn set_up(&mut self, columns: &Columns) {
        for (places, colour) in self.places.iter_mut().zip(1u64..) {
            for (idx, &column) in columns.iter().enumerate() {
                let differing = column ^ (colour * 0x1111_1111_1111_1111);
                let is_other = differing | differing >> 1 | differing >> 2 | differing >> 3;
                places.set_rows(idx, gather(!is_other & 0x0111_1111_1111_1111));
            }
        }
        for (count, places) in self.counts[1..].iter_mut().zip(&self.places) {
            *count = places.len();
        }
        self.find_all_groups();
    }

    /// Becomes the same as another board.
    pub fn copy(&mut self, other: &Board) {
        self.places = other.places;
        self.counts = other.counts;
        self.groups.clone_from(&other.groups);
        self.masks.clone_from(&other.masks);
    }

    /// All blocks.
    pub fn columns(&self) -> Columns {
        let colours = || (1u64..).zip(&self.places);
        std::array::from_fn(|column| {
            colours().map(|(colour, places)| colour * spread(places.rows(column))).sum()
        })
    }

    /// Blocks of each colour, by its number.
    pub fn counts(&self) -> &[u32; N_COLOURS + 1] {
        &self.counts
    }

    /// What the blocks that are left cost, and what there is for none: positive where there is none.
    pub fn at_end(&self) -> i64 {
        if self.counts == [0; N_COLOURS + 1] {
            return CLEARED;
        }
        -self.counts[1..].iter().filter(|&&n| n > 0).map(|&n| i64::from(points_of(n))).sum::<i64>()
    }

    /// All groups; from left to right and from below on a board that was just set up, and in an order that depends on the
    /// moves since.
    #[inline]
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    fn find_all_groups(&mut self) {
        self.groups.clear();
        self.masks.clear();
        self.find_groups(Mask::ALL);
        self.groups.sort_unstable_by_key(|group| group.cell);
        self.masks.sort_unstable_by_key(|mask| mask.first_idx());
    }

    /// Adds the groups that have a place among `among`.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "groups have at most 225 blocks, and there are 5 colours"
    )]
    fn find_groups(&mut self, among: Mask) {
        for (colour, &places) in (1..).zip(&self.places) {
            let mut open = among.and(places).and(places.neighbours());
            while !open.is_empty() {
                let mut group = open.first();
                loop {
                    let wider = group.or(group.neighbours()).and(places);
                    if wider == group {
                        break;
                    }
                    group = wider;
                }
                open = open.without(group);
                let cell = group.first_idx().unwrap_or_default();
                self.groups.push(Group { cell, colour, size: group.len() as u8 });
                self.masks.push(group);
            }
        }
    }

    /// Removes the group of an index; the blocks above fall, and columns close up to the left.
    pub fn remove(&mut self, group_idx: usize) {
        let Group { colour, size, .. } = self.groups[group_idx];
        self.counts[usize::from(colour)] -= u32::from(size);
        let removed = self.masks[group_idx];
        let mut changed = Mask::NONE;
        let mut has_gap = false;
        for (column, rows) in removed.columns() {
            changed.set_rows(column, ALL_ROWS & !((1 << rows.trailing_zeros()) - 1));
            has_gap |= self.fall(column, rows);
        }
        if has_gap {
            // From the right, so that the others' numbers stay.
            for (column, _) in removed.columns().collect::<Vec<_>>().into_iter().rev() {
                if self.places.iter().all(|places| places.rows(column) == 0) {
                    self.places = self.places.map(|places| places.close_up(column));
                }
            }
            self.groups.clear();
            self.masks.clear();
            self.find_groups(Mask::ALL);
            return;
        }
        // Groups that had a place that is another one's now, or beside it.
        let mut stale = changed.or(changed.below()).or(changed.beside());
        let near = stale;
        let mut n_kept = 0;
        for idx in 0..self.masks.len() {
            let mask = self.masks[idx];
            if mask.and(near).is_empty() {
                self.masks[n_kept] = mask;
                self.groups[n_kept] = self.groups[idx];
                n_kept += 1;
            } else {
                stale = stale.or(mask);
            }
        }
        self.masks.truncate(n_kept);
        self.groups.truncate(n_kept);
        self.find_groups(stale);
    }

    /// Takes rows out of a column, and tells whether nothing is left in it.
    #[inline]
    fn fall(&mut self, column: usize, rows: u64) -> bool {
        let mut left = 0;
        for places in &mut self.places {
            let before = places.rows(column);
            let fallen = runs(rows).fold(before, |now, (begin, n)| {
                let below = (1 << begin) - 1;
                now & below | now >> n & !below
            });
            places.set_rows(column, fallen);
            left |= fallen;
        }
        left == 0
    }
}

/// What a board without blocks is worth (Schadd et al. 2012, section 2.1).
pub const CLEARED: i64 = 1000;

#[cfg(test)]
mod tests {
    use reasoner::Dice;

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

    fn groups(board: &Board) -> Vec<(Cell, Colour, u8)> {
        board.groups().iter().map(|group| (group.cell, group.colour, group.size)).collect()
    }

    /// Removes the group of a cell, of which it tells the size.
    fn remove(board: &mut Board, cell: Cell) -> Option<u8> {
        let group_idx = board.groups().iter().position(|group| group.cell == cell)?;
        let size = board.groups()[group_idx].size;
        board.remove(group_idx);
        Some(size)
    }

    #[test]
    fn groups_hang_together_by_sides_and_not_by_corners() {
        assert_eq!(groups(&board(&["12", "21"])), []);
        assert!(!has_group(&board(&["12", "21"]).columns()) && !has_group(&Columns::default()));
        assert!(has_group(&board(&["12", "11"]).columns()) && has_group(&board(&["1", "1"]).columns()));
        assert_eq!(groups(&board(&["121", "111", "121"])), [(0, 1, 7)]);
        assert_eq!(groups(&board(&["11", "12", "12"])), [(0, 1, 4), (16, 2, 2)]);
        // Two arms that meet in the last column only.
        assert_eq!(groups(&board(&["111", "221", "111"])), [(0, 1, 7), (1, 2, 2)]);
    }

    #[test]
    fn blocks_fall_and_columns_close_up() {
        let mut middle = board(&["132", "112", "312"]);
        assert_eq!(remove(&mut middle, 1), Some(4));
        assert_eq!(middle.columns(), board(&["..2", "..2", "332"]).columns());
        assert_eq!(middle.counts()[..4], [0, 0, 3, 2]);
        assert_eq!(remove(&mut middle, 0), Some(2));
        assert_eq!(middle.columns(), board(&["2", "2", "2"]).columns());
        assert_eq!(remove(&mut middle, 0), Some(3));
        assert_eq!((middle.columns(), middle.at_end()), (Default::default(), 1000));
    }

    #[test]
    fn kept_groups_are_those_of_a_board_set_up_anew() {
        let mut dice = Dice::new(1);
        for side in [2, 5, 9, 15].repeat(20) {
            let columns = std::array::from_fn(|column| {
                let mut block = || dice.below(3) as u64 + 1;
                if column < side { (0..side).fold(0, |bits, _| bits << 4 | block()) } else { 0 }
            });
            let mut kept = Board::new();
            kept.set_up(&columns);
            assert_eq!(kept.columns(), columns);
            while !kept.groups().is_empty() {
                kept.remove(dice.below(kept.groups().len()));
                let mut anew = Board::new();
                anew.set_up(&kept.columns());
                let mut sorted = groups(&kept);
                sorted.sort_unstable();
                assert_eq!((sorted, kept.counts()), (groups(&anew), anew.counts()));
            }
            assert!(!has_group(&kept.columns()));
        }
    }

    #[test]
    fn what_is_left_costs_as_if_each_colour_were_one_group() {
        assert_eq!(board(&["12", "21"]).at_end(), 0);
        assert_eq!(board(&["123", "214", "121"]).at_end(), -(4 + 1 + 1 + 1));
        assert_eq!([1, 2, 3, 6].map(points_of), [1, 0, 1, 16]);
    }
}
