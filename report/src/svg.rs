//! A chart as SVG.

use core::fmt::Write as _;

use crate::chart::{Chart, Line};
use crate::escape::html;
use crate::number;
use crate::palette::{class, colour, dashes};
use crate::scale::Scale;

const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 300.0;
/// Where the field of lines is.
const LEFT: f64 = 52.0;
const RIGHT: f64 = 510.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 262.0;

/// The styles of a picture that is a file of its own. In a page, the page's own styles colour text
/// and grid.
pub(crate) const STYLES: &str = "<style>svg{font:12px system-ui,sans-serif;background:#fff}\
    .grid{stroke:#ddd}.text{fill:#333}@media(prefers-color-scheme:dark){svg{background:#16181c}\
    .grid{stroke:#3a3d42}.text{fill:#ddd}}</style>";

/// The picture for a page.
pub(crate) fn inline(chart: &Chart) -> String {
    drawn(chart, "")
}

impl Chart {
    /// The picture, as a file of its own: with its title, names of lines and colours of text.
    #[must_use]
    pub fn svg(&self) -> String {
        drawn(self, STYLES)
    }
}

fn drawn(chart: &Chart, styles: &str) -> String {
    let is_file = !styles.is_empty();
    // A file has its title above and the names of its lines below.
    let (top, bottom) = if is_file { (44.0, legend_height(chart)) } else { (0.0, 0.0) };
    let across = Scale::new(chart.places().into_iter(), LEFT, RIGHT);
    let marks = chart.lines.iter().flat_map(|line| &line.marks);
    let up = Scale::new(marks.flat_map(|mark| [mark.low, mark.figure, mark.high]), BOTTOM, TOP);
    let title = html(&chart.heading());
    let (y, height) = (0.0 - top, HEIGHT + top + bottom);
    let mut svg = format!("<svg viewBox=\"0 {y:.0} {WIDTH} {height:.0}\" role=\"img\" ");
    if is_file {
        svg.push_str("xmlns=\"http://www.w3.org/2000/svg\" ");
    } else {
        // The page's script finds the rest of what a mark says in the table of the chart.
        let _ = write!(svg, "data-unit=\"{}\" ", chart.measure.unit());
    }
    let _ = write!(svg, "aria-label=\"{title}\">{styles}");
    if is_file {
        let _ = write!(svg, "<text class=\"text\" x=\"8\" y=\"-26\" font-weight=\"600\">");
        let _ = write!(svg, "{}</text>", html(chart.title));
        let _ =
            write!(svg, "<text class=\"text\" x=\"8\" y=\"-8\">{}</text>", html(&chart.subtitle()));
    }
    axes(&mut svg, chart, &across, &up);
    let mut drawn: Vec<&str> = Vec::new();
    // Ours last, so that it lies on top.
    for (column, line) in chart.lines.iter().enumerate().rev() {
        let nth = drawn.iter().filter(|source| **source == line.source).count();
        drawn.push(&line.source);
        // The styles of the page have the width of lines and the radius of marks.
        let column = (!is_file).then_some(column + 1);
        draw(&mut svg, chart, line, nth, (&across, &up), column);
    }
    if is_file {
        legend(&mut svg, chart);
    }
    svg + "</svg>"
}

fn axes(svg: &mut String, chart: &Chart, across: &Scale, up: &Scale) {
    let (mut grid, mut left, mut below) = (String::new(), String::new(), String::new());
    for mark in up.marks() {
        let y = up.at(mark);
        let _ = write!(grid, "M{LEFT} {y:.0}H{RIGHT}");
        let _ = write!(left, "<text y=\"{:.0}\">{}</text>", y + 4.0, short(mark));
    }
    let mut end = f64::NEG_INFINITY;
    for place in chart.places() {
        let x = across.at(place);
        let text = number::place(place);
        // Names that would touch, in the larger type of phones, are left out.
        let half = 5.2 * number::of(text.len() as u64) + 3.0;
        if x - half > end {
            let _ = write!(grid, "M{x:.0} {TOP}V{BOTTOM}");
            let _ = write!(below, "<text x=\"{x:.0}\">{text}</text>");
            end = x + half;
        }
    }
    let (over, unit) = (chart.over.unit(), chart.measure.unit());
    let _ = write!(
        svg,
        "<path class=\"grid\" d=\"{grid}\"/>\
         <g class=\"text\" text-anchor=\"end\" transform=\"translate({:.0})\">{left}</g>\
         <g class=\"text\" text-anchor=\"middle\" transform=\"translate(0 {:.0})\">{below}</g>\
         <text class=\"text\" text-anchor=\"end\" x=\"{RIGHT}\" y=\"{:.0}\">{over}</text>\
         <text class=\"text\" x=\"{:.0}\" y=\"{:.0}\">{unit}</text>",
        LEFT - 6.0,
        BOTTOM + 16.0,
        BOTTOM + 34.0,
        LEFT + 4.0,
        TOP + 10.0,
    );
}

