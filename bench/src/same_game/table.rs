//! Points as a table: one row for each board, one column for each way of playing.

use player::tables;
use serde::Serialize;
use statrs::statistics::Statistics;

use super::play::Played;

/// One way of playing, on all boards.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Column {
    pub system: String,
    pub rollouts: String,
    /// Board by board; none where the game has not been played yet.
    pub points: Vec<Option<i64>>,
    /// Of the boards that were played.
    pub sum: i64,
    pub mean: Option<f64>,
    /// The standard deviation from board to board; none below two boards.
    pub deviation: Option<f64>,
}

impl Column {
    /// Of games, board by board.
    pub fn new(system: String, rollouts: String, games: &[Option<&Played>]) -> Column {
        let points: Vec<Option<i64>> = games.iter().map(|game| game.map(|game| game.points)).collect();
        let there: Vec<f64> = points.iter().flatten().map(|&points| points as f64).collect();
        Column {
            system,
            rollouts,
            sum: points.iter().flatten().sum(),
            points,
            mean: (!there.is_empty()).then(|| (&there).mean()),
            deviation: (there.len() > 1).then(|| (&there).std_dev()),
        }
    }
}

/// The table of some boards.
pub fn print(boards: &[String], columns: &[Column]) -> String {
    let header = columns.iter().map(|column| format!("{}, {}", column.system, column.rollouts));
    let header: Vec<String> = std::iter::once("board".to_owned()).chain(header).collect();
    let mut table = tables::with_columns(header);
    let dash = || "-".to_owned();
    let mut add = |name: &str, cell: &dyn Fn(&Column) -> String| {
        table.add_row(std::iter::once(name.to_owned()).chain(columns.iter().map(cell)));
    };
    for (idx, board) in boards.iter().enumerate() {
        add(board, &|column| column.points[idx].map_or_else(dash, |points| points.to_string()));
    }
    add("sum", &|column| column.sum.to_string());
    add("mean", &|column| column.mean.map_or_else(dash, |mean| format!("{mean:.0}")));
    add("deviation", &|column| column.deviation.map_or_else(dash, |deviation| format!("{deviation:.0}")));
    table.to_string()
}

#[cfg(test)]
mod tests {
    use super::super::play::{Effort, Key};
    use super::*;

    #[test]
    fn sums_and_means_are_of_the_boards_that_were_played() {
        let key = Key {
            board: "samegame".to_owned(),
            system: "nrpa".to_owned(),
            effort: Effort::Playouts(1),
            is_per_move: false,
            threads: 1,
            seed: 1,
        };
        let played = |points| Played {
            key: key.clone(),
            points,
            line: vec![],
            playouts: 1,
            seconds: 0.1,
            found: vec![],
        };
        let (one, two) = (played(10), played(-4));
        let column = Column::new("nrpa".into(), "random".into(), &[Some(&one), None, Some(&two)]);
        assert_eq!((column.sum, column.mean), (6, Some(3.0)));
        assert!((column.deviation.unwrap_or(0.0) - 98f64.sqrt()).abs() < 1e-9);
        let shown = print(&["1", "2", "3"].map(str::to_owned), &[column]);
        assert!(shown.contains("nrpa, random") && shown.contains("| 2         | -"), "{shown}");
        let none = Column::new("nrpa".into(), "random".into(), &[None]);
        assert_eq!((none.sum, none.mean, none.deviation), (0, None, None));
    }
}
