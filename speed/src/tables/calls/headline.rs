//! The rows of the table on the first screen.

use lanecrypt_peers::Direction;

use super::cells::tilde;
use super::{NAME, algorithm, overhead, whole_of};
use crate::ciphers::{CHECKED, Contender, Task, WHOLE};
use crate::results::Point;
use crate::row::Row;
use crate::table::{add_once, quickest, ratio};
use crate::text;

/// The figure that a line shows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Figure {
    /// Cycles of a request.
    Request,
    /// Cycles of a byte.
    Byte,
    /// Cycles of a request beyond those of its bytes.
    Overhead,
}

/// A line of the screen.
struct Line {
    what: &'static str,
    algorithm: &'static str,
    direction: Direction,
    task: Task,
    figure: Figure,
}

const fn line(
    what: &'static str,
    algorithm: &'static str,
    direction: Direction,
    task: Task,
    figure: Figure,
) -> Line {
    Line { what, algorithm, direction, task, figure }
}

const ENCRYPT: Direction = Direction::Encrypt;
const DECRYPT: Direction = Direction::Decrypt;

const LINES: [Line; 9] = [
    line("64-byte message", "aes-128-cbc", ENCRYPT, Task::Message(64), Figure::Request),
    line("1500-byte message", "aes-128-ctr", ENCRYPT, Task::Message(1500), Figure::Request),
    line("256-byte message", "chacha20-ietf", ENCRYPT, Task::Message(256), Figure::Request),
    line("key set-up", "aes-128-ctr", ENCRYPT, Task::SetKey, Figure::Request),
    line("16-byte call, overhead", "aes-128-cbc", ENCRYPT, Task::Continue(16), Figure::Overhead),
    line("16-byte call, overhead", "aes-128-ctr", ENCRYPT, Task::Continue(16), Figure::Overhead),
    line("64 KiB, per byte", "aes-128-ctr", ENCRYPT, Task::Continue(WHOLE), Figure::Byte),
    line("64 KiB dec., per byte", "aes-128-cbc", DECRYPT, Task::Continue(WHOLE), Figure::Byte),
    line("64 KiB dec., per byte", "serpent-128-cbc", DECRYPT, Task::Continue(WHOLE), Figure::Byte),
];

/// Our checked layer and every peer, for each line.
pub(crate) fn rows(peers: &[Contender]) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for line in &LINES {
        let Some(algorithm) = algorithm(line.algorithm) else { continue };
        let ours = Contender::all_ours(algorithm).into_iter();
        let ours = ours.filter(|c| c.point().api == CHECKED && !c.is_lower());
        let peers = peers.iter().filter(|c| c.algorithm() == algorithm);
        let peers = peers.filter(|c| c.point().api != "gcry-nohw").cloned();
        let mut tasks = vec![line.task];
        if line.figure == Figure::Overhead {
            tasks.push(Task::Continue(WHOLE));
        }
        for contender in ours.chain(peers) {
            let tasks = tasks.iter().filter(|&&task| contender.has(task));
            add_once(&mut rows, tasks.map(|&task| contender.row(NAME, line.direction, task, 1)));
        }
    }
    rows
}

/// The lines, ours beside the best peer.
pub(crate) fn text(points: &[Point]) -> String {
    let rows: Vec<Vec<String>> = LINES.iter().filter_map(|line| told(line, points)).collect();
    if rows.is_empty() {
        return String::new();
    }
    let header = ["cycles of a cipher", "", "ours", "best peer", "", ""];
    text::table(&header, "llrlrr", rows) + "\n"
}

fn told(line: &Line, points: &[Point]) -> Option<Vec<String>> {
    let alike = |p: &&Point| {
        p.table == NAME
            && p.subject == line.algorithm
            && p.op == line.task.op(line.direction)
            && p.size == line.task.size().map(|size| size as u64)
            && p.chained == line.task.is_chained()
            && p.wiped.is_none()
            && p.cycles.is_some()
    };
    let ours = points.iter().filter(alike).find(|p| p.is_ours())?;
    let figure = |point: &Point| {
        Some(match line.figure {
            Figure::Request => text::number(point.cycles?),
            Figure::Byte => format!("{:.3}", point.cycles_per_byte()?),
            Figure::Overhead => {
                let whole = whole_of(points, point)?;
                format!("{}{:.1}", tilde(point, whole), overhead(point, whole)?)
            }
        })
    };
    let rivals = points.iter().filter(alike).filter(|p| !p.is_ours() && p.verified);
    let best = quickest(rivals);
    let mark = if ours.verified { "" } else { "?" };
    let mut row = vec![line.what.to_owned(), line.algorithm.to_owned(), figure(ours)? + mark];
    let beside = best.and_then(|peer| {
        // Differences of differences are not ranked.
        let ratio = if line.figure == Figure::Overhead { String::new() } else { ratio(ours, peer) };
        Some([format!("{} {}", peer.source, peer.api), figure(peer)?, ratio])
    });
    row.extend(beside.unwrap_or_else(|| ["-", "", ""].map(str::to_owned)));
    Some(row)
}
