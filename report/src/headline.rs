//! One picture for who asks whether this is faster than what they use: usual requests, ours and
//! each peer on one axis of time.

use core::fmt::Write as _;

use lanecrypt_speed::{Measure, Results};

use crate::chart::{Chart, Line};
use crate::escape::html;
use crate::palette::colour;
use crate::scale::Scale;
use crate::{number, svg, view};

pub(crate) const TITLE: &str = "Nanoseconds of usual requests; left is faster";
/// The name of the picture.
pub(crate) const NAME: &str = "headline";

/// A request: its name, and where its figures are: table, title and subject of a chart, and the
/// place in it.
struct Usual(&'static str, &'static str, &'static str, &'static str, f64);

const ONE: &str = "Messages, one at a time";

const USUAL: &[Usual] = &[
    Usual("random key, 32 bytes", "random", "Random bytes: cost of a request", "", 32.0),
    Usual("AES-128-GCM, 64 bytes", "packets", ONE, "aes-128-gcm, seal", 64.0),
    Usual("AES-128-GCM, 1500 bytes", "packets", ONE, "aes-128-gcm, seal", 1500.0),
    Usual("ChaCha20-Poly1305, 64 bytes", "packets", ONE, "chacha20-poly1305, seal", 64.0),
    Usual("ChaCha20-Poly1305, 1500 bytes", "packets", ONE, "chacha20-poly1305, seal", 1500.0),
    Usual("AES-128-CTR, 64 bytes", "packets", ONE, "aes-128-ctr, encrypt", 64.0),
    Usual("a table's cell, 32 bytes", "columns", "Cells of a table", "aes-128-gcm, encrypt", 32.0),
    Usual(
        "RSA-2048 signature, 8 at once",
        "rsa",
        "Signatures in a second, by how many at once",
        "rsa-2048, sign",
        8.0,
    ),
];

/// Where things are in a picture, in pixels.
struct Layout {
    class: &'static str,
    width: f64,
    row: f64,
    /// Where the field of marks is.
    left: f64,
    right: f64,
    /// How far above its line a row's text is; the name is left of the line if that is nothing.
    above: f64,
    /// Names in a row of the legend.
    names: usize,
}

const WIDE: Layout = Layout {
    class: "wide",
    width: 760.0,
    row: 30.0,
    left: 210.0,
    right: 640.0,
    above: 0.0,
    names: 6,
};
/// For phones.
const NARROW: Layout = Layout {
    class: "narrow",
    width: 340.0,
    row: 46.0,
    left: 12.0,
    right: 328.0,
    above: 14.0,
    names: 3,
};
const TOP: f64 = 26.0;

/// A row with what it shows: nanoseconds of each project.
struct Row<'c> {
    name: &'static str,
    figures: Vec<(&'c Line, f64)>,
}

impl Row<'_> {
    fn ours(&self) -> Option<f64> {
        Some(self.figures.iter().find(|(line, _)| line.source == "lanecrypt")?.1)
    }

    /// The fastest peer.
    fn peer(&self) -> Option<(&Line, f64)> {
        let peers = self.figures.iter().filter(|(line, _)| line.source != "lanecrypt");
        peers.min_by(|a, b| a.1.total_cmp(&b.1)).copied()
    }
}

/// The pictures for a page, for wide screens and narrow ones; none without a row.
pub(crate) fn inline(results: &Results) -> Option<[String; 2]> {
    Some([drawn(results, &WIDE, "")?, drawn(results, &NARROW, "")?])
}

/// The picture as a file; none without a row.
pub(crate) fn file(results: &Results) -> Option<String> {
    drawn(results, &WIDE, svg::STYLES)
}

fn rows<'c>(charts: &'c [Chart], ghz: f64) -> Vec<Row<'c>> {
    let row = |&Usual(name, table, title, about, at): &Usual| {
        let chart = charts
            .iter()
            .find(|chart| (chart.table, chart.title, &*chart.about) == (table, title, about))?;
        let nanoseconds = |figure: f64| match chart.measure {
            Measure::PerSecond => 1e9 / figure,
            Measure::Nanoseconds => figure,
            _ => figure / ghz,
        };
        let of = |line: &'c Line| {
            if line.source == "document" {
                return None;
            }
            let mark = line.marks.iter().find(|mark| mark.at.total_cmp(&at).is_eq());
            // Peers of RSA have one call for each signature.
            let alone = line.marks.first().filter(|_| table == "rsa");
            Some((line, nanoseconds(mark.or(alone)?.figure)))
        };
        let row = Row { name, figures: chart.lines.iter().filter_map(of).collect() };
        (row.ours().is_some() && row.peer().is_some()).then_some(row)
    };
    USUAL.iter().filter_map(row).collect()
}

