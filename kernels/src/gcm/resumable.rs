//! A message that was taken in one call and is resumed. Constant time in key and data.
//!
//! A tag is the hash of the message and its lengths, under a mask. Without mask and lengths the
//! hash of the message is left, but multiplied by H once more than a hash in progress is:
//!
//! ```text
//! tag = (s + lengths) H + mask          so s H = tag + mask + lengths H
//! (s + x) H = s H + x H                 and with the next block x the hash continues.
//! ```
//!
//! Bytes that complete a block that was hashed with zeros behind it are added in the same way,
//! times H twice. So a tag and the lengths are all that is kept, and the kernels for whole
//! messages, which take the lengths into their last reduction, need not know.
//!
//! With the first whole block that follows, the hash is one in progress again, and the rest is a
//! message in pieces. AVX-512 has a kernel of its own, from tag to tag.

use core::fmt;
use core::slice::from_mut;

use inout::InOutBuf;
use zeroize::ZeroizeOnDrop;

use super::message::{Message, counted, until_wrap};
use super::{AesGcm, OPEN, SEAL, first_of, lengths, two_pass};
use crate::isa::Mode;
use crate::{Aead, BlockEncrypt, Level, Resume, wipe};

/// A message so far: its first counter block, its tag and its lengths.
///
/// It holds secrets and wipes them on drop. Plaintext that a program reads before it has compared
/// the tag may be forged.
#[derive(Clone)]
pub struct PartialState {
    /// The counter block of the tag, as a number. Secret if a nonce was hashed to it.
    first: u128,
    tag: [u8; 16],
    /// Bytes so far.
    aad: u64,
    data: u64,
    /// The hash in progress, instead of the tag.
    in_progress: Option<Message>,
}

impl PartialState {
    /// A message that has been sealed or opened as a whole one, from its first counter block
    /// ([`AesGcm::counter_block`]): its tag, and the bytes of associated data and of data.
    #[must_use]
    #[inline]
    pub fn after(first: &[u8; 16], tag: &[u8; 16], aad: u64, data: u64) -> Self {
        Self { first: u128::from_be_bytes(*first), tag: *tag, aad, data, in_progress: None }
    }

    /// A message that is taken as a whole one.
    #[inline]
    fn begin(&mut self, first: u128, aad: usize, data: usize) {
        self.first = first;
        (self.aad, self.data) = (aad as u64, data as u64);
        self.in_progress = None;
    }

    /// The last block that is hashed.
    fn lengths(&self) -> u128 {
        lengths(self.aad, self.data)
    }
}

impl PartialState {
    fn wipe(&mut self) {
        wipe::words(from_mut(&mut self.first));
        wipe::memory(&mut self.tag);
    }
}

impl Drop for PartialState {
    #[inline]
    fn drop(&mut self) {
        self.wipe();
    }
}

impl ZeroizeOnDrop for PartialState {}

impl fmt::Debug for PartialState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut f = f.debug_struct("PartialState");
        f.field("aad", &self.aad).field("data", &self.data).finish_non_exhaustive()
    }
}

macro_rules! key_size {
    ($bits:literal) => {
        impl AesGcm<$bits> {
            /// [`empty_state`](Resume::empty_state) from the first counter block that
            /// [`counter_block`](Self::counter_block) gives.
            #[must_use]
            pub fn empty_state_from(&self, first: &[u8; 16]) -> PartialState {
                let mut tag = [*first];
                self.cipher.encrypt((&mut tag[..]).into());
                let [tag] = tag;
                PartialState::after(first, &tag, 0, 0)
            }

            fn more<const MODE: bool>(
                &self,
                partial: &mut PartialState,
                data: InOutBuf<'_, '_, u8>,
            ) {
                let (hash, keys) = (&self.hash, self.cipher.forward());
                if let Some(message) = &mut partial.in_progress {
                    return message.crypt::<MODE>(hash, keys, data);
                }
                if data.is_empty() {
                    return;
                }
                let (isa, mode) = (self.hash.isa(), Mode::<MODE>);
                let (first, tag, done) = (partial.first, &partial.tag, partial.data);
                let before = partial.lengths();
                let blocks = (done % 16 + data.len() as u64).div_ceil(16);
                let wraps = blocks > until_wrap(counted(first, 1 + done / 16));
                let whole = (done.wrapping_neg() % 16) as usize + 16;
                if data.len() >= whole && (wraps || !isa.has(Level::Avx512)) {
                    let (part, rest) = data.split_at(whole);
                    let (aad, data) = (partial.aad, done + whole as u64);
                    let (sum, next) =
                        two_pass::go_on::<MODE>(hash, keys, first, tag, done, before, part);
                    let mut message = Message::in_progress(first, next, sum, [aad, data]);
                    message.crypt::<MODE>(hash, keys, rest);
                    partial.in_progress = Some(message);
                    return;
                }
                partial.data += data.len() as u64;
                let lengths = [before, partial.lengths()];
                partial.tag = if wraps {
                    two_pass::more(hash, keys, first, tag, done, lengths, data, mode)
                } else {
                    by_isa!(crate::gcm, isa,
                        more(hash, keys, first, tag, done, lengths, data, mode):
                        Avx512, _ => two_pass)
                };
            }
        }

        impl Resume for AesGcm<$bits> {
            type PartialState = PartialState;

            fn empty_state(&self, nonce: &[u8; 12]) -> PartialState {
                self.empty_state_from(&self.counter_block(nonce))
            }

            #[inline]
            fn seal_resumable(
                &self,
                partial: &mut PartialState,
                nonce: &[u8; 12],
                aad: &[u8],
                data: InOutBuf<'_, '_, u8>,
            ) -> [u8; 16] {
                partial.begin(first_of(nonce), aad.len(), data.len());
                partial.tag = self.seal(nonce, aad, data);
                partial.tag
            }

            #[inline]
            fn open_resumable(
                &self,
                partial: &mut PartialState,
                nonce: &[u8; 12],
                aad: &[u8],
                data: InOutBuf<'_, '_, u8>,
            ) -> [u8; 16] {
                partial.begin(first_of(nonce), aad.len(), data.len());
                partial.tag = self.opened(nonce, aad, data);
                partial.tag
            }

            fn associate_more(&self, partial: &mut PartialState, aad: &[u8]) {
                if aad.is_empty() {
                    return;
                }
                debug_assert!(partial.data == 0, "associated data come before data");
                let (hash, keys) = (&self.hash, self.cipher.forward());
                let (first, tag, done, before) =
                    (partial.first, &partial.tag, partial.aad, partial.lengths());
                partial.aad += aad.len() as u64;
                let lengths = [before, partial.lengths()];
                partial.tag = two_pass::associate_more(hash, keys, first, tag, done, lengths, aad);
            }

            fn seal_more(&self, partial: &mut PartialState, data: InOutBuf<'_, '_, u8>) {
                self.more::<SEAL>(partial, data);
            }

            fn open_more(&self, partial: &mut PartialState, data: InOutBuf<'_, '_, u8>) {
                self.more::<OPEN>(partial, data);
            }

            fn tag_of(&self, partial: &PartialState) -> [u8; 16] {
                match &partial.in_progress {
                    Some(message) => {
                        message.clone().finish(&self.hash, self.cipher.forward())
                    }
                    None => partial.tag,
                }
            }
        }
    };
}

key_size!(128);
key_size!(192);
key_size!(256);
