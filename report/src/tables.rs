//! Figures as CSV and Markdown.

use core::fmt::Write as _;

use lanecrypt_speed::{Point, Results, Side, sheets};

use crate::chart::Chart;
use crate::escape::{csv as cell, markdown as escaped};
use crate::{Run, number};

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

/// The blocks of all runs as tables in Markdown, with the same cells as in the text of `speed`.
#[must_use]
pub fn markdown(runs: &[Run]) -> String {
    let mut text = String::new();
    for Run { name, results } in runs {
        let _ = writeln!(text, "# {}\n\n{}\n", escaped(name), results.machine.summary());
        let emulated = if results.machine.emulator.is_some() { ", EMULATED" } else { "" };
        for sheet in sheets(results) {
            for block in sheet.blocks {
                let line = |cells: &[String]| {
                    let cells: Vec<String> = cells.iter().map(|cell| escaped(cell)).collect();
                    format!("| {} |\n", cells.join(" | "))
                };
                let _ = writeln!(text, "## {}{emulated}\n", escaped(&block.title));
                if !block.rows.is_empty() {
                    let rule = "---|".repeat(block.header.len());
                    let rows: String = block.rows.iter().map(|row| line(row)).collect();
                    let _ = writeln!(text, "{}|{rule}\n{rows}", line(&block.header));
                }
                text += &words(&block.note);
            }
            text += &words(&sheet.legend);
        }
    }
    text
}

/// Sentences as a paragraph.
fn words(words: &str) -> String {
    if words.is_empty() { String::new() } else { escaped(words.trim_end()) + "\n\n" }
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
