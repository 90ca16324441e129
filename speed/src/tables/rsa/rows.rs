//! The rows: every size through every API.

use core::ops::RangeInclusive;

use lanecrypt_kernels::Isa;
use lanecrypt_peers::{Direction, RsaKey, Signer};
use lanecrypt_rsa::Backend;

use super::keys::{self, SIZES};
use super::work::Signatures;
use super::{NAME, ours, subject};
use crate::depth::Depth;
use crate::peer_set::FoundPeer;
use crate::processors;
use crate::results::Point;
use crate::row::{Batches, Row};

/// The sizes if there is little time.
const QUICK: [usize; 3] = [2048, 1024, 4096];
/// The size that batches are measured with.
pub(super) const USUAL: usize = 2048;
/// Signatures in flight, beside one.
const IN_FLIGHT: [usize; 3] = [4, 8, 64];
/// The same, if there is little time.
const FEW: [usize; 1] = [8];
/// The batches whose latency is measured.
const BATCHES: RangeInclusive<usize> = 1..=16;
/// The same, if there is little time.
const FEW_BATCHES: [usize; 5] = [1, 2, 4, 8, 16];
/// The signatures that all processors have in flight, each.
const MANY: usize = 64;
/// An API of ours.
pub(super) const SINGLE: &str = "single";
/// An API of ours: `single` without AWS-LC.
pub(super) const OWN: &str = "own";
/// An API of ours.
pub(super) const PROCESS: &str = "process";
/// The end of the ids of rows with as many threads as there are processors.
pub(super) const ALL: &str = "/all";

/// What is done with signatures, and how keys are given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Operation {
    pub(super) direction: Direction,
    /// Whether the key knows its primes; checking needs none.
    pub(super) crt: Option<bool>,
}

impl Operation {
    pub(super) const SIGN: Self = Self { direction: Direction::Encrypt, crt: Some(true) };
    pub(super) const SIGN_WITHOUT: Self = Self { direction: Direction::Encrypt, crt: Some(false) };
    pub(super) const VERIFY: Self = Self { direction: Direction::Decrypt, crt: None };
    pub(super) const ALL: [Self; 3] = [Self::SIGN, Self::SIGN_WITHOUT, Self::VERIFY];

    pub(super) const fn name(self) -> &'static str {
        match self.direction {
            Direction::Encrypt => "sign",
            Direction::Decrypt => "verify",
        }
    }

    /// The end of its ids.
    const fn suffix(self) -> &'static str {
        match self.crt {
            Some(true) => "/crt",
            Some(false) => "/no-crt",
            None => "",
        }
    }
}

/// Whether a point is measured and of this operation.
pub(super) fn is_of(point: &Point, operation: Operation) -> bool {
    let Operation { crt, .. } = operation;
    point.source != "document" && point.op == operation.name() && point.crt == crt
}

/// All rows, the most important first.
pub(super) fn rows(peers: &[FoundPeer<dyn Signer>], depth: Depth) -> Vec<Row> {
    let is_quick = depth == Depth::Quick;
    let mut sizes: Vec<usize> = QUICK.into();
    if !is_quick {
        sizes.extend(SIZES.iter().filter(|size| !QUICK.contains(size)));
    }
    let in_flight = if is_quick { &FEW[..] } else { &IN_FLIGHT };
    let mut rows = Vec::new();
    for &bits in &sizes {
        for operation in Operation::ALL {
            rows.extend(one_size(peers, bits, operation, in_flight));
        }
    }
    let operations = if depth == Depth::Full { &Operation::ALL[..] } else { &Operation::ALL[..1] };
    for &operation in operations {
        let batches = BATCHES.filter(|batch| !is_quick || FEW_BATCHES.contains(batch));
        let batches = batches.filter(|batch| !in_flight.contains(batch));
        rows.extend(batches.map(|batch| process(USUAL, operation, batch)));
    }
    if !is_quick {
        let sizes = if depth == Depth::Full { &SIZES[..] } else { &[USUAL] };
        for &bits in sizes {
            rows.extend(Operation::ALL.map(|operation| on_all_processors(bits, operation)));
        }
    }
    rows
}

