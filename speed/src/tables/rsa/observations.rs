//! What the study says of its Figures 2 and 3, beside what was measured.

use super::bits;
use super::document::BITS;
use super::rows::{Operation, PROCESS, SINGLE, is_of};
use crate::results::Point;
use crate::tables::grid::mark;
use crate::text;

/// The observations, for the points that there are.
pub(super) fn observations(points: &[&Point]) -> String {
    let mut rows = Vec::new();
    rows.extend(cards(points));
    rows.extend(in_flight(points));
    rows.extend(quotients(
        points,
        "without CRT : with CRT, cycles",
        "\"considerably faster\" with",
        |p| p.cycles,
        [Operation::SIGN_WITHOUT, Operation::SIGN],
    ));
    rows.extend(quotients(
        points,
        "verify : sign, in a second",
        "\"much larger\"",
        |p| p.per_second,
        [Operation::VERIFY, Operation::SIGN],
    ));
    if rows.is_empty() {
        return String::new();
    }
    let header = ["", "the study, 2003", "here"];
    let table = text::table(&header, "lll", rows);
    format!("The observations of the study of the OpenBSD cryptographic framework\n{table}{NOTE}\n")
}

const NOTE: &str = "\
The study's Figures 2 and 3 exist as pictures only; its text gives the two figures of the Broadcom
5820. It names two reasons for the difference: one thread is blocked until each signature is done,
so the card waits most of the time; and the vendor used CRT, which the study's engine did not.
";

/// The study's card, as it was used and as it was sold, beside a call of ours.
fn cards(points: &[&Point]) -> Vec<Vec<String>> {
    let is_sign = |p: &&&Point| p.op == "sign" && bits(p) == Some(BITS);
    let study = points.iter().filter(|p| p.source == "document").filter(is_sign);
    let rows = study.map(|study| {
        let is_same = |p: &&&Point| p.is_ours() && p.api == SINGLE && p.crt == study.crt;
        let here = points.iter().filter(is_sign).find(is_same);
        let (crt, said) = match study.crt {
            Some(true) => ("with", "\"can perform\" 800"),
            _ => ("without", "\"slightly over 100\""),
        };
        vec![
            format!("rsa-{BITS} sign in a second, {crt} CRT, one blocked thread"),
            format!("{said}, {}", study.api.replace("-vendor", " by its vendor")),
            here.map_or_else(|| "-".to_owned(), |p| number(p, p.per_second)),
        ]
    });
    rows.collect()
}

/// One in flight and 64: a device that waits for a blocked thread is under-used.
fn in_flight(points: &[&Point]) -> Vec<Vec<String>> {
    let of = |api: &str, batch, size| {
        points.iter().copied().find(|p| {
            is_of(p, Operation::SIGN)
                && p.is_ours()
                && (&*p.api, p.batch, bits(p), p.threads) == (api, Some(batch), Some(size), Some(1))
        })
    };
    let sizes = measured_sizes(points);
    let cells = sizes.iter().filter_map(|&size| {
        let one = of(SINGLE, 1, size)?;
        let many = of(PROCESS, 8, size)?;
        Some(format!("{size}: {}", times(many, one, |p| p.per_second)?))
    });
    let cells: Vec<String> = cells.collect();
    if cells.is_empty() {
        return Vec::new();
    }
    let what = "8 in flight : one blocked thread, in a second".to_owned();
    vec![vec![what, "\"under-utilizing\" with one".to_owned(), cells.join("  ")]]
}

/// One operation divided by another, for each API that has one call for each signature.
fn quotients(
    points: &[&Point],
    what: &str,
    said: &str,
    value: fn(&Point) -> Option<f64>,
    [above, below]: [Operation; 2],
) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let ours_first = |p: &&&Point| p.api != PROCESS && is_of(p, above);
    let mut names: Vec<(&str, &str)> = Vec::new();
    for point in points.iter().filter(ours_first) {
        let name = (point.source.as_str(), point.api.as_str());
        if names.contains(&name) {
            continue;
        }
        names.push(name);
        let of = |operation, size| {
            points.iter().copied().find(|p| {
                is_of(p, operation)
                    && (p.source.as_str(), p.api.as_str()) == name
                    && bits(p) == Some(size)
            })
        };
        let cells = measured_sizes(points).into_iter().filter_map(|size| {
            let factor = times(of(above, size)?, of(below, size)?, value)?;
            Some(format!("{size}: {factor}"))
        });
        let cells: Vec<String> = cells.collect();
        if !cells.is_empty() {
            let (source, api) = name;
            rows.push(vec![format!("{what}, {source} {api}"), said.to_owned(), cells.join("  ")]);
        }
    }
    rows
}

/// One value divided by another.
fn times(above: &Point, below: &Point, value: fn(&Point) -> Option<f64>) -> Option<String> {
    let doubt = if above.verified && below.verified { "" } else { "?" };
    Some(text::times(value(above)? / value(below)?) + doubt)
}

fn number(point: &Point, value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| text::number(value) + mark(point, None))
}

/// The sizes of the measured keys, smallest first.
fn measured_sizes(points: &[&Point]) -> Vec<usize> {
    let measured = points.iter().filter(|p| p.source != "document");
    let mut sizes: Vec<usize> = measured.filter_map(|p| bits(p)).collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}
