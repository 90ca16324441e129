//! Connections with one packet each, protected and opened repeatedly.

use core::error::Error;

use lanecrypt::{BatchBuffer, Engine, random};
use lanecrypt_libcrypto::Libcrypto;

use crate::batch::{self, Incoming, Outgoing};
use crate::keys::{Material, PacketKeys, Secret, Suite};
use crate::number;
use crate::openssl::OpenSsl;
use crate::rate::{Direction, Way};

/// Length of the connection IDs.
const ID: usize = 8;
/// A short header, with the fixed bit.
const SHORT: u8 = 0x40;
/// Unacknowledged packets of a connection in flight.
const IN_FLIGHT: u64 = 1000;

/// Many connections of one suite, with one packet each.
pub(crate) struct Traffic {
    /// Room for batches, reused.
    buffer: BatchBuffer,
    connections: Vec<Connection>,
}

struct Connection {
    id: [u8; ID],
    keys: PacketKeys,
    peer: Option<Peer>,
    /// The number of the next packet.
    number: u64,
    /// The packet to be protected or opened.
    packet: Vec<u8>,
    /// A protected packet as received, and its number.
    received: Vec<u8>,
    received_number: u64,
}

/// Output buffer for OpenSSL, which opens from one buffer to another. Lanecrypt opens in place.
/// Each uses the form that suits it best.
struct Peer {
    openssl: OpenSsl,
    datagram: Vec<u8>,
    payload: Vec<u8>,
}

impl Traffic {
    /// Creates connections with packets of this length. Packets are random except for their
    /// headers.
    pub(crate) fn new(
        engine: &Engine,
        libcrypto: Option<Libcrypto>,
        suite: Suite,
        connections: usize,
        bytes: usize,
    ) -> Result<Self, Box<dyn Error>> {
        let connection = |_| Connection::new(engine, libcrypto, suite, bytes);
        let connections = (0..connections).map(connection).collect::<Result<_, _>>()?;
        Ok(Self { buffer: engine.batch_buffer(batch::GROUP), connections })
    }

    /// All available implementations.
    pub(crate) fn ways(&self) -> &'static [Way] {
        Way::all(self.connections.iter().all(|connection| connection.peer.is_some()))
    }

    /// Protects and opens the same packets with every implementation and compares the results.
    /// [`Direction::Unprotect`] opens these packets afterwards.
    pub(crate) fn compare(&mut self) -> Result<(), Box<dyn Error>> {
        let before: Vec<_> =
            self.connections.iter().map(|c| (c.number, c.packet.clone())).collect();
        for &way in self.ways() {
            for (connection, (number, packet)) in self.connections.iter_mut().zip(&before) {
                connection.number = *number;
                connection.packet.clone_from(packet);
            }
            self.round(way, Direction::Protect)?;
            for (connection, (number, _)) in self.connections.iter_mut().zip(&before) {
                if way == Way::Batch {
                    connection.receive(*number);
                } else if connection.packet != connection.received {
                    return Err(format!("{way:?} makes other packets than a batch").into());
                }
            }
        }
        for &way in self.ways() {
            self.round(way, Direction::Unprotect)?;
            for (connection, (_, packet)) in self.connections.iter().zip(&before) {
                if connection.payload(way) != connection.payload_of(packet) {
                    return Err(format!("{way:?} opens packets to other payloads").into());
                }
            }
        }
        Ok(())
    }

    /// One packet of each connection.
    pub(crate) fn round(&mut self, way: Way, direction: Direction) -> Result<(), Box<dyn Error>> {
        let connections = self.connections.iter_mut();
        match (direction, way) {
            (Direction::Protect, Way::Batch) => {
                let mut batch: Vec<_> = connections.map(Connection::outgoing).collect();
                batch::protect(&mut self.buffer, &mut batch)?;
            }
            (Direction::Protect, Way::OneByOne) => {
                for Outgoing { keys, number, header, packet } in
                    connections.map(Connection::outgoing)
                {
                    keys.protect(number, header, packet)?;
                }
            }
            (Direction::Protect, Way::OpenSsl) => {
                for connection in connections {
                    let (number, header) = connection.write_header();
                    if let Some(peer) = &mut connection.peer {
                        peer.openssl.protect(number, header, &mut connection.packet)?;
                    }
                }
            }
            (Direction::Unprotect, Way::Batch) => {
                let mut batch: Vec<_> = connections.map(Connection::incoming).collect();
                batch::unprotect(&mut self.buffer, &mut batch)?;
                for packet in batch {
                    packet.outcome?;
                }
            }
            (Direction::Unprotect, Way::OneByOne) => {
                for Incoming { keys, id_length, largest, datagram, .. } in
                    connections.map(Connection::incoming)
                {
                    keys.unprotect(id_length, largest, datagram)?;
                }
            }
            (Direction::Unprotect, Way::OpenSsl) => {
                for connection in connections {
                    let largest = connection.largest();
                    if let Some(Peer { openssl, datagram, payload }) = &mut connection.peer {
                        // Only the header of the datagram changes.
                        let header = 1 + ID + 4;
                        datagram[..header].copy_from_slice(&connection.received[..header]);
                        openssl.unprotect(ID, largest, datagram, payload)?;
                    }
                }
            }
        }
        Ok(())
    }
}

