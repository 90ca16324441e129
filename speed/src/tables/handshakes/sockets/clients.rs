//! The clients: as many as are served at once, all on one thread.

use core::cell::Cell;
use core::net::SocketAddr;
use core::sync::atomic::AtomicBool;
use core::time::Duration;
use std::io::{self, ErrorKind, Read as _};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::net::sockopt;
use rustls_lanecrypt::HandshakePool;
use rustls_lanecrypt::rustls::client::danger::{
    HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier,
};
use rustls_lanecrypt::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls_lanecrypt::rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, Error, SignatureScheme,
};

use super::{ANSWER, NONE, Round, wait};

/// How long a connection waits if the system keeps fewer of them for a server.
const PATIENCE: Duration = Duration::from_secs(5);

/// Clients of a server.
pub(super) struct Clients {
    config: Arc<ClientConfig>,
    address: SocketAddr,
    pool: HandshakePool,
}

impl Clients {
    pub(super) fn new(config: Arc<ClientConfig>, address: SocketAddr) -> Self {
        Self { config, address, pool: HandshakePool::new() }
    }

    /// Makes the connections of a round. All are prepared first. Then so many of them begin; each
    /// ends after its handshake and the server's answer, and the next one begins. It fails with the
    /// first of them that fails, and soon after `stop` is set.
    pub(super) fn connect(&mut self, round: Round, stop: &AtomicBool) -> io::Result<()> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        let mut waiting = self.prepared(round.all(), &epoll)?;
        let mut begun = 0;
        let mut begin = |clients: &mut [Option<Client>]| {
            begun += 1;
            clients.get_mut(begun - 1).and_then(Option::as_mut).map_or(Ok(()), |it| it.write())
        };
        for _ in 0..round.at_once {
            begin(&mut waiting)?;
        }
        let mut events = Vec::with_capacity(round.at_once);
        let mut ready = Vec::with_capacity(round.at_once);
        let mut complete = 0;
        while complete < round.all() {
            wait(&epoll, &mut events, &NONE, stop)?;
            for event in &events {
                let slot = usize::try_from(event.data.u64()).ok();
                ready.extend(slot.and_then(|at| waiting.get_mut(at)).and_then(Option::take));
            }
            let steps = self.pool.run(ready.iter_mut().map(|client| || client.advance()));
            for (client, is_complete) in ready.drain(..).zip(steps) {
                if is_complete? {
                    // Its end is a reset, so that its port can be used again at once.
                    drop(client);
                    complete += 1;
                    begin(&mut waiting)?;
                } else {
                    let slot = client.slot;
                    waiting[slot] = Some(client);
                }
            }
        }
        Ok(())
    }

    /// Connections whose first flights are made, and not sent.
    fn prepared(&mut self, count: usize, epoll: &OwnedFd) -> io::Result<Vec<Option<Client>>> {
        let Self { config, address, pool } = self;
        let (config, address) = (&*config, *address);
        // Each would wait for as long as the first one that fails.
        let has_failed = &Cell::new(false);
        let make = |slot| {
            move || {
                if has_failed.get() {
                    return Err(ErrorKind::ConnectionAborted.into());
                }
                let client = Client::new(config, address, slot);
                if client.is_err() {
                    has_failed.set(true);
                }
                client
            }
        };
        let made = pool.run((0..count).map(make));
        let add = |client: io::Result<Client>| {
            let client = client?;
            let slot = EventData::new_u64(client.slot as u64);
            epoll::add(epoll, &client.stream, slot, EventFlags::IN)?;
            Ok(Some(client))
        };
        made.into_iter().map(add).collect()
    }
}

/// A client and its connection.
struct Client {
    slot: usize,
    stream: TcpStream,
    tls: Box<ClientConnection>,
}

impl Client {
    fn new(config: &Arc<ClientConfig>, address: SocketAddr, slot: usize) -> io::Result<Self> {
        let name = ServerName::try_from("localhost").map_err(io::Error::other)?;
        let tls = ClientConnection::new(config.clone(), name).map_err(io::Error::other)?;
        let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        sockopt::set_socket_linger(&stream, Some(Duration::ZERO))?;
        stream.set_nonblocking(true)?;
        Ok(Self { slot, stream, tls: Box::new(tls) })
    }

    /// Reads, continues and writes; returns whether the server has answered.
    fn advance(&mut self) -> io::Result<bool> {
        match self.tls.read_tls(&mut self.stream) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            read => read?,
        };
        let state = self.tls.process_new_packets().map_err(io::Error::other)?;
        self.write()?;
        let mut answer = vec![0; state.plaintext_bytes_to_read()];
        if answer.is_empty() {
            return Ok(false);
        }
        self.tls.reader().read_exact(&mut answer)?;
        // The server answers when it has verified our end of the handshake.
        let is_right = answer == ANSWER && !self.tls.is_handshaking();
        if is_right { Ok(true) } else { Err(ErrorKind::InvalidData.into()) }
    }

    fn write(&mut self) -> io::Result<()> {
        while self.tls.wants_write() {
            self.tls.write_tls(&mut self.stream)?;
        }
        Ok(())
    }
}

/// Checks neither certificates nor signatures, so that clients cost less than the server.
#[derive(Debug)]
pub(super) struct Trusting;

impl ServerCertVerifier for Trusting {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ECDSA_NISTP256_SHA256]
    }
}
