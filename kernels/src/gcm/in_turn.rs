//! GCM by the kernels of AES and GHASH in turn, and the specification of those in one pass.

use inout::InOutBuf;

use super::message::{ANY, LOW, absorb, ctr};
use super::{OPEN, PART, SEAL, lengths};
use crate::isa::Way;
use crate::{ghash, wipe};

/// Sections 7.1 and 7.2, from the first counter block on, at levels without AES instructions.
pub(super) fn run<const N: usize, const WAY: bool>(
    hash: &ghash::Key,
    keys: &[[u8; 16]; N],
    first: u128,
    aad: &[u8],
    data: InOutBuf<'_, '_, u8>,
    _: Way<WAY>,
) -> [u8; 16] {
    at::<N, WAY, LOW>(hash, keys, first, aad, data)
}

/// The same at any level, for messages that the kernels in one pass do not take.
pub(super) fn any<const N: usize, const WAY: bool>(
    hash: &ghash::Key,
    keys: &[[u8; 16]; N],
    first: u128,
    aad: &[u8],
    data: InOutBuf<'_, '_, u8>,
) -> [u8; 16] {
    at::<N, WAY, ANY>(hash, keys, first, aad, data)
}

#[inline(always)]
fn at<const N: usize, const WAY: bool, const LEVELS: bool>(
    hash: &ghash::Key,
    keys: &[[u8; 16]; N],
    first: u128,
    aad: &[u8],
    data: InOutBuf<'_, '_, u8>,
) -> [u8; 16] {
    let lengths = lengths(aad.len() as u64, data.len() as u64).to_be_bytes();
    let isa = hash.isa();
    let mut sum = [0; 16];
    absorb(hash, &mut sum, aad);

    // The first counter block is for the tag. It is encrypted together with those of the first
    // data, because kernels without AES instructions take as long for eight blocks as for one.
    let mut head = [0; 16 * 8];
    let length = data.len().min(head.len() - 16);
    let (mut begun, data) = data.split_at(length);
    let text = 16..16 + length;
    head[text.clone()].copy_from_slice(begun.get_in());
    if WAY == OPEN {
        absorb(hash, &mut sum, begun.get_in());
    }
    let mut counter = ctr::<N, LEVELS>(isa, keys, first, (&mut head[..text.end]).into());
    begun.get_out().copy_from_slice(&head[text]);
    if WAY == SEAL {
        absorb(hash, &mut sum, begun.get_out());
    }

    let mut data = data;
    while !data.is_empty() {
        let length = data.len().min(PART);
        let (mut part, rest) = data.split_at(length);
        if WAY == OPEN {
            absorb(hash, &mut sum, part.get_in());
        }
        counter = ctr::<N, LEVELS>(isa, keys, counter, part.reborrow());
        if WAY == SEAL {
            absorb(hash, &mut sum, part.get_out());
        }
        data = rest;
    }
    hash.absorb(&mut sum, &[lengths]);
    let mut tag = sum;
    for (byte, mask) in tag.iter_mut().zip(head) {
        *byte ^= mask;
    }
    wipe::memory(&mut head);
    tag
}

/// The rest of a message, from a block on: takes the hash before it and the mask of the tag, and
/// returns the tag. `next` is the counter block of its first block, as a number.
#[expect(clippy::too_many_arguments, reason = "what a message consists of")]
pub(super) fn rest<const N: usize, const WAY: bool>(
    hash: &ghash::Key,
    keys: &[[u8; 16]; N],
    mask: &[u8; 16],
    next: u128,
    sum: &mut [u8; 16],
    lengths: u128,
    data: InOutBuf<'_, '_, u8>,
    _: Way<WAY>,
) -> [u8; 16] {
    let (mut data, mut next) = (data, next);
    while !data.is_empty() {
        let length = data.len().min(PART);
        let (mut part, rest) = data.split_at(length);
        if WAY == OPEN {
            absorb(hash, sum, part.get_in());
        }
        next = ctr::<N, ANY>(hash.isa(), keys, next, part.reborrow());
        if WAY == SEAL {
            absorb(hash, sum, part.get_out());
        }
        data = rest;
    }
    hash.absorb(sum, &[lengths.to_be_bytes()]);
    (u128::from_ne_bytes(*sum) ^ u128::from_ne_bytes(*mask)).to_ne_bytes()
}
