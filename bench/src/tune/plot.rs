//! The history as a plot: for each parameter its mean and deviation, and what samples came to, by iteration.

use std::fmt::Display;

use player::failure::Failure;
use plotters::coord::Shift;
use plotters::prelude::*;

/// One line with a band around it.
#[derive(Debug)]
pub struct Panel {
    pub title: String,
    /// By iteration: the lower end of the band, the line, the upper end.
    pub points: Vec<[f64; 3]>,
}

const WIDTH: u32 = 640;
const PANEL_HEIGHT: u32 = 200;
const LINE: RGBColor = RGBColor(72, 120, 168);

/// A picture in SVG, one panel below the other.
///
/// # Errors
/// If it cannot be drawn.
pub fn history(panels: &[Panel]) -> Result<String, Failure> {
    let mut svg = String::new();
    draw(&mut svg, panels).map_err(|error| Failure::work(error).context("the plot"))?;
    Ok(svg)
}

fn failed(error: impl Display) -> String {
    error.to_string()
}

fn draw(svg: &mut String, panels: &[Panel]) -> Result<(), String> {
    let n_panels = u32::try_from(panels.len()).unwrap_or(u32::MAX / PANEL_HEIGHT);
    let area = SVGBackend::with_string(svg, (WIDTH, PANEL_HEIGHT * n_panels)).into_drawing_area();
    area.fill(&WHITE).map_err(failed)?;
    for (panel, area) in panels.iter().zip(area.split_evenly((panels.len(), 1))) {
        draw_panel(&area, panel)?;
    }
    area.present().map_err(failed)
}

fn draw_panel(area: &DrawingArea<SVGBackend<'_>, Shift>, panel: &Panel) -> Result<(), String> {
    let all = || panel.points.iter().flatten().copied();
    let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
    // A flat line has a range too.
    let margin = ((high - low) * 0.05).max(f64::EPSILON.max(high.abs() * 1e-6));
    let last = (panel.points.len().max(2) - 1) as f64;
    let mut chart = ChartBuilder::on(area)
        .margin(10)
        .caption(&panel.title, ("sans-serif", 16))
        .x_label_area_size(24)
        .y_label_area_size(64)
        .build_cartesian_2d(0.0..last, low - margin..high + margin)
        .map_err(failed)?;
    chart
        .configure_mesh()
        .max_light_lines(0)
        .x_labels(panel.points.len().min(12))
        .y_labels(5)
        .x_label_formatter(&|iteration| format!("{iteration:.0}"))
        .label_style(("sans-serif", 13))
        .draw()
        .map_err(failed)?;
    for (part, width) in [(0, 1), (1, 3), (2, 1)] {
        let points = (0u32..).zip(&panel.points).map(|(at, point)| (f64::from(at), point[part]));
        chart.draw_series(LineSeries::new(points, LINE.stroke_width(width))).map_err(failed)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_panel_is_drawn_with_its_title() {
        let panel =
            |title: &str, points: &[[f64; 3]]| Panel { title: title.to_owned(), points: points.to_vec() };
        let panels = [
            panel("first <one>", &[[0.0, 1.0, 2.0], [0.5, 0.7, 0.9], [0.6, 0.6, 0.6]]),
            panel("flat", &[[5.0; 3]; 3]),
            panel("single", &[[5.0, 6.0, 7.0]]),
        ];
        let svg = history(&panels).unwrap_or_default();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
        assert!(["first &lt;one&gt;", "flat", "single"].iter().all(|title| svg.contains(title)), "{svg}");
        assert!(!svg.contains("NaN") && svg.matches("<polyline").count() >= 9);
    }
}
