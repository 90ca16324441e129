//! The drivers, and the messages of a batch that run in lanes.

use lanecrypt_engine::{Engine, LaneSource, Lanes};
use serde_json::{Value, json};

pub(super) struct Batches {
    drivers: Vec<String>,
    lanes: Lanes,
}

impl Batches {
    /// The engine's lanes; measured now if `calibrate`.
    pub(super) fn look(calibrate: bool) -> Self {
        let mut engine = Engine::new();
        if calibrate {
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
        let source = match self.lanes.source() {
            LaneSource::Calibrated => "measured now",
            _ => "built in; --calibrate measures",
        };
        let lanes = &self.lanes;
        text + "Bytes of messages that run in lanes, by the number of them in a batch "
            + &format!("({source})\n{lanes}")
    }

    pub(super) fn json(&self) -> Value {
        let rows = self.lanes.ranges().map(|row| {
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
            "source": match self.lanes.source() {
                LaneSource::Calibrated => "calibrated",
                _ => "built-in",
            },
            "side_by_side": rows.collect::<Vec<_>>(),
        })
    }
}
