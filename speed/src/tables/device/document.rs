//! The study's figures, as in the table `engine`: the null algorithm by one blocked process.

use super::NAME;
use crate::results::Point;
use crate::tables::engine;

/// The figures as points.
pub(super) fn points() -> Vec<Point> {
    let points = engine::document::points().into_iter().map(|point| Point {
        id: format!("{NAME}/document/null/process/{}", point.size.unwrap_or(0)),
        table: NAME.into(),
        threads: None,
        processes: Some(1),
        ..point
    });
    points.collect()
}
