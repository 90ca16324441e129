//! What it costs to clear the stack after each message.

use lanecrypt_peers::Direction;

use super::view::{label, tenths, tilde};
use super::{NAME, algorithm, contenders};
use crate::block::Block;
use crate::ciphers::{CHECKED, Contender, Task, Wipe};
use crate::depth::Depth;
use crate::figure::{is_same_line, marked};
use crate::results::Point;
use crate::row::Row;
use crate::scope::Scope;
use crate::view::List;

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

/// A line for each contender and cipher.
const WIPING: List = List {
    of: |point| point.wiped.is_some(),
    title: |_| {
        format!(
            "What wiping costs: cycles of a message of {SIZE} bytes by bytes of stack cleared then"
        )
    },
    names: (&["", ""], |scope, point| vec![label(scope, point), point.subject.clone()]),
    columns: &[
        ("0", |_, line| cycles(line, 0)),
        ("128", |_, line| cycles(line, Wipe::Little.bytes())),
        ("64Ki", |_, line| cycles(line, Wipe::Everything.bytes())),
        ("cost of 128", |_, line| cost(line, Wipe::Little.bytes())),
        ("cost of 64Ki", |_, line| cost(line, Wipe::Everything.bytes())),
    ],
    is_shown: |line| cleared(line, 0).is_some(),
    note: "\
64Ki: burn_stack, which also clears the registers. 128: what libgcrypt clears itself after AES
without AES instructions; it clears 64 bytes after Serpent, and nothing after AES with them.
",
    ..List::USUAL
};

fn cleared<'a>(line: &Scope<'a>, bytes: usize) -> Option<&'a Point> {
    line.find(|point| point.wiped == Some(bytes as u64))
}

fn cycles(line: &Scope<'_>, bytes: usize) -> Option<String> {
    let point = cleared(line, bytes)?;
    marked(point, point.cycles)
}

fn cost(line: &Scope<'_>, bytes: usize) -> Option<String> {
    let (point, without) = (cleared(line, bytes)?, cleared(line, 0)?);
    Some(tilde(point, without).to_owned() + &tenths(point.wiping?))
}

/// The costs here, and the message's cost of a call, which includes what libgcrypt clears.
pub(super) fn blocks(scope: &Scope<'_>) -> Vec<Block> {
    let told = scope.only(|p| {
        p.source == "document" && p.size == Some(SMALLEST) && p.op == Direction::Encrypt.name()
    });
    let each = told.points.iter().filter_map(|p| {
        let name = label(scope, p).replace("the message", &p.subject);
        Some(format!("{name} {}", tenths(p.overhead?)))
    });
    let each: Vec<String> = each.collect();
    let mut blocks = WIPING.blocks(scope);
    for block in blocks.iter_mut().filter(|_| !each.is_empty()) {
        let all = each.join(", ");
        block.note += &format!("The message, cost of a call of {SMALLEST} bytes:\n{all}.\n");
    }
    blocks
}