fn drawn(results: &Results, layout: &Layout, styles: &str) -> Option<String> {
    let charts = view::charts(results);
    let rows = rows(&charts, results.machine.tsc_ghz);
    if rows.is_empty() {
        return None;
    }
    let Layout { class, width, row, .. } = *layout;
    let figures = rows.iter().flat_map(|row| row.figures.iter().map(|(_, figure)| *figure));
    let scale = Scale::new(figures, layout.left, layout.right);
    let bottom = TOP + row * number::of(rows.len() as u64);
    let names = names(&rows);
    let lines = number::of(names.len().div_ceil(layout.names) as u64);
    let height = bottom + 30.0 + LEGEND_ROW * lines;
    let top = if styles.is_empty() { 0.0 } else { 24.0 };
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"{class}\" \
         viewBox=\"0 {:.0} {width} {:.0}\" role=\"img\" aria-label=\"{TITLE}\">{styles}",
        -top,
        height + top
    );
    if top > 0.0 {
        let _ = write!(
            text,
            "<text class=\"text\" x=\"8\" y=\"-6\" font-weight=\"600\">{TITLE}</text>"
        );
    }
    axis(&mut text, &scale, width, bottom);
    for (place, shown) in rows.iter().enumerate() {
        let middle = (row + layout.above) / 2.0;
        draw(&mut text, shown, TOP + row * number::of(place as u64) + middle, &scale, layout);
    }
    legend(&mut text, &names, bottom + 34.0, layout);
    Some(text + "</svg>")
}

fn axis(text: &mut String, scale: &Scale, width: f64, bottom: f64) {
    for mark in scale.marks() {
        let x = scale.at(mark);
        let _ = write!(
            text,
            "<path class=\"grid\" d=\"M{x:.1} {TOP}V{bottom:.0}\"/>\
             <text class=\"text\" x=\"{x:.1}\" y=\"{:.0}\" text-anchor=\"middle\">{}</text>",
            bottom + 15.0,
            duration(mark)
        );
    }
    write_at(text, (width - 6.0, 16.0), "end", "best peer ÷ ours");
}

/// Text at a place, with the end of it that is there.
fn write_at(text: &mut String, (x, y): (f64, f64), anchor: &str, what: &str) {
    let _ = write!(
        text,
        "<text class=\"text\" x=\"{x:.0}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{what}</text>"
    );
}

fn draw(text: &mut String, row: &Row<'_>, y: f64, scale: &Scale, layout: &Layout) {
    let Layout { left, right, above, width, .. } = *layout;
    let _ = write!(text, "<path class=\"grid\" d=\"M{left} {y:.1}H{right}\"/>");
    let line = if above > 0.0 { y - above } else { y + 4.0 };
    match above > 0.0 {
        true => write_at(text, (left, line), "start", row.name),
        false => write_at(text, (left - 8.0, line), "end", row.name),
    }
    // Ours last, so that it lies on top.
    for (line, figure) in row.figures.iter().rev() {
        let radius = if line.source == "lanecrypt" { 6.5 } else { 4.5 };
        let _ = write!(
            text,
            "<circle cx=\"{:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{1}\" stroke=\"{1}\">\
             <title>{2}, {3}: {4} ns</title></circle>",
            scale.at(*figure),
            colour(&line.source),
            html(&line.label),
            row.name,
            number::figure(*figure)
        );
    }
    if let (Some(ours), Some((peer, theirs))) = (row.ours(), row.peer()) {
        let ratio = format!("{:.2} × {}", theirs / ours, html(&peer.source));
        write_at(text, (width - 6.0, line), "end", &ratio);
    }
}

/// The height of a row of the legend.
const LEGEND_ROW: f64 = 18.0;

/// The projects, each once, in the order of the rows.
fn names<'c>(rows: &[Row<'c>]) -> Vec<&'c str> {
    let mut names: Vec<&str> = Vec::new();
    for (line, _) in rows.iter().flat_map(|row| &row.figures) {
        if !names.contains(&&*line.source) {
            names.push(&line.source);
        }
    }
    names
}

fn legend(text: &mut String, names: &[&str], top: f64, layout: &Layout) {
    let in_a_row = layout.names;
    let column = (layout.width - 16.0) / number::of(in_a_row as u64);
    for (place, name) in names.iter().enumerate() {
        let x = 16.0 + column * number::of((place % in_a_row) as u64);
        let y = top + LEGEND_ROW * number::of((place / in_a_row) as u64);
        let _ = write!(
            text,
            "<circle class=\"key\" cx=\"{x:.0}\" cy=\"{:.0}\" r=\"4.5\" fill=\"{}\">\
             <title>{2}</title></circle><text class=\"text\" x=\"{3:.0}\" y=\"{y:.0}\">{2}</text>",
            y - 4.0,
            colour(name),
            html(name),
            x + 9.0
        );
    }
}

/// A mark of the axis: `5 ns`, `20 µs`, `1 ms`.
fn duration(nanoseconds: f64) -> String {
    match nanoseconds {
        _ if nanoseconds >= 1e6 => format!("{} ms", nanoseconds / 1e6),
        _ if nanoseconds >= 1e3 => format!("{} µs", nanoseconds / 1e3),
        _ => format!("{} ns", (nanoseconds * 10.0).round() / 10.0),
    }
}
