//! The rows: the null algorithm through every layer, then the ciphers.

use lanecrypt_ciphers::Algorithm;
use lanecrypt_engine::Engine;
use lanecrypt_peers::{Aead, Cipher, Direction};

use super::{NAME, SUBJECTS, id};
use crate::ciphers::{Api, CipherUnderTest, Kind, PROCESS, Plan, Shape, session};
use crate::depth::Depth;
use crate::ring;
use crate::row::Row;
use crate::tables::study::op;

/// Requests in flight.
const DEPTHS: [usize; 3] = [1, 8, 32];
/// The same for ciphers.
const FEW_DEPTHS: [usize; 2] = [1, 32];
/// Bytes of requests.
const SIZES: [usize; 4] = [64, 256, 1024, 8192];
/// The same for ciphers: those that the study names.
const FEW_SIZES: [usize; 3] = [64, 1024, 8192];
/// The same, if there is little time.
const QUICK: [usize; 2] = [64, 1024];
/// Clients, each with its own sessions and queue.
const CLIENTS: [u32; 2] = [1, 2];

/// All rows, the most important first.
pub(super) fn rows(depth: Depth) -> Vec<Row> {
    let (null, forward) = (Algorithm::NULL, Direction::Encrypt);
    let is_quick = depth == Depth::Quick;
    let mut rows = Vec::new();
    for size in if is_quick { &QUICK[..] } else { &SIZES } {
        rows.extend(layers(null, forward, *size, &DEPTHS, 1));
    }
    rows.extend(DEPTHS.map(|depth| named(ring::row(NAME, depth), depth, 1)));
    for (algorithm, direction) in SUBJECTS {
        for size in if is_quick { &QUICK[..] } else { &FEW_SIZES } {
            rows.extend(layers(algorithm, direction, *size, &FEW_DEPTHS, 1));
        }
    }
    for algorithm in [null, Algorithm::AES_128_CBC] {
        for size in if is_quick { &QUICK[..1] } else { &FEW_SIZES } {
            rows.extend(layers(algorithm, forward, *size, &FEW_DEPTHS, CLIENTS[1]));
        }
    }
    rows
}

/// One size through every layer.
fn layers(
    algorithm: Algorithm,
    direction: Direction,
    size: usize,
    depths: &[usize],
    clients: u32,
) -> Vec<Row> {
    let layers = if algorithm.is_aead() { layers_of::<dyn Aead> } else { layers_of::<dyn Cipher> };
    layers(algorithm, direction, size, depths, clients)
}

/// A call of a session is one request, whatever else is to be done.
fn layers_of<T: Api + ?Sized>(
    algorithm: Algorithm,
    direction: Direction,
    size: usize,
    depths: &[usize],
    clients: u32,
) -> Vec<Row> {
    let alone = CipherUnderTest::<T>::session(algorithm);
    let process = CipherUnderTest::<T>::all_our_batches(algorithm);
    let process = process.into_iter().find(|c| c.point().api == PROCESS && !c.is_lower());
    let driver = driver(algorithm);
    let shape = |batch| Shape { batch, ..Shape::single(size) };
    let mut rows = vec![(alone.messages(NAME, direction, shape(1)), 1)];
    for &depth in depths {
        let process = process.iter().map(|p| p.messages(NAME, direction, shape(depth)));
        rows.extend(process.map(|row| (row, depth)));
        for kind in Kind::ALL {
            let plan = Plan { kind, algorithm, direction, size, depth };
            rows.push((plan.row(NAME, clients), depth));
        }
    }
    let finished = rows.into_iter().map(|(mut row, depth)| {
        row.point.driver.clone_from(&driver);
        row.point.op = op(algorithm, direction).into();
        named(row, depth, clients)
    });
    finished.collect()
}

/// The row of this many requests in flight of each of the clients, with its id.
fn named(mut row: Row, depth: usize, clients: u32) -> Row {
    row.point.depth = u32::try_from(depth).ok();
    row.point.threads = Some(clients);
    row.point.id = format!("{}/d{depth}/t{clients}", id(&row.point));
    row
}

/// The name of the driver that the engine chooses.
pub(super) fn driver(algorithm: Algorithm) -> Option<String> {
    let length = algorithm.key_lengths().longest();
    let key: Vec<u8> = (0..=u8::MAX).take(length).collect();
    let session = session(&Engine::new(), algorithm, &key)?;
    Some(session.driver().to_owned())
}
