//! Tables in documents, filled from results, so that no figure is copied by hand.
//!
//! A comment in the document says what the table has, and the table follows:
//!
//! ```text
//! <!-- figures: zen4, cycles
//! Lanecrypt = random/lanecrypt/per-thread/aes-256-ctr/*
//! rand = random/rand/thread-rng/chacha12/*
//! 32-byte key : fill/32/t1
//! 4 MiB, per byte : fill/4194304/t1, cycles a byte
//! -->
//! …
//! <!-- end of figures -->
//! ```
//!
//! `zen4` names the run. A line with `=` is a column with the ids of its points; the asterisk
//! stands for what the row says. `or` between ids means the better of them. `= zen3:` before the
//! ids takes them from another run. A line with ` : ` is a row, which may have a unit of its own.

use core::fmt::Write as _;

use lanecrypt_speed::Point;

use crate::{Run, number};

const BEGIN: &str = "<!-- figures: ";
const END: &str = "<!-- end of figures -->";

/// What figures are counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Cycles,
    CyclesAByte,
    Overhead,
    Nanoseconds,
    PerSecond,
    Megabytes,
}

impl Unit {
    fn named(name: &str) -> Result<Self, String> {
        Ok(match name {
            "cycles" => Self::Cycles,
            "cycles a byte" => Self::CyclesAByte,
            "overhead" => Self::Overhead,
            "ns" => Self::Nanoseconds,
            "in a second" => Self::PerSecond,
            "MB in a second" => Self::Megabytes,
            _ => return Err(format!("no unit is called {name}")),
        })
    }

    fn of(self, point: &Point) -> Option<f64> {
        let figure = match self {
            Self::Cycles => point.cycles,
            Self::CyclesAByte => point.cycles_per_byte(),
            Self::Overhead => point.overhead,
            Self::Nanoseconds => point.ns,
            Self::PerSecond => point.per_second,
            Self::Megabytes => point.megabytes_per_second(),
        };
        figure.filter(|figure| figure.is_finite())
    }

    /// The better one of two figures.
    fn better(self, a: f64, b: f64) -> f64 {
        match self {
            Self::PerSecond | Self::Megabytes => a.max(b),
            _ => a.min(b),
        }
    }
}

/// A column: its name, its run, and the ids of its points with asterisks.
struct Column<'t> {
    name: &'t str,
    run: &'t Run,
    ids: Vec<&'t str>,
}

/// A row: its name, what it puts for the asterisk, and its unit.
struct Row<'t> {
    name: &'t str,
    key: &'t str,
    unit: Unit,
}

/// The document with every table filled from the runs.
pub(crate) fn filled(document: &str, runs: &[Run]) -> Result<String, String> {
    let mut text = String::new();
    let mut rest = document;
    while let Some(at) = rest.find(BEGIN) {
        let (before, from) = rest.split_at(at);
        let comment = from.find("-->").ok_or("a comment of figures does not end")?;
        let end = from.find(END).ok_or_else(|| format!("a table lacks {END}"))?;
        let specification = &from[BEGIN.len()..comment];
        text += before;
        text += &from[..comment];
        text += "-->\n";
        text += &table(specification, runs)?;
        text += END;
        rest = &from[end + END.len()..];
    }
    Ok(text + rest)
}

fn run_named<'r>(name: &str, runs: &'r [Run]) -> Result<&'r Run, String> {
    let named = runs.iter().find(|run| run.name == name);
    named.ok_or_else(|| format!("no results are called {name}"))
}

fn table(specification: &str, runs: &[Run]) -> Result<String, String> {
    let mut lines = specification.lines();
    let head = lines.next().unwrap_or_default();
    let (run, unit) = head.split_once(", ").ok_or_else(|| format!("no unit in {head}"))?;
    let usual = run_named(run, runs)?;
    let unit = Unit::named(unit.trim())?;
    let (mut columns, mut rows) = (Vec::new(), Vec::new());
    for line in lines.filter(|line| !line.trim().is_empty()) {
        if let Some((name, ids)) = line.split_once(" = ") {
            let (run, ids) = match ids.split_once(": ") {
                Some((run, ids)) => (run_named(run, runs)?, ids),
                None => (usual, ids),
            };
            columns.push(Column { name, run, ids: ids.split(" or ").collect() });
        } else if let Some((name, key)) = line.split_once(" : ") {
            let (key, unit) = match key.split_once(", ") {
                Some((key, unit)) => (key, Unit::named(unit)?),
                None => (key, unit),
            };
            rows.push(Row { name, key, unit });
        } else {
            return Err(format!("neither a column nor a row: {line}"));
        }
    }
    let figures: Vec<Vec<Option<f64>>> =
        rows.iter().map(|row| columns.iter().map(|column| cell(column, row)).collect()).collect();
    for (place, column) in columns.iter().enumerate() {
        if figures.iter().all(|row| row[place].is_none()) {
            return Err(format!("no figure in the column {}", column.name));
        }
    }
    for (row, figures) in rows.iter().zip(&figures) {
        if figures.iter().all(Option::is_none) {
            return Err(format!("no figure in the row {}", row.name));
        }
    }
    Ok(markdown(&columns, &rows, &figures))
}

