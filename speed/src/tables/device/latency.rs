//! Latency from handing a request over to taking its answer, by setting and requests in flight.

use std::sync::Arc;

use lanecrypt_ciphers::Algorithm;
use lanecrypt_peers::Direction;

use super::daemons::Daemons;
use super::messages::{Messages, Plan};
use super::rows;
use super::setting::Setting;
use crate::clock::{self, as_f64};
use crate::device::DeviceOptions;
use crate::processors::Pinned;
use crate::results::Point;
use crate::sampler::{Limits, Sampled};
use crate::statistics::Estimate;
use crate::tables::engine::latency::percentile;

/// Requests in flight.
const DEPTHS: [usize; 4] = [1, 8, 32, 128];
/// The algorithms and sizes.
const SUBJECTS: [(Algorithm, usize); 2] = [(Algorithm::NULL, 64), (Algorithm::AES_128_CBC, 1024)];
/// Requests in one turn of a point.
const REQUESTS: usize = 1024;
/// Turns of each point, if the time allows.
const TURNS: usize = 50;

/// The end of each point's id.
pub(super) const SUFFIX: &str = "latency";

/// Every id that [`measure`] can return.
pub(super) fn ids() -> Vec<String> {
    let settings = Setting::OURS.into_iter().chain([Setting::Given]);
    settings.flat_map(|setting| plans().map(move |plan| point(plan, setting).id)).collect()
}

/// Measures the points that match `fits`, in turns, unless `limits` end it first.
pub(super) fn measure(
    device: &DeviceOptions,
    fits: &dyn Fn(&str) -> bool,
    limits: &Limits<'_>,
    sampled: &mut Sampled,
) {
    let daemons = Daemons::new(device);
    if daemons.probe().is_err() {
        // The rows have said so.
        return;
    }
    let _pinned = daemons.processors().first().map(|&cpu| Pinned::to(cpu));
    let mut states: Vec<State> = Vec::new();
    for &setting in daemons.settings() {
        if daemons.processors().len() <= setting.helpers() {
            continue;
        }
        for plan in plans().filter(|&plan| fits(&point(plan, setting).id)) {
            if limits.over() {
                break;
            }
            match State::new(&daemons, plan, setting) {
                Some(state) => states.push(state),
                None => failed(sampled, &point(plan, setting), "not measured"),
            }
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
        if state.failed || state.messages.checked().is_err() {
            failed(sampled, &point(state.plan, state.setting), "not verified");
            continue;
        }
        sampled.points.extend(state.point());
    }
}

fn failed(sampled: &mut Sampled, point: &Point, how: &str) {
    sampled.remarks.push(format!("{how}: {}: a request failed, or its answer differs", point.id));
    sampled.wrong += 1;
}

fn plans() -> impl Iterator<Item = Plan> {
    let direction = Direction::Encrypt;
    SUBJECTS.into_iter().flat_map(move |(algorithm, size)| {
        DEPTHS.map(|depth| Plan { algorithm, direction, size, depth })
    })
}

fn point(plan: Plan, setting: Setting) -> Point {
    let mut point = rows::point(plan, setting, 1);
    point.id += "/";
    point.id += SUFFIX;
    point
}

/// A point that is being measured.
struct State {
    plan: Plan,
    setting: Setting,
    messages: Messages,
    /// The cycles of each request.
    taken: Vec<u64>,
    /// The cycles of each turn, divided by its requests.
    turns: Vec<f64>,
    failed: bool,
}

impl State {
    /// Messages whose known questions have been answered.
    fn new(daemons: &Arc<Daemons>, plan: Plan, setting: Setting) -> Option<Self> {
        let mut messages = Messages::new(&daemons.link(setting)?, plan)?;
        messages.checked().ok()?;
        let taken = Vec::with_capacity(REQUESTS * TURNS);
        Some(Self { plan, setting, messages, taken, turns: Vec::new(), failed: false })
    }

    fn turn(&mut self) {
        self.failed |= self.messages.ready().is_err();
        let start = clock::now();
        self.failed |= self.messages.timed(REQUESTS, &mut self.taken).is_err();
        self.turns.push(as_f64(clock::now() - start) / as_f64(REQUESTS as u64));
    }

    fn point(mut self) -> Option<Point> {
        let estimate = Estimate::of(&self.turns)?;
        self.taken.sort_unstable();
        let mut point = point(self.plan, self.setting).measured(estimate);
        point.p50_ns = percentile(&self.taken, 500);
        point.p99_ns = percentile(&self.taken, 990);
        point.p999_ns = percentile(&self.taken, 999);
        point.verified = true;
        Some(point)
    }
}
