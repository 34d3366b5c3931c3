//! Curves of the best value against time (figures 4 to 9 of Méhat and Cazenave 2010).

use std::path::Path;

use player::failure::Failure;
use plotters::prelude::*;

use super::table::{Cell, Row, Table};

/// The first moment of a curve, as in the paper; each is twice the one before.
const FIRST: f64 = 0.1;
const COLORS: [RGBColor; 6] = [
    RGBColor(72, 120, 168),
    RGBColor(208, 128, 48),
    RGBColor(96, 144, 80),
    RGBColor(168, 72, 88),
    RGBColor(120, 96, 160),
    RGBColor(90, 90, 90),
];

/// Writes `curves.csv`, and one plot for each game.
///
/// # Errors
/// If a file cannot be written.
pub fn write(folder: &Path, table: &Table, seconds: f64) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)?;
    let moments = moments(seconds);
    let mut csv = csv::Writer::from_path(folder.join("curves.csv")).map_err(Failure::work)?;
    csv.write_record(["game", "system", "runs", "seconds", "value"]).map_err(Failure::work)?;
    for row in &table.rows {
        for cell in row.cells.iter().filter(|cell| cell.n > 0) {
            for &moment in &moments {
                let value = format!("{:.3}", mean_at(cell, moment));
                let record = [&row.game, &cell.system, &cell.n.to_string(), &format!("{moment:.3}"), &value];
                csv.write_record(record).map_err(Failure::work)?;
            }
        }
        let mut svg = String::new();
        draw(&mut svg, row, &moments).map_err(|error| Failure::work(error).context("the plot"))?;
        std::fs::write(folder.join(format!("{}.svg", row.game)), svg)?;
    }
    csv.flush()?;
    Ok(())
}

/// From a tenth of a second on, each twice the one before, and the end.
fn moments(seconds: f64) -> Vec<f64> {
    let doubled = std::iter::successors(Some(FIRST), |moment| Some(moment * 2.0));
    doubled.take_while(|&moment| moment < seconds * 0.999).chain([seconds]).collect()
}

/// The mean over matches of the best value known at a moment.
fn mean_at(cell: &Cell, moment: f64) -> f64 {
    let known = |found: &Vec<(f64, f64)>| {
        found.iter().filter(|(after, _)| *after <= moment).map(|it| it.1).fold(0.0, f64::max)
    };
    cell.found.iter().map(known).sum::<f64>() / cell.found.len().max(1) as f64
}

fn draw(svg: &mut String, row: &Row, moments: &[f64]) -> Result<(), String> {
    let failed = |error: &dyn std::fmt::Display| error.to_string();
    let area = SVGBackend::with_string(svg, (640, 420)).into_drawing_area();
    area.fill(&WHITE).map_err(|error| failed(&error))?;
    let last = moments.last().copied().unwrap_or(FIRST).max(FIRST * 2.0);
    let mut chart = ChartBuilder::on(&area)
        .caption(format!("{}: mean of the best value", row.game), ("sans-serif", 18))
        .margin(10)
        .margin_right(40)
        .x_label_area_size(40)
        .y_label_area_size(50)
        .build_cartesian_2d((FIRST.min(last / 2.0)..last).log_scale(), 0.0..105.0)
        .map_err(|error| failed(&error))?;
    chart
        .configure_mesh()
        .x_desc("seconds of search")
        .x_label_formatter(&|seconds| format!("{seconds:.1}"))
        .draw()
        .map_err(|error| failed(&error))?;
    for (idx, cell) in row.cells.iter().filter(|cell| cell.n > 0).enumerate() {
        let color = COLORS[idx % COLORS.len()];
        let points = moments.iter().map(|&moment| (moment, mean_at(cell, moment)));
        chart
            .draw_series(LineSeries::new(points, color.stroke_width(2)))
            .map_err(|error| failed(&error))?
            .label(cell.system.clone())
            .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 16, y)], color.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK.mix(0.4))
        .draw()
        .map_err(|error| failed(&error))?;
    area.present().map_err(|error| failed(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_has_the_best_value_known_at_each_moment() {
        let found = vec![vec![(0.05, 20.0), (0.3, 60.0)], vec![(0.15, 40.0)]];
        let cell = Cell { system: "uct".to_owned(), n: 2, mean: None, deviation: None, found };
        let at = moments(0.8);
        assert_eq!(at.len(), 4);
        let values: Vec<f64> = at.iter().map(|&moment| mean_at(&cell, moment)).collect();
        assert_eq!(values, [10.0, 30.0, 50.0, 50.0]);
    }
}
