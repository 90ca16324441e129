//! A stream core that remembers its position: partly used blocks carry over to the next call, and
//! the keystream never starts again.

use core::fmt;

use inout::InOutBuf;
use lanecrypt_kernels::{Isa, Seek, StreamCore, wipe};
use zeroize::{ZeroizeOnDrop, Zeroizing};

use crate::{Buffers, Error};

/// The largest block of any stream core, in bytes.
const MAX_BLOCK: usize = 64;

/// One keyed stream over the core `C`.
///
/// Successive calls continue the keystream byte by byte, however it is split into calls. A request
/// that would run past the end is refused and changes nothing. As constant-time as `C` is. Lengths
/// and positions are not secret.
pub struct StreamCipher<C: StreamCore> {
    core: C,
    /// The number of the block at byte offset 0.
    first: u64,
    /// The number of blocks from byte offset 0 to the end. The core is asked for it once, because
    /// later a counter that has wrapped would look like a new one.
    total: u64,
    /// The number of blocks that `core` may still make, at most `total`.
    blocks: u64,
    /// The last block that was used in part. Its last `left` bytes have not been used; `left` is
    /// less than `C::BLOCK`.
    part: [u8; MAX_BLOCK],
    left: usize,
}

impl<C: StreamCore> StreamCipher<C> {
    /// The most bytes that [`advance_to`](Self::advance_to) goes in one call: 64 MiB, which the
    /// slowest stream makes in well under a second.
    pub const MAX_ADVANCE: u64 = 1 << 26;

    /// A stream that begins at block 0.
    #[must_use]
    pub fn new(isa: Isa, key: &C::Key, nonce: &C::Nonce) -> Self {
        const { assert!(C::BLOCK > 0 && C::BLOCK <= MAX_BLOCK) };
        let core = C::new(isa, key, nonce);
        let total = core.remaining();
        Self { core, first: 0, total, blocks: total, part: [0; MAX_BLOCK], left: 0 }
    }

    /// The number of bytes to the end of the keystream, saturating at `u64::MAX`.
    #[must_use]
    pub fn remaining(&self) -> u64 {
        self.blocks.saturating_mul(C::BLOCK as u64).saturating_add(self.left as u64)
    }

    /// Writes the next keystream bytes over `out`, which is never read.
    ///
    /// # Errors
    ///
    /// [`Error::KeystreamExhausted`] if `out` is longer than [`remaining`](Self::remaining). After
    /// an error nothing has changed.
    pub fn keystream(&mut self, out: &mut [u8]) -> Result<(), Error> {
        self.claim(out.len())?;
        let (head, tail) = out.split_at_mut(self.left.min(out.len()));
        head.copy_from_slice(&self.part[C::BLOCK - self.left..][..head.len()]);
        self.left -= head.len();
        let (body, end) = tail.split_at_mut(tail.len() - tail.len() % C::BLOCK);
        if !body.is_empty() {
            self.core.keystream(body);
        }
        if !end.is_empty() {
            self.cut(end.len());
            end.copy_from_slice(&self.part[..end.len()]);
        }
        Ok(())
    }

    /// XORs the next keystream bytes into `data`: a slice in place, or an
    /// [`InOutBuf`](crate::InOutBuf) from one buffer to another.
    ///
    /// # Errors
    ///
    /// [`Error::KeystreamExhausted`] if `data` is longer than [`remaining`](Self::remaining). After
    /// an error nothing has changed.
    pub fn xor<'i, 'o>(&mut self, data: impl Buffers<'i, 'o>) -> Result<(), Error> {
        let data = data.in_out();
        let len = data.len();
        self.claim(len)?;
        let (mut head, tail) = data.split_at(self.left.min(len));
        let len = head.len();
        head.xor_in2out(&self.part[C::BLOCK - self.left..][..len]);
        self.left -= len;
        let len = tail.len();
        let (body, mut end) = tail.split_at(len - len % C::BLOCK);
        if !body.is_empty() {
            self.core.xor(body);
        }
        let len = end.len();
        if len != 0 {
            self.cut(len);
            end.xor_in2out(&self.part[..len]);
        }
        Ok(())
    }

    /// Goes forward to a byte offset, counted from the beginning of the stream. It makes and drops
    /// the keystream in between, which is the only way for a core that cannot [`Seek`], and as slow
    /// as [`keystream`](Self::keystream).
    ///
    /// # Errors
    ///
    /// [`Error::OutOfReach`] if the offset is behind the position, or more than
    /// [`MAX_ADVANCE`](Self::MAX_ADVANCE) bytes ahead; [`Error::KeystreamExhausted`] if it is past
    /// the end. After an error nothing has changed.
    pub fn advance_to(&mut self, offset: u64) -> Result<(), Error> {
        let mut distance = offset.checked_sub(self.position()).ok_or(Error::OutOfReach)?;
        if distance > Self::MAX_ADVANCE {
            return Err(Error::OutOfReach);
        }
        if distance > self.remaining() {
            return Err(Error::KeystreamExhausted);
        }
        let mut dropped = Zeroizing::new([0; 1024]);
        while distance != 0 {
            let piece = usize::try_from(distance).map_or(dropped.len(), |n| n.min(dropped.len()));
            self.keystream(&mut dropped[..piece])?;
            distance -= piece as u64;
        }
        Ok(())
    }

