//! Latency of a daemon's requests, by setting and requests in flight.

use lanecrypt_peers::{Direction, Failed};

use super::daemons::Daemons;
use super::messages::{Messages, Plan};
use super::rows;
use super::setting::Setting;
use crate::device::DeviceOptions;
use crate::processors::Pinned;
use crate::results::Point;
use crate::sampler::{Limits, Sampled};
use crate::tables::latency::{self, SUBJECTS, SUFFIX, Timed};
use crate::verify::Defect;

/// Requests in flight.
const DEPTHS: [usize; 4] = [1, 8, 32, 128];

/// Every id that [`measure`] can return.
pub(super) fn ids() -> Vec<String> {
    let settings = Setting::OURS.into_iter().chain([Setting::Given]);
    settings.flat_map(|setting| plans().map(move |plan| point(plan, setting).id)).collect()
}

/// Measures the points that match `fits`, unless `limits` end it first.
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
    let settings = daemons.settings().iter().copied();
    let possible = settings.filter(|setting| daemons.processors().len() > setting.helpers());
    let all = possible.flat_map(|setting| plans().map(move |plan| (plan, setting)));
    let named = all.map(|(plan, setting)| ((plan, setting), point(plan, setting)));
    let start = |&(plan, setting): &(Plan, Setting)| Messages::new(&daemons.link(setting)?, plan);
    latency::measure(named.filter(|(_, point)| fits(&point.id)), start, limits, sampled);
}

impl Timed for Messages {
    const REQUESTS: usize = 1024;

    fn begin(&mut self) -> Result<(), Failed> {
        self.ready().or(Err(Failed))
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
        DEPTHS.map(|depth| Plan { algorithm, direction, size, depth })
    })
}

fn point(plan: Plan, setting: Setting) -> Point {
    let mut point = rows::point(plan, setting, 1);
    point.id += &format!("/{SUFFIX}");
    point
}
