//! GCM by the kernels of AES and GHASH in turn, and the specification of those in one pass.

use inout::InOutBuf;

use super::message::{ANY, LOW, absorb, counted, ctr};
use super::{OPEN, PART, SEAL, lengths};
use crate::aes::RoundKeys;
use crate::isa::Mode;
use crate::{Isa, ghash, wipe};

/// Sections 7.1 and 7.2, from the first counter block on, at levels without AES instructions.
pub(super) fn run(
    hash: &ghash::Key,
    keys: &RoundKeys,
    first: u128,
    aad: &[u8],
    data: InOutBuf<'_, '_, u8>,
    mode: bool,
) -> [u8; 16] {
    if mode == SEAL {
        at::<SEAL, LOW>(hash, keys, first, aad, data)
    } else {
        at::<OPEN, LOW>(hash, keys, first, aad, data)
    }
}

/// The same at any level, for messages that the kernels in one pass do not take.
pub(super) fn any<const MODE: bool>(
    hash: &ghash::Key,
    keys: &RoundKeys,
    first: u128,
    aad: &[u8],
    data: InOutBuf<'_, '_, u8>,
) -> [u8; 16] {
    at::<MODE, ANY>(hash, keys, first, aad, data)
}

#[inline(always)]
fn at<const MODE: bool, const LEVELS: bool>(
    hash: &ghash::Key,
    keys: &RoundKeys,
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
    if MODE == OPEN {
        absorb(hash, &mut sum, begun.get_in());
    }
    let mut counter = ctr::<LEVELS>(isa, keys, first, (&mut head[..text.end]).into());
    begun.get_out().copy_from_slice(&head[text]);
    if MODE == SEAL {
        absorb(hash, &mut sum, begun.get_out());
    }

    let mut data = data;
    while !data.is_empty() {
        let length = data.len().min(PART);
        let (mut part, rest) = data.split_at(length);
        if MODE == OPEN {
            absorb(hash, &mut sum, part.get_in());
        }
        counter = ctr::<LEVELS>(isa, keys, counter, part.reborrow());
        if MODE == SEAL {
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

/// What comes after `done` bytes of data, whose message has this tag so far, and does not fill a
/// new block: the new tag. `lengths` are the last blocks that are hashed, without these data and
/// with them. There is at least one byte.
#[expect(clippy::too_many_arguments, reason = "what a message consists of")]
pub(super) fn more<const MODE: bool>(
    hash: &ghash::Key,
    keys: &RoundKeys,
    first: u128,
    tag: &[u8; 16],
    done: u64,
    lengths: [u128; 2],
    data: InOutBuf<'_, '_, u8>,
    _: Mode<MODE>,
) -> [u8; 16] {
    let mut next = counted(first, 1 + done / 16);
    let [before, after] = lengths;
    let (completed, data) = complete::<MODE>(hash.isa(), keys, &mut next, done, data);
    if data.is_empty() {
        return add_blocks(hash, tag, completed, (before ^ after).to_be_bytes());
    }
    let mask = mask(hash, keys, first);
    let block = crypt_block::<MODE>(hash.isa(), keys, &mut next, 0, data);
    let block = added(before.to_be_bytes(), block);
    let mut sum = added(add_blocks(hash, tag, completed, block), mask);
    hash.absorb(&mut sum, &[after.to_be_bytes()]);
    added(sum, mask)
}

/// The same for data that end with a whole new block: the hash in progress, and the next counter
/// block.
pub(super) fn go_on<const MODE: bool>(
    hash: &ghash::Key,
    keys: &RoundKeys,
    first: u128,
    tag: &[u8; 16],
    done: u64,
    before: u128,
    data: InOutBuf<'_, '_, u8>,
) -> ([u8; 16], u128) {
    let mut next = counted(first, 1 + done / 16);
    let (completed, data) = complete::<MODE>(hash.isa(), keys, &mut next, done, data);
    let block = crypt_block::<MODE>(hash.isa(), keys, &mut next, 0, data);
    let block = added(before.to_be_bytes(), block);
    let sum = add_blocks(hash, tag, completed, block);
    (added(sum, mask(hash, keys, first)), next)
}

/// The ciphertext, among zeros, that completes the block which `done` bytes have begun, and the
/// data after it.
fn complete<'a, 'b, const MODE: bool>(
    isa: Isa,
    keys: &RoundKeys,
    next: &mut u128,
    done: u64,
    data: InOutBuf<'a, 'b, u8>,
) -> ([u8; 16], InOutBuf<'a, 'b, u8>) {
    let at = (done % 16) as usize;
    if at == 0 {
        return ([0; 16], data);
    }
    let length = data.len().min(16 - at);
    let (front, data) = data.split_at(length);
    (crypt_block::<MODE>(isa, keys, next, at, front), data)
}

/// Encrypts or decrypts bytes of one block, from `at` on: the ciphertext among zeros.
fn crypt_block<const MODE: bool>(
    isa: Isa,
    keys: &RoundKeys,
    next: &mut u128,
    at: usize,
    mut data: InOutBuf<'_, '_, u8>,
) -> [u8; 16] {
    let place = at..at + data.len();
    let (mut stream, mut block) = ([0; 16], [0; 16]);
    *next = ctr::<ANY>(isa, keys, *next, (&mut stream[..]).into());
    if MODE == OPEN {
        block[place.clone()].copy_from_slice(data.get_in());
    }
    data.xor_in2out(&stream[place.clone()]);
    if MODE == SEAL {
        block[place].copy_from_slice(data.get_out());
    }
    wipe::memory(&mut stream);
    block
}

/// More associated data, of which `done` bytes have come: the new tag. There is at least one byte.
pub(super) fn associate_more(
    hash: &ghash::Key,
    keys: &RoundKeys,
    first: u128,
    tag: &[u8; 16],
    done: u64,
    [before, after]: [u128; 2],
    aad: &[u8],
) -> [u8; 16] {
    let at = (done % 16) as usize;
    let (front, aad) = aad.split_at(if at == 0 { 0 } else { aad.len().min(16 - at) });
    let mut completed = [0; 16];
    completed[at..at + front.len()].copy_from_slice(front);
    if aad.is_empty() {
        return add_blocks(hash, tag, completed, (before ^ after).to_be_bytes());
    }
    let mask = mask(hash, keys, first);
    let (front, rest) = aad.split_at(aad.len().min(16));
    let mut block = [0; 16];
    block[..front.len()].copy_from_slice(front);
    let mut sum = added(add_blocks(hash, tag, completed, added(before.to_be_bytes(), block)), mask);
    absorb(hash, &mut sum, rest);
    hash.absorb(&mut sum, &[after.to_be_bytes()]);
    added(sum, mask)
}

/// The mask of the tag.
fn mask(hash: &ghash::Key, keys: &RoundKeys, first: u128) -> [u8; 16] {
    let mut mask = [0; 16];
    let _next = ctr::<ANY>(hash.isa(), keys, first, (&mut mask[..]).into());
    mask
}

/// A tag, with the bytes that complete its last block times H twice, and a block times H.
fn add_blocks(hash: &ghash::Key, tag: &[u8; 16], completed: [u8; 16], block: [u8; 16]) -> [u8; 16] {
    let mut sum = [0; 16];
    hash.absorb(&mut sum, &[completed, block]);
    added(sum, *tag)
}

#[inline]
fn added(a: [u8; 16], b: [u8; 16]) -> [u8; 16] {
    (u128::from_ne_bytes(a) ^ u128::from_ne_bytes(b)).to_ne_bytes()
}
