//! What the cells of this table's texts have in common.

use crate::results::Point;
use crate::tables::grid;

/// The label that tells the lines of a block apart.
pub(super) fn label(point: &Point) -> String {
    if point.source != "document" {
        return grid::name(point);
    }
    let hardware = match (point.api.as_str(), point.subject.starts_with("aes")) {
        (_, false) => "",
        ("gcry-nohw", true) => ", no AES-NI",
        _ => ", AES-NI",
    };
    format!("the message{hardware}")
}

/// A tilde where the cycles per byte of two points cannot be told apart.
pub(super) fn tilde(a: &Point, b: &Point) -> &'static str {
    let scaled = |point: &Point| {
        let size = crate::clock::as_f64(point.size?);
        let estimate = point.estimate()?;
        Some((estimate.low / size, estimate.high / size))
    };
    match (scaled(a), scaled(b)) {
        (Some((low, high)), Some((other_low, other_high)))
            if low <= other_high && other_low <= high =>
        {
            "~"
        }
        _ => "",
    }
}

/// Cycles with one decimal, if it is significant.
pub(super) fn tenths(cycles: f64) -> String {
    if cycles.abs() < 999.95 { format!("{cycles:.1}") } else { format!("{cycles:.0}") }
}
