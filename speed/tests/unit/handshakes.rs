//! Small runs of the table, and sessions that lie.

use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::collections::HashSet;

use lanecrypt_peers::{
    Failed, Job, Operation, PublicKey, PublicKeySession, public_key, public_keys,
};

use super::row::{Api, row};
use super::work::Keys;
use super::*;
use crate::depth::Depth;
use crate::glob::Glob;
use crate::options::{Options, Peers};
use crate::peer_set::PeerSet;
use crate::results::{Point, Results};
use crate::row::Row;
use crate::tests::{sample, whole_run};

fn handshakes(only: &str, peers: Peers, seconds: u64) -> Options {
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

#[test]
fn ids_are_unique_and_the_headline_rows_are_those_of_the_table() {
    let options = Options::default();
    let peers = PeerSet::new(&options).expect("the options are good");
    let headline = ids(&TABLE.screen_rows(&peers));
    for depth in [Depth::Quick, Depth::Normal, Depth::Full] {
        let all = ids(&(TABLE.rows)(&peers, depth));
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len(), "{depth:?}");
        assert!(headline.iter().all(|id| all.contains(id)), "{depth:?}");
        for operation in Operation::ALL {
            let [subject, op] = operation.names();
            for source in ["rustcrypto", "dalek"] {
                let id = format!("{NAME}/{source}/crate/{subject}/{op}");
                let is_of =
                    source == if subject.ends_with("25519") { "dalek" } else { "rustcrypto" };
                assert_eq!(all.contains(&id), is_of, "{id}");
            }
        }
    }
}

