//! The output without a table: one screen with the most important rows, ours beside the best peers.
//!
//! Its points are those of the tables.

use crate::depth::Depth;
use crate::results::Point;
use crate::rivals::Rivals;
use crate::row::Row;
use crate::table::{MARK, READING, Table};
use crate::tables::{self, TABLES};

/// The first screen.
pub(crate) struct Headline;

impl Table for Headline {
    fn name(&self) -> &'static str {
        "speed"
    }

    /// With the look at the machine and the checks at the end that is half a minute, or 75 seconds.
    fn seconds(&self, depth: Depth) -> u64 {
        if depth == Depth::Quick { 28 } else { 72 }
    }

    fn rows(&self, rivals: &Rivals<'_>, depth: Depth) -> Vec<Row> {
        let rows = TABLES.iter().flat_map(|table| table.headline_rows(rivals, depth));
        let mut rows: Vec<Row> = rows.collect();
        // Rows of several threads take long on a busy machine, so all others come first.
        rows.sort_by_key(Row::threads);
        rows
    }

    fn finish(&self, points: &mut [Point]) {
        TABLES.iter().for_each(|table| table.finish(points));
    }

    fn text(&self, points: &[Point]) -> String {
        let mut out: String = TABLES.iter().map(|table| table.headline(points)).collect();
        out += READING;
        out += MARK;
        out += &format!(
            "Whole tables: lanecrypt speed {}.\n",
            tables::names().join(", ").replacen(", ", ", or ", 1)
        );
        out
    }
}
