//! The study's figures of RSA: its text gives two; Figures 2 and 3 exist as pictures only.

use super::{NAME, subject};
use crate::results::Point;

/// Where the figure is from, whether the key knew its primes, requests in flight, and signatures
/// per second with 1024 bits.
const CARD: [(&str, bool, Option<u32>, f64); 2] = [
    // "slightly over 100", by one thread that waits for each signature.
    ("broadcom-5820", false, Some(1), 100.0),
    // What the vendor claims.
    ("broadcom-5820-vendor", true, None, 800.0),
];

/// The size of the key in the study's text.
pub(super) const BITS: usize = 1024;

/// The figures as points.
pub(super) fn points() -> Vec<Point> {
    let point = |(api, crt, batch, per_second): (&str, bool, Option<u32>, f64)| {
        let subject = subject(BITS);
        let kind = if crt { "crt" } else { "no-crt" };
        Point {
            id: format!("{NAME}/document/{api}/{subject}/sign/{kind}"),
            table: NAME.into(),
            source: "document".into(),
            api: api.into(),
            subject,
            op: "sign".into(),
            crt: Some(crt),
            batch,
            ns: Some(1e9 / per_second),
            per_second: Some(per_second),
            ..Point::default()
        }
    };
    CARD.map(point).into()
}
