//! Text for people: numbers and tables.

use comfy_table::{CellAlignment, Table, presets};

/// A table without lines around it. Columns of numbers are aligned right.
#[must_use]
pub(crate) fn table(header: &[impl AsRef<str>], rows: &[Vec<String>]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header.iter().map(AsRef::as_ref));
    for row in rows {
        table.add_row(row);
    }
    for (at, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 1));
        let mut cells = rows.iter().filter_map(|row| row.get(at));
        column.set_cell_alignment(match cells.all(|cell| is_number(cell)) {
            true => CellAlignment::Right,
            false => CellAlignment::Left,
        });
    }
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n") + "\n"
}

/// A line in several, each of at most 100 columns, with the further ones indented.
#[must_use]
pub(crate) fn wrapped(line: &str) -> String {
    let (mut out, mut width) = (String::new(), 0);
    for word in line.split(' ') {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > 100 {
            out += "\n  ";
            width = 2;
        } else if width > 0 {
            out.push(' ');
            width += 1;
        }
        out += word;
        width += length;
    }
    out + "\n"
}

/// Whether a cell has a number with its marks and unit, or nothing.
fn is_number(cell: &str) -> bool {
    let begins = cell.starts_with(|c: char| c.is_ascii_digit() || "~+-(?".contains(c));
    let is_of_number = |c: char| c.is_ascii_digit() || "~+-.()?*%xkMKi".contains(c);
    cell.is_empty() || begins && cell.chars().all(is_of_number)
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
        assert_eq!(table(&["name", "n"], &rows), "name    n\na    1.00\nlong   10\n");
        for (cell, is) in
            [("~12.3x", true), ("-", true), ("4Mi", true), ("1 to 2", false), ("3des", false)]
        {
            assert_eq!(is_number(cell), is, "{cell}");
        }
    }
}
