//! Small runs of the table, and ciphers that lie.

use core::time::Duration;
use std::collections::HashSet;

use lanecrypt_peers::{Failed, Packet, Sealing, aead};

use super::*;
use crate::glob::Glob;
use crate::options::{Options, Peers};
use crate::results::Results;
use crate::tests::{sample, whole_run};

fn ids(peers: Peers, depth: Depth) -> Vec<String> {
    let options = Options { peers, ..Options::default() };
    let peers = PeerSet::new(&options).expect("the options are good");
    rows(&peers, depth).into_iter().map(|row| row.point.id).collect()
}

#[test]
fn ids_are_unique_and_every_layout_and_size_is_there() {
    for depth in [Depth::Quick, Depth::Normal, Depth::Full] {
        let all = ids(Peers::All, depth);
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len(), "{depth:?}");
        for Subject { algorithm, from, .. } in SUBJECTS {
            for (size, op) in [(8, "decrypt"), (32, "encrypt"), (1024, "encrypt")] {
                let is_there = match depth {
                    Depth::Quick => size == 32 && from == Depth::Quick,
                    Depth::Normal => from != Depth::Full,
                    Depth::Full => true,
                };
                for source in ["lanecrypt/columns", "rustcrypto/crate"] {
                    let id = format!("columns/{source}/{algorithm}/{op}/{size}");
                    assert_eq!(all.contains(&id), is_there, "{id} at {depth:?}: {all:?}");
                }
            }
        }
    }
    let alone = ids(Peers::None, Depth::Normal);
    assert!(!alone.is_empty() && alone.iter().all(|id| id.contains("/lanecrypt/")), "{alone:?}");
    assert!(alone.iter().any(|id| id.ends_with(ALL)), "{alone:?}");
}

#[test]
fn a_short_run_is_verified_and_has_the_keys() {
    let (report, text) = whole_run(Options {
        tables: vec![NAME.parse().expect("a table")],
        budget: Some(Duration::from_secs(4)),
        only: Some(Glob::new("columns/*/aes-128-gcm/*/32*")),
        ..Options::default()
    });
    assert!(report.wrong == 0 && !report.interrupted, "{text}");
    let json = report.results.to_json().expect("serialises");
    let points = Results::from_json(&json).expect("parses").points;
    assert!(points.len() >= 6, "{text}");
    for point in &points {
        assert!(point.verified && point.ns > Some(0.0), "{}", point.id);
        assert_eq!((&*point.subject, point.size), ("aes-128-gcm", Some(32)));
        assert_eq!(point.batch, Some(4096));
        assert_eq!(point.isa.is_some(), point.is_ours(), "{}", point.id);
    }
    for part in [
        "aes_gcm, aes-128-gcm, encrypt: ns for a value, by its bytes",
        "aes_gcm, aes-128-gcm, decrypt",
        "best peer : lanecrypt",
        "All processors",
        "To read: medians",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

/// Opens whatever comes, and seals with one nonce.
struct Careless;

impl Sealing for Careless {
    fn seal(&mut self, _packet: &mut Packet<'_>) -> Result<(), Failed> {
        Ok(())
    }

    fn open(&mut self, packet: &mut Packet<'_>) -> Result<(), Failed> {
        packet.data.copy_from_slice(packet.sealed);
        Ok(())
    }

    fn key(&mut self, _key: &[u8]) -> Result<(), Failed> {
        Ok(())
    }
}

#[test]
fn who_does_not_encrypt_is_not_verified() {
    let subject = SUBJECTS[0];
    let careless =
        CipherUnderTest::<dyn Aead>::new("careless", "loop", subject.algorithm, |direction, _| {
            aead(direction, vec![Careless])
        });
    let rows = Direction::ALL.map(|direction| {
        let point = careless.point().clone();
        row(point, subject, direction, 32, Maker::Loop(Box::new(careless.clone())))
    });
    let sampled = sample(&rows);
    assert!(sampled.points.iter().all(|point| !point.verified), "{:?}", sampled.remarks);
    assert_eq!(sampled.remarks.len(), 2, "{:?}", sampled.remarks);
}
