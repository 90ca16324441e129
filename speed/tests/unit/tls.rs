//! Small runs of the table, and providers that lie.

use core::time::Duration;
use std::collections::HashSet;

use rustls_lanecrypt::rustls::crypto::CryptoProvider;
use rustls_lanecrypt::rustls::crypto::cipher::{
    AeadKey, InboundOpaqueMessage, InboundPlainMessage, Iv, MessageDecrypter, MessageEncrypter,
    Tls13AeadAlgorithm, UnsupportedOperationError,
};
use rustls_lanecrypt::rustls::{
    CipherSuiteCommon, ConnectionTrafficSecrets, Error, Tls13CipherSuite, quic,
};

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
fn ids_are_unique_and_every_provider_is_there() {
    for depth in [Depth::Quick, Depth::Normal, Depth::Full] {
        let all = ids(Peers::All, depth);
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len(), "{depth:?}");
        for id in [
            "aes-128-gcm/record/100",
            "aes-128-gcm/record/16384",
            "chacha20-poly1305/record/60-1400",
            "aes-128-gcm/packet/100",
            "chacha20-poly1305/packet/1200",
        ] {
            for source in ["lanecrypt", "aws-lc", "ring"] {
                let is_built = match source {
                    "aws-lc" => cfg!(feature = "aws-lc"),
                    "ring" => cfg!(feature = "ring"),
                    _ => true,
                };
                let id = format!("{NAME}/{source}/rustls/{id}");
                assert_eq!(all.contains(&id), is_built, "{id} at {depth:?}");
            }
        }
        let more = format!("{NAME}/lanecrypt/rustls/aes-256-gcm/record/1024");
        assert_eq!(all.contains(&more), depth != Depth::Quick);
    }
    let alone = ids(Peers::None, Depth::Normal);
    assert!(!alone.is_empty() && alone.iter().all(|id| id.contains("/lanecrypt/")), "{alone:?}");
}

#[test]
fn a_short_run_is_verified_and_has_the_keys() {
    let (report, text) = whole_run(Options {
        tables: vec![NAME.parse().expect("a table")],
        budget: Some(Duration::from_secs(6)),
        only: Some(Glob::new("tls/*/aes-128-gcm/*")),
        ..Options::default()
    });
    assert!(report.wrong == 0 && !report.interrupted, "{text}");
    let json = report.results.to_json().expect("serialises");
    let points = Results::from_json(&json).expect("parses").points;
    assert!(points.len() >= 12, "{text}");
    for point in &points {
        assert!(point.verified && point.cycles > Some(0.0), "{}", point.id);
        assert!(point.version.is_some() && point.api == "rustls", "{}", point.id);
        assert_eq!((&*point.subject, point.threads), ("aes-128-gcm", Some(1)));
        assert_eq!(point.isa.is_some(), point.is_ours(), "{}", point.id);
        assert_eq!(point.size.is_none(), point.sizes.as_deref() == Some("60-1400"), "{}", point.id);
        assert!(["record", "packet"].contains(&&*point.op), "{}", point.id);
    }
    for part in [
        "TLS 1.3, aes-128-gcm: cycles of a record, by bytes of its content",
        "QUIC, aes-128-gcm: cycles of a packet",
        "60-1400",
        "best peer : lanecrypt",
        "To read: medians",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

/// Opens whatever comes.
struct Gullible<T>(T);

/// The ciphers of ours, but for what they refuse.
struct Ours;

fn our_suite() -> &'static Tls13CipherSuite {
    let peers = Options { peers: Peers::None, ..Options::default() };
    let peers = PeerSet::new(&peers).expect("the options are good");
    Provider::all(&peers)[0].suite(Algorithm::AES_128_GCM).expect("it has the suite")
}

impl Tls13AeadAlgorithm for Ours {
    fn encrypter(&self, key: AeadKey, iv: Iv) -> Box<dyn MessageEncrypter> {
        our_suite().aead_alg.encrypter(key, iv)
    }

    fn decrypter(&self, key: AeadKey, iv: Iv) -> Box<dyn MessageDecrypter> {
        Box::new(Gullible(our_suite().aead_alg.decrypter(key, iv)))
    }

    fn key_len(&self) -> usize {
        our_suite().aead_alg.key_len()
    }

    fn extract_keys(
        &self,
        _key: AeadKey,
        _iv: Iv,
    ) -> Result<ConnectionTrafficSecrets, UnsupportedOperationError> {
        Err(UnsupportedOperationError)
    }
}

impl MessageDecrypter for Gullible<Box<dyn MessageDecrypter>> {
    fn decrypt<'a>(
        &mut self,
        mut msg: InboundOpaqueMessage<'a>,
        seq: u64,
    ) -> Result<InboundPlainMessage<'a>, Error> {
        let mut copy = msg.payload.to_vec();
        let other = InboundOpaqueMessage::new(msg.typ, msg.version, &mut copy);
        match self.0.decrypt(other, seq) {
            Ok(opened) => {
                let length = opened.payload.len();
                (msg.typ, msg.version) = (opened.typ, opened.version);
                msg.payload[..length].copy_from_slice(opened.payload);
                Ok(msg.into_plain_message_range(0..length))
            }
            // As long as if it were authentic.
            Err(_) => {
                let length = msg.payload.len() - 17;
                Ok(msg.into_plain_message_range(0..length))
            }
        }
    }
}

