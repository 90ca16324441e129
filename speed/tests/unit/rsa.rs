//! Small runs of the table, and signers that lie.

use core::time::Duration;
use std::collections::HashSet;

use lanecrypt_kernels::Isa;
use lanecrypt_peers::{Failed, Signature, Signing, signer};
use lanecrypt_rsa::Backend;

use super::rows::{Operation, process};
use super::*;
use crate::depth::Depth;
use crate::glob::Glob;
use crate::options::{Options, Peers};
use crate::peer_set::PeerSet;
use crate::results::Results;
use crate::row::{Arena, Row, Workload as _};
use crate::tests::{sample, whole_run};

fn rsa(only: &str, peers: Peers, seconds: u64) -> Options {
    Options {
        tables: vec![NAME.parse().expect("a table")],
        budget: Some(Duration::from_secs(seconds)),
        only: Some(Glob::new(only)),
        peers,
        ..Options::default()
    }
}

/// Calls `with` with all peers that are here.
fn with_rivals<T>(with: impl FnOnce(&PeerSet<'_>) -> T) -> T {
    with(&PeerSet::new(&Options::default()).expect("the options are good"))
}

fn ids(rows: &[Row]) -> Vec<String> {
    rows.iter().map(|row| row.point.id.clone()).collect()
}

#[test]
fn ids_are_unique_and_the_headline_rows_are_those_of_the_table() {
    with_rivals(|peers| {
        let headline = ids(&TABLE.screen_rows(peers));
        for depth in [Depth::Quick, Depth::Normal, Depth::Full] {
            let mut all = ids(&(TABLE.rows)(peers, depth));
            all.extend(document::points().into_iter().map(|point| point.id));
            assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len(), "{depth:?}");
            assert!(headline.iter().all(|id| all.contains(id)), "{depth:?}");
            for id in [
                "lanecrypt/single/rsa-2048/sign/crt",
                "lanecrypt/single/rsa-1024/sign/no-crt",
                "lanecrypt/single/rsa-4096/verify",
                "lanecrypt/process/rsa-2048/sign/crt/b8",
                "lanecrypt/process/rsa-2048/sign/crt/b1",
                "lanecrypt/process/rsa-2048/sign/crt/b16",
                "lanecrypt/process/rsa-4096/sign/no-crt/b8",
                "lanecrypt/process/rsa-1024/verify/b8",
            ] {
                assert!(all.contains(&format!("{NAME}/{id}")), "{id} at {depth:?}");
            }
            // Our own path beside AWS-LC, where that is chosen.
            let is_by_aws_lc = Backend::Measured.may_sign_by_aws_lc(Isa::detect(), 2048);
            let own = format!("{NAME}/lanecrypt/own/rsa-2048/sign/crt");
            assert_eq!(all.contains(&own), is_by_aws_lc, "{depth:?}");
            let rest = [
                "lanecrypt/process/rsa-512/sign/crt/b64",
                "lanecrypt/process/rsa-768/verify/b4",
                "lanecrypt/process/rsa-3072/sign/no-crt/b64",
                "lanecrypt/process/rsa-2048/sign/crt/b3",
                "lanecrypt/process/rsa-2048/verify/b64/all",
            ];
            for id in rest {
                let is_there = all.contains(&format!("{NAME}/{id}"));
                assert_eq!(is_there, depth != Depth::Quick, "{id} at {depth:?}");
            }
        }
    });
}

