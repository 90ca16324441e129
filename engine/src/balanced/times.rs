//! What messages cost each driver: what it says, or what was measured.

use core::sync::atomic::{AtomicU32, Ordering};
use core::time::Duration;

use super::Balanced;
use super::divide::Line;
use super::group::Group;
use crate::class::Class;
use crate::{Load, Operation};

/// What a group of messages costs a driver.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cost {
    /// The driver says so.
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
/// From this many messages on they count as many.
const MANY: usize = 8;
const CELLS: usize = Class::COUNT * (RANGES.len() + 1) * 2;

/// The measured times of all drivers.
#[derive(Debug)]
pub(super) struct Times(Box<[Cell]>);

/// The measured time of messages of one class, in one range of lengths, by one driver. Relaxed
/// everywhere: each number is for itself, and a lost one is one measurement less.
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

impl Times {
    pub(super) fn new(members: usize) -> Self {
        Self((0..members * CELLS).map(|_| Cell::default()).collect())
    }

    fn cell(&self, member: usize, group: &Group) -> Option<&Cell> {
        let range = RANGES.iter().take_while(|&&longest| longest < group.mean()).count();
        let many = usize::from(group.messages >= MANY);
        let place = (group.class.number() * (RANGES.len() + 1) + range) * 2 + many;
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

    fn measured(&self, member: usize, group: &Group) -> Cost {
        match self.cell(member, group).map_or(0.0, |cell| load(&cell.each)) {
            0.0 => Cost::Unknown,
            each => Cost::Measured(Line { fixed: 0.0, each: each.into() }),
        }
    }

    /// Whether it is time to measure a driver that gets nothing of a group: others have taken so
    /// long that its `probe` hardly counts. `time` is what they take now.
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

impl Balanced {
    /// What a group costs a member.
    pub(super) fn cost(&self, member: usize, group: &Group) -> Cost {
        let said = match self.members.get(member).map(|member| &member.driver) {
            None => None,
            Some(None) => None,
            Some(Some(driver)) => {
                let of = |messages| {
                    let (algorithm, operation) = (group.algorithm, group.class.operation());
                    let bytes = group.mean().saturating_mul(messages);
                    driver.cost(Load { algorithm, operation, messages, bytes })
                };
                of(1).zip(of(group.messages)).map(|(one, all)| {
                    let nanoseconds = |time: Duration| time.as_secs_f64() * 1e9;
                    Line::through(nanoseconds(one), nanoseconds(all), group.messages)
                })
            }
        };
        said.map_or_else(|| self.times.measured(member, group), Cost::Said)
    }
}

const _: () = assert!(Operation::OF_CIPHERS.len() * 128 <= Class::COUNT);

#[cfg(test)]
mod tests {
    use lanecrypt_ciphers::Algorithm;

    use super::super::members::Mask;
    use super::*;

    fn group(messages: usize, bytes: usize) -> Group {
        let algorithm = Algorithm::AES_128_GCM;
        let class = Class::of(algorithm).with(Operation::Seal);
        Group { class, algorithm, by: Mask::first(2), messages, bytes: messages * bytes }
    }

    fn each(times: &Times, member: usize, group: &Group) -> Option<f64> {
        times.measured(member, group).line().map(|line| line.each)
    }

    #[test]
    fn the_mean_follows_what_is_measured() {
        let (times, group) = (Times::new(2), group(10, 100));
        assert_eq!(each(&times, 1, &group), None);
        times.note(1, &group, 10, Duration::from_nanos(1000));
        assert_eq!(each(&times, 1, &group), Some(100.0));
        times.note(1, &group, 5, Duration::from_nanos(1000));
        assert_eq!(each(&times, 1, &group), Some(112.5));
        for _ in 0..100 {
            times.note(1, &group, 10, Duration::from_nanos(3000));
        }
        let now = each(&times, 1, &group).expect("it was measured");
        assert!((now - 300.0).abs() < 0.1, "{now}");
    }

    #[test]
    fn each_driver_range_and_number_has_its_own_time() {
        let times = Times::new(2);
        times.note(0, &group(10, 100), 10, Duration::from_nanos(1000));
        for (member, other) in [(1, group(10, 100)), (0, group(10, 300)), (0, group(2, 100))] {
            assert_eq!(each(&times, member, &other), None);
        }
        assert_eq!(each(&times, 0, &group(200, 256)), Some(100.0));
        // The longest messages have a place, too.
        times.note(1, &group(1, usize::MAX), 1, Duration::from_secs(1));
        assert_eq!(each(&times, 1, &group(1, 1 << 40)), Some(1e9));
    }

    #[test]
    fn probes_take_a_small_share_of_the_time() {
        let (times, group) = (Times::new(2), group(10, 100));
        let probes = (0..10_000).filter(|_| times.is_overdue(1, &group, 100.0, 3200.0)).count();
        // 64 times the probe: 2048 batches.
        assert_eq!(probes, 4);
    }
}
