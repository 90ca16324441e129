//! The figures of the four source documents, and what the same requests cost here.

use lanecrypt_speed::{Point, Results};

use crate::number;

/// A table of a document.
pub(crate) struct Document {
    /// The table of `speed` that its figures are in.
    pub(crate) table: &'static str,
    pub(crate) title: &'static str,
    /// What the document is, or measured on.
    pub(crate) machine: &'static str,
    /// What stands between the document's figures and ours.
    pub(crate) successor: &'static str,
    /// Whether a greater figure is better.
    grows: bool,
    /// The figure of a point, and its unit; none for points that do not belong here.
    figure: fn(&Point) -> Option<(f64, &'static str)>,
    /// What is measured, in the document's words.
    what: fn(&Point) -> String,
    /// Whether the second point is the successor of the first, which is the document's.
    succeeds: fn(&Point, &Point) -> bool,
    /// Whether the second point, one of ours, answers the same request.
    answers: fn(&Point, &Point) -> bool,
}

/// One figure of a document, and those of today.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) what: String,
    pub(crate) unit: &'static str,
    pub(crate) then: f64,
    pub(crate) successor: Option<f64>,
    pub(crate) ours: Option<f64>,
    /// How many times better ours is than the document's.
    pub(crate) times: Option<f64>,
}

pub(crate) static DOCUMENTS: &[Document] = &[
    Document {
        table: "random",
        title: "NetBSD: implementations of cprng_fast",
        machine: "four dual-core Opteron 880",
        successor: "the same generator here",
        grows: false,
        figure: netbsd,
        what: |point| match (&*point.op, point.threads) {
            ("u32", _) => format!("{}, 32-bit numbers", kernel(point)),
            (_, Some(1)) => format!("{}, 4 GB in requests of 256 bytes", kernel(point)),
            _ => format!("{}, 16 GB by four streams", kernel(point)),
        },
        succeeds: |document, point| {
            let form = |p: &Point| (p.api.clone(), p.subject.clone(), p.generator.clone());
            point.is_ours() && is_same_stream(document, point) && form(document) == form(point)
        },
        answers: |document, point| {
            let is_usual = point.generator.as_deref().is_none_or(|kind| kind == "erasing");
            is_same_stream(document, point) && point.subject == "chacha20" && is_usual
        },
    },
    Document {
        table: "calls",
        title: "libgcrypt: overhead of a call",
        machine: "a message of 2018",
        successor: "libgcrypt here",
        grows: false,
        figure: |point| {
            let is_told = matches!(point.size, Some(16 | 128));
            Some((point.overhead.filter(|_| is_told)?, "cycles"))
        },
        what: chunks,
        succeeds: |document, point| point.source == "libgcrypt" && is_same_chunk(document, point),
        answers: is_same_chunk,
    },
    Document {
        table: "calls",
        title: "libgcrypt: cost of chunks",
        machine: "a message of 2018",
        successor: "libgcrypt here",
        grows: false,
        figure: |point| {
            let is_told = matches!(point.size, Some(16 | 128 | 2048));
            Some((point.cycles_per_byte().filter(|_| is_told)?, "cycles a byte"))
        },
        what: chunks,
        succeeds: |document, point| point.source == "libgcrypt" && is_same_chunk(document, point),
        answers: is_same_chunk,
    },
    Document {
        table: "urandom",
        title: "Linux: two tests by dd",
        machine: "a message of 2016",
        successor: "/dev/urandom here",
        grows: true,
        figure: |point| {
            let is_read = point.op == "read" && point.threads.unwrap_or(1) == 1;
            Some((point.megabytes_per_second().filter(|_| is_read)?, "MB in a second"))
        },
        what: |point| format!("reads of {} bytes", size(point)),
        succeeds: |document, point| point.source == "kernel" && document.size == point.size,
        answers: |document, point| document.size == point.size,
    },
    Document {
        table: "rsa",
        title: "OpenBSD's framework, Figure 2: RSA signatures",
        machine: "a Broadcom 5820: one thread that waits, and what the vendor claims",
        successor: "the best peer here",
        grows: true,
        figure: |point| {
            let is_one = point.threads.unwrap_or(1) == 1;
            Some((point.per_second.filter(|_| is_one)?, "in a second"))
        },
        what: |point| {
            let primes = if point.crt == Some(true) { "with" } else { "without" };
            format!("{}, {}, {primes} CRT", point.subject, point.op)
        },
        succeeds: |document, point| !point.is_ours() && is_same_signature(document, point),
        answers: is_same_signature,
    },
    Document {
        table: "engine",
        title: "OpenBSD's framework, Figure 1, without a device",
        machine: "a study of 2003: one process that waits",
        successor: "the best peer here",
        grows: true,
        figure: megabits,
        what: null,
        succeeds: |document, point| !point.is_ours() && is_same_request(document, point),
        answers: is_same_request,
    },
    Document {
        table: "device",
        title: "OpenBSD's framework, Figure 1: the null algorithm",
        machine: "a study of 2003: one process that waits",
        successor: "a socket or a pipe here",
        grows: true,
        figure: megabits,
        what: null,
        succeeds: |document, point| !point.is_ours() && is_same_request(document, point),
        answers: is_same_request,
    },
];

