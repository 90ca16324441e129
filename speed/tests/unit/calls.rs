//! The table's figures of the message, and small runs of it.

use core::time::Duration;
use std::collections::HashSet;

use lanecrypt_peers::{Crypt, Failed, cipher};

use super::*;
use crate::ciphers::Wipe;
use crate::clock::as_f64;
use crate::glob::Glob;
use crate::machine::Machine;
use crate::options::{Options, Peers};
use crate::processors;
use crate::results::{Results, fastest};
use crate::scope::Scope;
use crate::statistics::Estimate;
use crate::tests::{has_lower_levels, sample, whole_run};

fn calls(only: &str, seconds: u64) -> Options {
    Options {
        tables: vec![NAME.parse().expect("a table")],
        budget: Some(Duration::from_secs(seconds)),
        only: Some(Glob::new(only)),
        peers: Peers::None,
        ..Options::default()
    }
}

#[test]
fn ids_are_unique_at_every_depth_and_the_headline_rows_are_those_of_the_table() {
    let options = Options::default();
    let peers = PeerSet::new(&options).expect("the options are good");
    let ids = |rows: &[Row]| rows.iter().map(|row| row.point.id.clone()).collect::<Vec<_>>();
    for depth in [Depth::Quick, Depth::Normal, Depth::Full] {
        let mut all = ids(&rows(&peers, depth));
        all.extend(document().into_iter().map(|point| point.id));
        let unique: HashSet<&String> = all.iter().collect();
        assert_eq!(unique.len(), all.len(), "{depth:?}");
    }
    let whole = ids(&rows(&peers, Depth::Normal));
    let first = ids(&TABLE.screen_rows(&peers));
    assert!(!first.is_empty());
    assert!(first.iter().all(|id| whole.contains(id)), "{first:?}");
    for id in [
        "calls/lanecrypt/cipher/aes-128-cbc/encrypt/16",
        "calls/lanecrypt/kernel/aes-128-cbc/decrypt/65536",
        "calls/lanecrypt/cipher/aes-128-ctr@portable/encrypt/2048",
        "calls/lanecrypt/cipher/aes-128-ctr/encrypt/1500/independent",
        "calls/lanecrypt/cipher/aes-128-cbc/encrypt/1504/independent/fresh",
        "calls/lanecrypt/cipher/aes-128-cbc/encrypt/1504/independent/shared/t2",
        "calls/lanecrypt/cipher/3des-cbc/set-key",
        "calls/lanecrypt/cipher/aes-128-cbc/encrypt/64/independent/wiped/everything",
    ] {
        // There is no lower level than the lowest.
        let is_there = !id.contains("@portable") || has_lower_levels();
        assert_eq!(whole.iter().any(|known| known == id), is_there, "{id}");
    }
}

