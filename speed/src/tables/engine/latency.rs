//! Latency of the engine's queues by requests in flight.

use lanecrypt_peers::{Direction, Failed};

use super::{NAME, id, rows};
use crate::ciphers::{Kind, Plan, Queued};
use crate::processors::{self, Pinned};
use crate::results::Point;
use crate::sampler::{Limits, Sampled};
use crate::tables::latency::{self, SUBJECTS, SUFFIX, Timed};
use crate::tables::study::op;
use crate::verify::Defect;

/// Requests in flight.
const DEPTHS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];

/// Every id that [`measure`] can return.
pub(super) fn ids() -> Vec<String> {
    plans().map(|plan| point(plan).id).collect()
}

/// Measures the points that match `fits`, unless `limits` end it first.
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
    let possible = possible
        .into_iter()
        .map(|plan| (plan, Point { driver: rows::driver(plan.algorithm), ..point(plan) }));
    latency::measure(possible, |&plan| Queued::new(plan, &processors, 1), limits, sampled);
}

impl Timed for Queued {
    const REQUESTS: usize = 2048;

    /// The first requests find a cold cache, and perhaps a worker that sleeps.
    fn begin(&mut self) -> Result<(), Failed> {
        Self::timed(self, Self::REQUESTS / 8, &mut Vec::with_capacity(Self::REQUESTS / 8))
    }

    fn timed(&mut self, requests: usize, taken: &mut Vec<u64>) -> Result<(), Failed> {
        Self::timed(self, requests, taken)
    }

    fn checked(&mut self) -> Result<(), Defect> {
        Self::checked(self)
    }
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
