//! Would a card help? A described card against software, as text.

use core::fmt::Write as _;

use lanecrypt_accelerators::model::{BreakEven, Card, Figure, Host, Work, break_even};
use lanecrypt_engine::{Algorithm, Engine};

use crate::software::Curve;
use crate::text;

/// How many requests are in flight.
const DEPTHS: [usize; 3] = [1, 32, 128];
/// The lengths whose rates are shown, in bytes.
const SIZES: [usize; 3] = [64, 1024, 8192];

/// Compares a card in a host with software, by algorithm, with 1, 32 and 128 requests in flight.
///
/// The software's times are those of the host's description, or else measured here, on one thread,
/// in about half a second for each algorithm. No time passes in the card.
#[must_use]
pub fn card_report(card: &Card, host: &Host) -> String {
    let engine = Engine::new();
    let rows: Vec<Compared> =
        card.algorithms().map(|algorithm| Compared::new(card, host, &engine, algorithm)).collect();
    let mut out = format!(
        "Would a card help? {} in {}; encryption, one thread.\n  card: {}\n  host: {}\n",
        card.name(),
        host.name(),
        card.source(),
        host.source()
    );
    if !rows.is_empty() {
        out += &format!("\n{}\n{}", break_evens(&rows), rates(&rows));
    }
    out + &signatures(card, host) + NOTES
}

const NOTES: &str = "
To read: \"from 153 (bus)\" is the size in bytes from which on the card is faster, and the figure of
the card of which a tenth less would lower that size most. \"never (bus)\": not up to 64 MiB, and it
would be if this figure cost nothing. In flight: requests handed over together, and awaited together.
";

/// The times of one algorithm.
struct Compared {
    algorithm: Algorithm,
    /// Whether the software was measured here.
    measured: bool,
    even: Vec<Option<BreakEven>>,
    /// Nanoseconds of the card and of the software, by depth and size.
    times: Vec<Vec<(Option<f64>, Option<f64>)>>,
}

impl Compared {
    fn new(card: &Card, host: &Host, engine: &Engine, algorithm: Algorithm) -> Self {
        let measured = !host.algorithms().any(|row| row == algorithm);
        let mut compared = Self { algorithm, measured, even: Vec::new(), times: Vec::new() };
        for depth in DEPTHS {
            let curve = measured.then(|| Curve::measure(engine, algorithm, depth)).flatten();
            let software = |bytes| match (measured, &curve) {
                (true, curve) => curve.as_ref().map(|curve| curve.nanoseconds(bytes)),
                (false, _) => host.software(Work::new(algorithm, bytes), depth),
            };
            let time = |bytes| {
                (card.nanoseconds(host, Work::new(algorithm, bytes), depth), software(bytes))
            };
            compared.even.push(break_even(card, host, algorithm, depth, software));
            compared.times.push(SIZES.map(time).into());
        }
        compared
    }
}

/// From which size on the card is faster.
fn break_evens(rows: &[Compared]) -> String {
    let mut header = vec!["faster than software".to_owned()];
    header.extend(DEPTHS.map(|depth| format!("{depth} in flight")));
    let lines = rows.iter().map(|row| {
        let note = if row.measured { "" } else { " *" };
        let mut line = vec![format!("{}{note}", row.algorithm)];
        line.extend(row.even.iter().map(|even| even.as_ref().map_or_else(String::new, said)));
        line
    });
    let mut out = text::table(&header, &lines.collect::<Vec<_>>());
    if rows.iter().any(|row| !row.measured) {
        out += "* software as the host's description says\n";
    }
    if rows.iter().any(|row| row.measured) {
        out += "software without a mark was measured here\n";
    }
    out
}

/// One break-even in words.
fn said(even: &BreakEven) -> String {
    let figures: Vec<String> = even.decides.iter().map(Figure::to_string).collect();
    let figures = figures.join(" and ");
    match (even.from, even.until) {
        (None, _) => format!("never ({figures})"),
        (Some(from), None) if figures.is_empty() => format!("always (from {from})"),
        (Some(from), None) => format!("from {from} ({figures})"),
        (Some(from), Some(until)) if figures.is_empty() => format!("{from} to {}", until - 1),
        (Some(from), Some(until)) => format!("{from} to {} ({figures})", until - 1),
    }
}

