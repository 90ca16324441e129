//! Single records, beside those of the providers below, byte by byte.
//!
//! Only keys of 32 bytes can be made outside of rustls, so AES-128 is in `pairings` and `damage`.

use lanecrypt_ciphers::{Algorithm, Cipher};
use lanecrypt_testing::numbers::{Numbers, cases};
use rustls::crypto::cipher::{
    AeadKey, InboundOpaqueMessage, Iv, MessageDecrypter, MessageEncrypter, NONCE_LEN,
    OutboundChunks, OutboundPlainMessage, make_tls12_aad, make_tls13_aad,
};
use rustls::{
    CipherSuite, ContentType, Error, PeerMisbehaved, ProtocolVersion, SupportedCipherSuite,
};

use crate::parties::Party;

/// The most bytes of plaintext in a record.
const LONGEST: usize = 1 << 14;

/// Suites with keys of 32 bytes, and the algorithm of each.
const SUITES: [(CipherSuite, Algorithm); 4] = [
    (CipherSuite::TLS13_AES_256_GCM_SHA384, Algorithm::AES_256_GCM),
    (CipherSuite::TLS13_CHACHA20_POLY1305_SHA256, Algorithm::CHACHA20_POLY1305),
    (CipherSuite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, Algorithm::AES_256_GCM),
    (CipherSuite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256, Algorithm::CHACHA20_POLY1305),
];

/// A key, and what nonces are made of.
#[derive(Clone, Copy)]
struct Secrets {
    key: [u8; 32],
    iv: [u8; NONCE_LEN],
}

impl Secrets {
    fn random(numbers: &mut Numbers) -> Self {
        Self { key: numbers.array(), iv: numbers.array() }
    }

    /// Both directions of a suite.
    fn open(self, by: Party, suite: CipherSuite) -> [Box<dyn End>; 2] {
        let key = || AeadKey::from(self.key);
        match by.provider_of(suite).cipher_suites[0] {
            SupportedCipherSuite::Tls13(suite) => [
                Box::new(suite.aead_alg.encrypter(key(), Iv::new(self.iv))),
                Box::new(suite.aead_alg.decrypter(key(), Iv::new(self.iv))),
            ],
            SupportedCipherSuite::Tls12(suite) => {
                let (fixed, explicit) =
                    self.iv.split_at(suite.aead_alg.key_block_shape().fixed_iv_len);
                [
                    Box::new(suite.aead_alg.encrypter(key(), fixed, explicit)),
                    Box::new(suite.aead_alg.decrypter(key(), fixed)),
                ]
            }
        }
    }
}

/// A direction, with plain bytes in and out.
trait End {
    /// The whole record.
    fn seal(&mut self, _data: OutboundChunks<'_>, _number: u64) -> Result<Vec<u8>, Error> {
        unreachable!("a reading end")
    }

    fn open(&mut self, _record: &[u8], _number: u64) -> Result<(ContentType, Vec<u8>), Error> {
        unreachable!("a writing end")
    }
}

impl End for Box<dyn MessageEncrypter> {
    fn seal(&mut self, data: OutboundChunks<'_>, number: u64) -> Result<Vec<u8>, Error> {
        let expected = self.encrypted_payload_len(data.len());
        let (typ, version) = (ContentType::ApplicationData, ProtocolVersion::TLSv1_2);
        let record = self.encrypt(OutboundPlainMessage { typ, version, payload: data }, number)?;
        let record = record.encode();
        assert_eq!(record.len(), 5 + expected);
        Ok(record)
    }
}

impl End for Box<dyn MessageDecrypter> {
    fn open(&mut self, record: &[u8], number: u64) -> Result<(ContentType, Vec<u8>), Error> {
        let mut payload = record[5..].to_vec();
        let (typ, version) = (ContentType::from(record[0]), ProtocolVersion::TLSv1_2);
        let message = InboundOpaqueMessage::new(typ, version, &mut payload);
        let opened = self.decrypt(message, number)?;
        Ok((opened.typ, opened.payload.to_vec()))
    }
}

fn is_13(suite: CipherSuite) -> bool {
    suite.as_str().is_some_and(|name| name.starts_with("TLS13"))
}

#[test]
fn bytes_are_those_of_others() {
    let numbers = &mut Numbers(5);
    for (suite, _) in SUITES {
        for _ in 0..cases(60) {
            let secrets = Secrets::random(numbers);
            let [mut sealing, mut opening] = secrets.open(Party::OursOverRing, suite);
            for other in [Party::Ring, Party::AwsLc] {
                let [mut their_sealing, mut their_opening] = secrets.open(other, suite);
                let number = numbers.number() >> numbers.below(64);
                let bits = numbers.below(15);
                let length = numbers.below((1 << bits) + 1);
                let data = numbers.bytes(length);
                let (a, b) = (numbers.below(length + 1), numbers.below(length + 1));
                let chunks = [&data[..a.min(b)], &data[a.min(b)..a.max(b)], &[], &data[a.max(b)..]];
                let chunks = OutboundChunks::new(&chunks);
                let record = sealing.seal(chunks, number).expect("sealed");
                let theirs = their_sealing.seal(OutboundChunks::Single(&data), number);
                assert!(theirs.expect("sealed") == record, "{suite:?}, {length} bytes");
                let expected = (ContentType::ApplicationData, data);
                assert!(opening.open(&record, number).expect("opened") == expected);
                assert!(their_opening.open(&record, number).expect("opened") == expected);
                assert_eq!(opening.open(&record, number ^ 1).err(), Some(Error::DecryptError));
            }
        }
    }
}

