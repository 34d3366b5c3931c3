//! The comparison as one page of HTML, with its plots inside.

use maud::{Markup, PreEscaped, html};
use player::failure::Failure;
use player::html_page;
use plotters::prelude::*;

use crate::report::{COLUMNS, Comparison, row, short_name};
use crate::results::Entry;

/// What this page adds to the style of all.
const STYLE: &str = "
th:nth-child(2), td:nth-child(2), td.bad { text-align: left; }
.bar { height: .7rem; background: #4878a8; } .bar.r1 { background: #d08030; } .bar.r2 { background: #609050; }";

/// More names in one plot would hide each other.
const MOST_LABELS: usize = 30;

/// The page.
///
/// # Errors
/// If a plot cannot be drawn.
pub fn html(comparison: &Comparison, command: &str) -> Result<String, Failure> {
    let Comparison { entries, names, unreadable } = comparison;
    let mut plots = Vec::new();
    for name in &names[1..] {
        plots.push(scatter(entries, &names[0], name)?);
    }
    let fastest = entries.iter().filter_map(Entry::rate).fold(1.0, f64::max);
    let body = html! {
        p { "Per second of processor time, one thread, random games from the initial state. " code { (command) } }
        h2 { "Set-up, and peaks of memory with rollouts" }
        (set_ups(comparison))
        @if names.len() > 1 { h2 { "By number of roles" } (by_roles(comparison)) }
        @for plot in &plots { div { (PreEscaped(plot)) } }
        h2 { "Game by game" }
        p { "Bars: transitions/s, on a logarithmic scale." }
        div.wide { table {
            tr { @for title in COLUMNS { th { (title) } } th { "" } }
            @for entry in entries {
                tr {
                    @for (idx, cell) in row(entry).into_iter().enumerate() {
                        td.bad[idx + 1 == COLUMNS.len()] { (cell) }
                    }
                    td { div style="width: 12rem" { (bar(entry, names, fastest)) } }
                }
            }
        } }
        @if !unreadable.is_empty() {
            h2 { "Not compared" }
            ul { @for game in unreadable { li { (game.game) ": " span.bad { (game.error) } } } }
        }
    };
    Ok(html_page::render("Reasoners compared", STYLE, &body))
}

fn by_roles(comparison: &Comparison) -> Markup {
    html! {
        div.wide { table {
            tr { th { "games" } th { "reasoner" } th { "of" } th { "failed" } th { "differ" }
                 th { "transitions/s to those of " (comparison.names[0]) } th { "faster in" } }
            @for line in comparison.summary() {
                tr {
                    td { (line.kind) } td { (line.reasoner) } td { (line.n_games) } td { (line.n_failed) }
                    td { (line.n_differ) } td { (line.ratio.map_or("-".to_owned(), |it| format!("{it:.2}"))) }
                    td { (line.n_faster) }
                }
            }
        } }
    }
}

fn set_ups(comparison: &Comparison) -> Markup {
    html! {
        div.wide { table {
            tr { th { "reasoner" } th { "of" } th { "ready" }
                 th { "set-up s, median" } th { "90 %" } th { "most" }
                 th { "peak MB, median" } th { "90 %" } th { "most" } }
            @for of_reasoner in comparison.set_ups() {
                tr {
                    td { (of_reasoner.reasoner) } td { (of_reasoner.n_games) } td { (of_reasoner.n_ready) }
                    @for seconds in of_reasoner.seconds { td { (format!("{seconds:.3}")) } }
                    @for bytes in of_reasoner.peak_bytes { td { (format!("{:.1}", bytes / 1e6)) } }
                }
            }
        } }
    }
}

fn bar(entry: &Entry, names: &[String], fastest: f64) -> Markup {
    let Some(rate) = entry.rate() else { return html! {} };
    let width = 100.0 * rate.max(1.0).ln() / fastest.ln().max(1.0);
    let idx = names.iter().position(|name| *name == entry.key.reasoner).unwrap_or(0) % 3;
    let class = format!("bar r{idx}");
    html! { div class=(class) style=(format!("width: {width:.0}%")) {} }
}

/// One reasoner's transitions/s over another's, one point for each game, on logarithmic axes.
fn scatter(entries: &[Entry], first: &str, other: &str) -> Result<String, Failure> {
    let points: Vec<(f64, f64, String)> = entries
        .iter()
        .filter(|entry| entry.key.reasoner == other)
        .filter_map(|entry| {
            let of_first = entries.iter().find(|it| it.key.reasoner == first && it.game == entry.game)?;
            Some((of_first.rate()?, entry.rate()?, short_name(&entry.game)))
        })
        .filter(|&(x, y, _)| x > 0.0 && y > 0.0)
        .collect();
    let all = || points.iter().flat_map(|&(x, y, _)| [x, y]);
    let (low, high) = (all().fold(1e3, f64::min) / 2.0, all().fold(1e4, f64::max) * 2.0);
    let mut svg = String::new();
    draw(&mut svg, &points, low..high, first, other)
        .map_err(|error| Failure::work(error).context("the plot"))?;
    Ok(svg)
}

fn draw(
    svg: &mut String,
    points: &[(f64, f64, String)],
    range: std::ops::Range<f64>,
    first: &str,
    other: &str,
) -> Result<(), String> {
    let drawn = |error: &dyn std::fmt::Display| error.to_string();
    let area = SVGBackend::with_string(svg, (640, 480)).into_drawing_area();
    area.fill(&WHITE).map_err(|error| drawn(&error))?;
    let mut chart = ChartBuilder::on(&area)
        .caption(format!("{other} against {first}, transitions/s"), ("sans-serif", 18))
        .margin(10)
        // Half of the last label stands beyond the axis.
        .margin_right(44)
        .x_label_area_size(40)
        .y_label_area_size(70)
        .build_cartesian_2d((range.clone()).log_scale(), (range.clone()).log_scale())
        .map_err(|error| drawn(&error))?;
    let label = |rate: &f64| format!("{rate:.0}");
    chart
        .configure_mesh()
        .x_desc(first)
        .y_desc(other)
        .x_label_formatter(&label)
        .y_label_formatter(&label)
        .draw()
        .map_err(|error| drawn(&error))?;
    let diagonal = LineSeries::new([(range.start, range.start), (range.end, range.end)], BLACK.mix(0.4));
    chart.draw_series(diagonal).map_err(|error| drawn(&error))?;
    let circles = points.iter().map(|&(x, y, _)| Circle::new((x, y), 3, RGBColor(72, 120, 168).filled()));
    chart.draw_series(circles).map_err(|error| drawn(&error))?;
    if points.len() <= MOST_LABELS {
        // Beside the circle, in pixels.
        let beside = |name: &str| Text::new(name.to_owned(), (6, -5), ("sans-serif", 11));
        let labels = points.iter().map(|(x, y, name)| EmptyElement::at((*x, *y)) + beside(name));
        chart.draw_series(labels).map_err(|error| drawn(&error))?;
    }
    area.present().map_err(|error| drawn(&error))
}
