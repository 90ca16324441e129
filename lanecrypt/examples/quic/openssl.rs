//! The same with OpenSSL, one packet at a time, with contexts kept for each connection.

use lanecrypt_libcrypto::{AeadContext, Cipher, Context, Direction, Error, Libcrypto};

use crate::header::{self, Layout, MASK};
use crate::keys::{Material, Suite, nonce};
use crate::single::Opened;

/// The expanded keys of one direction.
pub(crate) struct OpenSsl {
    seal: AeadContext,
    open: AeadContext,
    header: Context,
    suite: Suite,
    iv: [u8; 12],
}

impl OpenSsl {
    pub(crate) fn new(libcrypto: Libcrypto, material: &Material) -> Result<Self, Error> {
        let suite = material.suite();
        let (aead, header, no_iv) = match suite {
            Suite::Aes128Gcm => (c"AES-128-GCM", c"AES-128-ECB", &[][..]),
            Suite::ChaCha20Poly1305 => (c"ChaCha20-Poly1305", c"ChaCha20", &[0; 16][..]),
        };
        // Versions before 3.0 have no fetching.
        let aead = libcrypto.fetch_aead(aead).or_else(|_| libcrypto.named_aead(aead))?;
        let header: Cipher = libcrypto.fetch(header).or_else(|_| libcrypto.named(header))?;
        Ok(Self {
            seal: aead.context(Direction::Encrypt, material.key())?,
            open: aead.context(Direction::Decrypt, material.key())?,
            header: header.context(Direction::Encrypt, material.header_key(), no_iv)?,
            suite,
            iv: material.iv,
        })
    }

    /// Protects a packet that [`Layout::of_header`] accepts.
    pub(crate) fn protect(
        &mut self,
        number: u64,
        header: usize,
        packet: &mut [u8],
    ) -> Result<(), Error> {
        let layout = Layout::of_header(packet, header).map_err(|_| Error::DataLength)?;
        let (head, payload) = packet.split_at_mut(header);
        let (payload, tag) = payload.split_last_chunk_mut().ok_or(Error::DataLength)?;
        self.seal.seal(&nonce(&self.iv, number), head, payload, tag)?;
        let mask = self.mask(packet, layout)?;
        header::protect(packet, layout.number_at, mask);
        Ok(())
    }

    /// Opens the first packet of a datagram into the start of `payload`.
    pub(crate) fn unprotect(
        &mut self,
        id_length: usize,
        largest: Option<u64>,
        datagram: &mut [u8],
        payload: &mut [u8],
    ) -> Result<Opened, Error> {
        let layout = Layout::of(datagram, id_length).map_err(|_| Error::DataLength)?;
        let packet = &mut datagram[..layout.end];
        let mask = self.mask(packet, layout)?;
        let (number, header) = header::unprotect(packet, layout, mask, largest);
        let (head, sealed) = packet.split_at(header);
        let (sealed, tag) = sealed.split_last_chunk().ok_or(Error::DataLength)?;
        let payload = payload.get_mut(..sealed.len()).ok_or(Error::DataLength)?;
        self.open.open(&nonce(&self.iv, number), head, sealed, tag, payload)?;
        Opened::new(packet, header, number).map_err(|_| Error::Failed)
    }

    fn mask(&mut self, packet: &[u8], layout: Layout) -> Result<[u8; MASK], Error> {
        let sample = layout.sample(packet);
        let mut mask = [0; 16];
        match self.suite {
            Suite::Aes128Gcm => mask.copy_from_slice(sample),
            // For ChaCha20, OpenSSL's IV is the counter and nonce in the order of the sample.
            Suite::ChaCha20Poly1305 => self.header.set_iv(sample)?,
        }
        self.header.update(&mut mask)?;
        Ok(*mask.first_chunk().ok_or(Error::DataLength)?)
    }
}
