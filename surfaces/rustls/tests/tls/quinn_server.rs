//! A server of QUIC on the loopback address.

use core::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use lanecrypt_testing::numbers::Numbers;
use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{ClientConfig, Endpoint, ServerConfig};
use rustls::CipherSuite;
use rustls::crypto::CryptoProvider;

use crate::parties::{self, Party, SUITES_13};

const STREAMS: u64 = 4;
const BYTES: usize = 300_000;

/// The provider with one suite, and that of Initial packets, which quinn needs.
fn provider(by: Party, suite: CipherSuite) -> Arc<CryptoProvider> {
    let mut provider = by.provider();
    let initial = CipherSuite::TLS13_AES_128_GCM_SHA256;
    provider.cipher_suites.retain(|it| [suite, initial].contains(&it.suite()));
    // The client's first choice.
    provider.cipher_suites.sort_by_key(|it| it.suite() != suite);
    Arc::new(provider)
}

async fn echo(client: Party, server: Party, suite: CipherSuite) {
    let loopback = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let config = parties::server(provider(server, suite), suite);
    let config = QuicServerConfig::try_from(config).expect("it has QUIC");
    let server = Endpoint::server(ServerConfig::with_crypto(Arc::new(config)), loopback);
    let server = server.expect("a port");
    let address = server.local_addr().expect("its address");
    let serving = tokio::spawn(async move {
        let connection = server.accept().await.expect("a client").await.expect("the handshake");
        let mut streams = Vec::new();
        while let Ok((mut to, mut from)) = connection.accept_bi().await {
            let connection = connection.clone();
            streams.push(tokio::spawn(async move {
                while let Ok(Some(chunk)) = from.read_chunk(20_000, true).await {
                    to.write_chunk(chunk.bytes).await.expect("sent back");
                    if chunk.offset % 7 == 0 {
                        connection.force_key_update();
                    }
                }
                to.finish().expect("its end");
            }));
        }
        for stream in streams {
            stream.await.expect("the stream succeeds");
        }
    });

    let config = parties::client(provider(client, suite), suite);
    let config = QuicClientConfig::try_from(config).expect("it has QUIC");
    let mut client = Endpoint::client(loopback).expect("a port");
    client.set_default_client_config(ClientConfig::new(Arc::new(config)));
    let connecting = client.connect(address, "localhost").expect("its settings are good");
    let connection = connecting.await.expect("the handshake succeeds");
    let streams: Vec<_> = (0..STREAMS)
        .map(|seed| {
            let connection = connection.clone();
            tokio::spawn(async move {
                let (mut to, mut from) = connection.open_bi().await.expect("a stream");
                let data = Numbers(seed).bytes(BYTES);
                let sent = data.clone();
                let writing = tokio::spawn(async move {
                    for piece in sent.chunks(50_000) {
                        to.write_all(piece).await.expect("sent");
                        connection.force_key_update();
                    }
                    to.finish().expect("its end");
                });
                let came = from.read_to_end(BYTES).await.expect("everything comes back");
                writing.await.expect("everything was sent");
                assert!(came == data, "stream {seed}: what came back is what was sent");
            })
        })
        .collect();
    for stream in streams {
        stream.await.expect("the stream succeeds");
    }
    connection.close(0_u32.into(), b"done");
    serving.await.expect("the server succeeds");
    client.wait_idle().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_come_back() {
    for suite in SUITES_13 {
        echo(Party::OursOverRing, Party::OursOverAwsLc, suite).await;
        echo(Party::Ring, Party::OursOverRing, suite).await;
        echo(Party::OursOverAwsLc, Party::AwsLc, suite).await;
    }
}
