//! What every cipher with authentication does with messages.

use inout::InOutBuf;
use lanecrypt_kernels::wipe;

use super::{AeadCipher, AeadKey, Opener, Sealer};
use crate::{Algorithm, Buffers, Error, Nonce, NonceSequence};

impl<K: AeadKey> AeadCipher<K> {
    /// Its algorithm.
    #[must_use]
    #[inline]
    pub fn algorithm(&self) -> Algorithm {
        self.key.facts().algorithm
    }

    /// The length of a tag in bytes, by which a sealed message is longer:
    /// [`Algorithm::tag_length`], unless [`Cipher::set_tag_length`](crate::Cipher::set_tag_length)
    /// has changed it.
    #[must_use]
    #[inline]
    pub fn tag_length(&self) -> usize {
        self.key.facts().tag_length
    }

    /// Seals a message in place: `buffer` is the message and, behind it, room for the
    /// tag, and becomes the packet. **Its last [`tag_length`](Self::tag_length) bytes are
    /// overwritten**, whatever they hold: where a message has no room behind it, take `seal_vec`,
    /// or [`seal_detached`](Self::seal_detached).
    ///
    /// **The nonce must not have been used before under this key.**
    ///
    /// # Errors
    ///
    /// [`Error::OutputLength`] if there is no room for the tag, [`Error::NonceLength`],
    /// [`Error::AadLength`] or [`Error::DataLength`]. After an error nothing has changed.
    #[inline]
    pub fn seal(&self, nonce: &[u8], aad: &[u8], buffer: &mut [u8]) -> Result<(), Error> {
        let (message, tag) = self.cut(buffer).ok_or(Error::OutputLength)?;
        self.seal_detached(nonce, aad, message, tag)
    }

    /// Seals a message in place, as [`seal`](Self::seal) does, with the next nonce of `nonces`,
    /// which it returns.
    ///
    /// # Errors
    ///
    /// [`Error::NoncesExhausted`]; [`Error::Forked`] if the parent process made the sequence;
    /// [`Error::NonceLength`] if it was made for an algorithm with nonces of another length;
    /// otherwise the same as [`seal`](Self::seal). After an error nothing has changed, and no nonce
    /// is used up.
    #[inline]
    pub fn seal_next(
        &self,
        nonces: &mut impl NonceSequence,
        aad: &[u8],
        buffer: &mut [u8],
    ) -> Result<Nonce, Error> {
        let (message, tag) = self.cut(buffer).ok_or(Error::OutputLength)?;
        let facts = self.key.facts();
        if nonces.nonce_length() != facts.algorithm.nonce_length() {
            return Err(Error::NonceLength);
        }
        facts.admit(aad.len(), message.len(), tag.len())?;
        if !message.len().is_multiple_of(facts.algorithm.granularity()) {
            return Err(Error::DataLength);
        }
        let nonce = nonces.fresh()?;
        self.seal_detached(&nonce, aad, message, tag)?;
        Ok(nonce)
    }

