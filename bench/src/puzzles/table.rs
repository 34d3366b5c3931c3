//! Matches as a table: one row for each game, one column for each system.

use player::tables;
use serde::Serialize;
use single::System;
use statrs::statistics::Statistics;

use super::play::Played;
use super::short_name;

/// One system's matches in one game.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cell {
    pub system: String,
    pub n: usize,
    /// The mean value; a match without an end counts 0. None without matches.
    pub mean: Option<f64>,
    /// The standard deviation, as the paper's table has it; none below two matches.
    pub deviation: Option<f64>,
    /// The best value at each found line of each match: seconds and value.
    #[serde(skip)]
    pub found: Vec<Vec<(f64, f64)>>,
}

/// One game.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    pub game: String,
    /// The most that can be had, where a match has proved it.
    pub most: Option<u32>,
    /// How.
    pub proof: Option<String>,
    pub cells: Vec<Cell>,
}

/// All games.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Table {
    pub rows: Vec<Row>,
    /// The sum of the means of each system; none if a game is missing.
    pub sums: Vec<Option<f64>>,
}

impl Table {
    /// Of the matches of some games and systems; proofs may come from other matches too.
    pub fn new(games: &[String], systems: &[System], wanted: &[Played], all: &[Played]) -> Table {
        let row = |game: &String| {
            let cells = systems.iter().map(|system| {
                let of_cell = |it: &&Played| it.key.game == *game && it.key.system == system.to_string();
                cell(system.to_string(), &wanted.iter().filter(of_cell).collect::<Vec<_>>())
            });
            let proof = all.iter().find(|it| it.proved && it.key.game == *game);
            Row {
                game: short_name(game),
                most: proof.and_then(|it| it.value),
                proof: proof.map(|it| match it.value {
                    Some(100) => "no goal is more".to_owned(),
                    _ => format!("nothing better, by {}", it.proved_by.as_ref().unwrap_or(&it.key.system)),
                }),
                cells: cells.collect(),
            }
        };
        let rows: Vec<Row> = games.iter().map(row).collect();
        let sum = |idx: usize| rows.iter().map(|row| row.cells[idx].mean).sum::<Option<f64>>();
        let sums = (0..systems.len()).map(sum).collect();
        Table { rows, sums }
    }

    pub fn print(&self) -> String {
        let systems = self.rows.first().map_or(&[][..], |row| &row.cells);
        let mut table = tables::with_header(["game"]);
        let names = systems.iter().map(|cell| cell.system.clone());
        let ends = ["most".to_owned(), "proof".to_owned()];
        table.set_header(std::iter::once("game".to_owned()).chain(names).chain(ends));
        let dash = || "-".to_owned();
        for row in &self.rows {
            let cells = row.cells.iter().map(|cell| match (cell.mean, cell.deviation) {
                (Some(mean), Some(deviation)) => format!("{mean:.1} ± {deviation:.0}"),
                (Some(mean), None) => format!("{mean:.0}"),
                (None, _) => dash(),
            });
            let most = row.most.map_or_else(dash, |most| most.to_string());
            let proof = row.proof.clone().unwrap_or_else(dash);
            table.add_row(std::iter::once(row.game.clone()).chain(cells).chain([most, proof]));
        }
        let sums = self.sums.iter().map(|sum| sum.map_or_else(dash, |sum| format!("{sum:.0}")));
        let most: Option<u32> = self.rows.iter().map(|row| row.most).sum();
        let most = most.map_or_else(dash, |most| most.to_string());
        table.add_row(std::iter::once("sum".to_owned()).chain(sums).chain([most, String::new()]));
        table.to_string()
    }
}

fn cell(system: String, matches: &[&Played]) -> Cell {
    let values: Vec<f64> = matches.iter().map(|it| f64::from(it.value.unwrap_or(0))).collect();
    let found = matches.iter().map(|it| it.found.iter().map(|it| (it.after, f64::from(it.value))).collect());
    Cell {
        system,
        n: values.len(),
        mean: (!values.is_empty()).then(|| values.iter().mean()),
        deviation: (values.len() > 1).then(|| values.iter().std_dev()),
        found: found.collect(),
    }
}

/// The matches one by one.
pub fn list(matches: &[Played]) -> String {
    let mut table =
        tables::with_header(["game", "system", "value", "proved", "found after s", "by", "s", "reasoner"]);
    for it in matches {
        let last = it.found.last();
        table.add_row([
            short_name(&it.key.game),
            it.key.system.clone(),
            it.value.map_or_else(|| it.error.clone().unwrap_or_default(), |value| value.to_string()),
            (if it.proved { "yes" } else { "no" }).to_owned(),
            last.map_or_else(String::new, |last| format!("{:.3}", last.after)),
            last.map_or_else(String::new, |last| last.by.clone()),
            format!("{:.1}", it.seconds),
            it.reasoner.clone(),
        ]);
    }
    table.to_string()
}

#[cfg(test)]
mod tests {
    use super::super::play::{Better, Key};
    use super::*;

    fn played(game: &str, system: &str, value: Option<u32>, proved: bool) -> Played {
        let key = Key {
            game: format!("folder/{game}.kif"),
            system: system.to_owned(),
            start: 1.0,
            play: 1.0,
            threads: 1,
            reasoner: "auto".to_owned(),
            seed: 1,
        };
        let found = vec![Better { after: 0.5, value: value.unwrap_or(0), by: system.to_owned() }];
        Played {
            key,
            reasoner: "propnet".to_owned(),
            value,
            proved,
            proved_by: None,
            n_moves: 3,
            seconds: 2.0,
            set_up: 0.1,
            found,
            error: value.is_none().then(|| "the match has no end".to_owned()),
        }
    }

    #[test]
    fn means_sums_and_proofs_come_from_matches() {
        let wanted = [
            played("a", "uct", Some(40), false),
            played("a", "uct", Some(60), false),
            played("b", "uct", None, false),
            played("b", "max1", Some(100), true),
        ];
        let all = [&wanted[..], &[played("a", "exhaustive", Some(90), true)]].concat();
        let games = ["a", "b"].map(|game| format!("folder/{game}.kif"));
        let systems = [System::Graph(search::Config::Uct), System::Max1];
        let table = Table::new(&games, &systems, &wanted, &all);
        assert_eq!((table.rows[0].most, table.rows[1].most), (Some(90), Some(100)));
        assert_eq!(table.rows[0].proof.as_deref(), Some("nothing better, by exhaustive"));
        let [a, b] = [0, 1].map(|row: usize| &table.rows[row].cells);
        assert_eq!((a[0].mean, b[0].mean, a[1].mean), (Some(50.0), Some(0.0), None));
        assert!((a[0].deviation.unwrap_or(0.0) - 200f64.sqrt()).abs() < 1e-9);
        assert_eq!(table.sums, [Some(50.0), None]);
        let shown = table.print();
        assert!(shown.contains("50.0 ± 14") && shown.contains("| 190 "), "{shown}");
        assert!(list(&wanted).contains("the match has no end"));
    }
}
