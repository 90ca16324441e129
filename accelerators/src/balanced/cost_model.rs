//! What messages cost each driver: what it says, or what was measured.
//!
//! A group goes to the member that is cheapest alone, or is split so that all members finish at the
//! same time. Only asynchronous drivers, and one of the others, gain from a split.

use core::sync::atomic::{AtomicU32, Ordering};
use core::time::Duration;

use lanecrypt_engine::{Algorithm, Load, Operation};

use super::group::Group;
use super::members::{Member, Server};
use super::split::Line;

/// The cost of a group of messages on a driver.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cost {
    /// Given by the driver.
    Said(Line),
    Measured(Line),
    Unknown,
}

impl Cost {
    pub(super) fn line(self) -> Option<Line> {
        match self {
            Self::Said(line) | Self::Measured(line) => Some(line),
            Self::Unknown => None,
        }
    }
}

/// The longest mean length in bytes of each range of lengths, except of the last.
const RANGES: [usize; 5] = [64, 256, 1024, 4096, 16384];
/// The number of messages from which on they count as many.
const MANY: usize = 8;
const CELLS: usize = Algorithm::ALL.len() * Operation::OF_CIPHERS.len() * (RANGES.len() + 1) * 2;

/// The measured times of all drivers.
#[derive(Debug)]
pub(super) struct CostModel(Box<[Cell]>);

/// The measured time of messages of one algorithm and operation, in one range of lengths, by one
/// driver. Relaxed everywhere: the numbers are independent, and a lost one loses one measurement.
#[derive(Debug, Default)]
struct Cell {
    /// The nanoseconds of one message, as an [`f32`]; 0 if it has not been measured.
    each: AtomicU32,
    /// The nanoseconds that others took since it was last measured, as an [`f32`].
    waited: AtomicU32,
}

/// The weight of a new time, against that of all earlier ones.
const WEIGHT: f32 = 0.125;
/// The share of all time that measuring a driver may take that is not the fastest.
const PROBING: f32 = 1.0 / 64.0;

impl CostModel {
    pub(super) fn new(members: usize) -> Self {
        Self((0..members * CELLS).map(|_| Cell::default()).collect())
    }

    fn cell(&self, member: usize, group: &Group) -> Option<&Cell> {
        let range = RANGES.iter().take_while(|&&longest| longest < group.mean()).count();
        let many = usize::from(group.messages >= MANY);
        let operations = Operation::OF_CIPHERS;
        let operation = operations.iter().position(|&it| it == group.operation)?;
        let kind = group.row * operations.len() + operation;
        let place = (kind * (RANGES.len() + 1) + range) * 2 + many;
        self.0.get(member * CELLS + place)
    }

    /// Notes that a driver took this time for some messages of a group.
    pub(super) fn note(&self, member: usize, group: &Group, messages: usize, time: Duration) {
        let Some(cell) = self.cell(member, group) else { return };
        #[expect(clippy::cast_precision_loss, reason = "it is measured")]
        let now = (time.as_secs_f32() * 1e9 / messages.max(1) as f32).max(f32::MIN_POSITIVE);
        let each = match load(&cell.each) {
            0.0 => now,
            each => each + WEIGHT * (now - each),
        };
        store(&cell.each, each);
        store(&cell.waited, 0.0);
    }

    /// The cost of a group on the member with this number.
    pub(super) fn of(&self, at: usize, member: &Member, group: &Group) -> Cost {
        let said = match &member.server {
            Server::Software(_) => None,
            Server::Driver(driver) => {
                let of = |messages| {
                    let bytes = group.mean().saturating_mul(messages);
                    driver.cost(Load::new(group.algorithm, group.operation, messages, bytes))
                };
                of(1).zip(of(group.messages)).map(|(one, all)| {
                    let nanoseconds = |time: Duration| time.as_secs_f64() * 1e9;
                    Line::through(nanoseconds(one), nanoseconds(all), group.messages)
                })
            }
        };
        said.map_or_else(|| self.measured(at, group), Cost::Said)
    }

    fn measured(&self, member: usize, group: &Group) -> Cost {
        match self.cell(member, group).map_or(0.0, |cell| load(&cell.each)) {
            0.0 => Cost::Unknown,
            each => Cost::Measured(Line { fixed: 0.0, each: each.into() }),
        }
    }

    /// Whether to measure a driver without messages of a group: others have taken so long that its
    /// `probe` is negligible. `time` is their current time.
    #[expect(clippy::cast_possible_truncation, reason = "it is an estimate")]
    pub(super) fn is_overdue(&self, member: usize, group: &Group, time: f64, probe: f64) -> bool {
        let Some(cell) = self.cell(member, group) else { return false };
        let waited = load(&cell.waited) + time as f32;
        let overdue = waited * PROBING > probe as f32;
        store(&cell.waited, if overdue { 0.0 } else { waited });
        overdue
    }
}

fn load(place: &AtomicU32) -> f32 {
    f32::from_bits(place.load(Ordering::Relaxed))
}

fn store(place: &AtomicU32, number: f32) {
    place.store(number.to_bits(), Ordering::Relaxed);
}

#[cfg(test)]
#[path = "../../tests/unit/cost_model.rs"]
mod tests;
