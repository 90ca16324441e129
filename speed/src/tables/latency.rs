//! Latency from handing a request over to taking its answer, and throughput, as more requests are
//! in flight: what the tables `engine` and `device` measure beside their rows.

use lanecrypt_ciphers::Algorithm;
use lanecrypt_peers::Failed;

use crate::clock::{self, as_f64};
use crate::results::Point;
use crate::sampler::{Limits, Sampled};
use crate::statistics::Estimate;
use crate::verify::Defect;

/// The algorithms and sizes.
pub(super) const SUBJECTS: [(Algorithm, usize); 2] =
    [(Algorithm::NULL, 64), (Algorithm::AES_128_CBC, 1024)];
/// Turns of each point, if the time allows: then some fifty requests take longer than `p999_ns`.
const TURNS: usize = 50;

/// The end of each point's id.
pub(super) const SUFFIX: &str = "latency";

/// Requests of which some are in flight.
pub(super) trait Timed {
    /// Requests in one turn.
    const REQUESTS: usize;

    /// Gets ready for a turn.
    fn begin(&mut self) -> Result<(), Failed>;

    /// Makes requests, and adds the cycles that each took.
    fn timed(&mut self, requests: usize, taken: &mut Vec<u64>) -> Result<(), Failed>;

    /// Compares the answers of known questions.
    fn checked(&mut self) -> Result<(), Defect>;
}

/// Measures the points of plans in turns, unless `limits` end it first.
pub(super) fn measure<P, T: Timed>(
    plans: impl IntoIterator<Item = (P, Point)>,
    start: impl Fn(&P) -> Option<T>,
    limits: &Limits<'_>,
    sampled: &mut Sampled,
) {
    let mut states: Vec<State<T>> = Vec::new();
    for (plan, point) in plans {
        if limits.over() {
            break;
        }
        match start(&plan).and_then(|mut timed| timed.checked().is_ok().then_some(timed)) {
            Some(timed) => states.push(State::new(timed, point)),
            None => failed(sampled, &point, "not measured"),
        }
    }
    for _ in 0..TURNS {
        for state in &mut states {
            if !limits.over() && !state.failed {
                state.turn();
            }
        }
    }
    for mut state in states {
        if state.failed || state.timed.checked().is_err() {
            failed(sampled, &state.point, "not verified");
            continue;
        }
        sampled.points.extend(state.point());
    }
}

fn failed(sampled: &mut Sampled, point: &Point, how: &str) {
    sampled.remarks.push(format!("{how}: {}: a request failed, or its answer differs", point.id));
    sampled.wrong += 1;
}

/// A point that is being measured.
struct State<T> {
    timed: T,
    point: Point,
    /// The cycles of each request.
    taken: Vec<u64>,
    /// The cycles of each turn, divided by its requests.
    turns: Vec<f64>,
    failed: bool,
}

impl<T: Timed> State<T> {
    fn new(timed: T, point: Point) -> Self {
        let taken = Vec::with_capacity(T::REQUESTS * TURNS);
        Self { timed, point, taken, turns: Vec::new(), failed: false }
    }

    fn turn(&mut self) {
        self.failed |= self.timed.begin().is_err();
        let start = clock::now();
        self.failed |= self.timed.timed(T::REQUESTS, &mut self.taken).is_err();
        self.turns.push(as_f64(clock::now() - start) / as_f64(T::REQUESTS as u64));
    }

    fn point(mut self) -> Option<Point> {
        self.taken.sort_unstable();
        let [p50_ns, p99_ns, p999_ns] = [500, 990, 999].map(|of| percentile(&self.taken, of));
        let point = self.point.measured(Estimate::of(&self.turns)?);
        Some(Point { p50_ns, p99_ns, p999_ns, verified: true, ..point })
    }
}

/// The nanoseconds that this many of a thousand do not exceed.
fn percentile(sorted: &[u64], of_thousand: usize) -> Option<f64> {
    let rank = (sorted.len() * of_thousand).div_ceil(1000);
    let cycles = sorted.get(rank.saturating_sub(1))?;
    Some(as_f64(*cycles) / clock::ghz())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_by_nearest_rank() {
        let ns = |cycles: u64| Some(as_f64(cycles) / clock::ghz());
        let sorted: Vec<u64> = (1..=1000).collect();
        assert_eq!([500, 990, 999].map(|p| percentile(&sorted, p)), [500, 990, 999].map(ns));
        assert_eq!(percentile(&[7], 999), ns(7));
        assert_eq!(percentile(&[1, 2], 500), ns(1));
        assert_eq!(percentile(&[], 500), None);
    }
}