    /// Opens a packet in place, if it is authentic, and returns the message, which is at its front.
    ///
    /// # Errors
    ///
    /// [`Error::Authentication`] if the packet is not authentic: the message has been wiped. The
    /// same if it is shorter than a tag, or [`Error::NonceLength`], [`Error::AadLength`] or
    /// [`Error::DataLength`]: nothing has changed.
    #[inline]
    pub fn open<'p>(
        &self,
        nonce: &[u8],
        aad: &[u8],
        packet: &'p mut [u8],
    ) -> Result<&'p mut [u8], Error> {
        let (message, tag) = self.cut(packet).ok_or(Error::Authentication)?;
        self.open_detached(nonce, aad, &mut *message, tag)?;
        Ok(message)
    }

    /// Opens a packet that begins at `from`, behind a header or an explicit nonce as in TLS 1.2,
    /// and moves the message to the front of the buffer, which it returns.
    ///
    /// ```
    /// # use lanecrypt_ciphers::*;
    /// # fn main() -> Result<(), Error> {
    /// let cipher = Cipher::new(Algorithm::AES_128_GCM, &[7; 16])?;
    /// let nonce = [0; 12];
    /// let mut record = *b"5 bytmessage................";
    /// let (header, packet) = record.split_at_mut(5);
    /// cipher.seal(&nonce, header, packet)?;
    ///
    /// let header = *b"5 byt";
    /// assert_eq!(cipher.open_within(&nonce, &header, &mut record, 5)?, b"message");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Same as [`open`](Self::open). If the buffer ends before the packet begins:
    /// [`Error::Authentication`].
    pub fn open_within<'p>(
        &self,
        nonce: &[u8],
        aad: &[u8],
        buffer: &'p mut [u8],
        from: usize,
    ) -> Result<&'p mut [u8], Error> {
        let packet = buffer.get_mut(from..).ok_or(Error::Authentication)?;
        let length = self.open(nonce, aad, packet)?.len();
        buffer.copy_within(from..from + length, 0);
        let (message, rest) = buffer.split_at_mut(length);
        // Right behind the message its own end stands once more, if it was not overwritten.
        let left = from.min(length);
        wipe::memory(rest.get_mut(from - left..from).unwrap_or_default());
        Ok(message)
    }

    /// Seals a whole vector, and appends the tag to it.
    ///
    /// **The nonce must not have been used before under this key.**
    ///
    /// ```
    /// # use lanecrypt_ciphers::*;
    /// # fn main() -> Result<(), Error> {
    /// let cipher = Cipher::new(Algorithm::AES_128_GCM, &[7; 16])?;
    /// let nonce = [0; 12];
    /// let mut packet = b"no room needed".to_vec();
    /// cipher.seal_vec(&nonce, b"", &mut packet)?;
    /// assert_eq!(packet.len(), 14 + 16);
    ///
    /// cipher.open_vec(&nonce, b"", &mut packet)?;
    /// assert_eq!(packet, b"no room needed");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::NonceLength`], [`Error::AadLength`] or [`Error::DataLength`]. After an error
    /// nothing has changed.
    #[cfg(feature = "std")]
    pub fn seal_vec(&self, nonce: &[u8], aad: &[u8], packet: &mut Vec<u8>) -> Result<(), Error> {
        let length = packet.len();
        grow(packet, self.tag_length());
        let sealed = self.seal(nonce, aad, packet);
        if sealed.is_err() {
            packet.truncate(length);
        }
        sealed
    }

    /// Opens a whole vector, if it is authentic, and cuts the tag off.
    ///
    /// # Errors
    ///
    /// Same as [`open`](Self::open). After an error the vector is as long as before.
    #[cfg(feature = "std")]
    pub fn open_vec(&self, nonce: &[u8], aad: &[u8], packet: &mut Vec<u8>) -> Result<(), Error> {
        let length = self.open(nonce, aad, packet)?.len();
        packet.truncate(length);
        Ok(())
    }

    /// Seals a message into a packet that is longer by [`tag_length`](Self::tag_length) bytes.
    ///
    /// **The nonce must not have been used before under this key.**
    ///
    /// # Errors
    ///
    /// [`Error::OutputLength`] if the packet has another length, [`Error::NonceLength`],
    /// [`Error::AadLength`] or [`Error::DataLength`]. After an error nothing has changed.
    #[inline]
    pub fn seal_to(
        &self,
        nonce: &[u8],
        aad: &[u8],
        message: &[u8],
        packet: &mut [u8],
    ) -> Result<(), Error> {
        let (sealed, tag) = self.cut(packet).ok_or(Error::OutputLength)?;
        let data = InOutBuf::new(message, sealed).map_err(|_| Error::OutputLength)?;
        self.seal_detached(nonce, aad, data, tag)
    }

    /// Opens a packet into a message that is shorter by [`tag_length`](Self::tag_length) bytes, if
    /// it is authentic.
    ///
    /// # Errors
    ///
    /// [`Error::Authentication`] if the packet is not authentic, or is shorter than a tag: the
    /// message has been wiped. [`Error::OutputLength`] if the message has another length,
    /// [`Error::NonceLength`], [`Error::AadLength`] or [`Error::DataLength`]: nothing has changed.
    #[inline]
    pub fn open_to(
        &self,
        nonce: &[u8],
        aad: &[u8],
        packet: &[u8],
        message: &mut [u8],
    ) -> Result<(), Error> {
        let length = packet.len().checked_sub(self.tag_length());
        let Some((sealed, tag)) = length.and_then(|at| packet.split_at_checked(at)) else {
            wipe::memory(message);
            return Err(Error::Authentication);
        };
        let data = InOutBuf::new(sealed, message).map_err(|_| Error::OutputLength)?;
        self.open_detached(nonce, aad, data, tag)
    }

    /// Encrypts a whole message and writes its tag, of [`tag_length`](Self::tag_length) bytes. The
    /// data is a slice in place, or an [`InOutBuf`](crate::InOutBuf) from one buffer to another.
    ///
    /// **The nonce must not have been used before under this key.**
    ///
    /// # Errors
    ///
    /// [`Error::TagLength`], [`Error::NonceLength`], [`Error::AadLength`] or [`Error::DataLength`].
    /// After an error nothing has changed.
    #[inline(always)]
    pub fn seal_detached<'i, 'o>(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: impl Buffers<'i, 'o>,
        tag: &mut [u8],
    ) -> Result<(), Error> {
        let data = data.in_out();
        self.key.facts().admit(aad.len(), data.len(), tag.len())?;
        self.key.admit_nonce(nonce)?;
        self.key.seal_message(nonce, aad, data, tag)
    }

    /// Decrypts a whole message, if its tag, of [`tag_length`](Self::tag_length) bytes, is right.
    /// The data is a slice in place, or an [`InOutBuf`](crate::InOutBuf) from one buffer to
    /// another.
    ///
    /// # Errors
    ///
    /// [`Error::Authentication`]: the output has been wiped. [`Error::TagLength`],
    /// [`Error::NonceLength`], [`Error::AadLength`] or [`Error::DataLength`]: nothing has changed.
    #[inline(always)]
    pub fn open_detached<'i, 'o>(
        &self,
        nonce: &[u8],
        aad: &[u8],
        data: impl Buffers<'i, 'o>,
        tag: &[u8],
    ) -> Result<(), Error> {
        let mut data = data.in_out();
        self.key.facts().admit(aad.len(), data.len(), tag.len())?;
        self.key.admit_nonce(nonce)?;
        let verdict = self.key.open_message(nonce, aad, data.reborrow(), tag);
        if verdict == Err(Error::Authentication) {
            wipe::memory(data.get_out());
        }
        verdict
    }

    /// Begins to seal a message in pieces.
    ///
    /// **The nonce must not have been used before under this key.**
    ///
    /// # Errors
    ///
    /// [`Error::NonceLength`]. [`Error::Unsupported`] if the algorithm
    /// [has no messages in pieces](Algorithm::has_pieces).
    #[inline]
    pub fn sealer(&self, nonce: &[u8]) -> Result<Sealer<'_, K>, Error> {
        Sealer::new(&self.key, nonce)
    }

    /// Begins to open a message in pieces.
    ///
    /// **Read the warning of [`Opener`] about its plaintext.**
    ///
    /// # Errors
    ///
    /// Same as [`sealer`](Self::sealer).
    #[inline]
    pub fn opener(&self, nonce: &[u8]) -> Result<Opener<'_, K>, Error> {
        Opener::new(&self.key, nonce)
    }

    /// The message and the tag of a packet; `None` if it is shorter than a tag.
    #[inline]
    fn cut<'p>(&self, packet: &'p mut [u8]) -> Option<(&'p mut [u8], &'p mut [u8])> {
        packet.split_at_mut_checked(packet.len().checked_sub(self.tag_length())?)
    }
}

/// Makes a vector longer by zeros. If it has to move, nothing of the message stays behind.
#[cfg(feature = "std")]
fn grow(packet: &mut Vec<u8>, by: usize) {
    if packet.capacity() - packet.len() < by {
        let mut longer = Vec::with_capacity(packet.len() + by);
        longer.extend_from_slice(packet);
        wipe::memory(packet);
        *packet = longer;
    }
    packet.resize(packet.len() + by, 0);
}
