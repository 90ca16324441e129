//! The drivers, and the messages of a batch that run in lanes.

use lanecrypt_engine::{Engine, LaneSource, Lanes};
use serde_json::{Value, json};

pub(super) struct Batches {
    drivers: Vec<String>,
    lanes: Lanes,
}

impl Batches {
    /// The drivers, and the engine's lanes, which are measured if they are shown.
    pub(super) fn look(shows_lanes: bool) -> Self {
        let mut engine = Engine::new();
        if shows_lanes {
            engine.calibrate();
        }
        Self { drivers: engine.drivers().map(str::to_owned).collect(), lanes: *engine.lanes() }
    }

    /// The names of the drivers.
    pub(super) fn drivers(&self) -> String {
        self.drivers.join(", ")
    }

    pub(super) fn text(&self) -> String {
        let text = format!("\nDrivers: {}\n", self.drivers());
        if self.lanes.ranges().next().is_none() {
            return text + "At this level no messages of a batch run in lanes.\n";
        }
        let lanes = &self.lanes;
        text + "Bytes of messages that run in lanes, by their number in a batch (measured now)\n"
            + &lanes.to_string()
    }

    pub(super) fn json(&self) -> Value {
        let rows = self.lanes.ranges().map(|row| {
            json!({
                "algorithm": row.algorithm.to_string(),
                "operation": row.operation.name(),
                "requests": row.requests,
                "shortest": row.shortest,
                "longest": (row.longest != usize::MAX).then_some(row.longest),
                "source": match self.lanes.source(row.algorithm, row.operation) {
                    Some(LaneSource::Measured) => "measured",
                    _ => "built-in",
                },
            })
        });
        json!({
            "drivers": self.drivers,
            "side_by_side": rows.collect::<Vec<_>>(),
        })
    }
}