/// Megabits per second of the card and of the software.
fn rates(rows: &[Compared]) -> String {
    let mut header = vec!["Mbit/s".to_owned(), "bytes".to_owned()];
    for depth in DEPTHS {
        header.extend([format!("card, {depth}"), "software".to_owned()]);
    }
    let mut lines = Vec::new();
    for row in rows {
        for (at, size) in SIZES.into_iter().enumerate() {
            let rate = |ns: Option<f64>| {
                ns.map_or_else(String::new, |ns| text::number(size as f64 * 8e3 / ns))
            };
            let mut line = vec![row.algorithm.to_string(), size.to_string()];
            for (card, software) in row.times.iter().filter_map(|times| times.get(at)) {
                line.extend([rate(*card), rate(*software)]);
            }
            lines.push(line);
        }
    }
    text::table(&header, &lines)
}

/// Signatures per second.
fn signatures(card: &Card, host: &Host) -> String {
    let mut lines = Vec::new();
    for bits in card.rsa_bits() {
        for (name, work) in [("", Work::rsa(bits)), (" with CRT", Work::rsa_crt(bits))] {
            let per_second =
                |ns: Option<f64>| ns.map_or_else(|| "-".to_owned(), |ns| text::number(1e9 / ns));
            if card.nanoseconds(host, work, 1).is_none() {
                continue;
            }
            let mut line = vec![format!("rsa-{bits}{name}")];
            line.extend(DEPTHS.map(|depth| per_second(card.nanoseconds(host, work, depth))));
            line.push(per_second(host.software(work, 1)));
            lines.push(line);
        }
    }
    if lines.is_empty() {
        return String::new();
    }
    let mut header = vec!["signatures per second".to_owned()];
    header.extend(DEPTHS.map(|depth| format!("{depth} in flight")));
    header.push("software of the host".to_owned());
    let mut out = String::new();
    // Writing to a string does not fail.
    let _ = write!(out, "\n{}", text::table(&header, &lines));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built_in(card: &str, host: &str) -> String {
        let card = Card::built_in(card).expect("it is built in");
        card_report(&card, &Host::built_in(host).expect("it is built in"))
    }

    /// The lines of a report that begin so.
    fn lines<'r>(report: &'r str, begin: &str) -> Vec<Vec<&'r str>> {
        let of = report.lines().filter(|line| line.starts_with(begin));
        of.map(|line| line.split_whitespace().collect()).collect()
    }

    /// With the study's card and host nothing is measured, so that the text is always the same.
    #[test]
    fn the_cards_of_the_study() {
        let report = built_in("broadcom-5820", "host-2003");
        let of_des = lines(&report, "des-cbc");
        let of_3des = lines(&report, "3des-cbc");
        assert_eq!((of_des.len(), of_3des.len()), (4, 4), "{report}");
        // One line says from which size on, three have rates.
        assert_eq!(of_3des[0][1..4], ["*", "from", "136"], "{report}");
        // The card takes the same for both, at each depth.
        for (des, triple) in of_des.iter().zip(&of_3des).skip(1) {
            assert_eq!([des[2], des[4], des[6]], [triple[2], triple[4], triple[6]]);
        }
        let rsa = lines(&report, "rsa-1024");
        assert_eq!(rsa.len(), 2, "{report}");
        assert!(report.contains("fixed cost") && report.contains("800"), "{report}");

        let report = built_in("hifn-7751", "host-2003");
        assert!(lines(&report, "des-cbc")[0].contains(&"never"), "{report}");
        let report = built_in("hifn-6500", "host-2003");
        assert!(lines(&report, "rsa-1024").len() == 1 && !report.contains("Mbit/s"), "{report}");
    }

    /// On any machine: a lone short request takes a device of today longer than software.
    #[test]
    fn the_device_of_today() {
        let report = built_in("intel-qat-gen4", "host-2026");
        for algorithm in ["aes-128-gcm", "chacha20-poly1305"] {
            let lines = lines(&report, algorithm);
            assert_eq!(lines.len(), 4, "{report}");
            assert!(["never", "from"].contains(&lines[0][1]), "{report}");
            assert!(lines[1..].iter().all(|line| line.len() == 8), "{report}");
        }
    }

    #[test]
    fn break_evens_in_words() {
        let mut even = break_even(
            &Card::built_in("broadcom-5820").expect("it is built in"),
            &Host::built_in("host-2003").expect("it is built in"),
            Algorithm::DES_CBC,
            1,
            |_| Some(f64::MAX),
        )
        .expect("the card has it");
        assert_eq!(said(&even), "always (from 8)");
        even.until = Some(1001);
        assert_eq!(said(&even), "8 to 1000");
        even.decides = vec![Figure::Bus, Figure::Engine];
        assert_eq!(said(&even), "8 to 1000 (bus and engine rate)");
        even.from = None;
        assert_eq!(said(&even), "never (bus and engine rate)");
    }
}
