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

#[cfg(all(target_arch = "x86_64", feature = "isa-avx512"))]
use super::avx512;
use super::message::{absorb, counted, until_wrap};
use super::{AesGcm, OPEN, SEAL, first_of, in_turn, lengths};
use crate::isa::Way;
use crate::{Aead, BlockEncrypt, Resume, ghash, wipe};

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

/// What is left of a message after the block with which the hash goes on.
struct Rest<'i, 'o> {
    /// The hash in progress.
    sum: [u8; 16],
    /// The mask of the tag.
    mask: [u8; 16],
    /// The counter block of the first byte of `data`, as a number.
    next: u128,
    data: InOutBuf<'i, 'o, u8>,
}

/// Completes a block that has been begun, and takes one more. If data are left, the tag is not that
/// of the message yet.
fn head<'i, 'o, const WAY: bool>(
    hash: &ghash::Key,
    begun: &mut Begun,
    data: InOutBuf<'i, 'o, u8>,
    encrypt: impl FnOnce(&mut [[u8; 16]]),
) -> Option<Rest<'i, 'o>> {
    let before = begun.lengths();
    let at = (begun.data % 16) as usize;
    let next = counted(begun.first, 1 + begun.data / 16);
    begun.data += data.len() as u64;
    let length = if at == 0 { 0 } else { data.len().min(16 - at) };
    let (completing, data) = data.split_at(length);
    let mut completed = [0; 16];
    if data.is_empty() {
        let mut stream = [next.to_be_bytes()];
        encrypt(&mut stream);
        cross::<WAY>(&stream[0][at..], completing, &mut completed[at..at + length]);
        wipe::memory(stream.as_flattened_mut());
        // Neither mask nor lengths are taken out: what changes is added.
        complete(hash, begun, completed, before);
        return None;
    }
    let after = counted(next, u64::from(at > 0));
    let mut streams = [begun.first.to_be_bytes(), after.to_be_bytes(), next.to_be_bytes()];
    encrypt(if at == 0 { &mut streams[..2] } else { &mut streams });
    let [mask, stream, rest_of_stream] = &streams;
    cross::<WAY>(&rest_of_stream[at..], completing, &mut completed[at..at + length]);
    let length = data.len().min(16);
    let (block, data) = data.split_at(length);
    let mut ciphertext = [0; 16];
    cross::<WAY>(stream, block, &mut ciphertext[..length]);
    let sum = go_on(hash, begun, mask, completed, before, ciphertext);
    let (next, mask) = (counted(after, 1), *mask);
    wipe::memory(streams.as_flattened_mut());
    if data.is_empty() {
        begun.tag = masked(hash, sum, begun.lengths(), &mask);
        return None;
    }
    Some(Rest { sum, mask, next, data })
}

/// XORs keystream into data, of which there are no more bytes, and leaves the ciphertext.
fn cross<const WAY: bool>(stream: &[u8], mut data: InOutBuf<'_, '_, u8>, ciphertext: &mut [u8]) {
    if WAY == OPEN {
        ciphertext.copy_from_slice(data.get_in());
    }
    data.xor_in2out(&stream[..data.len()]);
    if WAY == SEAL {
        ciphertext.copy_from_slice(data.get_out());
    }
}

/// Associated data that go on. `mask` is called if a block of them begins.
fn associated(
    hash: &ghash::Key,
    begun: &mut Begun,
    aad: &[u8],
    encrypt: impl FnOnce(&mut [[u8; 16]]),
) {
    let before = begun.lengths();
    let at = (begun.aad % 16) as usize;
    begun.aad += aad.len() as u64;
    let (completing, aad) = aad.split_at(if at == 0 { 0 } else { aad.len().min(16 - at) });
    let mut completed = [0; 16];
    completed[at..at + completing.len()].copy_from_slice(completing);
    if aad.is_empty() {
        return complete(hash, begun, completed, before);
    }
    let mut mask = [begun.first.to_be_bytes()];
    encrypt(&mut mask);
    let (block, rest) = aad.split_at(aad.len().min(16));
    let mut padded = [0; 16];
    padded[..block.len()].copy_from_slice(block);
    let mut sum = go_on(hash, begun, &mask[0], completed, before, padded);
    absorb(hash, &mut sum, rest);
    begun.tag = masked(hash, sum, begun.lengths(), &mask[0]);
    wipe::memory(mask.as_flattened_mut());
}

/// Adds bytes that complete the last block, and the change of the lengths.
fn complete(hash: &ghash::Key, begun: &mut Begun, completed: [u8; 16], before: u128) {
    let mut sum = [0; 16];
    hash.absorb(&mut sum, &[completed, (before ^ begun.lengths()).to_be_bytes()]);
    begun.tag = added(begun.tag, sum);
}

/// The hash in progress after the block that follows: without the mask and the lengths that were
/// `before`.
fn go_on(
    hash: &ghash::Key,
    begun: &Begun,
    mask: &[u8; 16],
    completed: [u8; 16],
    before: u128,
    block: [u8; 16],
) -> [u8; 16] {
    let mut sum = [0; 16];
    hash.absorb(&mut sum, &[completed, added(before.to_be_bytes(), block)]);
    added(added(sum, begun.tag), *mask)
}

/// The tag of a hash in progress.
fn masked(hash: &ghash::Key, mut sum: [u8; 16], lengths: u128, mask: &[u8; 16]) -> [u8; 16] {
    hash.absorb(&mut sum, &[lengths.to_be_bytes()]);
    added(sum, *mask)
}

#[inline]
fn added(a: [u8; 16], b: [u8; 16]) -> [u8; 16] {
    (u128::from_ne_bytes(a) ^ u128::from_ne_bytes(b)).to_ne_bytes()
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
                let encrypt = |blocks: &mut [[u8; 16]]| self.cipher.encrypt(blocks.into());
                let rest = head::<WAY>(&self.hash, begun, data, encrypt);
                let Some(Rest { mut sum, mask, next, data }) = rest else { return };
                let lengths = begun.lengths();
                let (hash, keys) = (&self.hash, self.cipher.forward());
                let (isa, way) = (self.hash.isa(), Way::<WAY>);
                let (mask, sum) = (&mask, &mut sum);
                begun.tag = if data.len().div_ceil(16) as u64 > until_wrap(next) {
                    in_turn::rest(hash, keys, mask, next, sum, lengths, data, way)
                } else {
                    by_isa!(isa, rest(hash, keys, mask, next, sum, lengths, data, way):
                        Avx512 => avx512, _ => in_turn)
                };
            }
        }

        impl Resume<{ $bits / 8 }, 12> for AesGcm<$bits> {
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
                begun.tag = self.open(nonce, aad, data);
                begun.tag
            }

            fn associate_more(&self, begun: &mut Begun, aad: &[u8]) {
                if aad.is_empty() {
                    return;
                }
                debug_assert!(begun.data == 0, "associated data come before data");
                let encrypt = |blocks: &mut [[u8; 16]]| self.cipher.encrypt(blocks.into());
                associated(&self.hash, begun, aad, encrypt);
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
