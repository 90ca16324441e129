//! What runs of `lanecrypt speed` found: a page with pictures, single pictures, tables.
//!
//! Everything is drawn from [`Results`] alone. A page is one file: it needs no network, follows the
//! reader's light or dark theme, and prints.
//!
//! A chart has a line for each project, in the same colour everywhere. Where a project has several
//! entry points, the line is the fastest at each place. Only answers that were checked are drawn,
//! and figures of a source document, which are dashed.

#![forbid(unsafe_code)]

mod chart;
mod documents;
mod escape;
mod fill_tables;
mod findings;
mod headline;
mod number;
mod page;
mod palette;
mod scale;
mod svg;
mod tables;
mod view;

pub use lanecrypt_speed::Results;

pub use chart::Chart;
pub use tables::{csv, markdown};

/// One run: its results, and a short name for it.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a run has nothing else")]
pub struct Run {
    /// The name, such as that of a file.
    pub name: String,
    /// What was measured.
    pub results: Results,
}

/// A page with the charts of all runs, those of one kind beside each other.
#[must_use]
pub fn page(runs: &[Run]) -> String {
    page::page(runs)
}

/// The charts of a run, in the order of the page.
#[must_use]
pub fn charts(results: &Results) -> Vec<Chart> {
    view::charts(results)
}

/// The names of the pictures of a run: the headline's, and those of the charts.
#[must_use]
pub fn pictures(results: &Results) -> Vec<String> {
    let headline = headline::file(results).map(|_| headline::NAME.to_owned());
    headline.into_iter().chain(charts(results).iter().map(Chart::name)).collect()
}

/// One picture of a run as a file, by its name.
#[must_use]
pub fn picture(results: &Results, name: &str) -> Option<String> {
    if name == headline::NAME {
        return headline::file(results);
    }
    Some(charts(results).iter().find(|chart| chart.name() == name)?.svg())
}

