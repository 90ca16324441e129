//! Small rounds over sockets, and sides that break off, lie, or send what is no TLS.

use core::net::SocketAddr;
use core::time::Duration;
use std::collections::HashSet;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use rustls_lanecrypt::rustls::pki_types::PrivateKeyDer;
use rustls_lanecrypt::rustls::sign::{Signer, SigningKey};
use rustls_lanecrypt::rustls::version::TLS13;
use rustls_lanecrypt::rustls::{
    self, ClientConnection, RootCertStore, ServerConnection, SignatureAlgorithm, SignatureScheme,
    crypto::KeyProvider,
};

use super::*;
use crate::glob::Glob;
use crate::options::{Options, Peers};
use crate::tests::whole_run;

/// The handshakes of a test.
const FEW: Round = Round { at_once: 9, untimed: 3, timed: 20 };

static GO_ON: AtomicBool = AtomicBool::new(false);

fn base() -> CryptoProvider {
    (BASES.first().expect("a provider").make)()
}

fn here() -> usize {
    processors::allowed()[0]
}

fn clients_of(address: SocketAddr) -> Clients {
    Clients::new(Arc::new(client(base()).expect("a configuration")), address)
}

fn server() -> Server {
    let config = server_config(base()).expect("a configuration");
    Server::new(Arc::new(config), Some(HandshakePool::new())).expect("a free port")
}

/// What clients say of a server that does this with each of its connections.
fn connected_to(serve: impl Fn(&mut TcpStream) -> io::Result<()> + Send + 'static) -> ErrorKind {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let address = listener.local_addr().expect("an address");
    // It ends with the process.
    thread::spawn(move || {
        let mut open = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.expect("a connection");
            let _ = serve(&mut stream);
            open.push(stream);
        }
    });
    let connected = clients_of(address).connect(FEW, &GO_ON);
    connected.expect_err("the server is wrong").kind()
}

/// Why a round fails, whatever side has failed.
fn failure(server: &mut Server, clients: &mut Clients) -> String {
    together(server, clients, FEW, here()).expect_err("one side is wrong").to_string()
}

/// What a server says of a client that does this.
fn served_to(client: impl FnOnce(TcpStream) -> io::Result<()> + Send) -> ErrorKind {
    let mut server = server();
    let address = server.address().expect("an address");
    thread::scope(|scope| {
        let client = scope.spawn(move || client(TcpStream::connect(address)?));
        let served = server.serve(FEW, &GO_ON);
        server.close();
        client.join().expect("no panic").expect("it connects");
        served.expect_err("the client is wrong").kind()
    })
}

#[test]
fn every_handshake_is_complete() {
    for (provider, is_pool) in [(base(), false), (over(base()), true), (over(base()), false)] {
        for at_once in [1, 2, 9, 64] {
            let round = Round { at_once, ..FEW };
            let mut state =
                State::new(provider.clone(), is_pool, round, here()).expect("clients are served");
            for rounds in 1..=3 {
                state.round();
                assert!(state.error.is_none(), "{at_once}, {is_pool}: {:?}", state.error);
                assert_eq!(state.rounds.len(), rounds);
            }
            assert!(state.rounds.iter().all(|it| it.processor > 0.0 && it.wall > 0.0));
        }
    }
}

#[test]
fn a_server_that_sends_no_tls_is_an_error() {
    for garbage in
        [&b"HTTP/1.0 400 Bad Request\r\n\r\n"[..], &[0x16, 3, 3, 0, 4, 2, 0, 0, 0], &[0; 99]]
    {
        let kind = connected_to(move |stream| {
            stream.read_exact(&mut [0; 50])?;
            stream.write_all(garbage)
        });
        assert_eq!(kind, ErrorKind::Other, "{garbage:?}");
    }
}

#[test]
fn a_server_that_is_not_there_is_an_error() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let address = listener.local_addr().expect("an address");
    drop(listener);
    let error = clients_of(address).connect(FEW, &GO_ON).expect_err("nobody listens");
    assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
}

#[test]
fn a_server_that_breaks_off_is_an_error() {
    let kind = connected_to(|stream| stream.shutdown(std::net::Shutdown::Write));
    assert_eq!(kind, ErrorKind::UnexpectedEof);
}

#[test]
fn another_answer_is_an_error() {
    let config = Arc::new(server_config(base()).expect("a configuration"));
    let kind = connected_to(move |stream| {
        let mut tls = ServerConnection::new(config.clone()).expect("a connection");
        while tls.is_handshaking() {
            tls.complete_io(stream)?;
        }
        tls.writer().write_all(&[ANSWER[0] ^ 1])?;
        tls.complete_io(stream).map(|_| ())
    });
    assert_eq!(kind, ErrorKind::InvalidData);
}

#[test]
fn a_client_that_sends_no_tls_is_an_error() {
    let kind = served_to(|mut stream| {
        stream.write_all(b"GET / HTTP/1.0\r\n\r\n")?;
        stream.read_to_end(&mut Vec::new()).map(|_| ())
    });
    assert_eq!(kind, ErrorKind::Other);
}

