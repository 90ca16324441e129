//! Which kernel was tested at which level: the table that ends a test run.

use std::collections::{BTreeMap, HashMap};
use std::io::Write as _;

use lanecrypt_ciphers::{Algorithm, Isa, Level, Primitive};

/// What kernels are written for: a primitive, or a mode with kernels of its own.
pub(crate) trait Kernels: Copy + Ord {
    fn name(self) -> String;
    fn kernel_at(self, level: Level) -> Level;
}

impl Kernels for Algorithm {
    fn name(self) -> String {
        self.to_string()
    }

    fn kernel_at(self, level: Level) -> Level {
        self.kernel_at(level)
    }
}

impl Kernels for Primitive {
    fn name(self) -> String {
        self.name().to_owned()
    }

    fn kernel_at(self, level: Level) -> Level {
        self.kernel_at(level)
    }
}

/// Counts of vectors by kernel and level.
pub(crate) struct Matrix<K>(BTreeMap<K, HashMap<Level, usize>>);

impl<K: Kernels> Matrix<K> {
    pub(crate) fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// Notes one vector that came out right.
    pub(crate) fn tested(&mut self, row: K, level: Level) {
        *self.0.entry(row).or_default().entry(level).or_default() += 1;
    }

    /// The table, line by line.
    pub(crate) fn lines(&self) -> Vec<String> {
        let header: String = Level::built().iter().map(|level| format!("{level:>15}")).collect();
        let mut lines = vec![format!("{:<20}{header}", "kernel")];
        for (&row, counts) in &self.0 {
            let cells = Level::built().iter();
            let cells = cells.map(|&level| format!("{:>15}", cell(row, level, counts)));
            lines.push(format!("{:<20}{}", row.name(), cells.collect::<String>()));
        }
        lines
    }
}

fn cell(row: impl Kernels, level: Level, counts: &HashMap<Level, usize>) -> String {
    let kernel = row.kernel_at(level);
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