/// Requests of 256 bytes in 4 GB.
const REQUESTS: f64 = 16_777_216.0;

fn netbsd(point: &Point) -> Option<(f64, &'static str)> {
    // Points of these tests say whether they are the whole ones.
    point.whole?;
    match (&*point.op, point.phase.as_deref()) {
        ("u32", None | Some("rekeyed")) => Some((point.cycles? / 4.0, "cycles a byte")),
        ("fill", _) => Some((point.ns? * REQUESTS / 1e9, "seconds")),
        _ => None,
    }
}

/// NetBSD's name of a generator.
fn kernel(point: &Point) -> String {
    let form = match (&*point.api, point.generator.as_deref()) {
        (_, Some("rekeying-inline")) => "inline",
        ("shared", _) => "mtx",
        ("unsynchronised", _) => "nomtx",
        _ => "percpu",
    };
    format!("{}-{form}", point.subject)
}

fn is_same_stream(document: &Point, point: &Point) -> bool {
    (&document.op, document.threads, document.size) == (&point.op, point.threads, point.size)
}

fn chunks(point: &Point) -> String {
    let hardware = if point.api == "gcry-nohw" { ", no AES-NI" } else { "" };
    format!("{} {}{hardware}, chunks of {}", point.subject, point.op, size(point))
}

fn is_same_chunk(document: &Point, point: &Point) -> bool {
    // What is measured here has AES-NI.
    document.api != "gcry-nohw"
        && point.chained == Some(true)
        && point.wiped.is_none()
        && point.key.as_deref() != Some("fresh")
        && (&document.subject, &document.op, document.size)
            == (&point.subject, &point.op, point.size)
        && point.threads.unwrap_or(1) == 1
}

fn is_same_signature(document: &Point, point: &Point) -> bool {
    (&document.subject, &document.op, document.crt) == (&point.subject, &point.op, point.crt)
        // One that waits for each; the vendor does not say.
        && (document.batch.is_none() || point.batch.unwrap_or(1) == 1)
}

fn megabits(point: &Point) -> Option<(f64, &'static str)> {
    let is_alone = point.threads.or(point.processes).unwrap_or(1) == 1;
    Some((8.0 * point.megabytes_per_second().filter(|_| is_alone)?, "Mbit in a second"))
}

fn null(point: &Point) -> String {
    format!("requests of {} bytes", size(point))
}

fn is_same_request(document: &Point, point: &Point) -> bool {
    (&document.subject, document.size) == (&point.subject, point.size)
        && point.depth.unwrap_or(1) == 1
        && point.batch.unwrap_or(1) == 1
}

fn size(point: &Point) -> String {
    number::place(number::of(point.size.unwrap_or(0)))
}

impl Document {
    /// The document's figures with those of a run, in the document's order.
    pub(crate) fn rows(&self, results: &Results) -> Vec<Row> {
        let points: Vec<&Point> =
            results.points.iter().filter(|point| point.table == self.table).collect();
        let best = |of: &dyn Fn(&Point) -> bool| {
            // Numbers without synchronisation repeat, so that nothing verifies them.
            let counts = |p: &Point| p.verified || p.api == "unsynchronised";
            let here = points.iter().filter(|p| counts(p) && p.source != "document" && of(p));
            let figures = here.filter_map(|point| Some((self.figure)(point)?.0));
            figures
                .filter(|figure| figure.is_finite())
                .reduce(|a, b| if self.grows { a.max(b) } else { a.min(b) })
        };
        let row = |document: &&Point| {
            let (then, unit) = (self.figure)(document)?;
            let ours = best(&|point| point.is_ours() && (self.answers)(document, point));
            let ratio = |ours: f64| if self.grows { ours / then } else { then / ours };
            Some(Row {
                what: (self.what)(document),
                unit,
                then,
                successor: best(&|point| (self.succeeds)(document, point)),
                ours,
                // An overhead can be less than nothing.
                times: ours.map(ratio).filter(|times| times.is_finite() && *times > 0.0),
            })
        };
        points.iter().filter(|point| point.source == "document").filter_map(row).collect()
    }
}
