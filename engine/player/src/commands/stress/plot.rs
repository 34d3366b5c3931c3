//! Playouts per second against threads, as a picture.

use plotters::prelude::*;

use super::row::Scaling;
use crate::failure::Failure;

const SIZE: (u32, u32) = (640, 420);
/// Above the highest point.
const HEADROOM: f64 = 1.1;
const BLUE_OF_OURS: RGBColor = RGBColor(72, 120, 168);
const GREY: RGBColor = RGBColor(150, 150, 150);

/// A picture in SVG: what was measured, and as a thin line what each thread would give that is as fast as those of the
/// first row.
///
/// # Errors
/// If it cannot be drawn.
pub(super) fn speed(scaling: &Scaling, name: &str) -> Result<String, Failure> {
    let mut svg = String::new();
    draw(&mut svg, scaling, name).map_err(|error| Failure::work(error).context("the plot"))?;
    Ok(svg)
}

fn draw(svg: &mut String, scaling: &Scaling, name: &str) -> Result<(), String> {
    let failed = |error: &dyn std::fmt::Display| error.to_string();
    let points: Vec<(f64, f64)> =
        scaling.rows.iter().map(|row| (row.n_threads as f64, row.speed())).collect();
    let most = points.iter().map(|&(threads, _)| threads).fold(1.0, f64::max);
    let each = points.first().map_or(0.0, |&(threads, speed)| speed / threads);
    let highest = points.iter().map(|&(_, speed)| speed).fold(each * most, f64::max);
    let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    area.fill(&WHITE).map_err(|error| failed(&error))?;
    let mut chart = ChartBuilder::on(&area)
        .margin(14)
        .caption(format!("{name}: playouts per second"), ("sans-serif", 18))
        .x_label_area_size(44)
        .y_label_area_size(84)
        .build_cartesian_2d(0.0..most * HEADROOM, 0.0..highest.max(1.0) * HEADROOM)
        .map_err(|error| failed(&error))?;
    chart
        .configure_mesh()
        .max_light_lines(0)
        .x_desc("threads")
        .x_label_formatter(&|threads| format!("{threads:.0}"))
        .y_label_formatter(&|speed| format!("{speed:.0}"))
        .label_style(("sans-serif", 14))
        .draw()
        .map_err(|error| failed(&error))?;
    chart
        .draw_series(LineSeries::new([(0.0, 0.0), (most, each * most)], GREY.stroke_width(1)))
        .map_err(|error| failed(&error))?;
    chart
        .draw_series(LineSeries::new(points.iter().copied(), BLUE_OF_OURS.stroke_width(2)))
        .map_err(|error| failed(&error))?;
    chart
        .draw_series(points.iter().map(|&at| Circle::new(at, 4, BLUE_OF_OURS.filled())))
        .map_err(|error| failed(&error))?;
    area.present().map_err(|error| failed(&error))
}
