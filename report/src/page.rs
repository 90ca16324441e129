//! The page.

use core::fmt::Write as _;

use crate::chart::Chart;
use crate::documents::DOCUMENTS;
use crate::escape::html;
use crate::palette::{class, classes};
use crate::tables::rows;
use crate::{Run, charts, findings, headline, number, svg};

/// What tables are about, in the order of the page. The documents that describe the systems come
/// with each: what they measured stands beside what is measured here.
const SECTIONS: &[(&str, &str, &str)] = &[
    ("random", "Random numbers", "NetBSD's study of cprng_fast, and Linux's generator"),
    ("packets", "Whole messages", "each with its own key and nonce"),
    ("calls", "What a call costs", "libgcrypt's study of overhead by chunk"),
    ("tls", "TLS and QUIC", "through rustls"),
    ("rsa", "RSA signatures", "the OpenBSD Cryptographic Framework's figures 1 to 3 count these"),
    ("handshakes", "Handshakes", "one at a time and many in flight"),
    ("columns", "Columns of tables", "each cell with a nonce and a tag"),
    ("engine", "Requests through the engine", "sessions, drivers and queues"),
    ("device", "Requests through a daemon", "/dev/crypto of today"),
    ("urandom", "A device of random bytes", "the two tests by dd"),
];

pub(crate) fn page(runs: &[Run]) -> String {
    let drawn: Vec<Vec<Chart>> = runs.iter().map(|run| charts(&run.results)).collect();
    let mut text = String::from(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\
         <link rel=\"icon\" href=\"data:,\"><title>Lanecrypt: speed</title><style>",
    );
    text += include_str!("page.css");
    text += &classes();
    text += "</style></head><body><h1>How fast are small cryptographic requests?</h1>";
    for run in runs {
        let verdict = lanecrypt_speed::verdict(&run.results);
        if !verdict.is_empty() {
            let name =
                if runs.len() > 1 { format!("{}: ", html(&run.name)) } else { String::new() };
            let _ = write!(text, "<p class=\"verdict\">{name}{}</p>", html(&verdict));
        }
    }
    text += "<p>Measured by <code>lanecrypt speed</code>: ours and other implementations, \
             interleaved in one run on one machine. Both axes of a chart are logarithmic. Lower is \
             better, except where a unit is “in a second”.</p>";
    // The pictures first: they answer before anybody scrolls.
    for run in runs {
        if let Some([wide, narrow]) = headline::inline(&run.results) {
            let name = if runs.len() > 1 { html(&run.name) } else { String::new() };
            let _ = write!(
                text,
                "<figure class=\"headline\"><h3>{} <small>{name}</small></h3>{wide}{narrow}</figure>",
                headline::TITLE
            );
        }
    }
    machines(&mut text, runs);
    summary(&mut text, runs, &drawn);
    text += "<nav>";
    for (table, title, _) in SECTIONS {
        if drawn.iter().flatten().any(|chart| chart.table == *table) {
            let _ = write!(text, "<a href=\"#{table}\">{title}</a>");
        }
    }
    text += "</nav>";
    for &(table, title, about) in SECTIONS {
        section(&mut text, runs, &drawn, table, title, about);
    }
    text += "<div id=\"tip\" hidden></div><script>";
    text += include_str!("page.js");
    text + "</script></body></html>\n"
}

/// What the machine did meanwhile, and what makes the figures doubtful.
fn conditions(text: &mut String, run: &Run) {
    let Some(conditions) = &run.results.conditions else { return };
    let about = conditions.summary(run.results.machine.core_ghz);
    let about = about.lines().map(html).collect::<Vec<_>>().join("<br>");
    let _ = write!(text, "<p><small>{about}</small></p>");
    if conditions.interrupted {
        *text += "<p><b>This run was interrupted: points are missing.</b></p>";
    }
    if !conditions.warnings.is_empty() {
        let warnings = conditions.warnings.join("; ");
        let _ = write!(text, "<p><small><b>Doubtful:</b> {}</small></p>", html(&warnings));
    }
}

fn machines(text: &mut String, runs: &[Run]) {
    for run in runs {
        let summary = run.results.machine.summary();
        let lines = summary.lines().map(html).collect::<Vec<_>>().join("<br>");
        let mut peers: Vec<String> = Vec::new();
        for library in &run.results.machine.libraries {
            // Crates of other names have theirs in their versions.
            let name = match library.version.starts_with(&library.source) {
                true => library.version.clone(),
                false => format!("{} {}", library.source, library.version),
            };
            if library.source != "rustcrypto" && !peers.contains(&name) {
                peers.push(name);
            }
        }
        let _ = write!(
            text,
            "<p><b>{}</b>: {lines}<br><small>{}</small></p>",
            html(&run.name),
            html(&peers.join(" · "))
        );
        conditions(text, run);
    }
}

