//! Which kernel was tested at which level: the table that ends a test run.

use std::collections::BTreeMap;
use std::io::Write as _;

use lanecrypt_ciphers::{Isa, Level, Primitive};

/// Counts of vectors by kernel and level.
#[derive(Default)]
pub(crate) struct Matrix(BTreeMap<Primitive, BTreeMap<Level, usize>>);

impl Matrix {
    /// Notes one vector that came out right.
    pub(crate) fn tested(&mut self, primitive: Primitive, level: Level) {
        *self.0.entry(primitive).or_default().entry(level).or_default() += 1;
    }

    /// The table, line by line.
    pub(crate) fn lines(&self) -> Vec<String> {
        let header: String = Level::ALL.map(|level| format!("{level:>15}")).concat();
        let mut lines = vec![format!("{:<12}{header}", "kernel")];
        for (&primitive, counts) in &self.0 {
            let cells = Level::ALL.map(|level| format!("{:>15}", cell(primitive, level, counts)));
            lines.push(format!("{:<12}{}", primitive.name(), cells.concat()));
        }
        lines
    }
}

fn cell(primitive: Primitive, level: Level, counts: &BTreeMap<Level, usize>) -> String {
    let kernel = primitive.kernel_at(level);
    match counts.get(&level) {
        _ if kernel != level => format!("= {kernel}"),
        Some(count) => format!("{count} tested"),
        None if Isa::of_processor().has(level) => String::from("NOT TESTED"),
        None => String::from("not available"),
    }
}

/// Writes lines that begin with `label` past the test harness, which swallows only what `print!`
/// writes: `cargo test | grep ^MATRIX` shows the table of any run.
pub(crate) fn say(label: &str, lines: &[String]) {
    // The harness may have begun a line of its own.
    let mut text = String::from("\n");
    for line in lines {
        text += &format!("{label} {line}\n");
    }
    std::io::stdout().lock().write_all(text.as_bytes()).expect("stdout takes the matrix");
}
