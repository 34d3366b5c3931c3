//! Where boards come from: a file, or a seed.

use reasoner::Dice;

use super::board::{Colour, Columns, MAX_BLOCKS, N_COLOURS};

/// A board of random blocks, each of `n_colours` colours with the same probability.
pub fn random(side: u16, n_colours: u16, seed: u16) -> Columns {
    let mut dice = Dice::new(Dice::child_seed(u64::from(seed), u64::from(side) << 16 | u64::from(n_colours)));
    let blocks: Vec<Colour> = (0..usize::from(side).pow(2))
        .map(|_| Colour::try_from(dice.below(usize::from(n_colours)) + 1).unwrap_or(1))
        .collect();
    columns(&blocks, usize::from(side))
}

/// The `number`th board of a text, from 1 on: a row a line, the highest first, with a number from 0 to 4 for each block
/// and spaces between. Empty lines and what follows a `#` are passed over.
///
/// # Errors
/// In words, if the text holds something else, or not as many boards.
pub fn read(text: &str, side: u16, number: u16) -> Result<Columns, String> {
    let n_blocks = usize::from(side).pow(2);
    let mut blocks: Vec<Colour> = Vec::new();
    for (line_idx, line) in text.lines().enumerate() {
        let row = line.split('#').next().unwrap_or_default();
        let n_before = blocks.len();
        for word in row.split_whitespace() {
            let colour = word.parse::<Colour>().ok().filter(|&colour| usize::from(colour) < N_COLOURS);
            let colour =
                colour.ok_or_else(|| format!("line {}: {word:?} is no colour, 0 to 4", line_idx + 1))?;
            blocks.push(colour + 1);
        }
        if !matches!(blocks.len() - n_before, 0) && blocks.len() - n_before != usize::from(side) {
            let n = blocks.len() - n_before;
            return Err(format!("line {}: {n} blocks, but the board is {side} wide", line_idx + 1));
        }
    }
    let n_boards = blocks.len() / n_blocks;
    let board = blocks.chunks_exact(n_blocks).nth(usize::from(number).wrapping_sub(1));
    board
        .map(|blocks| columns(blocks, usize::from(side)))
        .ok_or_else(|| format!("there are {n_boards} boards of {side} by {side}, so none is number {number}"))
}

/// From blocks row by row, the highest row first.
fn columns(blocks: &[Colour], side: usize) -> Columns {
    debug_assert!(blocks.len() <= MAX_BLOCKS);
    let mut columns: Columns = Default::default();
    for row in blocks.chunks_exact(side) {
        for (column, &colour) in columns.iter_mut().zip(row) {
            *column = *column << 4 | u64::from(colour);
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_board_is_read_with_its_highest_row_first() {
        let text = "# position 1\n0 1\n2 3\n\n# position 2\n4 4 # above\n0 0\n";
        assert_eq!(read(text, 2, 1).map(|columns| columns[..3].to_vec()), Ok(vec![0x13, 0x24, 0]));
        assert_eq!(read(text, 2, 2).map(|columns| columns[..3].to_vec()), Ok(vec![0x51, 0x51, 0]));
    }

    #[test]
    fn what_is_no_board_is_told_with_its_line() {
        let told = |text: &str, number| read(text, 2, number).expect_err("this is no board");
        assert_eq!(told("0 1\n2 5\n", 1), "line 2: \"5\" is no colour, 0 to 4");
        assert_eq!(told("0 1\n\n2\n", 1), "line 3: 1 blocks, but the board is 2 wide");
        assert!(told("0 1\n2 3\n", 2).contains("there are 1 boards"));
        assert!(told("0 1\n2 3\n", 0).contains("none is number 0"));
        assert!(told("", 1).contains("there are 0 boards"));
    }

    #[test]
    fn random_boards_are_full_and_depend_on_their_seed() {
        let board = random(15, 5, 1);
        assert_eq!(board, random(15, 5, 1));
        assert_ne!(board, random(15, 5, 2));
        let colours = |column: u64| (0..15).map(move |row| column >> (4 * row) & 15);
        assert!(board.iter().copied().flat_map(colours).all(|colour| (1..=5).contains(&colour)));
        assert!(random(15, 2, 1).iter().copied().flat_map(colours).all(|colour| colour == 1 || colour == 2));
    }
}
