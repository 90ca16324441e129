//! The packets of RFC 9001, appendix A.

use lanecrypt_testing::numbers::hex;
use rustls::crypto::cipher::{AeadKey, Iv};
use rustls::quic::{DirectionalKeys, Keys, Version};
use rustls::{CipherSuite, Side};

use crate::parties::Party;
use crate::rfc9001::{
    CLIENT_HEADER, CLIENT_HELLO, CLIENT_INITIAL, CLIENT_PAYLOAD, ID, SERVER_HEADER, SERVER_HELLO,
    SERVER_INITIAL, SHORT_HEADER, SHORT_HEADER_KEY, SHORT_IV, SHORT_KEY, SHORT_NUMBER,
    SHORT_PACKET, SHORT_PAYLOAD,
};

/// The keys of Initial packets.
fn initial(by: Party, side: Side) -> Keys {
    let suite = by.suite13(CipherSuite::TLS13_AES_128_GCM_SHA256).quic_suite();
    suite.expect("it has QUIC").keys(&hex(ID), side, Version::V1)
}

/// Protects a packet, which must be the one expected, and opens it again. The header ends with a
/// packet number of `length` bytes.
fn check(
    [sender, receiver]: [&DirectionalKeys; 2],
    number: u64,
    length: usize,
    header: &[u8],
    payload: &[u8],
    expected: &[u8],
) {
    let mut packet = [header, payload].concat();
    let at = header.len() - length;
    let (head, body) = packet.split_at_mut(header.len());
    let tag = sender.packet.encrypt_in_place(number, head, body).expect("sealed");
    packet.extend_from_slice(tag.as_ref());
    let (first, number_bytes, sample) = parts(&mut packet, at, length);
    sender.header.encrypt_in_place(sample, first, number_bytes).expect("protected");
    assert_eq!(packet, expected);

    let (first, number_bytes, sample) = parts(&mut packet, at, length);
    receiver.header.decrypt_in_place(sample, first, number_bytes).expect("shown");
    let (head, body) = packet.split_at_mut(header.len());
    assert_eq!(head, header);
    let opened = receiver.packet.decrypt_in_place(number, head, body).expect("authentic");
    assert_eq!(opened, payload);
}

/// The first byte, the packet number at `at`, and the sample, which is where it would be if the
/// packet number had four bytes.
fn parts(packet: &mut [u8], at: usize, length: usize) -> (&mut u8, &mut [u8], &[u8]) {
    let (first, rest) = packet.split_first_mut().expect("a packet");
    let (number, rest) = rest[at - 1..].split_at_mut(length);
    (first, number, &rest[4 - length..][..16])
}

/// A.2: a CRYPTO frame, then padding.
#[test]
fn client_initial() {
    for party in Party::OURS {
        let (client, server) = (initial(party, Side::Client), initial(party, Side::Server));
        let mut payload = hex(CLIENT_HELLO);
        payload.resize(CLIENT_PAYLOAD, 0);
        let header = hex(CLIENT_HEADER);
        check([&client.local, &server.remote], 2, 4, &header, &payload, &hex(CLIENT_INITIAL));
    }
}

/// A.3.
#[test]
fn server_initial() {
    for party in Party::OURS {
        let (client, server) = (initial(party, Side::Client), initial(party, Side::Server));
        let header = hex(SERVER_HEADER);
        let (payload, expected) = (hex(SERVER_HELLO), hex(SERVER_INITIAL));
        check([&server.local, &client.remote], 1, 2, &header, &payload, &expected);
    }
}

/// A.5: a packet of ChaCha20-Poly1305 with a short header.
#[test]
fn short_header() {
    let array = |text: &str| <[u8; 32]>::try_from(hex(text)).expect("32 bytes");
    for party in Party::OURS {
        let suite = party.suite13(CipherSuite::TLS13_CHACHA20_POLY1305_SHA256);
        let quic = suite.quic.expect("it has QUIC");
        assert_eq!(quic.aead_key_len(), 32);
        let iv = Iv::from(<[u8; 12]>::try_from(hex(SHORT_IV)).expect("12 bytes"));
        let keys = DirectionalKeys {
            header: quic.header_protection_key(AeadKey::from(array(SHORT_HEADER_KEY))),
            packet: quic.packet_key(AeadKey::from(array(SHORT_KEY)), iv),
        };
        let (header, payload) = (hex(SHORT_HEADER), hex(SHORT_PAYLOAD));
        check([&keys, &keys], SHORT_NUMBER, 3, &header, &payload, &hex(SHORT_PACKET));
    }
}
