//! A message that was taken in one call and is resumed. Constant time in key, nonce and data.
//!
//! Keystream that a call has made and not used waits for the next one.

use core::fmt;

use inout::InOutBuf;
use zeroize::ZeroizeOnDrop;

use super::parts::{Kept, Keystream, PASS};
use super::{ChaCha20Poly1305, OPEN, SEAL, run, two_pass};
use crate::chacha::{ChaCha, Ietf};
use crate::poly1305::PartialHash;
use crate::{Isa, Level, Resume, Seek, StreamCore};

/// A message so far: its nonce, its hash and lengths, and keystream for what comes next.
///
/// It holds secrets and wipes them on drop. Plaintext that a program reads before it has compared
/// the tag may be forged.
//
// Hash and keystream wipe themselves.
#[derive(Clone)]
pub struct PartialState {
    kept: Kept,
    nonce: [u8; 12],
    /// Bytes of associated data and of data.
    sizes: [u64; 2],
    /// The fewest bytes of keystream to be made at a time: none in the first call that resumes the
    /// message, since it may be the last.
    least: usize,
}

impl PartialState {
    /// A place for a message that begins.
    #[must_use]
    pub fn empty(isa: Isa) -> Self {
        Self {
            kept: Kept { hash: PartialHash::empty(isa), keystream: Keystream::empty() },
            nonce: [0; 12],
            sizes: [0; 2],
            least: 0,
        }
    }

    /// Begins a message.
    #[inline]
    fn begin(&mut self, nonce: &[u8; 12], sizes: [usize; 2]) {
        self.nonce = *nonce;
        self.sizes = sizes.map(|size| size as u64);
        self.least = 0;
        self.kept.keystream.clear();
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
        partial.begin(nonce, [aad.len(), data.len()]);
        run(self.isa, &self.key, nonce, aad, data, SEAL, Some(&mut partial.kept))
    }

    #[inline]
    fn open_resumable(
        &self,
        partial: &mut PartialState,
        nonce: &[u8; 12],
        aad: &[u8],
        data: InOutBuf<'_, '_, u8>,
    ) -> [u8; 16] {
        partial.begin(nonce, [aad.len(), data.len()]);
        run(self.isa, &self.key, nonce, aad, data, OPEN, Some(&mut partial.kept))
    }

    fn associate_more(&self, partial: &mut PartialState, aad: &[u8]) {
        debug_assert_eq!(partial.sizes[1], 0, "associated data come before data");
        let [before, _] = partial.sizes;
        partial.kept.hash.reopen(partial.sizes);
        partial.sizes[0] += aad.len() as u64;
        let (rest, aad) = aad.split_at(aad.len().min(until_whole(before)));
        if !rest.is_empty() {
            partial.kept.hash.complete(begun_bytes(before), rest);
        }
        if !aad.is_empty() {
            let (first, others) = aad.split_at(aad.len().min(16));
            partial.kept.hash.go_on(first).absorb_padded(others);
            partial.kept.hash.pause();
        }
    }

    fn seal_more(&self, partial: &mut PartialState, data: InOutBuf<'_, '_, u8>) {
        self.more(partial, data, SEAL);
    }

    fn open_more(&self, partial: &mut PartialState, data: InOutBuf<'_, '_, u8>) {
        self.more(partial, data, OPEN);
    }

    fn tag_of(&self, partial: &PartialState) -> [u8; 16] {
        partial.kept.hash.tag(partial.sizes)
    }
}

