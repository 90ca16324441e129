//! Small runs of the table, and ciphers that lie.

mod batches;

use core::time::Duration;
use std::collections::HashSet;

use lanecrypt_peers::{Aead, Failed, Messages, Packet, Run, Sealing, aead};

use super::*;
use crate::glob::Glob;
use crate::machine::Machine;
use crate::options::{Options, Peers, Shown};
use crate::results::{Results, fastest};
use crate::run::shown;
use crate::scope::Scope;
use crate::statistics::Estimate;
use crate::tests::{has_lower_levels, sample, whole_run};

fn packets(only: &str, peers: Peers, seconds: u64) -> Options {
    Options {
        tables: vec![NAME.parse().expect("a table")],
        budget: Some(Duration::from_secs(seconds)),
        only: Some(Glob::new(only)),
        peers,
        ..Options::default()
    }
}

fn ids(rows: &[Row]) -> Vec<String> {
    rows.iter().map(|row| row.point.id.clone()).collect()
}

/// Calls `with` with all peers that are here.
fn with_rivals<T>(with: impl FnOnce(&PeerSet<'_>) -> T) -> T {
    with(&PeerSet::new(&Options::default()).expect("the options are good"))
}

fn all_rows(depth: Depth) -> Vec<Row> {
    with_rivals(|peers| rows(peers, depth))
}

#[test]
fn ids_are_unique_at_every_depth_and_the_headline_rows_are_those_of_the_table() {
    for depth in [Depth::Quick, Depth::Normal, Depth::Full] {
        let all = ids(&all_rows(depth));
        let unique: HashSet<&String> = all.iter().collect();
        assert_eq!(unique.len(), all.len(), "{depth:?}");
        let rare = all.iter().any(|id| id.contains("/xchacha20-poly1305/"));
        assert_eq!(rare, depth == Depth::Full);
    }
    let whole = ids(&all_rows(Depth::Normal));
    let first = with_rivals(|peers| ids(&TABLE.screen_rows(peers)));
    assert_eq!(first.iter().collect::<HashSet<_>>().len(), first.len());
    assert!(!first.is_empty() && first.iter().all(|id| whole.contains(id)), "{first:?}");
    for id in [
        "cipher/aes-128-gcm/seal/1500",
        "cipher/aes-128-gcm/seal/64/fresh",
        "cipher/aes-256-gcm@portable/open/1500",
        "cipher/chacha20-poly1305/open/1500/fresh",
        "cipher/aes-256-xts/encrypt/4096",
        "cipher/aes-128-xts@portable/decrypt/512",
        "session/aes-128-gcm/seal/16",
        "process/aes-128-gcm/seal/8192/b64",
        "process/chacha20-poly1305/open/64/b64",
        "batch/chacha20-poly1305/open/64/b64",
        "batch/chacha20-poly1305/seal/64/b16",
        "batch/chacha20-poly1305/seal/60-200/b4",
        "batch/chacha20-poly1305/open/60-1400/b64",
        "process/chacha20-poly1305/seal/60-1400/b64",
        "cipher/chacha20-poly1305/seal/60-1400",
        "batch/aes-128-gcm/seal/60-200/b64",
        "batch/aes-128-cbc/encrypt/60-1400/b64",
        "cipher/aes-128-cbc/encrypt/1504",
        "session/aes-128-cbc/encrypt/1504",
        "batch/aes-128-cbc/encrypt/1504",
        "batch/aes-128-cbc/encrypt/1504/b2",
        "batch/aes-128-cbc@portable/encrypt/1504/b64",
        "process/aes-128-cbc/decrypt/64/b64",
        "process/aes-128-ctr/encrypt/16/b64",
        "batch/chacha20-ietf/encrypt/64/b16",
        "batch/serpent-128-cbc/encrypt/1504/b32",
        "batch/des-cbc/encrypt/1504/b512",
        "batch/3des-cbc/encrypt/1504/b8",
        "session/null/encrypt/64",
        "process/null/encrypt/64",
        "process/null/encrypt/64/b32",
        "batch/null/encrypt/64",
        "batch/null/encrypt/64/b32",
    ] {
        let id = format!("{NAME}/lanecrypt/{id}");
        // There is no lower level than the lowest.
        let is_there = !id.contains("@portable") || has_lower_levels();
        assert_eq!(whole.contains(&id), is_there, "{id}");
    }
    // A context for each message has no kept key.
    assert!(whole.iter().all(|id| !id.contains("oneshot") || id.ends_with("/fresh")));
}

#[test]
fn the_whole_grid_has_every_batch_size_cipher_and_direction() {
    let whole: HashSet<String> = ids(&all_rows(Depth::Full)).into_iter().collect();
    for subject in AEADS.iter().chain(&RAW).filter(|subject| subject.batches) {
        let algorithm = subject.algorithm;
        for direction in Direction::ALL {
            let op = direction.name();
            let op = match (op, algorithm.is_aead()) {
                ("encrypt", true) => "seal",
                ("decrypt", true) => "open",
                _ => op,
            };
            for size in MESSAGES.map(|size| size.next_multiple_of(algorithm.granularity())) {
                for key in ["", "/fresh"] {
                    let id = |api: &str, batch: &str| {
                        format!("{NAME}/lanecrypt/{api}/{algorithm}/{op}/{size}{batch}{key}")
                    };
                    assert!(whole.contains(&id("cipher", "")), "{}", id("cipher", ""));
                    assert!(whole.contains(&id("session", "")), "{}", id("session", ""));
                    for batch in ["", "/b2", "/b4", "/b8", "/b16", "/b32", "/b64", "/b512"] {
                        for api in ["process", "batch"] {
                            assert!(whole.contains(&id(api, batch)), "{}", id(api, batch));
                        }
                    }
                }
            }
            for sizes in ["60-200", "60-1400"] {
                for loops in ["cipher", "session"] {
                    let id = format!("{NAME}/lanecrypt/{loops}/{algorithm}/{op}/{sizes}");
                    assert!(whole.contains(&id), "{id}");
                }
                for batch in ["", "/b2", "/b4", "/b8", "/b16", "/b32", "/b64", "/b512"] {
                    for api in ["process", "batch"] {
                        let id = format!("{NAME}/lanecrypt/{api}/{algorithm}/{op}/{sizes}{batch}");
                        assert!(whole.contains(&id), "{id}");
                    }
                }
            }
        }
    }
    // A loop is measured once.
    let in_batches = whole.iter().filter(|id| id.contains("/b64"));
    assert!(in_batches.clone().all(|id| !id.contains("/cipher/") && !id.contains("/session/")));
    assert!(in_batches.count() > 8 * 2 * MESSAGES.len());
}

#[test]
fn a_short_run_is_verified_beside_a_peer() {
    let peers = Peers::Only(vec!["rustcrypto".to_owned()]);
    let (report, text) = whole_run(packets("packets/*-128-gcm*/*/64*", peers, 3));
    let points = &report.results.points;
    assert!(report.wrong == 0 && points.iter().all(|p| p.verified && p.cycles > Some(0.0)));
    for point in points {
        assert_eq!((point.threads, point.chained), (Some(1), Some(false)));
        let is_fresh = point.id.ends_with("/fresh");
        assert_eq!(point.key.as_deref(), Some(if is_fresh { "fresh" } else { "kept" }));
        let batch = point.batch.expect("every message is in a batch");
        assert_eq!(batch > 1, point.id.contains(&format!("/b{batch}")), "{}", point.id);
        assert!(batch == 1 || point.api == "process" || point.api == "batch");
    }
    for op in ["seal", "open"] {
        for source in ["lanecrypt", "rustcrypto"] {
            let all = points.iter().filter(|p| p.op == op && p.source == source);
            assert!(all.count() >= 2, "{op} {source}: {text}");
        }
    }
    for part in [
        "aes-128-gcm seal: cycles per message by size in bytes, in batches of 64, key kept",
        "aes-128-gcm seal: cycles per message of 64 bytes by messages in a batch",
        "lanecrypt session",
        "best peer : cipher",
        "lanecrypt batch",
        "best peer : batch",
        "our loop : batch",
        "our loop : process",
        "best peer loop: rustcrypto",
        "new key",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert_eq!(text.contains("lanecrypt cipher portable"), has_lower_levels(), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let json = report.results.to_json().expect("serialises");
    assert_eq!(Results::from_json(&json).expect("parses"), report.results);
}

#[test]
fn batches_of_every_cipher_are_verified() {
    for only in [
        "packets/*/encrypt/16/b512",
        "packets/*/process/*crypt/16/b2",
        "packets/*/batch/*crypt/16/b2/fresh",
        "packets/*/null/*",
    ] {
        let options = packets(only, Peers::None, 2);
        let (report, text) = whole_run(Options { depth: Depth::Full, ..options });
        let points = &report.results.points;
        assert!(points.len() >= 5 && points.iter().all(|p| p.verified), "{only} {text}");
    }
}

#[test]
fn mixed_lengths_are_verified_beside_a_peer() {
    let peers = Peers::Only(vec!["rustcrypto".to_owned()]);
    for only in ["packets/*/aes-128-gcm/seal/60-1400*", "packets/*/chacha20-ietf/*/60-200*"] {
        let (report, text) = whole_run(packets(only, peers.clone(), 4));
        let points = &report.results.points;
        assert!(points.len() >= 8 && points.iter().all(|p| p.verified), "{only} {text}");
        assert!(points.iter().all(|p| p.size.is_none() && p.sizes.is_some()), "{only}");
        for part in ["bytes, mixed, by messages in a batch", "our loop : batch", "best peer loop"] {
            assert!(text.contains(part), "{part} in {text}");
        }
        let json = report.results.to_json().expect("serialises");
        assert_eq!(Results::from_json(&json).expect("parses"), report.results);
    }
}

#[test]
fn every_cipher_of_ours_is_verified_at_every_level() {
    let only = "packets/*/cipher/*poly1305*/*/16";
    let options = Options { depth: Depth::Full, ..packets(only, Peers::None, 2) };
    let (report, text) = whole_run(options);
    let points = &report.results.points;
    assert!(points.len() >= 4 && points.iter().all(|p| p.verified), "{text}");
    let compares = |line: &str| line.starts_with("best peer :") && line.ends_with('x');
    assert!(text.contains("xchacha20-poly1305 open") && !text.lines().any(compares), "{text}");
}

#[test]
fn sectors_are_verified() {
    let (report, text) = whole_run(packets("packets/*xts*/512", Peers::None, 2));
    let points = &report.results.points;
    assert!(points.len() >= 4 && points.iter().all(|p| p.verified), "{text}");
    assert!(text.contains("aes-256-xts encrypt: cycles per byte"), "{text}");
}

/// The ways in which a cipher lies.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Lie {
    /// It opens every packet.
    Believes,
    /// It compares all bytes of the tag but the last.
    BelievesLast,
    /// It does nothing.
    Nothing,
    /// It leaves the associated data out.
    NoAad,
    /// Its tags are right, its messages end wrong.
    WrongEnd,
    /// It keeps its first key.
    OldKey,
    /// It does not lie.
    Honest,
}

impl Lie {
    const ALL: [Self; 7] = [
        Self::Believes,
        Self::BelievesLast,
        Self::Nothing,
        Self::NoAad,
        Self::WrongEnd,
        Self::OldKey,
        Self::Honest,
    ];
}

/// Ours with one session, which is right unless it lies after a number of requests.
struct Liar {
    sealer: Box<dyn Aead>,
    lie: Lie,
    patience: u32,
}

impl Liar {
    /// Its lie for this request.
    fn now(&mut self) -> Lie {
        self.patience = self.patience.saturating_sub(1);
        if self.patience == 0 { self.lie } else { Lie::Honest }
    }

    fn sealed(
        &mut self,
        nonce: &[u8],
        aad: &[u8],
        data: &mut [u8],
        tag: &mut [u8; 16],
    ) -> Result<(), Failed> {
        let packet = Packet { session: 0, nonce, aad, data, sealed: &[], tag };
        self.sealer.messages(&mut [packet], Run::of(1))
    }
}

impl Sealing for Liar {
    fn seal(&mut self, packet: &mut Packet<'_>) -> Result<(), Failed> {
        let Packet { nonce, aad, data, tag, .. } = packet;
        let lie = self.now();
        if lie == Lie::Nothing {
            return Ok(());
        }
        self.sealed(nonce, if lie == Lie::NoAad { &[] } else { aad }, data, tag)?;
        if lie == Lie::WrongEnd {
            *data.last_mut().ok_or(Failed)? ^= 1;
        }
        Ok(())
    }

    fn open(&mut self, packet: &mut Packet<'_>) -> Result<(), Failed> {
        let Packet { nonce, aad, data: out, sealed, tag, .. } = packet;
        let lie = self.now();
        if lie == Lie::Nothing {
            return Ok(());
        }
        let mut right = [0; 16];
        // Applying the keystream twice leaves the data unchanged.
        out.copy_from_slice(sealed);
        self.sealed(nonce, aad, out, &mut right)?;
        let mut again = out.to_vec();
        let aad = if lie == Lie::NoAad { &[] } else { *aad };
        self.sealed(nonce, aad, &mut again, &mut right)?;
        if lie == Lie::WrongEnd {
            *out.last_mut().ok_or(Failed)? ^= 1;
        }
        let compared = match lie {
            Lie::Believes => 0,
            Lie::BelievesLast => 15,
            _ => 16,
        };
        if tag[..compared] == right[..compared] { Ok(()) } else { Err(Failed) }
    }

    fn key(&mut self, key: &[u8]) -> Result<(), Failed> {
        if self.lie == Lie::OldKey {
            return Ok(());
        }
        self.sealer = sealer(key).ok_or(Failed)?;
        Ok(())
    }
}

const ALGORITHM: Algorithm = Algorithm::AES_128_GCM;

fn sealer(key: &[u8]) -> Option<Box<dyn Aead>> {
    CipherUnderTest::all_ours(ALGORITHM).first()?.open(Direction::Encrypt, &[key])
}

fn liar(lie: Lie, patience: u32) -> CipherUnderTest<dyn Aead> {
    CipherUnderTest::new("liar", &format!("{lie:?}"), ALGORITHM, move |direction, keys| {
        let session = |key: &&[u8]| Some(Liar { sealer: sealer(key)?, lie, patience });
        aead(direction, keys.iter().map(session).collect::<Option<Vec<Liar>>>()?)
    })
}

#[test]
fn peers_that_lie_are_not_verified_and_not_ranked() {
    for direction in Direction::ALL {
        for is_fresh in [false, true] {
            let shape = Shape { is_fresh, ..Shape::single(100) };
            let rows = Lie::ALL.map(|lie| liar(lie, 0).messages(NAME, direction, shape));
            let sampled = sample(&rows);
            let verified = sampled.points.iter().filter(|p| p.verified);
            let verified: Vec<&str> = verified.map(|p| p.api.as_str()).collect();
            let honest: &[&str] = if is_fresh { &["Honest"] } else { &["OldKey", "Honest"] };
            assert_eq!(verified, honest, "{direction:?} {is_fresh}: {:?}", sampled.remarks);
            assert!(fastest(&sampled.points).is_none_or(|p| honest.contains(&p.api.as_str())));
            assert_eq!(sampled.wrong, 0, "liars are not ours");
            for (lie, remark) in [("Believes:", "forged"), ("BelievesLast", "forged")] {
                let said = |r: &&String| r.contains(lie.trim_end_matches(':'));
                let remarks = sampled.remarks.iter().filter(said);
                assert!(remarks.into_iter().all(|r| r.contains(remark)), "{:?}", sampled.remarks);
            }
        }
    }
}

#[test]
fn answers_and_forgeries_are_checked_after_the_timing_too() {
    let lies = [(Lie::WrongEnd, "differs"), (Lie::Believes, "forged"), (Lie::Honest, "")];
    for (lie, about) in lies {
        let mut row = liar(lie, 200).messages(NAME, Direction::Decrypt, Shape::single(64));
        // Enough for that many messages of each session, also without instructions for AES.
        row.batches.length = Duration::from_millis(50);
        let sampled = sample(&[row]);
        let said = sampled.remarks.iter().any(|r| r.contains(about));
        let is_honest = lie == Lie::Honest;
        assert!(said != is_honest, "{lie:?}: {:?}", sampled.remarks);
        assert!(sampled.points.iter().all(|p| p.verified == is_honest), "{lie:?}");
    }
}

#[test]
fn the_table_opens_with_a_screen() {
    let estimate = Estimate { median: 100.0, low: 99.0, high: 101.0 };
    let options = Options { peers: Peers::None, ..Options::default() };
    let peers = PeerSet::new(&options).expect("the options are good");
    let rows = TABLE.screen_rows(&peers).into_iter().chain(null(Depth::Normal));
    let points: Vec<Point> =
        rows.map(|row| Point { verified: true, ..row.point.measured(estimate) }).collect();
    let text = |wanted| {
        let options = Options { shown: wanted, ..Options::default() };
        let machine = Machine::of_this_process();
        shown(&TABLE, &options, &Scope::of(&machine, &points, NAME))
    };
    let screen = text(Shown::Usual);
    assert!(screen.contains("cycles of a packet") && screen.contains("64 packets together"));
    assert!(!screen.contains("null encrypt: "), "{screen}");
    assert!(screen.contains("To read: ") && screen.contains("More: --all"));
    assert!(screen.lines().count() <= 40, "{screen}");
    let part = text(Shown::Titled("Null".into()));
    assert!(part.starts_with("null encrypt: ") && part.contains("To read: "), "{part}");
    assert!(!part.contains("aes-128-gcm seal: "));
    let all = text(Shown::All);
    assert!(all.contains("null encrypt: ") && all.contains("aes-128-gcm seal: "));
}