/// One of the message's tables.
struct Printed {
    of: [&'static str; 3],
    /// As printed: cycles per byte, and overhead in per cent.
    lines: [(f64, f64); 8],
}

const PRINTED: [Printed; 4] = [
    Printed {
        of: ["gcry-nohw", "aes-128-cbc", "encrypt"],
        lines: [
            (19.47, 46.9),
            (16.36, 23.4),
            (14.91, 12.5),
            (14.12, 6.6),
            (13.69, 3.3),
            (13.55, 2.3),
            (13.42, 1.3),
            (13.36, 0.8),
        ],
    },
    Printed {
        of: ["gcry", "serpent-128-cbc", "encrypt"],
        lines: [
            (42.46, 11.1),
            (40.62, 6.2),
            (39.42, 3.1),
            (38.83, 1.6),
            (38.53, 0.8),
            (38.46, 0.6),
            (38.36, 0.3),
            (38.27, 0.1),
        ],
    },
    Printed {
        of: ["gcry", "aes-128-cbc", "encrypt"],
        lines: [
            (7.09, 57.5),
            (5.82, 29.2),
            (5.16, 14.5),
            (4.83, 7.2),
            (4.67, 3.6),
            (4.58, 1.8),
            (4.54, 0.9),
            (4.52, 0.4),
        ],
    },
    Printed {
        of: ["gcry", "aes-128-cbc", "decrypt"],
        lines: [
            (6.56, 937.4),
            (3.94, 523.3),
            (1.88, 197.6),
            (1.26, 99.4),
            (0.946, 49.7),
            (0.794, 25.5),
            (0.711, 12.5),
            (0.664, 5.0),
        ],
    },
];

#[test]
fn the_messages_figures_are_as_it_prints_them() {
    let points = document();
    assert_eq!(points.len(), 36);
    for Printed { of: [api, subject, op], lines } in PRINTED {
        let of = |size: usize| {
            let size = Some(size as u64);
            points
                .iter()
                .find(|p| (&*p.api, &*p.subject, &*p.op, p.size) == (api, subject, op, size))
        };
        let whole = of(WHOLE).and_then(Point::cycles_per_byte).expect("it prints the whole");
        for (size, (cycles, share)) in CHUNKS.into_iter().zip(lines) {
            let point = of(size).expect("it prints this size");
            assert!(!point.verified);
            let per_byte = point.cycles_per_byte().expect("a figure");
            assert!((per_byte - cycles).abs() < 1e-9, "{}", point.id);
            // Its percentages come from figures with more digits than it prints.
            let ours = 100.0 * (per_byte / whole - 1.0);
            assert!((ours - share).abs() <= 0.2 + 0.001 * share, "{}: {ours}", point.id);
            assert_eq!(document::overhead_printed(point), Some(share), "{}", point.id);
        }
    }
    // "Absolute overhead per call is (19.47 - 13.25) * 16, about 100 cycles"; 70, 40 and 80.
    for (id, cycles) in [
        ("calls/document/gcry-nohw/aes-128-cbc/encrypt/16", 100.0),
        ("calls/document/gcry/serpent-128-cbc/encrypt/16", 70.0),
        ("calls/document/gcry/aes-128-cbc/encrypt/16", 40.0),
        ("calls/document/gcry/aes-128-cbc/decrypt/128", 80.0),
    ] {
        let overhead = points.iter().find(|p| p.id == id).and_then(|p| p.overhead);
        let overhead = overhead.expect("a figure");
        assert!((overhead - cycles).abs() < 4.0, "{id}: {overhead}");
    }
    // Its decryption processes eight blocks at a time; in the other direction four cost no less.
    let fit = points.iter().find(|p| p.id.ends_with("/gcry/aes-128-cbc/decrypt/65536"));
    let fit = fit.and_then(|p| p.fit).expect("eight sizes");
    assert!(fit.from == 64 && (fit.fixed - 80.0).abs() < 3.0, "{fit:?}");
}

#[test]
fn a_short_run_is_verified_and_tells_what_a_call_costs() {
    let (report, text) = whole_run(calls("calls/*aes-128-cbc*/encrypt/*6*", 4));
    let measured: Vec<&Point> = report.results.points.iter().filter(|p| p.is_ours()).collect();
    assert!(measured.len() > 10 && report.wrong == 0, "{text}");
    assert!(measured.iter().all(|p| p.verified && p.cycles > Some(0.0)), "{text}");
    let chained: Vec<&&Point> = measured.iter().filter(|p| p.chained == Some(true)).collect();
    for point in &chained {
        assert_eq!(point.key.as_deref(), Some("kept"));
        let is_whole = point.size == Some(WHOLE as u64);
        assert!(point.overhead.is_none() || !is_whole, "{}", point.id);
        assert!(point.fit.is_none() || is_whole, "{}", point.id);
    }
    assert!(measured.iter().any(|p| p.overhead.is_some()), "{text}");
    for part in ["the message, no AES-NI", "lanecrypt kernel", "13.25"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert_eq!(text.contains("lanecrypt cipher portable"), has_lower_levels(), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let json = report.results.to_json().expect("serialises");
    assert_eq!(Results::from_json(&json).expect("parses"), report.results);
}

#[test]
fn what_comes_before_the_first_byte_is_verified() {
    for op in ["set-key", "set-iv", "open"] {
        let (report, text) = whole_run(calls(&format!("calls/*/{op}"), 2));
        let points = &report.results.points;
        assert!(points.iter().all(|p| p.verified && p.op == op && p.size.is_none()), "{text}");
        assert!(points.len() > 3 && text.contains(op), "{text}");
    }
}

#[test]
fn wiped_messages_are_verified_and_their_cost_is_told() {
    let (report, text) = whole_run(calls("calls/*/wiped/*", 3));
    let points = &report.results.points;
    assert!(points.len() == 6 && points.iter().all(|p| p.verified), "{text}");
    for point in points {
        let bytes = point.wiped.expect("it says how many");
        assert_eq!(point.wiping.is_some(), bytes > 0, "{}", point.id);
    }
    assert!(text.contains("What wiping costs") && text.contains("burn_stack"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn the_cost_of_wiping_is_that_above_the_same_message() {
    let of = |api: &str, bytes: u64, cycles| Point {
        api: api.into(),
        chained: Some(false),
        wiped: Some(bytes),
        ..point(64, cycles)
    };
    let all = Wipe::ALL.map(|wipe| wipe.bytes() as u64);
    assert!(all.is_sorted_by(|a, b| a < b), "{all:?}");
    let [nothing, little, everything] = all;
    let mut points = vec![
        of("cipher", everything, 1700.0),
        of("cipher", nothing, 60.0),
        of("gcry", nothing, 120.0),
        of("gcry", little, 135.5),
        of("other", little, 9.0),
        point(64, 50.0),
    ];
    finish(&mut points);
    let costs: Vec<Option<f64>> = points.iter().map(|p| p.wiping).collect();
    assert_eq!(costs, [Some(1640.0), None, None, Some(15.5), None, None]);
    points[2].verified = false;
    finish(&mut points);
    assert_eq!(points[3].wiping, None, "what it is compared with is wrong");
}

#[test]
fn two_threads_share_one_key() {
    let (report, text) = whole_run(calls("calls/*/aes-128-ctr/*/shared/*", 3));
    assert!(report.results.points.iter().all(|p| p.verified), "{text}");
    if processors::allowed().len() < 2 {
        eprintln!("SKIPPED shared keys: they need two processors");
        return;
    }
    assert_eq!(report.results.points.len(), 4, "{text}");
    assert!(text.contains("throughput of two : one"), "{text}");
}

/// The ways in which a peer lies.
#[derive(Clone, Copy, PartialEq)]
enum Lie {
    /// It does nothing.
    Nothing,
    /// Its messages do not go on.
    Restarts,
    /// It keeps its first key.
    OldKey,
    /// It does not lie.
    Honest,
}

/// XORs with the right keystream of our own cipher, unless it lies.
struct Liar {
    inner: Box<dyn lanecrypt_peers::Cipher>,
    iv: Vec<u8>,
    offset: usize,
    lie: Lie,
}

impl Crypt for Liar {
    fn start(&mut self, iv: &[u8]) -> Result<(), Failed> {
        self.iv = iv.to_vec();
        self.offset = 0;
        Ok(())
    }

    fn next(&mut self, data: &mut [u8]) -> Result<(), Failed> {
        if self.lie == Lie::Nothing {
            return Ok(());
        }
        // The whole message up to here again, for what comes last.
        let mut message = vec![0; self.offset + data.len()];
        self.inner.chunks(&self.iv, &mut message, usize::MAX, 1)?;
        data.iter_mut().zip(&message[self.offset..]).for_each(|(byte, key)| *byte ^= key);
        if self.lie != Lie::Restarts {
            self.offset += data.len();
        }
        Ok(())
    }

    fn key(&mut self, key: &[u8]) -> Result<(), Failed> {
        if self.lie == Lie::OldKey { Ok(()) } else { self.inner.set_keys(&[key], 1) }
    }
}

fn liar(lie: Lie) -> CipherUnderTest {
    let algorithm = Algorithm::AES_128_CTR;
    let honest = CipherUnderTest::all_ours(algorithm).swap_remove(0);
    let name = match lie {
        Lie::Nothing => "nothing",
        Lie::Restarts => "restarts",
        Lie::OldKey => "old-key",
        Lie::Honest => "honest",
    };
    CipherUnderTest::new("liar", name, algorithm, move |direction, keys| {
        let session = |key: &&[u8]| {
            let inner = honest.open(direction, &[key])?;
            Some(Liar { inner, iv: Vec::new(), offset: 0, lie })
        };
        cipher(keys.iter().map(session).collect::<Option<Vec<Liar>>>()?)
    })
}

#[test]
fn peers_that_lie_are_not_verified_and_not_ranked() {
    let all = [Lie::Nothing, Lie::Restarts, Lie::OldKey, Lie::Honest].map(liar);
    for (task, honest) in [
        (Task::Continue(16 << 10), &["old-key", "honest"][..]),
        (Task::Message(64), &["restarts", "old-key", "honest"]),
        (Task::FreshKey(64), &["restarts", "honest"]),
        (Task::Wiped(64, Wipe::Little), &["restarts", "old-key", "honest"]),
        (Task::SetKey, &["honest"]),
    ] {
        let rows: Vec<Row> = all.iter().map(|c| c.row(NAME, Direction::Encrypt, task, 1)).collect();
        let sampled = sample(&rows);
        let verified = sampled.points.iter().filter(|p| p.verified);
        let verified: Vec<&str> = verified.map(|p| p.api.as_str()).collect();
        assert_eq!(verified, honest, "{task:?}: {:?}", sampled.remarks);
        assert!(fastest(&sampled.points).is_none_or(|p| honest.contains(&p.api.as_str())));
        assert_eq!(sampled.wrong, 0, "liars are not ours");
    }
}

/// A peer that goes wrong only after a while.
struct Tiring(Box<dyn lanecrypt_peers::Cipher>, u32, Vec<u8>);

impl Crypt for Tiring {
    fn start(&mut self, iv: &[u8]) -> Result<(), Failed> {
        self.2 = iv.to_vec();
        Ok(())
    }

    fn next(&mut self, data: &mut [u8]) -> Result<(), Failed> {
        self.1 += 1;
        if self.1 > 400 {
            data[0] ^= 1;
        }
        self.0.chunks(&self.2, data, usize::MAX, 1)
    }

    fn key(&mut self, _key: &[u8]) -> Result<(), Failed> {
        Err(Failed)
    }
}

#[test]
fn answers_are_checked_after_the_timing_too() {
    let algorithm = Algorithm::AES_128_CTR;
    let honest = CipherUnderTest::all_ours(algorithm).swap_remove(0);
    let tiring = CipherUnderTest::new("liar", "tiring", algorithm, move |direction, keys| {
        let session = |key: &&[u8]| Some(Tiring(honest.open(direction, &[key])?, 0, Vec::new()));
        cipher(keys.iter().map(session).collect::<Option<Vec<Tiring>>>()?)
    });
    let mut row = tiring.row(NAME, Direction::Encrypt, Task::Message(64), 1);
    // Enough for that many messages of each session, also without instructions for AES.
    row.batches.length = Duration::from_millis(100);
    let sampled = sample(&[row]);
    assert!(sampled.points.iter().all(|p| !p.verified), "{:?}", sampled.remarks);
    assert!(sampled.remarks.iter().any(|r| r.contains("differs")), "{:?}", sampled.remarks);
}

/// A point of the chained part without noise.
fn point(size: usize, cycles: f64) -> Point {
    let estimate = Estimate { median: cycles, low: cycles, high: cycles };
    Point {
        table: NAME.into(),
        source: "lanecrypt".into(),
        api: "cipher".into(),
        id: format!("calls/lanecrypt/cipher/aes-128-cbc/encrypt/{size}"),
        subject: "aes-128-cbc".into(),
        op: "encrypt".into(),
        size: Some(size as u64),
        chained: Some(true),
        verified: true,
        ..Point::default()
    }
    .measured(estimate)
}

#[test]
fn overheads_and_lines_follow_from_the_cycles() {
    let cycles = |size: usize| 10.0 + 2.0 * as_f64(size as u64);
    let sizes = CHUNKS.into_iter().chain([WHOLE]);
    let mut points: Vec<Point> = sizes.map(|size| point(size, cycles(size))).collect();
    finish(&mut points);
    // The whole buffer includes its own call, spread over its bytes.
    let share = 10.0 / as_f64(WHOLE as u64);
    for (point, size) in points.iter().zip(CHUNKS) {
        let overhead = point.overhead.expect("a figure");
        assert!((overhead - (10.0 - share * as_f64(size as u64))).abs() < 1e-9, "{overhead}");
    }
    let fit = points.last().and_then(|whole| whole.fit).expect("nine sizes");
    assert!((fit.fixed - 10.0).abs() < 1e-6 && (fit.slope - 2.0).abs() < 1e-9, "{fit:?}");
    let machine = Machine::default();
    let text = TABLE.sheet(&Scope::of(&machine, &points, NAME)).text();
    assert!(text.contains("+31.2%") && text.contains("2.62"), "{text}");
}
