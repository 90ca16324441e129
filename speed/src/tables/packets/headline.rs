//! The rows of the table that stand on the first screen.

use lanecrypt_ciphers::Algorithm;
use lanecrypt_peers::{Aead, Direction};

use super::{NAME, brings_its_key};
use crate::ciphers::Contender;
use crate::results::Point;
use crate::row::Row;
use crate::tables::headline::{quickest, ratio};
use crate::text;

/// A line of the screen: messages that are sealed.
struct Line {
    what: &'static str,
    algorithm: Algorithm,
    size: usize,
    is_fresh: bool,
}

const fn line(what: &'static str, algorithm: Algorithm, size: usize, is_fresh: bool) -> Line {
    Line { what, algorithm, size, is_fresh }
}

const LINES: [Line; 5] = [
    line("seal 64 bytes", Algorithm::AES_128_GCM, 64, false),
    line("seal 1500 bytes", Algorithm::AES_128_GCM, 1500, false),
    line("seal 64 bytes, new key", Algorithm::AES_128_GCM, 64, true),
    line("seal 64 bytes", Algorithm::CHACHA20_POLY1305, 64, false),
    line("seal 1500 bytes", Algorithm::CHACHA20_POLY1305, 1500, false),
];

/// Ours and every peer, for each line.
pub(crate) fn rows(peers: &[Contender<dyn Aead>]) -> Vec<Row> {
    let mut rows = Vec::new();
    for &Line { algorithm, size, is_fresh, .. } in &LINES {
        let ours = Contender::all_our_aeads(algorithm).into_iter().filter(|c| !c.is_lower());
        let peers = peers.iter().filter(|c| {
            let point = c.point();
            let fits = is_fresh || !brings_its_key(point);
            c.algorithm() == algorithm && fits && point.api != "gcry-nohw"
        });
        let contenders = ours.chain(peers.cloned());
        rows.extend(contenders.map(|c| c.row(NAME, Direction::Encrypt, size, is_fresh)));
    }
    rows
}

/// The lines, ours beside the best peer.
pub(crate) fn text(points: &[Point]) -> String {
    let rows: Vec<Vec<String>> = LINES.iter().filter_map(|line| told(line, points)).collect();
    if rows.is_empty() {
        return String::new();
    }
    let header = ["cycles of a packet", "", "ours", "best peer", "", ""].map(str::to_owned);
    text::table(&header, "llrlrr", rows) + "\n"
}

fn told(line: &Line, points: &[Point]) -> Option<Vec<String>> {
    let subject = line.algorithm.to_string();
    let key = if line.is_fresh { "fresh" } else { "kept" };
    let alike = |p: &&Point| {
        p.table == NAME
            && p.op == "seal"
            && p.subject == subject
            && p.size == Some(line.size as u64)
            && p.key.as_deref() == Some(key)
            && p.cycles.is_some()
    };
    let ours = points.iter().filter(alike).find(|p| p.is_ours())?;
    let best = quickest(points.iter().filter(alike).filter(|p| !p.is_ours() && p.verified));
    let mark = if ours.verified { "" } else { "?" };
    let figure = text::number(ours.cycles?) + mark;
    let mut row = vec![line.what.to_owned(), subject.clone(), figure];
    let beside = best.and_then(|peer| {
        let name = format!("{} {}", peer.source, peer.api);
        Some([name, text::number(peer.cycles?), ratio(ours, peer)])
    });
    row.extend(beside.unwrap_or_else(|| ["-", "", ""].map(str::to_owned)));
    Some(row)
}
