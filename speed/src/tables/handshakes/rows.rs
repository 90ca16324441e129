//! The rows: every operation through every API.

use lanecrypt_kernels::Isa;
use lanecrypt_peers::{Operation, PublicKey};

use super::ours;
use super::row::{Api, row};
use crate::depth::Depth;
use crate::peer_set::{FoundPeer, PeerSet};
use crate::results::Point;
use crate::row::Row;

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
