//! The message's figures: libgcrypt in 2018, cycles per byte by chunk.

use super::{CHUNKS, NAME, finish};
use crate::ciphers::WHOLE;
use crate::clock::as_f64;
use crate::results::Point;

/// One of the message's four tables.
struct Figures {
    api: &'static str,
    subject: &'static str,
    op: &'static str,
    /// The figure of the whole buffer.
    whole: f64,
    /// The figures of the chunks, smallest first.
    chunks: [f64; 8],
    /// The chunks' overhead in per cent as the message prints it. It was computed before the
    /// figures above were rounded.
    overhead: [f64; 8],
}

const fn figures(
    [api, subject, op]: [&'static str; 3],
    whole: f64,
    chunks: [f64; 8],
    overhead: [f64; 8],
) -> Figures {
    Figures { api, subject, op, whole, chunks, overhead }
}

const FIGURES: [Figures; 4] = [
    figures(
        ["gcry-nohw", "aes-128-cbc", "encrypt"],
        13.25,
        [19.47, 16.36, 14.91, 14.12, 13.69, 13.55, 13.42, 13.36],
        [46.9, 23.4, 12.5, 6.6, 3.3, 2.3, 1.3, 0.8],
    ),
    figures(
        ["gcry", "serpent-128-cbc", "encrypt"],
        38.23,
        [42.46, 40.62, 39.42, 38.83, 38.53, 38.46, 38.36, 38.27],
        [11.1, 6.2, 3.1, 1.6, 0.8, 0.6, 0.3, 0.1],
    ),
    figures(
        ["gcry", "aes-128-cbc", "encrypt"],
        4.50,
        [7.09, 5.82, 5.16, 4.83, 4.67, 4.58, 4.54, 4.52],
        [57.5, 29.2, 14.5, 7.2, 3.6, 1.8, 0.9, 0.4],
    ),
    figures(
        ["gcry", "aes-128-cbc", "decrypt"],
        0.632,
        [6.56, 3.94, 1.88, 1.26, 0.946, 0.794, 0.711, 0.664],
        [937.4, 523.3, 197.6, 99.4, 49.7, 25.5, 12.5, 5.0],
    ),
];

/// The message's own figures as points.
pub(crate) fn document() -> Vec<Point> {
    let mut points = Vec::new();
    for figures in &FIGURES {
        let Figures { api, subject, op, .. } = *figures;
        let chunks = CHUNKS.into_iter().zip(figures.chunks);
        for (size, cycles) in chunks.chain([(WHOLE, figures.whole)]) {
            points.push(Point {
                id: format!("{NAME}/document/{api}/{subject}/{op}/{size}"),
                table: NAME.into(),
                source: "document".into(),
                api: api.into(),
                subject: subject.into(),
                op: op.into(),
                size: Some(size as u64),
                threads: Some(1),
                key: Some("kept".into()),
                chained: Some(true),
                cycles: Some(cycles * as_f64(size as u64)),
                ..Point::default()
            });
        }
    }
    finish(&mut points);
    points
}

/// The overhead of a chunk in per cent, if the point is one of the message's.
pub(super) fn overhead_printed(point: &Point) -> Option<f64> {
    let is_of = |figures: &&Figures| {
        (figures.api, figures.subject, figures.op) == (&*point.api, &*point.subject, &*point.op)
    };
    let figures = FIGURES.iter().find(is_of).filter(|_| point.source == "document")?;
    let at = CHUNKS.iter().position(|&size| Some(size as u64) == point.size)?;
    figures.overhead.get(at).copied()
}
