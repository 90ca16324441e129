//! The rows, the most important first.

use core::time::Duration;
use std::sync::Arc;

use lanecrypt_ciphers::{Algorithm, Isa};
use lanecrypt_peers::{Aead, Cipher, Direction};

use super::daemons::Daemons;
use super::fills::Fills;
use super::many::Many;
use super::messages::{Messages, Plan};
use super::process::{Job, RANDOM};
use super::setting::Setting;
use super::{ALGORITHMS, API, NAME, directions, echo, token};
use crate::candidate::Op;
use crate::ciphers::{Api, CipherUnderTest, PROCESS, Shape};
use crate::depth::Depth;
use crate::device::DeviceOptions;
use crate::own_generators;
use crate::peer_set::PeerSet;
use crate::results::Point;
use crate::row::{Batches, Row, Test, Workload};
use crate::tables::study::op;

/// The length of a batch of one process. In its first part of a millisecond the daemon wakes up,
/// and the processors get up to speed.
const LENGTH: Duration = Duration::from_millis(7);
/// Bytes of requests, as in the study.
const SIZES: [usize; 5] = [64, 256, 1024, 4096, 8192];
/// The same, if there is little time.
const QUICK: [usize; 2] = [64, 1024];
/// Requests in flight, beside one.
const DEPTHS: [usize; 3] = [8, 32, 128];
/// The same, if there is little time.
const QUICK_DEPTHS: [usize; 1] = [32];
/// Bytes of requests in flight.
const SIZES_IN_FLIGHT: [usize; 3] = [64, 1024, 8192];
/// The algorithms of requests in flight and of several processes.
const FEW: [Algorithm; 3] = [Algorithm::NULL, Algorithm::AES_128_CBC, Algorithm::AES_128_GCM];
/// Client processes, beside one.
const PROCESSES: [usize; 4] = [2, 4, 8, 16];
/// The same, if there is little time.
const QUICK_PROCESSES: [usize; 1] = [4];
/// Bytes of a packet that fills a frame of Ethernet.
const PACKET: usize = 1500;
/// Bytes of requests for random bytes, requests in flight, and client processes.
const FILLS: [(usize, usize, usize); 7] = [
    (32, 1, 1),
    (32, 32, 1),
    (256, 1, 1),
    (4 << 20, 1, 1),
    (32, 1, 4),
    (256, 1, 4),
    (4 << 20, 1, 4),
];

/// All rows.
pub(super) fn rows(peers: &PeerSet<'_>, depth: Depth) -> Vec<Row> {
    let is_quick = depth == Depth::Quick;
    let mut daemons = Daemons::new(peers.device());
    if let Err(reason) = daemons.probe() {
        peers.lacks(NAME, reason);
        daemons = Daemons::new(&DeviceOptions::default());
    }
    let daemons = &daemons;
    let sizes = if is_quick { &QUICK[..] } else { &SIZES };
    let algorithms = if is_quick { &FEW[..] } else { &ALGORITHMS };
    let mut rows = Vec::new();
    for &algorithm in algorithms {
        for &direction in directions(algorithm) {
            for &size in sizes {
                let plan = Plan { algorithm, direction, size, depth: 1 };
                rows.extend(one_process(daemons, plan));
                rows.extend(beside(peers, plan));
            }
        }
        if algorithm == Algorithm::NULL {
            rows.extend(sizes.iter().flat_map(|&size| echoes(daemons, size)));
        }
        if algorithm == token::ALGORITHM && peers.has_softhsm() && !daemons.command().is_empty() {
            rows.extend(sizes.iter().map(|&size| token::row(daemons, size)));
        }
    }
    rows.extend(in_flight(daemons, peers, is_quick));
    rows.extend(processes(daemons, peers, is_quick));
    for (size, in_flight, processes) in FILLS {
        let more = fills(daemons, size, in_flight, processes);
        rows.extend(more.into_iter().map(|row| streamed(row, depth)));
    }
    rows.extend(random_beside(peers));
    rows
}

fn echoes(daemons: &Arc<Daemons>, size: usize) -> Vec<Row> {
    let mut rows = vec![echo::pipe_row(size)];
    if !daemons.command().is_empty() {
        let settings = [Setting::SameSleep, Setting::OtherSleep];
        rows.extend(settings.map(|setting| echo::socket_row(daemons, setting, size)));
    }
    rows
}