/// What was found, the losses first.
fn summary(text: &mut String, runs: &[Run], drawn: &[Vec<Chart>]) {
    text.push_str("<h2 id=\"found\">What was found</h2>");
    for (run, charts) in runs.iter().zip(drawn) {
        let mut found: Vec<(f64, String)> = charts
            .iter()
            .filter_map(|chart| findings::of(chart).map(|found| (found.median, chart.heading())))
            .collect();
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        let lost: Vec<&(f64, String)> = found.iter().filter(|(times, _)| *times < 0.98).collect();
        let _ = write!(text, "<p><b>{}</b>: ", html(&run.name));
        if lost.is_empty() {
            text.push_str("no peer is better in the median of any chart. ");
        } else {
            let names: Vec<String> =
                lost.iter().map(|(times, name)| format!("{} ({times:.2} ×)", html(name))).collect();
            let _ = write!(
                text,
                "a peer is better in the median of {} of {} charts: {}. ",
                lost.len(),
                found.len(),
                names.join("; ")
            );
        }
        if let Some((times, _)) = found.get(found.len() / 2) {
            let _ = write!(
                text,
                "In the median chart ours is {times:.2} times as fast as the best peer. "
            );
        }
        if let Some(sentence) = findings::random_key(charts) {
            text.push_str(&sentence);
        }
        text.push_str("</p>");
    }
}

fn section(
    text: &mut String,
    runs: &[Run],
    drawn: &[Vec<Chart>],
    table: &str,
    title: &str,
    about: &str,
) {
    let mut names: Vec<(&str, &str)> = Vec::new();
    for chart in drawn.iter().flatten().filter(|chart| chart.table == table) {
        let name = (chart.title, chart.about.as_str());
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut body = String::new();
    for run in runs {
        documents(&mut body, run, table, runs.len() > 1);
    }
    if names.is_empty() && body.is_empty() {
        return;
    }
    let _ = write!(text, "<h2 id=\"{table}\">{title}</h2><p class=\"weak\">{about}.</p>{body}");
    text.push_str("<div class=\"charts\">");
    for name in names {
        for (run, charts) in runs.iter().zip(drawn) {
            let chart = charts
                .iter()
                .find(|chart| chart.table == table && (chart.title, chart.about.as_str()) == name);
            if let Some(chart) = chart {
                figure(text, run, chart, runs.len() > 1);
            }
        }
    }
    text.push_str("</div>");
}

/// The documents' own figures beside those of a run.
fn documents(text: &mut String, run: &Run, table: &str, names_run: bool) {
    for document in DOCUMENTS.iter().filter(|document| document.table == table) {
        let rows = document.rows(&run.results);
        if rows.is_empty() {
            continue;
        }
        let name = if names_run { html(&run.name) } else { String::new() };
        let _ = write!(
            text,
            "<figure class=\"document\"><h3>{} <small>{name}</small></h3><p class=\"weak\">{}</p>\
             <div class=\"scroll\"><table><tr><th></th><th></th><th>the document</th><th>{}</th>\
             <th>ours here</th><th>better by</th></tr>",
            document.title, document.machine, document.successor
        );
        for row in rows {
            let cell = |value: Option<f64>| value.map_or_else(String::new, number::figure);
            let _ = write!(
                text,
                "<tr><th>{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
                html(&row.what),
                row.unit,
                number::figure(row.then),
                cell(row.successor),
                cell(row.ours),
                row.times.map_or_else(String::new, |times| format!("{} ×", number::figure(times)))
            );
        }
        text.push_str("</table></div></figure>");
    }
}

fn figure(text: &mut String, run: &Run, chart: &Chart, names_run: bool) {
    let _ = write!(text, "<figure id=\"{}\"><h3>{}", chart.name(), html(&chart.heading()));
    if names_run {
        let _ = write!(text, " <small>{}</small>", html(&run.name));
    }
    text.push_str("</h3><ul class=\"names\">");
    for line in &chart.lines {
        let _ = write!(text, "<li><i class=\"{}\"></i>{}", class(&line.source), html(&line.label));
    }
    text.push_str("</ul>");
    text.push_str(&svg::inline(chart));
    if let Some(found) = findings::of(chart) {
        let _ = write!(text, "<p>{}</p>", html(&found.text));
    }
    let _ = write!(
        text,
        "<details><summary>Figures, and how to measure them</summary><p><code>{}</code></p>\
         <div class=\"scroll\"><table><tr><th>{}",
        chart.command(),
        chart.over.unit()
    );
    // HTML needs no ends of items, cells and rows, and a page has ten thousand.
    for line in &chart.lines {
        let _ = write!(text, "<th>{}", html(&line.label));
    }
    for (place, figures) in rows(chart) {
        let _ = write!(text, "<tr><th>{place}");
        for figure in figures {
            let _ = write!(text, "<td>{figure}");
        }
    }
    text.push_str("</table></div></details></figure>");
}
