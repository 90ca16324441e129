//! The study's figures: the null algorithm through `/dev/crypto`, one blocked process.

use super::NAME;
use crate::results::Point;

/// Bytes of a request, and megabits per second.
///
/// The rest of the study's Figure 1 exists as a picture only.
const NULL: [(u64, f64); 2] = [(1024, 420.0), (8192, 600.0)];

/// The name of the bar in the study's Figure 1.
pub(crate) const BAR: &str = "KERNEL-NULL";

/// The figures as points.
pub(crate) fn points() -> Vec<Point> {
    let point = |(size, megabits): (u64, f64)| {
        let ns = size as f64 * 8e3 / megabits;
        Point {
            id: format!("{NAME}/document/null/process/{size}"),
            table: NAME.into(),
            source: "document".into(),
            api: "dev-crypto".into(),
            subject: "null".into(),
            op: "process".into(),
            size: Some(size),
            depth: Some(1),
            threads: Some(1),
            ns: Some(ns),
            per_second: Some(1e9 / ns),
            ..Point::default()
        }
    };
    NULL.map(point).into()
}