#[test]
fn a_short_run_is_verified_and_shows_peers_in_every_column() {
    let peers = Peers::Only(vec!["rustcrypto".to_owned(), "dalek".to_owned()]);
    let (report, text) = whole_run(handshakes("handshakes/*/crate/*", peers, 10));
    assert!(report.wrong == 0 && !report.interrupted, "{text}");
    let json = report.results.to_json().expect("serialises");
    let points = Results::from_json(&json).expect("parses").points;
    assert_eq!(points.len(), Operation::ALL.len(), "{text}");
    for point in &points {
        assert!(point.verified && point.cycles > Some(0.0), "{}: {text}", point.id);
        assert!(point.per_second > Some(0.0) && point.batch == Some(1), "{}", point.id);
    }
    for part in [
        "X25519 derive: cycles by operations in flight",
        "ML-KEM-768 encapsulate: cycles",
        "the server's part of a TLS 1.3 handshake, X25519MLKEM768 and ECDSA P-256: in a second",
        "dalek crate",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn ours_is_verified_in_every_number() {
    let (report, text) = whole_run(handshakes("handshakes/lanecrypt/process/*", Peers::None, 20));
    assert!(report.wrong == 0 && !report.interrupted, "{text}");
    let points: Vec<&Point> =
        report.results.points.iter().filter(|point| point.api == "process").collect();
    assert_eq!(points.len(), 5 * Operation::ALL.len(), "{text}");
    for point in points {
        assert!(point.verified && point.cycles > Some(0.0), "{}: {text}", point.id);
    }
    assert!(text.contains("ML-KEM-768 decapsulate: cycles by operations in flight"), "{text}");
}

/// A crate's session whose answers are changed.
struct Liar {
    honest: Box<dyn PublicKey>,
    session: usize,
    change: fn(&mut [u8]),
    accepts: Option<bool>,
}

impl PublicKeySession for Liar {
    fn run(&mut self, job: &mut Job<'_>) -> Result<(), Failed> {
        if let Some(accepts) = self.accepts {
            return if accepts { Ok(()) } else { Err(Failed) };
        }
        let Job { input, message, digest, output, .. } = job;
        let job = Job { session: self.session, input, message, digest, output };
        self.honest.jobs(&mut [job], lanecrypt_peers::Run::of(1))?;
        (self.change)(output);
        Ok(())
    }

    fn shared(&mut self, input: &[u8], secret: &mut [u8]) -> Result<(), Failed> {
        self.honest.shared(input, secret)
    }
}

/// The row of such sessions, under a name.
fn liar(name: &str, operation: Operation, change: fn(&mut [u8]), accepts: Option<bool>) -> Row {
    let point = Point { source: "liar".into(), ..Point::default() };
    let open = move |keys: &Keys| {
        let peers = public_keys(&lanecrypt_peers::PeerLibraries::new());
        let is_it = |source: &str| matches!(source, "rustcrypto" | "dalek");
        let peer = peers.iter().find(|it| is_it(it.source) && it.operation() == Some(operation))?;
        let sessions = (0..keys.pairs().len()).map(|session| {
            let honest = peer.with_key_pairs(&keys.pairs())?;
            let liar = Liar { honest, session, change, accepts };
            Some(Box::new(liar) as Box<dyn PublicKeySession>)
        });
        public_key(operation, sessions.collect::<Option<_>>()?)
    };
    let mut row = row(point, operation, Api::Single, open);
    row.point.id = name.to_owned();
    row
}

#[test]
fn wrong_answers_are_not_verified() {
    let last: fn(&mut [u8]) = |output| output[output.len() - 1] ^= 1;
    let first: fn(&mut [u8]) = |output| output[1] ^= 1;
    let zeros: fn(&mut [u8]) = |output| output.fill(0);
    let rows = [
        liar("honest", Operation::Server, |_| (), None),
        liar("signature", Operation::Server, last, None),
        liar("share", Operation::Server, first, None),
        liar("secret", Operation::X25519Derive, last, None),
        liar("zeros", Operation::P256Derive, zeros, None),
        liar("point", Operation::P256Generate, first, None),
        liar("public", Operation::X25519Generate, zeros, None),
        liar("ciphertext", Operation::MlKemEncapsulate, first, None),
        liar("gullible", Operation::Ed25519Verify, |_| (), Some(true)),
        liar("suspicious", Operation::P256Verify, |_| (), Some(false)),
    ];
    let sampled = sample(&rows);
    let verified: Vec<&str> =
        sampled.points.iter().filter(|p| p.verified).map(|p| p.id.as_str()).collect();
    assert_eq!(verified, ["honest"], "{:?}", sampled.remarks);
    assert_eq!(sampled.remarks.len(), rows.len() - 1, "{:?}", sampled.remarks);
}

#[test]
fn a_session_that_becomes_wrong_is_found_afterwards() {
    // Right in the check before, which makes 65 secrets, and wrong from then on.
    static MADE: AtomicUsize = AtomicUsize::new(0);
    let change: fn(&mut [u8]) = |output| {
        // A count of one thread; it orders nothing.
        if MADE.fetch_add(1, Ordering::Relaxed) >= 65 {
            output[3] ^= 8;
        }
    };
    let sampled = sample(&[liar("late", Operation::X25519Derive, change, None)]);
    let point = sampled.points.first().expect("it was measured");
    assert!(!point.verified, "{:?}", sampled.remarks);
}

#[cfg(any(feature = "aws-lc", feature = "ring"))]
#[test]
fn servers_of_rustls_are_verified() {
    let only = "handshakes/*/rustls*/x25519+p256/rustls*";
    let (report, text) = whole_run(handshakes(only, Peers::All, 10));
    assert!(report.wrong == 0 && !report.interrupted, "{text}");
    let points = &report.results.points;
    for source in ["lanecrypt", if cfg!(feature = "ring") { "ring" } else { "aws-lc" }] {
        assert!(points.iter().any(|point| point.source == source), "{source}: {text}");
    }
    assert!(points.iter().all(|point| point.verified && point.op == "rustls"), "{text}");
    assert!(text.contains("a server of rustls, X25519 and ECDSA P-256: in a second"), "{text}");
}
