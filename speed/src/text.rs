//! Text for people: numbers and tables.

use comfy_table::{CellAlignment, Table, presets};

/// A table without lines around it.
///
/// `sides` has a letter for each column: `l` for text, aligned left, `r` for numbers.
#[must_use]
pub(crate) fn table(header: &[impl AsRef<str>], sides: &str, rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header.iter().map(AsRef::as_ref));
    for row in rows {
        table.add_row(row);
    }
    for (column, side) in table.column_iter_mut().zip(sides.chars()) {
        column.set_padding((0, 1));
        let side = if side == 'l' { CellAlignment::Left } else { CellAlignment::Right };
        column.set_cell_alignment(side);
    }
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n") + "\n"
}

/// The same under a title and before an empty line; without rows there is nothing.
#[must_use]
pub(crate) fn titled(
    title: &str,
    header: &[&str],
    sides: &str,
    rows: impl IntoIterator<Item = Vec<String>>,
) -> String {
    let rows: Vec<Vec<String>> = rows.into_iter().collect();
    if rows.is_empty() {
        return String::new();
    }
    format!("{title}\n{}\n", table(header, sides, rows))
}

/// A table of names and, under this header, numbers.
#[must_use]
pub(crate) fn numbers(header: impl IntoIterator<Item = String>, rows: Vec<Vec<String>>) -> String {
    let header: Vec<String> = [String::new()].into_iter().chain(header).collect();
    table(&header, &format!("l{}", "r".repeat(header.len() - 1)), rows)
}

/// A number that may be missing.
#[must_use]
pub(crate) fn optional(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), number)
}

/// Three significant figures or the whole number, then `k` and `M`, to fit a column.
#[must_use]
pub(crate) fn number(value: f64) -> String {
    match value {
        v if v < 9.995 => format!("{v:.2}"),
        v if v < 99.95 => format!("{v:.1}"),
        v if v < 99_999.5 => format!("{v:.0}"),
        v if v < 999_500.0 => format!("{:.0}k", v / 1e3),
        v if v < 99_995_000.0 => format!("{:.2}M", v / 1e6),
        v => format!("{:.0}M", v / 1e6),
    }
}

/// A factor with two or three figures.
#[must_use]
pub(crate) fn times(ratio: f64) -> String {
    match ratio {
        r if r < 9.95 => format!("{r:.2}x"),
        r if r < 99.5 => format!("{r:.1}x"),
        r => format!("{r:.0}x"),
    }
}

/// A size in bytes with binary prefixes, as in `4Ki`.
#[must_use]
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        b if b >= 1 << 20 && b % (1 << 20) == 0 => format!("{}Mi", b >> 20),
        b if b >= 1 << 10 && b % (1 << 10) == 0 => format!("{}Ki", b >> 10),
        b => b.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_fit_their_column() {
        for (value, text) in [
            (3.579, "3.58"),
            (9.996, "10.0"),
            (199.4, "199"),
            (51_105.0, "51105"),
            (149_000.0, "149k"),
            (3_290_000.0, "3.29M"),
            (149_370_000.0, "149M"),
        ] {
            assert_eq!(number(value), text);
        }
        assert_eq!([size(4), size(1024), size(4 << 20), size(1000)], ["4", "1Ki", "4Mi", "1000"]);
        assert_eq!([times(1.234), times(12.34), times(123.4)], ["1.23x", "12.3x", "123x"]);
    }

    #[test]
    fn columns_line_up() {
        let rows = vec![vec!["a".into(), "1.00".into()], vec!["long".into(), "10".into()]];
        assert_eq!(table(&["name", "n"], "lr", rows), "name    n\na    1.00\nlong   10\n");
    }
}
