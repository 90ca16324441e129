//! What the table shows.

use super::ours;
use super::rows::has_batches;
use crate::block::Block;
use crate::figure::{batch, number};
use crate::results::Point;
use crate::scope::{Place, Scope};
use crate::view::{Grid, Line, Screen, best_peer_by_ours};

pub(super) const LEGEND: &str = "\
To read: medians, cycles for one operation. *: certainly the fastest of
its column. ~: cannot be distinguished. ?: not verified. 64 keys take turns in another order each
time, and every message is another. process: a slice of so many requests, built and passed on; own:
without AWS-LC. crypto-mb has calls for eight, and its answers for fewer cost the same; other peers
have one call for each operation, so that their figure stands in every column. A public key that the
other side sends comes as bytes; own keys, and keys that signatures are checked with, are kept. ring
cannot use a key twice: its derivations are part of the server's work only. server: a new key of
X25519, the shared secret, and a signature by P-256; with X25519MLKEM768 an encapsulation, too. A
server of rustls reads the first flight of a client in memory and writes its own; rustls-pool: so
many servers continue together, with ours over the first provider that rustls has here.
Over sockets: whole handshakes of a server on one processor, which waits by epoll and has so many
connections at once. Its clients, on another processor, connect and make their first flights before,
do not sleep, and check neither certificate nor signature; others, which check both, were served
first. A handshake ends with one byte of the server, sent after it has verified the client's end.
Nothing is resumed. What counts is the time of the server's thread on its processor, with what the
system does for it there; by the clock, waiting for clients and for the processor is in it, too.
";

/// The operations of all public keys of a server.
const SERVER_PART: &str = "server";
/// A server of rustls.
const THROUGH_RUSTLS: &str = "rustls";

/// Handshakes over sockets: by the time of the server's thread, and by the clock.
pub(super) const SOCKETS_OPERATIONS: [&str; 2] = ["sockets", "sockets-wall"];

/// The blocks of these points.
pub(super) fn blocks(scope: &Scope<'_>) -> Vec<Block> {
    let mut blocks = SERVER.blocks(scope);
    blocks.extend(RUSTLS.blocks(scope));
    blocks.extend(SOCKETS.blocks(scope));
    blocks.extend(OPERATIONS.blocks(scope));
    blocks
}

/// The column of a point: the number in flight. Peers that have one call for each operation are in
/// every column, or in one if there is no other.
fn in_flight(scope: &Scope<'_>, point: &Point) -> Place {
    let is_alone = !scope.points.iter().any(|point| has_batches(point));
    batch(scope, point).filter(|_| is_alone || has_batches(point))
}

/// A block for each operation.
const OPERATIONS: Grid = Grid {
    of: |point| point.op != SERVER_PART && point.op != THROUGH_RUSTLS && !is_of_sockets(point),
    title: |point, unit| {
        format!("{} {}: {unit} by operations in flight", name(&point.subject), point.op)
    },
    over: in_flight,
    is_ranked: true,
    compare: &[("best peer : lanecrypt", best_peer_by_ours)],
    ..Grid::USUAL
};

/// The server's part of a handshake.
const SERVER: Grid = Grid {
    of: |point| point.op == SERVER_PART,
    title: |point, unit| {
        format!(
            "the server's part of a TLS 1.3 handshake, {} and ECDSA P-256: {unit} by handshakes in \
             flight",
            exchange(point)
        )
    },
    units: &[
        ("cycles", |_, point| number(point.cycles)),
        ("in a second", |_, point| number(point.per_second)),
    ],
    ..OPERATIONS
};

/// The same through rustls.
const RUSTLS: Grid = Grid {
    of: |point| point.op == THROUGH_RUSTLS,
    title: |point, unit| {
        format!(
            "a server of rustls, {} and ECDSA P-256: {unit} by handshakes in flight",
            exchange(point)
        )
    },
    ..SERVER
};

/// Whole handshakes through rustls, over sockets.
const SOCKETS: Grid = Grid {
    of: is_of_sockets,
    title: |point, unit| {
        let [_, by_clock] = SOCKETS_OPERATIONS;
        let time = if point.op == by_clock { "by the clock" } else { "of the server's thread" };
        format!(
            "TLS 1.3 over sockets, rustls, {} and ECDSA P-256, time {time}: {unit} by connections \
             at once",
            exchange(point)
        )
    },
    over: |_, point| point.depth.map(|depth| (u64::from(depth), depth.to_string())),
    ..SERVER
};

fn is_of_sockets(point: &Point) -> bool {
    SOCKETS_OPERATIONS.contains(&&*point.op)
}

/// The key exchange of a handshake.
fn exchange(point: &Point) -> &'static str {
    if point.subject.starts_with("x25519+") { "X25519" } else { "X25519MLKEM768" }
}

/// What people call an algorithm.
fn name(subject: &str) -> &str {
    match subject {
        "x25519" => "X25519",
        "ed25519" => "Ed25519",
        "p256" => "P-256",
        "ml-kem-768" => "ML-KEM-768",
        other => other,
    }
}

/// The first screen, at eight in flight.
pub(super) const SCREEN: Screen = Screen {
    title: "handshakes: cycles for one operation",
    lines: &[
        Line::new("server's part, 1 in flight", |point| is_line(point, "x25519+p256", "server", 1)),
        Line::new("server's part, 8 in flight", |point| is_line(point, "x25519+p256", "server", 8)),
        Line::new("encapsulate, 8 in flight", |point| {
            is_line(point, "ml-kem-768", "encapsulate", 8)
        }),
        Line::new("verify, 8 in flight", |point| is_line(point, "ed25519", "verify", 8)),
    ],
    ours: &[("ours", |point| point.api == ours::PROCESS)],
    ..Screen::USUAL
};

fn is_line(point: &Point, subject: &str, operation: &str, in_flight: u32) -> bool {
    point.subject == subject
        && point.op == operation
        && (!has_batches(point) || point.batch == Some(in_flight))
}
