//! The server's part of handshakes through rustls: it reads the first flight of a client and makes
//! its own. All public-key operations of a server are in it.

use std::sync::Arc;

use lanecrypt_kernels::Isa;
use lanecrypt_peers::Operation;
use rustls_lanecrypt::rustls::crypto::CryptoProvider;
use rustls_lanecrypt::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls_lanecrypt::rustls::version::TLS13;
use rustls_lanecrypt::rustls::{
    ClientConfig, ClientConnection, Error, NamedGroup, RootCertStore, ServerConfig,
    ServerConnection,
};
use rustls_lanecrypt::{HandshakePool, over};

use super::row::{Api, row_of};
use crate::peer_set::PeerSet;
use crate::results::Point;
use crate::row::{Arena, Row, Workload};
use crate::verify::Defect;

/// The identity of the server, for nothing but this table: it is valid for `localhost`, for a
/// hundred years, and everybody knows its key, one of P-256.
const CERTIFICATE: &[u8] = include_bytes!("../tls/rows/certificate.der");
const KEY: &[u8] = include_bytes!("../tls/rows/key.der");

/// The API of peers, and the operation of all rows.
pub(super) const API: &str = "rustls";
/// The API of ours.
pub(super) const POOL: &str = "rustls-pool";
/// The clients that take turns.
const CLIENTS: usize = 64;

/// The rows of one kind of key exchange.
pub(super) fn rows(peers: &PeerSet<'_>, operation: Operation, in_flight: &[usize]) -> Vec<Row> {
    let group = match operation {
        Operation::Server => NamedGroup::X25519,
        Operation::ServerHybrid => NamedGroup::X25519MLKEM768,
        _ => return Vec::new(),
    };
    let bases = BASES.iter().filter(|base| has(&(base.make)(), group));
    let bases = bases.filter_map(|base| {
        let point = Point {
            source: base.source.into(),
            api: API.into(),
            version: Some(version(peers, base.source)?),
            ..Point::default()
        };
        let make = base.make;
        let open = move || Servers::new(make(), group, None);
        Some(row_of(point, [operation.names()[0], API], Api::Single, open))
    });
    let mut rows: Vec<Row> = bases.collect();
    rows.extend(in_flight.iter().filter_map(|&batch| ours(operation, group, batch)));
    rows
}

/// The version of a peer that is asked for.
pub(super) fn version(peers: &PeerSet<'_>, source: &str) -> Option<String> {
    let mut all = peers.public_keys().iter().filter(|found| found.peer.source == source);
    all.next().map(|found| found.version.clone())
}

/// Ours over the first base, in a pool; alone, a handshake needs none.
fn ours(operation: Operation, group: NamedGroup, batch: usize) -> Option<Row> {
    let Base { make, .. } = BASES.first()?;
    has(&over(make()), group).then_some(())?;
    let point = Point { api: POOL.into(), ..Point::default().of_ours(Isa::detect()) };
    let make = *make;
    let open = move || Servers::new(over(make()), group, Some(batch));
    Some(row_of(point, [operation.names()[0], API], Api::Batches(batch), open))
}

/// A provider that rustls comes with.
pub(super) struct Base {
    pub(super) source: &'static str,
    pub(super) make: fn() -> CryptoProvider,
}

/// The peers; clients are those of the first one.
pub(super) const BASES: &[Base] = &[
    #[cfg(feature = "aws-lc")]
    Base {
        source: "aws-lc",
        make: || {
            use rustls_lanecrypt::rustls::crypto::aws_lc_rs;
            let kx_groups = aws_lc_rs::ALL_KX_GROUPS.to_vec();
            CryptoProvider { kx_groups, ..aws_lc_rs::default_provider() }
        },
    },
    #[cfg(feature = "ring")]
    Base { source: "ring", make: rustls_lanecrypt::rustls::crypto::ring::default_provider },
];

fn has(provider: &CryptoProvider, group: NamedGroup) -> bool {
    provider.kx_groups.iter().any(|it| it.name() == group)
}

/// A server of TLS 1.3.
pub(super) fn server_config(provider: CryptoProvider) -> Option<ServerConfig> {
    let config = ServerConfig::builder_with_provider(Arc::new(provider));
    let config = config.with_protocol_versions(&[&TLS13]).ok()?.with_no_client_auth();
    let certificates = vec![CertificateDer::from(CERTIFICATE)];
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(KEY));
    config.with_single_cert(certificates, key).ok()
}

/// A client of its, with this key exchange.
pub(super) fn client_config(
    mut provider: CryptoProvider,
    group: NamedGroup,
) -> Option<ClientConfig> {
    provider.kx_groups.retain(|it| it.name() == group);
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(CERTIFICATE)).ok()?;
    let config = ClientConfig::builder_with_provider(Arc::new(provider));
    let config = config.with_protocol_versions(&[&TLS13]).ok()?;
    Some(config.with_root_certificates(roots).with_no_client_auth())
}

