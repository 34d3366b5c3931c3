//! Sets of the places of a board, as 256 bits.

/// A set of places: bit `16 * column + row`, both from 0 on, the lowest row first. No place has row or column 15, so that
/// nothing moves from one column to the next when all places move up or down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mask([u64; N_WORDS]);

const N_WORDS: usize = 4;
/// Columns in a word.
const N_LANES: usize = 4;
/// All rows of a column.
const LANE: u64 = 0x7fff;

impl Mask {
    /// Nothing.
    pub const NONE: Mask = Mask([0; N_WORDS]);
    /// Whatever is there.
    pub const ALL: Mask = Mask([u64::MAX; N_WORDS]);

    #[inline(always)]
    fn with(self, other: Mask, join: impl Fn(u64, u64) -> u64) -> Mask {
        Mask(std::array::from_fn(|word| join(self.0[word], other.0[word])))
    }

    /// What is in one of both.
    #[inline(always)]
    pub fn or(self, other: Mask) -> Mask {
        self.with(other, |one, other| one | other)
    }

    /// What is in both.
    #[inline(always)]
    pub fn and(self, other: Mask) -> Mask {
        self.with(other, |one, other| one & other)
    }

    /// What is not in the other one.
    #[inline(always)]
    pub fn without(self, other: Mask) -> Mask {
        self.with(other, |one, other| one & !other)
    }

    /// Whether nothing is in it.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.0.iter().fold(0, |all, word| all | word) == 0
    }

    /// How many places are in it.
    #[inline(always)]
    pub fn len(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// The places one row below.
    #[inline(always)]
    pub fn below(self) -> Mask {
        Mask(self.0.map(|word| word >> 1))
    }

    /// The places one column to the left; what was in the first column is gone.
    #[inline(always)]
    pub fn to_left(self) -> Mask {
        let [a, b, c, d] = self.0;
        Mask([a >> 16 | b << 48, b >> 16 | c << 48, c >> 16 | d << 48, d >> 16])
    }

    /// The places beside it in its rows.
    #[inline(always)]
    pub fn beside(self) -> Mask {
        let [a, b, c, d] = self.0;
        self.to_left().or(Mask([a << 16, b << 16 | a >> 48, c << 16 | b >> 48, d << 16 | c >> 48]))
    }

    /// All places that touch it by their sides.
    #[inline(always)]
    pub fn neighbours(self) -> Mask {
        Mask(self.0.map(|word| word << 1 | word >> 1)).or(self.beside())
    }

    /// Its lowest place of its leftmost column; nothing if it has none.
    #[inline(always)]
    pub fn first(self) -> Mask {
        let mut first = Mask::NONE;
        if let Some(word) = self.0.iter().position(|&word| word != 0) {
            first.0[word] = self.0[word] & self.0[word].wrapping_neg();
        }
        first
    }

    /// The number of its first place.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, reason = "there are 256 places")]
    pub fn first_idx(self) -> Option<u8> {
        let word = self.0.iter().position(|&word| word != 0)?;
        Some((word as u32 * u64::BITS + self.0[word].trailing_zeros()) as u8)
    }

    /// The rows of a column, as bits.
    #[inline(always)]
    pub fn rows(self, column: usize) -> u64 {
        self.0[column / N_LANES] >> Mask::shift(column) & LANE
    }

    /// Replaces the rows of a column.
    #[inline(always)]
    pub fn set_rows(&mut self, column: usize, rows: u64) {
        let word = &mut self.0[column / N_LANES];
        *word = *word & !(LANE << Mask::shift(column)) | rows << Mask::shift(column);
    }

    fn shift(column: usize) -> usize {
        16 * (column % N_LANES)
    }

    /// The columns in which it has places, from the left, with their rows.
    #[inline(always)]
    pub fn columns(self) -> impl Iterator<Item = (usize, u64)> {
        self.0.into_iter().enumerate().flat_map(|(word, mut left)| {
            std::iter::from_fn(move || {
                (left != 0).then(|| {
                    let lane = left.trailing_zeros() as usize / 16;
                    let rows = left >> (16 * lane) & LANE;
                    left &= !(LANE << (16 * lane));
                    (word * N_LANES + lane, rows)
                })
            })
        })
    }

    /// What is left when a column is taken out, and those behind it move up.
    pub fn close_up(self, column: usize) -> Mask {
        let before = Mask(std::array::from_fn(|word| match column.saturating_sub(word * N_LANES) {
            0 => 0,
            n if n >= N_LANES => u64::MAX,
            n => (1 << (16 * n)) - 1,
        }));
        self.and(before).or(self.to_left().without(before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(places: &[(usize, u32)]) -> Mask {
        let mut mask = Mask::NONE;
        for &(column, row) in places {
            mask.set_rows(column, mask.rows(column) | 1 << row);
        }
        mask
    }

    #[test]
    fn neighbours_touch_by_their_sides_and_stay_in_their_columns() {
        assert_eq!(of(&[(4, 7)]).neighbours(), of(&[(4, 6), (4, 8), (3, 7), (5, 7)]));
        let corner = of(&[(4, 0)]).neighbours();
        assert_eq!(corner, of(&[(4, 1), (3, 0), (5, 0)]));
        assert_eq!(corner.len(), 3);
        let top = of(&[(0, 14)]).neighbours();
        assert_eq!((0..16).map(|column| top.rows(column)).sum::<u64>(), (1 << 13) + (1 << 14));
    }

    #[test]
    fn places_are_counted_column_by_column_from_below() {
        let mask = of(&[(9, 3), (9, 1), (2, 14), (14, 0)]);
        assert_eq!((mask.first_idx(), mask.first(), mask.len()), (Some(46), of(&[(2, 14)]), 4));
        assert_eq!(mask.columns().collect::<Vec<_>>(), [(2, 1 << 14), (9, 0b1010), (14, 1)]);
        assert_eq!((Mask::NONE.first_idx(), Mask::NONE.first()), (None, Mask::NONE));
    }

    #[test]
    fn columns_close_up_from_the_one_that_is_taken_out() {
        let mask = of(&[(0, 1), (3, 2), (4, 3), (8, 4), (14, 5)]);
        for (column, expected) in [
            (0, [(2, 2), (3, 3), (7, 4), (13, 5)].as_slice()),
            (3, &[(0, 1), (3, 3), (7, 4), (13, 5)]),
            (4, &[(0, 1), (3, 2), (7, 4), (13, 5)]),
            (5, &[(0, 1), (3, 2), (4, 3), (7, 4), (13, 5)]),
        ] {
            assert_eq!(mask.close_up(column), of(expected), "{column}");
        }
    }
}