fn cell(column: &Column<'_>, row: &Row<'_>) -> Option<f64> {
    let ids: Vec<String> = column.ids.iter().map(|id| id.replace('*', row.key)).collect();
    let points = column.run.results.points.iter().filter(|point| ids.contains(&point.id));
    let points = points.filter(|point| point.verified || point.source == "document");
    points.filter_map(|point| row.unit.of(point)).reduce(|a, b| row.unit.better(a, b))
}

/// The table, with the best figure of each row and run in bold.
fn markdown(columns: &[Column<'_>], rows: &[Row<'_>], figures: &[Vec<Option<f64>>]) -> String {
    let mut text = String::from("| |");
    for column in columns {
        let _ = write!(text, " {} |", column.name);
    }
    let _ = writeln!(text, "\n|---|{}", "--:|".repeat(columns.len()));
    for (row, figures) in rows.iter().zip(figures) {
        let best = |run: &Run| {
            let cells = columns.iter().zip(figures);
            let of_run = cells.filter(|(column, _)| column.run.name == run.name);
            of_run.filter_map(|(_, figure)| *figure).reduce(|a, b| row.unit.better(a, b))
        };
        let _ = write!(text, "| {} |", row.name);
        for (column, figure) in columns.iter().zip(figures) {
            let _ = match figure.map(number::quoted) {
                None => write!(text, " – |"),
                Some(words) if best(column.run).map(number::quoted).as_ref() == Some(&words) => {
                    write!(text, " **{words}** |")
                }
                Some(words) => write!(text, " {words} |"),
            };
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::run;

    const TABLE: &str = "Before.\n<!-- figures: r, cycles\nOurs = random/lanecrypt/*\n\
        Theirs = random/kernel/* or random/none/*\nA key : 32\nSmall : 16, cycles a byte\n-->\n\
        old\n<!-- end of figures -->\nAfter.\n";

    fn named() -> [Run; 1] {
        [Run { name: "r".into(), ..run() }]
    }

    #[test]
    fn tables_are_filled() {
        let text = filled(TABLE, &named()).expect("it is good");
        assert!(text.contains("| | Ours | Theirs |\n|---|--:|--:|\n| A key | **12.0** | 240 |\n"));
        assert!(text.contains("| Small | **0.62** | – |\n<!-- end"), "{text}");
        assert!(!text.contains("old") && text.starts_with("Before.") && text.ends_with("After.\n"));
        assert_eq!(filled(&text, &named()).as_deref(), Ok(&*text), "nothing more to do");
    }

    #[test]
    fn columns_of_two_runs_stand_side_by_side() {
        let other = Run { name: "s".into(), ..run() };
        let table = TABLE.replace("Theirs = ", "Theirs, elsewhere = s: ");
        let text = filled(&table, &[named(), [other]].concat()).expect("it is good");
        assert!(text.contains("| | Ours | Theirs, elsewhere |\n"), "{text}");
        assert!(text.contains("| A key | **12.0** | **240** |\n"), "the best of each run: {text}");
    }

    #[test]
    fn mistakes_are_named() {
        let pairs = [
            ("r, cycles", "other, cycles", "no results are called other"),
            ("r, cycles", "r, hours", "no unit is called hours"),
            ("= random/lanecrypt", "= other: random/lanecrypt", "no results are called other"),
            ("lanecrypt/*", "nobody/*", "no figure in the column Ours"),
            ("A key : 32", "A key : 32\nOther : 33", "no figure in the row Other"),
            ("key : 32", "key 32", "neither a column nor a row"),
            (END, "", "lacks"),
        ];
        for (old, new, reason) in pairs {
            let error = filled(&TABLE.replace(old, new), &named()).expect_err(reason);
            assert!(error.contains(reason), "{error}");
        }
    }
}
