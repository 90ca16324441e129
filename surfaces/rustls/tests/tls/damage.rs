//! What arrives is not what was sent.

use lanecrypt_testing::numbers::Numbers;
use rustls::{AlertDescription, CipherSuite, Error};

use crate::connections::{Link, deliver, received, sealed};
use crate::parties::{Party, SUITES_12, SUITES_13};

/// The bytes of a record before its payload.
const HEADER: usize = 5;

/// Has ours read what `damage` made of a record of `length` bytes, each time on a new connection.
fn refused(length: usize, damage: impl Fn(&mut Vec<u8>, CipherSuite), expected: &[Error]) {
    let numbers = &mut Numbers(4);
    for (ours, theirs) in Party::OURS.into_iter().zip([Party::AwsLc, Party::Ring]) {
        for suite in [SUITES_13, SUITES_12].concat() {
            let Link { mut client, mut server } = Link::new(theirs, ours, suite);
            let mut wire = sealed(&mut client, &numbers.bytes(length));
            damage(&mut wire, suite);
            let outcome = deliver(&wire, &mut server);
            assert!(outcome.as_ref().is_err_and(|e| expected.contains(e)), "{suite:?} {outcome:?}");
            assert!(received(&mut server).is_empty(), "nothing of it is handed out");
        }
    }
}

#[test]
fn every_byte_of_a_payload_counts() {
    for at in [0, 7, 8, 50, 99, 100, 101, 107, 108, 115] {
        let flip = |wire: &mut Vec<u8>, _| wire[HEADER + at] ^= 0x10;
        refused(100, flip, &[Error::DecryptError]);
    }
    refused(100, |wire, _| *wire.last_mut().expect("a byte") ^= 1, &[Error::DecryptError]);
}

/// The length is authenticated, so a record that is cut or made longer is refused.
#[test]
fn lengths_count() {
    let set = |wire: &mut Vec<u8>, payload: usize| {
        wire.resize(HEADER + payload, 0);
        let length = u16::try_from(payload).expect("short");
        wire[3..HEADER].copy_from_slice(&length.to_be_bytes());
    };
    for payload in [1, 7, 8, 15, 16, 17, 23, 24, 25, 100, 110] {
        refused(100, |wire, _| set(wire, payload), &[Error::DecryptError]);
    }
    refused(100, |wire, _| set(wire, wire.len() - HEADER + 1), &[Error::DecryptError]);
}

/// Nonces and associated data follow from the number of a record: none is taken twice or early.
#[test]
fn records_come_once_and_in_order() {
    for suite in [SUITES_13, SUITES_12].concat() {
        for (client, server) in
            [(Party::Ring, Party::OursOverRing), (Party::OursOverAwsLc, Party::AwsLc)]
        {
            let mut link = Link::new(client, server, suite);
            let first = sealed(&mut link.client, b"first");
            let came = deliver(&first, &mut link.server);
            assert_eq!(came, Ok(b"first".to_vec()), "{suite:?}");
            let replayed = deliver(&first, &mut link.server);
            assert_eq!(replayed, Err(Error::DecryptError), "{suite:?}");

            let mut link = Link::new(client, server, suite);
            let _first = sealed(&mut link.client, b"first");
            let second = sealed(&mut link.client, b"second");
            let early = deliver(&second, &mut link.server);
            assert_eq!(early, Err(Error::DecryptError), "{suite:?}");

            // What was sent comes back.
            let mut link = Link::new(client, server, suite);
            let sent = sealed(&mut link.client, b"first");
            let reflected = deliver(&sent, &mut link.client);
            assert_eq!(reflected, Err(Error::DecryptError), "{suite:?}");
        }
    }
}

/// In TLS 1.2 the type of a record is authenticated.
#[test]
fn types_count_in_tls_12() {
    for suite in SUITES_12 {
        let mut link = Link::new(Party::Ring, Party::OursOverRing, suite);
        let mut wire = sealed(&mut link.client, b"first");
        wire[0] = 22;
        assert_eq!(deliver(&wire, &mut link.server), Err(Error::DecryptError), "{suite:?}");
    }
}

/// What is longer than any record is refused before it is read as a whole or opened.
#[test]
fn records_of_more_bytes_than_there_can_be_are_refused() {
    for suite in SUITES_13 {
        for (payload, expected) in [
            ((1 << 14) + 256, Error::DecryptError),
            ((1 << 14) + 257, Error::PeerSentOversizedRecord),
        ] {
            let mut link = Link::new(Party::Ring, Party::OursOverRing, suite);
            let length = u16::try_from(payload).expect("16 bits").to_be_bytes();
            let mut wire = [&[23, 3, 3][..], &length].concat();
            wire.resize(HEADER + payload, 7);
            let outcome = deliver(&wire, &mut link.server);
            assert_eq!(outcome, Err(expected.clone()), "{suite:?}");
            let alert = crate::connections::written(&mut link.server);
            let outcome = deliver(&alert, &mut link.client);
            let sent = match expected {
                Error::PeerSentOversizedRecord => AlertDescription::RecordOverflow,
                _ => AlertDescription::BadRecordMac,
            };
            assert_eq!(outcome, Err(Error::AlertReceived(sent)), "{suite:?}");
        }
    }
}