#[test]
fn a_short_run_is_verified_and_has_the_keys() {
    let peers = Peers::Only(vec!["openssl".to_owned()]);
    let (report, text) = whole_run(rsa("rsa/*/rsa-1024/*", peers, 5));
    assert!(report.wrong == 0 && !report.interrupted, "{text}");
    let json = report.results.to_json().expect("serialises");
    let points = Results::from_json(&json).expect("parses").points;
    let (document, measured): (Vec<&Point>, Vec<&Point>) =
        points.iter().partition(|p| p.source == "document");
    assert_eq!(document.len(), 2, "{text}");
    assert!(measured.len() >= 12, "{text}");
    for point in measured {
        assert!(point.verified && point.cycles > Some(0.0), "{}", point.id);
        assert_eq!(point.subject, "rsa-1024");
        assert_eq!(point.crt.is_some(), point.op == "sign", "{}", point.id);
        assert_eq!(point.crt == Some(false), point.id.contains("/no-crt"), "{}", point.id);
        assert!(point.per_second > Some(0.0) && point.batch >= Some(1), "{}", point.id);
        let is_batch = point.api == "process";
        assert_eq!(is_batch, point.id.contains(&format!("/b{}", point.batch.unwrap_or(0))));
    }
    for part in [
        "RSA sign, with CRT: in a second, by bits of the key",
        "RSA verify: cycles, by bits of the key",
        "lanecrypt process 8",
        "8 in flight : one blocked thread",
        "without CRT : with CRT, cycles, by bits",
        "lanecrypt process : single",
        "verify : sign",
        "\"slightly over 100\"",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn batches_have_a_latency() {
    let (report, text) = whole_run(rsa("rsa/*/rsa-2048/sign/crt/b?", Peers::None, 6));
    assert!(report.wrong == 0 && report.results.points.iter().all(|p| p.verified), "{text}");
    assert!(text.contains("rsa-2048 sign, with CRT: batches"), "{text}");
    assert!(text.contains("all done"), "{text}");
}

/// A signer of ours whose answers are changed.
struct Liar {
    key: lanecrypt_rsa::PrivateKey,
    sign: fn(&mut [u8]),
    accepts: bool,
}

impl Signing for Liar {
    fn sign(&mut self, signature: &mut Signature<'_>) -> Result<(), Failed> {
        let Signature { digest, signature, .. } = signature;
        let padding = lanecrypt_rsa::Padding::pkcs1v15(lanecrypt_rsa::Hash::SHA256);
        let mut workspace = lanecrypt_rsa::Workspace::new();
        self.key.sign_digest(padding, &digest[..], signature, &mut workspace).or(Err(Failed))?;
        (self.sign)(signature);
        Ok(())
    }

    fn verify(&mut self, _signature: &mut Signature<'_>) -> Result<(), Failed> {
        if self.accepts { Ok(()) } else { Err(Failed) }
    }
}

/// The row of such a signer, under a name.
fn liar(name: &str, operation: Operation, sign: fn(&mut [u8]), accepts: bool) -> Row {
    let mut row = process(1024, operation, 1);
    row.point.id = name.to_owned();
    row.point.source = "liar".to_owned();
    let direction = operation.direction;
    row.make = Box::new(move || {
        let keys = keys::of(1024).iter();
        let keys = keys.map(|key| Some(Liar { key: key.private(true)?, sign, accepts }));
        let signer = signer(direction, keys.collect::<Option<Vec<_>>>()?)?;
        Some(Box::new(work::Signatures::new(signer, direction, 1024, 1)))
    });
    row
}

#[test]
fn wrong_signers_are_not_verified() {
    let flip: fn(&mut [u8]) = |signature| signature[50] ^= 1;
    let rows = [
        liar("honest", Operation::SIGN, |_| (), true),
        liar("flip", Operation::SIGN, flip, true),
        liar("zeros", Operation::SIGN, |signature| signature.fill(0), true),
        liar("gullible", Operation::VERIFY, |_| (), true),
        liar("suspicious", Operation::VERIFY, |_| (), false),
    ];
    let sampled = sample(&rows);
    let verified: Vec<&str> =
        sampled.points.iter().filter(|p| p.verified).map(|p| p.id.as_str()).collect();
    assert_eq!(verified, ["honest"], "{:?}", sampled.remarks);
    assert_eq!(sampled.remarks.len(), rows.len() - 1, "{:?}", sampled.remarks);
}

#[test]
fn a_signer_that_becomes_wrong_is_found_afterwards() {
    // Right in the check before, which makes 16 signatures, and wrong from then on.
    static MADE: core::sync::atomic::AtomicUsize = core::sync::atomic::AtomicUsize::new(0);
    let sign: fn(&mut [u8]) = |signature| {
        // A count of one thread; it orders nothing.
        if MADE.fetch_add(1, core::sync::atomic::Ordering::Relaxed) >= 16 {
            signature[3] ^= 8;
        }
    };
    let sampled = sample(&[liar("late", Operation::SIGN, sign, true)]);
    let point = sampled.points.first().expect("it was measured");
    assert!(!point.verified, "{:?}", sampled.remarks);
}

/// The signatures to check are the same in each run, in another order.
#[test]
fn digests_of_runs_differ() {
    for bits in [512, 1024, 2048, 4096] {
        let keys = keys::of(bits);
        let signer = ours::batches(Operation::VERIFY.direction, keys, true).expect("good keys");
        let mut checks = work::Signatures::new(signer, Operation::VERIFY.direction, bits, 64);
        let mut arena = Arena::new();
        let mut run = || {
            checks.begin(&mut arena).expect("signatures are made");
            checks.run(&mut arena, 64);
            checks.digest(&mut arena)
        };
        assert_ne!(run(), run(), "{bits} bits");
    }
}
