//! The rows: every operation through every API.

use lanecrypt_kernels::Isa;
use lanecrypt_peers::{Operation, PublicKey};

use super::work::{Keys, Operations};
use super::{NAME, ours};
use crate::depth::Depth;
use crate::peer_set::{FoundPeer, PeerSet};
use crate::results::Point;
use crate::row::{Batches, Row, Workload};

/// Operations in flight.
const IN_FLIGHT: [usize; 5] = [1, 2, 4, 8, 64];
/// The same, if there is little time.
const FEW: [usize; 2] = [1, 8];

/// The order of the rows, the most important first.
const ORDER: [Operation; 13] = [
    Operation::Server,
    Operation::ServerHybrid,
    Operation::X25519Derive,
    Operation::P256Sign,
    Operation::P256Verify,
    Operation::Ed25519Sign,
    Operation::Ed25519Verify,
    Operation::MlKemEncapsulate,
    Operation::MlKemDecapsulate,
    Operation::X25519Generate,
    Operation::P256Generate,
    Operation::P256Derive,
    Operation::MlKemGenerate,
];

/// All rows.
pub(super) fn rows(peers: &PeerSet<'_>, depth: Depth) -> Vec<Row> {
    let in_flight = if depth == Depth::Quick { &FEW[..] } else { &IN_FLIGHT };
    let mut rows = Vec::new();
    for operation in ORDER {
        for &api in ours::APIS {
            rows.extend(in_flight.iter().map(|&batch| of_ours(api, operation, batch)));
        }
        let peers = peers.public_keys().iter();
        for found in peers.filter(|found| found.peer.operation() == Some(operation)) {
            match found.peer.batches {
                true => rows.extend(
                    in_flight.iter().map(|&batch| of_peer(found, operation, Api::Batches(batch))),
                ),
                false => rows.push(of_peer(found, operation, Api::Single)),
            }
        }
    }
    #[cfg(any(feature = "aws-lc", feature = "ring"))]
    for operation in [Operation::Server, Operation::ServerHybrid] {
        rows.extend(super::through_rustls::rows(peers, operation, in_flight));
    }
    rows
}

/// Whether an API takes many operations at a time.
pub(super) fn has_batches(point: &Point) -> bool {
    point.id.rsplit('/').next().is_some_and(|end| {
        end.strip_prefix('b').is_some_and(|number| number.parse::<u32>().is_ok())
    })
}

fn of_ours(api: &'static str, operation: Operation, batch: usize) -> Row {
    let point = Point { api: api.into(), ..Point::default().of_ours(Isa::detect()) };
    row(point, operation, Api::Batches(batch), move |keys| ours::open(api, operation, keys))
}

fn of_peer(found: &FoundPeer<dyn PublicKey>, operation: Operation, api: Api) -> Row {
    let FoundPeer { peer, version } = found;
    let point = Point {
        source: peer.source.into(),
        api: peer.api.into(),
        version: Some(version.clone()),
        ..Point::default()
    };
    let peer = peer.clone();
    row(point, operation, api, move |keys| peer.with_key_pairs(&keys.pairs()))
}

/// How an API takes operations.
#[derive(Clone, Copy, Debug)]
pub(super) enum Api {
    /// One call for each.
    Single,
    /// So many together.
    Batches(usize),
}

/// A row of the sessions that `open` makes.
pub(super) fn row(
    mut point: Point,
    operation: Operation,
    api: Api,
    open: impl Fn(&Keys) -> Option<Box<dyn PublicKey>> + Send + Sync + 'static,
) -> Row {
    point.key = Some(if operation.key().is_some() { "kept" } else { "fresh" }.into());
    let batch = if let Api::Batches(batch) = api { batch } else { 1 };
    row_of(point, operation.names(), api, move || Operations::new(operation, batch, &open))
}

/// A row of an algorithm and what is done by it.
pub(super) fn row_of<W: Workload + 'static>(
    mut point: Point,
    [subject, op]: [&str; 2],
    api: Api,
    make: impl Fn() -> Option<W> + Send + Sync + 'static,
) -> Row {
    point.table = NAME.into();
    point.subject = subject.into();
    point.op = op.into();
    point.chained = Some(false);
    point.threads = Some(1);
    let Point { source, api: name, .. } = &point;
    point.id = format!("{NAME}/{source}/{name}/{subject}/{op}");
    let batch = match api {
        Api::Single => 1,
        Api::Batches(batch) => {
            point.id += &format!("/b{batch}");
            batch
        }
    };
    point.batch = u32::try_from(batch).ok();
    let batches = Batches { multiple: batch, ..Batches::default() };
    Row::new(point, batches, make)
}