impl ChaCha20Poly1305 {
    fn more(&self, partial: &mut PartialState, data: InOutBuf<'_, '_, u8>, direction: bool) {
        if data.is_empty() {
            return;
        }
        partial.kept.hash.reopen(partial.sizes);
        let [_, before] = partial.sizes;
        partial.sizes[1] += data.len() as u64;
        if partial.kept.keystream.left().is_empty() && !self.takes_parts(before, data.len()) {
            self.make_keystream(partial, before, data.len());
        }

        let length = data.len().min(until_whole(before));
        let (rest, data) = data.split_at(length);
        if length > 0 {
            let mut block = [0; 16];
            let part = xor(&mut partial.kept.keystream, rest, &mut block, direction);
            partial.kept.hash.complete(begun_bytes(before), part);
        }
        if data.is_empty() {
            return;
        }
        let before = before.next_multiple_of(16);
        let (hash, data, before) =
            if partial.kept.keystream.left().is_empty() && self.takes_parts(before, data.len()) {
                let length = two_pass::PART.min(data.len() - data.len() % PASS);
                let (part, data) = data.split_at(length);
                let core = self.keystream_at(&partial.nonce, before);
                (
                    two_pass::first_part(core, &mut partial.kept.hash, part, direction),
                    data,
                    before + length as u64,
                )
            } else {
                if partial.kept.keystream.left().is_empty() {
                    self.make_keystream(partial, before, data.len());
                }
                let length = data.len().min(16);
                let (first, data) = data.split_at(length);
                let mut block = [0; 16];
                let first = xor(&mut partial.kept.keystream, first, &mut block, direction);
                (partial.kept.hash.go_on(first), data, before + length as u64)
            };
        if !data.is_empty() {
            let next = 1 + (before + partial.kept.keystream.left().len() as u64) / 64;
            let (isa, key, nonce, least) = (self.isa, &self.key, &partial.nonce, partial.least);
            let keystream = &mut partial.kept.keystream;
            // Side by side, the kernels of AVX-512 are not faster than in turn.
            let of = if isa.has(Level::Avx512) { Isa::PORTABLE } else { isa };
            by_isa!(crate::chacha20poly1305, of,
                go_on(isa, key, nonce, next, hash, keystream, least, data, direction):
                Avx2, _ => two_pass);
        }
        partial.kept.hash.pause();
        partial.least = PASS;
    }

    /// Whether the data are taken in parts, without keystream made before: they begin with a block
    /// of it and are longer than the place for it. With AVX-512 only, where the kernels of the two
    /// ciphers run in turn and have more to do at a time.
    fn takes_parts(&self, before: u64, length: usize) -> bool {
        before.is_multiple_of(64) && length > PASS && self.isa.has(Level::Avx512)
    }

    /// The cipher at the block of keystream in which data go on.
    fn keystream_at(&self, nonce: &[u8; 12], before: u64) -> ChaCha<20, Ietf> {
        let mut core = ChaCha::new(self.isa, &self.key, nonce);
        core.seek(1 + before / 64);
        core
    }

    /// Makes keystream for `length` more bytes of data, of which `before` have come, and no more
    /// than there is a place for.
    fn make_keystream(&self, partial: &mut PartialState, before: u64, length: usize) {
        let mut core = self.keystream_at(&partial.nonce, before);
        let spent = (before % 64) as usize;
        let least = partial.least;
        partial
            .kept
            .keystream
            .fill(|bytes| two_pass::fill(&mut core, bytes, spent + length, least));
        partial.kept.keystream.skip(spent);
    }
}

/// XORs keystream into fewer bytes than there is keystream, at most a block, and returns the
/// ciphertext.
fn xor<'a>(
    keystream: &mut Keystream,
    data: InOutBuf<'_, '_, u8>,
    block: &'a mut [u8; 16],
    direction: bool,
) -> &'a [u8] {
    let mut data = data;
    let length = data.len();
    let block = &mut block[..length];
    block.copy_from_slice(data.get_in());
    data.xor_in2out(&keystream.left()[..length]);
    if direction == SEAL {
        block.copy_from_slice(data.get_out());
    }
    keystream.skip(length);
    block
}

/// Bytes of the incomplete block that is hashed.
#[inline]
fn begun_bytes(bytes: u64) -> usize {
    (bytes % 16) as usize
}

/// Bytes that complete that block.
#[inline]
fn until_whole(bytes: u64) -> usize {
    (bytes.wrapping_neg() % 16) as usize
}

impl ZeroizeOnDrop for PartialState {}

impl fmt::Debug for PartialState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PartialState").field("sizes", &self.sizes).finish_non_exhaustive()
    }
}
