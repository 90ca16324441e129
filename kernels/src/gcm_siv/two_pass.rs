//! AES-GCM-SIV by the kernels of AES and the portable hash in turn, and the specification of those
//! that do both at once.

use inout::InOutBuf;

use super::SEAL;
use crate::aes::{self, RoundKeys};
use crate::ghash::portable::multiply;
use crate::isa::Mode;
use crate::{Isa, wipe};

/// Blocks of keystream that are made at once: two rounds of the bitsliced kernel.
const BLOCKS: usize = 16;

/// Sections 4 and 5: of a message to seal, the tag is computed from the data and the data are
/// encrypted under it. Of a message to open, the data are decrypted under the tag that came.
pub(super) fn run<const MODE: bool>(
    isa: Isa,
    keys: &RoundKeys,
    nonce: &[u8; 12],
    aad: &[u8],
    mut data: InOutBuf<'_, '_, u8>,
    received: &[u8; 16],
    _: Mode<MODE>,
) -> [u8; 16] {
    let mut own = Keys { isa, hash: [0; 16], cipher: keys.room() };
    own.derive(keys, nonce);
    if MODE == SEAL {
        let tag = own.tag(nonce, aad, data.get_in());
        own.crypt(&tag, data);
        tag
    } else {
        own.crypt(received, data.reborrow());
        own.tag(nonce, aad, data.get_out())
    }
}

/// The keys of one nonce, wiped on drop.
struct Keys {
    isa: Isa,
    hash: [u8; 16],
    cipher: RoundKeys,
}

impl Keys {
    /// Section 4: the first halves of blocks, each of a number and the nonce, make the two keys.
    fn derive(&mut self, keys: &RoundKeys, nonce: &[u8; 12]) {
        let mut blocks = [[0; 16]; 6];
        for (block, number) in blocks.iter_mut().zip(0..) {
            block[0] = number;
            block[4..].copy_from_slice(nonce);
        }
        // Two blocks for the hash, and for the cipher as many halves as its key has.
        let blocks = &mut blocks[..if keys.are_longest() { 6 } else { 4 }];
        aes::encrypt(self.isa, keys, (&mut *blocks).into());
        let mut halves = [0; 48];
        for (half, block) in halves.chunks_exact_mut(8).zip(&*blocks) {
            half.copy_from_slice(&block[..8]);
        }
        let (hash, cipher) = halves[..8 * blocks.len()].split_at(16);
        self.hash.copy_from_slice(hash);
        aes::expand(self.isa, cipher, &mut self.cipher);
        wipe::memory(blocks.as_flattened_mut());
        wipe::memory(&mut halves);
    }

    /// Section 4: the hash of associated data and plaintext, encrypted.
    fn tag(&self, nonce: &[u8; 12], aad: &[u8], text: &[u8]) -> [u8; 16] {
        let mut sum = 0;
        self.absorb(&mut sum, aad);
        self.absorb(&mut sum, text);
        let lengths = [aad, text].map(|bytes| 8 * bytes.len() as u128);
        self.absorb(&mut sum, &(lengths[1] << 64 | lengths[0]).to_le_bytes());
        let mut tag = [sum.to_le_bytes()];
        for (byte, nonce) in tag[0].iter_mut().zip(nonce) {
            *byte ^= nonce;
        }
        tag[0][15] &= 0x7f;
        self.encrypt(&mut tag);
        tag[0]
    }

    /// Takes bytes into the hash POLYVAL (section 3), filled up with zeros to whole blocks.
    fn absorb(&self, sum: &mut u128, bytes: &[u8]) {
        let key = u128::from_le_bytes(self.hash);
        for part in bytes.chunks(16) {
            let mut block = [0; 16];
            block[..part.len()].copy_from_slice(part);
            *sum = multiply(*sum ^ u128::from_le_bytes(block), key);
        }
    }

    /// Section 4: counter mode from the tag on. The first 32 bits count, little-endian.
    fn crypt(&self, tag: &[u8; 16], data: InOutBuf<'_, '_, u8>) {
        let mut first = *tag;
        first[15] |= 0x80;
        let [a, b, c, d, ..] = first;
        let mut counter = u32::from_le_bytes([a, b, c, d]);
        let mut stream = [[0; 16]; BLOCKS];
        let mut rest = data;
        while !rest.is_empty() {
            let length = rest.len().min(16 * BLOCKS);
            let (mut part, after) = rest.split_at(length);
            rest = after;
            let stream = &mut stream[..length.div_ceil(16)];
            for block in &mut *stream {
                *block = first;
                block[..4].copy_from_slice(&counter.to_le_bytes());
                counter = counter.wrapping_add(1);
            }
            self.encrypt(stream);
            part.xor_in2out(&stream.as_flattened()[..length]);
        }
        wipe::memory(stream.as_flattened_mut());
    }

    fn encrypt(&self, blocks: &mut [[u8; 16]]) {
        aes::encrypt(self.isa, &self.cipher, blocks.into());
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        wipe::memory(&mut self.hash);
    }
}
