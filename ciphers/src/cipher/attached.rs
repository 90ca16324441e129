//! Packets: a message with its tag behind it.

use inout::InOutBuf;
use lanecrypt_kernels::wipe;

use super::keyed::Keyed;
use crate::{Error, Nonce, NonceSequence};

/// What every key does with packets.
pub(super) trait Attached: Keyed {
    #[inline]
    fn seal(&self, nonce: &[u8], aad: &[u8], packet: &mut [u8]) -> Result<(), Error> {
        let (message, tag) = self.cut(packet).ok_or(Error::OutputLength)?;
        self.seal_detached(nonce, aad, message, tag)
    }

    #[inline]
    fn seal_next(
        &self,
        nonces: &mut impl NonceSequence,
        aad: &[u8],
        packet: &mut [u8],
    ) -> Result<Nonce, Error> {
        let (message, tag) = self.cut(packet).ok_or(Error::OutputLength)?;
        if nonces.nonce_length() != self.nonce_length() {
            return Err(Error::NonceLength);
        }
        self.admit_whole(aad.len(), message.len(), tag.len())?;
        if !message.len().is_multiple_of(self.granularity()) {
            return Err(Error::DataLength);
        }
        let nonce = nonces.fresh()?;
        self.seal_detached(&nonce, aad, message, tag)?;
        Ok(nonce)
    }

    #[inline]
    fn open<'p>(
        &self,
        nonce: &[u8],
        aad: &[u8],
        packet: &'p mut [u8],
    ) -> Result<&'p mut [u8], Error> {
        let (message, tag) = self.cut(packet).ok_or(Error::Authentication)?;
        self.open_detached(nonce, aad, &mut *message, tag)?;
        Ok(message)
    }

    fn open_within<'p>(
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

    #[cfg(feature = "std")]
    fn seal_vec(&self, nonce: &[u8], aad: &[u8], packet: &mut Vec<u8>) -> Result<(), Error> {
        let length = packet.len();
        grow(packet, self.tag_length());
        let sealed = self.seal(nonce, aad, packet);
        if sealed.is_err() {
            packet.truncate(length);
        }
        sealed
    }

    #[cfg(feature = "std")]
    fn open_vec(&self, nonce: &[u8], aad: &[u8], packet: &mut Vec<u8>) -> Result<(), Error> {
        let length = self.open(nonce, aad, packet)?.len();
        packet.truncate(length);
        Ok(())
    }

    #[inline]
    fn seal_to(
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

    #[inline]
    fn open_to(
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

    /// The message and the tag of a packet; `None` if it is shorter than a tag.
    #[inline]
    fn cut<'p>(&self, packet: &'p mut [u8]) -> Option<(&'p mut [u8], &'p mut [u8])> {
        packet.split_at_mut_checked(packet.len().checked_sub(self.tag_length())?)
    }
}

impl<K: Keyed> Attached for K {}

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
