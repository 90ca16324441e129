//! What the table shows: blocks for each cipher and operation.

use super::{AEADS, MIXES, RAW, SECTOR_SUBJECTS, USUAL};
use crate::block::Block;
use crate::ciphers::{BATCH, CHECKED, PROCESS};
use crate::figure::{self, candidate, number, per_byte, quickest, ratio, subject_and_operation};
use crate::results::Point;
use crate::scope::{Place, Scope};
use crate::view::{At, BEST, Grid, Line, Screen, best_peer_by_ours};

pub(super) const LEGEND: &str = "\
To read: cycles, medians; less is faster. *: certainly the fastest. ?: not
verified and not ranked. ~: the two figures cannot be distinguished.
best peer : cipher  the best peer's time divided by that of lanecrypt cipher, both in a loop
best peer : batch   the best peer's time, called in any way, divided by that of lanecrypt batch
our loop : batch    the time of lanecrypt cipher divided by that of lanecrypt batch
Each message has a session with its own key, nonce and buffer. There are 64 sessions, or as many as
a batch has messages; 256 for mixed lengths, which are spread evenly over their range. Messages with
authentication have 8 bytes of associated data. CBC takes whole blocks: 1504 bytes instead of 1500.
Messages are encrypted and sealed in place. They are opened from one buffer to another, because an
opened message cannot be opened again. A loop costs the same for every batch and is measured once.
lanecrypt cipher: a loop over checked ciphers. session: a loop over sessions of the engine. batch: a
batch of the engine, filled and finished. process: a slice of requests, built and passed to the
engine. With new keys, the last three open a session for each message. A level after the name: run
with that instruction set. ipsec-mb job: messages are submitted one by one; burst: many at a time.
evp-oneshot: each message makes a context. gcry-nohw: libgcrypt without processor features.
";

/// By size; the batch is the [`usual`] one.
const SIZES: Grid = Grid {
    title: |point, unit| {
        let how = if is_fresh(point) { "each with a new key" } else { "key kept" };
        format!("{}: {unit} by size in bytes, {how}", subject_and_operation(point))
    },
    units: &[("cycles per message", |_, point| number(point.cycles))],
    is_ranked: true,
    compare: &[
        ("best peer : cipher", |at| by_best_peer(&at.all.only(|p| p.batch == Some(1)), CHECKED)),
        ("best peer : batch", |at| by_best_peer(&at.shown, BATCH)),
        ("our loop : batch", |at| by_our_loop(at, BATCH)),
        ("our loop : process", |at| by_our_loop(at, PROCESS)),
    ],
    ..Grid::USUAL
};

/// By batch at one size, or at mixed ones. Loops are measured once, and are ranked in all columns.
const BATCHES: Grid = Grid {
    title: |point, unit| {
        let bytes = match point.sizes.as_deref() {
            Some(sizes) => format!("{sizes} bytes, mixed,"),
            None => format!("{} bytes", point.size.unwrap_or(0)),
        };
        format!("{}: {unit} of {bytes} by messages in a batch", subject_and_operation(point))
    },
    names: (&[""], |scope, point| {
        let whose = match (batch(scope, point), point.is_ours()) {
            (Some(_), _) => "",
            (None, true) => "our best loop: ",
            (None, false) => "best peer loop: ",
        };
        vec![format!("{whose}{}", candidate(scope, point))]
    }),
    over: batch,
    compare: &[
        ("our loop : batch", |at| by_our_loop(at, BATCH)),
        ("our loop : process", |at| by_our_loop(at, PROCESS)),
    ],
    ..SIZES
};

/// Requests to the null cipher.
const REQUESTS: Grid = Grid {
    of: |point| point.subject == "null",
    title: |_, unit| format!("null encrypt: {unit} without work by requests in a batch"),
    over: figure::batch,
    units: &[("cycles per request", |_, point| number(point.cycles))],
    ..Grid::USUAL
};

