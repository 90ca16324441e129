//! Two connections, and the bytes between them.

use std::io::{Read as _, Write as _};
use std::sync::Arc;

use rustls::{
    CipherSuite, ClientConfig, ClientConnection, Connection, Error, ServerConfig, ServerConnection,
};

use crate::parties::{self, Party};

/// Both ends, after their handshake.
pub(crate) struct Link {
    pub(crate) client: Connection,
    pub(crate) server: Connection,
}

impl Link {
    /// Ends that speak nothing but one suite.
    pub(crate) fn new(client: Party, server: Party, suite: CipherSuite) -> Self {
        let client = parties::client(client.provider_of(suite), suite);
        let server = parties::server(server.provider_of(suite), suite);
        let mut link = Self::before_handshake(&Arc::new(client), &Arc::new(server));
        link.shake_hands().expect("the handshake succeeds");
        link
    }

    pub(crate) fn before_handshake(client: &Arc<ClientConfig>, server: &Arc<ServerConfig>) -> Self {
        let name = "localhost".try_into().expect("a name");
        let client = ClientConnection::new(client.clone(), name).expect("a client");
        let server = ServerConnection::new(server.clone()).expect("a server");
        let (mut client, mut server) = (Connection::from(client), Connection::from(server));
        client.set_buffer_limit(None);
        server.set_buffer_limit(None);
        Self { client, server }
    }

    pub(crate) fn shake_hands(&mut self) -> Result<(), Error> {
        while self.client.wants_write() || self.server.wants_write() {
            deliver(&written(&mut self.client), &mut self.server)?;
            deliver(&written(&mut self.server), &mut self.client)?;
        }
        assert!(!self.client.is_handshaking() && !self.server.is_handshaking());
        Ok(())
    }
}

/// Everything that a side has to send.
pub(crate) fn written(from: &mut Connection) -> Vec<u8> {
    let mut wire = Vec::new();
    while from.wants_write() {
        from.write_tls(&mut wire).expect("a vector takes everything");
    }
    wire
}

/// Has a side read everything, and returns the data that came.
pub(crate) fn deliver(mut wire: &[u8], to: &mut Connection) -> Result<Vec<u8>, Error> {
    let mut data = Vec::new();
    while !wire.is_empty() {
        to.read_tls(&mut wire).expect("there is room");
        to.process_new_packets()?;
        data.extend(received(to));
    }
    Ok(data)
}

/// The records of some data.
pub(crate) fn sealed(from: &mut Connection, data: &[u8]) -> Vec<u8> {
    from.writer().write_all(data).expect("no limit");
    written(from)
}

/// What a side has read and nobody has taken.
pub(crate) fn received(by: &mut Connection) -> Vec<u8> {
    let mut data = Vec::new();
    // The end is not there yet, so that reading ends with an error.
    let _ = by.reader().read_to_end(&mut data);
    data
}

/// Sends data, which must arrive.
pub(crate) fn pass(data: &[u8], from: &mut Connection, to: &mut Connection) {
    let came = deliver(&sealed(from, data), to).expect("the records are authentic");
    assert!(came == data, "{} bytes arrive as they are", data.len());
}
