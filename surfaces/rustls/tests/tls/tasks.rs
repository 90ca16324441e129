//! Handshakes of `tokio-rustls` that one task polls together.

use core::future::{Future, pending, ready};
use core::panic::AssertUnwindSafe;
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use std::panic::catch_unwind;
use std::sync::Arc;

use rustls_lanecrypt::HandshakeTasks;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::{TlsAcceptor, TlsConnector};

use crate::parties::{self, Party, SUITES_12, SUITES_13};

const CLIENTS: usize = 64;

/// Clients connect at once. Every eighth sends no TLS, another eighth nothing at all.
async fn serve(party: Party, suite: rustls::CipherSuite) {
    let acceptor = TlsAcceptor::from(Arc::new(parties::server(party.provider_of(suite), suite)));
    let client = Arc::new(parties::client(Party::AwsLc.provider_of(suite), suite));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("its address");

    let server = tokio::spawn(async move {
        let mut handshakes = HandshakeTasks::new();
        let (mut accepted, mut good, mut bad) = (0, 0, 0);
        while good + bad < CLIENTS {
            tokio::select! {
                stream = listener.accept(), if accepted < CLIENTS => {
                    accepted += 1;
                    handshakes.push(acceptor.accept(stream.expect("a connection").0));
                }
                Some(outcome) = handshakes.join_next(), if !handshakes.is_empty() => match outcome {
                    Ok(mut stream) => {
                        good += 1;
                        tokio::spawn(async move {
                            let mut byte = [0];
                            stream.read_exact(&mut byte).await.expect("a byte");
                            stream.write_all(&byte).await.expect("it goes back");
                            stream.shutdown().await.expect("the end is sent");
                        });
                    }
                    Err(_) => bad += 1,
                }
            }
        }
        assert!(handshakes.is_empty());
        (good, bad)
    });
    let clients: Vec<_> = (0..CLIENTS)
        .map(|i| {
            let connector = TlsConnector::from(client.clone());
            tokio::spawn(async move {
                let byte = u8::try_from(i).expect("there are few");
                let mut stream = TcpStream::connect(address).await.expect("connected");
                match i % 8 {
                    3 => stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await.expect("sent"),
                    5 => drop(stream),
                    _ => {
                        let name = "localhost".try_into().expect("a name");
                        let stream = connector.connect(name, stream).await;
                        let mut stream = stream.expect("the handshake succeeds");
                        stream.write_all(&[byte]).await.expect("sent");
                        let mut came = Vec::new();
                        stream.read_to_end(&mut came).await.expect("the byte and the end");
                        assert_eq!(came, [byte]);
                    }
                }
            })
        })
        .collect();
    for client in clients {
        client.await.expect("the client succeeds");
    }
    assert_eq!(server.await.expect("the server succeeds"), (CLIENTS * 6 / 8, CLIENTS * 2 / 8));
}

#[tokio::test(flavor = "current_thread")]
async fn on_one_thread() {
    for suite in [SUITES_13, SUITES_12].concat() {
        for party in Party::OURS {
            serve(party, suite).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_threads_that_take_turns() {
    for party in Party::OURS {
        serve(party, SUITES_13[0]).await;
    }
}

/// A future that has to be polled so many times, and wakes itself.
async fn polls(times: u32) -> u32 {
    for _ in 0..times {
        let mut is_first = true;
        core::future::poll_fn(|context| {
            context.waker().wake_by_ref();
            if core::mem::take(&mut is_first) { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
    }
    times
}

#[test]
fn each_output_comes_once() {
    let mut tasks = HandshakeTasks::new();
    let context = &mut Context::from_waker(Waker::noop());
    assert!(matches!(tasks.poll_next(context), Poll::Ready(None)));
    for round in 1..4_u32 {
        (0..100).for_each(|i| tasks.push(polls(i % 7)));
        let mut outputs = vec![];
        loop {
            match tasks.poll_next(context) {
                Poll::Ready(Some(output)) => outputs.push(output),
                Poll::Ready(None) => break,
                Poll::Pending => (),
            }
        }
        let expected: Vec<_> =
            (0..7).flat_map(|n| (0..100).map(|i| i % 7).filter(move |i| *i == n)).collect();
        outputs.sort_unstable();
        assert_eq!(outputs, expected, "{round}");
        assert!(tasks.is_empty());
    }
}

/// Those that are not woken are not polled.
#[test]
fn only_what_was_woken_is_polled() {
    let polled = core::cell::Cell::new(0);
    let sleeper = || async {
        core::future::poll_fn(|_| {
            polled.set(polled.get() + 1);
            Poll::Pending::<()>
        })
        .await;
    };
    let mut tasks = HandshakeTasks::new();
    let context = &mut Context::from_waker(Waker::noop());
    (0..5).for_each(|_| tasks.push(sleeper()));
    for _ in 0..10 {
        assert!(tasks.poll_next(context).is_pending());
    }
    assert_eq!((polled.get(), tasks.len()), (5, 5));
    assert!(pin!(tasks.join_next()).poll(context).is_pending());
}

#[test]
fn a_panic_removes_one_future() {
    let mut tasks: HandshakeTasks<core::pin::Pin<Box<dyn Future<Output = u32>>>> =
        HandshakeTasks::new();
    let context = &mut Context::from_waker(Waker::noop());
    for i in 0..9 {
        match i {
            3 => tasks.push(Box::pin(async { panic!("the third") })),
            5 => tasks.push(Box::pin(pending())),
            _ => tasks.push(Box::pin(ready(i))),
        }
    }
    let panic = catch_unwind(AssertUnwindSafe(|| tasks.poll_next(context))).expect_err("a panic");
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"the third"));
    let mut outputs = vec![];
    while let Poll::Ready(output) = tasks.poll_next(context) {
        outputs.extend(output);
    }
    assert_eq!((&outputs[..], tasks.len()), (&[0, 1, 2, 4, 6, 7, 8][..], 1));
}
