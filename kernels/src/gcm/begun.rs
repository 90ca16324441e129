//! A message that was taken in one call and goes on. Constant time in key and data.
//!
//! A tag is the hash of the message and its lengths, under a mask. Without mask and lengths the hash
//! of the message is left, but multiplied by H once more than a hash in progress is:
//!
//! ```text
//! tag = (s + lengths) H + mask          so s H = tag + mask + lengths H
//! (s + x) H = s H + x H                 and with the next block x the hash goes on.
//! ```
//!
//! Bytes that complete a block that was hashed with zeros behind it are added in the same way, times
//! H twice. So a tag and the lengths are all that is kept, and the kernels for whole messages, which
//! take the lengths into their last reduction, need not know.

use core::fmt;
use core::slice::from_mut;

use inout::InOutBuf;
use zeroize::ZeroizeOnDrop;

use super::message::{counted, until_wrap};
use super::{AesGcm, OPEN, SEAL, first_of, in_turn, lengths};
use crate::isa::Way;
use crate::{Aead, BlockEncrypt, Resume, wipe};

/// A message so far: its first counter block, its tag and its lengths.
///
/// It holds secrets and wipes them on drop. Plaintext that a program reads before it has compared
/// the tag may be forged.
#[derive(Clone)]
pub struct Begun {
    /// The counter block of the tag, as a number. Secret if a nonce was hashed to it.
    first: u128,
    tag: [u8; 16],
    /// Bytes so far.
    aad: u64,
    data: u64,
}

impl Begun {
    /// A message that has been sealed or opened as a whole one, from its first counter block
    /// ([`AesGcm::counter_block`]): its tag, and the bytes of associated data and of data.
    #[must_use]
    #[inline]
    pub fn after(first: &[u8; 16], tag: &[u8; 16], aad: u64, data: u64) -> Self {
        Self { first: u128::from_be_bytes(*first), tag: *tag, aad, data }
    }

    /// The tag of what has come.
    #[must_use]
    #[inline]
    pub fn tag(&self) -> &[u8; 16] {
        &self.tag
    }

    /// The last block that is hashed.
    fn lengths(&self) -> u128 {
        lengths(self.aad, self.data)
    }
}

impl Begun {
    fn wipe(&mut self) {
        wipe::words(from_mut(&mut self.first));
        wipe::memory(&mut self.tag);
    }
}

impl Drop for Begun {
    #[inline]
    fn drop(&mut self) {
        self.wipe();
    }
}

impl ZeroizeOnDrop for Begun {}

impl fmt::Debug for Begun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut f = f.debug_struct("Begun");
        f.field("aad", &self.aad).field("data", &self.data).finish_non_exhaustive()
    }
}

macro_rules! key_size {
    ($bits:literal) => {
        impl AesGcm<$bits> {
            /// [`begun`](Resume::begun) from the first counter block that
            /// [`counter_block`](Self::counter_block) gives.
            #[must_use]
            pub fn begun_from(&self, first: &[u8; 16]) -> Begun {
                let mut tag = [*first];
                self.cipher.encrypt((&mut tag[..]).into());
                let [tag] = tag;
                Begun::after(first, &tag, 0, 0)
            }

            fn more<const WAY: bool>(&self, begun: &mut Begun, data: InOutBuf<'_, '_, u8>) {
                if data.is_empty() {
                    return;
                }
                let (hash, keys) = (&self.hash, self.cipher.forward());
                let (isa, way) = (self.hash.isa(), Way::<WAY>);
                let (first, tag, done) = (begun.first, &begun.tag, begun.data);
                let before = begun.lengths();
                begun.data += data.len() as u64;
                let lengths = [before, begun.lengths()];
                let blocks = (done % 16 + data.len() as u64).div_ceil(16);
                begun.tag = if blocks > until_wrap(counted(first, 1 + done / 16)) {
                    in_turn::more(hash, keys, first, tag, done, lengths, data, way)
                } else {
                    by_isa!(crate::gcm, isa, more(hash, keys, first, tag, done, lengths, data, way):
                        Avx512, _ => in_turn)
                };
            }
        }

        impl Resume for AesGcm<$bits> {
            type Begun = Begun;

            fn begun(&self, nonce: &[u8; 12]) -> Begun {
                self.begun_from(&self.counter_block(nonce))
            }

            #[inline]
            fn seal_begun(
                &self,
                begun: &mut Begun,
                nonce: &[u8; 12],
                aad: &[u8],
                data: InOutBuf<'_, '_, u8>,
            ) -> [u8; 16] {
                begun.first = first_of(nonce);
                (begun.aad, begun.data) = (aad.len() as u64, data.len() as u64);
                begun.tag = self.seal(nonce, aad, data);
                begun.tag
            }

            #[inline]
            fn open_begun(
                &self,
                begun: &mut Begun,
                nonce: &[u8; 12],
                aad: &[u8],
                data: InOutBuf<'_, '_, u8>,
            ) -> [u8; 16] {
                begun.first = first_of(nonce);
                (begun.aad, begun.data) = (aad.len() as u64, data.len() as u64);
                begun.tag = self.opened(nonce, aad, data);
                begun.tag
            }

            fn associate_more(&self, begun: &mut Begun, aad: &[u8]) {
                if aad.is_empty() {
                    return;
                }
                debug_assert!(begun.data == 0, "associated data come before data");
                let (hash, keys) = (&self.hash, self.cipher.forward());
                let (first, tag, done, before) =
                    (begun.first, &begun.tag, begun.aad, begun.lengths());
                begun.aad += aad.len() as u64;
                let lengths = [before, begun.lengths()];
                begun.tag = in_turn::associate_more(hash, keys, first, tag, done, lengths, aad);
            }

            fn seal_more(&self, begun: &mut Begun, data: InOutBuf<'_, '_, u8>) {
                self.more::<SEAL>(begun, data);
            }

            fn open_more(&self, begun: &mut Begun, data: InOutBuf<'_, '_, u8>) {
                self.more::<OPEN>(begun, data);
            }

            fn tag_of(&self, begun: &Begun) -> [u8; 16] {
                begun.tag
            }
        }
    };
}

key_size!(128);
key_size!(192);
key_size!(256);
