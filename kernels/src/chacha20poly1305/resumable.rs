//! A message that was taken in one call and is resumed. Constant time in key, nonce and data.

use core::fmt;

use inout::InOutBuf;
use zeroize::ZeroizeOnDrop;

use super::{ChaCha20Poly1305, OPEN, SEAL, run};
use crate::chacha::{ChaCha, Ietf};
use crate::isa::Mode;
use crate::poly1305::PartialHash;
use crate::{Isa, Resume, Seek, StreamCore, wipe};

/// Bytes of a part, which Poly1305 finds in the first-level cache.
const PART: usize = 4096;

/// A message so far: its nonce, its hash with the lengths, and these.
///
/// It holds secrets and wipes them on drop. Plaintext that a program reads before it has compared
/// the tag may be forged.
//
// The hash wipes itself.
#[derive(Clone)]
pub struct PartialState {
    hash: PartialHash,
    nonce: [u8; 12],
    /// Bytes of associated data and of data.
    sizes: [u64; 2],
}

impl PartialState {
    /// A place for a message that begins.
    #[must_use]
    pub fn empty(isa: Isa) -> Self {
        Self { hash: PartialHash::empty(isa), nonce: [0; 12], sizes: [0; 2] }
    }
}

impl Resume for ChaCha20Poly1305 {
    type PartialState = PartialState;

    fn empty_state(&self, nonce: &[u8; 12]) -> PartialState {
        let mut partial = PartialState::empty(self.isa);
        let _tag = self.seal_resumable(&mut partial, nonce, &[], (&mut [][..]).into());
        partial
    }

    #[inline]
    fn seal_resumable(
        &self,
        partial: &mut PartialState,
        nonce: &[u8; 12],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
    ) -> [u8; 16] {
        partial.nonce = *nonce;
        partial.sizes = [aad.len() as u64, data.len() as u64];
        run::<SEAL, _>(self.isa, &self.key, nonce, aad, data, Mode, &mut partial.hash)
    }

    #[inline]
    fn open_resumable(
        &self,
        partial: &mut PartialState,
        nonce: &[u8; 12],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
    ) -> [u8; 16] {
        partial.nonce = *nonce;
        partial.sizes = [aad.len() as u64, data.len() as u64];
        run::<OPEN, _>(self.isa, &self.key, nonce, aad, data, Mode, &mut partial.hash)
    }

    fn associate_more(&self, partial: &mut PartialState, aad: &[u8]) {
        debug_assert_eq!(partial.sizes[1], 0, "associated data come before data");
        let [before, _] = partial.sizes;
        partial.hash.reopen(partial.sizes);
        partial.hash.append(begun_bytes(before), aad);
        partial.sizes[0] += aad.len() as u64;
        partial.hash.close(partial.sizes);
    }

    fn seal_more(&self, partial: &mut PartialState, data: InOutBuf<'_, '_, u8>) {
        self.more::<SEAL>(partial, data);
    }

    fn open_more(&self, partial: &mut PartialState, data: InOutBuf<'_, '_, u8>) {
        self.more::<OPEN>(partial, data);
    }

    fn tag_of(&self, partial: &PartialState) -> [u8; 16] {
        partial.hash.tag()
    }
}

impl ChaCha20Poly1305 {
    fn more<const MODE: bool>(&self, partial: &mut PartialState, data: InOutBuf<'_, '_, u8>) {
        let mut core = ChaCha::<20, Ietf>::new(self.isa, &self.key, &partial.nonce);
        partial.hash.reopen(partial.sizes);
        let mut data = data;
        while !data.is_empty() {
            // First the rest of a block of keystream, then whole blocks.
            let before = partial.sizes[1];
            let spent = (before % 64) as usize;
            let length = data.len().min(if spent > 0 { 64 - spent } else { PART });
            let (mut part, rest) = data.split_at(length);
            if MODE == OPEN {
                partial.hash.append(begun_bytes(before), part.get_in());
            }
            core.seek(1 + before / 64);
            if spent > 0 {
                let mut keystream = [0; 64];
                core.keystream(&mut keystream);
                part.xor_in2out(&keystream[spent..spent + length]);
                wipe::memory(&mut keystream);
            } else {
                core.xor(part.reborrow());
            }
            if MODE == SEAL {
                partial.hash.append(begun_bytes(before), part.get_out());
            }
            partial.sizes[1] += length as u64;
            data = rest;
        }
        partial.hash.close(partial.sizes);
    }
}

/// Bytes of the incomplete block that is hashed.
#[inline]
fn begun_bytes(bytes: u64) -> usize {
    (bytes % 16) as usize
}

impl ZeroizeOnDrop for PartialState {}

impl fmt::Debug for PartialState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PartialState").field("sizes", &self.sizes).finish_non_exhaustive()
    }
}