impl Connection {
    fn new(
        engine: &Engine,
        libcrypto: Option<Libcrypto>,
        suite: Suite,
        bytes: usize,
    ) -> Result<Self, Box<dyn Error>> {
        // In practice the TLS handshake supplies it.
        let secret = Secret::new(random::bytes());
        let material = Material::new(suite, &secret);
        let peer = match libcrypto {
            Some(libcrypto) => Some(Peer {
                openssl: OpenSsl::new(libcrypto, &material)?,
                datagram: Vec::new(),
                payload: vec![0; bytes],
            }),
            None => None,
        };
        let mut packet = vec![0; bytes];
        random::fill(&mut packet);
        Ok(Self {
            id: random::bytes(),
            keys: PacketKeys::new(engine, &material)?,
            peer,
            number: 0,
            packet,
            received: vec![0; bytes],
            received_number: 0,
        })
    }

    /// Starts the next packet and returns its number and the length of its header.
    fn write_header(&mut self) -> (u64, usize) {
        let number = self.number;
        self.number += 1;
        let length = number::length(number, number.checked_sub(IN_FLIGHT));
        let header = 1 + ID + length;
        self.packet[0] = SHORT | [0, 1, 2, 3][length - 1];
        self.packet[1..=ID].copy_from_slice(&self.id);
        number::write(number, &mut self.packet[1 + ID..header]);
        (number, header)
    }

    fn outgoing(&mut self) -> Outgoing<'_> {
        let (number, header) = self.write_header();
        Outgoing { keys: &self.keys, number, header, packet: &mut self.packet }
    }

    /// The received packet, in the buffer in which it is opened.
    fn incoming(&mut self) -> Incoming<'_> {
        let largest = self.largest();
        self.packet.copy_from_slice(&self.received);
        Incoming::new(&self.keys, ID, largest, &mut self.packet)
    }

    /// All packets before the received one have arrived.
    fn largest(&self) -> Option<u64> {
        self.received_number.checked_sub(1)
    }

    /// Takes the protected packet as a received one.
    fn receive(&mut self, number: u64) {
        self.received.copy_from_slice(&self.packet);
        self.received_number = number;
        if let Some(peer) = &mut self.peer {
            peer.datagram.clone_from(&self.packet);
        }
    }

    /// The result of this implementation.
    fn payload(&self, way: Way) -> &[u8] {
        match &self.peer {
            Some(peer) if way == Way::OpenSsl => {
                &peer.payload[..self.payload_of(&self.packet).len()]
            }
            _ => self.payload_of(&self.packet),
        }
    }

    /// The payload of an opened packet, with the length of the received one.
    fn payload_of<'p>(&self, packet: &'p [u8]) -> &'p [u8] {
        let number = self.received_number;
        let header = 1 + ID + number::length(number, number.checked_sub(IN_FLIGHT));
        &packet[header..packet.len() - 16]
    }
}