/// Sectors of storage devices.
const SECTORS: Grid = Grid {
    of: |point| is_of(point, &SECTOR_SUBJECTS),
    title: |point, unit| {
        format!("{}: {unit} by size of the sector in bytes, key kept", subject_and_operation(point))
    },
    units: &[("cycles per byte", per_byte)],
    is_ranked: true,
    compare: &[("best peer : cipher", best_peer_by_ours)],
    ..Grid::USUAL
};

/// The blocks of these points: for each cipher and operation by size, then at some sizes by batch.
pub(super) fn blocks(scope: &Scope<'_>) -> Vec<Block> {
    let subjects: Vec<_> = AEADS.iter().chain(&RAW).map(|subject| subject.algorithm).collect();
    let messages = scope.only(|point| is_of(point, &subjects));
    let mut blocks = Vec::new();
    let key = |p: &Point| (is_fresh(p), p.subject.clone(), p.op.clone());
    for (_, of) in messages.groups(key) {
        let one = of.only(|point| point.sizes.is_none());
        let usual = usual(&one);
        let shown = one.only(|point| point.batch == usual || !is_together(&one, point));
        for mut block in SIZES.chosen(&one, &shown.points) {
            if let Some(batch) = usual {
                let of_batch = format!("bytes, in batches of {batch}");
                block.title = block.title.replacen("bytes", &of_batch, 1);
            }
            blocks.push(block);
        }
        let mut sizes = of.groups(figure::size);
        sizes.sort_by_key(|(size, _)| size.as_ref().map(|(order, _)| *order));
        for (_, of) in sizes {
            if of.points[0].sizes.is_some() || has_batches(&of) {
                blocks.extend(by_batch(&of.only(|point| !of.is_lower(point))));
            }
        }
    }
    blocks.extend(REQUESTS.blocks(scope));
    blocks.extend(SECTORS.blocks(scope));
    blocks
}

fn is_of(point: &Point, subjects: &[lanecrypt_ciphers::Algorithm]) -> bool {
    subjects.iter().any(|subject| subject.to_string() == point.subject)
}

fn is_fresh(point: &Point) -> bool {
    point.key.as_deref() == Some("fresh")
}

/// The candidates at one size by batch: those that take messages together, and the best loops.
fn by_batch(of: &Scope<'_>) -> Vec<Block> {
    let mut shown: Vec<&Point> =
        of.points.iter().copied().filter(|point| is_together(of, point)).collect();
    if shown.is_empty() {
        return Grid { over: figure::batch, ..BATCHES }.chosen(of, &of.points);
    }
    for is_ours in [true, false] {
        let loops = of.points.iter().copied().filter(|point| !is_together(of, point));
        shown.extend(quickest(loops.filter(|p| p.is_ours() == is_ours && p.verified)));
    }
    BATCHES.chosen(of, &shown)
}

/// Whether several batches of one size were measured; only ours count, if there are any.
fn has_batches(of: &Scope<'_>) -> bool {
    let ours = of.only(|point| is_own(of, point, BATCH));
    let counted = if ours.points.is_empty() { of.only(|p| is_together(of, p)) } else { ours };
    counted.points.iter().any(|point| point.batch != counted.points[0].batch)
}

/// Whether its API takes messages together, judged by the measured points.
fn is_together(of: &Scope<'_>, point: &Point) -> bool {
    let line = |p: &Point| (p.source.clone(), p.api.clone(), p.isa.clone());
    of.find(|p| p.batch > Some(1) && p.api == point.api && line(p) == line(point)).is_some()
}

/// The batch of a point whose API takes messages together; loops have the same cost in all.
fn batch(of: &Scope<'_>, point: &Point) -> Place {
    figure::batch(of, point).filter(|_| is_together(of, point))
}

/// The batch in which sizes are compared: the usual one, or the largest measured one.
fn usual(of: &Scope<'_>) -> Option<u32> {
    let batches = || of.points.iter().filter_map(|p| p.batch).filter(|&batch| batch > 1);
    batches().find(|&batch| batch as usize == USUAL).or_else(|| batches().max())
}