/// One size: ours and the peers.
pub(super) fn one_size(
    peers: &[FoundPeer<dyn Signer>],
    bits: usize,
    operation: Operation,
    in_flight: &[usize],
) -> Vec<Row> {
    let mut rows = vec![single(SINGLE, bits, operation)];
    if is_by_aws_lc(bits, operation) {
        rows.push(single(OWN, bits, operation));
    }
    rows.extend(in_flight.iter().map(|&batch| process(bits, operation, batch)));
    rows.extend(peers.iter().filter_map(|rival| peer(rival, bits, operation)));
    rows
}

/// Whether AWS-LC may make a signature that is alone.
fn is_by_aws_lc(bits: usize, operation: Operation) -> bool {
    operation == Operation::SIGN && Backend::Measured.may_sign_by_aws_lc(Isa::detect(), bits)
}

/// A loop over calls.
fn single(api: &str, bits: usize, operation: Operation) -> Row {
    let Operation { direction, crt } = operation;
    let backend = if api == OWN { Backend::Own } else { Backend::Measured };
    let (isa, crt) = (Isa::detect(), crt != Some(false));
    let open = move || ours::single(direction, keys::of(bits), crt, isa, backend);
    row(our_point(api), bits, operation, 1, open)
}

/// Slices of requests.
pub(super) fn process(bits: usize, operation: Operation, batch: usize) -> Row {
    let Operation { direction, crt } = operation;
    let open = move || ours::batches(direction, keys::of(bits), crt != Some(false));
    row(our_point(PROCESS), bits, operation, batch, open)
}

/// The same by one thread for each processor.
fn on_all_processors(bits: usize, operation: Operation) -> Row {
    let mut row = process(bits, operation, MANY);
    row.point.threads = u32::try_from(processors::allowed().len()).ok();
    row.point.id += ALL;
    row
}

/// A peer, if it takes such keys.
fn peer(rival: &FoundPeer<dyn Signer>, bits: usize, operation: Operation) -> Option<Row> {
    let Operation { direction, crt } = operation;
    let peer = rival.peer.clone();
    let open = move || {
        let keys = keys::of(bits).iter().map(|key| key.for_peers(crt != Some(false)));
        peer.with_keys(direction, &keys.collect::<Vec<RsaKey<'_>>>())
    };
    open()?;
    let peer = &rival.peer;
    let point = Point {
        source: peer.source.into(),
        api: peer.api.into(),
        version: Some(rival.version.clone()),
        ..Point::default()
    };
    Some(row(point, bits, operation, 1, open))
}

fn our_point(api: &str) -> Point {
    Point { api: api.into(), ..Point::default().of_ours(Isa::detect()) }
}

fn row(
    mut point: Point,
    bits: usize,
    operation: Operation,
    batch: usize,
    open: impl Fn() -> Option<Box<dyn Signer>> + Send + Sync + 'static,
) -> Row {
    let Operation { direction, crt } = operation;
    point.table = NAME.into();
    point.subject = subject(bits);
    point.op = operation.name().into();
    point.crt = crt;
    point.key = Some("kept".into());
    point.chained = Some(false);
    point.threads = Some(1);
    point.batch = u32::try_from(batch).ok();
    let Point { source, api, subject, op, .. } = &point;
    point.id = format!("{NAME}/{source}/{api}/{subject}/{op}{}", operation.suffix());
    if point.api == PROCESS {
        point.id += &format!("/b{batch}");
    }
    // Every batch is under both keys.
    let batches = Batches { multiple: batch.max(2), ..Batches::default() };
    Row::new(point, batches, move || Some(Signatures::new(open()?, direction, bits, batch)))
}
