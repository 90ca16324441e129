//! Packets of QUIC and their headers, beside those of the providers below.

use lanecrypt_testing::numbers::{Numbers, cases};
use rustls::crypto::cipher::{AeadKey, Iv};
use rustls::quic::{Keys, Version};
use rustls::{CipherSuite, Error, Side};

use crate::parties::{Party, SUITES_13};

/// The keys of a client that begins with this connection ID.
fn keys(by: Party, suite: CipherSuite, id: &[u8]) -> Keys {
    let suite = by.suite13(suite).quic_suite().expect("it has QUIC");
    suite.keys(id, Side::Client, Version::V1)
}

#[test]
fn bytes_are_those_of_others() {
    let numbers = &mut Numbers(10);
    for suite in SUITES_13 {
        for _ in 0..cases(100) {
            let id: [u8; 8] = numbers.array();
            let ours = keys(Party::OursOverRing, suite, &id).local.packet;
            let theirs = [Party::Ring, Party::AwsLc].map(|by| keys(by, suite, &id).local.packet);
            let (header_length, length) = (numbers.below(60), numbers.below(1500));
            let (header, data) = (numbers.bytes(header_length), numbers.bytes(length));
            let number = numbers.number() >> numbers.below(64);
            let path = (numbers.below(2) == 1).then(|| u32::from_le_bytes(numbers.array()));
            for other in theirs {
                let mut packet = data.clone();
                let sealed = match path {
                    None => ours.encrypt_in_place(number, &header, &mut packet),
                    Some(path) => {
                        ours.encrypt_in_place_for_path(path, number, &header, &mut packet)
                    }
                };
                packet.extend_from_slice(sealed.expect("sealed").as_ref());

                let mut expected = data.clone();
                let sealed = match path {
                    None => other.encrypt_in_place(number, &header, &mut expected),
                    Some(path) => {
                        other.encrypt_in_place_for_path(path, number, &header, &mut expected)
                    }
                };
                expected.extend_from_slice(sealed.expect("sealed").as_ref());
                assert!(packet == expected, "{suite:?}, {length} bytes, path {path:?}");

                let opened = match path {
                    None => ours.decrypt_in_place(number, &header, &mut packet),
                    Some(path) => {
                        ours.decrypt_in_place_for_path(path, number, &header, &mut packet)
                    }
                };
                assert!(opened.expect("authentic") == data);
            }
        }
    }
}

/// A packet opens under its number, its path and its header only, and whole.
#[test]
fn damaged_packets_are_refused_and_wiped() {
    let numbers = &mut Numbers(11);
    for suite in SUITES_13 {
        let key = keys(Party::OursOverAwsLc, suite, b"12345678").local.packet;
        assert_eq!(key.tag_len(), 16);
        let data = numbers.bytes(60);
        let mut packet = data.clone();
        let tag = key.encrypt_in_place_for_path(3, 7, b"header", &mut packet).expect("sealed");
        packet.extend_from_slice(tag.as_ref());

        let open = |path, number, header: &[u8], packet: &[u8]| {
            let mut packet = packet.to_vec();
            let opened = key.decrypt_in_place_for_path(path, number, header, &mut packet);
            let outcome = opened.map(<[u8]>::to_vec);
            if outcome.is_err() && packet.len() > 16 {
                let (message, _) = packet.split_at(packet.len() - 16);
                assert!(message.iter().all(|&byte| byte == 0), "what was decrypted is wiped");
            }
            outcome
        };
        assert_eq!(open(3, 7, b"header", &packet), Ok(data));
        let refused = Err(Error::DecryptError);
        assert_eq!(open(2, 7, b"header", &packet), refused);
        assert_eq!(open(3, 6, b"header", &packet), refused);
        assert_eq!(open(0, 7, b"header", &packet), refused);
        assert_eq!(open(3, 7, b"heade", &packet), refused);
        assert_eq!(open(3, 7, b"Header", &packet), refused);
        for bit in 0..8 * packet.len() {
            let mut damaged = packet.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(open(3, 7, b"header", &damaged), refused, "{bit}");
        }
        for length in 0..packet.len() {
            assert_eq!(open(3, 7, b"header", &packet[..length]), refused, "{length}");
        }
    }
}

