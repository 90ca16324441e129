//! The output without a table: one screen with the most important rows, ours beside the best peers.
//!
//! Its points are those of the tables, and each table's are shown as soon as they are measured.

use crate::depth::Depth;
use crate::results::Point;
use crate::rivals::Rivals;
use crate::row::Row;
use crate::table::{MARK, READING, Table};
use crate::tables::{self, TABLES};

/// The rows of a table that are on the first screen; of some there are none.
#[derive(Clone, Copy)]
pub(crate) struct Headline(&'static dyn Table);

/// The first screen.
pub(crate) static HEADLINES: [Headline; TABLES.len()] = {
    let mut all = [Headline(TABLES[0]); TABLES.len()];
    let mut i = 0;
    while i < all.len() {
        all[i] = Headline(TABLES[i]);
        i += 1;
    }
    all
};

impl Table for Headline {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn rows(&self, rivals: &Rivals<'_>, depth: Depth) -> Vec<Row> {
        let mut rows = self.0.headline_rows(rivals, depth);
        // Rows of several threads take long on a busy machine, so all others come first.
        rows.sort_by_key(Row::threads);
        rows
    }

    fn finish(&self, points: &mut [Point]) {
        self.0.finish(points);
    }

    fn text(&self, points: &[Point]) -> String {
        let text = self.0.headline(points);
        text.strip_suffix('\n').map_or_else(String::new, str::to_owned)
    }
}

/// The default time of the whole screen in seconds. With the look at the machine and the checks at
/// the end that is half a minute, or 75 seconds.
pub(crate) fn seconds(depth: Depth) -> u64 {
    if depth == Depth::Quick { 28 } else { 72 }
}

/// How to read the screen, and how to see more.
pub(crate) fn closing() -> String {
    let names = tables::names().join(", ").replacen(", ", ", or ", 1);
    format!("\n{READING}{MARK}Whole tables: lanecrypt speed {names}.\n")
}
