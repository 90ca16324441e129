//! The examples of RFC 9001, appendix A.

use lanecrypt::{Engine, Error};

use crate::batch::{self, Incoming, Outgoing};
use crate::hex::hex;
use crate::keys::{Material, PacketKeys, Secret, Suite};
use crate::retry::Retry;
use crate::rfc9001::{
    CLIENT_HEADER, CLIENT_HELLO, CLIENT_INITIAL, CLIENT_PAYLOAD, ID, SERVER_HEADER, SERVER_HELLO,
    SERVER_INITIAL, SHORT_HEADER, SHORT_HEADER_KEY, SHORT_IV, SHORT_KEY, SHORT_NUMBER,
    SHORT_PACKET, SHORT_PAYLOAD,
};

/// Keys of the client and of the server for Initial packets.
fn initial_keys(engine: &Engine) -> [PacketKeys; 2] {
    let (client, server) = Secret::initial(&hex(ID));
    [client, server].map(|secret| {
        PacketKeys::new(engine, &Material::new(Suite::Aes128Gcm, &secret)).expect("keys")
    })
}

/// Protects and opens one packet, alone and in a batch whose other packet is forged.
fn check(keys: &PacketKeys, number: u64, header: &[u8], payload: &[u8], expected: &[u8]) {
    let engine = Engine::new();
    let largest = number.checked_sub(1);
    let open = [header, payload, &[0; 16]].concat();

    let mut packet = open.clone();
    keys.protect(number, header.len(), &mut packet).expect("protected");
    assert_eq!(packet, expected);
    let opened = keys.unprotect(0, largest, &mut packet).expect("opened");
    assert_eq!((opened.number, &packet[opened.payload.clone()]), (number, payload));
    assert_eq!(&packet[..opened.payload.start], header);

    let mut packets = [open.clone(), open];
    let mut batch =
        packets.each_mut().map(|packet| Outgoing { keys, number, header: header.len(), packet });
    batch::protect(&mut engine.batch_buffer(8), &mut batch).expect("protected");
    assert!(packets.iter().all(|packet| packet == expected));

    *packets[0].last_mut().expect("a tag") ^= 1;
    let mut batch = packets.each_mut().map(|packet| Incoming::new(keys, 0, largest, packet));
    batch::unprotect(&mut engine.batch_buffer(8), &mut batch).expect("served");
    let [forged, good] = batch.map(|incoming| incoming.outcome);
    assert_eq!(forged, Err(Error::Authentication.into()));
    let opened = good.expect("opened");
    assert_eq!((opened.number, &packets[1][opened.payload]), (number, payload));
}

/// A.1. Keys.
#[test]
fn keys() {
    let (client, server) = Secret::initial(&hex(ID));
    for (secret, key, iv, header_key) in [
        (
            client,
            "1f369613dd76d5467730efcbe3b1a22d",
            "fa044b2f42a3fd3b46fb255c",
            "9f50449e04a0e810283a1e9933adedd2",
        ),
        (
            server,
            "cf3a5331653c364c88f0f379b6067e37",
            "0ac1493ca1905853b0bba03e",
            "c206b8d9b9f0f37644430b490eeaa314",
        ),
    ] {
        let material = Material::new(Suite::Aes128Gcm, &secret);
        assert_eq!(material.key(), hex(key));
        assert_eq!(material.iv[..], hex(iv));
        assert_eq!(material.header_key(), hex(header_key));
    }
}

/// A.2. Client Initial: a CRYPTO frame, then padding.
#[test]
fn client_initial() {
    let [client, _] = initial_keys(&Engine::new());
    let mut payload = hex(CLIENT_HELLO);
    payload.resize(CLIENT_PAYLOAD, 0);
    let expected = hex(CLIENT_INITIAL);
    assert_eq!(expected.len(), 1200);
    check(&client, 2, &hex(CLIENT_HEADER), &payload, &expected);
}

/// A.3. Server Initial.
#[test]
fn server_initial() {
    let [_, server] = initial_keys(&Engine::new());
    let (header, payload) = (hex(SERVER_HEADER), hex(SERVER_HELLO));
    check(&server, 1, &header, &payload, &hex(SERVER_INITIAL));
}

/// A.4. Retry.
#[test]
fn retry() {
    let retry = Retry::new(&Engine::new()).expect("its key");
    let packet = hex("ff000000010008f067a5502a4262b5746f6b656e04a265ba2eff4d829058fb3f0f2496ba");
    let (body, tag) = packet.split_at(20);
    assert_eq!(retry.tag(&hex(ID), body).expect("a tag")[..], *tag);
    retry.check(&hex(ID), &packet).expect("authentic");
    for at in 0..packet.len() {
        let mut forged = packet.clone();
        forged[at] ^= 1;
        assert_eq!(retry.check(&hex(ID), &forged), Err(Error::Authentication));
    }
    assert_eq!(retry.check(&hex("00"), &packet), Err(Error::Authentication));
    assert_eq!(retry.check(&hex(ID), &packet[..15]), Err(Error::Authentication));
}

/// A.5. ChaCha20-Poly1305 Short Header Packet.
#[test]
fn short_header() {
    let secret = hex("9ac312a7f877468ebe69422748ad00a15443f18203a07d6060f688f30f21632b");
    let secret = Secret::new(secret.try_into().expect("32 bytes"));
    let material = Material::new(Suite::ChaCha20Poly1305, &secret);
    assert_eq!(material.key(), hex(SHORT_KEY));
    assert_eq!(material.iv[..], hex(SHORT_IV));
    assert_eq!(material.header_key(), hex(SHORT_HEADER_KEY));

    let keys = PacketKeys::new(&Engine::new(), &material).expect("keys");
    let sample = hex("5e5cd55c41f69080575d7999c25a5bfb").try_into().expect("16 bytes");
    assert_eq!(keys.header.mask(&sample)[..], hex("aefefe7d03"));
    let (header, payload) = (hex(SHORT_HEADER), hex(SHORT_PAYLOAD));
    check(&keys, SHORT_NUMBER, &header, &payload, &hex(SHORT_PACKET));
}