fn in_flight(daemons: &Arc<Daemons>, peers: &PeerSet<'_>, is_quick: bool) -> Vec<Row> {
    let (depths, sizes) = match is_quick {
        true => (&QUICK_DEPTHS[..], &QUICK[..]),
        false => (&DEPTHS[..], &SIZES_IN_FLIGHT[..]),
    };
    let mut rows = Vec::new();
    for algorithm in FEW {
        for &size in sizes {
            for &depth in depths {
                let plan = Plan { algorithm, direction: Direction::Encrypt, size, depth };
                rows.extend(one_process(daemons, plan));
                rows.extend(beside(peers, plan));
            }
        }
    }
    rows
}

/// Several blocked processes, and several with packets in flight.
fn processes(daemons: &Arc<Daemons>, peers: &PeerSet<'_>, is_quick: bool) -> Vec<Row> {
    let counts = if is_quick { &QUICK_PROCESSES[..] } else { &PROCESSES };
    let direction = Direction::Encrypt;
    let mut rows = Vec::new();
    for algorithm in FEW {
        for size in QUICK {
            for &count in counts {
                let plan = Plan { algorithm, direction, size, depth: 1 };
                rows.extend(of_processes(daemons, plan, count));
            }
        }
    }
    let algorithm = Algorithm::AES_128_GCM;
    let packets = Plan { algorithm, direction, size: PACKET, depth: 32 };
    rows.extend(one_process(daemons, packets));
    rows.extend(of_processes(daemons, packets, QUICK_PROCESSES[0]));
    rows.extend(beside(peers, packets));
    rows
}

/// The requests of this process, for each setting.
fn one_process(daemons: &Arc<Daemons>, plan: Plan) -> Vec<Row> {
    let settings = daemons.settings().iter();
    let row = |&setting: &Setting| {
        let daemons = daemons.clone();
        let make = move || Messages::new(&daemons.link(setting)?, plan);
        let shared = setting.shares();
        let batches =
            Batches { length: LENGTH, multiple: plan.depth, shared, ..Batches::default() };
        row(point(plan, setting, 1), setting, batches, make)
    };
    settings.map(row).collect()
}

/// The requests of several processes.
fn of_processes(daemons: &Arc<Daemons>, plan: Plan, count: usize) -> Vec<Row> {
    let settings = daemons.settings_of_processes().iter();
    let row = |&setting: &Setting| {
        let is_encryption = plan.direction == Direction::Encrypt;
        let subject = plan.algorithm.to_string();
        let (size, depth) = (plan.size, plan.depth);
        let point = point(plan, setting, count);
        many(daemons, point, setting, count, Request { subject, is_encryption, size, depth })
    };
    settings.map(row).collect()
}

/// What each of several processes asks for.
struct Request {
    subject: String,
    is_encryption: bool,
    size: usize,
    depth: usize,
}

fn many(
    daemons: &Arc<Daemons>,
    point: Point,
    setting: Setting,
    count: usize,
    request: Request,
) -> Row {
    let Request { subject, is_encryption, size, depth } = request;
    let processors = setting.of_clients(daemons.processors());
    let socket = std::path::PathBuf::new();
    let job = Job { socket, setting, processors, subject, is_encryption, size, depth };
    let (batches, daemons) = (job.batches(), daemons.clone());
    let make = move || {
        let job = Job { socket: daemons.socket(setting)?, ..job.clone() };
        Some(Many::new(&daemons, job, count))
    };
    row(point, setting, batches, make)
}

/// Requests for random bytes.
fn fills(daemons: &Arc<Daemons>, size: usize, depth: usize, processes: usize) -> Vec<Row> {
    let settings = match processes {
        1 => daemons.settings(),
        _ => daemons.settings_of_processes(),
    };
    let row = |&setting: &Setting| {
        let point = random_point(size, depth, setting, processes);
        if processes > 1 {
            let subject = RANDOM.to_owned();
            let request = Request { subject, is_encryption: true, size, depth };
            return many(daemons, point, setting, processes, request);
        }
        let daemons = daemons.clone();
        let make = move || Some(Fills::new(&daemons.link(setting)?, size, depth));
        let shared = setting.shares();
        let batches = Batches { length: LENGTH, multiple: depth, shared, ..Batches::default() };
        row(point, setting, batches, make)
    };
    settings.iter().map(row).collect()
}

/// Bytes of a request of the streams that NetBSD's study of its generator timed.
const STREAMED: u64 = 256;
/// Requests of each stream: 4 GB, where GB are 2^30 bytes.
pub(super) const REQUESTS: u64 = (4 << 30) / STREAMED;
/// The longest whole test.
const LONGEST_TEST: Duration = Duration::from_secs(3600);

