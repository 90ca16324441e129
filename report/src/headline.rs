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

const WIDTH: f64 = 760.0;
const ROW: f64 = 30.0;
/// Where the field of marks is.
const LEFT: f64 = 210.0;
const RIGHT: f64 = 640.0;
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

/// The picture for a page; none without a row.
pub(crate) fn inline(results: &Results) -> Option<String> {
    drawn(results, "")
}

/// The picture as a file; none without a row.
pub(crate) fn file(results: &Results) -> Option<String> {
    drawn(results, svg::STYLES)
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

fn drawn(results: &Results, styles: &str) -> Option<String> {
    let charts = view::charts(results);
    let rows = rows(&charts, results.machine.tsc_ghz);
    if rows.is_empty() {
        return None;
    }
    let figures = rows.iter().flat_map(|row| row.figures.iter().map(|(_, figure)| *figure));
    let scale = Scale::new(figures, LEFT, RIGHT);
    let bottom = TOP + ROW * number::of(rows.len() as u64);
    let names = names(&rows);
    let height = bottom + 30.0 + LEGEND_ROW * number::of(names.len().div_ceil(IN_A_ROW) as u64);
    let top = if styles.is_empty() { 0.0 } else { 24.0 };
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 {:.0} {WIDTH} {:.0}\" role=\"img\" \
         aria-label=\"{TITLE}\">{styles}",
        -top,
        height + top
    );
    if top > 0.0 {
        let _ = write!(
            text,
            "<text class=\"text\" x=\"8\" y=\"-6\" font-weight=\"600\">{TITLE}</text>"
        );
    }
    axis(&mut text, &scale, bottom);
    for (place, row) in rows.iter().enumerate() {
        draw(&mut text, row, TOP + ROW * (number::of(place as u64) + 0.5), &scale);
    }
    legend(&mut text, &names, bottom + 34.0);
    Some(text + "</svg>")
}

fn axis(text: &mut String, scale: &Scale, bottom: f64) {
    for mark in scale.marks() {
        let x = scale.at(mark);
        let _ = write!(
            text,
            "<path class=\"grid\" d=\"M{x:.1} {TOP}V{bottom:.0}\"/><text class=\"text\" x=\"{x:.1}\" \
             y=\"{:.0}\" text-anchor=\"middle\">{}</text>",
            bottom + 15.0,
            duration(mark)
        );
    }
    let _ = write!(
        text,
        "<text class=\"text\" x=\"{:.0}\" y=\"16\" text-anchor=\"end\">against the best peer</text>",
        WIDTH - 6.0
    );
}

fn draw(text: &mut String, row: &Row<'_>, y: f64, scale: &Scale) {
    let _ = write!(
        text,
        "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{RIGHT}\"/><text class=\"text\" x=\"{:.0}\" \
         y=\"{:.1}\" text-anchor=\"end\">{}</text>",
        LEFT - 8.0,
        y + 4.0,
        row.name
    );
    // Ours last, so that it lies on top.
    for (line, figure) in row.figures.iter().rev() {
        let radius = if line.source == "lanecrypt" { 6.5 } else { 4.5 };
        let _ = write!(
            text,
            "<circle cx=\"{:.1}\" cy=\"{y:.1}\" r=\"{radius}\" fill=\"{}\" stroke=\"{}\"><title>{}, \
             {}: {} ns</title></circle>",
            scale.at(*figure),
            colour(&line.source),
            colour(&line.source),
            html(&line.label),
            row.name,
            number::figure(*figure)
        );
    }
    if let (Some(ours), Some((peer, theirs))) = (row.ours(), row.peer()) {
        let _ = write!(
            text,
            "<text class=\"text\" x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{:.2} × {}</text>",
            WIDTH - 6.0,
            y + 4.0,
            theirs / ours,
            html(&peer.source)
        );
    }
}

/// Names in a row of the legend, and pixels of a row.
const IN_A_ROW: usize = 6;
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

fn legend(text: &mut String, names: &[&str], top: f64) {
    for (place, name) in names.iter().enumerate() {
        let x = 16.0 + 124.0 * number::of((place % IN_A_ROW) as u64);
        let y = top + LEGEND_ROW * number::of((place / IN_A_ROW) as u64);
        let _ = write!(
            text,
            "<circle class=\"key\" cx=\"{x:.0}\" cy=\"{:.0}\" r=\"4.5\" fill=\"{}\"><title>{2}</title>\
             </circle><text class=\"text\" x=\"{3:.0}\" y=\"{y:.0}\">{2}</text>",
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