    /// The byte offset of the next keystream byte, saturating at `u64::MAX`.
    pub(crate) fn position(&self) -> u64 {
        let cut = self.total - self.blocks;
        cut.saturating_mul(C::BLOCK as u64).saturating_sub(self.left as u64)
    }

    /// Counts the blocks that `len` more bytes need, or refuses them.
    fn claim(&mut self, len: usize) -> Result<(), Error> {
        let fresh = len.saturating_sub(self.left).div_ceil(C::BLOCK) as u64;
        self.blocks = self.blocks.checked_sub(fresh).ok_or(Error::KeystreamExhausted)?;
        Ok(())
    }

    /// Makes a block of which the first `used` bytes, at least one, are used at once.
    fn cut(&mut self, used: usize) {
        self.core.keystream(&mut self.part[..C::BLOCK]);
        self.left = C::BLOCK - used;
    }
}

impl<C: Seek> StreamCipher<C> {
    /// A stream that begins at block `first`; byte offsets count from there.
    ///
    /// # Errors
    ///
    /// [`Error::KeystreamExhausted`] if there is no such block.
    #[inline]
    pub fn at_block(isa: Isa, key: &C::Key, nonce: &C::Nonce, first: u64) -> Result<Self, Error> {
        const { assert!(C::BLOCK > 0 && C::BLOCK <= MAX_BLOCK) };
        let (core, total) = core_at(isa, key, nonce, first)?;
        Ok(Self { core, first, total, blocks: total, part: [0; MAX_BLOCK], left: 0 })
    }

    /// Begins another stream in the place of this one, which moves less memory than
    /// [`at_block`](Self::at_block).
    ///
    /// # Errors
    ///
    /// [`Error::KeystreamExhausted`] if there is no block `first`. After an error nothing has
    /// changed.
    #[inline]
    pub(super) fn restart(
        &mut self,
        isa: Isa,
        key: &C::Key,
        nonce: &C::Nonce,
        first: u64,
    ) -> Result<(), Error> {
        let (core, total) = core_at(isa, key, nonce, first)?;
        self.core = core;
        self.first = first;
        self.total = total;
        self.blocks = total;
        self.left = 0;
        wipe::memory(&mut self.part);
        Ok(())
    }

    /// Goes to a byte offset, counted from the beginning of the stream.
    ///
    /// # Errors
    ///
    /// [`Error::KeystreamExhausted`] if the offset is past the end. After an error nothing has
    /// changed.
    pub fn seek(&mut self, offset: u64) -> Result<(), Error> {
        let (block, within) = (offset / C::BLOCK as u64, offset % C::BLOCK as u64);
        let used = usize::try_from(within).map_err(|_| Error::KeystreamExhausted)?;
        let blocks = self.total.checked_sub(block).ok_or(Error::KeystreamExhausted)?;
        let after = blocks.checked_sub(u64::from(used != 0)).ok_or(Error::KeystreamExhausted)?;
        // At the very end there is no block to go to, and none will be needed.
        if blocks != 0 {
            self.core.seek(self.first + block);
        }
        self.left = 0;
        self.blocks = after;
        if used != 0 {
            self.cut(used);
        }
        Ok(())
    }
}

/// A core at block `first`, and the number of blocks from there to its end, at least one.
#[inline]
fn core_at<C: Seek>(
    isa: Isa,
    key: &C::Key,
    nonce: &C::Nonce,
    first: u64,
) -> Result<(C, u64), Error> {
    let mut core = C::new(isa, key, nonce);
    match core.remaining().checked_sub(first) {
        None | Some(0) => Err(Error::KeystreamExhausted),
        Some(total) => {
            core.seek(first);
            Ok((core, total))
        }
    }
}

impl<C: StreamCore> fmt::Debug for StreamCipher<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamCipher").finish_non_exhaustive()
    }
}

impl<C: StreamCore> Drop for StreamCipher<C> {
    #[inline]
    fn drop(&mut self) {
        // The core wipes itself.
        wipe::memory(&mut self.part);
    }
}

impl<C: StreamCore> ZeroizeOnDrop for StreamCipher<C> {}

/// XORs the keystream of a new core into `data`.
#[inline]
pub(super) fn message<C: StreamCore>(mut core: C, data: InOutBuf<'_, '_, u8>) -> Result<(), Error> {
    if data.len().div_ceil(C::BLOCK) as u64 > core.remaining() {
        return Err(Error::KeystreamExhausted);
    }
    core.xor(data);
    Ok(())
}
