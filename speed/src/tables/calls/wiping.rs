//! What it costs to clear the stack after each message.

use lanecrypt_peers::Direction;

use super::cells::{label, tenths, tilde};
use super::{NAME, algorithm, contenders};
use crate::ciphers::{CHECKED, Contender, Task, Wipe};
use crate::depth::Depth;
use crate::results::Point;
use crate::row::Row;
use crate::tables::grid::{mark, same_line};
use crate::text;

/// The measured ciphers. libgcrypt clears nothing after the first with AES instructions, and some
/// bytes after it without them and after the second.
const SUBJECTS: [&str; 2] = ["aes-128-cbc", "serpent-128-cbc"];
/// Bytes of a message. The cost of clearing does not depend on them.
const SIZE: usize = 64;
/// The size in the message on libgcrypt's list at which a call's cost shows best.
const SMALLEST: u64 = 16;

/// Messages of our checked layer and of libgcrypt, after which the caller clears nothing, as much as
/// libgcrypt does, or everything.
pub(super) fn rows(peers: &[Contender], depth: Depth) -> Vec<Row> {
    let subjects = if depth == Depth::Quick { &SUBJECTS[..1] } else { &SUBJECTS };
    let mut rows = Vec::new();
    for algorithm in subjects.iter().filter_map(|name| algorithm(name)) {
        let mut contenders = contenders(algorithm, peers, depth);
        contenders.retain(|contender| {
            let point = contender.point();
            let is_ours = point.is_ours() && point.api == CHECKED && !contender.is_lower();
            is_ours || point.source == "libgcrypt"
        });
        for contender in &contenders {
            let tasks = Wipe::ALL.map(|wipe| Task::Wiped(SIZE, wipe));
            rows.extend(tasks.map(|task| contender.row(NAME, Direction::Encrypt, task, 1)));
        }
    }
    rows
}

/// The point of the same message after which the caller clears this many bytes.
fn with<'a>(points: &'a [Point], point: &Point, bytes: usize) -> Option<&'a Point> {
    let is_it = |p: &&Point| p.wiped == Some(bytes as u64) && p.size == point.size;
    points.iter().filter(is_it).find(|p| same_line(p, point))
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

/// A line for each contender and cipher, and the figures of the message.
pub(super) fn text(points: &[Point]) -> String {
    let wipes = [Wipe::Little, Wipe::Everything];
    let dash = || "-".to_owned();
    let row = |without: &Point| {
        let wiped = wipes.map(|wipe| with(points, without, wipe.bytes()));
        let figures = [Some(without)].into_iter().chain(wiped).map(|point| {
            let figure = point.and_then(|p| Some(text::number(p.cycles?) + mark(p, None)));
            figure.unwrap_or_else(dash)
        });
        let costs = wiped.map(|point| {
            let cost = point.and_then(|p| Some(tilde(p, without).to_owned() + &tenths(p.wiping?)));
            cost.unwrap_or_else(dash)
        });
        let names = [label(without), without.subject.clone()];
        names.into_iter().chain(figures).chain(costs).collect()
    };
    let rows: Vec<Vec<String>> = points.iter().filter(|p| p.wiped == Some(0)).map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    let [little, everything] = wipes.map(|wipe| text::size(wipe.bytes() as u64));
    let costs = [&little, &everything].map(|bytes| format!("cost of {bytes}"));
    let header = ["", "", "0", &little, &everything, &costs[0], &costs[1]];
    let mut out = format!(
        "What wiping costs: cycles of a message of {SIZE} bytes by bytes of stack cleared after it\n"
    );
    out += &text::table(&header, "llrrrrr", rows);
    out += &format!(
        "  {everything}: burn_stack, which also clears the registers. {little}: what libgcrypt clears \
         itself after AES\n  without AES instructions; it clears 64 bytes after Serpent, and nothing \
         after AES with them.\n"
    );
    out + &study(points) + "\n"
}

/// The message's cost of a call, which includes what libgcrypt clears.
fn study(points: &[Point]) -> String {
    let told = points.iter().filter(|p| p.source == "document" && p.size == Some(SMALLEST));
    let told = told.filter(|p| p.op == Direction::Encrypt.name());
    let each = told.filter_map(|p| {
        let name = label(p).replace("the message", &p.subject);
        Some(format!("{name} {}", tenths(p.overhead?)))
    });
    let each: Vec<String> = each.collect();
    if each.is_empty() {
        return String::new();
    }
    format!("  The message, cost of a call of {SMALLEST} bytes:\n  {}.\n", each.join(", "))
}
