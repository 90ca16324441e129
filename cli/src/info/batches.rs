//! The drivers, and the messages of a batch that run in lanes.

use lanecrypt_engine::{CostSource, Engine, SideBySide};
use serde_json::{Value, json};

/// The numbers of requests in a batch, one for each column.
const COLUMNS: [usize; 5] = [2, 4, 8, 16, 64];

pub(super) struct Batches {
    drivers: Vec<String>,
    source: CostSource,
    rows: Vec<SideBySide>,
    /// The measured figures, in the form of the built-in tables.
    table: Option<String>,
}

impl Batches {
    /// The engine's costs; measured now if `calibrate`.
    pub(super) fn look(calibrate: bool) -> Self {
        let mut engine = Engine::new();
        if calibrate {
            engine.calibrate();
        }
        let costs = engine.costs();
        Self {
            drivers: engine.drivers().map(str::to_owned).collect(),
            source: costs.source(),
            rows: costs.side_by_side().collect(),
            table: calibrate.then(|| costs.to_string()),
        }
    }

    /// The names of the drivers.
    pub(super) fn drivers(&self) -> String {
        self.drivers.join(", ")
    }

    pub(super) fn text(&self) -> String {
        let mut text = format!("\nDrivers: {}\n", self.drivers());
        if self.rows.is_empty() {
            text += "At this level no messages of a batch run in lanes.\n";
        } else {
            text += &self.ranges();
        }
        if let Some(table) = &self.table {
            text += "\nMeasured nanoseconds, in the form of the engine's source\n";
            text += "(engine/src/cost/built_in)\n\n";
            text += table;
        }
        text
    }

    fn ranges(&self) -> String {
        let mut text =
            String::from("Bytes of messages that run in lanes, by the number of them in a batch ");
        text += match self.source {
            CostSource::Calibrated => "(measured now)\n",
            _ => "(built in; --calibrate measures)\n",
        };
        text += &format!("{:<36}", "");
        for column in COLUMNS {
            text += &format!("{:>12}", format!("{column} or more"));
        }
        text += "\n";
        for (name, ranges) in self.lines() {
            text += &format!("{name:<36}");
            for range in ranges {
                text += &format!("{range:>12}");
            }
            text += "\n";
        }
        text
    }

    /// A line for each algorithm and operation; one line for two operations that have the same
    /// ranges.
    fn lines(&self) -> Vec<(String, [String; COLUMNS.len()])> {
        let mut lines: Vec<(String, [String; COLUMNS.len()])> = Vec::new();
        for rows in self.rows.chunk_by(|one, next| {
            (one.algorithm, one.operation) == (next.algorithm, next.operation)
        }) {
            let ranges = COLUMNS.map(|column| {
                let row = rows.iter().find(|row| row.requests == column);
                row.map_or_else(|| String::from("-"), range)
            });
            let Some(SideBySide { algorithm, operation, .. }) = rows.first() else { continue };
            let name = format!("{algorithm} ");
            match lines.last_mut() {
                Some((last, same)) if last.starts_with(&name) && *same == ranges => {
                    *last += &format!(", {}", operation.name());
                }
                _ => lines.push((name + operation.name(), ranges)),
            }
        }
        lines
    }

    pub(super) fn json(&self) -> Value {
        let rows = self.rows.iter().map(|row| {
            json!({
                "algorithm": row.algorithm.to_string(),
                "operation": row.operation.name(),
                "requests": row.requests,
                "shortest": row.shortest,
                "longest": (row.longest != usize::MAX).then_some(row.longest),
            })
        });
        json!({
            "drivers": self.drivers,
            "source": match self.source {
                CostSource::Calibrated => "calibrated",
                _ => "built-in",
            },
            "side_by_side": rows.collect::<Vec<_>>(),
            "table": self.table,
        })
    }
}

/// The least and the most bytes, if there is a limit.
fn range(row: &SideBySide) -> String {
    match (row.shortest, row.longest) {
        (0 | 1, usize::MAX) => String::from("all"),
        (shortest, usize::MAX) => format!("{shortest}-"),
        (shortest, longest) => format!("{shortest}-{longest}"),
    }
}