#[test]
fn a_client_with_a_wrong_end_is_an_error() {
    let kind = served_to(|mut stream| {
        let config = Arc::new(client(base())?);
        let name = "localhost".try_into().map_err(io::Error::other)?;
        let mut tls = ClientConnection::new(config, name).map_err(io::Error::other)?;
        let mut flight = Vec::new();
        while tls.is_handshaking() {
            stream.write_all(&flight)?;
            flight.clear();
            while tls.wants_write() {
                tls.write_tls(&mut flight)?;
            }
            if !flight.is_empty() {
                continue;
            }
            tls.read_tls(&mut stream)?;
            tls.process_new_packets().map_err(io::Error::other)?;
        }
        while tls.wants_write() {
            tls.write_tls(&mut flight)?;
        }
        if let Some(last) = flight.last_mut() {
            *last ^= 1;
        }
        stream.write_all(&flight)?;
        // Nothing but an alert or the end comes.
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let _ = tls.read_tls(&mut &*answer);
        let received = tls.process_new_packets().map(|state| state.plaintext_bytes_to_read());
        assert!(received.unwrap_or(0) == 0, "it answers before");
        Ok(())
    });
    assert_eq!(kind, ErrorKind::Other);
}

#[test]
fn a_client_that_leaves_early_is_an_error() {
    let kind = served_to(|stream| {
        drop(stream);
        Ok(())
    });
    assert_eq!(kind, ErrorKind::UnexpectedEof);
}

#[test]
fn each_side_ends_when_the_other_has_failed() {
    let (mut server, stop) = (server(), AtomicBool::new(false));
    let mut clients = clients_of(server.address().expect("an address"));
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(10));
            // It orders nothing.
            stop.store(true, Ordering::Relaxed);
        });
        let served = server.serve(FEW, &stop).expect_err("there is no client");
        assert!(served.to_string().contains("the other side has failed"), "{served}");
    });
    let connected = clients.connect(FEW, &stop).expect_err("no server accepts");
    assert!(connected.to_string().contains("the other side has failed"), "{connected}");
}

#[test]
fn a_round_says_why_it_failed() {
    let mut server = server();
    let garbage = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    let address = garbage.local_addr().expect("an address");
    // It ends with the process.
    thread::spawn(move || {
        let open: Vec<_> = garbage
            .incoming()
            .flatten()
            .map(|mut stream| stream.write_all(b"HTTP/1.0 400\r\n\r\n").map(|()| stream))
            .collect();
        drop(open);
    });
    let text = failure(&mut server, &mut clients_of(address));
    assert!(text.contains("InvalidContentType"), "{text}");
    let config = ClientConfig::builder_with_provider(Arc::new(base()))
        .with_protocol_versions(&[&TLS13])
        .expect("it has the version")
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    let address = server.address().expect("an address");
    let text = failure(&mut server, &mut Clients::new(Arc::new(config), address));
    assert!(text.contains("UnknownIssuer"), "{text}");
}

/// Keys whose signatures are wrong.
#[derive(Debug)]
struct Liar;

#[derive(Debug)]
struct LyingKey(Arc<dyn SigningKey>);

#[derive(Debug)]
struct LyingSigner(Box<dyn Signer>);

impl KeyProvider for Liar {
    fn load_private_key(
        &self,
        der: PrivateKeyDer<'static>,
    ) -> Result<Arc<dyn SigningKey>, rustls::Error> {
        Ok(Arc::new(LyingKey(base().key_provider.load_private_key(der)?)))
    }
}

impl SigningKey for LyingKey {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        Some(Box::new(LyingSigner(self.0.choose_scheme(offered)?)))
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        self.0.algorithm()
    }
}

impl Signer for LyingSigner {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rustls::Error> {
        let mut signature = self.0.sign(message)?;
        if let Some(last) = signature.last_mut() {
            *last ^= 1;
        }
        Ok(signature)
    }

    fn scheme(&self) -> SignatureScheme {
        self.0.scheme()
    }
}

#[test]
fn a_server_with_wrong_signatures_is_not_measured() {
    let provider = CryptoProvider { key_provider: &Liar, ..base() };
    let state = State::new(provider, false, FEW, here());
    let error = state.map(|_| ()).expect_err("the signature is checked before");
    assert!(error.to_string().contains("BadSignature"), "{error}");
}

#[test]
fn a_short_run_shows_both_times() {
    let options = |only: &str, peers| Options {
        tables: vec![NAME.parse().expect("a table")],
        budget: Some(Duration::from_secs(12)),
        only: Some(Glob::new(only)),
        peers,
        ..Options::default()
    };
    let (report, text) = whole_run(options("handshakes/*/sockets*/c8", Peers::All));
    if processors::allowed().len() < 2 {
        assert!(report.results.points.is_empty() && text.contains("need 2 processors"), "{text}");
        return;
    }
    assert!(report.wrong == 0 && !report.interrupted, "{text}");
    let points = &report.results.points;
    assert_eq!(points.len(), 2 * (BASES.len() + 1), "{text}");
    for point in points {
        assert!(point.verified && point.cycles > Some(0.0) && point.depth == Some(8), "{text}");
        assert!(ids().contains(&point.id), "{}", point.id);
    }
    for time in ["time of the server's thread: cycles", "time by the clock: in a second"] {
        assert!(text.contains(time), "{time} in {text}");
    }
    let (report, text) = whole_run(options("handshakes/*/sockets/c8", Peers::None));
    let points = &report.results.points;
    assert!(points.len() == 1 && points[0].is_ours(), "{text}");
}

#[test]
fn ids_are_unique() {
    let ids = ids();
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len());
    assert_eq!(ids.len(), 2 * AT_ONCE.len() * (BASES.len() + 1));
}