/// RFC 9001, section 6.6.
#[test]
fn keys_say_how_much_they_may_be_used() {
    for suite in SUITES_13 {
        let expected = match suite {
            CipherSuite::TLS13_CHACHA20_POLY1305_SHA256 => (u64::MAX, 1 << 36),
            _ => (1 << 23, 1 << 52),
        };
        for party in Party::ALL {
            let key = keys(party, suite, b"id").local.packet;
            assert_eq!((key.confidentiality_limit(), key.integrity_limit()), expected, "{suite:?}");
        }
    }
}

/// Every first byte, and packet numbers of any length that there can be.
#[test]
fn headers_are_those_of_others() {
    let numbers = &mut Numbers(12);
    for suite in SUITES_13 {
        let id: [u8; 20] = numbers.array();
        let all = Party::ALL.map(|by| keys(by, suite, &id).local.header);
        for byte in 0..=255 {
            for length in 0..=4 {
                let (sample, number) = (numbers.array::<16>(), numbers.bytes(length));
                let hidden = all.each_ref().map(|key| {
                    let (mut first, mut number) = (byte, number.clone());
                    key.encrypt_in_place(&sample, &mut first, &mut number).expect("protected");
                    (first, number)
                });
                let shown = all.each_ref().map(|key| {
                    let (mut first, mut number) = (byte, number.clone());
                    key.decrypt_in_place(&sample, &mut first, &mut number).expect("shown");
                    (first, number)
                });
                assert!(hidden.iter().all(|it| *it == hidden[0]), "{suite:?} {byte} {length}");
                assert!(shown.iter().all(|it| *it == shown[0]), "{suite:?} {byte} {length}");
                let (mut first, mut back) = hidden[0].clone();
                all[0].decrypt_in_place(&sample, &mut first, &mut back).expect("shown");
                assert_eq!((first, back), (byte, number), "{suite:?}");
            }
        }
    }
}

#[test]
fn samples_and_packet_numbers_of_other_lengths_change_nothing() {
    for suite in SUITES_13 {
        let key = keys(Party::OursOverRing, suite, b"id").local.header;
        assert_eq!(key.sample_len(), 16);
        for (sample, number) in [(0, 4), (4, 4), (15, 4), (17, 4), (32, 1), (16, 5), (16, 8)] {
            let sample = vec![9; sample];
            let (mut first, mut bytes) = (0xc3, vec![7; number]);
            for outcome in [
                key.encrypt_in_place(&sample, &mut first, &mut bytes),
                key.decrypt_in_place(&sample, &mut first, &mut bytes),
            ] {
                assert!(matches!(outcome, Err(Error::General(_))), "{outcome:?}");
                assert_eq!((first, &bytes[..]), (0xc3, &vec![7; number][..]));
            }
        }
    }
}

/// A key that does not fit, which rustls never makes, protects nothing.
#[test]
fn a_key_of_another_length_refuses_everything() {
    let suite = Party::OursOverRing.suite13(CipherSuite::TLS13_AES_128_GCM_SHA256);
    let quic = suite.quic.expect("it has QUIC");
    assert_eq!(quic.aead_key_len(), 16);
    let key = quic.packet_key(AeadKey::from([1; 32]), Iv::from([2; 12]));
    assert_eq!(key.encrypt_in_place(1, b"", &mut [0; 20]).err(), Some(Error::EncryptError));
    assert_eq!(key.decrypt_in_place(1, b"", &mut [0; 20]).err(), Some(Error::DecryptError));
    let key = quic.header_protection_key(AeadKey::from([1; 32]));
    let outcome = key.encrypt_in_place(&[0; 16], &mut 0, &mut [0; 4]);
    assert!(matches!(outcome, Err(Error::General(_))), "{outcome:?}");
}
