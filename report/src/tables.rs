//! Figures as CSV and Markdown.

use core::fmt::Write as _;

use lanecrypt_speed::{Point, Results};

use crate::chart::{Chart, Side};
use crate::escape::{csv as cell, markdown as escaped};
use crate::{Run, charts, number};

/// All points of all runs as CSV (RFC 4180): a line for each, numbers with points.
#[must_use]
pub fn csv(runs: &[Run]) -> String {
    let mut text = String::from(
        "run,cpu,isa,id,table,source,version,api,subject,op,size,batch,depth,threads,cycles,\
         cycles_low,cycles_high,ns,per_second,overhead,p99_ns,verified\r\n",
    );
    for run in runs {
        let Results { machine, points, .. } = &run.results;
        for point in points {
            let Point { id, table, source, api, subject, op, .. } = point;
            let version = point.version.as_deref().unwrap_or_default();
            let isa = point.isa.as_deref().unwrap_or_default();
            let names: [&str; 10] =
                [&run.name, &machine.cpu, isa, id, table, source, version, api, subject, op];
            let whole = [
                point.size,
                point.batch.map(u64::from),
                point.depth.map(u64::from),
                point.threads.map(u64::from),
            ];
            let figures = [
                point.cycles,
                point.cycles_low,
                point.cycles_high,
                point.ns,
                point.per_second,
                point.overhead,
                point.p99_ns,
            ];
            let mut cells: Vec<String> = names.iter().map(|name| cell(name)).collect();
            cells.extend(whole.iter().map(|n| n.map_or_else(String::new, |n| n.to_string())));
            cells.extend(figures.iter().map(|n| n.map_or_else(String::new, |n| n.to_string())));
            cells.push(point.verified.to_string());
            text += &cells.join(",");
            text += "\r\n";
        }
    }
    text
}

/// The charts of all runs as tables in Markdown.
#[must_use]
pub fn markdown(runs: &[Run]) -> String {
    let mut text = String::new();
    for run in runs {
        let _ = writeln!(text, "# {}\n\n{}\n", escaped(&run.name), run.results.machine.summary());
        for chart in charts(&run.results) {
            let title = escaped(&chart.heading());
            let _ = writeln!(text, "## {title}\n\n{}\n", chart.measure.unit());
            let names: Vec<String> = chart.lines.iter().map(|line| escaped(&line.label)).collect();
            let _ = writeln!(text, "| {} | {} |", chart.over.unit(), names.join(" | "));
            let _ = writeln!(text, "|--:|{}", "--:|".repeat(names.len()));
            for (place, figures) in rows(&chart) {
                let _ = writeln!(text, "| {place} | {} |", figures.join(" | "));
            }
            text.push('\n');
        }
    }
    text
}

/// The rows of a chart's table: the place, and the figure of each line there.
pub(crate) fn rows(chart: &Chart) -> Vec<(String, Vec<String>)> {
    let row = |place: f64| {
        let figures = chart.lines.iter().map(|line| {
            let mark = line.marks.iter().find(|mark| mark.at.total_cmp(&place).is_eq());
            mark.map_or_else(String::new, |mark| number::figure(mark.figure))
        });
        let name = match chart.over {
            Side::Size => number::place(place),
            _ => format!("{place}"),
        };
        (name, figures.collect())
    };
    chart.places().into_iter().map(row).collect()
}
