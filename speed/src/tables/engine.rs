//! The table `engine`: what the path to a driver and back costs.
//!
//! Its figures are those that the study of the OpenBSD cryptographic framework gives (USENIX 2003).

use crate::depth::Depth;
use crate::results::Point;
use crate::rivals::Rivals;
use crate::row::Row;
use crate::table::Table;
use crate::text;

/// The name of the table.
const NAME: &str = "engine";

/// The study's null algorithm, one blocked process: bytes of a request, and megabits per second.
const NULL: [(u64, f64); 2] = [(1024, 420.0), (8192, 600.0)];

/// The table.
pub(crate) struct Engine;

impl Table for Engine {
    fn name(&self) -> &'static str {
        NAME
    }

    fn rows(&self, _rivals: &Rivals<'_>, _depth: Depth) -> Vec<Row> {
        Vec::new()
    }

    fn given(&self) -> Vec<Point> {
        let point = |(size, megabits): (u64, f64)| Point {
            id: format!("{NAME}/document/null/process/{size}"),
            table: NAME.into(),
            source: "document".into(),
            api: "dev-crypto".into(),
            subject: "null".into(),
            op: "process".into(),
            size: Some(size),
            threads: Some(1),
            ns: Some(size as f64 * 8e3 / megabits),
            ..Point::default()
        };
        NULL.map(point).into()
    }

    fn text(&self, points: &[Point]) -> String {
        let each = points.iter().filter_map(|point| Some((point.size?, point.ns?)));
        let lines = each.map(|(size, ns)| {
            vec![size.to_string(), text::number(size as f64 * 8e3 / ns), text::number(ns)]
        });
        let header = ["bytes", "Mbit/s", "ns"].map(str::to_owned);
        let table = text::table(&header, "rrr", lines.collect());
        format!(
            "The study of 2003: the null algorithm through /dev/crypto, one blocked process\n{table}\
            Would a card help? lanecrypt speed engine --model FILE\n"
        )
    }
}
