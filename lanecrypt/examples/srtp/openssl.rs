//! The same with OpenSSL, one packet at a time, with one context kept per stream.

use lanecrypt_libcrypto::{AeadContext, Direction, Error, Libcrypto};

use crate::keys::{Material, Profile};
use crate::rtp::Header;
use crate::stream::iv;
use crate::window::Window;

/// One stream in one direction.
pub(crate) struct OpenSsl {
    seal: AeadContext,
    open: AeadContext,
    salt: [u8; 12],
    window: Window,
}

impl OpenSsl {
    pub(crate) fn new(libcrypto: Libcrypto, material: &Material) -> Result<Self, Error> {
        let name = match material.profile {
            Profile::AeadAes128Gcm => c"AES-128-GCM",
            Profile::AeadAes256Gcm => c"AES-256-GCM",
        };
        // Versions before 3.0 have no fetching.
        let aead = libcrypto.fetch_aead(name).or_else(|_| libcrypto.named_aead(name))?;
        Ok(Self {
            seal: aead.context(Direction::Encrypt, material.key())?,
            open: aead.context(Direction::Decrypt, material.key())?,
            salt: material.salt,
            window: Window::default(),
        })
    }

    /// Marks all packets as neither sent nor received.
    pub(crate) fn forget(&mut self) {
        self.window = Window::default();
    }

    /// Protects an RTP packet in place; the buffer has 16 bytes of room for the tag.
    pub(crate) fn protect(&mut self, packet: &mut [u8]) -> Result<(), Error> {
        let (length, index, iv) = self.place(packet)?;
        let (header, payload) = packet.split_at_mut(length);
        let (payload, tag) = payload.split_last_chunk_mut().ok_or(Error::DataLength)?;
        self.window.mark(index).map_err(|_| Error::Failed)?;
        self.seal.seal(&iv, header, payload, tag)
    }

    /// Opens a packet into the start of `payload`.
    pub(crate) fn unprotect(&mut self, packet: &[u8], payload: &mut [u8]) -> Result<(), Error> {
        let (length, index, iv) = self.place(packet)?;
        let (header, sealed) = packet.split_at(length);
        let (sealed, tag) = sealed.split_last_chunk().ok_or(Error::DataLength)?;
        let payload = payload.get_mut(..sealed.len()).ok_or(Error::DataLength)?;
        self.open.open(&iv, header, sealed, tag, payload)?;
        self.window.mark(index).map_err(|_| Error::Failed)
    }

    /// The length of the header, the index and the IV.
    fn place(&self, packet: &[u8]) -> Result<(usize, u64, [u8; 12]), Error> {
        let header = Header::read(packet).map_err(|_| Error::DataLength)?;
        let index = self.window.guess(header.sequence).map_err(|_| Error::Failed)?;
        if !self.window.is_new(index) {
            return Err(Error::Failed);
        }
        Ok((header.length, index, iv(&self.salt, header.ssrc, index)))
    }
}
