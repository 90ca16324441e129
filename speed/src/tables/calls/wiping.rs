//! What it costs to clear the stack after each message.

use lanecrypt_peers::Direction;

use super::{NAME, algorithm, candidates};
use crate::ciphers::{CHECKED, CipherUnderTest, Task, Wipe};
use crate::depth::Depth;
use crate::figure::is_same_line;
use crate::results::Point;
use crate::row::Row;

/// The measured ciphers. libgcrypt clears nothing after the first with AES instructions, and some
/// bytes after it without them and after the second.
const SUBJECTS: [&str; 2] = ["aes-128-cbc", "serpent-128-cbc"];
/// Bytes of a message. The cost of clearing does not depend on them.
pub(super) const SIZE: usize = 64;

/// Messages of our checked layer and of libgcrypt, after which the caller clears nothing, as much
/// as libgcrypt does, or everything.
pub(super) fn rows(peers: &[CipherUnderTest], depth: Depth) -> Vec<Row> {
    let subjects = if depth == Depth::Quick { &SUBJECTS[..1] } else { &SUBJECTS };
    let mut rows = Vec::new();
    for algorithm in subjects.iter().filter_map(|name| algorithm(name)) {
        let mut candidates = candidates(algorithm, peers, depth);
        candidates.retain(|candidate| {
            let point = candidate.point();
            let is_ours = point.is_ours() && point.api == CHECKED && !candidate.is_lower();
            is_ours || point.source == "libgcrypt"
        });
        for candidate in &candidates {
            let tasks = Wipe::ALL.map(|wipe| Task::Wiped(SIZE, wipe));
            rows.extend(tasks.map(|task| candidate.row(NAME, Direction::Encrypt, task, 1)));
        }
    }
    rows
}

/// The point of the same message after which the caller clears this many bytes.
fn with<'a>(points: &'a [Point], point: &Point, bytes: usize) -> Option<&'a Point> {
    let is_it = |p: &&Point| p.wiped == Some(bytes as u64) && p.size == point.size;
    points.iter().filter(is_it).find(|p| is_same_line(p, point))
}

/// Enters the cost of clearing.
pub(super) fn finish(points: &mut [Point]) {
    let cost = |point: &Point| {
        let without = with(points, point, 0).filter(|_| point.wiped > Some(0))?;
        Some(point.cycles.filter(|_| without.verified)? - without.cycles?)
    };
    let costs: Vec<Option<f64>> = points.iter().map(cost).collect();
    for (point, cost) in points.iter_mut().zip(costs) {
        point.wiping = cost;
    }
}
