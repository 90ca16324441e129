//! Latency from submission to completion, and throughput, as more requests are in flight.

use lanecrypt_ciphers::Algorithm;
use lanecrypt_peers::Direction;

use super::{NAME, id, rows};
use crate::ciphers::{Kind, Plan, Queued};
use crate::clock::{self, as_f64};
use crate::processors::{self, Pinned};
use crate::results::Point;
use crate::sampler::{Limits, Sampled};
use crate::statistics::Estimate;
use crate::tables::study::op;

/// Requests in flight.
const DEPTHS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
/// The algorithms and sizes.
const SUBJECTS: [(Algorithm, usize); 2] = [(Algorithm::NULL, 64), (Algorithm::AES_128_CBC, 1024)];
/// Requests in one turn of a point.
const REQUESTS: usize = 2048;
/// Turns of each point, if the time allows: then a hundred requests take longer than `p999_ns`.
const TURNS: usize = 50;

/// The end of each point's id.
pub(super) const SUFFIX: &str = "latency";

/// Every id that [`measure`] can return.
pub(super) fn ids() -> Vec<String> {
    plans().map(|plan| point(plan).id).collect()
}

/// Measures the points that match `fits`, in turns, unless `limits` end it first.
pub(super) fn measure(fits: &dyn Fn(&str) -> bool, limits: &Limits<'_>, sampled: &mut Sampled) {
    let processors = processors::allowed();
    let _pinned = processors.first().map(|&cpu| Pinned::to(cpu));
    let wanted = plans().filter(|&plan| fits(&point(plan).id));
    let (possible, impossible): (Vec<Plan>, Vec<Plan>) =
        wanted.partition(|plan| plan.kind == Kind::Local || processors.len() > 1);
    if !impossible.is_empty() {
        let rows = impossible.len();
        sampled.remarks.push(format!("{rows} latencies skipped: they need 2 processors"));
    }
    let mut states: Vec<State> = Vec::new();
    for plan in possible {
        if limits.over() {
            break;
        }
        match State::new(plan, &processors) {
            Some(state) => states.push(state),
            None => failed(sampled, plan, "not measured"),
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
        if state.failed || state.queued.checked().is_err() {
            failed(sampled, state.plan, "not verified");
            continue;
        }
        sampled.points.extend(state.point());
    }
}

fn failed(sampled: &mut Sampled, plan: Plan, how: &str) {
    sampled
        .remarks
        .push(format!("{how}: {}: a request failed, or its answer differs", point(plan).id));
    sampled.wrong += 1;
}

fn plans() -> impl Iterator<Item = Plan> {
    let direction = Direction::Encrypt;
    SUBJECTS.into_iter().flat_map(move |(algorithm, size)| {
        Kind::ALL.into_iter().flat_map(move |kind| {
            DEPTHS.map(|depth| Plan { kind, algorithm, direction, size, depth })
        })
    })
}

/// Names a point.
fn point(plan: Plan) -> Point {
    let Plan { kind, algorithm, direction, size, depth } = plan;
    let mut point = Point {
        table: NAME.into(),
        source: "lanecrypt".into(),
        version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        api: kind.api().into(),
        subject: algorithm.to_string(),
        op: op(algorithm, direction).into(),
        size: Some(size as u64),
        depth: u32::try_from(depth).ok(),
        threads: Some(1),
        key: Some("kept".into()),
        chained: Some(false),
        ..Point::default()
    };
    point.id = format!("{}/d{depth}/{SUFFIX}", id(&point));
    point
}

/// A point that is being measured.
struct State {
    plan: Plan,
    queued: Queued,
    /// The cycles of each request.
    taken: Vec<u64>,
    /// The cycles of each turn, divided by its requests.
    turns: Vec<f64>,
    failed: bool,
}

impl State {
    /// A queue that has answered a known question.
    fn new(plan: Plan, processors: &[usize]) -> Option<Self> {
        let mut queued = Queued::new(plan, processors, 1)?;
        queued.checked().ok()?;
        let taken = Vec::with_capacity(REQUESTS * (TURNS + 1));
        Some(Self { plan, queued, taken, turns: Vec::new(), failed: false })
    }

    fn turn(&mut self) {
        // The first requests find a cold cache, and perhaps a worker that sleeps.
        let warm = self.taken.len();
        self.failed |= self.queued.timed(REQUESTS / 8, &mut self.taken).is_err();
        self.taken.truncate(warm);
        let start = clock::now();
        self.failed |= self.queued.timed(REQUESTS, &mut self.taken).is_err();
        self.turns.push(as_f64(clock::now() - start) / as_f64(REQUESTS as u64));
    }

    fn point(mut self) -> Option<Point> {
        let estimate = Estimate::of(&self.turns)?;
        self.taken.sort_unstable();
        let mut point = point(self.plan).measured(estimate);
        point.driver = rows::driver(self.plan.algorithm);
        point.p50_ns = percentile(&self.taken, 500);
        point.p99_ns = percentile(&self.taken, 990);
        point.p999_ns = percentile(&self.taken, 999);
        point.verified = true;
        Some(point)
    }
}

/// The nanoseconds that this many of a thousand do not exceed.
pub(crate) fn percentile(sorted: &[u64], of_thousand: usize) -> Option<f64> {
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
