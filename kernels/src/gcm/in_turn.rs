//! GCM by the kernels of AES and GHASH in turn, and the specification of those in one pass.

use inout::InOutBuf;

use super::{OPEN, SEAL, lengths};
use crate::{BlockEncrypt, ghash};

/// Bytes of a part, which GHASH finds in the first-level cache.
const PART: usize = 4096;

pub(super) fn seal<const N: usize>(
    hash: &ghash::Key,
    cipher: &impl BlockEncrypt<16>,
    _keys: &[[u8; 16]; N],
    nonce: &[u8; 12],
    aad: &[u8],
    data: InOutBuf<'_, '_, u8>,
) -> [u8; 16] {
    run::<SEAL>(hash, cipher, nonce, aad, data)
}

pub(super) fn open<const N: usize>(
    hash: &ghash::Key,
    cipher: &impl BlockEncrypt<16>,
    _keys: &[[u8; 16]; N],
    nonce: &[u8; 12],
    aad: &[u8],
    data: InOutBuf<'_, '_, u8>,
) -> [u8; 16] {
    run::<OPEN>(hash, cipher, nonce, aad, data)
}

/// Sections 7.1 and 7.2.
fn run<const WAY: bool>(
    hash: &ghash::Key,
    cipher: &impl BlockEncrypt<16>,
    nonce: &[u8; 12],
    aad: &[u8],
    data: InOutBuf<'_, '_, u8>,
) -> [u8; 16] {
    let lengths = lengths(aad, &data).to_be_bytes();
    let mut sum = [0; 16];
    absorb(hash, &mut sum, aad);

    // The first counter block is for the tag.
    let mut counter = [0; 16];
    counter[..12].copy_from_slice(nonce);
    counter[15] = 1;
    let mut tag = [0; 16];
    cipher.ctr_keystream(&mut counter, &mut tag);

    let mut data = data;
    while !data.is_empty() {
        let length = data.len().min(PART);
        let (mut part, rest) = data.split_at(length);
        if WAY == OPEN {
            absorb(hash, &mut sum, part.get_in());
        }
        cipher.ctr(&mut counter, part.reborrow());
        if WAY == SEAL {
            absorb(hash, &mut sum, part.get_out());
        }
        data = rest;
    }
    hash.absorb(&mut sum, &[lengths]);
    for (byte, sum) in tag.iter_mut().zip(sum) {
        *byte ^= sum;
    }
    tag
}

/// Whole blocks, and the rest with zeros behind it.
fn absorb(hash: &ghash::Key, sum: &mut [u8; 16], data: &[u8]) {
    let (blocks, rest) = data.as_chunks();
    hash.absorb(sum, blocks);
    if !rest.is_empty() {
        let mut last = [0; 16];
        last[..rest.len()].copy_from_slice(rest);
        hash.absorb(sum, &[last]);
    }
}
