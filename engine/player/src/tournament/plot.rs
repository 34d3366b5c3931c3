//! The ratings as a plot: one line for each player, with its interval.

use plotters::prelude::*;

use super::standings::{Standing, Table};
use crate::failure::Failure;

/// Points of Elo beside the widest interval.
const MARGIN: f64 = 20.0;
/// Narrow, so that its letters stay readable on a phone.
const WIDTH: u32 = 520;
/// For each player.
const LINE_HEIGHT: u32 = 34;
/// For the axis and the borders.
const FRAME_HEIGHT: u32 = 80;
const BLUE_OF_OURS: RGBColor = RGBColor(72, 120, 168);

/// A picture in SVG, the strongest player on top.
///
/// # Errors
/// If it cannot be drawn.
pub fn elo(table: &Table) -> Result<String, Failure> {
    let mut svg = String::new();
    draw(&mut svg, table).map_err(|error| Failure::work(error).context("the plot"))?;
    Ok(svg)
}

fn draw(svg: &mut String, table: &Table) -> Result<(), String> {
    let failed = |error: &dyn std::fmt::Display| error.to_string();
    let players: Vec<&Standing> =
        table.strongest_first().into_iter().rev().map(|(_, player)| player).collect();
    let low = players.iter().map(|player| player.elo.low).fold(0.0, f64::min) - MARGIN;
    let high = players.iter().map(|player| player.elo.high).fold(0.0, f64::max) + MARGIN;
    let n_players = u32::try_from(players.len()).unwrap_or(u32::MAX / LINE_HEIGHT);
    let area =
        SVGBackend::with_string(svg, (WIDTH, FRAME_HEIGHT + LINE_HEIGHT * n_players)).into_drawing_area();
    area.fill(&WHITE).map_err(|error| failed(&error))?;
    let name_of = |line: &f64| {
        // Labels stand at whole numbers only.
        let player = players.iter().enumerate().find(|(idx, _)| (*idx as f64 - line).abs() < 1e-6);
        player.map_or_else(String::new, |(_, player)| player.name.clone())
    };
    let longest = players.iter().map(|player| player.name.len()).max().unwrap_or(0);
    let label_width = 24 + 9 * u32::try_from(longest).unwrap_or(0);
    let mut chart = ChartBuilder::on(&area)
        .margin(10)
        .x_label_area_size(40)
        .y_label_area_size(label_width)
        .build_cartesian_2d(low..high, -0.5..f64::from(n_players) - 0.5)
        .map_err(|error| failed(&error))?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .max_light_lines(0)
        .x_labels(7)
        .x_desc("Elo, 95 % intervals")
        .x_label_formatter(&|elo| format!("{elo:.0}"))
        .y_labels(players.len() * 2 + 1)
        .y_label_formatter(&name_of)
        .label_style(("sans-serif", 16))
        .draw()
        .map_err(|error| failed(&error))?;
    for (idx, player) in players.iter().enumerate() {
        let line = idx as f64;
        let style = BLUE_OF_OURS.stroke_width(2);
        let whisker = |at: f64| PathElement::new(vec![(at, line - 0.15), (at, line + 0.15)], style);
        let interval = PathElement::new(vec![(player.elo.low, line), (player.elo.high, line)], style);
        chart
            .draw_series([interval, whisker(player.elo.low), whisker(player.elo.high)])
            .map_err(|error| failed(&error))?;
        chart
            .draw_series([Circle::new((player.elo.value, line), 5, BLUE_OF_OURS.filled())])
            .map_err(|error| failed(&error))?;
    }
    area.present().map_err(|error| failed(&error))
}
