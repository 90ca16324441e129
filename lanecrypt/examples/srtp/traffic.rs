//! Streams with one packet each, protected and opened repeatedly.

use core::error::Error;

use lanecrypt::{BatchBuffer, Engine, random};
use lanecrypt_libcrypto::Libcrypto;

use crate::batch::{self, Packet};
use crate::keys::{Material, Profile};
use crate::openssl::OpenSsl;
use crate::rate::{Direction, Way};
use crate::stream::{Stream, TAG};
use crate::window::Window;

/// Bytes of a header without contributing sources and extension.
const HEADER: usize = 12;

/// Many streams of one profile, with one packet each.
pub(crate) struct Traffic {
    /// Room for batches, reused.
    buffer: BatchBuffer,
    streams: Vec<Stream>,
    peers: Vec<OpenSsl>,
    buffers: Vec<Buffers>,
}

struct Buffers {
    ssrc: u32,
    /// The last sequence numbers of Lanecrypt and of OpenSSL, which have separate windows.
    sequences: [u16; 2],
    /// The packet to be protected or opened.
    packet: Vec<u8>,
    /// A protected packet as received.
    received: Vec<u8>,
    /// Output buffer for OpenSSL, which opens from one buffer to another. Lanecrypt opens in place.
    opened: Vec<u8>,
}

impl Traffic {
    /// Creates streams, with random payloads of `payload` bytes.
    pub(crate) fn new(
        engine: &Engine,
        libcrypto: Option<Libcrypto>,
        profile: Profile,
        streams: usize,
        payload: usize,
    ) -> Result<Self, Box<dyn Error>> {
        let buffer = engine.batch_buffer(streams);
        let mut made = Self { buffer, streams: Vec::new(), peers: Vec::new(), buffers: Vec::new() };
        for _ in 0..streams {
            // In practice DTLS supplies key and salt.
            let (key, salt) = (random::bytes::<32>(), random::bytes());
            let material = Material::rtp(profile, &key[..profile.key_length()], &salt)?;
            let ssrc = random::u32();
            made.streams.push(Stream::new(engine, &material, ssrc)?);
            if let Some(libcrypto) = libcrypto {
                made.peers.push(OpenSsl::new(libcrypto, &material)?);
            }
            let mut packet = vec![0; HEADER + payload + TAG];
            random::fill(&mut packet);
            made.buffers.push(Buffers {
                ssrc,
                sequences: [0; 2],
                received: packet.clone(),
                opened: vec![0; payload],
                packet,
            });
        }
        Ok(made)
    }

    /// All available implementations.
    pub(crate) fn ways(&self) -> &'static [Way] {
        Way::all(!self.peers.is_empty())
    }

    /// Protects and opens the same packets with every implementation and compares the results.
    /// [`Direction::Unprotect`] opens these packets afterwards.
    pub(crate) fn compare(&mut self) -> Result<(), Box<dyn Error>> {
        let plain: Vec<_> = self.buffers.iter().map(|buffers| buffers.packet.clone()).collect();
        for &way in self.ways() {
            self.forget();
            for (buffers, plain) in self.buffers.iter_mut().zip(&plain) {
                buffers.packet.clone_from(plain);
                buffers.sequences = [7; 2];
            }
            self.round(way, Direction::Protect)?;
            for buffers in &mut self.buffers {
                if way == Way::Batch {
                    buffers.received.clone_from(&buffers.packet);
                } else if buffers.packet != buffers.received {
                    return Err(format!("{way:?} makes other packets than a batch").into());
                }
            }
        }
        for &way in self.ways() {
            self.round(way, Direction::Unprotect)?;
            for (buffers, plain) in self.buffers.iter().zip(&plain) {
                let payload = HEADER..plain.len() - TAG;
                let opened = match way {
                    Way::OpenSsl => &buffers.opened,
                    _ => &buffers.packet[payload.clone()],
                };
                if opened != &plain[payload] {
                    return Err(format!("{way:?} opens packets to other payloads").into());
                }
            }
        }
        self.forget();
        Ok(())
    }

    /// One packet of each stream.
    pub(crate) fn round(&mut self, way: Way, direction: Direction) -> Result<(), Box<dyn Error>> {
        match direction {
            Direction::Protect => self.buffers.iter_mut().for_each(|it| it.write_header(way)),
            // The same packets are received repeatedly.
            Direction::Unprotect => self.forget(),
        }
        let Self { buffer, streams, peers, buffers } = self;
        match way {
            Way::Batch => {
                let packet = |(at, buffers)| Packet::new(at, Buffers::packet(buffers, direction));
                let mut batch: Vec<_> = buffers.iter_mut().enumerate().map(packet).collect();
                match direction {
                    Direction::Protect => batch::protect(buffer, streams, &mut batch),
                    Direction::Unprotect => batch::unprotect(buffer, streams, &mut batch),
                }
                batch.iter().try_for_each(|packet| packet.outcome)?;
            }
            Way::OneByOne => {
                for (stream, buffers) in streams.iter_mut().zip(buffers) {
                    let packet = buffers.packet(direction);
                    match direction {
                        Direction::Protect => stream.protect(packet)?,
                        Direction::Unprotect => stream.unprotect(packet)?,
                    }
                }
            }
            Way::OpenSsl => {
                for (peer, buffers) in peers.iter_mut().zip(buffers) {
                    match direction {
                        Direction::Protect => peer.protect(&mut buffers.packet)?,
                        Direction::Unprotect => {
                            peer.unprotect(&buffers.received, &mut buffers.opened)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Marks all packets as neither sent nor received.
    fn forget(&mut self) {
        self.streams.iter_mut().for_each(|stream| stream.window = Window::default());
        self.peers.iter_mut().for_each(OpenSsl::forget);
    }
}

impl Buffers {
    /// Begins the next packet.
    fn write_header(&mut self, way: Way) {
        let sequence = &mut self.sequences[usize::from(way == Way::OpenSsl)];
        *sequence = sequence.wrapping_add(1);
        self.packet[..2].copy_from_slice(&[0x80, 96]);
        self.packet[2..4].copy_from_slice(&sequence.to_be_bytes());
        self.packet[8..HEADER].copy_from_slice(&self.ssrc.to_be_bytes());
    }

    /// The packet to protect, or the received packet in the buffer in which it is opened.
    fn packet(&mut self, direction: Direction) -> &mut [u8] {
        if direction == Direction::Unprotect {
            self.packet.copy_from_slice(&self.received);
        }
        &mut self.packet
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More packets than there are sequence numbers, before the next implementation starts.
    #[test]
    fn ways_do_not_meet_each_other() {
        let engine = Engine::new();
        let libcrypto = Libcrypto::open().ok();
        let mut traffic =
            Traffic::new(&engine, libcrypto, Profile::AeadAes128Gcm, 1, 8).expect("keys");
        traffic.compare().expect("all make the same packets");
        for &way in [Way::Batch].iter().chain(traffic.ways()) {
            for _ in 0..40_000 {
                traffic.round(way, Direction::Protect).expect("protected");
            }
        }
    }
}
