//! The rows: every cipher and size through every provider.

use lanecrypt_ciphers::Algorithm;

use self::packets::Packets;
use self::providers::Provider;
use self::records::Records;
use super::NAME;
use crate::ciphers::Sizes;
use crate::depth::Depth;
use crate::peer_set::PeerSet;
use crate::row::{Batches, Row};

mod connections;
mod packets;
mod providers;
mod records;
#[cfg(test)]
#[path = "../../../tests/unit/tls.rs"]
mod tests;

/// The ciphers, the most important first.
const SUBJECTS: [Algorithm; 3] =
    [Algorithm::AES_128_GCM, Algorithm::CHACHA20_POLY1305, Algorithm::AES_256_GCM];
/// Bytes of a record's plaintext.
const RECORDS: [Sizes; 4] =
    [Sizes::one(100), Sizes::one(1024), Sizes::one(1 << 14), Sizes::mixed(60, 1400)];
/// Bytes of a packet's payload.
const PACKETS: [Sizes; 2] = [Sizes::one(100), Sizes::one(1200)];

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    /// A record of TLS 1.3.
    Record,
    /// A packet of QUIC, with its header.
    Packet,
}

impl Operation {
    const ALL: [Self; 2] = [Self::Record, Self::Packet];

    const fn name(self) -> &'static str {
        match self {
            Self::Record => "record",
            Self::Packet => "packet",
        }
    }

    const fn sizes(self) -> &'static [Sizes] {
        match self {
            Self::Record => &RECORDS,
            Self::Packet => &PACKETS,
        }
    }
}

/// All rows.
pub(super) fn rows(peers: &PeerSet<'_>, depth: Depth) -> Vec<Row> {
    let subjects = if depth == Depth::Quick { &SUBJECTS[..2] } else { &SUBJECTS };
    let providers = Provider::all(peers);
    let mut rows = Vec::new();
    for operation in Operation::ALL {
        for &algorithm in subjects {
            for &sizes in operation.sizes() {
                let row = |provider| row(provider, operation, algorithm, sizes);
                rows.extend(providers.iter().map(row));
            }
        }
    }
    rows
}

fn row(provider: &Provider, operation: Operation, algorithm: Algorithm, sizes: Sizes) -> Row {
    let mut point = provider.point();
    point.table = NAME.into();
    point.subject = algorithm.to_string();
    point.op = operation.name().into();
    point.size = sizes.single().map(|size| size as u64);
    point.sizes = sizes.range();
    point.key = Some("kept".into());
    point.chained = Some(false);
    point.threads = Some(1);
    let crate::results::Point { source, api, subject, op, .. } = &point;
    point.id = format!("{NAME}/{source}/{api}/{subject}/{op}/{sizes}");
    let provider = provider.clone();
    let batches = Batches::default();
    match operation {
        Operation::Record => {
            Row::new(point, batches, move || Records::new(&provider, algorithm, sizes))
        }
        Operation::Packet => {
            Row::new(point, batches, move || Packets::new(&provider, algorithm, sizes))
        }
    }
}