/// A client that has sent its first flight, and the server's.
struct Client {
    connection: ClientConnection,
    hello: Vec<u8>,
    server: Option<ServerConnection>,
    flight: Vec<u8>,
}

impl Client {
    fn new(config: &Arc<ClientConfig>) -> Result<Self, Error> {
        let name = "localhost".try_into().map_err(|_| Error::EncryptError)?;
        let mut connection = ClientConnection::new(config.clone(), name)?;
        let mut hello = Vec::new();
        while connection.wants_write() {
            connection.write_tls(&mut hello).map_err(|_| Error::EncryptError)?;
        }
        Ok(Self { connection, hello, server: None, flight: Vec::new() })
    }

    /// A server reads the client's flight and makes its own.
    fn serve(&mut self, config: &Arc<ServerConfig>) -> Result<(), Error> {
        let mut server = ServerConnection::new(config.clone())?;
        let mut hello = &*self.hello;
        while !hello.is_empty() {
            server.read_tls(&mut hello).map_err(|_| Error::DecryptError)?;
        }
        server.process_new_packets()?;
        self.flight.clear();
        while server.wants_write() {
            server.write_tls(&mut self.flight).map_err(|_| Error::EncryptError)?;
        }
        self.server = Some(server);
        Ok(())
    }

    /// Whether the client accepts the last server, and the server accepts what it answers.
    fn finish(mut self) -> Result<bool, Error> {
        let Some(mut server) = self.server else { return Ok(false) };
        let mut flight = &*self.flight;
        while !flight.is_empty() {
            self.connection.read_tls(&mut flight).map_err(|_| Error::DecryptError)?;
            self.connection.process_new_packets()?;
        }
        let mut answer = Vec::new();
        while self.connection.wants_write() {
            self.connection.write_tls(&mut answer).map_err(|_| Error::EncryptError)?;
        }
        let mut answer = &*answer;
        while !answer.is_empty() {
            server.read_tls(&mut answer).map_err(|_| Error::DecryptError)?;
            server.process_new_packets()?;
        }
        Ok(!self.connection.is_handshaking() && !server.is_handshaking())
    }
}

/// Servers of clients in turn.
struct Servers {
    config: Arc<ServerConfig>,
    of_clients: Arc<ClientConfig>,
    clients: Vec<Client>,
    /// A pool for so many servers together.
    pool: Option<(HandshakePool, usize)>,
    /// The clients of the last run.
    used: usize,
}

impl Servers {
    fn new(provider: CryptoProvider, group: NamedGroup, batch: Option<usize>) -> Option<Self> {
        let config = server_config(provider)?;
        let of_clients = client_config((BASES.first()?.make)(), group)?;
        let (config, of_clients) = (Arc::new(config), Arc::new(of_clients));
        let clients = (0..CLIENTS).map(|_| Client::new(&of_clients));
        let clients = clients.collect::<Result<_, _>>().ok()?;
        let pool = batch.map(|batch| (HandshakePool::new(), batch));
        Some(Self { config, of_clients, clients, pool, used: 0 })
    }

    /// This many clients, from the first one on, again and again.
    fn serve(&mut self, requests: usize) -> Result<(), Error> {
        let Self { config, clients, pool, used, .. } = self;
        *used = requests.min(clients.len());
        let mut left = requests;
        while left > 0 {
            let count = left.min(CLIENTS);
            left -= count;
            let clients = &mut clients[..count];
            match pool {
                None => clients.iter_mut().try_for_each(|client| client.serve(config))?,
                Some((pool, batch)) => {
                    for together in clients.chunks_mut(*batch) {
                        let servers = together.iter_mut().map(|client| || client.serve(config));
                        pool.run(servers).into_iter().collect::<Result<(), Error>>()?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether all clients of the last run were served; others take their places.
    fn are_served(&mut self) -> Result<(), Defect> {
        for client in &mut self.clients[..self.used] {
            let next = Client::new(&self.of_clients).or(Err(Defect::Failed))?;
            let client = core::mem::replace(client, next);
            if !client.finish().unwrap_or(false) {
                return Err(Defect::Answer);
            }
        }
        self.used = 0;
        Ok(())
    }
}

impl Workload for Servers {
    fn run(&mut self, _arena: &mut Arena, requests: usize) {
        let served = self.serve(requests);
        assert!(served.is_ok(), "a handshake failed in the middle of a measurement: {served:?}");
    }

    fn digest(&mut self, _arena: &mut Arena) -> u64 {
        const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
        let bytes = self.clients[..self.used].iter().flat_map(|client| &client.flight);
        bytes.fold(0, |folded, &byte| (folded ^ u64::from(byte)).wrapping_mul(ODD))
    }

    fn check_again(&mut self, _arena: &mut Arena) -> Result<(), Defect> {
        self.are_served()?;
        self.serve(CLIENTS).or(Err(Defect::Failed))?;
        self.are_served()
    }
}