#[test]
fn every_length_up_to_the_longest_is_sealed_and_none_beyond() {
    let numbers = &mut Numbers(6);
    for (suite, _) in SUITES {
        let secrets = Secrets::random(numbers);
        let [mut sealing, mut opening] = secrets.open(Party::OursOverRing, suite);
        let data = numbers.bytes(LONGEST + 1);
        for length in (0..300).chain(LONGEST - 70..=LONGEST) {
            let record = sealing.seal(data[..length].into(), 0).expect("sealed");
            assert!(opening.open(&record, 0).expect("opened").1 == data[..length], "{length}");
        }
        assert_eq!(sealing.seal(data[..].into(), 0).err(), Some(Error::EncryptError));
    }
}

#[test]
fn a_record_with_too_much_in_it_is_refused() {
    let numbers = &mut Numbers(7);
    for (suite, _) in SUITES {
        let secrets = Secrets::random(numbers);
        let [mut sealing, _] = secrets.open(Party::Ring, suite);
        let [_, mut opening] = secrets.open(Party::OursOverRing, suite);
        let data = numbers.bytes(LONGEST + 200);
        for length in [LONGEST + 1, LONGEST + 2, LONGEST + 200] {
            let record = sealing.seal(data[..length].into(), 0).expect("ring makes it");
            let outcome = opening.open(&record, 0);
            assert_eq!(outcome, Err(Error::PeerSentOversizedRecord), "{suite:?}: {length}");
        }
    }
}

/// A record of TLS 1.3 is content, type and zeros.
#[test]
fn padding_is_taken_off() {
    let numbers = &mut Numbers(8);
    for (suite, algorithm) in SUITES.into_iter().filter(|&(suite, _)| is_13(suite)) {
        let secrets = Secrets::random(numbers);
        let cipher = Cipher::new(algorithm, &secrets.key).expect("a key");
        let [_, mut opening] = secrets.open(Party::OursOverAwsLc, suite);
        let mut open = |inner: &[u8]| {
            let mut record = vec![23, 3, 3, 0, 0];
            record.extend(inner);
            record.extend([0; 16]);
            let aad = make_tls13_aad(inner.len() + 16);
            cipher.seal(&secrets.iv, &aad, &mut record[5..]).expect("sealed");
            opening.open(&record, 0)
        };
        for padding in [0, 1, 15, 255, LONGEST - 7] {
            let inner = [b"content\x16", &vec![0; padding][..]].concat();
            assert_eq!(open(&inner), Ok((ContentType::Handshake, b"content".to_vec())));
        }
        // As much as there may be, content and padding together.
        let inner = [&[7; LONGEST][..], &[23]].concat();
        assert_eq!(open(&inner), Ok((ContentType::ApplicationData, vec![7; LONGEST])));
        let inner = [b"content\x16", &[0; LONGEST - 6][..]].concat();
        assert_eq!(open(&inner), Err(Error::PeerSentOversizedRecord));
        let nothing = Err(Error::PeerMisbehaved(PeerMisbehaved::IllegalTlsInnerPlaintext));
        assert_eq!(open(&[]), nothing);
        assert_eq!(open(&[0; 300]), nothing);
    }
}

/// The nonce of a record of TLS 1.2 with GCM is the one that it names, whatever that is.
#[test]
fn explicit_nonces_may_be_any() {
    let numbers = &mut Numbers(9);
    for (suite, algorithm) in SUITES.into_iter().filter(|&(suite, _)| !is_13(suite)) {
        let secrets = Secrets::random(numbers);
        let cipher = Cipher::new(algorithm, &secrets.key).expect("a key");
        let [_, mut opening] = secrets.open(Party::OursOverAwsLc, suite);
        let explicit: [u8; 8] = numbers.array();
        let nonce = [&secrets.iv[..4], &explicit].concat();
        let mut packet = [&b"content"[..], &[0; 16]].concat();
        let (typ, version) = (ContentType::ApplicationData, ProtocolVersion::TLSv1_2);
        let aad = make_tls12_aad(5, typ, version, 7);
        cipher.seal(&nonce, &aad, &mut packet).expect("sealed");
        let mut record = [&[23, 3, 3, 0, 0][..], &explicit, &packet].concat();
        let opened = opening.open(&record, 5);
        if algorithm == Algorithm::CHACHA20_POLY1305 {
            assert_eq!(opened, Err(Error::DecryptError), "it names none");
        } else {
            assert_eq!(opened, Ok((typ, b"content".to_vec())));
            record[0] = 22;
            assert_eq!(opening.open(&record, 5), Err(Error::DecryptError), "another type");
        }
    }
}

/// A key that does not fit, which rustls never makes, protects nothing.
#[test]
fn a_key_of_another_length_refuses_everything() {
    let suite = CipherSuite::TLS13_AES_128_GCM_SHA256;
    let secrets = Secrets { key: [1; 32], iv: [2; NONCE_LEN] };
    let [mut sealing, mut opening] = secrets.open(Party::OursOverRing, suite);
    assert_eq!(sealing.seal(b"data"[..].into(), 0).err(), Some(Error::EncryptError));
    assert_eq!(opening.open(&[23; 60], 0).err(), Some(Error::DecryptError));
}