/// One line. In a page it names its `column` in the chart's table; a file has everything in itself.
fn draw(
    svg: &mut String,
    chart: &Chart,
    line: &Line,
    nth: usize,
    (across, up): (&Scale, &Scale),
    column: Option<usize>,
) {
    let label = html(&line.label);
    let (mut path, mut intervals, mut circles) = (String::new(), String::new(), String::new());
    for mark in &line.marks {
        let (x, y) = (across.at(mark.at), up.at(mark.figure));
        let _ = write!(path, "{}{x:.0} {y:.0}", if path.is_empty() { 'M' } else { 'L' });
        let (low, high) = (up.at(mark.low), up.at(mark.high));
        if (low - high).abs() > 3.0 {
            let _ = write!(intervals, "M{x:.0} {low:.0}V{high:.0}");
        }
        let _ = write!(circles, "<circle cx=\"{x:.0}\" cy=\"{y:.0}\"");
        if column.is_some() {
            circles.push_str("/>");
            continue;
        }
        let (at, figure) = (number::place(mark.at), number::figure(mark.figure));
        let (over, unit) = (chart.over.unit(), chart.measure.unit());
        let tooltip = format_args!("{label}, {at} {over}: {figure} {unit}");
        let _ = write!(circles, " r=\"3\"><title>{tooltip}</title></circle>");
    }
    if let Some(column) = column {
        let class = class(&line.source);
        let _ = write!(svg, "<g class=\"{class}\" data-column=\"{column}\"><path d=\"{path}\"");
    } else {
        let colour = colour(&line.source);
        let width = if line.source == "lanecrypt" { 2.6 } else { 1.6 };
        let _ = write!(
            svg,
            "<g stroke=\"{colour}\" fill=\"{colour}\">\
             <path fill=\"none\" stroke-width=\"{width}\" d=\"{path}\""
        );
    }
    let dashes = dashes(&line.source, nth);
    if !dashes.is_empty() {
        let _ = write!(svg, " stroke-dasharray=\"{dashes}\"");
    }
    svg.push_str("/>");
    if !intervals.is_empty() {
        let _ = write!(svg, "<path d=\"{intervals}\"/>");
    }
    let _ = write!(svg, "{circles}</g>");
}

/// Names in a row of the legend, and pixels of a row.
const IN_A_ROW: usize = 4;
const ROW: f64 = 18.0;

fn legend_height(chart: &Chart) -> f64 {
    ROW * number::of(chart.lines.len().div_ceil(IN_A_ROW) as u64) + 6.0
}

fn legend(svg: &mut String, chart: &Chart) {
    for (place, line) in chart.lines.iter().enumerate() {
        let column = number::of((place % IN_A_ROW) as u64);
        let row = number::of((place / IN_A_ROW) as u64);
        let (x, y) = (12.0 + column * 126.0, HEIGHT + 10.0 + row * ROW);
        let _ = write!(
            svg,
            "<path stroke=\"{}\" stroke-width=\"3\" d=\"M{x} {:.0}h18\"/>\
             <text class=\"text\" x=\"{:.0}\" y=\"{y:.0}\">{}</text>",
            colour(&line.source),
            y - 4.0,
            x + 24.0,
            html(&line.label)
        );
    }
}

/// A mark of an axis: `0.5`, `200`, `5k`, `2M`.
fn short(value: f64) -> String {
    match value {
        _ if value >= 1e9 => format!("{}G", value / 1e9),
        _ if value >= 1e6 => format!("{}M", value / 1e6),
        _ if value >= 1e3 => format!("{}k", value / 1e3),
        // Powers of ten are products, whose last digits are not those that they should be.
        _ => format!("{}", (value * 1e6).round() / 1e6),
    }
}
