//! A chart as SVG.

use core::fmt::Write as _;

use crate::chart::{Chart, Line, Mark};
use crate::escape::html;
use crate::number;
use crate::palette::{colour, dashes};
use crate::scale::Scale;
use crate::tables::{about, heading};

const WIDTH: f64 = 520.0;
const HEIGHT: f64 = 300.0;
/// Where the field of lines is.
const LEFT: f64 = 52.0;
const RIGHT: f64 = 510.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 262.0;

/// The styles of a picture that is a file of its own. In a page, the page's own styles colour text and
/// grid.
pub(crate) const STYLES: &str = "<style>svg{font:12px system-ui,sans-serif;background:#fff}\
    .grid{stroke:#ddd}.text{fill:#333}@media(prefers-color-scheme:dark){svg{background:#16181c}\
    .grid{stroke:#3a3d42}.text{fill:#ddd}}</style>";

/// The picture for a page.
pub(crate) fn inline(chart: &Chart) -> String {
    drawn(chart, "")
}

/// The picture as a file: with its own title, names of lines and colours of text.
pub(crate) fn file(chart: &Chart) -> String {
    drawn(chart, STYLES)
}

fn drawn(chart: &Chart, styles: &str) -> String {
    let is_file = !styles.is_empty();
    // A file has its title above and the names of its lines below.
    let (top, bottom) = if is_file { (44.0, legend_height(chart)) } else { (0.0, 0.0) };
    let across = Scale::new(chart.places().into_iter(), LEFT, RIGHT);
    let marks = chart.lines.iter().flat_map(|line| &line.marks);
    let up = Scale::new(marks.flat_map(|mark| [mark.low, mark.figure, mark.high]), BOTTOM, TOP);
    let title = html(&heading(chart));
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 {:.0} {WIDTH} {:.0}\" role=\"img\" \
         aria-label=\"{title}\">{styles}",
        -top,
        HEIGHT + top + bottom
    );
    if is_file {
        let _ = write!(svg, "<text class=\"text\" x=\"8\" y=\"-26\" font-weight=\"600\">");
        let _ = write!(svg, "{}</text>", html(chart.title));
        let _ = write!(svg, "<text class=\"text\" x=\"8\" y=\"-8\">{}</text>", html(&about(chart)));
    }
    axes(&mut svg, chart, &across, &up);
    let mut drawn: Vec<&str> = Vec::new();
    // Ours last, so that it lies on top.
    for line in chart.lines.iter().rev() {
        let nth = drawn.iter().filter(|source| **source == line.source).count();
        drawn.push(&line.source);
        draw(&mut svg, chart, line, nth, &across, &up);
    }
    if is_file {
        legend(&mut svg, chart);
    }
    svg + "</svg>"
}

fn axes(svg: &mut String, chart: &Chart, across: &Scale, up: &Scale) {
    for mark in up.marks() {
        let y = up.at(mark);
        let _ = write!(
            svg,
            "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{RIGHT}\"/>\
             <text class=\"text\" x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 6.0,
            y + 4.0,
            short(mark)
        );
    }
    let mut end = f64::NEG_INFINITY;
    for place in chart.places() {
        let x = across.at(place);
        let text = number::place(place);
        // Names that would touch are left out.
        let half = 3.5 * number::of(text.len() as u64) + 3.0;
        if x - half > end {
            let _ = write!(
                svg,
                "<path class=\"grid\" d=\"M{x:.1} {TOP}V{BOTTOM}\"/>\
                 <text class=\"text\" x=\"{x:.1}\" y=\"{:.0}\" text-anchor=\"middle\">{text}</text>",
                BOTTOM + 16.0
            );
            end = x + half;
        }
    }
    let _ = write!(
        svg,
        "<text class=\"text\" x=\"{RIGHT}\" y=\"{:.0}\" text-anchor=\"end\">{}</text>\
         <text class=\"text\" x=\"{:.0}\" y=\"{:.0}\">{}</text>",
        BOTTOM + 34.0,
        chart.over.unit(),
        LEFT + 4.0,
        TOP + 10.0,
        chart.measure.unit()
    );
}

fn draw(svg: &mut String, chart: &Chart, line: &Line, nth: usize, across: &Scale, up: &Scale) {
    let colour = colour(&line.source);
    let at = |mark: &Mark| (across.at(mark.at), up.at(mark.figure));
    let path: Vec<String> = line
        .marks
        .iter()
        .map(|mark| {
            let (x, y) = at(mark);
            format!("{x:.1} {y:.1}")
        })
        .collect();
    let width = if line.source == "lanecrypt" { 2.6 } else { 1.6 };
    let _ = write!(
        svg,
        "<g stroke=\"{colour}\" fill=\"{colour}\"><path fill=\"none\" stroke-width=\"{width}\" \
         stroke-dasharray=\"{}\" d=\"M{}\"/>",
        dashes(&line.source, nth),
        path.join("L")
    );
    for mark in &line.marks {
        let (x, y) = at(mark);
        let (low, high) = (up.at(mark.low), up.at(mark.high));
        if (low - high).abs() > 3.0 {
            let _ = write!(svg, "<path d=\"M{x:.1} {low:.1}V{high:.1}\"/>");
        }
        let _ = write!(
            svg,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"><title>{}, {} {}: {} {}</title></circle>",
            html(&line.label),
            number::place(mark.at),
            chart.over.unit(),
            number::figure(mark.figure),
            chart.measure.unit()
        );
    }
    svg.push_str("</g>");
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
