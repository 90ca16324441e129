//! Two connections in memory.

use std::io::{Read as _, Write as _};
use std::sync::Arc;

use lanecrypt_ciphers::Algorithm;
use rustls_lanecrypt::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls_lanecrypt::rustls::version::TLS13;
use rustls_lanecrypt::rustls::{
    ClientConfig, ClientConnection, Connection, Error, RootCertStore, ServerConfig,
    ServerConnection,
};

use super::providers::Provider;

/// The identity of the server, for nothing but this table: it is valid for `localhost`, for a
/// hundred years, and everybody knows its key.
const CERTIFICATE: &[u8] = include_bytes!("certificate.der");
const KEY: &[u8] = include_bytes!("key.der");

/// Two ends and the bytes between them.
pub(super) struct Link {
    from: Connection,
    to: Connection,
    /// The record on its way.
    pub(super) wire: Vec<u8>,
}

impl Link {
    /// A client that sends and a server that receives, after their handshake.
    pub(super) fn new(from: &Provider, to: &Provider, algorithm: Algorithm) -> Option<Self> {
        let mut link = Self {
            from: client(from, algorithm).ok().flatten()?,
            to: server(to, algorithm).ok().flatten()?,
            wire: Vec::new(),
        };
        while link.from.wants_write() || link.to.wants_write() {
            carry(&mut link.from, &mut link.to, &mut link.wire).ok()?;
            carry(&mut link.to, &mut link.from, &mut link.wire).ok()?;
        }
        let is_made = !link.from.is_handshaking() && !link.to.is_handshaking();
        is_made.then_some(link)
    }

    /// Sends a record, and reads it into `came`, which is as long. The whole way is one function,
    /// as the figures are about all of it.
    pub(super) fn pass(&mut self, data: &[u8], came: &mut [u8]) -> Result<(), Error> {
        self.write(data)?;
        self.read(came)
    }

    /// Seals and writes a record.
    pub(super) fn write(&mut self, data: &[u8]) -> Result<(), Error> {
        self.from.writer().write_all(data).map_err(|_| Error::EncryptError)?;
        written(&mut self.from, &mut self.wire)
    }

    /// Reads and opens the record.
    pub(super) fn read(&mut self, came: &mut [u8]) -> Result<(), Error> {
        deliver(&self.wire, &mut self.to)?;
        self.to.reader().read_exact(came).map_err(|_| Error::DecryptError)
    }
}

fn carry(from: &mut Connection, to: &mut Connection, wire: &mut Vec<u8>) -> Result<(), Error> {
    written(from, wire)?;
    deliver(wire, to)
}

fn written(from: &mut Connection, wire: &mut Vec<u8>) -> Result<(), Error> {
    wire.clear();
    while from.wants_write() {
        from.write_tls(wire).map_err(|_| Error::EncryptError)?;
    }
    Ok(())
}

fn deliver(mut wire: &[u8], to: &mut Connection) -> Result<(), Error> {
    while !wire.is_empty() {
        to.read_tls(&mut wire).map_err(|_| Error::DecryptError)?;
        to.process_new_packets()?;
    }
    Ok(())
}

fn client(provider: &Provider, algorithm: Algorithm) -> Result<Option<Connection>, Error> {
    let Some(provider) = provider.with(algorithm) else { return Ok(None) };
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(CERTIFICATE))?;
    let config = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[&TLS13])?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = "localhost".try_into().map_err(|_| Error::EncryptError)?;
    Ok(Some(ClientConnection::new(Arc::new(config), name)?.into()))
}

fn server(provider: &Provider, algorithm: Algorithm) -> Result<Option<Connection>, Error> {
    let Some(provider) = provider.with(algorithm) else { return Ok(None) };
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(KEY));
    let config = ServerConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[&TLS13])?
        .with_no_client_auth()
        .with_single_cert(vec![CertificateDer::from(CERTIFICATE)], key)?;
    Ok(Some(ServerConnection::new(Arc::new(config))?.into()))
}
