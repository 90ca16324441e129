//! Every provider with every other one, as client and as server.

use std::io::{IoSlice, Write as _};
use std::sync::Arc;

use lanecrypt_testing::numbers::Numbers;
use rustls::{CipherSuite, Connection, HandshakeKind};

use crate::connections::{Link, deliver, pass, written};
use crate::parties::{self, Party, SUITES_12, SUITES_13};

/// Lengths around the edges of blocks and of records.
const LENGTHS: [usize; 14] =
    [1, 15, 16, 17, 31, 100, 1024, 1499, 16_367, 16_383, 16_384, 16_385, 32_768, 40_000];

fn each_pairing(suites: &[CipherSuite], mut with: impl FnMut(Party, Party, CipherSuite)) {
    for client in Party::ALL {
        for server in Party::ALL {
            for &suite in suites {
                println!("{client:?} to {server:?}, {suite:?}");
                with(client, server, suite);
            }
        }
    }
}

/// Sends data of all lengths, both ways.
fn talk(link: &mut Link, numbers: &mut Numbers) {
    let Link { client, server } = link;
    for length in LENGTHS {
        pass(&numbers.bytes(length), client, server);
        pass(&numbers.bytes(length), server, client);
    }
    gathered(client, server, numbers);
    gathered(server, client, numbers);
}

/// Sends data that comes in chunks: records end within chunks.
fn gathered(from: &mut Connection, to: &mut Connection, numbers: &mut Numbers) {
    let chunks = [7, 0, 300, 20_000, 1, 16_384, 90].map(|length| numbers.bytes(length));
    let slices = chunks.each_ref().map(|chunk| IoSlice::new(chunk));
    let all = chunks.concat();
    let taken = from.writer().write_vectored(&slices).expect("no limit");
    assert_eq!(taken, all.len());
    let came = deliver(&written(from), to).expect("the records are authentic");
    assert!(came == all, "chunks arrive as they are");
}

#[test]
fn everybody_understands_everybody() {
    let numbers = &mut Numbers(1);
    each_pairing(&[SUITES_13, SUITES_12].concat(), |client, server, suite| {
        let mut link = Link::new(client, server, suite);
        for side in [&link.client, &link.server] {
            assert_eq!(side.negotiated_cipher_suite().map(|it| it.suite()), Some(suite));
            assert_eq!(side.protocol_version(), Some(parties::version(suite).version));
        }
        talk(&mut link, numbers);
    });
}

#[test]
fn keys_are_updated() {
    let numbers = &mut Numbers(2);
    each_pairing(&SUITES_13, |client, server, suite| {
        let mut link = Link::new(client, server, suite);
        for round in 0..4 {
            let (from, to) = if round % 2 == 0 {
                (&mut link.client, &mut link.server)
            } else {
                (&mut link.server, &mut link.client)
            };
            from.refresh_traffic_keys().expect("TLS 1.3 does");
            pass(&numbers.bytes(3000), from, to);
            pass(&numbers.bytes(3000), to, from);
        }
    });
}

/// The second connection continues the first one, with data in its first flight, if it is of TLS
/// 1.3.
#[test]
fn sessions_are_resumed() {
    let numbers = &mut Numbers(3);
    each_pairing(&[SUITES_13, SUITES_12].concat(), |client, server, suite| {
        let is_13 = SUITES_13.contains(&suite);
        let mut client = parties::client(client.provider_of(suite), suite);
        let mut server = parties::server(server.provider_of(suite), suite);
        client.enable_early_data = is_13;
        server.max_early_data_size = if is_13 { 1000 } else { 0 };
        let (client, server) = (Arc::new(client), Arc::new(server));

        let mut first = Link::before_handshake(&client, &server);
        first.shake_hands().expect("the handshake succeeds");
        talk(&mut first, numbers);

        let mut again = Link::before_handshake(&client, &server);
        let early = numbers.bytes(900);
        if let (true, Connection::Client(client)) = (is_13, &mut again.client) {
            let mut writer = client.early_data().expect("the ticket allows it");
            writer.write_all(&early).expect("within the limit");
        }
        again.shake_hands().expect("the handshake succeeds");
        assert_eq!(again.client.handshake_kind(), Some(HandshakeKind::Resumed));
        if let (true, Connection::Server(server)) = (is_13, &mut again.server) {
            let mut came = Vec::new();
            let mut reader = server.early_data().expect("it was accepted");
            std::io::Read::read_to_end(&mut reader, &mut came).expect("its end is known");
            assert!(came == early, "early data arrives as it is");
        }
        talk(&mut again, numbers);
    });
}
