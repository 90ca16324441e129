//! Measured times and their means.

use super::super::mask::Mask;
use super::*;

fn group(messages: usize, bytes: usize) -> Group {
    let algorithm = Algorithm::AES_128_GCM;
    let row = Algorithm::ALL.iter().position(|&it| it == algorithm).expect("it is there");
    let operation = Operation::Seal;
    Group { algorithm, row, operation, by: Mask::first(2), messages, bytes: messages * bytes }
}

fn each(times: &CostModel, member: usize, group: &Group) -> Option<f64> {
    times.measured(member, group).line().map(|line| line.each)
}

#[test]
fn the_mean_follows_what_is_measured() {
    let (times, group) = (CostModel::new(2), group(10, 100));
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
    let times = CostModel::new(2);
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
    let (times, group) = (CostModel::new(2), group(10, 100));
    let probes = (0..10_000).filter(|_| times.is_overdue(1, &group, 100.0, 3200.0)).count();
    // 64 times the probe: 2048 batches.
    assert_eq!(probes, 4);
}