/// A row of random bytes, as that study's test if it has its size: 4 GB by one process, and 16 GB
/// by four. They are all made at [`Depth::Full`], and otherwise projected from less.
fn streamed(mut row: Row, depth: Depth) -> Row {
    if row.point.size == Some(STREAMED) {
        row.point.whole = Some(false);
        let longest = if depth == Depth::Full { LONGEST_TEST } else { Duration::ZERO };
        row.batches.test = Some(Test { requests: REQUESTS, longest, runs: Some(1), parts: 256 });
    }
    row
}

fn row<W: Workload + 'static>(
    point: Point,
    setting: Setting,
    batches: Batches,
    make: impl Fn() -> Option<W> + Send + Sync + 'static,
) -> Row {
    Row { helpers: setting.helpers(), ..Row::new(point, batches, make) }
}

/// Names messages by the daemon.
pub(super) fn point(plan: Plan, setting: Setting, processes: usize) -> Point {
    let Plan { algorithm, direction, size, depth } = plan;
    let mut point = Point {
        subject: algorithm.to_string(),
        op: op(algorithm, direction).into(),
        key: Some("kept".into()),
        chained: Some(false),
        ..Point::default()
    };
    named(&mut point, size, depth, setting, processes);
    point
}

fn random_point(size: usize, depth: usize, setting: Setting, processes: usize) -> Point {
    let mut point = Point { subject: RANDOM.into(), op: "fill".into(), ..Point::default() };
    named(&mut point, size, depth, setting, processes);
    point
}

fn named(point: &mut Point, size: usize, depth: usize, setting: Setting, processes: usize) {
    *point = core::mem::take(point).of_ours(Isa::detect());
    point.table = NAME.into();
    point.api = API.into();
    point.size = Some(size as u64);
    point.depth = u32::try_from(depth).ok();
    point.processes = u32::try_from(processes).ok();
    setting.describe(point);
    let Point { subject, op, .. } = &*point;
    let suffix = setting.suffix();
    point.id =
        format!("{NAME}/lanecrypt/{API}/{subject}/{op}/{size}/d{depth}/p{processes}/{suffix}");
}

/// The same messages by the engine in this process, and one at a time by OpenSSL.
fn beside(peers: &PeerSet<'_>, plan: Plan) -> Vec<Row> {
    match plan.algorithm.is_aead() {
        true => beside_of::<dyn Aead>(peers.aeads(), plan),
        false => beside_of::<dyn Cipher>(peers.ciphers(), plan),
    }
}

fn beside_of<T: Api + ?Sized>(peers: &[CipherUnderTest<T>], plan: Plan) -> Vec<Row> {
    let Plan { algorithm, direction, size, depth } = plan;
    let mut candidates = Vec::new();
    if depth == 1 {
        candidates.push(CipherUnderTest::<T>::session(algorithm));
        let is_it =
            |c: &&CipherUnderTest<T>| c.algorithm() == algorithm && c.point().source == "openssl";
        candidates.extend(peers.iter().filter(is_it).cloned());
    } else {
        let all = CipherUnderTest::<T>::all_our_batches(algorithm).into_iter();
        candidates.extend(all.filter(|c| c.point().api == PROCESS && !c.is_lower()));
    }
    let shape = Shape { batch: depth, ..Shape::single(size) };
    let rows = candidates.into_iter().map(|candidate| {
        let mut row = candidate.messages(NAME, direction, shape);
        row.point.op = op(algorithm, direction).into();
        row.point.depth = u32::try_from(depth).ok();
        row.point.processes = Some(1);
        let Point { source, api, subject, op, .. } = &row.point;
        row.point.id = format!("{NAME}/{source}/{api}/{subject}/{op}/{size}/d{depth}");
        row
    });
    rows.collect()
}

/// Random bytes of this process, and of the kernel.
fn random_beside(peers: &PeerSet<'_>) -> Vec<Row> {
    let ours = own_generators::by_size().into_iter().take(1);
    let kernel = peers.generators().iter().filter(|c| c.point().source == "kernel").cloned();
    let candidates: Vec<_> = ours.chain(kernel).collect();
    let mut rows = Vec::new();
    for size in [32, 256, 4 << 20] {
        for candidate in &candidates {
            let mut row = candidate.row(NAME, Op::Fill, size, 1);
            let Point { source, api, subject, .. } = &row.point;
            row.point.id = format!("{NAME}/{source}/{api}/{subject}/fill/{size}");
            row.point.depth = Some(1);
            row.point.processes = Some(1);
            rows.push(row);
        }
    }
    rows
}