/// A document in Markdown with its tables of figures filled from the runs. A table stands between a
/// comment that begins with `<!-- figures: ` and says what is in it, and `<!-- end of figures -->`.
///
/// # Errors
///
/// A sentence, if a comment cannot be read, or names a run, a unit or a point that there is not.
pub fn filled(document: &str, runs: &[Run]) -> Result<String, String> {
    fill_tables::filled(document, runs)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Two projects at three sizes, with names as somebody could have put into a file.
    pub(crate) fn run() -> Run {
        let point = |source: &str, size: u64, cycles: f64| {
            let id = format!("random/{source}/{size}");
            serde_json::json!({
                "id": id, "table": "random", "source": source, "api": "a", "subject": "s",
                "op": "fill", "size": size, "threads": 1, "cycles": cycles,
                "cycles_low": cycles * 0.9, "cycles_high": cycles * 1.1, "ns": cycles / 2.0,
                "per_second": 1e9, "verified": true,
            })
        };
        let sizes = [(16, 10.0), (32, 12.0), (4096, 900.0)];
        let ours = sizes.map(|(size, cycles)| point("lanecrypt", size, cycles));
        // Faster than ours at one of three sizes.
        let peers = [(16, 5.0), (32, 120.0), (4096, 9000.0)]
            .map(|(size, cycles)| point("<script>alert(1)</script>", size, cycles));
        let kernel = [point("kernel", 32, 240.0)];
        let points: Vec<_> = ours.into_iter().chain(peers).chain(kernel).collect();
        let machine = serde_json::json!({
            "cpu": "a \"processor\" <b>", "arch": "x86_64", "flags": [], "isa": "avx2",
            "processors": 2, "tsc_ghz": 2.0, "kernel": "6", "virtualised": false,
            "profile": "release", "libraries": [{"source": "openssl", "version": "<i>"}],
        });
        let conditions = serde_json::json!({
            "started": 1, "seconds": 75.0, "noise": 0.01, "others": 0.2, "interrupted": true,
            "warnings": ["<em>busy"],
        });
        let text = serde_json::json!({
            "schema": 2, "machine": machine, "conditions": conditions, "points": points,
        });
        let results = Results::from_json(&text.to_string()).expect("it is good");
        Run { name: "=a,<u>".into(), results }
    }

    #[test]
    fn pages_escape_what_files_say() {
        let page = page(&[run()]);
        assert!(page.contains("Doubtful:</b> &lt;em&gt;busy") && page.contains("was interrupted"));
        for text in ["<script>alert", "<i>&lt;", "<b>\"", "<u>", "<em>"] {
            assert!(!page.contains(text), "{text}");
        }
        assert_eq!(page.matches("<script>").count(), 1, "the page's own");
        assert!(page.contains("a &quot;processor&quot; &lt;b&gt;"));
        // Nothing is loaded.
        assert!(
            !page.contains("http://") || page.matches("http://www.w3.org/2000/svg").count() > 0
        );
        assert!(!page.contains("https://") && !page.contains("src="));
    }

    #[test]
    fn a_loss_is_said_first() {
        let chart = &charts(&run().results)[0];
        let found = findings::of(chart).expect("ours and a peer");
        assert!(found.text.starts_with("A peer is better at 1 of 3 places, most at 16 bytes"));
        assert!(found.text.contains("Ours is better at 2 of 3"), "{}", found.text);
        assert!((found.median - 10.0).abs() < 1e-9);
        let sentence = findings::random_key(&charts(&run().results)).expect("32 bytes");
        assert!(sentence.contains("12.0 cycles") && sentence.contains("20 times"), "{sentence}");
    }

    #[test]
    fn pictures_have_every_figure() {
        let run = run();
        let charts = charts(&run.results);
        let chart = charts.first().expect("a chart");
        assert_eq!(chart.name(), "random-random-bytes-cost-of-a-request");
        let svg = chart.svg();
        assert_eq!(svg.matches("<circle").count(), 7);
        assert!(svg.contains("lanecrypt, 4 Ki bytes: 900 cycles a request"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    /// A run with other points, as JSON has them, beside those of [`run`].
    fn with(points: &[serde_json::Value]) -> Run {
        let mut text = serde_json::to_value(run().results).expect("it is JSON");
        let all = text["points"].as_array_mut().expect("an array");
        all.extend(points.iter().cloned());
        let results = Results::from_json(&text.to_string()).expect("it is good");
        Run { name: "more".into(), results }
    }

    #[test]
    fn the_headline_compares_with_the_best_peer() {
        let run = run();
        let svg = picture(&run.results, "headline").expect("a key of 32 bytes was measured");
        // Two peers at 32 bytes: 120 and 240 cycles of half a nanosecond, against 12.
        assert!(svg.contains("lanecrypt, random key, 32 bytes: 6.00 ns"), "{svg}");
        assert!(svg.contains(">10.00 × &lt;script&gt;"), "{svg}");
        assert_eq!(pictures(&run.results)[0], "headline");
        assert!(page(&[run]).contains("<figure class=\"headline\">"));
    }

    #[test]
    fn documents_stand_beside_their_successors() {
        let read = |source: &str, megabytes: f64| {
            serde_json::json!({
                "id": format!("urandom/{source}"), "table": "urandom", "source": source, "api": "read",
                "subject": "chacha20", "op": "read", "size": 32, "threads": 1,
                "per_second": megabytes * 1e6 / 32.0, "verified": source != "document",
            })
        };
        let run = with(&[read("document", 19.0), read("kernel", 80.0), read("lanecrypt", 1900.0)]);
        let document =
            documents::DOCUMENTS.iter().find(|d| d.table == "urandom").expect("it is there");
        let rows = document.rows(&run.results);
        let [row] = &*rows else { panic!("{rows:?}") };
        assert_eq!(row.what, "reads of 32 bytes");
        for (figure, expected) in
            [(Some(row.then), 19.0), (row.successor, 80.0), (row.ours, 1900.0), (row.times, 100.0)]
        {
            assert!((figure.expect("a figure") - expected).abs() < 1e-6, "{row:?}");
        }
        assert!(page(&[run]).contains("<th>reads of 32 bytes</th><td>MB in a second</td>"));
    }

    #[test]
    fn tables_have_every_figure() {
        let runs = [run()];
        let csv = csv(&runs);
        assert_eq!(csv.lines().count(), 1 + 7);
        assert!(csv.contains("\"'=a,<u>\",\"a \"\"processor\"\" <b>\""), "{csv}");
        let columns = |line: &str| line.matches(',').count();
        assert_eq!(columns(csv.lines().next().expect("a head")), 21);
        let markdown = markdown(&runs);
        assert!(markdown.contains("| 4Ki |"), "{markdown}");
        assert!(markdown.contains("| 12.0* |"), "{markdown}");
    }

    #[test]
    fn emulated_figures_are_marked_everywhere() {
        let mut run = run();
        let charts_of = |run: &Run| charts(&run.results);
        let [plain] = &charts_of(&run)[..] else { panic!("one chart") };
        assert!(
            !plain.svg().contains("EMULATED") && !markdown(&[run.clone()]).contains("EMULATED")
        );
        assert!(!page(&[run.clone()]).contains("EMULATED"));
        run.results.machine.emulator = Some("qemu-<b>".into());
        let [marked] = &charts_of(&run)[..] else { panic!("one chart") };
        assert_eq!(marked.name(), plain.name());
        assert!(marked.svg().contains("EMULATED"));
        assert_eq!(markdown(&[run.clone()]).matches("EMULATED").count(), 2, "machine, chart");
        let page = page(&[run]);
        // The machine, the chart's title above it and in it.
        assert_eq!(page.matches("EMULATED").count(), 3, "{page}");
        assert!(page.contains("qemu-&lt;b&gt;") && !page.contains("qemu-<b>"));
    }

    #[test]
    fn figures_that_are_none_are_not_drawn() {
        let mut run = run();
        for point in &mut run.results.points {
            point.cycles = Some(f64::NAN);
        }
        assert!(charts(&run.results).iter().all(|chart| !chart.title.contains("cost")));
        run.results.points.clear();
        assert!(page(&[run]).contains("</html>"));
    }
}
