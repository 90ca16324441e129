//! A message in pieces.

use core::fmt;
use core::mem;

use inout::InOutBuf;
use zeroize::ZeroizeOnDrop;

use super::{OPEN, SEAL, parts};
use crate::chacha::{ChaCha, Ietf, Key};
use crate::poly1305::Poly1305;
use crate::{Incremental, Isa, StreamCore, wipe};

/// Bytes of a part, which Poly1305 finds in the first-level cache.
const PART: usize = 4096;

/// A message in pieces: first its associated data, then its data, in one direction.
///
/// Counter, hash and the rest of a block of keystream; wiped on drop.
//
// Core and hash wipe themselves.
pub struct Message {
    core: ChaCha<20, Ietf>,
    hash: Poly1305,
    /// The current block of keystream, of which the first `spent` bytes have been used; all of them
    /// if there is none.
    keystream: [u8; 64],
    spent: usize,
    /// The incomplete block that is to be hashed, with its first `filled` bytes, fewer than 16.
    block: [u8; 16],
    filled: usize,
    /// Bytes of associated data and of data so far.
    sizes: [u64; 2],
    isa: Isa,
}

impl Message {
    pub(super) fn new(isa: Isa, key: &Key, nonce: &[u8; 12]) -> Self {
        let mut core = ChaCha::new(isa, key, nonce);
        let mut keystream = [0; 64];
        core.keystream(&mut keystream);
        let hash = parts::begun(isa, &keystream, &[]);
        wipe::memory(&mut keystream);
        Self { core, hash, keystream, spent: 64, block: [0; 16], filled: 0, sizes: [0; 2], isa }
    }

    fn apply<const MODE: bool>(&mut self, data: InOutBuf<'_, '_, u8>) {
        let mut data = data;
        if data.is_empty() {
            return;
        }
        if self.sizes[1] == 0 {
            self.fill_block();
        }
        self.sizes[1] += data.len() as u64;
        while !data.is_empty() {
            // First the rest of the current block of keystream, then whole blocks, then a new one.
            let begun = 64 - self.spent;
            let len = match data.len() {
                len if begun > 0 => len.min(begun),
                len @ ..64 => len,
                len => (len - len % 64).min(PART),
            };
            let (mut part, rest) = data.split_at(len);
            if MODE == OPEN {
                self.absorb(part.get_in());
            }
            self.xor(part.reborrow());
            if MODE == SEAL {
                self.absorb(part.get_out());
            }
            data = rest;
        }
    }

    /// XORs the next keystream bytes into `part`: whole blocks if there is no current one, else at
    /// most its rest.
    fn xor(&mut self, mut part: InOutBuf<'_, '_, u8>) {
        if self.spent == 64 {
            if part.len().is_multiple_of(64) {
                return self.core.xor(part);
            }
            self.core.keystream(&mut self.keystream);
            self.spent = 0;
        }
        let used = self.spent + part.len();
        part.xor_in2out(&self.keystream[self.spent..used]);
        self.spent = used;
    }

    /// Hashes bytes; the last ones may be kept until their block is complete.
    fn absorb(&mut self, bytes: &[u8]) {
        let mut bytes = bytes;
        if self.filled > 0 {
            let (front, back) = bytes.split_at(bytes.len().min(16 - self.filled));
            self.keep(front);
            if self.filled < 16 {
                return;
            }
            self.hash.absorb(&[self.block]);
            self.filled = 0;
            bytes = back;
        }
        let (blocks, rest) = bytes.as_chunks();
        self.hash.absorb(blocks);
        self.keep(rest);
    }

    /// Appends to the incomplete block.
    fn keep(&mut self, bytes: &[u8]) {
        let end = self.filled + bytes.len();
        self.block[self.filled..end].copy_from_slice(bytes);
        self.filled = end;
    }

    /// Ends the associated data or the data: zeros fill the incomplete block.
    fn fill_block(&mut self) {
        let bytes = mem::take(&mut self.filled);
        self.hash.absorb_padded(&self.block[..bytes]);
    }
}

/// The message holds what it needs of the key.
impl<K> Incremental<K> for Message {
    fn associate(&mut self, _key: &K, aad: &[u8]) {
        debug_assert_eq!(self.sizes[1], 0, "associated data come before data");
        self.sizes[0] += aad.len() as u64;
        self.absorb(aad);
    }

    fn encrypt(&mut self, _key: &K, data: InOutBuf<'_, '_, u8>) {
        self.apply::<SEAL>(data);
    }

    fn decrypt(&mut self, _key: &K, data: InOutBuf<'_, '_, u8>) {
        self.apply::<OPEN>(data);
    }

    fn tag(mut self, _key: &K) -> [u8; 16] {
        self.fill_block();
        let [aad, data] = self.sizes;
        let hash = mem::replace(&mut self.hash, Poly1305::new(self.isa, &[0; 32]));
        parts::tag(hash, aad, data, ())
    }
}

impl Drop for Message {
    fn drop(&mut self) {
        wipe::memory(&mut self.keystream);
        wipe::memory(&mut self.block);
    }
}

impl ZeroizeOnDrop for Message {}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Message").field("isa", &self.isa).finish_non_exhaustive()
    }
}
