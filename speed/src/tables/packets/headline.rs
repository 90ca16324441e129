//! The rows of the table on the first screen.

use lanecrypt_ciphers::Algorithm;
use lanecrypt_peers::{Aead, Direction};

use super::{MIXES, NAME, USUAL, brings_its_key};
use crate::ciphers::{Api, BATCH, CHECKED, Contender, PROCESS, Shape, Sizes};
use crate::results::Point;
use crate::row::Row;
use crate::table::{add_once, quickest, ratio};
use crate::text;

/// A line of the screen: messages that are encrypted, or sealed.
struct Line {
    what: &'static str,
    algorithm: Algorithm,
    shape: Shape,
}

const fn line(what: &'static str, algorithm: Algorithm, size: usize, is_fresh: bool) -> Line {
    Line { what, algorithm, shape: Shape { is_fresh, ..Shape::single(size) } }
}

/// One message at a time.
const SINGLE: [Line; 5] = [
    line("seal 64 bytes", Algorithm::AES_128_GCM, 64, false),
    line("seal 1500 bytes", Algorithm::AES_128_GCM, 1500, false),
    line("seal 64 bytes, new key", Algorithm::AES_128_GCM, 64, true),
    line("seal 64 bytes", Algorithm::CHACHA20_POLY1305, 64, false),
    line("seal 1500 bytes", Algorithm::CHACHA20_POLY1305, 1500, false),
];

const fn together(what: &'static str, algorithm: Algorithm, sizes: Sizes) -> Line {
    Line { what, algorithm, shape: Shape { sizes, batch: USUAL, is_fresh: false } }
}

/// Many together.
const TOGETHER: [Line; 7] = [
    together("seal 64 bytes", Algorithm::AES_128_GCM, Sizes::one(64)),
    together("seal 60-1400 bytes", Algorithm::AES_128_GCM, MIXES[1]),
    together("seal 64 bytes", Algorithm::CHACHA20_POLY1305, Sizes::one(64)),
    together("seal 60-1400 bytes", Algorithm::CHACHA20_POLY1305, MIXES[1]),
    together("seal 1500 bytes", Algorithm::AES_128_CBC_HMAC_SHA256, Sizes::one(1504)),
    together("encrypt 1500 bytes", Algorithm::AES_128_CBC, Sizes::one(1504)),
    together("encrypt 1500 bytes", Algorithm::TRIPLE_DES_CBC, Sizes::one(1504)),
];

/// Ours and every peer, for each line; each row once.
pub(crate) fn rows(aeads: &[Contender<dyn Aead>], ciphers: &[Contender]) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for line in SINGLE.iter().chain(&TOGETHER) {
        let made = match line.algorithm.is_aead() {
            true => line.rows(aeads),
            false => line.rows(ciphers),
        };
        add_once(&mut rows, made);
    }
    rows
}

impl Line {
    /// The rows that it compares; for an API without batches the row is a loop.
    fn rows<T: Api + ?Sized>(&self, peers: &[Contender<T>]) -> Vec<Row> {
        let &Self { algorithm, shape, .. } = self;
        let mut ours = Contender::<T>::all_ours(algorithm);
        ours.extend(Contender::all_our_batches(algorithm));
        let apis: &[&str] = if shape.batch > 1 { &[BATCH, PROCESS] } else { &[CHECKED] };
        ours.retain(|c| !c.is_lower() && apis.contains(&c.point().api.as_str()));
        let peers = peers.iter().filter(|c| {
            let fits = shape.is_fresh || !brings_its_key(c.point());
            c.algorithm() == algorithm && fits && c.point().api != "gcry-nohw"
        });
        let all = ours.iter().chain(peers);
        all.map(|contender| {
            let batch = if contender.has_batches() { shape.batch } else { 1 };
            contender.messages(NAME, Direction::Encrypt, Shape { batch, ..shape })
        })
        .collect()
    }
}

/// The lines, ours beside the best peers.
pub(crate) fn text(points: &[Point]) -> String {
    let mut out = String::new();
    let single: Vec<Vec<String>> =
        SINGLE.iter().filter_map(|line| told_single(line, points)).collect();
    if !single.is_empty() {
        let header = ["cycles of a packet", "", "ours", "best peer", "", ""];
        out += &(text::table(&header, "llrlrr", single) + "\n");
    }
    let together: Vec<Vec<String>> =
        TOGETHER.iter().filter_map(|line| told_together(line, points)).collect();
    if !together.is_empty() {
        let first = format!("{USUAL} packets together");
        let header = [&first, "", "filled", "process", "best batch", "", "", "best loop", "", ""];
        out += &(text::table(&header, "llrrlrrlrr", together) + "\n");
    }
    out
}

/// Points with the line's cipher, sizes and key, in any batch.
fn alike<'a>(line: &Line, points: &'a [Point]) -> impl Iterator<Item = &'a Point> {
    let subject = line.algorithm.to_string();
    let Shape { sizes, is_fresh, .. } = line.shape;
    let key = if is_fresh { "fresh" } else { "kept" };
    points.iter().filter(move |p| {
        p.table == NAME
            && (p.op == "seal" || p.op == "encrypt")
            && p.subject == subject
            && (p.size, &p.sizes) == (sizes.single().map(|size| size as u64), &sizes.range())
            && p.key.as_deref() == Some(key)
            && p.cycles.is_some()
    })
}

fn told_single(line: &Line, points: &[Point]) -> Option<Vec<String>> {
    let alike = || alike(line, points).filter(|p| p.batch == Some(1));
    let ours = alike().find(|p| p.is_ours() && p.api == CHECKED)?;
    let mut row = begun(line, ours)?;
    row.extend(beside(ours, quickest(alike().filter(|p| !p.is_ours() && p.verified))));
    Some(row)
}

fn told_together(line: &Line, points: &[Point]) -> Option<Vec<String>> {
    let batch = u32::try_from(line.shape.batch).ok();
    let ours = alike(line, points).find(|p| p.is_ours() && p.api == BATCH && p.batch == batch)?;
    let mut row = begun(line, ours)?;
    let slice = alike(line, points).find(|p| p.is_ours() && p.api == PROCESS && p.batch == batch);
    row.push(text::optional(slice.and_then(|p| p.cycles)));
    for batch in [batch, Some(1)] {
        let rivals = alike(line, points).filter(|p| !p.is_ours() && p.verified);
        row.extend(beside(ours, quickest(rivals.filter(|p| p.batch == batch))));
    }
    Some(row)
}

/// The subject of the line, and our figure.
fn begun(line: &Line, ours: &Point) -> Option<Vec<String>> {
    let mark = if ours.verified { "" } else { "?" };
    let figure = text::number(ours.cycles?) + mark;
    Some(vec![line.what.to_owned(), ours.subject.clone(), figure])
}

/// A peer's name, its figure, and that figure divided by ours.
fn beside(ours: &Point, peer: Option<&Point>) -> [String; 3] {
    let told = peer.and_then(|peer| {
        let name = format!("{} {}", peer.source, peer.api);
        Some([name, text::number(peer.cycles?), ratio(ours, peer)])
    });
    told.unwrap_or_else(|| ["-", "", ""].map(str::to_owned))
}