impl quic::Algorithm for Ours {
    fn packet_key(&self, key: AeadKey, iv: Iv) -> Box<dyn quic::PacketKey> {
        Box::new(Gullible(our_suite().quic.expect("it has QUIC").packet_key(key, iv)))
    }

    fn header_protection_key(&self, key: AeadKey) -> Box<dyn quic::HeaderProtectionKey> {
        our_suite().quic.expect("it has QUIC").header_protection_key(key)
    }

    fn aead_key_len(&self) -> usize {
        our_suite().aead_alg.key_len()
    }
}

impl quic::PacketKey for Gullible<Box<dyn quic::PacketKey>> {
    fn encrypt_in_place(
        &self,
        packet_number: u64,
        header: &[u8],
        payload: &mut [u8],
    ) -> Result<quic::Tag, Error> {
        self.0.encrypt_in_place(packet_number, header, payload)
    }

    fn decrypt_in_place<'a>(
        &self,
        packet_number: u64,
        header: &[u8],
        payload: &'a mut [u8],
    ) -> Result<&'a [u8], Error> {
        let length = payload.len() - 16;
        // What it refuses is wiped, which nothing reports.
        let _ = self.0.decrypt_in_place(packet_number, header, payload);
        Ok(&payload[..length])
    }

    fn tag_len(&self) -> usize {
        self.0.tag_len()
    }

    fn confidentiality_limit(&self) -> u64 {
        self.0.confidentiality_limit()
    }

    fn integrity_limit(&self) -> u64 {
        self.0.integrity_limit()
    }
}

/// A provider with that suite.
fn gullible() -> CryptoProvider {
    let suite = our_suite();
    let common = CipherSuiteCommon { ..suite.common };
    let hkdf_provider = suite.hkdf_provider;
    let suite = Tls13CipherSuite { common, hkdf_provider, aead_alg: &Ours, quic: Some(&Ours) };
    let suite: &'static Tls13CipherSuite = Box::leak(Box::new(suite));
    CryptoProvider { cipher_suites: vec![suite.into()], ..providers::ours() }
}

#[test]
fn who_opens_everything_is_not_verified() {
    let rows = |source: &'static str, make: fn() -> CryptoProvider| {
        Operation::ALL.map(|operation| {
            let provider = Provider { source, version: String::new(), make };
            row(&provider, operation, Algorithm::AES_128_GCM, Sizes::one(100))
        })
    };
    let mut all: Vec<Row> = rows("honest", providers::ours).into();
    all.extend(rows("gullible", gullible));
    let sampled = sample(&all);
    let verified: Vec<&str> =
        sampled.points.iter().filter(|p| p.verified).map(|p| p.source.as_str()).collect();
    assert_eq!(verified, ["honest", "honest"], "{:?}", sampled.remarks);
    assert_eq!(sampled.remarks.len(), 2, "{:?}", sampled.remarks);
    assert!(sampled.remarks.iter().all(|line| line.contains("forged")), "{:?}", sampled.remarks);
}