/// Whether it is this entry point of ours, at this processor's level.
fn is_own(of: &Scope<'_>, point: &Point, api: &str) -> bool {
    point.is_ours() && point.api == api && !of.is_lower(point)
}

/// The best peer's time divided by ours.
fn by_best_peer(at: &Scope<'_>, api: &str) -> Option<String> {
    let peers = at.points.iter().copied().filter(|p| !p.is_ours() && p.verified);
    Some(ratio(at.find(|p| is_own(at, p, api))?, quickest(peers)?))
}

/// The time of our loop divided by that of another entry point.
fn by_our_loop(at: &At<'_>, api: &str) -> Option<String> {
    let ours = at.shown.find(|point| is_own(&at.shown, point, api))?;
    Some(ratio(ours, at.all.find(|point| is_own(&at.all, point, CHECKED))?))
}

/// The first screen.
pub(super) const SCREEN: [Screen; 2] = [
    Screen {
        title: "cycles of a packet",
        lines: &[
            Line::new("seal 64 bytes", |p| is_sealed(p, "aes-128-gcm", 64)),
            Line::new("seal 1500 bytes", |p| is_sealed(p, "aes-128-gcm", 1500)),
            Line::new("seal 64 bytes, new key", |p| {
                is_forward(p, "aes-128-gcm") && p.size == Some(64) && is_fresh(p)
            }),
            Line::new("seal 64 bytes", |p| is_sealed(p, "chacha20-poly1305", 64)),
            Line::new("seal 1500 bytes", |p| is_sealed(p, "chacha20-poly1305", 1500)),
        ],
        ours: &[("ours", |p| p.api == CHECKED)],
        peers: &[("best peer", |p| p.batch == Some(1) && is_usual(p), BEST)],
        ..Screen::USUAL
    },
    Screen {
        title: "64 packets together: cycles of one",
        lines: &[
            Line::new("seal 64 bytes", |p| is_sealed(p, "aes-128-gcm", 64)),
            Line::new("seal 60-1400 bytes", |p| is_mixed(p, "aes-128-gcm")),
            Line::new("seal 64 bytes", |p| is_sealed(p, "chacha20-poly1305", 64)),
            Line::new("seal 60-1400 bytes", |p| is_mixed(p, "chacha20-poly1305")),
            Line::new("seal 1500 bytes", |p| is_sealed(p, "aes-128-cbc+hmac-sha256", 1504)),
            Line::new("encrypt 1500 bytes", |p| is_sealed(p, "aes-128-cbc", 1504)),
            Line::new("encrypt 1500 bytes", |p| is_sealed(p, "3des-cbc", 1504)),
        ],
        ours: &[
            ("filled", |p| p.api == BATCH && is_in_usual_batch(p)),
            ("process", |p| p.api == PROCESS && is_in_usual_batch(p)),
        ],
        peers: &[
            ("best batch", |p| is_in_usual_batch(p) && is_usual(p), BEST),
            ("best loop", |p| p.batch == Some(1) && is_usual(p), BEST),
        ],
        ..Screen::USUAL
    },
];

fn is_forward(point: &Point, subject: &str) -> bool {
    point.subject == subject && (point.op == "seal" || point.op == "encrypt")
}

fn is_sealed(point: &Point, subject: &str, size: u64) -> bool {
    is_forward(point, subject) && point.size == Some(size) && !is_fresh(point)
}

fn is_mixed(point: &Point, subject: &str) -> bool {
    is_forward(point, subject) && point.sizes == MIXES[1].range()
}

fn is_in_usual_batch(point: &Point) -> bool {
    point.batch.is_some_and(|batch| batch as usize == USUAL)
}

/// Whether a peer is called as programs call it.
fn is_usual(point: &Point) -> bool {
    point.api != "gcry-nohw"
}
