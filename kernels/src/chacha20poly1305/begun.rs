//! A message that was taken in one call and goes on. Constant time in key, nonce and data.

use core::fmt;

use inout::InOutBuf;
use zeroize::ZeroizeOnDrop;

use super::{ChaCha20Poly1305, OPEN, SEAL, run};
use crate::chacha::{ChaCha, Ietf};
use crate::isa::Way;
use crate::poly1305::Kept;
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
pub struct Begun {
    hash: Kept,
    nonce: [u8; 12],
    /// Bytes of associated data and of data.
    sizes: [u64; 2],
}

impl Begun {
    /// A place for a message that begins.
    #[must_use]
    pub fn empty(isa: Isa) -> Self {
        Self { hash: Kept::empty(isa), nonce: [0; 12], sizes: [0; 2] }
    }
}

impl Resume for ChaCha20Poly1305 {
    type Begun = Begun;

    fn begun(&self, nonce: &[u8; 12]) -> Begun {
        let mut begun = Begun::empty(self.isa);
        let _tag = self.seal_begun(&mut begun, nonce, &[], (&mut [][..]).into());
        begun
    }

    #[inline]
    fn seal_begun(
        &self,
        begun: &mut Begun,
        nonce: &[u8; 12],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
    ) -> [u8; 16] {
        begun.nonce = *nonce;
        begun.sizes = [aad.len() as u64, data.len() as u64];
        run::<SEAL, _>(self.isa, &self.key, nonce, aad, data, Way, &mut begun.hash)
    }

    #[inline]
    fn open_begun(
        &self,
        begun: &mut Begun,
        nonce: &[u8; 12],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
    ) -> [u8; 16] {
        begun.nonce = *nonce;
        begun.sizes = [aad.len() as u64, data.len() as u64];
        run::<OPEN, _>(self.isa, &self.key, nonce, aad, data, Way, &mut begun.hash)
    }

    fn associate_more(&self, begun: &mut Begun, aad: &[u8]) {
        debug_assert_eq!(begun.sizes[1], 0, "associated data come before data");
        let [before, _] = begun.sizes;
        begun.hash.reopen(begun.sizes);
        begun.hash.append(begun_bytes(before), aad);
        begun.sizes[0] += aad.len() as u64;
        begun.hash.close(begun.sizes);
    }

    fn seal_more(&self, begun: &mut Begun, data: InOutBuf<'_, '_, u8>) {
        self.more::<SEAL>(begun, data);
    }

    fn open_more(&self, begun: &mut Begun, data: InOutBuf<'_, '_, u8>) {
        self.more::<OPEN>(begun, data);
    }

    fn tag_of(&self, begun: &Begun) -> [u8; 16] {
        begun.hash.tag()
    }
}

impl ChaCha20Poly1305 {
    fn more<const WAY: bool>(&self, begun: &mut Begun, data: InOutBuf<'_, '_, u8>) {
        let mut core = ChaCha::<20, Ietf>::new(self.isa, &self.key, &begun.nonce);
        begun.hash.reopen(begun.sizes);
        let mut data = data;
        while !data.is_empty() {
            // First the rest of a block of keystream, then whole blocks.
            let before = begun.sizes[1];
            let spent = (before % 64) as usize;
            let length = data.len().min(if spent > 0 { 64 - spent } else { PART });
            let (mut part, rest) = data.split_at(length);
            if WAY == OPEN {
                begun.hash.append(begun_bytes(before), part.get_in());
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
            if WAY == SEAL {
                begun.hash.append(begun_bytes(before), part.get_out());
            }
            begun.sizes[1] += length as u64;
            data = rest;
        }
        begun.hash.close(begun.sizes);
    }
}

/// Bytes of the incomplete block that is hashed.
#[inline]
fn begun_bytes(bytes: u64) -> usize {
    (bytes % 16) as usize
}

impl ZeroizeOnDrop for Begun {}

impl fmt::Debug for Begun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Begun").field("sizes", &self.sizes).finish_non_exhaustive()
    }
}
