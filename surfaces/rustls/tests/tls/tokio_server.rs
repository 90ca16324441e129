//! A server on the loopback address, with many connections at once.

use std::sync::Arc;

use lanecrypt_testing::numbers::Numbers;
use rustls::CipherSuite;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::{TlsAcceptor, TlsConnector};

use crate::parties::{self, Party, SUITES_12, SUITES_13};

const CONNECTIONS: u64 = 6;
const BYTES: usize = 1 << 20;

/// Each client sends its own data, and must get it back.
async fn echo(client: Party, server: Party, suite: CipherSuite) {
    let acceptor = TlsAcceptor::from(Arc::new(parties::server(server.provider_of(suite), suite)));
    let connector = TlsConnector::from(Arc::new(parties::client(client.provider_of(suite), suite)));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("its address");
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let stream = acceptor.accept(stream).await.expect("the handshake succeeds");
                let (mut from, mut to) = tokio::io::split(stream);
                tokio::io::copy(&mut from, &mut to).await.expect("everything comes back");
                to.shutdown().await.expect("the end is sent");
            });
        }
    });
    let clients: Vec<_> = (0..CONNECTIONS)
        .map(|seed| {
            let connector = connector.clone();
            tokio::spawn(async move {
                let stream = TcpStream::connect(address).await.expect("connected");
                let name = "localhost".try_into().expect("a name");
                let stream = connector.connect(name, stream).await.expect("the handshake succeeds");
                let (mut from, mut to) = tokio::io::split(stream);
                let mut numbers = Numbers(seed);
                let data = numbers.bytes(BYTES);
                let sent = data.clone();
                let writer = tokio::spawn(async move {
                    let mut rest = &sent[..];
                    while !rest.is_empty() {
                        // Pieces of all lengths.
                        let (piece, next) = rest.split_at(numbers.below(70_000).min(rest.len()));
                        to.write_all(piece).await.expect("sent");
                        rest = next;
                    }
                    to.shutdown().await.expect("the end is sent");
                });
                let mut came = Vec::new();
                from.read_to_end(&mut came).await.expect("everything and its end");
                writer.await.expect("everything was sent");
                assert!(came == data, "connection {seed}: what came back is what was sent");
            })
        })
        .collect();
    for client in clients {
        client.await.expect("the client succeeds");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn megabytes_over_many_connections() {
    for suite in [SUITES_13, SUITES_12].concat() {
        echo(Party::OursOverAwsLc, Party::OursOverRing, suite).await;
    }
    for suite in SUITES_13 {
        echo(Party::Ring, Party::OursOverAwsLc, suite).await;
        echo(Party::OursOverRing, Party::AwsLc, suite).await;
    }
}
